/* The end of streams, with and without a shutdown. */
#include "streams.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

TEST(SHU_01)
{
    OK(posix_trace_shutdown(created(NULL)));
    OK(posix_trace_shutdown(started(NULL)));
}

TEST(SHU_02)
{
    trace_id_t stream = started(NULL), logged = started_withlog(NULL, log_file());
    OK(posix_trace_shutdown(stream));
    all_refuse(stream);
    OK(posix_trace_shutdown(logged));
    all_refuse(logged);
}

TEST(SHU_03)
{
    trace_id_t stream = started(NULL);
    OK(posix_trace_shutdown(stream));
    IS(posix_trace_shutdown(stream), EINVAL);
    for (int at = 0; at < NO_STREAMS; at++)
        IS(posix_trace_shutdown(no_streams[at]), EINVAL);
}

TEST(SHU_04)
{
    trace_event_id_t id = type("late");
    trace_id_t other = started(NULL), stream = started(NULL);
    OK(posix_trace_shutdown(stream));
    number_events(id, 0, 100);
    struct seen seen = read_all(other);
    ALL_NUMBERS(seen, 0, 100);
    OK(posix_trace_shutdown(other));
    number_events(id, 0, 1000);
}

TEST(SHU_05)
{
    trace_id_t old = started(NULL);
    OK(posix_trace_shutdown(old));
    for (int count = 0; count < 200; count++) {
        trace_id_t stream = created(NULL);
        CHECK(stream != old);
        IS(posix_trace_start(old), EINVAL);
        OK(posix_trace_shutdown(stream));
    }
    all_refuse(old);
}

TEST(SHU_06)
{
    trace_id_t stream = started(NULL);
    number_events(type("unread"), 0, 1000);
    OK(posix_trace_shutdown(stream));
}

/* A controller that ends without a shutdown. */
static struct seen log_after(void (*end)(int))
{
    int log = log_file();
    pid_t child = forked();
    if (child == 0) {
        started_withlog(NULL, log);
        number_events(type("number"), 0, 100);
        end(0);
    }
    finished(child);
    return read_log(log);
}

ROLE(leaves)
{
    started_withlog(NULL, atoi(arguments[0]));
    number_events(type("number"), 0, 100);
}

TEST(SHU_07)
{
    struct seen seen = log_after(exit);
    ALL_NUMBERS(seen, 0, 100);
    IS(seen.last_id, POSIX_TRACE_STOP);
    /* A return from main has the same effect as exit. */
    char file[12];
    int log = dup(log_file());
    snprintf(file, sizeof file, "%d", log);
    finished(start_role("leaves", (char *[]){file, NULL}));
    seen = read_log(log);
    ALL_NUMBERS(seen, 0, 100);
}

static int generating = 1;

static void *generate(void *nothing)
{
    trace_event_id_t id = type("busy");
    for (uint32_t number = 0; __atomic_load_n(&generating, __ATOMIC_ACQUIRE); number++)
        number_event(id, 0, number, 0);
    return nothing;
}

TEST(SHU_08)
{
    pthread_t threads[4];
    for (int at = 0; at < 4; at++)
        threads[at] = thread(generate, NULL);
    for (int round = 0; round < 100; round++) {
        trace_id_t stream = started(NULL);
        if (round % 10 == 0)
            sleep_ms(2);
        OK(posix_trace_shutdown(stream));
    }
    __atomic_store_n(&generating, 0, __ATOMIC_RELEASE);
    for (int at = 0; at < 4; at++)
        joined(threads[at]);
}

/* Creates eight streams and ends without closing them. */
ROLE(dies)
{
    for (int count = 0; count < 8; count++)
        started(NULL);
    if (strcmp(arguments[0], "kill") == 0)
        kill(getpid(), SIGKILL);
    _exit(0);
}

TEST(SHU_09)
{
    for (int round = 0; round < TRACE_SYS_MAX / 8 + 2; round++) {
        bool killed = round % 2;
        pid_t child = start_role("dies", (char *[]){killed ? "kill" : "exit", NULL});
        if (killed)
            killed_by(child, SIGKILL);
        else
            finished(child);
    }
    trace_id_t stream = started(NULL);
    number_events(type("after"), 0, 10);
    struct seen seen = read_all(stream);
    ALL_NUMBERS(seen, 0, 10);
}

static int entries_of_registry(void)
{
    int count = 0;
    DIR *entries = opendir(getenv("TRACEWELL_POSIX_DIR"));
    CHECK(entries);
    for (struct dirent *entry; (entry = readdir(entries));)
        count += entry->d_name[0] != '.';
    closedir(entries);
    return count;
}

/* Files of killed controllers do not accumulate. */
TEST(OWN_25)
{
    for (int round = 0; round < 20; round++)
        killed_by(start_role("dies", (char *[]){"kill", NULL}), SIGKILL);
    trace_id_t stream = started(NULL);
    CHECK(entries_of_registry() < 40);
    OK(posix_trace_shutdown(stream));
}

/* If a child is not traced and only records, it leaves no files when it calls _exit. */
TEST(OWN_31)
{
    posix_trace_event(POSIX_TRACE_UNNAMED_USER_EVENT, NULL, 0);
    int before = entries_of_registry();
    for (int round = 0; round < 200; round++) {
        pid_t child = forked();
        if (child == 0) {
            posix_trace_event(POSIX_TRACE_UNNAMED_USER_EVENT, NULL, 0);
            done();
        }
        finished(child);
    }
    IS(entries_of_registry(), before);
}

/* Children that defined names leave files, which do not accumulate. */
TEST(OWN_32)
{
    for (int round = 0; round < 1000; round++) {
        pid_t child = forked();
        if (child == 0) {
            type("in a child");
            done();
        }
        finished(child);
    }
    CHECK(entries_of_registry() < 500);
}

/* The end of a controller's child does not affect the parent's log. */
TEST(OWN_26)
{
    int log = log_file();
    trace_event_id_t id = type("number");
    trace_id_t stream = started_withlog(NULL, log);
    number_events(id, 0, 100);
    pid_t child = forked();
    if (child == 0)
        exit(0);
    finished(child);
    number_events(id, 100, 200);
    OK(posix_trace_flush(stream));
    flushed(stream);
    OK(posix_trace_shutdown(stream));
    struct seen seen = read_log(log);
    ALL_NUMBERS(seen, 0, 200);
}
