/* Opened logs: contents, positions, damage. */
#include "streams.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static struct record record;

/* A log with ten numbered events and an unused event type. */
static int ten_numbers(void)
{
    int log = log_file();
    trace_id_t stream = started_withlog(NULL, log);
    number_events(type("number"), 0, 10);
    type("unused");
    OK(posix_trace_shutdown(stream));
    return log;
}

static trace_id_t open_ten(void)
{
    return opened(ten_numbers());
}

TEST(OPN_01)
{
    trace_id_t stream = open_ten();
    CHECK(next_of_log(stream, &record));
    IS(record.info.posix_event_id, POSIX_TRACE_START);
    IS(posix_trace_open(ten_numbers(), NULL), EINVAL);
}

/* Two streams record the same events. The records in memory and in the log must be equal. */
static void are_equal(const struct record *live, const struct record *logged)
{
    IS(logged->info.posix_event_id, live->info.posix_event_id);
    IS(logged->info.posix_pid, live->info.posix_pid);
    CHECK(logged->info.posix_prog_address == live->info.posix_prog_address);
    IS(logged->info.posix_truncation_status, live->info.posix_truncation_status);
    IS(nanoseconds(logged->info.posix_timestamp), nanoseconds(live->info.posix_timestamp));
    CHECK(pthread_equal(logged->info.posix_thread_id, live->info.posix_thread_id));
    IS(logged->length, live->length);
    CHECK(memcmp(logged->data, live->data, live->length) == 0);
}

static void *number_from_thread(void *id)
{
    number_events(*(trace_event_id_t *)id, 10, 20);
    return NULL;
}

TEST(OPN_02)
{
    static struct record logged;
    int log = log_file(), compared = 0;
    trace_attr_t attr;
    trace_event_id_t id = type("number");
    OK(posix_trace_attr_init(&attr));
    OK(posix_trace_attr_setmaxdatasize(&attr, 100));
    trace_id_t live = started(&attr), stream = started_withlog(&attr, log);
    number_events(id, 0, 10);
    joined(thread(number_from_thread, &id));
    for (uint32_t filling = 0; filling < 200; filling++)
        number_event(id, 0, 20 + filling, filling);
    posix_trace_event(POSIX_TRACE_UNNAMED_USER_EVENT, NULL, 0);
    OK(posix_trace_shutdown(stream));
    trace_id_t again = opened(log);
    while (next_of_log(again, &logged)) {
        if (!is_user(&logged))
            continue;
        CHECK(next_user(live, &record));
        are_equal(&record, &logged);
        compared++;
    }
    IS(compared, 221);
}

TEST(OPN_03)
{
    trace_id_t stream = open_ten();
    char name[TRACE_EVENT_NAME_MAX + 1];
    OK(posix_trace_eventid_get_name(stream, type("number"), name));
    SAME(name, "number");
    OK(posix_trace_eventid_get_name(stream, POSIX_TRACE_FLUSH_STOP, name));
    SAME(name, "posix_trace_flush_stop");
    OK(posix_trace_eventid_get_name(stream, POSIX_TRACE_UNNAMED_USER_EVENT, name));
    SAME(name, "posix_trace_unnamed_userevent");
    IS(posix_trace_eventid_get_name(stream, type("unknown to the log"), name), EINVAL);
}

TEST(OPN_04)
{
    trace_id_t stream = open_ten();
    trace_event_id_t id;
    int unavailable = 0, unused = 0, count = 0;
    for (;; count++) {
        OK(posix_trace_eventtypelist_getnext_id(stream, &id, &unavailable));
        if (unavailable)
            break;
        unused += id == type("unused");
    }
    IS(unused, 1);
    IS(count, 11);
    OK(posix_trace_eventtypelist_rewind(stream));
    OK(posix_trace_eventtypelist_getnext_id(stream, &id, &unavailable));
    IS(unavailable, 0);
}

