/* Operations that tests share: numbered events and their checks, logs in unnamed files, and traced processes
 * that execute commands. */
#ifndef STREAMS_H
#define STREAMS_H

#include "harness.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/resource.h>

/* Attributes with a full-stream policy, and with a stream size of at least `stream_size` bytes; 0 keeps the default. */
void with_policy(trace_attr_t *attr, int policy, size_t stream_size);

/* Return a stream that traces the caller: a suspended one (created), or a running one whose START record has not
 * been read (started). The attributes may be null. */
trace_id_t created(const trace_attr_t *attr);
trace_id_t started(const trace_attr_t *attr);

/* A running stream that traces the caller, after its START was read. */
trace_id_t ready(const trace_attr_t *attr);

/* The same as `created` and `started`, with a log. */
trace_id_t created_withlog(const trace_attr_t *attr, int log);
trace_id_t started_withlog(const trace_attr_t *attr, int log);

/* An empty file without a name, open for reading and writing. */
int log_file(void);

/* Limits the size of files that this process writes. */
void limit_files(rlim_t bytes);

/* The stream of an opened log. */
trace_id_t opened(int log);

/* The id of the event type with this name. */
trace_event_id_t type(const char *name);

struct posix_trace_status_info status_of(trace_id_t stream);
void attributes_of(trace_id_t stream, trace_attr_t *attr);
size_t stream_size_of(const trace_attr_t *attr);

/* Waits for the end of a flush. Returns the status, with all overrun flags that were set during the wait. */
struct posix_trace_status_info flushed(trace_id_t stream);

/* A set with up to four ids. Arguments that are 0 are ignored. */
trace_event_set_t set_of(trace_event_id_t a, trace_event_id_t b, trace_event_id_t c, trace_event_id_t d);
trace_event_set_t filled(int what);
bool member(const trace_event_set_t *set, trace_event_id_t id);
trace_event_set_t filter_of(trace_id_t stream);

/* A record that was read. */
struct record {
    struct posix_trace_event_info info;
    size_t length;
    unsigned char data[70000];
};

/* Read the next record of an active stream, or of a log. Return false if there is no further record. */
bool next(trace_id_t stream, struct record *record);
bool next_of_log(trace_id_t stream, struct record *record);
/* Reads the next user event. */
bool next_user(trace_id_t stream, struct record *record);
bool is_user(const struct record *record);
/* The number in the data of ERROR or STOP. */
int number_in(const struct record *record);

/* Event data that tests can check: the writer, a number, and a sum of both and the padding. */
struct numbered {
    uint32_t who;
    uint32_t number;
    uint64_t sum;
};

/* Writers have the numbers 0 to WRITERS - 1. */
enum { WRITERS = 16, LARGEST_FILLING = 256 };

/* Records the event `number` of writer `who` with `filling` bytes of padding. */
void number_event(trace_event_id_t id, uint32_t who, uint32_t number, size_t filling);
/* Records the events `from` to `to` - 1 of writer 0. */
void number_events(trace_event_id_t id, uint32_t from, uint32_t to);

/* A summary of the records that were read. The order and the sums of the numbered events were correct. */
struct seen {
    unsigned long records;
    unsigned long numbered; /* user events, which must all be numbered */
    unsigned long of[9];    /* counts of system events by id */
    unsigned long first[WRITERS];
    unsigned long last[WRITERS];
    unsigned long count[WRITERS];
    unsigned long gaps[WRITERS]; /* missing numbers between first and last */
    int last_id;
    int last_stop;
    bool pids_differ;
    pid_t pid; /* process id of the first user event */
};

void see(struct seen *seen, const struct record *record);
struct seen read_all(trace_id_t stream);
struct seen read_log(int log);
/* Checks that writer 0 has the events `from` to `to` - 1, each once. */
#define ALL_NUMBERS(seen, from, to)                                                       \
    do {                                                                                  \
        IS((seen).first[0], from);                                                        \
        IS((seen).last[0], (to) - 1);                                                     \
        IS((seen).count[0], (to) - (from));                                               \
    } while (0)

/* Checks that every function with a stream id returns EINVAL for this id. */
void all_refuse(trace_id_t stream);

/* Numbers that are never ids of streams. */
extern const trace_id_t no_streams[];
enum { NO_STREAMS = 6 };

/* A traced process that executes one command at a time. */
struct traced {
    pid_t pid;
    int orders;
    int answers;
};

/* Start a traced process: a child with this image, or a child with a new image. */
struct traced traced_child(void);
struct traced traced_image(void);
/* Opens a name in the traced process and returns its id. Later events have this type. */
trace_event_id_t traced_open(struct traced *traced, const char *name);
/* Records the events `from` to `to` - 1 in the traced process. */
void traced_numbers(struct traced *traced, uint32_t from, uint32_t to);
/* Replaces the program image of the traced process (exec). */
void traced_exec(struct traced *traced);
/* Ends the traced process and checks its exit status. */
void traced_end(struct traced *traced);

/* A running stream that traces another process. */
trace_id_t tracing(pid_t pid, const trace_attr_t *attr);

#endif
