/* Tracing another process. */
#include "streams.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static struct record record;

TEST(PRC_01)
{
    struct traced kinds[] = {traced_child(), traced_image()};
    for (int at = 0; at < 2; at++) {
        struct traced *traced = &kinds[at];
        trace_id_t stream = tracing(traced->pid, NULL);
        traced_open(traced, "number");
        traced_numbers(traced, 0, 10);
        struct seen seen = read_all(stream);
        ALL_NUMBERS(seen, 0, 10);
        IS(seen.pid, traced->pid);
        CHECK(!seen.pids_differ);
        traced_end(traced);
    }
}

TEST(PRC_02)
{
    struct traced traced = traced_image();
    trace_id_t stream = tracing(traced.pid, NULL);
    number_events(type("mine"), 0, 10);
    posix_trace_event(POSIX_TRACE_UNNAMED_USER_EVENT, NULL, 0);
    traced_open(&traced, "number");
    traced_numbers(&traced, 0, 10);
    struct seen seen = read_all(stream);
    IS(seen.numbered, 10);
    IS(seen.pid, traced.pid);
    CHECK(!seen.pids_differ);
    traced_end(&traced);
}

TEST(PRC_03)
{
    struct traced kinds[] = {traced_child(), traced_image()};
    for (int at = 0; at < 2; at++) {
        trace_event_id_t id = 0, other = 0;
        traced_open(&kinds[at], "the first one there");
        trace_id_t stream = tracing(kinds[at].pid, NULL);
        OK(posix_trace_trid_eventid_open(stream, "named from outside", &id));
        IS(traced_open(&kinds[at], "named from outside"), id);
        OK(posix_trace_trid_eventid_open(stream, "the first one there", &other));
        CHECK(other != id);
        IS(traced_open(&kinds[at], "the first one there"), other);
        traced_end(&kinds[at]);
    }
}

TEST(PRC_04)
{
    struct traced traced = traced_image();
    trace_event_id_t before = traced_open(&traced, "named before");
    trace_id_t stream = tracing(traced.pid, NULL);
    trace_event_id_t after = traced_open(&traced, "named after");
    char name[TRACE_EVENT_NAME_MAX + 1];
    OK(posix_trace_eventid_get_name(stream, before, name));
    SAME(name, "named before");
    OK(posix_trace_eventid_get_name(stream, after, name));
    SAME(name, "named after");
    traced_end(&traced);
    OK(posix_trace_eventid_get_name(stream, after, name));
    SAME(name, "named after");
}

TEST(PRC_05)
{
    struct traced traced = traced_image();
    trace_id_t stream = tracing(traced.pid, NULL);
    traced_open(&traced, "number");
    traced_numbers(&traced, 0, 10);
    OK(posix_trace_stop(stream));
    traced_numbers(&traced, 10, 20);
    OK(posix_trace_start(stream));
    traced_numbers(&traced, 20, 30);
    struct seen seen = read_all(stream);
    IS(seen.count[0], 20);
    IS(seen.gaps[0], 10);
    traced_end(&traced);
}

TEST(PRC_06)
{
    struct traced kinds[] = {traced_child(), traced_image()};
    for (int at = 0; at < 2; at++) {
        trace_id_t stream = tracing(kinds[at].pid, NULL);
        traced_open(&kinds[at], "number");
        traced_numbers(&kinds[at], 0, 100);
        traced_end(&kinds[at]);
        struct seen seen = read_all(stream);
        ALL_NUMBERS(seen, 0, 100);
        OK(posix_trace_stop(stream));
        OK(posix_trace_shutdown(stream));
    }
}

/* Kills a traced process while it is recording. */
static trace_id_t kill_at_work(struct traced *traced)
{
    trace_id_t stream = tracing(traced->pid, NULL);
    traced_open(traced, "number");
    traced_numbers(traced, 0, 100);
    OK(kill(traced->pid, SIGKILL));
    killed_by(traced->pid, SIGKILL);
    return stream;
}

TEST(PRC_07)
{
    struct traced kinds[] = {traced_child(), traced_image()};
    for (int at = 0; at < 2; at++) {
        struct seen seen = read_all(kill_at_work(&kinds[at]));
        ALL_NUMBERS(seen, 0, 100);
    }
}

