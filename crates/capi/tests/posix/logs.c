/* Logs: flushes, full logs, failed writes. */
#include "streams.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SMALL_LOG = 20000, TOO_MANY = 5000 };

static trace_event_id_t many(void)
{
    return type("many");
}

/* A running stream that is never flushed automatically. */
static trace_id_t flushed_by_hand(int log_policy, size_t log_size, int log)
{
    trace_attr_t attr;
    with_policy(&attr, POSIX_TRACE_LOOP, 1 << 20);
    OK(posix_trace_attr_setlogfullpolicy(&attr, log_policy));
    OK(posix_trace_attr_setlogsize(&attr, log_size));
    return started_withlog(&attr, log);
}

static trace_id_t appended(int log)
{
    return flushed_by_hand(POSIX_TRACE_APPEND, 0, log);
}

TEST(FLS_01)
{
    int log = log_file();
    trace_id_t stream = appended(log);
    number_events(many(), 0, 100);
    OK(posix_trace_flush(stream));
    struct posix_trace_status_info status = flushed(stream);
    IS(status.posix_stream_flush_status, POSIX_TRACE_NOT_FLUSHING);
    IS(status.posix_stream_flush_error, 0);
    IS(status.posix_stream_status, POSIX_TRACE_RUNNING);
}

TEST(FLS_02)
{
    IS(posix_trace_flush(created(NULL)), EINVAL);
    IS(posix_trace_flush(started(NULL)), EINVAL);
}

TEST(FLS_03)
{
    int log = log_file();
    trace_id_t stream = appended(log);
    OK(posix_trace_shutdown(stream));
    IS(posix_trace_flush(stream), EINVAL);
    IS(posix_trace_flush(opened(log)), EINVAL);
    for (int at = 0; at < NO_STREAMS; at++)
        IS(posix_trace_flush(no_streams[at]), EINVAL);
}

/* Stores the event types of a log in order. Consecutive user events of one type are stored only once. */
static int kinds_in(int log, trace_event_id_t *kinds, int room)
{
    static struct record record;
    int count = 0;
    trace_id_t stream = opened(log);
    while (next_of_log(stream, &record)) {
        bool again = count > 0 && is_user(&record) && kinds[count - 1] == record.info.posix_event_id;
        if (!again && count < room)
            kinds[count++] = record.info.posix_event_id;
    }
    OK(posix_trace_close(stream));
    return count;
}

TEST(FLS_04)
{
    int log = log_file();
    trace_event_id_t id = many(), kinds[10];
    trace_id_t stream = appended(log);
    number_events(id, 0, 100);
    OK(posix_trace_flush(stream));
    flushed(stream);
    number_events(id, 100, 200);
    OK(posix_trace_shutdown(stream));
    const trace_event_id_t expected[] = {
        POSIX_TRACE_START, id, POSIX_TRACE_FLUSH_START, POSIX_TRACE_FLUSH_STOP, id, POSIX_TRACE_STOP,
    };
    IS(kinds_in(log, kinds, 10), 6);
    for (int at = 0; at < 6; at++)
        IS(kinds[at], expected[at]);
}

TEST(FLS_05)
{
    int log = log_file();
    trace_id_t stream = appended(log);
    for (uint32_t number = 0; number < 5000; number += 500) {
        number_events(many(), number, number + 300);
        OK(posix_trace_flush(stream));
        number_events(many(), number + 300, number + 500);
        flushed(stream);
    }
    OK(posix_trace_shutdown(stream));
    struct seen seen = read_log(log);
    ALL_NUMBERS(seen, 0, 5000);
}

static void *flush(void *stream)
{
    for (int count = 0; count < 50; count++)
        OK(posix_trace_flush(*(trace_id_t *)stream));
    return NULL;
}

