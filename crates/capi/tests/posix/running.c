/* Start and stop of streams. */
#include "streams.h"

#include <string.h>

static int running(trace_id_t stream)
{
    return status_of(stream).posix_stream_status;
}

static struct record record;

/* Checks that the next record is this system event. */
static void next_is(trace_id_t stream, trace_event_id_t id)
{
    CHECK(next(stream, &record));
    IS(record.info.posix_event_id, id);
}

TEST(STA_01)
{
    trace_id_t stream = created(NULL);
    OK(posix_trace_start(stream));
    IS(running(stream), POSIX_TRACE_RUNNING);
}

TEST(STA_02)
{
    trace_id_t stream = started(NULL);
    number_events(type("later"), 0, 1);
    next_is(stream, POSIX_TRACE_START);
    CHECK(next(stream, &record));
    CHECK(is_user(&record));
}

TEST(STA_03)
{
    trace_event_id_t id = type("filtered");
    trace_id_t stream = created(NULL);
    trace_event_set_t filter = set_of(id, POSIX_TRACE_ERROR, 0, 0), said;
    OK(posix_trace_set_filter(stream, &filter, POSIX_TRACE_SET_EVENTSET));
    OK(posix_trace_start(stream));
    next_is(stream, POSIX_TRACE_START);
    IS(record.length, sizeof said);
    memcpy(&said, record.data, sizeof said);
    CHECK(member(&said, id));
    CHECK(member(&said, POSIX_TRACE_ERROR));
    CHECK(!member(&said, POSIX_TRACE_START));
    CHECK(!member(&said, POSIX_TRACE_UNNAMED_USER_EVENT));
}

TEST(STA_04)
{
    trace_id_t stream = started(NULL);
    OK(posix_trace_start(stream));
    struct seen seen = read_all(stream);
    IS(seen.of[POSIX_TRACE_START], 1);
    IS(seen.records, 1);
    IS(running(stream), POSIX_TRACE_RUNNING);
}

TEST(STA_05)
{
    trace_id_t stream = started(NULL);
    OK(posix_trace_stop(stream));
    IS(running(stream), POSIX_TRACE_SUSPENDED);
}

TEST(STA_06)
{
    trace_id_t stream = started(NULL);
    OK(posix_trace_stop(stream));
    next_is(stream, POSIX_TRACE_START);
    next_is(stream, POSIX_TRACE_STOP);
    IS(number_in(&record), 0);
    CHECK(!next(stream, &record));
}

TEST(STA_07)
{
    trace_id_t stream = created(NULL);
    OK(posix_trace_stop(stream));
    CHECK(!next(stream, &record));
    OK(posix_trace_start(stream));
    OK(posix_trace_stop(stream));
    OK(posix_trace_stop(stream));
    IS(read_all(stream).of[POSIX_TRACE_STOP], 1);
}

TEST(STA_08)
{
    trace_event_id_t id = type("outside");
    trace_id_t stream = created(NULL);
    number_events(id, 0, 10);
    OK(posix_trace_start(stream));
    number_events(id, 10, 20);
    OK(posix_trace_stop(stream));
    number_events(id, 20, 30);
    struct seen seen = read_all(stream);
    ALL_NUMBERS(seen, 10, 20);
    IS(status_of(stream).posix_stream_overrun_status, POSIX_TRACE_NO_OVERRUN);
}

TEST(STA_09)
{
    trace_event_id_t id = type("round");
    trace_id_t stream = created(NULL);
    for (uint32_t round = 0; round < 20; round++) {
        OK(posix_trace_start(stream));
        number_event(id, 0, round, 0);
        OK(posix_trace_stop(stream));
    }
    for (uint32_t round = 0; round < 20; round++) {
        next_is(stream, POSIX_TRACE_START);
        next_is(stream, id);
        next_is(stream, POSIX_TRACE_STOP);
    }
    CHECK(!next(stream, &record));
}

TEST(STA_10)
{
    for (int at = 0; at < NO_STREAMS; at++)
        IS(posix_trace_start(no_streams[at]), EINVAL);
}

TEST(STA_11)
{
    for (int at = 0; at < NO_STREAMS; at++)
        IS(posix_trace_stop(no_streams[at]), EINVAL);
}

/* A log with a few events. */
static trace_id_t some_log(void)
{
    int log = log_file();
    trace_id_t stream = started_withlog(NULL, log);
    number_events(type("logged"), 0, 3);
    OK(posix_trace_shutdown(stream));
    return opened(log);
}

TEST(STA_12)
{
    IS(posix_trace_start(some_log()), EINVAL);
}

TEST(STA_13)
{
    IS(posix_trace_stop(some_log()), EINVAL);
}

TEST(STA_14)
{
    trace_id_t other = created(NULL), stream = started(NULL);
    IS(running(other), POSIX_TRACE_SUSPENDED);
    OK(posix_trace_start(other));
    OK(posix_trace_stop(stream));
    IS(running(other), POSIX_TRACE_RUNNING);
    IS(running(stream), POSIX_TRACE_SUSPENDED);
}

TEST(STA_15)
{
    trace_attr_t attr;
    with_policy(&attr, POSIX_TRACE_LOOP, 20000);
    trace_id_t stream = started(&attr);
    number_events(type("many"), 0, 5000);
    IS(status_of(stream).posix_stream_full_status, POSIX_TRACE_FULL);
    OK(posix_trace_stop(stream));
    struct posix_trace_status_info status = status_of(stream);
    IS(status.posix_stream_status, POSIX_TRACE_SUSPENDED);
    IS(status.posix_stream_full_status, POSIX_TRACE_FULL);
    struct seen seen = read_all(stream);
    IS(seen.last_id, POSIX_TRACE_STOP);
    IS(seen.last_stop, 0);
    IS(seen.last[0], 4999);
}

TEST(STA_16)
{
    int64_t before = nanoseconds(now());
    trace_id_t stream = started(NULL);
    OK(posix_trace_stop(stream));
    for (int count = 0; count < 2; count++) {
        CHECK(next(stream, &record));
        IS(record.info.posix_pid, 0);
        CHECK(record.info.posix_prog_address == NULL);
        IS(record.info.posix_thread_id, 0);
        IS(record.info.posix_truncation_status, POSIX_TRACE_NOT_TRUNCATED);
        CHECK(nanoseconds(record.info.posix_timestamp) >= before);
        CHECK(nanoseconds(record.info.posix_timestamp) <= nanoseconds(now()));
    }
}

/* System events are never truncated, whatever the limit of user data is. */
TEST(OWN_05)
{
    trace_attr_t attr;
    OK(posix_trace_attr_init(&attr));
    OK(posix_trace_attr_setmaxdatasize(&attr, 0));
    trace_id_t stream = started(&attr);
    OK(posix_trace_stop(stream));
    next_is(stream, POSIX_TRACE_START);
    IS(record.length, sizeof(trace_event_set_t));
    IS(record.info.posix_truncation_status, POSIX_TRACE_NOT_TRUNCATED);
    next_is(stream, POSIX_TRACE_STOP);
    IS(number_in(&record), 0);
}
