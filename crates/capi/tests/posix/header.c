/* The definitions of trace.h. Another test compiles the header alone. */
#include "harness.h"

#include <limits.h>
#include <unistd.h>

TEST(HDR_02)
{
    trace_event_id_t id = 7;
    pid_t pid = 8;
    void *address = &id;
    int truncated = POSIX_TRACE_TRUNCATED_READ;
    struct timespec stamp = {9, 10};
    pthread_t self = pthread_self();
    struct posix_trace_event_info info = {
        .posix_event_id = id,
        .posix_pid = pid,
        .posix_prog_address = address,
        .posix_truncation_status = truncated,
        .posix_timestamp = stamp,
        .posix_thread_id = self,
    };
    trace_event_id_t *ids = &info.posix_event_id;
    pid_t *pids = &info.posix_pid;
    void **addresses = &info.posix_prog_address;
    int *truncations = &info.posix_truncation_status;
    struct timespec *stamps = &info.posix_timestamp;
    pthread_t *threads = &info.posix_thread_id;
    IS(*ids, 7);
    IS(*pids, 8);
    CHECK(*addresses == address);
    IS(*truncations, POSIX_TRACE_TRUNCATED_READ);
    IS(stamps->tv_nsec, 10);
    CHECK(pthread_equal(*threads, self));
}

TEST(HDR_03)
{
    struct posix_trace_status_info info = {0};
    int *members[] = {
        &info.posix_stream_status,      &info.posix_stream_full_status,
        &info.posix_stream_overrun_status, &info.posix_stream_flush_status,
        &info.posix_stream_flush_error, &info.posix_log_overrun_status,
        &info.posix_log_full_status,
    };
    for (int at = 0; at < 7; at++)
        *members[at] = at + 1;
    for (int at = 0; at < 7; at++)
        IS(*members[at], at + 1);
}

TEST(HDR_04)
{
    CHECK(POSIX_TRACE_RUNNING != POSIX_TRACE_SUSPENDED);
    CHECK(POSIX_TRACE_FULL != POSIX_TRACE_NOT_FULL);
    CHECK(POSIX_TRACE_OVERRUN != POSIX_TRACE_NO_OVERRUN);
    CHECK(POSIX_TRACE_FLUSHING != POSIX_TRACE_NOT_FLUSHING);
}

TEST(HDR_05)
{
    IS(POSIX_TRACE_NO_OVERRUN, 0);
}

/* Checks that the values are distinct. */
static void all_differ(const int *values, int count)
{
    for (int at = 0; at < count; at++)
        for (int other = 0; other < at; other++)
            CHECK(values[at] != values[other]);
}

TEST(HDR_06)
{
    all_differ((const int[]){POSIX_TRACE_LOOP, POSIX_TRACE_UNTIL_FULL, POSIX_TRACE_FLUSH}, 3);
    all_differ((const int[]){POSIX_TRACE_LOOP, POSIX_TRACE_UNTIL_FULL, POSIX_TRACE_APPEND}, 3);
}

TEST(HDR_07)
{
    CHECK(POSIX_TRACE_CLOSE_FOR_CHILD != POSIX_TRACE_INHERITED);
}

TEST(HDR_08)
{
    all_differ((const int[]){POSIX_TRACE_NOT_TRUNCATED, POSIX_TRACE_TRUNCATED_RECORD,
                             POSIX_TRACE_TRUNCATED_READ},
               3);
}

TEST(HDR_09)
{
    all_differ((const int[]){POSIX_TRACE_WOPID_EVENTS, POSIX_TRACE_SYSTEM_EVENTS, POSIX_TRACE_ALL_EVENTS},
               3);
    all_differ((const int[]){POSIX_TRACE_SET_EVENTSET, POSIX_TRACE_ADD_EVENTSET,
                             POSIX_TRACE_SUB_EVENTSET},
               3);
}

TEST(HDR_10)
{
    all_differ((const int[]){POSIX_TRACE_ERROR, POSIX_TRACE_START, POSIX_TRACE_STOP, POSIX_TRACE_OVERFLOW,
                             POSIX_TRACE_RESUME, POSIX_TRACE_FILTER, POSIX_TRACE_FLUSH_START,
                             POSIX_TRACE_FLUSH_STOP, POSIX_TRACE_UNNAMED_USER_EVENT},
               9);
}

