/* Functions with which the tests create, read and check streams and logs. */
#include "streams.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

const trace_id_t no_streams[NO_STREAMS] = {0, -1, -12345, 0x7fffffff, 0x7ffffffe, -0x7fffffff - 1};

void with_policy(trace_attr_t *attr, int policy, size_t stream_size)
{
    OK(posix_trace_attr_init(attr));
    OK(posix_trace_attr_setstreamfullpolicy(attr, policy));
    if (stream_size)
        OK(posix_trace_attr_setstreamsize(attr, stream_size));
}

trace_id_t created(const trace_attr_t *attr)
{
    trace_id_t stream = 0;
    OK(posix_trace_create(0, attr, &stream));
    CHECK(stream > 0);
    return stream;
}

trace_id_t started(const trace_attr_t *attr)
{
    trace_id_t stream = created(attr);
    OK(posix_trace_start(stream));
    return stream;
}

trace_id_t ready(const trace_attr_t *attr)
{
    static _Thread_local struct record record;
    trace_id_t stream = started(attr);
    CHECK(next(stream, &record));
    IS(record.info.posix_event_id, POSIX_TRACE_START);
    return stream;
}

trace_id_t created_withlog(const trace_attr_t *attr, int log)
{
    trace_id_t stream = 0;
    OK(posix_trace_create_withlog(0, attr, log, &stream));
    CHECK(stream > 0);
    return stream;
}

trace_id_t started_withlog(const trace_attr_t *attr, int log)
{
    trace_id_t stream = created_withlog(attr, log);
    OK(posix_trace_start(stream));
    return stream;
}

int log_file(void)
{
    int log = memfd_create("log", MFD_CLOEXEC);
    CHECK(log >= 0);
    return log;
}

void limit_files(rlim_t bytes)
{
    struct rlimit limit = {bytes, RLIM_INFINITY};
    OK(setrlimit(RLIMIT_FSIZE, &limit));
}

trace_id_t opened(int log)
{
    trace_id_t stream = 0;
    OK(posix_trace_open(log, &stream));
    CHECK(stream > 0);
    return stream;
}

trace_event_id_t type(const char *name)
{
    trace_event_id_t id = 0;
    OK(posix_trace_eventid_open(name, &id));
    return id;
}

struct posix_trace_status_info status_of(trace_id_t stream)
{
    struct posix_trace_status_info status;
    memset(&status, 0x55, sizeof status);
    OK(posix_trace_get_status(stream, &status));
    return status;
}

void attributes_of(trace_id_t stream, trace_attr_t *attr)
{
    memset(attr, 0x55, sizeof *attr);
    OK(posix_trace_get_attr(stream, attr));
}

size_t stream_size_of(const trace_attr_t *attr)
{
    size_t size = 0;
    OK(posix_trace_attr_getstreamsize(attr, &size));
    return size;
}

struct posix_trace_status_info flushed(trace_id_t stream)
{
    struct posix_trace_status_info gathered = status_of(stream);
    while (gathered.posix_stream_flush_status == POSIX_TRACE_FLUSHING) {
        sleep_ms(1);
        struct posix_trace_status_info later = status_of(stream);
        later.posix_stream_overrun_status |= gathered.posix_stream_overrun_status;
        later.posix_log_overrun_status |= gathered.posix_log_overrun_status;
        if (gathered.posix_stream_flush_error)
            later.posix_stream_flush_error = gathered.posix_stream_flush_error;
        gathered = later;
    }
    return gathered;
}

trace_event_set_t set_of(trace_event_id_t a, trace_event_id_t b, trace_event_id_t c, trace_event_id_t d)
{
    trace_event_set_t set;
    const trace_event_id_t ids[] = {a, b, c, d};
    OK(posix_trace_eventset_empty(&set));
    for (int at = 0; at < 4; at++)
        if (ids[at])
            OK(posix_trace_eventset_add(ids[at], &set));
    return set;
}

trace_event_set_t filled(int what)
{
    trace_event_set_t set;
    OK(posix_trace_eventset_fill(&set, what));
    return set;
}

bool member(const trace_event_set_t *set, trace_event_id_t id)
{
    int is = -1;
    OK(posix_trace_eventset_ismember(id, set, &is));
    return is != 0;
}

trace_event_set_t filter_of(trace_id_t stream)
{
    trace_event_set_t set;
    OK(posix_trace_get_filter(stream, &set));
    return set;
}

/* Reading. */

bool next(trace_id_t stream, struct record *record)
{
    int unavailable = -1;
    OK(posix_trace_trygetnext_event(stream, &record->info, record->data, sizeof record->data,
                                    &record->length, &unavailable));
    return !unavailable;
}