TEST(PRC_08)
{
    struct traced kinds[] = {traced_child(), traced_image()};
    for (int at = 0; at < 2; at++) {
        trace_id_t stream = tracing(kinds[at].pid, NULL);
        traced_end(&kinds[at]);
        CHECK(next_of_log(stream, &record));
        IS(record.info.posix_event_id, POSIX_TRACE_START);
        CHECK(!next_of_log(stream, &record));
        CHECK(!next_of_log(stream, &record));
        int unavailable = 0;
        struct timespec until = never();
        OK(posix_trace_timedgetnext_event(stream, &record.info, record.data, 10, &record.length,
                                          &unavailable, &until));
        CHECK(unavailable != 0);
        sleep_ms(200);
        OK(posix_trace_shutdown(stream));
    }
}

/* The second controller is another process. */
static void control(struct traced *traced, struct gate started_gate, struct gate go)
{
    trace_id_t stream = tracing(traced->pid, NULL);
    pass(started_gate);
    await(go);
    struct seen seen = read_all(stream);
    ALL_NUMBERS(seen, 0, 100);
    IS(seen.pid, traced->pid);
    done();
}

TEST(PRC_09)
{
    struct traced traced = traced_image();
    struct gate started_gate = gate(), go = gate();
    pid_t other = forked();
    if (other == 0)
        control(&traced, started_gate, go);
    trace_id_t stream = tracing(traced.pid, NULL);
    await(started_gate);
    traced_open(&traced, "number");
    traced_numbers(&traced, 0, 100);
    pass(go);
    struct seen seen = read_all(stream);
    ALL_NUMBERS(seen, 0, 100);
    finished(other);
    traced_end(&traced);
}

TEST(PRC_10)
{
    struct traced traced = traced_image();
    trace_id_t stream = tracing(traced.pid, NULL);
    trace_event_id_t id = traced_open(&traced, "filtered");
    trace_event_set_t set = set_of(id, 0, 0, 0);
    OK(posix_trace_set_filter(stream, &set, POSIX_TRACE_SET_EVENTSET));
    traced_numbers(&traced, 0, 10);
    traced_open(&traced, "other");
    traced_numbers(&traced, 10, 20);
    struct seen seen = read_all(stream);
    ALL_NUMBERS(seen, 10, 20);
    traced_end(&traced);
}

TEST(PRC_11)
{
    int log = log_file();
    struct traced traced = traced_image();
    trace_id_t stream = 0;
    OK(posix_trace_create_withlog(traced.pid, NULL, log, &stream));
    OK(posix_trace_start(stream));
    trace_event_id_t id = traced_open(&traced, "logged");
    traced_numbers(&traced, 0, 100);
    OK(posix_trace_shutdown(stream));
    struct seen seen = read_log(log);
    ALL_NUMBERS(seen, 0, 100);
    IS(seen.pid, traced.pid);
    char name[TRACE_EVENT_NAME_MAX + 1];
    OK(posix_trace_eventid_get_name(opened(log), id, name));
    SAME(name, "logged");
    traced_end(&traced);
}

/* The process exists when the stream is created, but starts to use the library later. */
TEST(PRC_12)
{
    struct gate go = gate();
    pid_t child = forked();
    if (child == 0) {
        await(go);
        become_role("records_ten", (char *[]){NULL});
    }
    trace_id_t stream = tracing(child, NULL);
    pass(go);
    finished(child);
    struct seen seen = read_all(stream);
    ALL_NUMBERS(seen, 0, 10);
    IS(seen.pid, child);
}

ROLE(records_ten)
{
    (void)arguments;
    number_events(type("ten"), 0, 10);
}

TEST(PRC_13)
{
    struct traced traced = traced_image();
    struct gate tracing_now = gate();
    traced_open(&traced, "number");
    pid_t controller = forked();
    if (controller == 0) {
        tracing(traced.pid, NULL);
        pass(tracing_now);
        for (;;)
            pause();
    }
    await(tracing_now);
    traced_numbers(&traced, 0, 100);
    OK(kill(controller, SIGKILL));
    killed_by(controller, SIGKILL);
    traced_numbers(&traced, 0, 20000);
    /* The dead controller does not prevent another one from tracing. */
    trace_id_t stream = tracing(traced.pid, NULL);
    traced_numbers(&traced, 0, 100);
    struct seen seen = read_all(stream);
    ALL_NUMBERS(seen, 0, 100);
    traced_end(&traced);
}

