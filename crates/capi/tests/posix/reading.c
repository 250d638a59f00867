/* Tests of reading from active streams: waiting, time limits, signals, truncation, several
 * readers. */
#include "streams.h"

#include <signal.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

static struct record record;

/* The arguments and results of one read in a thread. */
struct wait {
    trace_id_t stream;
    const struct timespec *until; /* null for no time limit */
    int result;
    int unavailable;
    int over;
    struct record record;
};

static int read_one(struct wait *wait)
{
    struct record *into = &wait->record;
    wait->unavailable = -1;
    if (wait->until)
        return posix_trace_timedgetnext_event(wait->stream, &into->info, into->data, sizeof into->data,
                                              &into->length, &wait->unavailable, wait->until);
    return posix_trace_getnext_event(wait->stream, &into->info, into->data, sizeof into->data,
                                     &into->length, &wait->unavailable);
}

static void *reader(void *argument)
{
    struct wait *wait = argument;
    wait->result = read_one(wait);
    __atomic_store_n(&wait->over, 1, __ATOMIC_RELEASE);
    return NULL;
}

static int over(struct wait *wait)
{
    return __atomic_load_n(&wait->over, __ATOMIC_ACQUIRE);
}

/* Starts a reader, which is probably waiting when this function returns. */
static pthread_t waiting(struct wait *wait)
{
    pthread_t made = thread(reader, wait);
    sleep_ms(100);
    CHECK(!over(wait));
    return made;
}

TEST(GET_01)
{
    trace_id_t stream = created(NULL);
    int unavailable = 0;
    size_t length = 77;
    struct posix_trace_event_info info, before;
    memset(&info, 0x55, sizeof info);
    before = info;
    OK(posix_trace_trygetnext_event(stream, &info, record.data, 10, &length, &unavailable));
    CHECK(unavailable != 0);
    IS(length, 77);
    CHECK(memcmp(&info, &before, sizeof info) == 0);
}

TEST(GET_02)
{
    trace_id_t stream = started(NULL);
    int unavailable = 77;
    OK(posix_trace_trygetnext_event(stream, &record.info, record.data, sizeof record.data, &record.length,
                                    &unavailable));
    IS(unavailable, 0);
    IS(record.info.posix_event_id, POSIX_TRACE_START);
}

TEST(GET_03)
{
    static struct wait wait;
    trace_event_id_t id = type("waited for");
    wait.stream = ready(NULL);
    pthread_t waiter = waiting(&wait);
    posix_trace_event(id, "text", 4);
    joined(waiter);
    OK(wait.result);
    IS(wait.unavailable, 0);
    IS(wait.record.info.posix_event_id, id);
    IS(wait.record.length, 4);
}

TEST(GET_04)
{
    static struct wait wait;
    wait.stream = ready(NULL);
    pthread_t waiter = waiting(&wait);
    OK(posix_trace_shutdown(wait.stream));
    joined(waiter);
    IS(wait.result, EINVAL);
}

static volatile sig_atomic_t handled;

static void count_signal(int signal)
{
    (void)signal;
    handled++;
}

static void handle(int flags)
{
    struct sigaction action = {.sa_handler = count_signal, .sa_flags = flags};
    OK(sigaction(SIGUSR1, &action, NULL));
}

/* Sends signals until the reader stops waiting. */
static void interrupt(struct wait *wait)
{
    pthread_t waiter = waiting(wait);
    while (!over(wait)) {
        pthread_kill(waiter, SIGUSR1);
        sleep_ms(10);
    }
    joined(waiter);
    CHECK(handled > 0);
}

TEST(GET_05)
{
    static struct wait wait;
    handle(0);
    wait.stream = ready(NULL);
    interrupt(&wait);
    IS(wait.result, EINTR);
    IS(wait.unavailable, -1);
}

TEST(GET_06)
{
    static struct wait wait;
    handle(0);
    wait.stream = ready(NULL);
    interrupt(&wait);
    IS(wait.result, EINTR);
    number_events(type("after"), 0, 10);
    struct seen seen = read_all(wait.stream);
    ALL_NUMBERS(seen, 0, 10);
}

TEST(GET_07)
{
    static struct wait wait;
    struct timespec until = in_ms(150);
    wait.stream = ready(NULL);
    wait.until = &until;
    IS(read_one(&wait), ETIMEDOUT);
    CHECK(nanoseconds(now()) >= nanoseconds(until));
    IS(wait.unavailable, -1);
}

/* Reads an event. If there is none, waits for one until the time `until`. `there` is true if the
 * stream contains a record. */