bool next_of_log(trace_id_t stream, struct record *record)
{
    int unavailable = -1;
    OK(posix_trace_getnext_event(stream, &record->info, record->data, sizeof record->data, &record->length,
                                 &unavailable));
    return !unavailable;
}

bool is_user(const struct record *record)
{
    return record->info.posix_event_id >= POSIX_TRACE_UNNAMED_USER_EVENT;
}

bool next_user(trace_id_t stream, struct record *record)
{
    bool there = next(stream, record);
    while (there && !is_user(record))
        there = next(stream, record);
    return there;
}

int number_in(const struct record *record)
{
    int number;
    IS(record->length, sizeof number);
    memcpy(&number, record->data, sizeof number);
    return number;
}

static uint64_t sum_of(uint32_t who, uint32_t number, const unsigned char *filling, size_t size)
{
    uint64_t sum = ((uint64_t)who << 32 | number) * 0x9E3779B97F4A7C15 + size;
    for (size_t at = 0; at < size; at++)
        sum = (sum ^ filling[at]) * 0x100000001B3;
    return sum;
}

void number_event(trace_event_id_t id, uint32_t who, uint32_t number, size_t filling)
{
    unsigned char bytes[sizeof(struct numbered) + LARGEST_FILLING];
    unsigned char *fill = bytes + sizeof(struct numbered);
    memset(fill, (int)(number + who) & 0xff, filling);
    struct numbered numbered = {who, number, sum_of(who, number, fill, filling)};
    memcpy(bytes, &numbered, sizeof numbered);
    posix_trace_event(id, bytes, sizeof numbered + filling);
}

void number_events(trace_event_id_t id, uint32_t from, uint32_t to)
{
    for (uint32_t number = from; number < to; number++)
        number_event(id, 0, number, 0);
}

static void see_numbered(struct seen *seen, const struct record *record)
{
    struct numbered numbered;
    CHECK(record->length >= sizeof numbered);
    memcpy(&numbered, record->data, sizeof numbered);
    size_t filling = record->length - sizeof numbered;
    CHECK(numbered.sum == sum_of(numbered.who, numbered.number, record->data + sizeof numbered, filling));
    CHECK(numbered.who < WRITERS);
    uint32_t who = numbered.who;
    if (seen->count[who] == 0) {
        seen->first[who] = numbered.number;
    } else {
        CHECK(numbered.number > seen->last[who]);
        seen->gaps[who] += numbered.number - seen->last[who] - 1;
    }
    seen->last[who] = numbered.number;
    seen->count[who]++;
}

void see(struct seen *seen, const struct record *record)
{
    trace_event_id_t id = record->info.posix_event_id;
    seen->records++;
    seen->last_id = (int)id;
    if (!is_user(record)) {
        CHECK(id >= POSIX_TRACE_ERROR && id <= POSIX_TRACE_FLUSH_STOP);
        seen->of[id]++;
        if (id == POSIX_TRACE_STOP)
            seen->last_stop = number_in(record);
        return;
    }
    if (seen->numbered++ == 0)
        seen->pid = record->info.posix_pid;
    seen->pids_differ = seen->pids_differ || seen->pid != record->info.posix_pid;
    see_numbered(seen, record);
}

struct seen read_all(trace_id_t stream)
{
    static _Thread_local struct record record;
    struct seen seen = {0};
    while (next(stream, &record))
        see(&seen, &record);
    return seen;
}

struct seen read_log(int log)
{
    static _Thread_local struct record record;
    struct seen seen = {0};
    trace_id_t stream = opened(log);
    while (next_of_log(stream, &record))
        see(&seen, &record);
    OK(posix_trace_close(stream));
    return seen;
}

/* Invalid ids. */

static void control_refuses(trace_id_t stream)
{
    trace_attr_t attr;
    struct posix_trace_status_info status;
    trace_event_set_t set = filled(POSIX_TRACE_ALL_EVENTS);
    IS(posix_trace_start(stream), EINVAL);
    IS(posix_trace_stop(stream), EINVAL);
    IS(posix_trace_clear(stream), EINVAL);
    IS(posix_trace_flush(stream), EINVAL);
    IS(posix_trace_get_attr(stream, &attr), EINVAL);
    IS(posix_trace_get_status(stream, &status), EINVAL);
    IS(posix_trace_get_filter(stream, &set), EINVAL);
    IS(posix_trace_set_filter(stream, &set, POSIX_TRACE_SET_EVENTSET), EINVAL);
    IS(posix_trace_rewind(stream), EINVAL);
    IS(posix_trace_close(stream), EINVAL);
    IS(posix_trace_shutdown(stream), EINVAL);
}

