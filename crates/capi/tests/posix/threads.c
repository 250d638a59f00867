/* Concurrent threads, and signals. */
#include "streams.h"

#include <sched.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

enum { THREADS = 8, EACH = 5000 };

static struct record record;
static trace_event_id_t number_id;
static int go_on = 1;

static void *write_each(void *who)
{
    for (uint32_t number = 0; number < EACH; number++)
        number_event(number_id, (uint32_t)(uintptr_t)who, number, number % 32);
    return NULL;
}

static void *write_until_told(void *who)
{
    for (uint32_t number = 0; __atomic_load_n(&go_on, __ATOMIC_ACQUIRE); number++)
        number_event(number_id, (uint32_t)(uintptr_t)who, number, number % 32);
    return NULL;
}

/* The number of events that writers may still record. Writers wait while it is 0. */
static int credit;

static void *write_on_credit(void *who)
{
    for (uint32_t number = 0; __atomic_load_n(&go_on, __ATOMIC_ACQUIRE);) {
        if (__atomic_load_n(&credit, __ATOMIC_ACQUIRE) <= 0) {
            sched_yield();
            continue;
        }
        __atomic_fetch_sub(&credit, 1, __ATOMIC_ACQ_REL);
        number_event(number_id, (uint32_t)(uintptr_t)who, number, number % 32);
        number++;
    }
    return NULL;
}

static void give_credit(int events)
{
    __atomic_fetch_add(&credit, events, __ATOMIC_ACQ_REL);
}

struct crew {
    pthread_t threads[THREADS];
    int count;
};

static struct crew begin(void *(*work)(void *), int count)
{
    struct crew crew = {.count = count};
    number_id = type("number");
    __atomic_store_n(&go_on, 1, __ATOMIC_RELEASE);
    for (uintptr_t who = 0; who < (uintptr_t)count; who++)
        crew.threads[who] = thread(work, (void *)who);
    return crew;
}

static void end(const struct crew *crew)
{
    __atomic_store_n(&go_on, 0, __ATOMIC_RELEASE);
    for (int who = 0; who < crew->count; who++)
        joined(crew->threads[who]);
}

/* A stream with space for all events of the threads. */
static trace_id_t large(int policy)
{
    trace_attr_t attr;
    with_policy(&attr, policy, 32 << 20);
    return started(&attr);
}

TEST(THR_01)
{
    const int policies[] = {POSIX_TRACE_LOOP, POSIX_TRACE_UNTIL_FULL};
    for (int at = 0; at < 2; at++) {
        trace_id_t stream = large(policies[at]);
        struct crew crew = begin(write_each, THREADS);
        end(&crew);
        struct seen seen = read_all(stream);
        for (int who = 0; who < THREADS; who++) {
            IS(seen.count[who], EACH);
            IS(seen.gaps[who], 0);
            IS(seen.first[who], 0);
        }
        IS(status_of(stream).posix_stream_overrun_status, POSIX_TRACE_NO_OVERRUN);
    }
}

TEST(THR_02)
{
    pthread_t found[THREADS];
    int count = 0;
    trace_id_t stream = large(POSIX_TRACE_LOOP);
    struct crew crew = begin(write_each, THREADS);
    end(&crew);
    while (next_user(stream, &record)) {
        struct numbered numbered;
        memcpy(&numbered, record.data, sizeof numbered);
        CHECK(pthread_equal(record.info.posix_thread_id, crew.threads[numbered.who]));
        int at = 0;
        while (at < count && !pthread_equal(found[at], record.info.posix_thread_id))
            at++;
        if (at == count) {
            CHECK(count < THREADS);
            found[count++] = record.info.posix_thread_id;
        }
    }
    IS(count, THREADS);
}

/* A small stream that is constantly overwritten. */
static trace_id_t small_loop(void)
{
    trace_attr_t attr;
    with_policy(&attr, POSIX_TRACE_LOOP, 20000);
    return started(&attr);
}

static bool all_seen(const struct seen *seen)
{
    for (int who = 0; who < THREADS; who++)
        if (!seen->count[who])
            return false;
    return true;
}

/* Reads events for at least a second, and until each thread has recorded an event. Checks every
 * record. */
static struct seen read_of_all(trace_id_t stream)
{
    struct seen seen = {0};
    struct timespec until = in_ms(1000);
    while (nanoseconds(now()) < nanoseconds(until) || !all_seen(&seen)) {
        if (next(stream, &record))
            see(&seen, &record);
        else
            sched_yield();
    }
    return seen;
}

TEST(THR_03)
{
    trace_id_t stream = small_loop();
    struct crew crew = begin(write_until_told, THREADS);
    struct seen seen = read_of_all(stream);
    end(&crew);
    while (next(stream, &record))
        see(&seen, &record);
    IS(status_of(stream).posix_stream_overrun_status, POSIX_TRACE_OVERRUN);
}

TEST(THR_04)
{
    trace_id_t stream = large(POSIX_TRACE_LOOP);
    struct crew crew = begin(write_on_credit, 4);
    for (int round = 0; round < 20; round++) {
        give_credit(5000);
        /* Only the first round waits for the events. In other rounds, threads may record during the stop. */
        while (round == 0 && __atomic_load_n(&credit, __ATOMIC_ACQUIRE) > 0)
            sleep_ms(1);
        sleep_ms(round % 3);
        OK(posix_trace_stop(stream));
        OK(posix_trace_start(stream));
    }
    OK(posix_trace_stop(stream));
    end(&crew);
    number_events(number_id, 0, 10);
    struct seen seen = {0};
    int starts_of_rounds = 0;
    while (next(stream, &record)) {
        see(&seen, &record);
        starts_of_rounds += record.info.posix_event_id == POSIX_TRACE_START;
    }
    IS(starts_of_rounds, seen.of[POSIX_TRACE_STOP]);
    CHECK(seen.numbered > 0);
    IS(seen.last_id, POSIX_TRACE_STOP);
}

