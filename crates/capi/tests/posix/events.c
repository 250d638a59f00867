/* The records of posix_trace_event, and calls that record nothing. */
#include "streams.h"

#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include <linux/seccomp.h>

static struct record record;

static void with_data_size(trace_attr_t *attr, size_t size)
{
    OK(posix_trace_attr_init(attr));
    OK(posix_trace_attr_setmaxdatasize(attr, size));
}

TEST(EVT_01)
{
    trace_event_id_t id = type("bytes"), other = type("other");
    trace_id_t stream = ready(NULL);
    posix_trace_event(id, "some data", 9);
    posix_trace_event(other, "\0\377", 2);
    CHECK(next(stream, &record));
    IS(record.info.posix_event_id, id);
    IS(record.length, 9);
    CHECK(memcmp(record.data, "some data", 9) == 0);
    IS(record.info.posix_truncation_status, POSIX_TRACE_NOT_TRUNCATED);
    CHECK(next(stream, &record));
    IS(record.info.posix_event_id, other);
    IS(record.length, 2);
    CHECK(memcmp(record.data, "\0\377", 2) == 0);
}

TEST(EVT_02)
{
    trace_event_id_t id = type("empty");
    trace_id_t stream = ready(NULL);
    posix_trace_event(id, NULL, 0);
    CHECK(next(stream, &record));
    IS(record.info.posix_event_id, id);
    IS(record.length, 0);
    IS(record.info.posix_truncation_status, POSIX_TRACE_NOT_TRUNCATED);
}

TEST(EVT_03)
{
    trace_event_id_t id = type("whose");
    trace_id_t stream = ready(NULL);
    posix_trace_event(id, NULL, 0);
    CHECK(next(stream, &record));
    IS(record.info.posix_pid, getpid());
}

static void *one_event(void *id)
{
    posix_trace_event(*(trace_event_id_t *)id, NULL, 0);
    return NULL;
}

TEST(EVT_04)
{
    trace_event_id_t id = type("thread");
    trace_id_t stream = ready(NULL);
    one_event(&id);
    pthread_t other = thread(one_event, &id);
    joined(other);
    CHECK(next(stream, &record));
    CHECK(pthread_equal(record.info.posix_thread_id, pthread_self()));
    CHECK(next(stream, &record));
    CHECK(pthread_equal(record.info.posix_thread_id, other));
}

/* Maximum error of a timestamp while the clock is adjusted, in nanoseconds. */
enum { ADJUSTED = 1000000 };

TEST(EVT_05)
{
    trace_event_id_t id = type("when");
    trace_id_t stream = ready(NULL);
    for (int count = 0; count < 100; count++) {
        int64_t before = nanoseconds(now());
        posix_trace_event(id, NULL, 0);
        int64_t after = nanoseconds(now());
        CHECK(next(stream, &record));
        CHECK(nanoseconds(record.info.posix_timestamp) >= before - ADJUSTED);
        CHECK(nanoseconds(record.info.posix_timestamp) <= after + ADJUSTED);
        CHECK(record.info.posix_timestamp.tv_nsec >= 0 && record.info.posix_timestamp.tv_nsec < 1000000000);
    }
}

/* The bounds of a section with a single function. The linker defines these symbols. */
extern const char __start_call_places[], __stop_call_places[];

__attribute__((section("call_places"), noinline)) static void first_place(trace_event_id_t id)
{
    posix_trace_event(id, NULL, 0);
    __asm__ volatile("" ::: "memory");
}

__attribute__((noinline)) static void second_place(trace_event_id_t id)
{
    posix_trace_event(id, NULL, 0);
    __asm__ volatile("" ::: "memory");
}

static const unsigned char *place_of_next(trace_id_t stream)
{
    CHECK(next(stream, &record));
    return record.info.posix_prog_address;
}