TEST(OPN_05)
{
    trace_attr_t attr, active, logged;
    int log = log_file(), policy = -1;
    size_t size = 0;
    char name[TRACE_NAME_MAX];
    struct timespec was, is;
    with_policy(&attr, POSIX_TRACE_UNTIL_FULL, 100000);
    OK(posix_trace_attr_setname(&attr, "a log"));
    OK(posix_trace_attr_setlogfullpolicy(&attr, POSIX_TRACE_APPEND));
    OK(posix_trace_attr_setlogsize(&attr, 123456));
    OK(posix_trace_attr_setmaxdatasize(&attr, 321));
    OK(posix_trace_attr_setinherited(&attr, POSIX_TRACE_INHERITED));
    trace_id_t stream = created_withlog(&attr, log);
    attributes_of(stream, &active);
    OK(posix_trace_shutdown(stream));
    attributes_of(opened(log), &logged);
    OK(posix_trace_attr_getname(&logged, name));
    SAME(name, "a log");
    OK(posix_trace_attr_getstreamfullpolicy(&logged, &policy));
    IS(policy, POSIX_TRACE_UNTIL_FULL);
    OK(posix_trace_attr_getlogfullpolicy(&logged, &policy));
    IS(policy, POSIX_TRACE_APPEND);
    OK(posix_trace_attr_getinherited(&logged, &policy));
    IS(policy, POSIX_TRACE_INHERITED);
    OK(posix_trace_attr_getmaxdatasize(&logged, &size));
    IS(size, 321);
    IS(stream_size_of(&logged), stream_size_of(&active));
    OK(posix_trace_attr_getcreatetime(&active, &was));
    OK(posix_trace_attr_getcreatetime(&logged, &is));
    IS(nanoseconds(is), nanoseconds(was));
    CHECK(nanoseconds(is) > 0);
}

TEST(OPN_06)
{
    struct posix_trace_status_info status = status_of(open_ten());
    IS(status.posix_stream_status, POSIX_TRACE_SUSPENDED);
    IS(status.posix_stream_flush_status, POSIX_TRACE_NOT_FLUSHING);
    IS(status.posix_stream_overrun_status, POSIX_TRACE_NO_OVERRUN);
    IS(status.posix_log_overrun_status, POSIX_TRACE_NO_OVERRUN);
}

TEST(OPN_07)
{
    trace_attr_t attr;
    int log = log_file();
    with_policy(&attr, POSIX_TRACE_LOOP, 20000);
    trace_id_t stream = started_withlog(&attr, log);
    number_events(type("number"), 0, 5000);
    OK(posix_trace_shutdown(stream));
    stream = opened(log);
    struct posix_trace_status_info first = status_of(stream), second = status_of(stream);
    IS(first.posix_stream_overrun_status, POSIX_TRACE_OVERRUN);
    CHECK(memcmp(&first, &second, sizeof first) == 0);
}

TEST(OPN_08)
{
    trace_id_t stream = open_ten();
    while (next_of_log(stream, &record))
        continue;
    for (int count = 0; count < 5; count++)
        CHECK(!next_of_log(stream, &record));
}

TEST(OPN_09)
{
    static struct record again;
    trace_id_t stream = open_ten();
    CHECK(next_of_log(stream, &record));
    CHECK(next_of_log(stream, &record));
    OK(posix_trace_rewind(stream));
    CHECK(next_of_log(stream, &again));
    CHECK(next_of_log(stream, &again));
    are_equal(&record, &again);
    while (next_of_log(stream, &record))
        continue;
    OK(posix_trace_rewind(stream));
    CHECK(next_of_log(stream, &record));
    IS(record.info.posix_event_id, POSIX_TRACE_START);
}

TEST(OPN_10)
{
    trace_id_t stream = open_ten();
    int unavailable = 77;
    size_t length = 77;
    IS(posix_trace_trygetnext_event(stream, &record.info, record.data, 10, &length, &unavailable), EINVAL);
    IS(unavailable, 77);
    IS(length, 77);
}

