/* How a test of the suite looks, what it may check, and how it makes other processes.
 *
 * A test is `TEST(ATT_01) { ... }`; its name is the id of an assertion in assertions.tsv. Each runs in
 * a fresh image of the program, with a registry of its own, in a process group of its own that is
 * killed afterwards, and for a limited time. The first check that does not hold ends it, also in a
 * thread or a child. A test that checks nothing fails.
 *
 * What is done to streams is in streams.h. */
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

/* A test that ends within `limit` seconds. The limit only tells that a test hangs: on a busy machine
 * everything may take a hundred times as long as usual. */
#define TEST_WITHIN(limit, name)                                                          \
    static void name(void);                                                               \
    __attribute__((constructor)) static void name##_added(void)                           \
    {                                                                                     \
        static struct test test = {#name, __FILE__, limit, name, NULL};                   \
        harness_add_test(&test);                                                          \
    }                                                                                     \
    static void name(void)

#define TEST(name) TEST_WITHIN(900, name)

/* What another image of this program does, started by `start_role`. */
#define ROLE(name)                                                                        \
    static void name(char **arguments);                                                   \
    __attribute__((constructor)) static void name##_added(void)                           \
    {                                                                                     \
        static struct role role = {#name, name, NULL};                                    \
        harness_add_role(&role);                                                          \
    }                                                                                     \
    static void name(char **arguments)

/* A condition holds. */
#define CHECK(condition)                                                                  \
    do {                                                                                  \
        harness_checked();                                                                \
        if (!(condition))                                                                 \
            harness_fail(__FILE__, __LINE__, #condition);                                 \
    } while (0)

/* An integer is as expected. */
#define IS(actual, expected)                                                              \
    harness_is(__FILE__, __LINE__, #actual, (long long)(actual), (long long)(expected))

/* A function did what it was asked. */
#define OK(call) IS(call, 0)

/* Two strings are equal. */
#define SAME(actual, expected) harness_same(__FILE__, __LINE__, #actual, actual, expected)

void harness_checked(void);
_Noreturn void harness_fail(const char *file, int line, const char *what);
void harness_is(const char *file, int line, const char *what, long long actual, long long expected);
void harness_same(const char *file, int line, const char *what, const char *actual,
                  const char *expected);

/* Ends the test: it cannot be done here. */
_Noreturn void skip(const char *why);

/* A child; ends with `done`, or by a check that does not hold. */
pid_t forked(void);
_Noreturn void done(void);
/* Waits for a child that must have ended with `done`; what it skips is skipped. */
void finished(pid_t child);
/* Waits for a child that a signal must have ended. */
void killed_by(pid_t child, int signal);
/* A child with another image: `role` with up to seven arguments, the last of them null. */
pid_t start_role(const char *role, char *const arguments[]);
/* The same in place of this image. */
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

/* CLOCK_REALTIME, and that many milliseconds later; a time that no test lives to see. */
struct timespec now(void);
struct timespec in_ms(long milliseconds);
struct timespec never(void);
int64_t nanoseconds(struct timespec time);
void sleep_ms(long milliseconds);

/* A number from 0 to `below` - 1, the same in every run. */
uint32_t chance(uint32_t below);

#endif
