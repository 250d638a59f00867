/* Tests of a stream's status, and of clearing the stream. */
#include "streams.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

enum { SMALL = 20000, TOO_MANY = 5000 };

static struct record record;

/* A stream into which more events were recorded than fit. */
static trace_id_t overfull(int policy)
{
    trace_attr_t attr;
    with_policy(&attr, policy, SMALL);
    trace_id_t stream = started(&attr);
    number_events(type("many"), 0, TOO_MANY);
    return stream;
}

static int overrun(trace_id_t stream)
{
    return status_of(stream).posix_stream_overrun_status;
}

static int full(trace_id_t stream)
{
    return status_of(stream).posix_stream_full_status;
}

static int running(trace_id_t stream)
{
    return status_of(stream).posix_stream_status;
}

TEST(STS_01)
{
    const int policies[] = {POSIX_TRACE_LOOP, POSIX_TRACE_UNTIL_FULL};
    for (int at = 0; at < 2; at++) {
        trace_id_t stream = overfull(policies[at]);
        IS(overrun(stream), POSIX_TRACE_OVERRUN);
        IS(overrun(stream), POSIX_TRACE_NO_OVERRUN);
    }
}

TEST(STS_02)
{
    trace_id_t stream = overfull(POSIX_TRACE_LOOP);
    IS(overrun(stream), POSIX_TRACE_OVERRUN);
    number_events(type("many"), TOO_MANY, 2 * TOO_MANY);
    IS(overrun(stream), POSIX_TRACE_OVERRUN);
    IS(overrun(stream), POSIX_TRACE_NO_OVERRUN);
    stream = overfull(POSIX_TRACE_UNTIL_FULL);
    IS(overrun(stream), POSIX_TRACE_OVERRUN);
    number_event(type("many"), 0, TOO_MANY, 0);
    IS(overrun(stream), POSIX_TRACE_OVERRUN);
    IS(overrun(stream), POSIX_TRACE_NO_OVERRUN);
}

TEST(STS_03)
{
    struct posix_trace_status_info status;
    for (int at = 0; at < NO_STREAMS; at++)
        IS(posix_trace_get_status(no_streams[at], &status), EINVAL);
    IS(posix_trace_get_status(created(NULL), NULL), EINVAL);
}

TEST(STS_04)
{
    const int policies[] = {POSIX_TRACE_LOOP, POSIX_TRACE_UNTIL_FULL};
    for (int at = 0; at < 2; at++) {
        trace_id_t stream = overfull(policies[at]);
        IS(full(stream), POSIX_TRACE_FULL);
        IS(full(stream), POSIX_TRACE_FULL);
    }
}

/* Attributes that all differ from the defaults. */
static void unusual(trace_attr_t *attr)
{
    with_policy(attr, POSIX_TRACE_UNTIL_FULL, 123456);
    OK(posix_trace_attr_setname(attr, "unusual"));
    OK(posix_trace_attr_setmaxdatasize(attr, 321));
    OK(posix_trace_attr_setinherited(attr, POSIX_TRACE_INHERITED));
}

static void is_unusual(trace_id_t stream)
{
    trace_attr_t attr;
    attributes_of(stream, &attr);
    char name[TRACE_NAME_MAX];
    OK(posix_trace_attr_getname(&attr, name));
    SAME(name, "unusual");
    int policy = -1;
    OK(posix_trace_attr_getstreamfullpolicy(&attr, &policy));
    IS(policy, POSIX_TRACE_UNTIL_FULL);
    OK(posix_trace_attr_getinherited(&attr, &policy));
    IS(policy, POSIX_TRACE_INHERITED);
    size_t size = 0;
    OK(posix_trace_attr_getmaxdatasize(&attr, &size));
    IS(size, 321);
    CHECK(stream_size_of(&attr) >= 123456);
}

TEST(STS_05)
{
    trace_attr_t attr;
    unusual(&attr);
    is_unusual(created(&attr));
}

TEST(STS_06)
{
    trace_attr_t attr;
    for (int at = 0; at < NO_STREAMS; at++)
        IS(posix_trace_get_attr(no_streams[at], &attr), EINVAL);
    IS(posix_trace_get_attr(created(NULL), NULL), EINVAL);
}