/* Traces a child that does not call the library before the stream is created. Checks the name of its events. */
static void has_name(trace_event_id_t id, const char *expected, pid_t child, struct gate go)
{
    char name[TRACE_EVENT_NAME_MAX + 1];
    trace_id_t stream = tracing(child, NULL);
    pass(go);
    finished(child);
    struct seen seen = read_all(stream);
    ALL_NUMBERS(seen, 0, 10);
    IS(seen.pid, child);
    OK(posix_trace_eventid_get_name(stream, id, name));
    SAME(name, expected);
    OK(posix_trace_shutdown(stream));
}

TEST(PRC_15)
{
    struct gate go = gate();
    trace_event_id_t id = type("named before the fork");
    pid_t child = forked();
    if (child == 0) {
        await(go);
        number_events(id, 0, 10);
        done();
    }
    has_name(id, "named before the fork", child, go);
}

/* The parent of the traced child has ended, so the library cannot get the names from it. */
TEST(PRC_16)
{
    struct gate go = gate();
    int told[2];
    pid_t child = 0;
    trace_event_id_t id = 0;
    OK(prctl(PR_SET_CHILD_SUBREAPER, 1));
    OK(pipe(told));
    pid_t parent = forked();
    if (parent == 0) {
        type("the first one");
        id = type("named by an ended parent");
        child = forked();
        if (child == 0) {
            await(go);
            number_events(id, 0, 10);
            done();
        }
        IS(write(told[1], &child, sizeof child), sizeof child);
        IS(write(told[1], &id, sizeof id), sizeof id);
        exit(0);
    }
    IS(read(told[0], &child, sizeof child), sizeof child);
    IS(read(told[0], &id, sizeof id), sizeof id);
    finished(parent);
    has_name(id, "named by an ended parent", child, go);
}

/* Overwrites the shared mappings of this process. */
static void scribble(unsigned rounds)
{
    char line[512], *starts[64];
    size_t sizes[64];
    int count = 0;
    FILE *maps = fopen("/proc/self/maps", "r");
    CHECK(maps);
    while (count < 64 && fgets(line, sizeof line, maps)) {
        unsigned long from, to;
        char rights[8];
        if (sscanf(line, "%lx-%lx %7s", &from, &to, rights) != 3 || strcmp(rights, "rw-s") != 0)
            continue;
        starts[count] = (char *)from;
        sizes[count++] = to - from;
    }
    fclose(maps);
    CHECK(count > 0);
    for (unsigned at = 0; at < rounds; at++) {
        int area = (int)chance((uint32_t)count);
        /* Prefer headers, because a damaged header has more consequences than a damaged record. */
        size_t reach = at % 2 && sizes[area] > 4096 ? 4096 : sizes[area];
        starts[area][chance((uint32_t)reach)] = (char)chance(256);
    }
}

/* Calls every function of a controller and ignores the results. */
static void ask_all(trace_id_t stream)
{
    struct posix_trace_status_info status;
    trace_event_set_t set = filled(POSIX_TRACE_WOPID_EVENTS);
    trace_event_id_t id;
    trace_attr_t attr;
    char name[TRACE_EVENT_NAME_MAX + 1];
    int unavailable = 0;
    for (int count = 0; count < 1000 && !unavailable; count++)
        if (posix_trace_trygetnext_event(stream, &record.info, record.data, sizeof record.data,
                                         &record.length, &unavailable) != 0)
            break;
    unavailable = 0;
    for (int count = 0; count < 2000 && !unavailable; count++)
        if (posix_trace_eventtypelist_getnext_id(stream, &id, &unavailable) == 0 && !unavailable)
            posix_trace_eventid_get_name(stream, id, name);
    posix_trace_eventtypelist_rewind(stream);
    posix_trace_get_status(stream, &status);
    posix_trace_get_attr(stream, &attr);
    posix_trace_trid_eventid_open(stream, "asked for", &id);
    posix_trace_set_filter(stream, &set, POSIX_TRACE_SET_EVENTSET);
    posix_trace_stop(stream);
    posix_trace_start(stream);
    posix_trace_clear(stream);
}

