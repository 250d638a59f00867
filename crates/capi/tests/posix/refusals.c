/* Invalid ids, and missing permissions. */
#include "streams.h"

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <libgen.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NOBODY = 65534 };

TEST(BAD_01)
{
    started(NULL);
    for (int at = 0; at < NO_STREAMS; at++)
        all_refuse(no_streams[at]);
    for (int count = 0; count < 1000; count++)
        all_refuse(-1 - (trace_id_t)chance(0x7ffffff0));
}

TEST(BAD_02)
{
    trace_id_t stream = started(NULL), kept = started(NULL);
    OK(posix_trace_shutdown(stream));
    all_refuse(stream);
    started(NULL);
    all_refuse(stream);
    IS(status_of(kept).posix_stream_status, POSIX_TRACE_RUNNING);
}

TEST(BAD_03)
{
    int log = log_file();
    OK(posix_trace_shutdown(created_withlog(NULL, log)));
    trace_id_t stream = opened(log);
    OK(posix_trace_close(stream));
    all_refuse(stream);
    opened(log);
    all_refuse(stream);
}

TEST(BAD_04)
{
    trace_id_t stream = started(NULL);
    number_events(type("kept"), 0, 10);
    pid_t child = forked();
    if (child == 0) {
        all_refuse(stream);
        trace_id_t own = started(NULL);
        OK(posix_trace_shutdown(own));
        all_refuse(stream);
        exit(0);
    }
    finished(child);
    IS(status_of(stream).posix_stream_status, POSIX_TRACE_RUNNING);
    struct seen seen = read_all(stream);
    ALL_NUMBERS(seen, 0, 10);
}

/* With an unsafe registry directory, the library creates nothing. */
ROLE(distrusts)
{
    (void)arguments;
    trace_id_t stream = -77;
    CHECK(posix_trace_create(0, NULL, &stream) != 0);
    IS(stream, -77);
    trace_event_id_t id = POSIX_TRACE_UNNAMED_USER_EVENT;
    posix_trace_eventid_open("harmless", &id);
    posix_trace_event(id, NULL, 0);
}

static void distrusted(const char *folder)
{
    setenv("TRACEWELL_POSIX_DIR", folder, 1);
    finished(start_role("distrusts", (char *[]){NULL}));
}

/* A path in the registry directory of this test. The runner removes the directory. */
static const char *beside(const char *name)
{
    static char path[200];
    snprintf(path, sizeof path, "%s/%s", getenv("TRACEWELL_POSIX_DIR"), name);
    return path;
}

TEST(BAD_05)
{
    char target[200], link[200];
    strcpy(target, beside("folder"));
    strcpy(link, beside("link"));
    OK(mkdir(target, 0700));
    OK(symlink(target, link));
    distrusted(link);
    if (geteuid() == 0) {
        OK(chown(target, NOBODY, NOBODY));
        distrusted(target);
    } else {
        distrusted("/");
    }
}

/* Other users cannot read or write shared files. */
static void is_private(const char *path, unsigned allowed)
{
    struct stat status;
    if (lstat(path, &status) != 0)
        return;
    IS(status.st_uid, geteuid());
    IS(status.st_mode & 0777 & ~allowed, 0);
}

TEST(OWN_21)
{
    started(NULL);
    const char *folder = getenv("TRACEWELL_POSIX_DIR");
    char path[400];
    is_private(folder, 0700);
    DIR *entries = opendir(folder);
    CHECK(entries);
    for (struct dirent *entry; (entry = readdir(entries));) {
        if (entry->d_name[0] == '.')
            continue;
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        is_private(path, 0700);
    }
    closedir(entries);
}

/* The default registry directory is accessible only to its user. */
ROLE(uses_the_usual_folder)
{
    (void)arguments;
    char folder[64];
    trace_id_t stream = started(NULL);
    number_events(type("usual"), 0, 10);
    struct seen seen = read_all(stream);
    ALL_NUMBERS(seen, 0, 10);
    snprintf(folder, sizeof folder, "/dev/shm/tracewell-%u", (unsigned)geteuid());
    is_private(folder, 0700);
    OK(posix_trace_shutdown(stream));
}