TEST(FLS_06)
{
    int log = log_file();
    trace_id_t stream = appended(log);
    number_events(many(), 0, 1000);
    OK(posix_trace_flush(stream));
    OK(posix_trace_flush(stream));
    pthread_t other = thread(flush, &stream);
    flush(&stream);
    joined(other);
    number_events(many(), 1000, 2000);
    OK(posix_trace_shutdown(stream));
    struct seen seen = read_log(log);
    ALL_NUMBERS(seen, 0, 2000);
}

TEST(FLS_07)
{
    trace_id_t stream = appended(log_file());
    number_events(many(), 0, 10000);
    limit_files(65536);
    int result = posix_trace_flush(stream);
    CHECK(result == 0 || result == EFBIG);
    int error = flushed(stream).posix_stream_flush_error;
    CHECK(result == EFBIG || error == EFBIG);
}

TEST(FLS_08)
{
    const int policies[] = {POSIX_TRACE_LOOP, POSIX_TRACE_UNTIL_FULL, POSIX_TRACE_FLUSH};
    trace_attr_t attr;
    for (int at = 0; at < 3; at++) {
        int log = log_file();
        with_policy(&attr, policies[at], 1 << 20);
        trace_id_t stream = started_withlog(&attr, log);
        number_events(many(), 0, 1000);
        OK(posix_trace_shutdown(stream));
        struct seen seen = read_log(log);
        ALL_NUMBERS(seen, 0, 1000);
    }
}

TEST(FLS_09)
{
    trace_id_t stream = appended(log_file());
    number_events(many(), 0, 10000);
    limit_files(65536);
    IS(posix_trace_shutdown(stream), EFBIG);
    IS(posix_trace_shutdown(stream), EINVAL);
    all_refuse(stream);
}

TEST(FLS_10)
{
    int log = log_file();
    trace_id_t stream = appended(log);
    number_events(many(), 0, 100);
    OK(posix_trace_stop(stream));
    OK(posix_trace_flush(stream));
    struct posix_trace_status_info status = flushed(stream);
    IS(status.posix_stream_status, POSIX_TRACE_SUSPENDED);
    IS(status.posix_stream_flush_error, 0);
    OK(posix_trace_flush(stream));
    flushed(stream);
    OK(posix_trace_shutdown(stream));
    struct seen seen = read_log(log);
    ALL_NUMBERS(seen, 0, 100);
    IS(seen.of[POSIX_TRACE_FLUSH_START] + seen.of[POSIX_TRACE_FLUSH_STOP], 0);
}

/* A log, its content, and the last status of its stream, to which the log overruns of all flushes were added. */
struct written {
    int log;
    struct posix_trace_status_info status;
    struct seen seen;
};

/* Writes many events into a small log, with a flush after each portion. */
static struct written write_many(int log_policy)
{
    struct written written = {.log = log_file()};
    trace_id_t stream = flushed_by_hand(log_policy, SMALL_LOG, written.log);
    for (uint32_t number = 0; number < TOO_MANY; number += 100) {
        number_events(many(), number, number + 100);
        OK(posix_trace_flush(stream));
        struct posix_trace_status_info status = flushed(stream);
        status.posix_log_overrun_status |= written.status.posix_log_overrun_status;
        written.status = status;
        IS(status.posix_stream_flush_error, 0);
    }
    OK(posix_trace_shutdown(stream));
    written.seen = read_log(written.log);
    return written;
}

TEST(LOG_01)
{
    struct written written = write_many(POSIX_TRACE_APPEND);
    ALL_NUMBERS(written.seen, 0, TOO_MANY);
}

TEST(LOG_02)
{
    struct written written = write_many(POSIX_TRACE_APPEND);
    IS(written.status.posix_log_full_status, POSIX_TRACE_NOT_FULL);
    IS(written.status.posix_log_overrun_status, POSIX_TRACE_NO_OVERRUN);
}

TEST(LOG_03)
{
    IS(write_many(POSIX_TRACE_LOOP).seen.last[0], TOO_MANY - 1);
}