/* Checks that a file with these bytes is not accepted as a log. */
static void no_log(const void *bytes, size_t length)
{
    int file = log_file();
    trace_id_t stream = -77;
    IS(write(file, bytes, length), length);
    IS(posix_trace_open(file, &stream), EINVAL);
    IS(stream, -77);
}

TEST(OPN_11)
{
    static unsigned char noise[100000];
    trace_id_t stream = -77;
    no_log("", 0);
    no_log("just a text\n", 12);
    no_log(noise, sizeof noise);
    for (size_t at = 0; at < sizeof noise; at++)
        noise[at] = (unsigned char)chance(256);
    no_log(noise, sizeof noise);
    IS(posix_trace_open(open("/", O_RDONLY | O_DIRECTORY), &stream), EINVAL);
    IS(posix_trace_open(open("/proc/self/exe", O_RDONLY), &stream), EINVAL);
    IS(posix_trace_open(open("/dev/null", O_RDONLY), &stream), EINVAL);
    IS(posix_trace_open(gate().in, &stream), EINVAL);
    IS(stream, -77);
}

TEST(OPN_12)
{
    trace_id_t stream = -77;
    IS(posix_trace_open(-1, &stream), EINVAL);
    IS(posix_trace_open(1000, &stream), EINVAL);
    IS(stream, -77);
}

TEST(OPN_13)
{
    trace_id_t stream = -77;
    char path[40];
    snprintf(path, sizeof path, "/proc/self/fd/%d", ten_numbers());
    int file = open(path, O_WRONLY);
    CHECK(file >= 0);
    IS(posix_trace_open(file, &stream), EINVAL);
    IS(stream, -77);
}

TEST(OPN_14)
{
    trace_id_t stream = open_ten();
    OK(posix_trace_close(stream));
    all_refuse(stream);
}

TEST(OPN_15)
{
    trace_id_t stream = started(NULL);
    IS(posix_trace_close(stream), EINVAL);
    IS(posix_trace_close(created_withlog(NULL, log_file())), EINVAL);
    for (int at = 0; at < NO_STREAMS; at++)
        IS(posix_trace_close(no_streams[at]), EINVAL);
    IS(status_of(stream).posix_stream_status, POSIX_TRACE_RUNNING);
}

TEST(OPN_16)
{
    IS(posix_trace_rewind(started(NULL)), EINVAL);
    IS(posix_trace_rewind(created_withlog(NULL, log_file())), EINVAL);
    for (int at = 0; at < NO_STREAMS; at++)
        IS(posix_trace_rewind(no_streams[at]), EINVAL);
}

TEST(OPN_17)
{
    int log = ten_numbers();
    trace_id_t one = opened(log), two = opened(log);
    CHECK(one != two);
    CHECK(next_of_log(one, &record));
    CHECK(next_of_log(one, &record));
    CHECK(next_of_log(two, &record));
    IS(record.info.posix_event_id, POSIX_TRACE_START);
    OK(posix_trace_close(one));
    struct seen seen = {0};
    while (next_of_log(two, &record))
        see(&seen, &record);
    ALL_NUMBERS(seen, 0, 10);
}

/* Reads a log in a process unrelated to the writer. */
ROLE(other_reader)
{
    struct seen seen = read_log(atoi(arguments[0]));
    ALL_NUMBERS(seen, 0, 10);
    IS(seen.pid, atoi(arguments[1]));
    char name[TRACE_EVENT_NAME_MAX + 1];
    trace_id_t stream = opened(atoi(arguments[0]));
    OK(posix_trace_eventid_get_name(stream, POSIX_TRACE_UNNAMED_USER_EVENT + 1, name));
    SAME(name, "number");
}