static int read_until(struct timespec until, bool there)
{
    static struct wait wait;
    wait.stream = there ? started(NULL) : created(NULL);
    wait.until = &until;
    return read_one(&wait);
}

TEST(GET_08)
{
    OK(read_until(in_ms(-1000), true));
    OK(read_until((struct timespec){0, 0}, true));
}

TEST(GET_09)
{
    IS(read_until(in_ms(-1000), false), ETIMEDOUT);
    IS(read_until((struct timespec){0, 0}, false), ETIMEDOUT);
    IS(read_until((struct timespec){-5, 0}, false), ETIMEDOUT);
}

TEST(GET_10)
{
    struct timespec soon = in_ms(200);
    IS(read_until((struct timespec){soon.tv_sec, 1000000000}, false), EINVAL);
    IS(read_until((struct timespec){soon.tv_sec, -1}, false), EINVAL);
    IS(read_until((struct timespec){0, 1000000000}, false), EINVAL);
}

TEST(GET_11)
{
    OK(read_until((struct timespec){0, 1000000000}, true));
    OK(read_until((struct timespec){0, -1}, true));
}

TEST(GET_12)
{
    static struct wait wait;
    struct timespec until = never();
    trace_event_id_t id = type("early");
    wait.stream = ready(NULL);
    wait.until = &until;
    pthread_t waiter = waiting(&wait);
    posix_trace_event(id, NULL, 0);
    joined(waiter);
    OK(wait.result);
    IS(wait.record.info.posix_event_id, id);
}

TEST(GET_13)
{
    static struct wait wait;
    struct timespec until = never();
    handle(0);
    wait.stream = ready(NULL);
    wait.until = &until;
    interrupt(&wait);
    IS(wait.result, EINTR);
}

/* Reads the next event into a buffer of the given size. */
static void read_with(trace_id_t stream, void *room, size_t size)
{
    int unavailable = -1;
    OK(posix_trace_getnext_event(stream, &record.info, room, size, &record.length, &unavailable));
    IS(unavailable, 0);
}

TEST(GET_14)
{
    trace_id_t stream = ready(NULL);
    posix_trace_event(POSIX_TRACE_UNNAMED_USER_EVENT, "0123456789", 10);
    read_with(stream, record.data, 4);
    IS(record.length, 4);
    CHECK(memcmp(record.data, "0123", 4) == 0);
    IS(record.info.posix_truncation_status, POSIX_TRACE_TRUNCATED_READ);
    CHECK(!next(stream, &record));
}

TEST(GET_15)
{
    trace_id_t stream = ready(NULL);
    posix_trace_event(POSIX_TRACE_UNNAMED_USER_EVENT, "0123456789", 10);
    posix_trace_event(POSIX_TRACE_UNNAMED_USER_EVENT, NULL, 0);
    read_with(stream, NULL, 0);
    IS(record.length, 0);
    IS(record.info.posix_truncation_status, POSIX_TRACE_TRUNCATED_READ);
    read_with(stream, NULL, 0);
    IS(record.length, 0);
    IS(record.info.posix_truncation_status, POSIX_TRACE_NOT_TRUNCATED);
}

TEST(GET_16)
{
    trace_attr_t attr;
    OK(posix_trace_attr_init(&attr));
    OK(posix_trace_attr_setmaxdatasize(&attr, 8));
    trace_id_t stream = ready(&attr);
    posix_trace_event(POSIX_TRACE_UNNAMED_USER_EVENT, "0123456789", 10);
    posix_trace_event(POSIX_TRACE_UNNAMED_USER_EVENT, "0123456789", 10);
    read_with(stream, record.data, 4);
    IS(record.length, 4);
    IS(record.info.posix_truncation_status, POSIX_TRACE_TRUNCATED_READ);
    read_with(stream, record.data, 8);
    IS(record.length, 8);
    IS(record.info.posix_truncation_status, POSIX_TRACE_TRUNCATED_RECORD);
}

TEST(GET_17)
{
    trace_id_t stream = ready(NULL);
    posix_trace_event(POSIX_TRACE_UNNAMED_USER_EVENT, "0123456789", 10);
    read_with(stream, record.data, 10);
    IS(record.length, 10);
    IS(record.info.posix_truncation_status, POSIX_TRACE_NOT_TRUNCATED);
}

TEST(GET_18)
{
    static struct wait wait;
    trace_id_t stream = ready(NULL);
    number_events(type("once"), 0, 100);
    for (uint32_t number = 0; number < 50; number++)
        read_with(stream, record.data, sizeof record.data);
    struct seen seen = read_all(stream);
    ALL_NUMBERS(seen, 50, 100);
    struct timespec soon = in_ms(20);
    wait.stream = stream;
    wait.until = &soon;
    IS(read_one(&wait), ETIMEDOUT);
}

