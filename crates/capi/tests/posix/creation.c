/* Creation of streams, with and without logs. */
#include "streams.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* Checks that a stream traces the calling process. */
static void traces_the_caller(trace_id_t stream)
{
    OK(posix_trace_start(stream));
    number_events(type("creation"), 0, 10);
    struct seen seen = read_all(stream);
    ALL_NUMBERS(seen, 0, 10);
    IS(seen.pid, getpid());
}

static int stream_policy_of(trace_id_t stream)
{
    trace_attr_t attr;
    attributes_of(stream, &attr);
    int policy = -1;
    OK(posix_trace_attr_getstreamfullpolicy(&attr, &policy));
    return policy;
}

TEST(CRE_01)
{
    trace_id_t stream = 0;
    OK(posix_trace_create(0, NULL, &stream));
    traces_the_caller(stream);
}

TEST(CRE_02)
{
    trace_id_t stream = 0;
    OK(posix_trace_create(getpid(), NULL, &stream));
    traces_the_caller(stream);
}

TEST(CRE_03)
{
    trace_id_t stream = created(NULL);
    trace_attr_t attr;
    attributes_of(stream, &attr);
    char name[TRACE_NAME_MAX] = "x";
    OK(posix_trace_attr_getname(&attr, name));
    SAME(name, "");
    IS(stream_policy_of(stream), POSIX_TRACE_LOOP);
}

TEST(CRE_04)
{
    struct posix_trace_status_info status = status_of(created(NULL));
    IS(status.posix_stream_status, POSIX_TRACE_SUSPENDED);
    IS(status.posix_stream_full_status, POSIX_TRACE_NOT_FULL);
    IS(status.posix_stream_overrun_status, POSIX_TRACE_NO_OVERRUN);
    IS(status.posix_stream_flush_status, POSIX_TRACE_NOT_FLUSHING);
    IS(status.posix_stream_flush_error, 0);
}

TEST(CRE_05)
{
    struct posix_trace_status_info status = status_of(created(NULL));
    IS(status.posix_log_overrun_status, POSIX_TRACE_NO_OVERRUN);
    IS(status.posix_log_full_status, POSIX_TRACE_NOT_FULL);
    status = status_of(created_withlog(NULL, log_file()));
    IS(status.posix_stream_status, POSIX_TRACE_SUSPENDED);
    IS(status.posix_log_overrun_status, POSIX_TRACE_NO_OVERRUN);
    IS(status.posix_log_full_status, POSIX_TRACE_NOT_FULL);
}

TEST(CRE_06)
{
    trace_event_id_t id = type("any");
    trace_event_set_t filter = filter_of(created(NULL));
    for (trace_event_id_t system = POSIX_TRACE_ERROR; system <= POSIX_TRACE_FLUSH_STOP; system++)
        CHECK(!member(&filter, system));
    CHECK(!member(&filter, POSIX_TRACE_UNNAMED_USER_EVENT));
    CHECK(!member(&filter, id));
}

TEST(CRE_07)
{
    int64_t before = nanoseconds(now());
    trace_id_t stream = created(NULL);
    int64_t after = nanoseconds(now());
    trace_attr_t attr;
    attributes_of(stream, &attr);
    struct timespec at = {0, 0};
    OK(posix_trace_attr_getcreatetime(&attr, &at));
    CHECK(nanoseconds(at) >= before);
    CHECK(nanoseconds(at) <= after);
}

TEST(CRE_08)
{
    const size_t sizes[] = {0, 1, 1000, 65536, 65537, 1000001};
    for (int at = 0; at < 6; at++) {
        trace_attr_t attr, got;
        OK(posix_trace_attr_init(&attr));
        OK(posix_trace_attr_setstreamsize(&attr, sizes[at]));
        attributes_of(created(&attr), &got);
        CHECK(stream_size_of(&got) >= sizes[at]);
        CHECK(stream_size_of(&got) > 0);
    }
}

TEST(CRE_09)
{
    trace_attr_t attr;
    with_policy(&attr, POSIX_TRACE_FLUSH, 0);
    trace_id_t stream = -77;
    IS(posix_trace_create(0, &attr, &stream), EINVAL);
    IS(stream, -77);
}

TEST(CRE_10)
{
    trace_attr_t attr;
    with_policy(&attr, POSIX_TRACE_LOOP, 0);
    OK(posix_trace_attr_destroy(&attr));
    trace_id_t stream = -77;
    IS(posix_trace_create(0, &attr, &stream), EINVAL);
    IS(posix_trace_create_withlog(0, &attr, log_file(), &stream), EINVAL);
    memset(&attr, 0, sizeof attr);
    IS(posix_trace_create(0, &attr, &stream), EINVAL);
    IS(stream, -77);
}