TEST(STS_07)
{
    trace_attr_t attr;
    with_policy(&attr, POSIX_TRACE_LOOP, 1 << 20);
    OK(posix_trace_attr_setlogfullpolicy(&attr, POSIX_TRACE_APPEND));
    trace_id_t stream = started_withlog(&attr, log_file());
    number_events(type("too long"), 0, 10000);
    limit_files(65536);
    int result = posix_trace_flush(stream);
    CHECK(result == 0 || result == EFBIG);
    IS(flushed(stream).posix_stream_flush_error, EFBIG);
    IS(status_of(stream).posix_stream_flush_error, 0);
}

static trace_id_t lossy;
static unsigned long reported;
static int losing = 1;

static void *count_overruns(void *nothing)
{
    while (__atomic_load_n(&losing, __ATOMIC_ACQUIRE))
        if (overrun(lossy) == POSIX_TRACE_OVERRUN)
            __atomic_fetch_add(&reported, 1, __ATOMIC_RELEASE);
    return nothing;
}

/* Each of many separate losses is reported exactly once, while another thread reads the status in a loop. */
TEST(STS_08)
{
    lossy = overfull(POSIX_TRACE_UNTIL_FULL);
    overrun(lossy);
    trace_event_id_t id = type("many");
    pthread_t asking = thread(count_overruns, NULL);
    for (unsigned long loss = 1; loss <= 2000; loss++) {
        number_event(id, 0, 0, 0);
        while (__atomic_load_n(&reported, __ATOMIC_ACQUIRE) < loss)
            sched_yield();
        IS(__atomic_load_n(&reported, __ATOMIC_ACQUIRE), loss);
    }
    __atomic_store_n(&losing, 0, __ATOMIC_RELEASE);
    joined(asking);
    IS(reported, 2000);
}

TEST(CLR_01)
{
    trace_id_t stream = started(NULL);
    number_events(type("gone"), 0, 100);
    OK(posix_trace_clear(stream));
    CHECK(!next(stream, &record));
}

TEST(CLR_02)
{
    trace_id_t stream = started(NULL);
    number_events(type("gone"), 0, 100);
    OK(posix_trace_clear(stream));
    IS(running(stream), POSIX_TRACE_RUNNING);
    number_events(type("new"), 100, 110);
    struct seen seen = read_all(stream);
    ALL_NUMBERS(seen, 100, 110);
    IS(seen.records, 10);
}

TEST(CLR_03)
{
    trace_id_t stream = created(NULL);
    OK(posix_trace_clear(stream));
    IS(running(stream), POSIX_TRACE_SUSPENDED);
    OK(posix_trace_start(stream));
    OK(posix_trace_stop(stream));
    OK(posix_trace_clear(stream));
    IS(running(stream), POSIX_TRACE_SUSPENDED);
}

TEST(CLR_04)
{
    trace_id_t stream = overfull(POSIX_TRACE_LOOP);
    IS(full(stream), POSIX_TRACE_FULL);
    OK(posix_trace_clear(stream));
    IS(full(stream), POSIX_TRACE_NOT_FULL);
    IS(running(stream), POSIX_TRACE_RUNNING);
}

TEST(CLR_05)
{
    trace_event_id_t id = type("stays");
    trace_id_t stream = started(NULL);
    OK(posix_trace_clear(stream));
    IS(type("stays"), id);
    char name[TRACE_EVENT_NAME_MAX + 1];
    OK(posix_trace_eventid_get_name(stream, id, name));
    SAME(name, "stays");
}

TEST(CLR_06)
{
    trace_id_t stream = overfull(POSIX_TRACE_UNTIL_FULL);
    IS(running(stream), POSIX_TRACE_SUSPENDED);
    OK(posix_trace_clear(stream));
    IS(running(stream), POSIX_TRACE_SUSPENDED);
    IS(full(stream), POSIX_TRACE_NOT_FULL);
    number_events(type("many"), 0, 10);
    CHECK(!next(stream, &record));
    OK(posix_trace_start(stream));
    number_events(type("many"), 0, 10);
    struct seen seen = read_all(stream);
    ALL_NUMBERS(seen, 0, 10);
}

