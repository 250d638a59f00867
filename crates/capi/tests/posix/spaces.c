/* Processes in other PID namespaces, as in containers that share /dev/shm. A process id refers to a different
 * process there, or to none. */
#include "streams.h"

#include <sched.h>
#include <sys/mount.h>
#include <unistd.h>

/* Creates namespaces of the given kinds, in which later children of the caller start. */
static void unshared(int kinds)
{
    if (unshare(kinds) != 0)
        skip("no namespace can be made here");
}

static trace_id_t inherited(int policy)
{
    trace_attr_t attr;
    with_policy(&attr, policy, 4 << 20);
    OK(posix_trace_attr_setinherited(&attr, POSIX_TRACE_INHERITED));
    return started(&attr);
}

/* A child in a new PID namespace still sees its parent's /proc, which shows the controller with a different id.
 * The child records events, and does not prevent other processes from recording. */
TEST(PRC_17)
{
    trace_event_id_t id = type("number");
    trace_id_t stream = inherited(POSIX_TRACE_LOOP);
    unshared(CLONE_NEWPID);
    pid_t child = forked();
    if (child == 0) {
        number_events(id, 0, 10000);
        done();
    }
    finished(child);
    for (uint32_t number = 0; number < 10000; number++)
        number_event(id, 1, number, 0);
    IS(status_of(stream).posix_stream_status, POSIX_TRACE_RUNNING);
    struct seen seen = read_all(stream);
    ALL_NUMBERS(seen, 0, 10000);
    IS(seen.count[1], 10000);
}

/* Runs in a namespace with its own /proc. Creates the maximum number of streams, so that the library cleans up
 * the registry. */
static _Noreturn void control_in_container(void)
{
    trace_id_t streams[TRACE_SYS_MAX];
    int made = 0;
    if (mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0
        || mount("proc", "/proc", "proc", 0, NULL) != 0)
        skip("no /proc can be mounted here");
    IS(getpid(), 1);
    while (made < TRACE_SYS_MAX && posix_trace_create(0, NULL, &streams[made]) == 0)
        made++;
    CHECK(made > 0);
    for (int at = 0; at < made; at++)
        OK(posix_trace_shutdown(streams[at]));
    done();
}

/* A controller in a container does not remove the streams and areas of other processes. */
TEST(PRC_18)
{
    struct traced traced = traced_child();
    traced_open(&traced, "number");
    trace_id_t stream = inherited(POSIX_TRACE_LOOP), other = tracing(traced.pid, NULL);
    trace_event_id_t id = type("number");
    pid_t space = forked();
    if (space == 0) {
        unshared(CLONE_NEWPID | CLONE_NEWNS);
        pid_t child = forked();
        if (child == 0)
            control_in_container();
        finished(child);
        done();
    }
    finished(space);
    /* A new child finds the stream, and the traced process still has its area. */
    pid_t child = forked();
    if (child == 0) {
        number_event(id, 2, 0, 0);
        done();
    }
    finished(child);
    IS(read_all(stream).count[2], 1);
    traced_numbers(&traced, 0, 10);
    struct seen seen = read_all(other);
    ALL_NUMBERS(seen, 0, 10);
    trace_id_t later = tracing(traced.pid, NULL);
    traced_numbers(&traced, 10, 20);
    seen = read_all(later);
    ALL_NUMBERS(seen, 10, 20);
    traced_end(&traced);
}

/* A controller outside a killed container removes the files that the container left. */
TEST(PRC_19)
{
    trace_event_id_t id = type("number");
    for (int round = 0; round < 2; round++) {
        pid_t space = forked();
        if (space == 0) {
            unshared(CLONE_NEWPID | CLONE_NEWNS);
            pid_t child = forked();
            if (child == 0) {
                if (mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0
                    || mount("proc", "/proc", "proc", 0, NULL) != 0)
                    skip("no /proc can be mounted here");
                for (int count = 0; count < TRACE_SYS_MAX; count++)
                    created(NULL);
                done();
            }
            finished(child);
            done();
        }
        finished(space);
    }
    trace_id_t stream = started(NULL);
    number_events(id, 0, 10);
    struct seen seen = read_all(stream);
    ALL_NUMBERS(seen, 0, 10);
}