TEST(LOG_04)
{
    struct seen seen = write_many(POSIX_TRACE_LOOP).seen;
    CHECK(seen.first[0] > 0);
    CHECK(seen.count[0] > 50);
    IS(seen.gaps[0], 0);
}

TEST(LOG_05)
{
    struct written written = write_many(POSIX_TRACE_LOOP);
    IS(written.status.posix_log_full_status, POSIX_TRACE_FULL);
    IS(written.status.posix_log_overrun_status, POSIX_TRACE_OVERRUN);
}

TEST(LOG_06)
{
    struct seen seen = write_many(POSIX_TRACE_UNTIL_FULL).seen;
    IS(seen.first[0], 0);
    IS(seen.gaps[0], 0);
    CHECK(seen.count[0] > 50);
    CHECK(seen.count[0] < TOO_MANY);
}

TEST(LOG_07)
{
    struct seen seen = write_many(POSIX_TRACE_UNTIL_FULL).seen;
    IS(seen.last_id, POSIX_TRACE_STOP);
    CHECK(seen.last_stop != 0);
}

TEST(LOG_08)
{
    IS(write_many(POSIX_TRACE_UNTIL_FULL).status.posix_log_full_status, POSIX_TRACE_FULL);
}

TEST(LOG_09)
{
    IS(write_many(POSIX_TRACE_UNTIL_FULL).status.posix_log_overrun_status, POSIX_TRACE_OVERRUN);
}

static off_t size_of(int log)
{
    struct stat status;
    OK(fstat(log, &status));
    return status.st_size;
}

TEST(LOG_10)
{
    CHECK(size_of(write_many(POSIX_TRACE_LOOP).log) < SMALL_LOG + (1 << 20));
    CHECK(size_of(write_many(POSIX_TRACE_UNTIL_FULL).log) < SMALL_LOG + (1 << 20));
}

/* Returns the events in the log of a process that was killed after a flush. */
static struct seen after_kill(int policy)
{
    int log = log_file();
    struct gate flush_over = gate();
    pid_t child = forked();
    if (child == 0) {
        trace_id_t stream = flushed_by_hand(policy, SMALL_LOG, log);
        number_events(many(), 0, 100);
        OK(posix_trace_flush(stream));
        flushed(stream);
        number_events(many(), 100, 200);
        pass(flush_over);
        for (;;)
            pause();
    }
    await(flush_over);
    OK(kill(child, SIGKILL));
    killed_by(child, SIGKILL);
    return read_log(log);
}

TEST(LOG_11)
{
    const int policies[] = {POSIX_TRACE_APPEND, POSIX_TRACE_LOOP, POSIX_TRACE_UNTIL_FULL};
    for (int at = 0; at < 3; at++) {
        struct seen seen = after_kill(policies[at]);
        IS(seen.first[0], 0);
        IS(seen.gaps[0], 0);
        CHECK(seen.count[0] >= 100);
    }
}

/* Reads a log whose writer was killed during a flush. The first `cut` bytes are new, and the later bytes are old. */
static struct seen read_torn(const unsigned char *old, size_t old_length, const unsigned char *new, size_t cut)
{
    int torn = log_file();
    IS(pwrite(torn, old, old_length, 0), old_length);
    IS(pwrite(torn, new, cut, 0), cut);
    struct seen seen = read_log(torn);
    close(torn);
    return seen;
}