static void need_call_places(void)
{
#if !defined __x86_64__ && !defined __aarch64__
    skip("the library gives no addresses on this machine");
#endif
}

TEST(EVT_06)
{
    need_call_places();
    trace_event_id_t id = type("where");
    trace_id_t stream = ready(NULL);
    first_place(id);
    const unsigned char *place = place_of_next(stream);
    CHECK((const char *)place > __start_call_places);
    CHECK((const char *)place < __stop_call_places);
#ifdef __x86_64__
    /* The instruction before the address is a call, direct or through a table. */
    CHECK(place[-5] == 0xE8 || (place[-6] == 0xFF && place[-5] == 0x15));
#endif
}

TEST(EVT_07)
{
    need_call_places();
    trace_event_id_t id = type("where");
    trace_id_t stream = ready(NULL);
    for (int count = 0; count < 3; count++)
        first_place(id);
    second_place(id);
    const unsigned char *place = place_of_next(stream);
    CHECK(place_of_next(stream) == place);
    CHECK(place_of_next(stream) == place);
    CHECK(place_of_next(stream) != place);
}

/* Records a number of bytes and reads them back. */
static void round_trip(trace_id_t stream, size_t length, size_t kept)
{
    static unsigned char bytes[70000];
    for (size_t at = 0; at < length; at++)
        bytes[at] = (unsigned char)(at * 7 + length);
    posix_trace_event(POSIX_TRACE_UNNAMED_USER_EVENT, bytes, length);
    memset(record.data, 0, sizeof record.data);
    CHECK(next(stream, &record));
    IS(record.length, kept);
    CHECK(memcmp(record.data, bytes, kept) == 0);
    IS(record.info.posix_truncation_status,
       kept < length ? POSIX_TRACE_TRUNCATED_RECORD : POSIX_TRACE_NOT_TRUNCATED);
}

TEST(EVT_08)
{
    trace_attr_t attr;
    with_data_size(&attr, 100);
    trace_id_t stream = ready(&attr);
    round_trip(stream, 101, 100);
    round_trip(stream, 60000, 100);
    round_trip(ready(NULL), 4097, 4096);
}

TEST(EVT_09)
{
    trace_attr_t attr;
    with_data_size(&attr, 100);
    round_trip(ready(&attr), 100, 100);
    with_data_size(&attr, 65536);
    round_trip(ready(&attr), 65536, 65536);
}

TEST(EVT_10)
{
    number_events(type("nobody listens"), 0, 1000);
    posix_trace_event(POSIX_TRACE_UNNAMED_USER_EVENT, "text", 4);
    IS(read_all(started(NULL)).numbered, 0);
}

enum { IN_HANDLER = 20000 };

static trace_event_id_t interrupting;
static volatile sig_atomic_t interrupted;

static void record_in_handler(int signal)
{
    (void)signal;
    number_event(interrupting, 1, (uint32_t)interrupted++, 8);
}

static void every(long microseconds)
{
    struct itimerval timer = {{0, microseconds}, {0, microseconds}};
    OK(setitimer(ITIMER_REAL, &timer, NULL));
}

TEST(EVT_11)
{
    trace_attr_t attr;
    with_policy(&attr, POSIX_TRACE_UNTIL_FULL, 64 << 20);
    interrupting = type("interrupting");
    trace_event_id_t id = type("interrupted");
    struct sigaction action = {.sa_handler = record_in_handler, .sa_flags = SA_RESTART};
    OK(sigaction(SIGALRM, &action, NULL));
    trace_id_t stream = started(&attr);
    uint32_t number = 0;
    every(50);
    while (number < IN_HANDLER || (interrupted < 1000 && number < 20 * IN_HANDLER))
        number_event(id, 0, number++, 8);
    every(0);
    CHECK(interrupted > 0);
    struct seen seen = read_all(stream);
    ALL_NUMBERS(seen, 0, number);
    IS(seen.first[1], 0);
    IS(seen.gaps[1], 0);
    IS(seen.count[1], interrupted);
    IS(status_of(stream).posix_stream_overrun_status, POSIX_TRACE_NO_OVERRUN);
}

