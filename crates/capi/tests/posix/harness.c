/* The runner: `suite [--list] [--seconds N] [--until-failure] [ID...]`.
 *
 * Prints `ok ID`, `ok ID # skip REASON` or `not ok ID FILE:LINE ERROR` for each test. Exits with status 0 if
 * no test failed. Runs `JOBS` tests at the same time. */
#include "harness.h"

#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>

enum { JOBS = 4, SKIPPED = 77, NOTHING_CHECKED = 78 };

/* The descriptor for error messages. It is open in all processes of a test. */
enum { VERDICT = 197 };

static struct test *tests;
static struct role *roles;
static unsigned long checks;

void harness_add_test(struct test *test)
{
    struct test **place = &tests;
    while (*place && strcmp((*place)->name, test->name) < 0)
        place = &(*place)->next;
    test->next = *place;
    *place = test;
}

void harness_add_role(struct role *role)
{
    role->next = roles;
    roles = role;
}

/* Checks. */

void harness_checked(void)
{
    __atomic_fetch_add(&checks, 1, __ATOMIC_RELAXED);
}

static void say(const char *format, ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(text, sizeof text - 1, format, arguments);
    va_end(arguments);
    size_t whole = (size_t)length < sizeof text - 1 ? (size_t)length : sizeof text - 2;
    text[whole] = '\n';
    if (length > 0 && write(VERDICT, text, whole + 1) < 0)
        _exit(3);
}

static const char *base(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

void harness_fail(const char *file, int line, const char *what)
{
    say("%s:%d %s", base(file), line, what);
    _exit(1);
}

void harness_is(const char *file, int line, const char *what, long long actual, long long expected)
{
    harness_checked();
    if (actual == expected)
        return;
    say("%s:%d %s is %lld, not %lld", base(file), line, what, actual, expected);
    _exit(1);
}

void harness_same(const char *file, int line, const char *what, const char *actual, const char *expected)
{
    harness_checked();
    if (strcmp(actual, expected) == 0)
        return;
    say("%s:%d %s is \"%s\", not \"%s\"", base(file), line, what, actual, expected);
    _exit(1);
}

void skip(const char *why)
{
    say("%s", why);
    _exit(SKIPPED);
}

/* Processes and threads of a test. */

pid_t forked(void)
{
    pid_t child = fork();
    CHECK(child >= 0);
    return child;
}

void done(void)
{
    _exit(0);
}

static int ended(pid_t child)
{
    int status = 0;
    pid_t waited;
    do
        waited = waitpid(child, &status, 0);
    while (waited < 0 && errno == EINTR);
    IS(waited, child);
    return status;
}

void finished(pid_t child)
{
    int status = ended(child);
    /* The child has already reported the failed check or the reason for skipping. */
    if (WIFEXITED(status) && (WEXITSTATUS(status) == 1 || WEXITSTATUS(status) == SKIPPED))
        _exit(WEXITSTATUS(status));
    IS(status, 0);
}

void killed_by(pid_t child, int signal)
{
    int status = ended(child);
    CHECK(WIFSIGNALED(status));
    IS(WTERMSIG(status), signal);
}

void become_role(const char *role, char *const arguments[])
{
    char *all[12] = {"suite", "--role", (char *)(uintptr_t)role};
    for (int at = 0; at < 8 && arguments[at]; at++)
        all[3 + at] = arguments[at];
    execv("/proc/self/exe", all);
    harness_fail(__FILE__, __LINE__, "exec of the suite itself");
}

pid_t start_role(const char *role, char *const arguments[])
{
    pid_t child = forked();
    if (child == 0)
        become_role(role, arguments);
    return child;
}

pthread_t thread(void *(*run)(void *), void *argument)
{
    pthread_t made;
    OK(pthread_create(&made, NULL, run, argument));
    return made;
}

void *joined(pthread_t thread)
{
    void *result = NULL;
    OK(pthread_join(thread, &result));
    return result;
}

struct gate gate(void)
{
    int ends[2];
    OK(pipe(ends));
    return (struct gate){ends[0], ends[1]};
}

void pass(struct gate gate)
{
    IS(write(gate.out, "!", 1), 1);
}

void await(struct gate gate)
{
    char passed;
    ssize_t got;
    do
        got = read(gate.in, &passed, 1);
    while (got < 0 && errno == EINTR);
    IS(got, 1);
}

struct timespec now(void)
{
    return in_ms(0);
}

struct timespec in_ms(long milliseconds)
{
    struct timespec time;
    clock_gettime(CLOCK_REALTIME, &time);
    int64_t at = nanoseconds(time) + (int64_t)milliseconds * 1000000;
    return (struct timespec){at / 1000000000, at % 1000000000};
}

struct timespec never(void)
{
    return in_ms(24L * 3600 * 1000);
}

int64_t nanoseconds(struct timespec time)
{
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

void sleep_ms(long milliseconds)
{
    struct timespec left = {milliseconds / 1000, milliseconds % 1000 * 1000000};
    while (nanosleep(&left, &left) < 0 && errno == EINTR)
        continue;
}

uint32_t chance(uint32_t below)
{
    static uint64_t state = 0x9E3779B97F4A7C15;
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)((state >> 32) % below);
}

/* The runner. */

struct job {
    struct test *test;
    pid_t pid;
    int verdict;
    int64_t deadline;
    char folder[64];
};

static void print_id(const char *name)
{
    for (; *name; name++)
        putchar(*name == '_' ? '-' : *name);
}

static bool is_id(const char *name, const char *id)
{
    for (; *name && *id; name++, id++)
        if (*name != *id && !(*name == '_' && *id == '-'))
            return false;
    return *name == *id;
}

static int remove_entry(const char *path, const struct stat *status, int kind, struct FTW *place)
{
    (void)status, (void)kind, (void)place;
    return remove(path);
}

static void make_folder(struct job *job)
{
    const char *places[] = {"/dev/shm/tracewell-suite-XXXXXX", "/tmp/tracewell-suite-XXXXXX"};
    for (int at = 0; at < 2; at++) {
        strcpy(job->folder, places[at]);
        if (mkdtemp(job->folder))
            return;
    }
    perror("a folder for the registry of a test");
    exit(2);
}

/* Runs in the child. Executes a new image that inherits only the standard files of the runner. */
static _Noreturn void begin(const struct job *job, int verdict)
{
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    setenv("TRACEWELL_POSIX_DIR", job->folder, 1);
    if (dup2(verdict, VERDICT) < 0)
        _exit(3);
    char *arguments[] = {"suite", "--run", (char *)(uintptr_t)job->test->name, NULL};
    execv("/proc/self/exe", arguments);
    _exit(3);
}

/* Returns a time on the monotonic clock, `seconds` from now. */
static int64_t seconds_later(unsigned seconds)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return nanoseconds(time) + (int64_t)seconds * 1000000000;
}

