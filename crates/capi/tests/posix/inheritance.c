/* Tests of fork and exec: which processes are traced afterwards, and the event ids in these
 * processes. */
#include "streams.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static struct record record;

/* A running stream that traces the caller and its children. */
static trace_id_t inherited(void)
{
    trace_attr_t attr;
    with_policy(&attr, POSIX_TRACE_LOOP, 4 << 20);
    OK(posix_trace_attr_setinherited(&attr, POSIX_TRACE_INHERITED));
    return started(&attr);
}

/* Reads all records. Returns the number of user events of a process. */
static unsigned long events_of(trace_id_t stream, pid_t pid)
{
    unsigned long count = 0;
    while (next_user(stream, &record))
        count += record.info.posix_pid == pid;
    return count;
}

/* Starts a child that records numbered events and ends. */
static pid_t child_with_events(trace_event_id_t id, uint32_t count)
{
    pid_t child = forked();
    if (child == 0) {
        number_events(id, 0, count);
        done();
    }
    finished(child);
    return child;
}

TEST(INH_01)
{
    trace_id_t stream = inherited(), logged = started_withlog(NULL, log_file());
    pid_t child = forked();
    if (child == 0) {
        all_refuse(stream);
        all_refuse(logged);
        done();
    }
    finished(child);
    IS(status_of(stream).posix_stream_status, POSIX_TRACE_RUNNING);
    IS(status_of(logged).posix_stream_status, POSIX_TRACE_RUNNING);
}

TEST(INH_02)
{
    trace_event_id_t id = type("number");
    trace_id_t stream = started(NULL);
    pid_t child = child_with_events(id, 10);
    IS(events_of(stream, child), 0);
}

TEST(INH_03)
{
    trace_event_id_t id = type("number");
    trace_id_t stream = started(NULL);
    number_events(id, 0, 10);
    child_with_events(id, 10);
    number_events(id, 10, 20);
    struct seen seen = read_all(stream);
    ALL_NUMBERS(seen, 0, 20);
    CHECK(!seen.pids_differ);
}

TEST(INH_04)
{
    trace_event_id_t id = type("number");
    trace_id_t stream = inherited();
    pid_t child = child_with_events(id, 10);
    struct seen seen = read_all(stream);
    ALL_NUMBERS(seen, 0, 10);
    IS(seen.pid, child);
    CHECK(!seen.pids_differ);
}

TEST(INH_05)
{
    trace_event_id_t id = type("number");
    trace_id_t stream = inherited();
    pid_t child = forked();
    if (child == 0) {
        number_event(id, 1, 0, 0);
        done();
    }
    number_events(id, 0, 10);
    finished(child);
    number_events(id, 10, 20);
    struct seen seen = read_all(stream);
    ALL_NUMBERS(seen, 0, 20);
    IS(seen.count[1], 1);
    CHECK(seen.pids_differ);
}

TEST(INH_06)
{
    trace_event_id_t id = type("known before");
    trace_id_t stream = inherited();
    pid_t child = forked();
    if (child == 0) {
        IS(type("known before"), id);
        posix_trace_event(id, NULL, 0);
        done();
    }
    finished(child);
    CHECK(next_user(stream, &record));
    IS(record.info.posix_event_id, id);
    IS(record.info.posix_pid, child);
}

TEST(INH_07)
{
    trace_id_t stream = inherited();
    pid_t child = forked();
    if (child == 0) {
        posix_trace_event(type("new in the child"), NULL, 0);
        done();
    }
    finished(child);
    CHECK(next_user(stream, &record));
    IS(type("new in the child"), record.info.posix_event_id);
    char name[TRACE_EVENT_NAME_MAX + 1];
    OK(posix_trace_eventid_get_name(stream, record.info.posix_event_id, name));
    SAME(name, "new in the child");
}

TEST(INH_08)
{
    trace_event_id_t id = type("number");
    trace_id_t stream = inherited();
    pid_t child = forked();
    if (child == 0) {
        child_with_events(id, 10);
        done();
    }
    finished(child);
    struct seen seen = read_all(stream);
    ALL_NUMBERS(seen, 0, 10);
    CHECK(seen.pid != child);
    CHECK(seen.pid != getpid());
}

TEST(INH_09)
{
    trace_event_id_t id = type("number");
    const bool kinds[] = {false, true};
    for (int at = 0; at < 2; at++) {
        trace_id_t stream = kinds[at] ? inherited() : started(NULL);
        pid_t child = forked();
        if (child == 0)
            exit(0);
        finished(child);
        number_events(id, 0, 10);
        IS(status_of(stream).posix_stream_status, POSIX_TRACE_RUNNING);
        struct seen seen = read_all(stream);
        ALL_NUMBERS(seen, 0, 10);
    }
}

TEST(INH_10)
{
    trace_event_id_t id = type("number");
    trace_id_t stream = inherited(), closed = started(NULL);
    pid_t child = forked();
    if (child == 0) {
        trace_id_t own = started(NULL);
        number_events(id, 0, 10);
        struct seen seen = read_all(own);
        ALL_NUMBERS(seen, 0, 10);
        IS(seen.pid, getpid());
        OK(posix_trace_shutdown(own));
        done();
    }
    finished(child);
    IS(events_of(stream, child), 10);
    IS(events_of(closed, child), 0);
}

