/* Loads the library at run time, like a plugin. The first event of a thread is recorded by a signal handler, which may
 * interrupt malloc, so recording must not call malloc. Arguments: a folder, and the library. The stream remains in the
 * file `loaded` of the folder. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "trace.h"
#include "tracewell.h"

#define CHECK(condition) do { if (!(condition)) { printf("%s:%d: %s\n", __FILE__, __LINE__, #condition); return 1; } } while (0)

enum { ROUNDS = 400 };

static void (*posix_record)(trace_event_id_t, const void *, size_t);
static int (*native_record)(const tw_stream *, tw_event, const uint64_t *, size_t);
static tw_stream *stream;
static tw_event native_event;
static trace_event_id_t posix_event;
static volatile sig_atomic_t round_number, ending;
static sem_t ready, handled;

static void record_posix(int number)
{
    int round = (int)round_number;

    (void)number;
    posix_record(posix_event, &round, sizeof round);
    sem_post(&handled);
}

static void record_native(int number)
{
    uint64_t round = (uint64_t)round_number;

    (void)number;
    native_record(stream, native_event, &round, 1);
    sem_post(&handled);
}

/* Calls malloc and free in a loop, so that signals nearly always interrupt one of them. */
static void *allocate(void *nothing)
{
    void *pieces[64] = { 0 };
    unsigned seed = 1;

    sem_post(&ready);
    while (!ending) {
        unsigned place = (seed >> 8) % 64;

        seed = seed * 1103515245u + 12345;
        free(pieces[place]);
        pieces[place] = malloc(16 + (seed >> 16) % 4000);
    }
    for (int i = 0; i < 64; i++) {
        free(pieces[i]);
    }
    return nothing;
}

static int rounds(void (*handler)(int))
{
    struct sigaction action;

    memset(&action, 0, sizeof action);
    action.sa_handler = handler;
    CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
    for (int round = 0; round < ROUNDS; round++) {
        pthread_t thread;

        ending = 0;
        round_number = round;
        CHECK(pthread_create(&thread, NULL, allocate, NULL) == 0);
        sem_wait(&ready);
        for (volatile int turns = 0; turns < round * 37 % 3000; turns++) {
        }
        CHECK(pthread_kill(thread, SIGUSR1) == 0);
        sem_wait(&handled);
        ending = 1;
        CHECK(pthread_join(thread, NULL) == 0);
    }
    return 0;
}

/* C has no conversion from a data pointer to a function pointer. */
#define FIND(function, name) do { void *found = dlsym(library, name); CHECK(found != NULL); memcpy(&(function), &found, sizeof found); } while (0)

static int posix_rounds(void *library)
{
    int (*create)(pid_t, const trace_attr_t *, trace_id_t *);
    int (*start)(trace_id_t);
    int (*name)(const char *, trace_event_id_t *);
    int (*next)(trace_id_t, struct posix_trace_event_info *, void *, size_t, size_t *, int *);
    trace_id_t trace;
    int expected = 0, unavailable = 0;

    FIND(create, "posix_trace_create");
    FIND(start, "posix_trace_start");
    FIND(name, "posix_trace_eventid_open");
    FIND(next, "posix_trace_trygetnext_event");
    FIND(posix_record, "posix_trace_event");
    CHECK(create(0, NULL, &trace) == 0 && start(trace) == 0 && name("round", &posix_event) == 0);
    CHECK(rounds(record_posix) == 0);
    for (;;) {
        struct posix_trace_event_info info;
        int round;
        size_t length;

        CHECK(next(trace, &info, &round, sizeof round, &length, &unavailable) == 0);
        if (unavailable) {
            break;
        }
        if (info.posix_event_id == posix_event) {
            CHECK(length == sizeof round && round == expected);
            expected++;
        }
    }
    CHECK(expected == ROUNDS);
    return 0;
}

static int native_rounds(void *library, const char *path)
{
    /* A thread that reuses a lane starts a new packet. */
    const tw_stream_options options = { 16, ROUNDS + 2, 512, TW_LOOP, 0 };
    int (*create)(const char *, const tw_stream_options *, tw_stream **);
    int (*start)(const tw_stream *);
    int (*define)(const tw_stream *, uint16_t, const char *, tw_event *);

    FIND(create, "tw_stream_create");
    FIND(start, "tw_stream_start");
    FIND(define, "tw_define");
    FIND(native_record, "tw_record");
    CHECK(create(path, &options, &stream) == TW_OK);
    CHECK(define(stream, 0, "test/round(number:u64)", &native_event) == TW_OK);
    CHECK(start(stream) == TW_OK);
    return rounds(record_native);
}

int main(int count, char **arguments)
{
    char path[512];
    void *library;

    CHECK(count == 3);
    /* A handler that waits for malloc's lock waits forever. The alarm then ends the program. */
    alarm(120);
    library = dlopen(arguments[2], RTLD_NOW | RTLD_LOCAL);
    CHECK(library != NULL);
    CHECK(sem_init(&ready, 0, 0) == 0 && sem_init(&handled, 0, 0) == 0);
    snprintf(path, sizeof path, "%s/loaded", arguments[1]);
    return native_rounds(library, path) || posix_rounds(library);
}
