/* The filters of streams. */
#include "streams.h"

#include <string.h>

static struct record record;

static void filter(trace_id_t stream, trace_event_set_t set, int how)
{
    OK(posix_trace_set_filter(stream, &set, how));
}

/* A running stream with a filter of at most two types. */
static trace_id_t filtered(trace_event_id_t one, trace_event_id_t two)
{
    trace_id_t stream = created(NULL);
    filter(stream, set_of(one, two, 0, 0), POSIX_TRACE_SET_EVENTSET);
    OK(posix_trace_start(stream));
    return stream;
}

TEST(FLT_01)
{
    trace_event_id_t out = type("out"), in = type("in");
    trace_id_t stream = filtered(out, 0);
    number_events(out, 0, 10);
    number_events(in, 10, 20);
    number_events(out, 20, 30);
    struct seen seen = read_all(stream);
    ALL_NUMBERS(seen, 10, 20);
}

TEST(FLT_02)
{
    trace_event_id_t one = type("one"), two = type("two");
    trace_id_t stream = filtered(one, 0);
    filter(stream, set_of(two, 0, 0, 0), POSIX_TRACE_ADD_EVENTSET);
    trace_event_set_t got = filter_of(stream);
    CHECK(member(&got, one));
    CHECK(member(&got, two));
    CHECK(!member(&got, POSIX_TRACE_START));
}

TEST(FLT_03)
{
    trace_event_id_t one = type("one"), two = type("two");
    trace_id_t stream = filtered(one, two);
    filter(stream, set_of(two, POSIX_TRACE_STOP, 0, 0), POSIX_TRACE_SUB_EVENTSET);
    trace_event_set_t got = filter_of(stream);
    CHECK(member(&got, one));
    CHECK(!member(&got, two));
    CHECK(!member(&got, POSIX_TRACE_STOP));
}

TEST(FLT_04)
{
    trace_event_id_t one = type("one"), two = type("two");
    trace_id_t stream = filtered(one, 0);
    filter(stream, set_of(two, 0, 0, 0), POSIX_TRACE_SET_EVENTSET);
    trace_event_set_t got = filter_of(stream);
    CHECK(!member(&got, one));
    CHECK(member(&got, two));
}

TEST(FLT_05)
{
    trace_event_id_t one = type("one"), two = type("two");
    trace_id_t stream = filtered(one, 0);
    filter(stream, set_of(two, 0, 0, 0), POSIX_TRACE_ADD_EVENTSET);
    CHECK(next(stream, &record));
    CHECK(next(stream, &record));
    IS(record.info.posix_event_id, POSIX_TRACE_FILTER);
    trace_event_set_t sets[2];
    IS(record.length, sizeof sets);
    memcpy(sets, record.data, sizeof sets);
    CHECK(member(&sets[0], one));
    CHECK(!member(&sets[0], two));
    CHECK(member(&sets[1], one));
    CHECK(member(&sets[1], two));
    CHECK(!next(stream, &record));
}

TEST(FLT_06)
{
    trace_id_t stream = created(NULL);
    filter(stream, set_of(type("any"), 0, 0, 0), POSIX_TRACE_SET_EVENTSET);
    CHECK(!next(stream, &record));
    OK(posix_trace_start(stream));
    OK(posix_trace_stop(stream));
    filter(stream, set_of(0, 0, 0, 0), POSIX_TRACE_SET_EVENTSET);
    IS(read_all(stream).of[POSIX_TRACE_FILTER], 0);
}

TEST(FLT_07)
{
    trace_event_id_t one = type("one");
    trace_id_t stream = filtered(one, 0);
    trace_event_set_t set = filled(POSIX_TRACE_ALL_EVENTS);
    const int others[] = {0, 4, -1, 0x7fffffff};
    for (int at = 0; at < 4; at++)
        IS(posix_trace_set_filter(stream, &set, others[at]), EINVAL);
    trace_event_set_t got = filter_of(stream);
    CHECK(member(&got, one));
    CHECK(!member(&got, POSIX_TRACE_START));
    IS(read_all(stream).of[POSIX_TRACE_FILTER], 0);
}

TEST(FLT_08)
{
    trace_event_set_t set = filled(POSIX_TRACE_ALL_EVENTS);
    for (int at = 0; at < NO_STREAMS; at++)
        IS(posix_trace_set_filter(no_streams[at], &set, POSIX_TRACE_SET_EVENTSET), EINVAL);
    IS(posix_trace_set_filter(created(NULL), NULL, POSIX_TRACE_SET_EVENTSET), EINVAL);
}