TEST(LOG_12)
{
    enum { ROOM = 1 << 20, STEP = 30 };
    static unsigned char old[ROOM], new[ROOM];
    int log = log_file();
    trace_id_t stream = flushed_by_hand(POSIX_TRACE_LOOP, 100000, log);
    size_t old_length = 0;
    for (uint32_t number = 0; number < 50 * STEP; number += STEP) {
        number_events(many(), number, number + STEP);
        OK(posix_trace_flush(stream));
        flushed(stream);
        ssize_t length = pread(log, new, ROOM, 0);
        CHECK(length > 0 && length < ROOM);
        size_t cut = 0;
        while (cut < (size_t)length && (cut >= old_length || old[cut] == new[cut]))
            cut++;
        /* Cut at the first byte that differs, and at some later bytes. */
        for (int at = 0; number && at < 8 && cut < (size_t)length; at++, cut += 1 + chance(2000)) {
            struct seen seen = read_torn(old, old_length, new, cut + 1);
            CHECK(seen.last[0] >= number - 1);
            IS(seen.count[0], seen.last[0] + 1);
        }
        memcpy(old, new, (size_t)length);
        old_length = (size_t)length;
    }
    OK(posix_trace_shutdown(stream));
    struct seen seen = read_log(log);
    ALL_NUMBERS(seen, 0, 50 * STEP);
}

/* If the file of a log cannot grow, the status reports an error and the stream continues. */
TEST(OWN_11)
{
    trace_attr_t attr;
    with_policy(&attr, POSIX_TRACE_FLUSH, SMALL_LOG);
    OK(posix_trace_attr_setlogfullpolicy(&attr, POSIX_TRACE_APPEND));
    trace_id_t stream = started_withlog(&attr, log_file());
    limit_files(32768);
    int error = 0;
    for (uint32_t number = 0; !error; number++) {
        if (number < 200)
            number_events(many(), number * 10, number * 10 + 10);
        sleep_ms(5);
        error = status_of(stream).posix_stream_flush_error;
    }
    IS(error, EFBIG);
    int result = posix_trace_shutdown(stream);
    CHECK(result == 0 || result == EFBIG);
}

/* A slow pipe that accepts a flush in small parts. */
static void *drip(void *from)
{
    static char bytes[100];
    int log = log_file();
    ssize_t got;
    while ((got = read(*(int *)from, bytes, sizeof bytes)) > 0)
        IS(write(log, bytes, (size_t)got), got);
    return (void *)(intptr_t)log;
}

TEST(OWN_12)
{
    struct gate pipe = gate();
    CHECK(fcntl(pipe.out, F_SETPIPE_SZ, 4096) > 0);
    pthread_t reader = thread(drip, &pipe.in);
    trace_id_t stream = appended(pipe.out);
    close(pipe.out);
    number_events(many(), 0, TOO_MANY);
    OK(posix_trace_flush(stream));
    number_events(many(), TOO_MANY, 2 * TOO_MANY);
    OK(posix_trace_shutdown(stream));
    struct seen seen = read_log((int)(intptr_t)joined(reader));
    ALL_NUMBERS(seen, 0, 2 * TOO_MANY);
}

/* A pipe without a reader causes an error and no signal. */
TEST(OWN_13)
{
    struct gate pipe = gate();
    trace_id_t stream = appended(pipe.out);
    close(pipe.out);
    close(pipe.in);
    number_events(many(), 0, 100);
    CHECK(posix_trace_shutdown(stream) != 0);
    IS(posix_trace_shutdown(stream), EINVAL);
}

/* A flush fails and a later flush succeeds. The log can be read and reports the error. */
TEST(OWN_27)
{
    int log = log_file();
    trace_id_t stream = appended(log);
    limit_files(32768);
    number_events(many(), 0, TOO_MANY);
    int result = posix_trace_flush(stream);
    CHECK(result == 0 || result == EFBIG);
    IS(flushed(stream).posix_stream_flush_error, EFBIG);
    limit_files(RLIM_INFINITY);
    number_events(many(), TOO_MANY, TOO_MANY + 100);
    OK(posix_trace_flush(stream));
    IS(flushed(stream).posix_stream_flush_error, 0);
    OK(posix_trace_shutdown(stream));
    struct seen seen = read_log(log);
    IS(seen.last[0], TOO_MANY + 99);
    CHECK(seen.of[POSIX_TRACE_ERROR] > 0);
}