TEST(EVT_12)
{
    trace_event_id_t id = type("errno");
    errno = 4711;
    posix_trace_event(id, NULL, 0);
    IS(errno, 4711);
    trace_id_t stream = started(NULL);
    errno = 4711;
    posix_trace_event(id, NULL, 0);
    IS(errno, 4711);
    OK(posix_trace_stop(stream));
    IS(errno, 4711);
}

TEST(EVT_13)
{
    trace_event_id_t id = type("known");
    trace_id_t stream = started(NULL);
    const trace_event_id_t others[] = {0, id + 1, 9, 63, POSIX_TRACE_START, POSIX_TRACE_STOP,
                                       POSIX_TRACE_FLUSH_STOP, 65 + TRACE_USER_EVENT_MAX, 5000, 0xffffffff};
    for (int at = 0; at < 10; at++)
        posix_trace_event(others[at], "text", 4);
    struct seen seen = read_all(stream);
    IS(seen.records, 1);
    IS(seen.of[POSIX_TRACE_START], 1);
}

TEST(EVT_14)
{
    trace_attr_t attr;
    with_policy(&attr, POSIX_TRACE_LOOP, 4 << 20);
    trace_id_t stream = started(&attr);
    number_events(type("order"), 0, 10000);
    struct seen seen = read_all(stream);
    ALL_NUMBERS(seen, 0, 10000);
}

TEST(EVT_15)
{
    trace_attr_t attr;
    with_policy(&attr, POSIX_TRACE_LOOP, 4 << 20);
    trace_id_t stream = started(&attr);
    number_events(type("time"), 0, 10000);
    int64_t last = 0;
    while (next(stream, &record)) {
        CHECK(nanoseconds(record.info.posix_timestamp) >= last);
        last = nanoseconds(record.info.posix_timestamp);
    }
    CHECK(last > 0);
}

TEST(EVT_16)
{
    trace_id_t stream = ready(NULL);
    posix_trace_event(POSIX_TRACE_UNNAMED_USER_EVENT, "unnamed", 7);
    CHECK(next(stream, &record));
    IS(record.info.posix_event_id, POSIX_TRACE_UNNAMED_USER_EVENT);
    IS(record.length, 7);
}

TEST(EVT_17)
{
    trace_attr_t attr;
    with_data_size(&attr, 0);
    trace_id_t stream = ready(&attr);
    round_trip(stream, 1, 0);
    round_trip(stream, 1000, 0);
    round_trip(stream, 0, 0);
}

TEST(EVT_18)
{
    trace_id_t stream = ready(NULL);
    const size_t lengths[] = {1, 7, 8, 9, 255, 4096};
    for (int at = 0; at < 6; at++)
        round_trip(stream, lengths[at], lengths[at]);
    for (size_t length = 0; length < 300; length++)
        round_trip(stream, length, length);
}

TEST(EVT_19)
{
    trace_event_id_t id = type("null");
    trace_id_t stream = ready(NULL);
    posix_trace_event(id, NULL, 100);
    CHECK(next(stream, &record));
    IS(record.info.posix_event_id, id);
    IS(record.length, 0);
    IS(record.info.posix_truncation_status, POSIX_TRACE_TRUNCATED_RECORD);
}

/* Every system call except read, write and exit kills the child. */
TEST(EVT_20)
{
    trace_event_id_t id = type("cheap");
    posix_trace_event(id, NULL, 0);
    pid_t child = forked();
    if (child == 0) {
        posix_trace_event(id, NULL, 0);
        if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) != 0)
            done();
        for (int count = 0; count < 100000; count++)
            posix_trace_event(id, &count, sizeof count);
        syscall(SYS_exit, 0);
    }
    finished(child);
}
