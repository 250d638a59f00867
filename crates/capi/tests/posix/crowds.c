/* Streams with more threads than packets, and a stream that is read while one thread records. */
#include "streams.h"

#include <sched.h>
#include <string.h>

enum { CROWD = 300, LATER = 10 };

struct number {
    uint32_t who;
    uint32_t number;
};

static struct record record;
static trace_event_id_t number_id;
static int each = 1;
static pthread_barrier_t all_recorded;
static pthread_barrier_t all_may_end;

static void number_of(uint32_t who, uint32_t number)
{
    struct number data = {who, number};
    posix_trace_event(number_id, &data, sizeof data);
}

static void *record_and_rest(void *who)
{
    for (uint32_t number = 0; number < (uint32_t)each; number++)
        number_of((uint32_t)(uintptr_t)who, number);
    pthread_barrier_wait(&all_recorded);
    pthread_barrier_wait(&all_may_end);
    return NULL;
}

/* Checks that the last record is the next event of its thread. Returns the number of the thread's events so far. */
static int read_in_order(uint32_t *next_of, uint32_t threads)
{
    struct number data;
    memcpy(&data, record.data, sizeof data);
    CHECK(data.who < threads);
    IS(data.number, next_of[data.who]);
    return (int)++next_of[data.who];
}

/* Reads all user events and returns their number. Checks that the events of each thread are in order and
 * without gaps. */
static unsigned long read_crowd(trace_id_t stream, uint32_t *next_of)
{
    unsigned long count = 0;
    while (next_user(stream, &record)) {
        CHECK(read_in_order(next_of, CROWD + 1) > 0);
        count++;
    }
    return count;
}

/* CROWD threads record some events each and become idle. Afterwards this thread records. */
static void with_crowd(int policy, size_t size)
{
    static uint32_t next_of[CROWD + 1];
    pthread_t threads[CROWD];
    trace_attr_t attr;
    memset(next_of, 0, sizeof next_of);
    with_policy(&attr, policy, size);
    trace_id_t stream = started(&attr);
    OK(pthread_barrier_init(&all_recorded, NULL, CROWD + 1));
    OK(pthread_barrier_init(&all_may_end, NULL, CROWD + 1));
    for (uintptr_t who = 0; who < CROWD; who++)
        threads[who] = thread(record_and_rest, (void *)who);
    pthread_barrier_wait(&all_recorded);
    IS(read_crowd(stream, next_of), (unsigned long)CROWD * (unsigned long)each);
    for (uint32_t number = 0; number < LATER; number++)
        number_of(CROWD, number);
    IS(read_crowd(stream, next_of), LATER);
    struct posix_trace_status_info status = status_of(stream);
    IS(status.posix_stream_overrun_status, POSIX_TRACE_NO_OVERRUN);
    IS(status.posix_stream_status, POSIX_TRACE_RUNNING);
    pthread_barrier_wait(&all_may_end);
    for (int who = 0; who < CROWD; who++)
        joined(threads[who]);
    OK(posix_trace_shutdown(stream));
}

TEST(OWN_50)
{
    number_id = type("number");
    with_crowd(POSIX_TRACE_LOOP, 65536);
    with_crowd(POSIX_TRACE_UNTIL_FULL, 65536);
}

/* The stream size is exactly the sum of the maximum sizes of the records. */
TEST(OWN_51)
{
    trace_attr_t attr;
    size_t start, user;
    number_id = type("number");
    each = 20;
    OK(posix_trace_attr_init(&attr));
    OK(posix_trace_attr_getmaxsystemeventsize(&attr, &start));
    OK(posix_trace_attr_getmaxusereventsize(&attr, sizeof(struct number), &user));
    with_crowd(POSIX_TRACE_UNTIL_FULL, start + user * CROWD * 20);
}

static int go_on = 1;

static void *record_until_told(void *nothing)
{
    (void)nothing;
    for (uint32_t number = 0; __atomic_load_n(&go_on, __ATOMIC_ACQUIRE); number++)
        number_of(0, number);
    return NULL;
}

/* A small stream, so that packets fill up fast. The reader may be faster or slower than the writer. This test detects
 * a missing guard only once in millions of passes; the recorder's unit tests `interleaving` always detect it. */
TEST(OWN_52)
{
    trace_attr_t attr;
    number_id = type("number");
    with_policy(&attr, POSIX_TRACE_UNTIL_FULL, 1);
    trace_id_t stream = started(&attr);
    pthread_t writer = thread(record_until_told, NULL);
    struct timespec until = in_ms(1000);
    unsigned long count = 0;
    uint32_t last = 0;
    while (nanoseconds(now()) < nanoseconds(until) || count < 1000) {
        if (!next_user(stream, &record)) {
            sched_yield();
            continue;
        }
        struct number data;
        memcpy(&data, record.data, sizeof data);
        CHECK(count == 0 || data.number > last);
        last = data.number;
        count++;
    }
    __atomic_store_n(&go_on, 0, __ATOMIC_RELEASE);
    joined(writer);
}
