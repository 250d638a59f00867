/* Tracing as the trace options of IEEE Std 1003.1-2001 to -2017 describe it: Trace, Trace Event Filter,
 * Trace Inherit and Trace Log.
 *
 * Link libtracewell_capi. Written by hand, because the standard fixes the names and types; tests compare
 * its numbers and sizes with the library's. Unless a comment says otherwise, functions return 0 or an
 * error number and leave errno alone. Section 3 of the manual has a page for each. */

#ifndef _TRACE_H
#define _TRACE_H

/* In front of our definitions, for it says that the C library has no tracing. */
#include <unistd.h>

#include <limits.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

/* The options. sysconf() belongs to the C library and still answers that there are none. */
#undef _POSIX_TRACE
#undef _POSIX_TRACE_EVENT_FILTER
#undef _POSIX_TRACE_INHERIT
#undef _POSIX_TRACE_LOG
#define _POSIX_TRACE 200809L
#define _POSIX_TRACE_EVENT_FILTER 200809L
#define _POSIX_TRACE_INHERIT 200809L
#define _POSIX_TRACE_LOG 200809L

/* Limits that every implementation keeps at least. */
#ifndef _POSIX_TRACE_EVENT_NAME_MAX
#define _POSIX_TRACE_EVENT_NAME_MAX 30
#endif
#ifndef _POSIX_TRACE_NAME_MAX
#define _POSIX_TRACE_NAME_MAX 8
#endif
#ifndef _POSIX_TRACE_SYS_MAX
#define _POSIX_TRACE_SYS_MAX 8
#endif
#ifndef _POSIX_TRACE_USER_EVENT_MAX
#define _POSIX_TRACE_USER_EVENT_MAX 32
#endif

/* Bytes of the name of an event type; the null is one more. */
#ifndef TRACE_EVENT_NAME_MAX
#define TRACE_EVENT_NAME_MAX 63
#endif
/* Bytes of the name of a stream and of the generation version, with their null. */
#ifndef TRACE_NAME_MAX
#define TRACE_NAME_MAX 64
#endif
/* Active streams of a user at one time. */
#ifndef TRACE_SYS_MAX
#define TRACE_SYS_MAX 64
#endif
/* Named user event types of a process. */
#ifndef TRACE_USER_EVENT_MAX
#define TRACE_USER_EVENT_MAX 1024
#endif

/* posix_stream_status */
#define POSIX_TRACE_SUSPENDED 0
#define POSIX_TRACE_RUNNING 1

/* posix_stream_full_status, posix_log_full_status */
#define POSIX_TRACE_NOT_FULL 0
#define POSIX_TRACE_FULL 1

/* posix_stream_overrun_status, posix_log_overrun_status */
#define POSIX_TRACE_NO_OVERRUN 0
#define POSIX_TRACE_OVERRUN 1

/* posix_stream_flush_status */
#define POSIX_TRACE_NOT_FLUSHING 0
#define POSIX_TRACE_FLUSHING 1

/* What happens when a stream (the first three) or a log (all but FLUSH) is full. */
#define POSIX_TRACE_LOOP 1
#define POSIX_TRACE_UNTIL_FULL 2
#define POSIX_TRACE_FLUSH 3
#define POSIX_TRACE_APPEND 4

/* Whether a child of fork is traced in the stream of its parent. */
#define POSIX_TRACE_CLOSE_FOR_CHILD 0
#define POSIX_TRACE_INHERITED 1

/* posix_truncation_status: data whole, cut when recorded, cut when read. */
#define POSIX_TRACE_NOT_TRUNCATED 0
#define POSIX_TRACE_TRUNCATED_RECORD 1
#define POSIX_TRACE_TRUNCATED_READ 2

/* What posix_trace_eventset_fill puts into a set: system types that belong to no process, all system
 * types, all types. */
#define POSIX_TRACE_WOPID_EVENTS 1
#define POSIX_TRACE_SYSTEM_EVENTS 2
#define POSIX_TRACE_ALL_EVENTS 3

/* What posix_trace_set_filter does with the set: replace, unite, remove. */
#define POSIX_TRACE_SET_EVENTSET 1
#define POSIX_TRACE_ADD_EVENTSET 2
#define POSIX_TRACE_SUB_EVENTSET 3

