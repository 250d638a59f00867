/* Full streams with each policy, and the capacity of streams. */
#include "streams.h"

#include <sched.h>
#include <string.h>

enum { SMALL = 20000, TOO_MANY = 5000 };

static struct record record;

static trace_id_t small(int policy)
{
    trace_attr_t attr;
    with_policy(&attr, policy, SMALL);
    return started(&attr);
}

static trace_event_id_t many(void)
{
    return type("many");
}

/* A stream into which more events were recorded than fit. */
static trace_id_t overfull(int policy)
{
    trace_id_t stream = small(policy);
    number_events(many(), 0, TOO_MANY);
    return stream;
}

static void is_in_state(trace_id_t stream, int running, int full)
{
    struct posix_trace_status_info status = status_of(stream);
    IS(status.posix_stream_status, running);
    IS(status.posix_stream_full_status, full);
}

TEST(FUL_01)
{
    is_in_state(overfull(POSIX_TRACE_UNTIL_FULL), POSIX_TRACE_SUSPENDED, POSIX_TRACE_FULL);
}

TEST(FUL_02)
{
    IS(status_of(overfull(POSIX_TRACE_UNTIL_FULL)).posix_stream_overrun_status, POSIX_TRACE_OVERRUN);
}

TEST(FUL_03)
{
    struct seen seen = read_all(overfull(POSIX_TRACE_UNTIL_FULL));
    IS(seen.first[0], 0);
    IS(seen.gaps[0], 0);
    CHECK(seen.count[0] > 50);
    CHECK(seen.count[0] < TOO_MANY);
}

/* Reads the records up to and including STOP. Returns the number of user events. */
static unsigned long read_to_stop(trace_id_t stream)
{
    unsigned long users = 0;
    while (next(stream, &record) && record.info.posix_event_id != POSIX_TRACE_STOP)
        users += is_user(&record);
    IS(record.info.posix_event_id, POSIX_TRACE_STOP);
    return users;
}

TEST(FUL_04)
{
    trace_id_t stream = overfull(POSIX_TRACE_UNTIL_FULL);
    CHECK(read_to_stop(stream) > 50);
    CHECK(number_in(&record) != 0);
    while (next(stream, &record))
        CHECK(!is_user(&record));
}

TEST(FUL_05)
{
    trace_id_t stream = overfull(POSIX_TRACE_UNTIL_FULL);
    read_to_stop(stream);
    is_in_state(stream, POSIX_TRACE_RUNNING, POSIX_TRACE_NOT_FULL);
}

TEST(FUL_06)
{
    trace_id_t stream = overfull(POSIX_TRACE_UNTIL_FULL);
    read_to_stop(stream);
    number_event(many(), 0, TOO_MANY, 0);
    bool started = false;
    while (next(stream, &record) && !is_user(&record))
        started = started || record.info.posix_event_id == POSIX_TRACE_START;
    CHECK(started);
    CHECK(is_user(&record));
}

TEST(FUL_07)
{
    trace_id_t stream = overfull(POSIX_TRACE_UNTIL_FULL);
    OK(posix_trace_start(stream));
    is_in_state(stream, POSIX_TRACE_SUSPENDED, POSIX_TRACE_FULL);
    unsigned long first = read_to_stop(stream);
    CHECK(first > 50);
    CHECK(number_in(&record) != 0);
    is_in_state(stream, POSIX_TRACE_RUNNING, POSIX_TRACE_NOT_FULL);
    IS(read_all(stream).of[POSIX_TRACE_START], 1);
}

TEST(FUL_08)
{
    trace_id_t stream = overfull(POSIX_TRACE_UNTIL_FULL);
    const trace_event_id_t expected[] = {POSIX_TRACE_OVERFLOW, POSIX_TRACE_RESUME, POSIX_TRACE_START};
    read_to_stop(stream);
    int64_t last = nanoseconds(record.info.posix_timestamp);
    for (int at = 0; at < 3; at++) {
        CHECK(next(stream, &record));
        IS(record.info.posix_event_id, expected[at]);
        CHECK(nanoseconds(record.info.posix_timestamp) >= last);
        last = nanoseconds(record.info.posix_timestamp);
        if (at < 2)
            IS(record.length, 0);
    }
    CHECK(!next(stream, &record));
}

TEST(FUL_09)
{
    trace_id_t stream = overfull(POSIX_TRACE_UNTIL_FULL);
    OK(posix_trace_stop(stream));
    is_in_state(stream, POSIX_TRACE_SUSPENDED, POSIX_TRACE_FULL);
    struct seen seen = read_all(stream);
    IS(seen.of[POSIX_TRACE_START], 1);
    IS(seen.of[POSIX_TRACE_STOP], 1);
    is_in_state(stream, POSIX_TRACE_SUSPENDED, POSIX_TRACE_NOT_FULL);
    number_events(many(), 0, 10);
    CHECK(!next(stream, &record));
    OK(posix_trace_start(stream));
    number_events(many(), 10, 20);
    seen = read_all(stream);
    ALL_NUMBERS(seen, 10, 20);
}

