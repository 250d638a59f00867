/* Macros and functions for tests: definitions, checks, processes.
 *
 * A test is `TEST(ATT_01) { ... }`. Its name is the id of an assertion in assertions.tsv. Each test runs in
 * a new image of the program, with its own registry, its own process group and a time limit. The runner
 * kills the process group afterwards. The first failed check ends the test, also in a thread or a child. A
 * test without checks fails.
 *
 * Operations on streams are in streams.h. */
#ifndef HARNESS_H
#define HARNESS_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "trace.h"

#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

struct test {
    const char *name;
    const char *file;
    unsigned seconds;
    void (*run)(void);
    struct test *next;
};

struct role {
    const char *name;
    void (*run)(char **arguments);
    struct role *next;
};

void harness_add_test(struct test *test);
void harness_add_role(struct role *role);

/* A test that ends within `limit` seconds. The limit only detects tests that hang: on a busy machine a test
 * may take a hundred times as long as usual. */
#define TEST_WITHIN(limit, name)                                                          \
    static void name(void);                                                               \
    __attribute__((constructor)) static void name##_added(void)                           \
    {                                                                                     \
        static struct test test = {#name, __FILE__, limit, name, NULL};                   \
        harness_add_test(&test);                                                          \
    }                                                                                     \
    static void name(void)

#define TEST(name) TEST_WITHIN(300, name)

/* A function that runs in a new image of this program. `start_role` starts the image. */
#define ROLE(name)                                                                        \
    static void name(char **arguments);                                                   \
    __attribute__((constructor)) static void name##_added(void)                           \
    {                                                                                     \
        static struct role role = {#name, name, NULL};                                    \
        harness_add_role(&role);                                                          \
    }                                                                                     \
    static void name(char **arguments)

/* Checks that a condition is true. */
#define CHECK(condition)                                                                  \
    do {                                                                                  \
        harness_checked();                                                                \
        if (!(condition))                                                                 \
            harness_fail(__FILE__, __LINE__, #condition);                                 \
    } while (0)

/* Checks that an integer has the expected value. */
#define IS(actual, expected)                                                              \
    harness_is(__FILE__, __LINE__, #actual, (long long)(actual), (long long)(expected))

/* Checks that a function succeeded. */
#define OK(call) IS(call, 0)

/* Checks that two strings are equal. */
#define SAME(actual, expected) harness_same(__FILE__, __LINE__, #actual, actual, expected)

void harness_checked(void);
_Noreturn void harness_fail(const char *file, int line, const char *what);
void harness_is(const char *file, int line, const char *what, long long actual, long long expected);
void harness_same(const char *file, int line, const char *what, const char *actual,
                  const char *expected);

/* Skips the test, because it cannot run on this system. */
_Noreturn void skip(const char *why);

/* Starts a child. It must end with `done` or with a failed check. */
pid_t forked(void);
_Noreturn void done(void);
/* Fails unless the child exits with `done`. If the child skips, the test is skipped. */
void finished(pid_t child);
/* Fails unless a signal kills the child. */
void killed_by(pid_t child, int signal);
/* Starts a child that executes this program again as `role`. `arguments` is null-terminated, with at most eight
 * strings. */
pid_t start_role(const char *role, char *const arguments[]);
/* Executes a role in place of this image. */
_Noreturn void become_role(const char *role, char *const arguments[]);

pthread_t thread(void *(*run)(void *), void *argument);
void *joined(pthread_t thread);

/* A pipe on which one process waits for another. */
struct gate {
    int in;
    int out;
};

struct gate gate(void);
void pass(struct gate gate);
void await(struct gate gate);

/* Return times of CLOCK_REALTIME: now, some milliseconds from now, and a time that no test reaches. */
struct timespec now(void);
struct timespec in_ms(long milliseconds);
struct timespec never(void);
int64_t nanoseconds(struct timespec time);
void sleep_ms(long milliseconds);

/* A pseudo-random number from 0 to `below` - 1. The sequence is the same in every run. */
uint32_t chance(uint32_t below);

#endif