/* System event types, and what their data are. */
#define POSIX_TRACE_ERROR 1       /* int: error number of an internal failure */
#define POSIX_TRACE_START 2       /* trace_event_set_t: the filter in force */
#define POSIX_TRACE_STOP 3        /* int: 0 when called for, else the stream stopped by itself */
#define POSIX_TRACE_OVERFLOW 4    /* none: events began to be lost */
#define POSIX_TRACE_RESUME 5      /* none: the loss ended */
#define POSIX_TRACE_FILTER 6      /* trace_event_set_t[2]: old and new filter */
#define POSIX_TRACE_FLUSH_START 7 /* none */
#define POSIX_TRACE_FLUSH_STOP 8  /* none */

/* The user event type without a name of its own. Both spellings are the standard's. */
#define POSIX_TRACE_UNNAMED_USER_EVENT 64
#define POSIX_TRACE_UNNAMED_USEREVENT 64

/* Attributes of a stream. Begins with a mark: zeros are no initialised object. */
typedef struct {
    uint64_t _word[32];
} __attribute__((__aligned__(8))) trace_attr_t;

/* A stream in the process that made or opened it; 0 and negative numbers never are one. */
typedef int trace_id_t;

/* A type of events. */
typedef unsigned int trace_event_id_t;

/* A set of event types, plain data. Begins with a mark: zeros are no initialised set. Ids 0 to 63 have
 * their bits in _system, 64 to 64 + TRACE_USER_EVENT_MAX theirs in _user. */
typedef struct {
    uint64_t _mark;
    uint64_t _system;
    uint64_t _user[17];
} __attribute__((__aligned__(8))) trace_event_set_t;

/* What is known of an event besides its data. */
struct posix_trace_event_info {
    trace_event_id_t posix_event_id;
    pid_t posix_pid;          /* 0 for a system event */
    void *posix_prog_address; /* behind the call of posix_trace_event; null for a system event */
    int posix_truncation_status;
    struct timespec posix_timestamp; /* CLOCK_REALTIME */
    pthread_t posix_thread_id;       /* 0 for a system event */
};

/* The state of a stream at one moment. */
struct posix_trace_status_info {
    int posix_stream_status;
    int posix_stream_full_status;
    int posix_stream_overrun_status; /* read to clear */
    int posix_stream_flush_status;
    int posix_stream_flush_error;    /* read to clear: 0 or the first error of a flush */
    int posix_log_overrun_status;    /* read to clear */
    int posix_log_full_status;
};

