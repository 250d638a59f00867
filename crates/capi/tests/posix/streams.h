/* What tests do to streams and logs: numbered events, reading all of them, logs in unnamed files,
 * traced processes that do what they are told. */
#ifndef STREAMS_H
#define STREAMS_H

#include "harness.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/resource.h>

/* Attributes with a stream policy, and a stream of at least that many bytes if not 0. */
void with_policy(trace_attr_t *attr, int policy, size_t stream_size);

/* A stream of the caller (attributes may be null); suspended, or running with its START not read yet. */
trace_id_t created(const trace_attr_t *attr);
trace_id_t started(const trace_attr_t *attr);

/* The same, with its START read. */
trace_id_t ready(const trace_attr_t *attr);

/* The first two with a log. */
trace_id_t created_withlog(const trace_attr_t *attr, int log);
trace_id_t started_withlog(const trace_attr_t *attr, int log);

/* An empty file without a name, open for reading and writing. */
int log_file(void);

/* Files of this process may grow no further than this. */
void limit_files(rlim_t bytes);

/* A stream over a log. */
trace_id_t opened(int log);

/* The id of an event type by its name. */
trace_event_id_t type(const char *name);

struct posix_trace_status_info status_of(trace_id_t stream);
void attributes_of(trace_id_t stream, trace_attr_t *attr);
size_t stream_size_of(const trace_attr_t *attr);

/* Waits until a flush is over; its status. Flags that reading clears are gathered on the way. */
struct posix_trace_status_info flushed(trace_id_t stream);

/* A set with up to four ids; 0 stands for none. */
trace_event_set_t set_of(trace_event_id_t a, trace_event_id_t b, trace_event_id_t c, trace_event_id_t d);
trace_event_set_t filled(int what);
bool member(const trace_event_set_t *set, trace_event_id_t id);
trace_event_set_t filter_of(trace_id_t stream);

/* A record as read. */
struct record {
    struct posix_trace_event_info info;
    size_t length;
    unsigned char data[70000];
};

/* Reads the next record of an active stream, or of a log; false when there is none. */
bool next(trace_id_t stream, struct record *record);
bool next_of_log(trace_id_t stream, struct record *record);
/* The next user event. */
bool next_user(trace_id_t stream, struct record *record);
bool is_user(const struct record *record);
/* The int that ERROR and STOP have. */
int number_in(const struct record *record);

/* An event that can be checked: who, which, and a sum over both and the filling. */
struct numbered {
    uint32_t who;
    uint32_t number;
    uint64_t sum;
};

/* Who may be 0 to WRITERS - 1. */
enum { WRITERS = 16, LARGEST_FILLING = 256 };

/* Records number `number` of writer `who` with so many bytes of filling. */
void number_event(trace_event_id_t id, uint32_t who, uint32_t number, size_t filling);
/* Numbers `from` to `to` - 1 of writer 0. */
void number_events(trace_event_id_t id, uint32_t from, uint32_t to);

/* What was read: the order and the sum of every numbered event have been checked on the way. */
struct seen {
    unsigned long records;
    unsigned long numbered; /* user events, all of them numbered */
    unsigned long of[9];    /* system events by their id */
    unsigned long first[WRITERS];
    unsigned long last[WRITERS];
    unsigned long count[WRITERS];
    unsigned long gaps[WRITERS]; /* numbers left out between first and last */
    int last_id;
    int last_stop;
    bool pids_differ;
    pid_t pid; /* of the first user event */
};

void see(struct seen *seen, const struct record *record);
struct seen read_all(trace_id_t stream);
struct seen read_log(int log);
/* Writer 0 has `from` to `to` - 1, each once. */
#define ALL_NUMBERS(seen, from, to)                                                       \
    do {                                                                                  \
        IS((seen).first[0], from);                                                        \
        IS((seen).last[0], (to) - 1);                                                     \
        IS((seen).count[0], (to) - (from));                                               \
    } while (0)

/* Every function that takes a stream answers EINVAL. */
void all_refuse(trace_id_t stream);

/* Ids that never are streams. */
extern const trace_id_t no_streams[];
enum { NO_STREAMS = 6 };

/* A traced process that does what it is told, one thing at a time. */
struct traced {
    pid_t pid;
    int orders;
    int answers;
};

/* A child with this image, and one with a new image. */
struct traced traced_child(void);
struct traced traced_image(void);
/* Opens a name there: its id. Later numbers are of this type. */
trace_event_id_t traced_open(struct traced *traced, const char *name);
/* Records `from` to `to` - 1 there. */
void traced_numbers(struct traced *traced, uint32_t from, uint32_t to);
/* Continues in a new image. */
void traced_exec(struct traced *traced);
/* Ends it; it must have been unharmed. */
void traced_end(struct traced *traced);

/* A running stream that traces another process. */
trace_id_t tracing(pid_t pid, const trace_attr_t *attr);

#endif