/* The preprocessor can compare the constants. */
#if !defined POSIX_TRACE_UNNAMED_USEREVENT || POSIX_TRACE_UNNAMED_USER_EVENT != POSIX_TRACE_UNNAMED_USEREVENT
#error "two spellings of one constant"
#endif

TEST(HDR_11)
{
    IS(POSIX_TRACE_UNNAMED_USER_EVENT, POSIX_TRACE_UNNAMED_USEREVENT);
}

TEST(HDR_12)
{
    CHECK(TRACE_EVENT_NAME_MAX >= _POSIX_TRACE_EVENT_NAME_MAX);
    CHECK(TRACE_NAME_MAX >= _POSIX_TRACE_NAME_MAX);
    CHECK(TRACE_SYS_MAX >= _POSIX_TRACE_SYS_MAX);
    CHECK(TRACE_USER_EVENT_MAX >= _POSIX_TRACE_USER_EVENT_MAX);
}

TEST(HDR_13)
{
    IS(_POSIX_TRACE_EVENT_NAME_MAX, 30);
    IS(_POSIX_TRACE_NAME_MAX, 8);
    IS(_POSIX_TRACE_SYS_MAX, 8);
    IS(_POSIX_TRACE_USER_EVENT_MAX, 32);
}

#if _POSIX_TRACE <= 0 || _POSIX_TRACE_EVENT_FILTER <= 0 || _POSIX_TRACE_INHERIT <= 0 || _POSIX_TRACE_LOG <= 0
#error "an option is missing"
#endif

TEST(HDR_14)
{
    CHECK(_POSIX_TRACE > 0);
    CHECK(_POSIX_TRACE_EVENT_FILTER > 0);
    CHECK(_POSIX_TRACE_INHERIT > 0);
    CHECK(_POSIX_TRACE_LOG > 0);
}

/* Checks the exact type of a function: the compiler rejects the file if the types differ. */
#define HAS_TYPE(function, ...)                                                           \
    do {                                                                                  \
        int (*pointer)(__VA_ARGS__) = function;                                           \
        CHECK(pointer != NULL);                                                           \
    } while (0)

typedef struct timespec timespec;
typedef struct posix_trace_status_info status_info;
typedef struct posix_trace_event_info event_info;

static void attributes_have_their_types(void)
{
    HAS_TYPE(posix_trace_attr_init, trace_attr_t *);
    HAS_TYPE(posix_trace_attr_destroy, trace_attr_t *);
    HAS_TYPE(posix_trace_attr_getclockres, const trace_attr_t *, timespec *);
    HAS_TYPE(posix_trace_attr_getcreatetime, const trace_attr_t *, timespec *);
    HAS_TYPE(posix_trace_attr_getgenversion, const trace_attr_t *, char *);
    HAS_TYPE(posix_trace_attr_getname, const trace_attr_t *, char *);
    HAS_TYPE(posix_trace_attr_setname, trace_attr_t *, const char *);
    HAS_TYPE(posix_trace_attr_getinherited, const trace_attr_t *restrict, int *restrict);
    HAS_TYPE(posix_trace_attr_setinherited, trace_attr_t *, int);
    HAS_TYPE(posix_trace_attr_getlogfullpolicy, const trace_attr_t *restrict, int *restrict);
    HAS_TYPE(posix_trace_attr_setlogfullpolicy, trace_attr_t *, int);
    HAS_TYPE(posix_trace_attr_getstreamfullpolicy, const trace_attr_t *restrict, int *restrict);
    HAS_TYPE(posix_trace_attr_setstreamfullpolicy, trace_attr_t *, int);
    HAS_TYPE(posix_trace_attr_getlogsize, const trace_attr_t *restrict, size_t *restrict);
    HAS_TYPE(posix_trace_attr_setlogsize, trace_attr_t *, size_t);
    HAS_TYPE(posix_trace_attr_getmaxdatasize, const trace_attr_t *restrict, size_t *restrict);
    HAS_TYPE(posix_trace_attr_setmaxdatasize, trace_attr_t *, size_t);
    HAS_TYPE(posix_trace_attr_getstreamsize, const trace_attr_t *restrict, size_t *restrict);
    HAS_TYPE(posix_trace_attr_setstreamsize, trace_attr_t *, size_t);
    HAS_TYPE(posix_trace_attr_getmaxsystemeventsize, const trace_attr_t *restrict, size_t *restrict);
    HAS_TYPE(posix_trace_attr_getmaxusereventsize, const trace_attr_t *restrict, size_t, size_t *restrict);
}