TEST(OWN_22)
{
    unsetenv("TRACEWELL_POSIX_DIR");
    finished(start_role("uses_the_usual_folder", (char *[]){NULL}));
}

/* Another user created the default directory first. */
ROLE(finds_the_folder_taken)
{
    char folder[64], own[400];
    if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0
        || mount("none", "/dev/shm", "tmpfs", 0, NULL) != 0)
        skip("no file system can be mounted here");
    snprintf(folder, sizeof folder, "/dev/shm/tracewell-%u", (unsigned)geteuid());
    OK(mkdir(folder, 0777));
    OK(chown(folder, NOBODY, NOBODY));
    if (!arguments[0]) {
        trace_id_t stream;
        IS(posix_trace_create(0, NULL, &stream), EPERM);
        return;
    }
    /* The new mount hides the directory if it is in /dev/shm. */
    CHECK(mkdir(arguments[0], 0700) == 0 || errno == EEXIST);
    trace_id_t stream = started(NULL);
    number_events(type("in a place of its own"), 0, 10);
    struct seen seen = read_all(stream);
    ALL_NUMBERS(seen, 0, 10);
    snprintf(own, sizeof own, "%s/tracewell", arguments[0]);
    struct stat status;
    OK(lstat(own, &status));
    is_private(own, 0700);
}

TEST(OWN_35)
{
    char *folder = getenv("TRACEWELL_POSIX_DIR");
    OK(setenv("XDG_RUNTIME_DIR", folder, 1));
    OK(unsetenv("TRACEWELL_POSIX_DIR"));
    finished(start_role("finds_the_folder_taken", (char *[]){folder, NULL}));
    OK(setenv("XDG_RUNTIME_DIR", "/nowhere", 1));
    finished(start_role("finds_the_folder_taken", (char *[]){NULL}));
}

/* Keeps a descriptor of the folder of the shared library, so that later images can load the library. The folder may be
 * in a directory that other users cannot enter. */
static void keep_folder_of_library(void)
{
    Dl_info library;
    char path[4096], folder[64];
    CHECK(dladdr((const void *)(uintptr_t)posix_trace_shutdown, &library));
    CHECK((size_t)snprintf(path, sizeof path, "%s", library.dli_fname) < sizeof path);
    int descriptor = open(dirname(path), O_PATH | O_DIRECTORY);
    CHECK(descriptor >= 0);
    snprintf(folder, sizeof folder, "/proc/self/fd/%d", descriptor);
    OK(setenv("LD_LIBRARY_PATH", folder, 1));
}

static void become_nobody(void)
{
    keep_folder_of_library();
    OK(setgid(NOBODY));
    OK(setuid(NOBODY));
}

/* Waits, records, and waits again. `arguments` are the descriptors of the pipes. */
ROLE(records_when_told)
{
    struct gate go = {atoi(arguments[0]), -1}, recorded = {-1, atoi(arguments[1])};
    pass(recorded);
    await(go);
    number_events(type("nobody's"), 0, 10);
    pass(recorded);
    await(go);
}

ROLE(traces_nobody)
{
    (void)arguments;
    struct gate go = gate(), recorded = gate();
    char in[12], out[12];
    snprintf(in, sizeof in, "%d", go.in);
    snprintf(out, sizeof out, "%d", recorded.out);
    pid_t child = forked();
    if (child == 0) {
        close(go.out);
        close(recorded.in);
        become_nobody();
        become_role("records_when_told", (char *[]){in, out, NULL});
    }
    /* If the child ends early, `await` fails instead of waiting. */
    close(go.in);
    close(recorded.out);
    await(recorded);
    trace_id_t stream = tracing(child, NULL);
    pass(go);
    await(recorded);
    struct seen seen = read_all(stream);
    ALL_NUMBERS(seen, 0, 10);
    IS(seen.pid, child);
    pass(go);
    finished(child);
    OK(posix_trace_shutdown(stream));
}