TEST(OPN_18)
{
    char file[12], pid[12];
    snprintf(file, sizeof file, "%d", dup(ten_numbers()));
    snprintf(pid, sizeof pid, "%d", (int)getpid());
    pid_t reader = start_role("other_reader", (char *[]){file, pid, NULL});
    finished(reader);
}

TEST(OPN_19)
{
    IS(posix_trace_shutdown(open_ten()), EINVAL);
}

TEST(OPN_20)
{
    IS(posix_trace_flush(open_ten()), EINVAL);
}

TEST(OPN_21)
{
    trace_event_set_t set = filled(POSIX_TRACE_ALL_EVENTS);
    IS(posix_trace_set_filter(open_ten(), &set, POSIX_TRACE_SET_EVENTSET), EINVAL);
}

TEST(OPN_22)
{
    trace_id_t stream = open_ten();
    struct seen seen = {0};
    struct timespec past = {0, -1};
    int unavailable = 0;
    for (;;) {
        OK(posix_trace_timedgetnext_event(stream, &record.info, record.data, sizeof record.data,
                                          &record.length, &unavailable, &past));
        if (unavailable)
            break;
        see(&seen, &record);
    }
    ALL_NUMBERS(seen, 0, 10);
}

/* Damage. */

struct image {
    unsigned char *bytes;
    size_t size;
};

static struct image image_of(int log)
{
    struct stat status;
    OK(fstat(log, &status));
    struct image image = {malloc((size_t)status.st_size), (size_t)status.st_size};
    IS(pread(log, image.bytes, image.size, 0), image.size);
    return image;
}

/* Opens a damaged log and reads it. Checks that reading ends. */
static void read_damaged(int log, unsigned long most)
{
    trace_id_t stream = 0;
    trace_event_id_t id;
    char name[TRACE_EVENT_NAME_MAX + 1];
    int result = posix_trace_open(log, &stream), unavailable = 0;
    if (result != 0) {
        IS(result, EINVAL);
        return;
    }
    unsigned long records = 0;
    while (next_of_log(stream, &record))
        CHECK(++records <= most);
    do
        OK(posix_trace_eventtypelist_getnext_id(stream, &id, &unavailable));
    while (!unavailable && posix_trace_eventid_get_name(stream, id, name) == 0);
    CHECK(unavailable);
    status_of(stream);
    OK(posix_trace_close(stream));
}

/* The step to the next offset to test: 1 in a small file and near both ends of a large file, otherwise 61. */
static size_t step_from(size_t at, size_t size)
{
    bool at_an_end = at < 4096 || at + 4096 > size;
    return at_an_end || size < 16384 ? 1 : 61;
}

static void flip_each(const struct image *image)
{
    int log = log_file();
    IS(pwrite(log, image->bytes, image->size, 0), image->size);
    for (size_t at = 0; at < image->size; at += step_from(at, image->size)) {
        unsigned char flipped = image->bytes[at] ^ (at % 3 ? 0xFF : 1 << at % 8);
        IS(pwrite(log, &flipped, 1, (off_t)at), 1);
        read_damaged(log, 1000);
        IS(pwrite(log, &image->bytes[at], 1, (off_t)at), 1);
    }
    close(log);
}

static void cut_each(const struct image *image)
{
    int log = log_file();
    for (size_t length = 0; length < image->size; length += step_from(length, image->size)) {
        OK(ftruncate(log, 0));
        IS(pwrite(log, image->bytes, length, 0), length);
        read_damaged(log, 1000);
    }
    close(log);
}

TEST(OPN_23)
{
    struct image image = image_of(ten_numbers());
    flip_each(&image);
    cut_each(&image);
    free(image.bytes);
}