/* A process that damages its shared memory and continues to record. It may crash. */
static _Noreturn void misbehave(struct gate go)
{
    await(go);
    for (uint32_t round = 0; round < 30; round++) {
        number_event(POSIX_TRACE_UNNAMED_USER_EVENT, 0, round, 0);
        scribble(round < 10 ? 10 : 3000);
    }
    done();
}

TEST(PRC_14)
{
    for (int round = 0; round < 20; round++) {
        struct gate go = gate();
        pid_t child = forked();
        if (child == 0)
            misbehave(go);
        for (int skipped = 0; skipped < round; skipped++)
            chance(2);
        int log = log_file();
        trace_id_t stream = tracing(child, NULL), logged = 0;
        OK(posix_trace_create_withlog(child, NULL, log, &logged));
        OK(posix_trace_start(logged));
        pass(go);
        for (int count = 0; count < 20; count++) {
            ask_all(stream);
            posix_trace_flush(logged);
        }
        kill(child, SIGKILL);
        ask_all(stream);
        OK(posix_trace_shutdown(stream));
        posix_trace_shutdown(logged);
    }
    struct seen seen = read_all(started(NULL));
    IS(seen.of[POSIX_TRACE_START], 1);
}

/* Overwrites, truncates or extends a file of the registry. */
static void spoil_file(const char *path)
{
    int file = open(path, O_RDWR | O_NOFOLLOW);
    struct stat status;
    if (file < 0)
        return;
    if (fstat(file, &status) == 0 && S_ISREG(status.st_mode)) {
        unsigned char bytes[64];
        for (size_t at = 0; at < sizeof bytes; at++)
            bytes[at] = (unsigned char)chance(256);
        off_t at = (off_t)chance((uint32_t)(status.st_size & 0xffffff) + 1);
        if (chance(4) > 0)
            at = (off_t)chance(256);
        if (chance(8) == 0 && ftruncate(file, at) != 0)
            skip("files cannot be cut");
        if (pwrite(file, bytes, chance(sizeof bytes), at) < 0)
            skip("files cannot be written");
    }
    close(file);
}

static void spoil_registry(void)
{
    const char *folder = getenv("TRACEWELL_POSIX_DIR");
    char path[400];
    DIR *entries = opendir(folder);
    if (!entries)
        return;
    for (struct dirent *entry; (entry = readdir(entries));) {
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        if (entry->d_name[0] != '.' && chance(2))
            spoil_file(path);
    }
    closedir(entries);
}

/* Creates streams and calls all functions while the registry is damaged. Any result except a crash is correct.
 * Exits with status 2 if no stream could be created. */
static _Noreturn void control_in_ruins(pid_t traced)
{
    int made = 0;
    for (int round = 0; round < 30; round++) {
        trace_id_t stream = 0;
        trace_event_id_t id = 0;
        if (round > 0)
            spoil_registry();
        if (posix_trace_create(round % 2 ? traced : 0, NULL, &stream) != 0)
            continue;
        made++;
        posix_trace_start(stream);
        posix_trace_eventid_open("in ruins", &id);
        posix_trace_event(id, "text", 4);
        spoil_registry();
        ask_all(stream);
        posix_trace_shutdown(stream);
    }
    if (made > 0)
        done();
    _exit(2);
}

/* Checks that a controller exited normally. Returns 1 if it created streams. */
static int made_streams(pid_t controller)
{
    int status = 0;
    IS(waitpid(controller, &status, 0), controller);
    CHECK(WIFEXITED(status) && (WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == 2));
    return WEXITSTATUS(status) == 0;
}

TEST(OWN_30)
{
    int made = 0;
    for (int round = 0; round < 20; round++) {
        struct traced traced = traced_child();
        pid_t controller = forked();
        if (controller == 0) {
            for (int skipped = 0; skipped < round * 31; skipped++)
                chance(2);
            control_in_ruins(traced.pid);
        }
        made += made_streams(controller);
        kill(traced.pid, SIGKILL);
    }
    CHECK(made > 0);
}