static struct job start(struct test *test, unsigned seconds)
{
    struct job job = {.test = test};
    int ends[2];
    make_folder(&job);
    if (pipe2(ends, O_CLOEXEC) < 0 || (job.pid = fork()) < 0) {
        perror("a test cannot be started");
        exit(2);
    }
    if (job.pid == 0)
        begin(&job, ends[1]);
    setpgid(job.pid, job.pid);
    close(ends[1]);
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    job.verdict = ends[0];
    job.deadline = seconds_later(seconds ? seconds : test->seconds);
    return job;
}

/* Ends the remaining processes of a test and reports its result. */
static bool finish(struct job *job, int status, bool late)
{
    char said[512];
    kill(-job->pid, SIGKILL);
    if (late)
        waitpid(job->pid, &status, 0);
    ssize_t length = read(job->verdict, said, sizeof said - 1);
    said[length > 0 ? length : 0] = 0;
    /* If several processes failed, only the first error message is used. */
    said[strcspn(said, "\n")] = 0;
    close(job->verdict);
    nftw(job->folder, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
    int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    bool passed = !late && (code == 0 || code == SKIPPED);
    printf(passed ? "ok " : "not ok ");
    print_id(job->test->name);
    if (passed && code == SKIPPED)
        printf(" # skip %s", said);
    else if (!passed && length > 0)
        printf(" %s", said);
    else if (late)
        printf(" %s hung", base(job->test->file));
    else if (code == NOTHING_CHECKED)
        printf(" %s checked nothing", base(job->test->file));
    else if (!passed)
        printf(" %s ended with status 0x%x", base(job->test->file), (unsigned)status);
    putchar('\n');
    fflush(stdout);
    return passed;
}

/* Waits until one of the jobs ends or is late. Returns its index, which can be reused. */
static int one_over(struct job *jobs, int count, bool *passed)
{
    for (;;) {
        for (int at = 0; at < count; at++) {
            int status = 0;
            bool over = waitpid(jobs[at].pid, &status, WNOHANG) == jobs[at].pid;
            bool late = !over && seconds_later(0) > jobs[at].deadline;
            if (over || late) {
                *passed = finish(&jobs[at], status, late);
                return at;
            }
        }
        sleep_ms(1);
    }
}

static bool chosen(const struct test *test, char **ids)
{
    /* Most SELF tests fail on purpose, so they run only if an argument names them. */
    if (!*ids)
        return strncmp(test->name, "SELF", 4) != 0;
    for (; *ids; ids++)
        if (is_id(test->name, *ids))
            return true;
    return false;
}

static int run_all(char **ids, unsigned seconds, bool until_failure)
{
    struct job jobs[JOBS];
    int running = 0;
    bool all = true;
    struct test *test = tests;
    while (test || running) {
        bool go_on = test && (all || !until_failure);
        if (go_on && running < JOBS) {
            if (chosen(test, ids))
                jobs[running++] = start(test, seconds);
            test = test->next;
            continue;
        }
        if (!running)
            break;
        bool passed;
        int at = one_over(jobs, running, &passed);
        jobs[at] = jobs[--running];
        all = all && passed;
    }
    return all ? 0 : 1;
}

static int run_one(const char *name)
{
    for (struct test *test = tests; test; test = test->next)
        if (strcmp(test->name, name) == 0) {
            test->run();
            _exit(checks ? 0 : NOTHING_CHECKED);
        }
    return 3;
}

static int run_role(char **arguments)
{
    for (struct role *role = roles; role; role = role->next)
        if (arguments[0] && strcmp(role->name, arguments[0]) == 0) {
            role->run(arguments + 1);
            return 0;
        }
    return 3;
}

static int list(void)
{
    for (struct test *test = tests; test; test = test->next) {
        print_id(test->name);
        printf(" %s\n", base(test->file));
    }
    return 0;
}

int main(int count, char **arguments)
{
    unsigned seconds = 0;
    bool until_failure = false;
    (void)count;
    for (arguments++; *arguments && strncmp(*arguments, "--", 2) == 0; arguments++) {
        if (strcmp(*arguments, "--list") == 0)
            return list();
        if (strcmp(*arguments, "--run") == 0 && arguments[1])
            return run_one(arguments[1]);
        if (strcmp(*arguments, "--role") == 0)
            return run_role(arguments + 1);
        if (strcmp(*arguments, "--until-failure") == 0)
            until_failure = true;
        else if (strcmp(*arguments, "--seconds") == 0 && arguments[1])
            seconds = (unsigned)atoi(*++arguments);
        else
            return 2;
    }
    return run_all(arguments, seconds, until_failure);
}