TEST(CLR_07)
{
    trace_event_id_t id = type("filtered");
    trace_id_t stream = created(NULL);
    trace_event_set_t filter = set_of(id, POSIX_TRACE_STOP, 0, 0);
    OK(posix_trace_set_filter(stream, &filter, POSIX_TRACE_SET_EVENTSET));
    OK(posix_trace_start(stream));
    OK(posix_trace_clear(stream));
    filter = filter_of(stream);
    CHECK(!member(&filter, id));
    CHECK(!member(&filter, POSIX_TRACE_STOP));
    number_events(id, 0, 10);
    struct seen seen = read_all(stream);
    ALL_NUMBERS(seen, 0, 10);
}

TEST(CLR_08)
{
    trace_id_t stream = overfull(POSIX_TRACE_LOOP);
    OK(posix_trace_clear(stream));
    IS(overrun(stream), POSIX_TRACE_NO_OVERRUN);
    stream = overfull(POSIX_TRACE_UNTIL_FULL);
    OK(posix_trace_clear(stream));
    IS(overrun(stream), POSIX_TRACE_NO_OVERRUN);
}

TEST(CLR_09)
{
    for (int at = 0; at < NO_STREAMS; at++)
        IS(posix_trace_clear(no_streams[at]), EINVAL);
}

TEST(CLR_10)
{
    int log = log_file();
    trace_id_t stream = started_withlog(NULL, log);
    number_events(type("kept"), 0, 10);
    OK(posix_trace_shutdown(stream));
    IS(posix_trace_clear(opened(log)), EINVAL);
    struct seen seen = read_log(log);
    ALL_NUMBERS(seen, 0, 10);
}

TEST(CLR_11)
{
    trace_attr_t attr;
    trace_event_id_t id = type("logged");
    const int policies[] = {POSIX_TRACE_LOOP, POSIX_TRACE_UNTIL_FULL, POSIX_TRACE_APPEND};
    for (int at = 0; at < 3; at++) {
        int log = log_file();
        OK(posix_trace_attr_init(&attr));
        OK(posix_trace_attr_setlogfullpolicy(&attr, policies[at]));
        trace_id_t stream = started_withlog(&attr, log);
        number_events(id, 0, 100);
        OK(posix_trace_flush(stream));
        number_events(id, 100, 200);
        OK(posix_trace_clear(stream));
        number_events(id, 200, 300);
        OK(posix_trace_shutdown(stream));
        struct seen seen = read_log(log);
        ALL_NUMBERS(seen, 200, 300);
    }
}

/* A stream with a full log. */
static trace_id_t with_full_log(int log)
{
    trace_attr_t attr;
    with_policy(&attr, POSIX_TRACE_UNTIL_FULL, 1 << 20);
    OK(posix_trace_attr_setlogfullpolicy(&attr, POSIX_TRACE_UNTIL_FULL));
    OK(posix_trace_attr_setlogsize(&attr, SMALL));
    trace_id_t stream = started_withlog(&attr, log);
    number_events(type("many"), 0, TOO_MANY);
    OK(posix_trace_flush(stream));
    IS(flushed(stream).posix_log_full_status, POSIX_TRACE_FULL);
    return stream;
}

TEST(CLR_12)
{
    int log = log_file();
    trace_id_t stream = with_full_log(log);
    IS(running(stream), POSIX_TRACE_SUSPENDED);
    OK(posix_trace_start(stream));
    IS(running(stream), POSIX_TRACE_SUSPENDED);
    OK(posix_trace_clear(stream));
    struct posix_trace_status_info status = status_of(stream);
    IS(status.posix_log_full_status, POSIX_TRACE_NOT_FULL);
    IS(status.posix_log_overrun_status, POSIX_TRACE_NO_OVERRUN);
    OK(posix_trace_start(stream));
    IS(running(stream), POSIX_TRACE_RUNNING);
    number_events(type("many"), 0, 10);
    OK(posix_trace_shutdown(stream));
    struct seen seen = read_log(log);
    ALL_NUMBERS(seen, 0, 10);
}

TEST(CLR_13)
{
    trace_attr_t attr, before, after;
    struct timespec was, is;
    unusual(&attr);
    trace_id_t stream = started(&attr);
    attributes_of(stream, &before);
    OK(posix_trace_clear(stream));
    is_unusual(stream);
    attributes_of(stream, &after);
    OK(posix_trace_attr_getcreatetime(&before, &was));
    OK(posix_trace_attr_getcreatetime(&after, &is));
    IS(nanoseconds(is), nanoseconds(was));
}