static void streams_have_their_types(void)
{
    HAS_TYPE(posix_trace_create, pid_t, const trace_attr_t *restrict, trace_id_t *restrict);
    HAS_TYPE(posix_trace_create_withlog, pid_t, const trace_attr_t *restrict, int, trace_id_t *restrict);
    HAS_TYPE(posix_trace_start, trace_id_t);
    HAS_TYPE(posix_trace_stop, trace_id_t);
    HAS_TYPE(posix_trace_clear, trace_id_t);
    HAS_TYPE(posix_trace_flush, trace_id_t);
    HAS_TYPE(posix_trace_shutdown, trace_id_t);
    HAS_TYPE(posix_trace_get_attr, trace_id_t, trace_attr_t *);
    HAS_TYPE(posix_trace_get_status, trace_id_t, status_info *);
    HAS_TYPE(posix_trace_get_filter, trace_id_t, trace_event_set_t *);
    HAS_TYPE(posix_trace_set_filter, trace_id_t, const trace_event_set_t *, int);
    HAS_TYPE(posix_trace_open, int, trace_id_t *);
    HAS_TYPE(posix_trace_rewind, trace_id_t);
    HAS_TYPE(posix_trace_close, trace_id_t);
}

static void types_and_sets_have_their_types(void)
{
    HAS_TYPE(posix_trace_eventid_open, const char *restrict, trace_event_id_t *restrict);
    HAS_TYPE(posix_trace_trid_eventid_open, trace_id_t, const char *restrict, trace_event_id_t *restrict);
    HAS_TYPE(posix_trace_eventid_equal, trace_id_t, trace_event_id_t, trace_event_id_t);
    HAS_TYPE(posix_trace_eventid_get_name, trace_id_t, trace_event_id_t, char *);
    HAS_TYPE(posix_trace_eventtypelist_getnext_id, trace_id_t, trace_event_id_t *restrict, int *restrict);
    HAS_TYPE(posix_trace_eventtypelist_rewind, trace_id_t);
    HAS_TYPE(posix_trace_eventset_empty, trace_event_set_t *);
    HAS_TYPE(posix_trace_eventset_fill, trace_event_set_t *, int);
    HAS_TYPE(posix_trace_eventset_add, trace_event_id_t, trace_event_set_t *);
    HAS_TYPE(posix_trace_eventset_del, trace_event_id_t, trace_event_set_t *);
    HAS_TYPE(posix_trace_eventset_ismember, trace_event_id_t, const trace_event_set_t *restrict,
             int *restrict);
}

static void readers_have_their_types(void)
{
    HAS_TYPE(posix_trace_getnext_event, trace_id_t, event_info *restrict, void *restrict, size_t,
             size_t *restrict, int *restrict);
    HAS_TYPE(posix_trace_trygetnext_event, trace_id_t, event_info *restrict, void *restrict, size_t,
             size_t *restrict, int *restrict);
    HAS_TYPE(posix_trace_timedgetnext_event, trace_id_t, event_info *restrict, void *restrict, size_t,
             size_t *restrict, int *restrict, const timespec *restrict);
}

TEST(HDR_15)
{
    void (*event)(trace_event_id_t, const void *restrict, size_t) = posix_trace_event;
    CHECK(event != NULL);
    attributes_have_their_types();
    streams_have_their_types();
    types_and_sets_have_their_types();
    readers_have_their_types();
}

TEST(HDR_17)
{
    IS(sysconf(_SC_TRACE), -1);
    IS(sysconf(_SC_TRACE_LOG), -1);
}
