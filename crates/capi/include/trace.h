/* The trace options of IEEE Std 1003.1-2001 to -2017: Trace, Trace Event Filter, Trace Inherit and
 * Trace Log.
 *
 * Link libtracewell_capi. Unless a comment states otherwise, functions return 0 or an error number and do
 * not change errno. The comments list the most common errors. EINVAL means an invalid argument, such as a
 * null pointer, an object that is not initialised, or an id that is not a stream. Section 3 of the manual
 * has a page for each function with all errors.
 *
 * This file is written by hand, because the standard fixes names and types. Tests compare its numbers and
 * sizes with those of the library. */

#ifndef _TRACE_H
#define _TRACE_H

/* unistd.h must come first: it may define the trace options as missing, and the definitions below replace its
 * definitions. */
#include <unistd.h>

#include <limits.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

/* The trace options. sysconf() still reports that they are missing, because it is part of the C library. */
#undef _POSIX_TRACE
#undef _POSIX_TRACE_EVENT_FILTER
#undef _POSIX_TRACE_INHERIT
#undef _POSIX_TRACE_LOG
#define _POSIX_TRACE 200809L
#define _POSIX_TRACE_EVENT_FILTER 200809L
#define _POSIX_TRACE_INHERIT 200809L
#define _POSIX_TRACE_LOG 200809L

/* The minimum values that the standard allows for the limits. */
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

/* Maximum length of the name of an event type in bytes, without the null. */
#ifndef TRACE_EVENT_NAME_MAX
#define TRACE_EVENT_NAME_MAX 63
#endif
/* Maximum length of a stream's name and of the generation version in bytes, including the null. */
#ifndef TRACE_NAME_MAX
#define TRACE_NAME_MAX 64
#endif
/* Maximum number of active streams per user. */
#ifndef TRACE_SYS_MAX
#define TRACE_SYS_MAX 64
#endif
/* Maximum number of named user event types per process. */
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

/* Policies for a full stream (the first three) and for a full log (all except FLUSH). */
#define POSIX_TRACE_LOOP 1
#define POSIX_TRACE_UNTIL_FULL 2
#define POSIX_TRACE_FLUSH 3
#define POSIX_TRACE_APPEND 4

/* Inheritance policies: children of a traced process are not traced, or traced in the same stream. */
#define POSIX_TRACE_CLOSE_FOR_CHILD 0
#define POSIX_TRACE_INHERITED 1

/* posix_truncation_status: the data is complete, was truncated when recorded, or was truncated when read. */
#define POSIX_TRACE_NOT_TRUNCATED 0
#define POSIX_TRACE_TRUNCATED_RECORD 1
#define POSIX_TRACE_TRUNCATED_READ 2

/* Contents for posix_trace_eventset_fill: the system event types that belong to no process, all system event
 * types, or all event types. */
#define POSIX_TRACE_WOPID_EVENTS 1
#define POSIX_TRACE_SYSTEM_EVENTS 2
#define POSIX_TRACE_ALL_EVENTS 3

/* Operations of posix_trace_set_filter: replace the filter by the set, add the set, remove the set. */
#define POSIX_TRACE_SET_EVENTSET 1
#define POSIX_TRACE_ADD_EVENTSET 2
#define POSIX_TRACE_SUB_EVENTSET 3

/* System event types and their data. */
#define POSIX_TRACE_ERROR 1       /* int: error number of an internal failure */
#define POSIX_TRACE_START 2       /* trace_event_set_t: the present filter */
#define POSIX_TRACE_STOP 3        /* int: 0 if posix_trace_stop was called, 1 if the stream stopped by itself */
#define POSIX_TRACE_OVERFLOW 4    /* none: marks the start of a loss */
#define POSIX_TRACE_RESUME 5      /* none: marks the end of a loss */
#define POSIX_TRACE_FILTER 6      /* trace_event_set_t[2]: old and new filter */
#define POSIX_TRACE_FLUSH_START 7 /* none */
#define POSIX_TRACE_FLUSH_STOP 8  /* none */

/* The unnamed user event type. The standard uses both spellings. */
#define POSIX_TRACE_UNNAMED_USER_EVENT 64
#define POSIX_TRACE_UNNAMED_USEREVENT 64

/* Attributes of a stream. An object filled with zeros is not initialised, because it lacks a mark. */
typedef struct {
    uint64_t _word[32];
} __attribute__((__aligned__(8))) trace_attr_t;

/* Id of a stream, valid in the process that created or opened it. Always positive. */
typedef int trace_id_t;

/* Id of an event type. */
typedef unsigned int trace_event_id_t;

/* A set of event types. It may be copied. A set filled with zeros is not initialised, because it lacks a
 * mark. _system contains the bits of ids 0 to 63, and _user those of ids 64 to 64 + TRACE_USER_EVENT_MAX. */