/* Root may trace a process of another user. Each user has a default directory, which the library determines
 * when a program starts. So the test executes a new image. */
TEST(OWN_23)
{
    if (geteuid() != 0)
        skip("only root can be another user");
    unsetenv("TRACEWELL_POSIX_DIR");
    finished(start_role("traces_nobody", (char *[]){NULL}));
}

/* Other users cannot read or change the shared memory of a stream. */
TEST(OWN_24)
{
    if (geteuid() != 0)
        skip("only root can be another user");
    trace_id_t stream = started(NULL);
    const char *folder = getenv("TRACEWELL_POSIX_DIR");
    char paths[32][300];
    int count = 0;
    DIR *entries = opendir(folder);
    CHECK(entries);
    for (struct dirent *entry; count < 32 && (entry = readdir(entries));)
        if (entry->d_name[0] != '.')
            snprintf(paths[count++], sizeof paths[0], "%s/%s", folder, entry->d_name);
    closedir(entries);
    pid_t child = forked();
    if (child == 0) {
        become_nobody();
        CHECK(!opendir(folder));
        for (int at = 0; at < count; at++) {
            CHECK(open(paths[at], O_RDONLY) < 0);
            CHECK(open(paths[at], O_RDWR) < 0);
        }
        all_refuse(stream);
        done();
    }
    finished(child);
}

/* Creates a child and tries to trace it. The argument is 1 if the child is dumpable, and 0 if not. */
ROLE(traces_its_child)
{
    int allowed = atoi(arguments[0]);
    struct gate ready = gate(), go = gate();
    pid_t child = forked();
    if (child == 0) {
        OK(prctl(PR_SET_DUMPABLE, allowed));
        pass(ready);
        await(go);
        done();
    }
    await(ready);
    trace_id_t stream = -77;
    IS(posix_trace_create(child, NULL, &stream), allowed ? 0 : EPERM);
    pass(go);
    finished(child);
    if (allowed)
        OK(posix_trace_shutdown(stream));
}

TEST(OWN_28)
{
    unsetenv("TRACEWELL_POSIX_DIR");
    for (int allowed = 0; allowed < 2; allowed++) {
        pid_t child = forked();
        if (child == 0) {
            if (geteuid() == 0)
                become_nobody();
            become_role("traces_its_child", (char *[]){allowed ? "1" : "0", NULL});
        }
        finished(child);
    }
}

/* Calls the library while the size of files is limited. No call may end the process. */
static _Noreturn void use_all_within(rlim_t bytes)
{
    trace_event_id_t id = 0;
    trace_id_t stream = 0;
    limit_files(bytes);
    posix_trace_event(POSIX_TRACE_UNNAMED_USER_EVENT, NULL, 0);
    int named = posix_trace_eventid_open("beyond the limit", &id);
    CHECK(named == 0 || named == ENOMEM);
    posix_trace_event(id, "text", 4);
    int made = posix_trace_create(0, NULL, &stream);
    CHECK(made == ENOMEM || made == EPERM);
    CHECK(posix_trace_create_withlog(0, NULL, log_file(), &stream) != 0);
    done();
}

/* Exceeding the limit of the file size is an error and does not end the program. */
TEST(OWN_33)
{
    const rlim_t limits[] = {0, 100, 4096, 8192, 100000};
    for (int at = 0; at < 5; at++) {
        pid_t child = forked();
        if (child == 0)
            use_all_within(limits[at]);
        finished(child);
    }
}

/* The same limit applies to the header of a log, which the caller's thread writes. */
TEST(OWN_34)
{
    int log = log_file();
    trace_id_t stream = created_withlog(NULL, log);
    limit_files(16);
    OK(posix_trace_clear(stream));
    IS(posix_trace_shutdown(stream), EFBIG);
}