#ifdef __cplusplus
#define _TRACE_RESTRICT
extern "C" {
#elif defined __STDC_VERSION__ && __STDC_VERSION__ >= 199901L
#define _TRACE_RESTRICT restrict
#else
#define _TRACE_RESTRICT
#endif

/* Attributes. */
int posix_trace_attr_init(trace_attr_t *attr);
int posix_trace_attr_destroy(trace_attr_t *attr);
int posix_trace_attr_getclockres(const trace_attr_t *attr, struct timespec *resolution);
int posix_trace_attr_getcreatetime(const trace_attr_t *attr, struct timespec *createtime);
int posix_trace_attr_getgenversion(const trace_attr_t *attr, char *genversion);
int posix_trace_attr_getname(const trace_attr_t *attr, char *tracename);
int posix_trace_attr_setname(trace_attr_t *attr, const char *tracename);
int posix_trace_attr_getinherited(const trace_attr_t *_TRACE_RESTRICT attr, int *_TRACE_RESTRICT policy);
int posix_trace_attr_setinherited(trace_attr_t *attr, int policy);
int posix_trace_attr_getlogfullpolicy(const trace_attr_t *_TRACE_RESTRICT attr,
                                      int *_TRACE_RESTRICT policy);
int posix_trace_attr_setlogfullpolicy(trace_attr_t *attr, int policy);
int posix_trace_attr_getstreamfullpolicy(const trace_attr_t *_TRACE_RESTRICT attr,
                                         int *_TRACE_RESTRICT policy);
int posix_trace_attr_setstreamfullpolicy(trace_attr_t *attr, int policy);
int posix_trace_attr_getlogsize(const trace_attr_t *_TRACE_RESTRICT attr, size_t *_TRACE_RESTRICT size);
int posix_trace_attr_setlogsize(trace_attr_t *attr, size_t size);
int posix_trace_attr_getmaxdatasize(const trace_attr_t *_TRACE_RESTRICT attr,
                                    size_t *_TRACE_RESTRICT size);
int posix_trace_attr_setmaxdatasize(trace_attr_t *attr, size_t size);
int posix_trace_attr_getstreamsize(const trace_attr_t *_TRACE_RESTRICT attr, size_t *_TRACE_RESTRICT size);
int posix_trace_attr_setstreamsize(trace_attr_t *attr, size_t size);
int posix_trace_attr_getmaxsystemeventsize(const trace_attr_t *_TRACE_RESTRICT attr,
                                           size_t *_TRACE_RESTRICT size);
int posix_trace_attr_getmaxusereventsize(const trace_attr_t *_TRACE_RESTRICT attr, size_t data_len,
                                         size_t *_TRACE_RESTRICT size);

/* Streams. */
int posix_trace_create(pid_t pid, const trace_attr_t *_TRACE_RESTRICT attr,
                       trace_id_t *_TRACE_RESTRICT trid);
int posix_trace_create_withlog(pid_t pid, const trace_attr_t *_TRACE_RESTRICT attr, int file_desc,
                               trace_id_t *_TRACE_RESTRICT trid);
int posix_trace_start(trace_id_t trid);
int posix_trace_stop(trace_id_t trid);
int posix_trace_clear(trace_id_t trid);
int posix_trace_flush(trace_id_t trid);
int posix_trace_shutdown(trace_id_t trid);
int posix_trace_get_attr(trace_id_t trid, trace_attr_t *attr);
int posix_trace_get_status(trace_id_t trid, struct posix_trace_status_info *statusinfo);
int posix_trace_get_filter(trace_id_t trid, trace_event_set_t *set);
int posix_trace_set_filter(trace_id_t trid, const trace_event_set_t *set, int how);

/* Events and their types. posix_trace_event may be called in a signal handler. */
void posix_trace_event(trace_event_id_t event_id, const void *_TRACE_RESTRICT data_ptr, size_t data_len);
int posix_trace_eventid_open(const char *_TRACE_RESTRICT event_name,
                             trace_event_id_t *_TRACE_RESTRICT event_id);
int posix_trace_trid_eventid_open(trace_id_t trid, const char *_TRACE_RESTRICT event_name,
                                  trace_event_id_t *_TRACE_RESTRICT event);
/* Not 0 for the same type. */
int posix_trace_eventid_equal(trace_id_t trid, trace_event_id_t event1, trace_event_id_t event2);
int posix_trace_eventid_get_name(trace_id_t trid, trace_event_id_t event, char *event_name);
int posix_trace_eventtypelist_getnext_id(trace_id_t trid, trace_event_id_t *_TRACE_RESTRICT event,
                                         int *_TRACE_RESTRICT unavailable);
int posix_trace_eventtypelist_rewind(trace_id_t trid);

/* Sets of event types. */
int posix_trace_eventset_empty(trace_event_set_t *set);
int posix_trace_eventset_fill(trace_event_set_t *set, int what);
int posix_trace_eventset_add(trace_event_id_t event_id, trace_event_set_t *set);
int posix_trace_eventset_del(trace_event_id_t event_id, trace_event_set_t *set);
int posix_trace_eventset_ismember(trace_event_id_t event_id, const trace_event_set_t *_TRACE_RESTRICT set,
                                  int *_TRACE_RESTRICT ismember);

/* Reading. */
int posix_trace_getnext_event(trace_id_t trid, struct posix_trace_event_info *_TRACE_RESTRICT event,
                              void *_TRACE_RESTRICT data, size_t num_bytes,
                              size_t *_TRACE_RESTRICT data_len, int *_TRACE_RESTRICT unavailable);
int posix_trace_trygetnext_event(trace_id_t trid, struct posix_trace_event_info *_TRACE_RESTRICT event,
                                 void *_TRACE_RESTRICT data, size_t num_bytes,
                                 size_t *_TRACE_RESTRICT data_len, int *_TRACE_RESTRICT unavailable);
int posix_trace_timedgetnext_event(trace_id_t trid, struct posix_trace_event_info *_TRACE_RESTRICT event,
                                   void *_TRACE_RESTRICT data, size_t num_bytes,
                                   size_t *_TRACE_RESTRICT data_len, int *_TRACE_RESTRICT unavailable,
                                   const struct timespec *_TRACE_RESTRICT abstime);

/* Logs. */
int posix_trace_open(int file_desc, trace_id_t *trid);
int posix_trace_rewind(trace_id_t trid);
int posix_trace_close(trace_id_t trid);

#ifdef __cplusplus
}
#endif
#undef _TRACE_RESTRICT

#endif