TEST(FUL_10)
{
    is_in_state(overfull(POSIX_TRACE_LOOP), POSIX_TRACE_RUNNING, POSIX_TRACE_FULL);
}

TEST(FUL_11)
{
    IS(status_of(overfull(POSIX_TRACE_LOOP)).posix_stream_overrun_status, POSIX_TRACE_OVERRUN);
}

TEST(FUL_12)
{
    IS(read_all(overfull(POSIX_TRACE_LOOP)).last[0], TOO_MANY - 1);
}

TEST(FUL_13)
{
    struct seen seen = read_all(overfull(POSIX_TRACE_LOOP));
    IS(seen.gaps[0], 0);
    CHECK(seen.first[0] > 0);
    CHECK(seen.count[0] > 50);
}

TEST(FUL_14)
{
    trace_id_t stream = overfull(POSIX_TRACE_LOOP);
    read_all(stream);
    is_in_state(stream, POSIX_TRACE_RUNNING, POSIX_TRACE_NOT_FULL);
}

/* Returns the length of an event's padding: `alike`, or a pseudo-random length if `alike` is SIZE_MAX. */
static size_t filling_of(size_t alike, uint32_t number)
{
    return alike == SIZE_MAX ? number * 7919 % (LARGEST_FILLING + 1) : alike;
}

static size_t largest_user(const trace_attr_t *attr, size_t filling)
{
    size_t size = 0;
    OK(posix_trace_attr_getmaxusereventsize(attr, sizeof(struct numbered) + filling, &size));
    return size;
}

/* Checks that a stream keeps all records if the sum of their maximum sizes equals the stream size. */
static void keeps_its_promise(int policy, size_t alike, uint32_t count)
{
    trace_attr_t attr;
    size_t size = 0;
    with_policy(&attr, policy, 0);
    OK(posix_trace_attr_setmaxdatasize(&attr, 300));
    OK(posix_trace_attr_getmaxsystemeventsize(&attr, &size));
    for (uint32_t number = 0; number < count; number++)
        size += largest_user(&attr, filling_of(alike, number));
    OK(posix_trace_attr_setstreamsize(&attr, size));
    trace_id_t stream = started(&attr);
    for (uint32_t number = 0; number < count; number++)
        number_event(many(), 0, number, filling_of(alike, number));
    struct posix_trace_status_info status = status_of(stream);
    IS(status.posix_stream_status, POSIX_TRACE_RUNNING);
    IS(status.posix_stream_overrun_status, POSIX_TRACE_NO_OVERRUN);
    struct seen seen = read_all(stream);
    ALL_NUMBERS(seen, 0, count);
    IS(seen.records, count + 1);
    OK(posix_trace_shutdown(stream));
}

static void keeps_its_promises(int policy)
{
    const uint32_t counts[] = {1, 2, 10, 100, 1000, 10000};
    const size_t fillings[] = {0, 1, 3, 8, 100, LARGEST_FILLING, SIZE_MAX};
    for (int count = 0; count < 6; count++)
        for (int filling = 0; filling < 7; filling++)
            keeps_its_promise(policy, fillings[filling], counts[count]);
}

TEST(FUL_15)
{
    keeps_its_promises(POSIX_TRACE_LOOP);
}

TEST(FUL_16)
{
    keeps_its_promises(POSIX_TRACE_UNTIL_FULL);
}

TEST(FUL_17)
{
    trace_id_t stream = small(POSIX_TRACE_UNTIL_FULL);
    CHECK(next(stream, &record));
    for (uint32_t round = 0; round < 200; round++) {
        number_events(many(), round * 50, (round + 1) * 50);
        struct seen seen = read_all(stream);
        ALL_NUMBERS(seen, round * 50, (round + 1) * 50);
        IS(seen.records, 50);
    }
    IS(status_of(stream).posix_stream_overrun_status, POSIX_TRACE_NO_OVERRUN);
}

TEST(FUL_18)
{
    trace_id_t stream = small(POSIX_TRACE_LOOP);
    for (uint32_t number = 0; number < TOO_MANY; number += 100) {
        number_events(many(), number, number + 100);
        IS(status_of(stream).posix_stream_status, POSIX_TRACE_RUNNING);
    }
    struct seen seen = read_all(stream);
    IS(seen.of[POSIX_TRACE_STOP], 0);
}

/* Streams with logs. */

static trace_id_t with_log(int policy, size_t size, int log)
{
    trace_attr_t attr;
    with_policy(&attr, policy, size);
    OK(posix_trace_attr_setlogfullpolicy(&attr, POSIX_TRACE_APPEND));
    return started_withlog(&attr, log);
}