TEST(FLT_09)
{
    trace_event_set_t set, before;
    memset(&set, 0x55, sizeof set);
    before = set;
    for (int at = 0; at < NO_STREAMS; at++)
        IS(posix_trace_get_filter(no_streams[at], &set), EINVAL);
    IS(posix_trace_get_filter(created(NULL), NULL), EINVAL);
    CHECK(memcmp(&set, &before, sizeof set) == 0);
}

TEST(FLT_10)
{
    trace_event_id_t id = type("somewhere");
    trace_id_t other = started(NULL), stream = filtered(id, 0);
    number_events(id, 0, 10);
    IS(read_all(stream).numbered, 0);
    struct seen seen = read_all(other);
    ALL_NUMBERS(seen, 0, 10);
    trace_event_set_t got = filter_of(other);
    CHECK(!member(&got, id));
}

TEST(FLT_11)
{
    trace_id_t stream = created(NULL);
    filter(stream, filled(POSIX_TRACE_ALL_EVENTS), POSIX_TRACE_SET_EVENTSET);
    OK(posix_trace_start(stream));
    number_events(type("any"), 0, 10);
    posix_trace_event(POSIX_TRACE_UNNAMED_USER_EVENT, NULL, 0);
    OK(posix_trace_stop(stream));
    CHECK(!next(stream, &record));
    IS(status_of(stream).posix_stream_overrun_status, POSIX_TRACE_NO_OVERRUN);
}

TEST(FLT_12)
{
    trace_id_t stream = filtered(POSIX_TRACE_START, POSIX_TRACE_STOP);
    number_events(type("alone"), 0, 10);
    OK(posix_trace_stop(stream));
    struct seen seen = read_all(stream);
    ALL_NUMBERS(seen, 0, 10);
    IS(seen.records, 10);
    IS(status_of(stream).posix_stream_status, POSIX_TRACE_SUSPENDED);
}

TEST(FLT_13)
{
    trace_event_id_t id = type("any");
    trace_id_t stream = filtered(id, POSIX_TRACE_STOP);
    number_events(id, 0, 10);
    filter(stream, set_of(0, 0, 0, 0), POSIX_TRACE_SET_EVENTSET);
    number_events(id, 10, 20);
    OK(posix_trace_stop(stream));
    struct seen seen = read_all(stream);
    ALL_NUMBERS(seen, 10, 20);
    IS(seen.of[POSIX_TRACE_STOP], 1);
}

static trace_id_t log_of_filtered(void)
{
    int log = log_file();
    OK(posix_trace_shutdown(created_withlog(NULL, log)));
    return opened(log);
}

TEST(FLT_14)
{
    trace_event_set_t set;
    IS(posix_trace_get_filter(log_of_filtered(), &set), EINVAL);
}

TEST(FLT_15)
{
    trace_event_id_t id = type("any");
    trace_id_t stream = filtered(id, 0);
    OK(posix_trace_stop(stream));
    OK(posix_trace_start(stream));
    number_events(id, 0, 10);
    IS(read_all(stream).numbered, 0);
    trace_event_set_t got = filter_of(stream);
    CHECK(member(&got, id));
}

TEST(FLT_16)
{
    trace_event_id_t id = type("many");
    trace_attr_t attr;
    const int policies[] = {POSIX_TRACE_LOOP, POSIX_TRACE_UNTIL_FULL};
    for (int at = 0; at < 2; at++) {
        with_policy(&attr, policies[at], 20000);
        trace_id_t stream = created(&attr);
        filter(stream, set_of(id, 0, 0, 0), POSIX_TRACE_SET_EVENTSET);
        OK(posix_trace_start(stream));
        number_events(id, 0, 5000);
        struct posix_trace_status_info status = status_of(stream);
        IS(status.posix_stream_overrun_status, POSIX_TRACE_NO_OVERRUN);
        IS(status.posix_stream_full_status, POSIX_TRACE_NOT_FULL);
        IS(status.posix_stream_status, POSIX_TRACE_RUNNING);
    }
}

/* The event FILTER itself is recorded, unless the old filter suppresses it. */
TEST(OWN_06)
{
    trace_id_t stream = filtered(POSIX_TRACE_FILTER, 0);
    filter(stream, set_of(0, 0, 0, 0), POSIX_TRACE_SET_EVENTSET);
    IS(read_all(stream).of[POSIX_TRACE_FILTER], 0);
    filter(stream, set_of(POSIX_TRACE_FILTER, 0, 0, 0), POSIX_TRACE_SET_EVENTSET);
    IS(read_all(stream).of[POSIX_TRACE_FILTER], 1);
}