TEST(THR_05)
{
    trace_id_t stream = small_loop();
    struct crew crew = begin(write_until_told, 4);
    trace_event_set_t set = set_of(number_id, 0, 0, 0);
    struct seen seen = {0};
    for (int round = 0; round < 200; round++) {
        OK(posix_trace_set_filter(stream, &set, round % 2 ? POSIX_TRACE_SUB_EVENTSET : POSIX_TRACE_ADD_EVENTSET));
        for (int count = 0; count < 20 && next(stream, &record); count++)
            see(&seen, &record);
    }
    /* No events follow after the filter is set and the threads have ended. */
    OK(posix_trace_set_filter(stream, &set, POSIX_TRACE_ADD_EVENTSET));
    end(&crew);
    /* Change the filter again, because the last FILTER record may have been overwritten. */
    OK(posix_trace_set_filter(stream, &set, POSIX_TRACE_ADD_EVENTSET));
    while (next(stream, &record))
        see(&seen, &record);
    number_events(number_id, 0, 10);
    CHECK(!next(stream, &record));
    CHECK(seen.of[POSIX_TRACE_FILTER] > 0);
}

TEST(THR_06)
{
    struct crew crew = begin(write_until_told, 4);
    for (int round = 0; round < 200; round++) {
        trace_attr_t attr;
        with_policy(&attr, round % 2 ? POSIX_TRACE_LOOP : POSIX_TRACE_UNTIL_FULL, 20000);
        trace_id_t stream = started(&attr), other = started(NULL);
        struct seen seen = {0};
        for (int count = 0; count < 50 && next(stream, &record); count++)
            see(&seen, &record);
        OK(posix_trace_shutdown(other));
        OK(posix_trace_shutdown(stream));
    }
    end(&crew);
}

TEST(THR_07)
{
    trace_id_t stream = small_loop();
    struct crew crew = begin(write_until_told, 4);
    for (int round = 0; round < 300; round++) {
        /* Checked after each round, because a clear discards the records of all writers. */
        struct seen seen = {0};
        for (int count = 0; count < 50 && next(stream, &record); count++)
            see(&seen, &record);
        OK(posix_trace_clear(stream));
    }
    end(&crew);
    OK(posix_trace_clear(stream));
    CHECK(!next(stream, &record));
}

static void record_unnamed(int signal)
{
    posix_trace_event(POSIX_TRACE_UNNAMED_USER_EVENT, &signal, sizeof signal);
}

static void *wait_for_unnamed(void *stream)
{
    CHECK(next_of_log(*(trace_id_t *)stream, &record));
    IS(record.info.posix_event_id, POSIX_TRACE_START);
    CHECK(next_of_log(*(trace_id_t *)stream, &record));
    IS(record.info.posix_event_id, POSIX_TRACE_UNNAMED_USER_EVENT);
    IS(number_in(&record), SIGUSR1);
    return NULL;
}

/* The handler runs in the waiting reader, and in another thread. */
TEST(SIG_01)
{
    struct sigaction action = {.sa_handler = record_unnamed, .sa_flags = SA_RESTART};
    OK(sigaction(SIGUSR1, &action, NULL));
    const bool kinds[] = {true, false};
    for (int at = 0; at < 2; at++) {
        trace_id_t stream = started(NULL);
        pthread_t reader = thread(wait_for_unnamed, &stream);
        sleep_ms(100);
        OK(pthread_kill(kinds[at] ? reader : pthread_self(), SIGUSR1));
        joined(reader);
    }
}

/* The only thread of the program blocks the signals. The signals remain pending unless a library thread handles them. */
TEST(SIG_02)
{
    sigset_t all, pending;
    trace_id_t stream = started_withlog(NULL, log_file());
    sigfillset(&all);
    OK(pthread_sigmask(SIG_SETMASK, &all, NULL));
    const int signals[] = {SIGUSR1, SIGUSR2, SIGTERM, SIGALRM, SIGHUP, SIGINT};
    for (int at = 0; at < 6; at++)
        OK(kill(getpid(), signals[at]));
    number_events(type("flushed meanwhile"), 0, 100);
    OK(posix_trace_flush(stream));
    flushed(stream);
    sleep_ms(50);
    OK(sigpending(&pending));
    for (int at = 0; at < 6; at++)
        IS(sigismember(&pending, signals[at]), 1);
    OK(posix_trace_shutdown(stream));
}

/* Threads may open names while their signal handlers record. */
TEST(OWN_20)
{
    struct sigaction action = {.sa_handler = record_unnamed, .sa_flags = SA_RESTART};
    OK(sigaction(SIGUSR1, &action, NULL));
    trace_id_t stream = large(POSIX_TRACE_LOOP);
    struct crew crew = begin(write_on_credit, 2);
    for (int round = 0; round < 500; round++) {
        give_credit(100);
        OK(pthread_kill(crew.threads[round % 2], SIGUSR1));
        if (round % 50 == 0)
            sched_yield();
    }
    end(&crew);
    unsigned long unnamed = 0, numbers[2] = {0, 0};
    while (next_user(stream, &record)) {
        struct numbered numbered;
        memcpy(&numbered, record.data, sizeof numbered);
        if (record.info.posix_event_id == POSIX_TRACE_UNNAMED_USER_EVENT)
            unnamed++;
        else
            IS(numbered.number, numbers[numbered.who]++);
    }
    CHECK(unnamed > 0);
}