enum { READERS = 6, MANY = 20000 };

static trace_id_t shared;
static unsigned char times_read[MANY];
static int reads;

/* Counts records until the stream is shut down. */
static void *count_reads(void *nothing)
{
    static _Thread_local struct wait wait;
    struct timespec until = never();
    wait.stream = shared;
    wait.until = &until;
    while (read_one(&wait) == 0) {
        struct numbered numbered;
        memcpy(&numbered, wait.record.data, sizeof numbered);
        CHECK(numbered.number < MANY);
        __atomic_fetch_add(&times_read[numbered.number], 1, __ATOMIC_RELAXED);
        __atomic_fetch_add(&reads, 1, __ATOMIC_RELEASE);
    }
    return nothing;
}

TEST(GET_19)
{
    trace_attr_t attr;
    pthread_t readers[READERS];
    with_policy(&attr, POSIX_TRACE_LOOP, 8 << 20);
    shared = ready(&attr);
    for (int at = 0; at < READERS; at++)
        readers[at] = thread(count_reads, NULL);
    number_events(type("shared"), 0, MANY);
    while (__atomic_load_n(&reads, __ATOMIC_ACQUIRE) < MANY)
        sleep_ms(1);
    CHECK(!next(shared, &record));
    OK(posix_trace_shutdown(shared));
    for (int at = 0; at < READERS; at++)
        joined(readers[at]);
    for (int number = 0; number < MANY; number++)
        IS(times_read[number], 1);
}

/* Checks that all three functions reject a stream that cannot be read. */
static void readers_refuse(trace_id_t stream)
{
    struct posix_trace_event_info info;
    size_t length = 77;
    int unavailable = 77;
    struct timespec soon = in_ms(100);
    IS(posix_trace_getnext_event(stream, &info, record.data, 10, &length, &unavailable), EINVAL);
    IS(posix_trace_trygetnext_event(stream, &info, record.data, 10, &length, &unavailable), EINVAL);
    IS(posix_trace_timedgetnext_event(stream, &info, record.data, 10, &length, &unavailable, &soon), EINVAL);
    IS(length, 77);
    IS(unavailable, 77);
}

TEST(GET_20)
{
    for (int at = 0; at < NO_STREAMS; at++)
        readers_refuse(no_streams[at]);
}

TEST(GET_21)
{
    int log = log_file();
    trace_id_t stream = started_withlog(NULL, log);
    number_events(type("for the log"), 0, 10);
    readers_refuse(stream);
    OK(posix_trace_shutdown(stream));
    struct seen seen = read_log(log);
    ALL_NUMBERS(seen, 0, 10);
}

TEST(GET_22)
{
    static struct wait wait;
    wait.stream = started(NULL);
    number_events(type("kept"), 0, 10);
    OK(posix_trace_stop(wait.stream));
    OK(read_one(&wait));
    struct seen seen = read_all(wait.stream);
    ALL_NUMBERS(seen, 0, 10);
}

TEST(GET_23)
{
    trace_id_t stream = ready(NULL);
    for (size_t length = 0; length < 40; length++) {
        posix_trace_event(POSIX_TRACE_UNNAMED_USER_EVENT, "0123456789012345678901234567890123456789", length);
        memset(record.data, 0xEE, 100);
        read_with(stream, record.data, 100);
        IS(record.length, length);
        for (size_t at = length; at < 100; at++)
            IS(record.data[at], 0xEE);
    }
}

TEST(GET_24)
{
    static struct wait wait;
    trace_event_id_t id = type("after signals");
    handle(SA_RESTART);
    wait.stream = ready(NULL);
    pthread_t waiter = waiting(&wait);
    for (int count = 0; count < 5; count++) {
        pthread_kill(waiter, SIGUSR1);
        /* Wait for the handler, because a second signal is lost while the first is pending. */
        while (handled == count)
            sleep_ms(20);
    }
    CHECK(!over(&wait));
    IS(handled, 5);
    posix_trace_event(id, NULL, 0);
    joined(waiter);
    OK(wait.result);
    IS(wait.record.info.posix_event_id, id);
}