TEST(CRE_11)
{
    pid_t child = forked();
    if (child == 0)
        done();
    finished(child);
    trace_id_t stream = -77;
    IS(posix_trace_create(child, NULL, &stream), ESRCH);
    IS(posix_trace_create(-1, NULL, &stream), ESRCH);
    IS(posix_trace_create(0x7fffffff, NULL, &stream), ESRCH);
    IS(posix_trace_create_withlog(child, NULL, log_file(), &stream), ESRCH);
    IS(stream, -77);
}

enum { NOBODY = 65534 };

/* Drops privileges and tries to trace the parent, which runs as another user. */
TEST(CRE_12)
{
    trace_id_t stream = -77;
    pid_t other = geteuid() == 0 ? getpid() : 1;
    pid_t child = forked();
    if (child == 0) {
        unsetenv("TRACEWELL_POSIX_DIR");
        if (geteuid() == 0) {
            OK(setgid(NOBODY));
            OK(setuid(NOBODY));
        }
        IS(posix_trace_create(other, NULL, &stream), EPERM);
        IS(posix_trace_create_withlog(other, NULL, log_file(), &stream), EPERM);
        IS(stream, -77);
        done();
    }
    finished(child);
}

TEST(CRE_13)
{
    trace_attr_t attr;
    trace_id_t stream = -77;
    OK(posix_trace_attr_init(&attr));
    OK(posix_trace_attr_setstreamsize(&attr, SIZE_MAX));
    int result = posix_trace_create(0, &attr, &stream);
    CHECK(result == ENOMEM || result == EINVAL);
    OK(posix_trace_attr_setstreamsize(&attr, SIZE_MAX / 4));
    result = posix_trace_create(0, &attr, &stream);
    CHECK(result == ENOMEM || result == EINVAL);
    IS(stream, -77);
    traces_the_caller(created(NULL));
}

TEST(CRE_14)
{
    for (int count = 0; count < _POSIX_TRACE_SYS_MAX; count++)
        created(NULL);
}

/* Creates the maximum number of streams: eight for each of several children. Returns the last stream. */
static trace_id_t take_all_streams(struct traced *spare)
{
    trace_id_t stream = 0;
    for (int count = 0; count < TRACE_SYS_MAX; count++) {
        if (count % 8 == 0)
            *spare = traced_child();
        OK(posix_trace_create(spare->pid, NULL, &stream));
    }
    *spare = traced_child();
    return stream;
}

TEST(CRE_15)
{
    struct traced spare;
    take_all_streams(&spare);
    trace_id_t stream = -77;
    IS(posix_trace_create(spare.pid, NULL, &stream), EAGAIN);
    IS(posix_trace_create(0, NULL, &stream), EAGAIN);
    IS(posix_trace_create_withlog(0, NULL, log_file(), &stream), EAGAIN);
    IS(stream, -77);
}

TEST(CRE_16)
{
    struct traced spare;
    trace_id_t last = take_all_streams(&spare), stream = 0;
    IS(posix_trace_create(spare.pid, NULL, &stream), EAGAIN);
    OK(posix_trace_shutdown(last));
    OK(posix_trace_create(spare.pid, NULL, &stream));
    IS(posix_trace_create(spare.pid, NULL, &stream), EAGAIN);
}

TEST(CRE_17)
{
    trace_id_t one = started(NULL), two = started(NULL);
    number_events(type("both"), 0, 100);
    struct seen first = read_all(one), second = read_all(two);
    ALL_NUMBERS(first, 0, 100);
    ALL_NUMBERS(second, 0, 100);
}

TEST(CRE_18)
{
    CHECK(created(NULL) != created(NULL));
}

TEST(CRE_19)
{
    pid_t child = forked();
    if (child == 0)
        done();
    siginfo_t info;
    OK(waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT));
    trace_id_t stream = -77;
    IS(posix_trace_create(child, NULL, &stream), ESRCH);
    IS(stream, -77);
    finished(child);
}

TEST(CRE_20)
{
    IS(posix_trace_create(0, NULL, NULL), EINVAL);
    IS(posix_trace_create_withlog(0, NULL, log_file(), NULL), EINVAL);
}

TEST(CRE_21)
{
    int log = log_file();
    trace_id_t stream = started_withlog(NULL, log);
    number_events(type("logged"), 0, 10);
    OK(posix_trace_shutdown(stream));
    struct seen seen = read_log(log);
    ALL_NUMBERS(seen, 0, 10);
}

TEST(CRE_22)
{
    trace_id_t stream = created_withlog(NULL, log_file());
    trace_attr_t attr;
    attributes_of(stream, &attr);
    int policy = -1;
    OK(posix_trace_attr_getlogfullpolicy(&attr, &policy));
    IS(policy, POSIX_TRACE_LOOP);
    IS(stream_policy_of(stream), POSIX_TRACE_FLUSH);
}

TEST(CRE_23)
{
    trace_id_t stream = -77;
    IS(posix_trace_create_withlog(0, NULL, -1, &stream), EBADF);
    IS(posix_trace_create_withlog(0, NULL, 1000, &stream), EBADF);
    IS(stream, -77);
}