/* Does the same as OPN_23, with the other log policies. The log with the policy LOOP has wrapped. */
TEST(OWN_14)
{
    trace_attr_t attr;
    const int policies[] = {POSIX_TRACE_APPEND, POSIX_TRACE_LOOP};
    for (int at = 0; at < 2; at++) {
        int log = log_file();
        with_policy(&attr, POSIX_TRACE_LOOP, 20000);
        OK(posix_trace_attr_setlogfullpolicy(&attr, policies[at]));
        OK(posix_trace_attr_setmaxdatasize(&attr, 64));
        OK(posix_trace_attr_setlogsize(&attr, 1));
        trace_id_t stream = started_withlog(&attr, log);
        for (uint32_t number = 0; number < 100; number += 20) {
            number_events(type("number"), number, number + 20);
            OK(posix_trace_flush(stream));
            flushed(stream);
        }
        OK(posix_trace_shutdown(stream));
        struct image image = image_of(log);
        flip_each(&image);
        cut_each(&image);
        free(image.bytes);
    }
}

/* A truncated log contains the first records, in order. */
TEST(OWN_15)
{
    struct image image = image_of(ten_numbers());
    int log = log_file();
    unsigned long most = 0;
    for (size_t length = 0; length < image.size; length += 7) {
        trace_id_t stream = 0;
        struct seen seen = {0};
        OK(ftruncate(log, 0));
        IS(pwrite(log, image.bytes, length, 0), length);
        if (posix_trace_open(log, &stream) != 0)
            continue;
        while (next_of_log(stream, &record))
            see(&seen, &record);
        struct posix_trace_status_info status = status_of(stream);
        IS(status.posix_stream_status, POSIX_TRACE_SUSPENDED);
        IS(status.posix_log_overrun_status, POSIX_TRACE_OVERRUN);
        if (seen.numbered)
            IS(seen.first[0], 0);
        IS(seen.gaps[0], 0);
        most = seen.numbered > most ? seen.numbered : most;
        OK(posix_trace_close(stream));
    }
    IS(most, 10);
}

TEST(OPN_24)
{
    struct seen seen = read_log(ten_numbers());
    IS(seen.last_id, POSIX_TRACE_STOP);
    IS(seen.last_stop, 0);
}

/* Reads the log's first user event into a buffer of the given size. Skips the system events before it. */
static void read_first_user(trace_id_t stream, size_t room)
{
    int unavailable = 0;
    do
        OK(posix_trace_getnext_event(stream, &record.info, record.data, room, &record.length, &unavailable));
    while (!unavailable && !is_user(&record));
    IS(unavailable, 0);
}

TEST(OPN_25)
{
    trace_id_t stream = open_ten();
    read_first_user(stream, 4);
    IS(record.length, 4);
    IS(record.info.posix_truncation_status, POSIX_TRACE_TRUNCATED_READ);
    OK(posix_trace_rewind(stream));
    read_first_user(stream, sizeof record.data);
    IS(record.length, sizeof(struct numbered));
    IS(record.info.posix_truncation_status, POSIX_TRACE_NOT_TRUNCATED);
}

TEST(OPN_26)
{
    int log = ten_numbers();
    IS(lseek(log, 33, SEEK_SET), 33);
    struct seen seen = read_log(log);
    ALL_NUMBERS(seen, 0, 10);
    IS(lseek(log, 0, SEEK_CUR), 33);
    trace_id_t stream = opened(log);
    close(log);
    CHECK(next_of_log(stream, &record));
}

TEST(OPN_27)
{
    trace_id_t stream = open_ten();
    CHECK(posix_trace_eventid_equal(stream, POSIX_TRACE_START, POSIX_TRACE_START));
    IS(posix_trace_eventid_equal(stream, POSIX_TRACE_START, POSIX_TRACE_STOP), 0);
}

/* If the file of an open log changes, the worst result is wrong data. */
TEST(OWN_16)
{
    int log = ten_numbers();
    trace_id_t stream = opened(log);
    OK(ftruncate(log, 10));
    for (int count = 0; count < 1000 && next_of_log(stream, &record); count++)
        continue;
    OK(posix_trace_close(stream));
}