TEST(GET_25)
{
    trace_id_t stream = started(NULL);
    struct posix_trace_event_info info;
    size_t length;
    int unavailable;
    struct timespec soon = in_ms(100);
    unsigned char *data = record.data;
    IS(posix_trace_trygetnext_event(stream, NULL, data, 10, &length, &unavailable), EINVAL);
    IS(posix_trace_trygetnext_event(stream, &info, NULL, 10, &length, &unavailable), EINVAL);
    IS(posix_trace_trygetnext_event(stream, &info, data, 10, NULL, &unavailable), EINVAL);
    IS(posix_trace_trygetnext_event(stream, &info, data, 10, &length, NULL), EINVAL);
    IS(posix_trace_getnext_event(stream, NULL, data, 10, &length, &unavailable), EINVAL);
    IS(posix_trace_getnext_event(stream, &info, NULL, 10, &length, &unavailable), EINVAL);
    IS(posix_trace_getnext_event(stream, &info, data, 10, NULL, &unavailable), EINVAL);
    IS(posix_trace_getnext_event(stream, &info, data, 10, &length, NULL), EINVAL);
    IS(posix_trace_timedgetnext_event(stream, NULL, data, 10, &length, &unavailable, &soon), EINVAL);
    IS(posix_trace_timedgetnext_event(stream, &info, data, 10, NULL, &unavailable, &soon), EINVAL);
    IS(read_all(stream).of[POSIX_TRACE_START], 1);
    IS(posix_trace_timedgetnext_event(stream, &info, data, 10, &length, &unavailable, NULL), EINVAL);
}

TEST(GET_26)
{
    static struct wait wait;
    wait.stream = ready(NULL);
    pthread_t waiter = waiting(&wait);
    OK(pthread_cancel(waiter));
    CHECK(joined(waiter) == PTHREAD_CANCELED);
    number_events(type("after"), 0, 10);
    struct seen seen = read_all(wait.stream);
    ALL_NUMBERS(seen, 0, 10);
    struct timespec until = never();
    wait.until = &until;
    waiter = waiting(&wait);
    OK(pthread_cancel(waiter));
    CHECK(joined(waiter) == PTHREAD_CANCELED);
    OK(posix_trace_shutdown(wait.stream));
}

TEST(GET_27)
{
    static struct wait wait;
    struct timespec until = never();
    wait.stream = ready(NULL);
    wait.until = &until;
    pthread_t waiter = waiting(&wait);
    OK(posix_trace_shutdown(wait.stream));
    joined(waiter);
    IS(wait.result, EINVAL);
}

/* Waits for some milliseconds. Returns the processor time that the thread used in the meantime, in nanoseconds. */
static int64_t spent_within(pthread_t thread, long milliseconds)
{
    clockid_t clock;
    struct timespec before, after;
    OK(pthread_getcpuclockid(thread, &clock));
    OK(clock_gettime(clock, &before));
    sleep_ms(milliseconds);
    OK(clock_gettime(clock, &after));
    return nanoseconds(after) - nanoseconds(before);
}

TEST(GET_28)
{
    static struct wait wait;
    wait.stream = ready(NULL);
    pthread_t waiter = waiting(&wait);
    /* The thread uses some processor time before it waits. */
    int tries = 100;
    while (spent_within(waiter, 300) >= 20000000)
        CHECK(--tries > 0);
    OK(posix_trace_shutdown(wait.stream));
    joined(waiter);
}

/* A shutdown wakes several waiting readers. */
TEST(OWN_07)
{
    static struct wait waits[READERS];
    pthread_t waiters[READERS];
    trace_id_t stream = ready(NULL);
    for (int at = 0; at < READERS; at++) {
        waits[at].stream = stream;
        waiters[at] = waiting(&waits[at]);
    }
    OK(posix_trace_shutdown(stream));
    for (int at = 0; at < READERS; at++) {
        joined(waiters[at]);
        IS(waits[at].result, EINVAL);
    }
}

/* A reader may wait on a stream that another thread starts, stops and clears. */
TEST(OWN_08)
{
    static struct wait wait;
    trace_event_id_t id = type("at last");
    trace_event_set_t filter = set_of(POSIX_TRACE_START, POSIX_TRACE_STOP, POSIX_TRACE_FILTER, 0);
    wait.stream = created(NULL);
    OK(posix_trace_set_filter(wait.stream, &filter, POSIX_TRACE_SET_EVENTSET));
    pthread_t waiter = waiting(&wait);
    OK(posix_trace_start(wait.stream));
    OK(posix_trace_stop(wait.stream));
    OK(posix_trace_clear(wait.stream));
    sleep_ms(50);
    CHECK(!over(&wait));
    OK(posix_trace_set_filter(wait.stream, &filter, POSIX_TRACE_SET_EVENTSET));
    OK(posix_trace_start(wait.stream));
    posix_trace_event(id, NULL, 0);
    joined(waiter);
    OK(wait.result);
    IS(wait.record.info.posix_event_id, id);
}