TEST(CRE_24)
{
    trace_id_t stream = -77;
    int file = open("/proc/self/exe", O_RDONLY);
    IS(posix_trace_create_withlog(0, NULL, file, &stream), EBADF);
    IS(stream, -77);
}

/* Attributes with a full-log policy. */
static void with_log_policy(trace_attr_t *attr, int policy)
{
    OK(posix_trace_attr_init(attr));
    OK(posix_trace_attr_setlogfullpolicy(attr, policy));
}

TEST(CRE_25)
{
    trace_attr_t attr;
    trace_id_t stream = -77;
    with_log_policy(&attr, POSIX_TRACE_LOOP);
    IS(posix_trace_create_withlog(0, &attr, gate().out, &stream), EINVAL);
    with_log_policy(&attr, POSIX_TRACE_UNTIL_FULL);
    IS(posix_trace_create_withlog(0, &attr, gate().out, &stream), EINVAL);
    IS(posix_trace_create_withlog(0, &attr, open("/dev/null", O_WRONLY), &stream), EINVAL);
    IS(stream, -77);
}

TEST(CRE_26)
{
    trace_attr_t attr;
    trace_id_t stream = -77;
    int log = log_file();
    OK(fcntl(log, F_SETFL, O_APPEND));
    with_log_policy(&attr, POSIX_TRACE_LOOP);
    IS(posix_trace_create_withlog(0, &attr, log, &stream), EINVAL);
    with_log_policy(&attr, POSIX_TRACE_APPEND);
    IS(posix_trace_create_withlog(0, &attr, log, &stream), EINVAL);
    IS(stream, -77);
}

/* The bytes that are read from the pipe must be a log. */
static void *copy(void *from)
{
    static char bytes[4096];
    int log = log_file();
    ssize_t got;
    while ((got = read(*(int *)from, bytes, sizeof bytes)) > 0)
        IS(write(log, bytes, (size_t)got), got);
    return (void *)(intptr_t)log;
}

TEST(CRE_27)
{
    trace_attr_t attr;
    struct gate pipe = gate();
    pthread_t copier = thread(copy, &pipe.in);
    with_log_policy(&attr, POSIX_TRACE_APPEND);
    trace_id_t stream = started_withlog(&attr, pipe.out);
    close(pipe.out);
    number_events(type("piped"), 0, 100);
    OK(posix_trace_shutdown(stream));
    struct seen seen = read_log((int)(intptr_t)joined(copier));
    ALL_NUMBERS(seen, 0, 100);
}

TEST(CRE_28)
{
    trace_attr_t attr;
    with_policy(&attr, POSIX_TRACE_LOOP, 0);
    IS(stream_policy_of(created_withlog(&attr, log_file())), POSIX_TRACE_LOOP);
}

TEST(CRE_29)
{
    trace_attr_t attr;
    trace_id_t stream = -77;
    int full = open("/dev/full", O_WRONLY);
    if (full < 0)
        skip("there is no /dev/full");
    with_log_policy(&attr, POSIX_TRACE_APPEND);
    IS(posix_trace_create_withlog(0, &attr, full, &stream), ENOSPC);
    IS(stream, -77);
}

TEST(CRE_30)
{
    int log = log_file();
    struct stat status;
    trace_id_t stream = started_withlog(NULL, log);
    OK(posix_trace_shutdown(stream));
    OK(fstat(log, &status));
    CHECK(status.st_size > 0);
    close(log);
    /* The stream works after the caller closed the descriptor. */
    log = log_file();
    int other = dup(log);
    stream = started_withlog(NULL, log);
    close(log);
    number_events(type("later"), 0, 10);
    OK(posix_trace_shutdown(stream));
    struct seen seen = read_log(other);
    ALL_NUMBERS(seen, 0, 10);
}

TEST(OWN_03)
{
    int log = log_file();
    IS(write(log, "something else", 14), 14);
    OK(posix_trace_shutdown(created_withlog(NULL, log)));
    IS(read_log(log).records, 0);
    trace_id_t stream = -77;
    IS(posix_trace_create_withlog(0, NULL, open("/", O_RDONLY | O_DIRECTORY), &stream), EBADF);
    IS(stream, -77);
}

/* A process without the library can be traced, but records no events. */
TEST(OWN_04)
{
    struct gate ready = gate();
    pid_t child = forked();
    if (child == 0) {
        dup2(ready.in, 0);
        execl("/bin/cat", "cat", (char *)NULL);
        harness_fail(__FILE__, __LINE__, "exec of cat");
    }
    trace_id_t stream = tracing(child, NULL);
    struct seen seen = read_all(stream);
    IS(seen.numbered, 0);
    OK(posix_trace_shutdown(stream));
    OK(kill(child, SIGKILL));
    killed_by(child, SIGKILL);
}