/* A traced process that is stopped by a signal does not block readers. */
TEST(OWN_18)
{
    struct traced traced = traced_image();
    trace_id_t stream = tracing(traced.pid, NULL);
    traced_open(&traced, "number");
    traced_numbers(&traced, 0, 100);
    OK(kill(traced.pid, SIGSTOP));
    struct seen seen = read_all(stream);
    ALL_NUMBERS(seen, 0, 100);
    struct timespec until = in_ms(200);
    int unavailable = 77;
    IS(posix_trace_timedgetnext_event(stream, &record.info, record.data, 10, &record.length, &unavailable,
                                      &until),
       ETIMEDOUT);
    OK(kill(traced.pid, SIGCONT));
    traced_numbers(&traced, 100, 110);
    seen = read_all(stream);
    ALL_NUMBERS(seen, 100, 110);
    traced_end(&traced);
}

/* Even if a process is killed at an arbitrary moment, all records are complete and in order, and
 * reading ends. */
TEST(OWN_19)
{
    for (int round = 0; round < 30; round++) {
        trace_attr_t attr;
        with_policy(&attr, round % 2 ? POSIX_TRACE_LOOP : POSIX_TRACE_UNTIL_FULL, 1 << 20);
        struct gate go = gate();
        pid_t child = forked();
        if (child == 0) {
            await(go);
            trace_event_id_t id = type("until killed");
            for (uint32_t number = 0;; number++)
                number_event(id, 0, number, number % 200);
        }
        trace_id_t stream = tracing(child, &attr);
        pass(go);
        sleep_ms(1 + round % 5);
        OK(kill(child, SIGKILL));
        killed_by(child, SIGKILL);
        struct seen seen = read_all(stream);
        IS(seen.gaps[0], 0);
        CHECK(!next_of_log(stream, &record));
        OK(posix_trace_shutdown(stream));
    }
}

static void *read_to_the_end(void *stream)
{
    unsigned long records = 0;
    while (next_of_log(*(trace_id_t *)stream, &record))
        records++;
    return (void *)(uintptr_t)records;
}

/* A waiting reader returns when the process ends, and the stream can be shut down afterwards. */
TEST(OWN_29)
{
    struct traced traced = traced_image();
    trace_id_t stream = tracing(traced.pid, NULL);
    traced_open(&traced, "number");
    pthread_t reader = thread(read_to_the_end, &stream);
    traced_numbers(&traced, 0, 10);
    sleep_ms(100);
    traced_end(&traced);
    IS((uintptr_t)joined(reader), 11);
    sleep_ms(100);
    OK(posix_trace_shutdown(stream));
}

enum { CROWD = 280, LATE = 10 };

/* A process with more children than a stream's list of processes can hold. The last children record after the
 * others have ended. */
static _Noreturn void lead_crowd(trace_event_id_t id, struct gate ready, struct gate early, struct gate late)
{
    pid_t children[CROWD];
    close(early.out);
    close(late.out);
    for (int at = 0; at < CROWD; at++) {
        char nothing;
        bool is_late = at >= CROWD - LATE;
        children[at] = forked();
        if (children[at] == 0) {
            pass(ready);
            IS(read(is_late ? late.in : early.in, &nothing, 1), 0);
            if (is_late)
                posix_trace_event(id, NULL, 0);
            done();
        }
    }
    for (int at = 0; at < CROWD - LATE; at++)
        finished(children[at]);
    done();
}

TEST(PRC_20)
{
    trace_attr_t attr;
    struct gate go = gate(), ready = gate(), early = gate(), late = gate();
    trace_event_id_t id = type("in a crowd");
    with_policy(&attr, POSIX_TRACE_LOOP, 4 << 20);
    OK(posix_trace_attr_setinherited(&attr, POSIX_TRACE_INHERITED));
    pid_t leader = forked();
    if (leader == 0) {
        await(go);
        lead_crowd(id, ready, early, late);
    }
    trace_id_t stream = tracing(leader, &attr);
    pthread_t reader = thread(read_to_the_end, &stream);
    pass(go);
    for (int at = 0; at < CROWD; at++)
        await(ready);
    close(early.out);
    finished(leader);
    sleep_ms(300);
    close(late.out);
    IS((uintptr_t)joined(reader), 1 + LATE);
    OK(posix_trace_shutdown(stream));
}