static void types_refuse(trace_id_t stream)
{
    trace_event_id_t id;
    int unavailable;
    char name[TRACE_EVENT_NAME_MAX + 1];
    IS(posix_trace_trid_eventid_open(stream, "name", &id), EINVAL);
    IS(posix_trace_eventid_get_name(stream, POSIX_TRACE_START, name), EINVAL);
    IS(posix_trace_eventtypelist_getnext_id(stream, &id, &unavailable), EINVAL);
    IS(posix_trace_eventtypelist_rewind(stream), EINVAL);
}

static void readers_refuse(trace_id_t stream)
{
    struct posix_trace_event_info info;
    size_t length;
    int unavailable;
    struct timespec soon = in_ms(100);
    IS(posix_trace_getnext_event(stream, &info, NULL, 0, &length, &unavailable), EINVAL);
    IS(posix_trace_trygetnext_event(stream, &info, NULL, 0, &length, &unavailable), EINVAL);
    IS(posix_trace_timedgetnext_event(stream, &info, NULL, 0, &length, &unavailable, &soon), EINVAL);
}

void all_refuse(trace_id_t stream)
{
    control_refuses(stream);
    types_refuse(stream);
    readers_refuse(stream);
}

/* Traced processes. */

struct order {
    char what;
    char name[TRACE_EVENT_NAME_MAX + 1];
    uint32_t from;
    uint32_t to;
};

static void become_image(int orders, int answers)
{
    char in[16], out[16];
    snprintf(in, sizeof in, "%d", orders);
    snprintf(out, sizeof out, "%d", answers);
    become_role("obedient", (char *[]){in, out, NULL});
}

/* Executes commands until it receives the command to end. */
static _Noreturn void obey(int orders, int answers)
{
    struct order order;
    trace_event_id_t id = 0;
    while (read(orders, &order, sizeof order) == sizeof order) {
        if (order.what == 'o')
            id = type(order.name);
        if (order.what == 'n')
            number_events(id, order.from, order.to);
        if (order.what == 'x')
            become_image(orders, answers);
        if (order.what == 'q')
            done();
        IS(write(answers, &id, sizeof id), sizeof id);
    }
    done();
}

ROLE(obedient)
{
    int orders = atoi(arguments[0]), answers = atoi(arguments[1]);
    trace_event_id_t ready = 0;
    IS(write(answers, &ready, sizeof ready), sizeof ready);
    obey(orders, answers);
}

static trace_event_id_t answer_of(struct traced *traced)
{
    trace_event_id_t answer = 0;
    IS(read(traced->answers, &answer, sizeof answer), sizeof answer);
    return answer;
}

static struct traced traced_process(bool image)
{
    struct gate orders = gate(), answers = gate();
    pid_t child = forked();
    if (child == 0) {
        close(orders.out);
        close(answers.in);
        if (image)
            become_image(orders.in, answers.out);
        obey(orders.in, answers.out);
    }
    close(orders.in);
    close(answers.out);
    struct traced traced = {child, orders.out, answers.in};
    if (image)
        answer_of(&traced);
    return traced;
}

struct traced traced_child(void)
{
    return traced_process(false);
}

struct traced traced_image(void)
{
    return traced_process(true);
}

static trace_event_id_t told(struct traced *traced, const struct order *order)
{
    IS(write(traced->orders, order, sizeof *order), sizeof *order);
    return answer_of(traced);
}

trace_event_id_t traced_open(struct traced *traced, const char *name)
{
    struct order order = {.what = 'o'};
    strncpy(order.name, name, TRACE_EVENT_NAME_MAX);
    return told(traced, &order);
}

void traced_numbers(struct traced *traced, uint32_t from, uint32_t to)
{
    struct order order = {.what = 'n', .from = from, .to = to};
    told(traced, &order);
}

void traced_exec(struct traced *traced)
{
    struct order order = {.what = 'x'};
    told(traced, &order);
}

void traced_end(struct traced *traced)
{
    struct order order = {.what = 'q'};
    IS(write(traced->orders, &order, sizeof order), sizeof order);
    finished(traced->pid);
    close(traced->orders);
    close(traced->answers);
}

trace_id_t tracing(pid_t pid, const trace_attr_t *attr)
{
    trace_id_t stream = 0;
    OK(posix_trace_create(pid, attr, &stream));
    OK(posix_trace_start(stream));
    return stream;
}