typedef struct {
    uint64_t _mark;
    uint64_t _system;
    uint64_t _user[17];
} __attribute__((__aligned__(8))) trace_event_set_t;

/* An event without its data. */
struct posix_trace_event_info {
    trace_event_id_t posix_event_id;
    pid_t posix_pid;          /* 0 for a system event */
    void *posix_prog_address; /* return address of posix_trace_event; null for a system event */
    int posix_truncation_status;
    struct timespec posix_timestamp; /* CLOCK_REALTIME */
    pthread_t posix_thread_id;       /* 0 for a system event */
};

/* The status of a stream. Reading the status clears some members, as their comments state. */
struct posix_trace_status_info {
    int posix_stream_status;
    int posix_stream_full_status;
    int posix_stream_overrun_status; /* cleared by reading */
    int posix_stream_flush_status;
    int posix_stream_flush_error;    /* cleared by reading; the first error of a flush, or 0 */
    int posix_log_overrun_status;    /* cleared by reading */
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

/* Attributes of streams. All functions return EINVAL if an object is null or not initialised.
 *
 * posix_trace_attr_init initialises an object with defaults; posix_trace_attr_destroy makes it invalid. */
int posix_trace_attr_init(trace_attr_t *attr);
int posix_trace_attr_destroy(trace_attr_t *attr);
/* Store the resolution of the clock, the creation time (0 before creation), and the version of the
 * implementation (up to TRACE_NAME_MAX bytes). */
int posix_trace_attr_getclockres(const trace_attr_t *attr, struct timespec *resolution);
int posix_trace_attr_getcreatetime(const trace_attr_t *attr, struct timespec *createtime);
int posix_trace_attr_getgenversion(const trace_attr_t *attr, char *genversion);
/* The stream's name: up to TRACE_NAME_MAX bytes including the null. A longer name is truncated. */
int posix_trace_attr_getname(const trace_attr_t *attr, char *tracename);
int posix_trace_attr_setname(trace_attr_t *attr, const char *tracename);
/* The inheritance policy (POSIX_TRACE_CLOSE_FOR_CHILD or POSIX_TRACE_INHERITED), the full-log policy and the
 * full-stream policy. EINVAL: an unknown policy. */
int posix_trace_attr_getinherited(const trace_attr_t *_TRACE_RESTRICT attr, int *_TRACE_RESTRICT policy);
int posix_trace_attr_setinherited(trace_attr_t *attr, int policy);
int posix_trace_attr_getlogfullpolicy(const trace_attr_t *_TRACE_RESTRICT attr,
                                      int *_TRACE_RESTRICT policy);
int posix_trace_attr_setlogfullpolicy(trace_attr_t *attr, int policy);
int posix_trace_attr_getstreamfullpolicy(const trace_attr_t *_TRACE_RESTRICT attr,
                                         int *_TRACE_RESTRICT policy);
int posix_trace_attr_setstreamfullpolicy(trace_attr_t *attr, int policy);
/* Sizes in bytes: the records in the log; the data of a user event (at most 65,536; longer data is truncated);
 * the records in the stream. */
int posix_trace_attr_getlogsize(const trace_attr_t *_TRACE_RESTRICT attr, size_t *_TRACE_RESTRICT size);
int posix_trace_attr_setlogsize(trace_attr_t *attr, size_t size);
int posix_trace_attr_getmaxdatasize(const trace_attr_t *_TRACE_RESTRICT attr,
                                    size_t *_TRACE_RESTRICT size);
int posix_trace_attr_setmaxdatasize(trace_attr_t *attr, size_t size);
int posix_trace_attr_getstreamsize(const trace_attr_t *_TRACE_RESTRICT attr, size_t *_TRACE_RESTRICT size);
int posix_trace_attr_setstreamsize(trace_attr_t *attr, size_t size);
/* Store the maximum size in bytes of a system event's record, and of the record of a user event with
 * data_len bytes of data. */
int posix_trace_attr_getmaxsystemeventsize(const trace_attr_t *_TRACE_RESTRICT attr,
                                           size_t *_TRACE_RESTRICT size);
int posix_trace_attr_getmaxusereventsize(const trace_attr_t *_TRACE_RESTRICT attr, size_t data_len,
                                         size_t *_TRACE_RESTRICT size);

/* Streams.
 *
 * posix_trace_create creates a suspended stream that traces the process pid, and stores the stream's id. A pid
 * of 0 selects the calling process, and a null attr selects the defaults. EAGAIN: too many streams. EINVAL: the
 * policy FLUSH without a log. ENOMEM: too little memory. EPERM: no permission. ESRCH: no such process.
 * posix_trace_create_withlog also creates a log and duplicates file_desc. EBADF: file_desc is not open for
 * writing. */
int posix_trace_create(pid_t pid, const trace_attr_t *_TRACE_RESTRICT attr,
                       trace_id_t *_TRACE_RESTRICT trid);
int posix_trace_create_withlog(pid_t pid, const trace_attr_t *_TRACE_RESTRICT attr, int file_desc,
                               trace_id_t *_TRACE_RESTRICT trid);
/* Control an active stream: start or stop recording, remove all records, start a flush to the log, or
 * shut down the stream after a last flush. EINVAL: trid is not an active stream, or the stream has
 * no log to flush. */
int posix_trace_start(trace_id_t trid);
int posix_trace_stop(trace_id_t trid);
int posix_trace_clear(trace_id_t trid);
int posix_trace_flush(trace_id_t trid);
int posix_trace_shutdown(trace_id_t trid);
/* Store the attributes and the status of a stream. */
int posix_trace_get_attr(trace_id_t trid, trace_attr_t *attr);
int posix_trace_get_status(trace_id_t trid, struct posix_trace_status_info *statusinfo);
/* The filter of an active stream: the event types that are not recorded. `how` is POSIX_TRACE_SET_EVENTSET,
 * POSIX_TRACE_ADD_EVENTSET or POSIX_TRACE_SUB_EVENTSET. */
int posix_trace_get_filter(trace_id_t trid, trace_event_set_t *set);
int posix_trace_set_filter(trace_id_t trid, const trace_event_set_t *set, int how);

/* Events and their types.
 *
 * posix_trace_event records an event into all running streams that trace the caller. It never fails, and
 * ignores an event with an undefined id. It may be called in a signal handler. */
void posix_trace_event(trace_event_id_t event_id, const void *_TRACE_RESTRICT data_ptr, size_t data_len);
/* Store the id of an event name in this process (eventid_open), or in the processes that a stream traces
 * (trid_eventid_open). If the name is new, the call defines the event type. If all ids are in use, the result
 * is the unnamed type. ENAMETOOLONG: the name is longer than TRACE_EVENT_NAME_MAX. */
int posix_trace_eventid_open(const char *_TRACE_RESTRICT event_name,
                             trace_event_id_t *_TRACE_RESTRICT event_id);
int posix_trace_trid_eventid_open(trace_id_t trid, const char *_TRACE_RESTRICT event_name,
                                  trace_event_id_t *_TRACE_RESTRICT event);
/* Returns a value other than 0 if both ids are equal. */
int posix_trace_eventid_equal(trace_id_t trid, trace_event_id_t event1, trace_event_id_t event2);
/* Stores the name of an event type: up to TRACE_EVENT_NAME_MAX bytes and a null. EINVAL: no such type. */
int posix_trace_eventid_get_name(trace_id_t trid, trace_event_id_t event, char *event_name);
/* Stores the next event type in a stream's list, or sets *unavailable at the end. `rewind` restarts the list. */
int posix_trace_eventtypelist_getnext_id(trace_id_t trid, trace_event_id_t *_TRACE_RESTRICT event,
                                         int *_TRACE_RESTRICT unavailable);
int posix_trace_eventtypelist_rewind(trace_id_t trid);

/* Sets of event types: initialise an empty set or a set with the types of `what`; add, remove or find a type.
 * EINVAL: the set is not initialised, or the id is out of range. */
int posix_trace_eventset_empty(trace_event_set_t *set);
int posix_trace_eventset_fill(trace_event_set_t *set, int what);
int posix_trace_eventset_add(trace_event_id_t event_id, trace_event_set_t *set);
int posix_trace_eventset_del(trace_event_id_t event_id, trace_event_set_t *set);
int posix_trace_eventset_ismember(trace_event_id_t event_id, const trace_event_set_t *_TRACE_RESTRICT set,
                                  int *_TRACE_RESTRICT ismember);

/* Reading: store the oldest event, up to num_bytes of its data, and the number of bytes stored. Remove the event
 * from the stream. If there is no event, trygetnext sets *unavailable, getnext waits, and timedgetnext waits at most
 * until abstime (CLOCK_REALTIME). The waiting functions are cancellation points, return EINTR after a signal
 * handler, and can also read opened logs. They set *unavailable at the end of a log, and when no traced process
 * is alive. ETIMEDOUT: no event until abstime. EINVAL: the stream has a log. */
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

/* Logs: open a log as a stream, restart reading at its oldest event, close it. EINVAL: not a log. */
int posix_trace_open(int file_desc, trace_id_t *trid);
int posix_trace_rewind(trace_id_t trid);
int posix_trace_close(trace_id_t trid);

#ifdef __cplusplus
}
#endif
#undef _TRACE_RESTRICT

#endif
