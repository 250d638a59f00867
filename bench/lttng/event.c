/* Measures the time of an LTTng-UST event with two fields of 32 bits, and the time to read the cycle counter, in
 * nanoseconds. `bench` measures Tracewell's streams in the same way, so the results can be compared
 * on one machine. The script `run` compiles this program and runs it within a session. */
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "bench_tp.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { ROUNDS = 100, EVENTS = 50000 };

static double now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1e9 + time.tv_nsec;
}

static double events(void)
{
    const double start = now();
    uint32_t number;

    for (number = 0; number < EVENTS; number++)
        lttng_ust_tracepoint(tracewell_bench, pair, number, 2);
    return (now() - start) / EVENTS;
}

static double counter_reads(void)
{
    const double start = now();
    uint32_t number;

    for (number = 0; number < EVENTS; number++) {
#if defined(__x86_64__)
        __asm__ volatile("rdtsc" : : : "eax", "edx");
#elif defined(__aarch64__)
        uint64_t ticks;
        __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
#endif
    }
    return (now() - start) / EVENTS;
}

static int compare(const void *left, const void *right)
{
    const double a = *(const double *)left, b = *(const double *)right;

    return (a > b) - (a < b);
}

static double median(double *times)
{
    qsort(times, ROUNDS, sizeof *times, compare);
    return times[ROUNDS / 2];
}

int main(void)
{
    static double reads[ROUNDS], recorded[ROUNDS];
    int round;

    for (round = 0; round < ROUNDS; round++) {
        reads[round] = counter_reads();
        recorded[round] = events();
    }
    printf("LTTng-UST: an event of two fields: %.1f ns; reading the counter: %.1f ns\n", median(recorded),
           median(reads));
    return 0;
}