/* Waits until the last event in an unfinished log has this number. */
static void await_in_log(int log, uint32_t number)
{
    while (read_log(log).last[0] != number)
        sleep_ms(1);
}

TEST(FUL_19)
{
    int log = log_file();
    trace_id_t stream = with_log(POSIX_TRACE_FLUSH, 65536, log);
    for (uint32_t number = 0; number < 10000; number += 500) {
        number_events(many(), number, number + 500);
        await_in_log(log, number + 499);
    }
    IS(status_of(stream).posix_stream_overrun_status, POSIX_TRACE_NO_OVERRUN);
    OK(posix_trace_shutdown(stream));
    struct seen seen = read_log(log);
    ALL_NUMBERS(seen, 0, 10000);
}

TEST(FUL_20)
{
    int log = log_file();
    trace_id_t stream = with_log(POSIX_TRACE_FLUSH, SMALL, log);
    number_events(many(), 0, 200000);
    bool lost = status_of(stream).posix_stream_overrun_status == POSIX_TRACE_OVERRUN;
    OK(posix_trace_shutdown(stream));
    struct seen seen = read_log(log);
    CHECK(seen.count[0] > 0);
    CHECK(lost == (seen.count[0] < 200000));
    CHECK(seen.gaps[0] == 0 || seen.of[POSIX_TRACE_OVERFLOW] > 0);
}

TEST(FUL_21)
{
    int log = log_file();
    trace_id_t stream = with_log(POSIX_TRACE_LOOP, SMALL, log);
    number_events(many(), 0, TOO_MANY);
    OK(posix_trace_shutdown(stream));
    struct seen seen = read_log(log);
    CHECK(seen.first[0] > 0);
    IS(seen.last[0], TOO_MANY - 1);
    IS(seen.gaps[0], 0);
}

TEST(FUL_22)
{
    int log = log_file();
    trace_id_t stream = with_log(POSIX_TRACE_UNTIL_FULL, SMALL, log);
    number_events(many(), 0, TOO_MANY);
    is_in_state(stream, POSIX_TRACE_SUSPENDED, POSIX_TRACE_FULL);
    OK(posix_trace_flush(stream));
    flushed(stream);
    is_in_state(stream, POSIX_TRACE_RUNNING, POSIX_TRACE_NOT_FULL);
    number_events(many(), TOO_MANY, TOO_MANY + 10);
    OK(posix_trace_shutdown(stream));
    struct seen seen = read_log(log);
    IS(seen.first[0], 0);
    IS(seen.last[0], TOO_MANY + 9);
    IS(seen.gaps[0], TOO_MANY + 10 - seen.count[0]);
    IS(seen.of[POSIX_TRACE_START], 2);
    IS(seen.of[POSIX_TRACE_STOP], 2);
}

/* Full streams under load: records are complete and in order, and each gap is marked. */

static trace_id_t loaded;
static int writing = 4;

static void *write_numbers(void *who)
{
    trace_event_id_t id = many();
    for (uint32_t number = 0; number < 30000; number++)
        number_event(id, (uint32_t)(uintptr_t)who, number, number % 64);
    __atomic_fetch_sub(&writing, 1, __ATOMIC_RELEASE);
    return NULL;
}

static struct seen read_while_written(int policy)
{
    pthread_t writers[4];
    struct seen seen = {0};
    loaded = small(policy);
    for (uintptr_t who = 0; who < 4; who++)
        writers[who] = thread(write_numbers, (void *)who);
    bool busy = true;
    while (busy) {
        busy = __atomic_load_n(&writing, __ATOMIC_ACQUIRE) > 0;
        while (next(loaded, &record))
            see(&seen, &record);
        sched_yield();
    }
    for (int who = 0; who < 4; who++)
        joined(writers[who]);
    return seen;
}

TEST(OWN_09)
{
    struct seen seen = read_while_written(POSIX_TRACE_UNTIL_FULL);
    unsigned long lost = 4 * 30000 - seen.numbered;
    bool overrun = status_of(loaded).posix_stream_overrun_status == POSIX_TRACE_OVERRUN;
    CHECK(overrun == (lost > 0));
    IS(seen.of[POSIX_TRACE_START], seen.of[POSIX_TRACE_STOP] + 1);
    IS(seen.of[POSIX_TRACE_OVERFLOW], seen.of[POSIX_TRACE_RESUME]);
    CHECK(seen.of[POSIX_TRACE_OVERFLOW] <= seen.of[POSIX_TRACE_STOP]);
}

TEST(OWN_10)
{
    struct seen seen = read_while_written(POSIX_TRACE_LOOP);
    CHECK(seen.numbered > 0);
    bool overrun = status_of(loaded).posix_stream_overrun_status == POSIX_TRACE_OVERRUN;
    CHECK(overrun == (seen.numbered < 4 * 30000));
    IS(seen.of[POSIX_TRACE_STOP], 0);
}