TEST(INH_11)
{
    trace_event_id_t id = type("known before");
    pid_t child = forked();
    if (child == 0) {
        char name[TRACE_EVENT_NAME_MAX + 1];
        trace_id_t own = started(NULL);
        OK(posix_trace_eventid_get_name(own, id, name));
        SAME(name, "known before");
        IS(type("known before"), id);
        CHECK(type("only here") != id);
        done();
    }
    finished(child);
    /* The child had a copy of the names, so its new name does not exist in the parent. */
    char name[TRACE_EVENT_NAME_MAX + 1];
    IS(posix_trace_eventid_get_name(created(NULL), id + 1, name), EINVAL);
}

TEST(INH_12)
{
    struct traced traced = traced_child();
    trace_id_t stream = tracing(traced.pid, NULL);
    trace_event_id_t id = traced_open(&traced, "over exec");
    traced_numbers(&traced, 0, 10);
    traced_exec(&traced);
    IS(traced_open(&traced, "over exec"), id);
    traced_numbers(&traced, 10, 20);
    struct seen seen = read_all(stream);
    ALL_NUMBERS(seen, 0, 20);
    IS(seen.pid, traced.pid);
    traced_end(&traced);
}

TEST(INH_13)
{
    trace_id_t stream = inherited();
    struct gate go = gate();
    pid_t children[2];
    for (int at = 0; at < 2; at++) {
        children[at] = forked();
        if (children[at] == 0) {
            await(go);
            for (int count = 0; count < 50; count++) {
                char name[32];
                snprintf(name, sizeof name, "child %d name %d", at, count);
                posix_trace_event(type(name), name, strlen(name));
            }
            done();
        }
    }
    pass(go);
    pass(go);
    finished(children[0]);
    finished(children[1]);
    int count = 0;
    while (next_user(stream, &record)) {
        char name[TRACE_EVENT_NAME_MAX + 1];
        record.data[record.length] = 0;
        OK(posix_trace_eventid_get_name(stream, record.info.posix_event_id, name));
        SAME(name, (char *)record.data);
        count++;
    }
    IS(count, 100);
}

TEST(INH_14)
{
    trace_id_t stream = inherited();
    struct traced traced = traced_child();
    trace_event_id_t id = traced_open(&traced, "filtered later");
    traced_numbers(&traced, 0, 10);
    trace_event_set_t set = set_of(id, 0, 0, 0);
    OK(posix_trace_set_filter(stream, &set, POSIX_TRACE_SET_EVENTSET));
    traced_numbers(&traced, 10, 20);
    OK(posix_trace_set_filter(stream, &set, POSIX_TRACE_SUB_EVENTSET));
    traced_numbers(&traced, 20, 30);
    struct seen seen = read_all(stream);
    IS(seen.count[0], 20);
    IS(seen.gaps[0], 10);
    IS(seen.last[0], 29);
    traced_end(&traced);
}

static int generating = 1;

static void *generate(void *nothing)
{
    trace_event_id_t id = type("busy");
    char name[32];
    for (uint32_t number = 0; __atomic_load_n(&generating, __ATOMIC_ACQUIRE); number++) {
        number_event(id, 0, number, 0);
        snprintf(name, sizeof name, "name %u", number % 500);
        type(name);
    }
    return nothing;
}

/* A child can use the library, whatever the other threads of its parent did during the fork. */
static void use_all(void)
{
    trace_id_t own = started(NULL);
    number_events(type("in the child"), 0, 10);
    struct seen seen = read_all(own);
    ALL_NUMBERS(seen, 0, 10);
    OK(posix_trace_shutdown(own));
    done();
}

/* With the address sanitizer, the child of a process with threads cannot allocate, because locks may be held. */
static void need_memory_after_fork(void)
{
#if defined __SANITIZE_ADDRESS__
    skip("with the sanitizer, the child of a process with threads cannot allocate");
#elif defined __has_feature
#if __has_feature(address_sanitizer)
    skip("with the sanitizer, the child of a process with threads cannot allocate");
#endif
#endif
}

TEST(INH_15)
{
    need_memory_after_fork();
    pthread_t threads[3];
    inherited();
    started(NULL);
    for (int at = 0; at < 3; at++)
        threads[at] = thread(generate, NULL);
    for (int round = 0; round < 50; round++) {
        pid_t child = forked();
        if (child == 0)
            use_all();
        finished(child);
    }
    __atomic_store_n(&generating, 0, __ATOMIC_RELEASE);
    for (int at = 0; at < 3; at++)
        joined(threads[at]);
}

/* Stopping or starting an inherited stream takes effect in the children as well. */
TEST(OWN_17)
{
    trace_id_t stream = inherited();
    struct traced traced = traced_child();
    traced_open(&traced, "number");
    OK(posix_trace_stop(stream));
    traced_numbers(&traced, 0, 10);
    OK(posix_trace_start(stream));
    traced_numbers(&traced, 10, 20);
    OK(posix_trace_shutdown(stream));
    traced_numbers(&traced, 20, 30);
    traced_end(&traced);
    stream = inherited();
    CHECK(next(stream, &record));
    CHECK(!next(stream, &record));
}
