/* The environment of a call: signal handlers that leave by a jump, a kernel that rejects system calls, no free file
 * descriptors, and the growth of the address space. */
#include "streams.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

static struct record record;
static sigjmp_buf before;
static volatile sig_atomic_t jumps;

static void leave(int signal)
{
    (void)signal;
    jumps = jumps + 1;
    siglongjmp(before, 1);
}

/* The timer is restarted after each jump, so that it always expires in the middle of the loop. */
TEST(OWN_53)
{
    const struct itimerval soon = {.it_value = {0, 200}};
    trace_event_id_t id = type("before a jump"), after = type("after them");
    trace_attr_t attr;
    struct sigaction action = {.sa_handler = leave};
    OK(sigaction(SIGALRM, &action, NULL));
    with_policy(&attr, POSIX_TRACE_LOOP, 1 << 20);
    trace_id_t stream = started(&attr);
    sigsetjmp(before, 1);
    while (jumps < 2000) {
        OK(setitimer(ITIMER_REAL, &soon, NULL));
        for (int seen = jumps; seen == jumps;)
            posix_trace_event(id, &seen, sizeof seen);
    }
    struct sigaction none = {.sa_handler = SIG_IGN};
    OK(sigaction(SIGALRM, &none, NULL));
    while (next(stream, &record))
        ;
    for (int number = 0; number < 100; number++)
        posix_trace_event(after, &number, sizeof number);
    for (int number = 0; number < 100; number++) {
        CHECK(next_user(stream, &record));
        IS(record.info.posix_event_id, after);
        IS(number_in(&record), number);
    }
    CHECK(!next_user(stream, &record));
}

/* Installs a filter for the system calls of this thread. */
static void filter_calls(struct sock_filter *filter, unsigned short length)
{
    struct sock_fprog program = {length, filter};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
        skip("the kernel has no filters for system calls");
}

/* Every system call except exit kills the process. Its parent reads the records. */
TEST(OWN_54)
{
    enum { EVENTS = 20000 };
    struct sock_filter only_end[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
    };
    trace_event_id_t id = type("confined");
    trace_attr_t attr;
    with_policy(&attr, POSIX_TRACE_LOOP, 1);
    OK(posix_trace_attr_setinherited(&attr, POSIX_TRACE_INHERITED));
    trace_id_t stream = started(&attr);
    int number = -1;
    posix_trace_event(id, &number, sizeof number);
    pid_t child = forked();
    if (child == 0) {
        posix_trace_event(id, &number, sizeof number);
        filter_calls(only_end, sizeof only_end / sizeof only_end[0]);
        for (number = 0; number < EVENTS; number++)
            posix_trace_event(id, &number, sizeof number);
        syscall(SYS_exit_group, 0);
    }
    finished(child);
    int last = -1;
    while (next_user(stream, &record))
        last = number_in(&record);
    IS(last, EVENTS - 1);
}

static int got;

static void *wait_for_each(void *stream)
{
    for (int number = 0; number >= 0;) {
        CHECK(next_of_log(*(trace_id_t *)stream, &record));
        if (!is_user(&record))
            continue;
        number = number_in(&record);
        __atomic_store_n(&got, number, __ATOMIC_RELEASE);
    }
    return NULL;
}

static void wake_each(struct sock_filter *filter, unsigned short length, bool at_once)
{
    trace_event_id_t id = type("waited for");
    if (at_once)
        filter_calls(filter, length);
    trace_id_t stream = started(NULL);
    int end = -1, first = 1;
    posix_trace_event(id, &first, sizeof first);
    if (!at_once)
        filter_calls(filter, length);
    pthread_t reader = thread(wait_for_each, &stream);
    for (int number = 1; number < 5000; number++) {
        posix_trace_event(id, &number, sizeof number);
        while (__atomic_load_n(&got, __ATOMIC_ACQUIRE) != number)
            sched_yield();
    }
    posix_trace_event(id, &end, sizeof end);
    joined(reader);
    CHECK(got == end);
}

/* The kernel rejects the system call membarrier: in one child from the start, in another after its first event. */
TEST(OWN_55)
{
    struct sock_filter no_barrier[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_membarrier, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const unsigned short length = sizeof no_barrier / sizeof no_barrier[0];
    const bool kinds[] = {true, false};
    for (int at = 0; at < 2; at++) {
        pid_t child = forked();
        if (child == 0) {
            wake_each(no_barrier, length, kinds[at]);
            done();
        }
        finished(child);
    }
}

/* The size of this process's address space in kB. */
static long address_space(void)
{
    long size = 0;
    char line[128];
    FILE *status = fopen("/proc/self/status", "r");
    CHECK(status != NULL);
    while (fgets(line, sizeof line, status) != NULL && sscanf(line, "VmSize: %ld", &size) != 1)
        ;
    fclose(status);
    CHECK(size > 0);
    return size;
}

/* If a stream stayed mapped after its shutdown, the address space would grow by more than the stream's size. */
TEST(OWN_56)
{
    enum { STREAM = 4 << 20, CONTROLLERS = 20 };
    trace_event_id_t id = type("traced by many");
    trace_attr_t attr;
    with_policy(&attr, POSIX_TRACE_LOOP, STREAM);
    long before = 0;
    for (int controller = -1; controller < CONTROLLERS; controller++) {
        trace_id_t stream = started(&attr);
        posix_trace_event(id, NULL, 0);
        CHECK(next_user(stream, &record));
        OK(posix_trace_shutdown(stream));
        posix_trace_event(id, NULL, 0);
        if (controller == -1)
            before = address_space();
    }
    CHECK(address_space() - before < STREAM / 1024);
}

static void limit_descriptors(rlim_t count)
{
    struct rlimit limit;
    OK(getrlimit(RLIMIT_NOFILE, &limit));
    limit.rlim_cur = count;
    OK(setrlimit(RLIMIT_NOFILE, &limit));
}

enum { NONE_FREE = 3, SOME_FREE = 100 };

static void record_numbers(int from, int to)
{
    for (int number = from; number <= to; number++)
        posix_trace_event(POSIX_TRACE_UNNAMED_USER_EVENT, &number, sizeof number);
}

/* The stream contains the events 1 to 10. */
static void read_ten(trace_id_t stream)
{
    for (int number = 1; number <= 10; number++) {
        CHECK(next_user(stream, &record));
        IS(number_in(&record), number);
    }
}

/* The process has no free descriptor at its first event, and later traces itself. */
static void trace_later(void)
{
    limit_descriptors(NONE_FREE);
    record_numbers(0, 0);
    limit_descriptors(SOME_FREE);
    trace_id_t stream = started(NULL);
    record_numbers(1, 10);
    read_ten(stream);
}

/* The process has no free descriptor at its first event, and none when another process begins to trace it. */
static void be_traced_later(bool has_names)
{
    struct gate recorded = gate(), traced = gate();
    pid_t child = forked();
    if (child == 0) {
        if (has_names)
            type("defined while descriptors were free");
        limit_descriptors(NONE_FREE);
        record_numbers(0, 0);
        pass(recorded);
        await(traced);
        record_numbers(0, 0);
        limit_descriptors(SOME_FREE);
        record_numbers(1, 10);
        done();
    }
    await(recorded);
    trace_id_t stream = tracing(child, NULL);
    pass(traced);
    finished(child);
    read_ten(stream);
    OK(posix_trace_shutdown(stream));
}

TEST(OWN_57)
{
    pid_t child = forked();
    if (child == 0) {
        trace_later();
        done();
    }
    finished(child);
    be_traced_later(false);
    be_traced_later(true);
}
