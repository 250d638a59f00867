/* Event types: names, ids, and the list of them. */
#include "streams.h"

#include <stdio.h>
#include <string.h>

static const char *const system_names[] = {
    "",
    "posix_trace_error",
    "posix_trace_start",
    "posix_trace_stop",
    "posix_trace_overflow",
    "posix_trace_resume",
    "posix_trace_filter",
    "posix_trace_flush_start",
    "posix_trace_flush_stop",
};

static const char unnamed[] = "posix_trace_unnamed_userevent";

static const char *name_of(trace_id_t stream, trace_event_id_t id)
{
    static char name[TRACE_EVENT_NAME_MAX + 1];
    memset(name, 'x', sizeof name);
    OK(posix_trace_eventid_get_name(stream, id, name));
    CHECK(memchr(name, 0, sizeof name));
    return name;
}

/* The name of the event type with this number. */
static const char *numbered_name(int number)
{
    static _Thread_local char name[32];
    snprintf(name, sizeof name, "type %d", number);
    return name;
}

/* A name of the given length. */
static const char *long_name(size_t length)
{
    static char name[TRACE_EVENT_NAME_MAX + 100];
    memset(name, 'n', length);
    name[length] = 0;
    return name;
}

TEST(EID_01)
{
    trace_event_id_t id = type("same");
    type("other");
    IS(type("same"), id);
}

TEST(EID_02)
{
    CHECK(type("one") != type("two"));
    CHECK(type("One") != type("one"));
    CHECK(type("") != type(" "));
}

TEST(EID_03)
{
    trace_event_id_t id = type(long_name(TRACE_EVENT_NAME_MAX));
    CHECK(id != type(long_name(TRACE_EVENT_NAME_MAX - 1)));
    SAME(name_of(created(NULL), id), long_name(TRACE_EVENT_NAME_MAX));
}

TEST(EID_04)
{
    trace_event_id_t id = 77;
    IS(posix_trace_eventid_open(long_name(TRACE_EVENT_NAME_MAX + 1), &id), ENAMETOOLONG);
    IS(posix_trace_eventid_open(long_name(TRACE_EVENT_NAME_MAX + 90), &id), ENAMETOOLONG);
    IS(id, 77);
}

TEST(EID_05)
{
    trace_event_id_t id = type("early");
    SAME(name_of(created(NULL), id), "early");
}

TEST(EID_06)
{
    trace_event_id_t ids[_POSIX_TRACE_USER_EVENT_MAX];
    for (int at = 0; at < _POSIX_TRACE_USER_EVENT_MAX; at++) {
        ids[at] = type(numbered_name(at));
        CHECK(ids[at] != POSIX_TRACE_UNNAMED_USER_EVENT);
        for (int other = 0; other < at; other++)
            CHECK(ids[at] != ids[other]);
    }
}

/* Opens as many names as there are ids for names. */
static void open_all_names(void)
{
    for (int at = 0; at < TRACE_USER_EVENT_MAX; at++)
        CHECK(type(numbered_name(at)) != POSIX_TRACE_UNNAMED_USER_EVENT);
}

TEST(EID_07)
{
    open_all_names();
    IS(type("one too many"), POSIX_TRACE_UNNAMED_USER_EVENT);
    IS(type("two too many"), POSIX_TRACE_UNNAMED_USER_EVENT);
    trace_event_id_t id = 0;
    OK(posix_trace_trid_eventid_open(created(NULL), "three too many", &id));
    IS(id, POSIX_TRACE_UNNAMED_USER_EVENT);
}

TEST(EID_08)
{
    trace_event_id_t first = type(numbered_name(0)), last;
    open_all_names();
    last = type(numbered_name(TRACE_USER_EVENT_MAX - 1));
    type("one too many");
    IS(type(numbered_name(0)), first);
    IS(type(numbered_name(TRACE_USER_EVENT_MAX - 1)), last);
}

TEST(EID_09)
{
    trace_event_id_t id = 77;
    IS(posix_trace_eventid_open(NULL, &id), EINVAL);
    IS(posix_trace_eventid_open("name", NULL), EINVAL);
    trace_id_t stream = created(NULL);
    IS(posix_trace_trid_eventid_open(stream, NULL, &id), EINVAL);
    IS(posix_trace_trid_eventid_open(stream, "name", NULL), EINVAL);
    IS(posix_trace_eventid_get_name(stream, POSIX_TRACE_START, NULL), EINVAL);
    IS(id, 77);
}

static pthread_barrier_t together;

static void *open_many(void *ids)
{
    pthread_barrier_wait(&together);
    for (int at = 0; at < 100; at++)
        ((trace_event_id_t *)ids)[at] = type(numbered_name(at));
    return NULL;
}

TEST(EID_10)
{
    static trace_event_id_t ids[8][100];
    pthread_t threads[8];
    OK(pthread_barrier_init(&together, NULL, 8));
    for (int at = 0; at < 8; at++)
        threads[at] = thread(open_many, ids[at]);
    for (int at = 0; at < 8; at++)
        joined(threads[at]);
    for (int at = 1; at < 8; at++)
        CHECK(memcmp(ids[at], ids[0], sizeof ids[0]) == 0);
    for (int name = 0; name < 100; name++)
        for (int other = 0; other < name; other++)
            CHECK(ids[0][name] != ids[0][other]);
}

TEST(EID_11)
{
    trace_id_t stream = created(NULL);
    trace_event_id_t id = 0;
    OK(posix_trace_trid_eventid_open(stream, "through the stream", &id));
    IS(type("through the stream"), id);
    trace_event_id_t known = type("known before");
    OK(posix_trace_trid_eventid_open(stream, "known before", &id));
    IS(id, known);
}

TEST(EID_12)
{
    trace_event_id_t id = 77;
    for (int at = 0; at < NO_STREAMS; at++)
        IS(posix_trace_trid_eventid_open(no_streams[at], "name", &id), EINVAL);
    IS(id, 77);
}

TEST(EID_13)
{
    trace_event_id_t id = 77;
    trace_id_t stream = created(NULL);
    IS(posix_trace_trid_eventid_open(stream, long_name(TRACE_EVENT_NAME_MAX + 1), &id), ENAMETOOLONG);
    IS(id, 77);
}

TEST(EID_14)
{
    int log = log_file();
    trace_event_id_t id = 77;
    type("name");
    OK(posix_trace_shutdown(created_withlog(NULL, log)));
    IS(posix_trace_trid_eventid_open(opened(log), "name", &id), EINVAL);
    IS(id, 77);
}

TEST(EID_15)
{
    trace_id_t stream = created(NULL);
    trace_event_id_t id = type("a user's event");
    SAME(name_of(stream, id), "a user's event");
    SAME(name_of(stream, type("")), "");
}

TEST(EID_16)
{
    trace_id_t stream = created(NULL);
    for (trace_event_id_t id = POSIX_TRACE_ERROR; id <= POSIX_TRACE_FLUSH_STOP; id++)
        SAME(name_of(stream, id), system_names[id]);
}

TEST(EID_17)
{
    SAME(name_of(created(NULL), POSIX_TRACE_UNNAMED_USER_EVENT), unnamed);
}

TEST(EID_18)
{
    trace_id_t stream = created(NULL);
    char name[TRACE_EVENT_NAME_MAX + 1] = "kept";
    const trace_event_id_t ids[] = {0, 9, 63, type("last") + 1, 100000, 0xffffffff};
    for (int at = 0; at < 6; at++)
        IS(posix_trace_eventid_get_name(stream, ids[at], name), EINVAL);
    SAME(name, "kept");
}

TEST(EID_19)
{
    char name[TRACE_EVENT_NAME_MAX + 1] = "kept";
    for (int at = 0; at < NO_STREAMS; at++)
        IS(posix_trace_eventid_get_name(no_streams[at], POSIX_TRACE_START, name), EINVAL);
    SAME(name, "kept");
}

TEST(EID_20)
{
    trace_id_t stream = created(NULL), other = created(NULL);
    trace_event_id_t id = type("steady");
    for (int count = 0; count < 3; count++) {
        SAME(name_of(stream, id), "steady");
        SAME(name_of(other, id), "steady");
        type(numbered_name(count));
    }
}

TEST(EID_21)
{
    trace_id_t stream = created(NULL);
    CHECK(posix_trace_eventid_equal(stream, type("one"), type("one")));
    CHECK(posix_trace_eventid_equal(stream, POSIX_TRACE_STOP, POSIX_TRACE_STOP));
}

TEST(EID_22)
{
    trace_id_t stream = created(NULL);
    IS(posix_trace_eventid_equal(stream, type("one"), type("two")), 0);
    IS(posix_trace_eventid_equal(stream, POSIX_TRACE_START, POSIX_TRACE_STOP), 0);
    IS(posix_trace_eventid_equal(stream, POSIX_TRACE_START, type("one")), 0);
}

TEST(EID_23)
{
    IS(type(unnamed), POSIX_TRACE_UNNAMED_USER_EVENT);
}

TEST(EID_24)
{
    for (int at = 0; at < 40; at++)
        CHECK(type(numbered_name(at)) >= POSIX_TRACE_UNNAMED_USER_EVENT);
    /* A user event type may have the name of a system event type. */
    CHECK(type("posix_trace_start") > POSIX_TRACE_UNNAMED_USER_EVENT);
}

/* The list of event types. */

static bool next_type(trace_id_t stream, trace_event_id_t *id)
{
    int unavailable = -1;
    OK(posix_trace_eventtypelist_getnext_id(stream, id, &unavailable));
    return !unavailable;
}

/* Counts how often an id is in the rest of the list. */
static int times_listed(trace_id_t stream, trace_event_id_t wanted)
{
    int times = 0;
    trace_event_id_t id;
    while (next_type(stream, &id))
        times += id == wanted;
    OK(posix_trace_eventtypelist_rewind(stream));
    return times;
}

TEST(LST_01)
{
    trace_id_t stream = created(NULL);
    for (trace_event_id_t id = POSIX_TRACE_ERROR; id <= POSIX_TRACE_FLUSH_STOP; id++)
        IS(times_listed(stream, id), 1);
    IS(times_listed(stream, POSIX_TRACE_UNNAMED_USER_EVENT), 1);
}

TEST(LST_02)
{
    trace_event_id_t before = type("before");
    trace_id_t stream = started(NULL);
    trace_event_id_t after = type("after");
    posix_trace_event(after, NULL, 0);
    IS(times_listed(stream, before), 1);
    IS(times_listed(stream, after), 1);
}

TEST(LST_03)
{
    trace_id_t stream = created(NULL);
    trace_event_id_t id = 0;
    while (next_type(stream, &id))
        continue;
    id = 77;
    CHECK(!next_type(stream, &id));
    CHECK(!next_type(stream, &id));
    IS(id, 77);
    IS(posix_trace_eventtypelist_getnext_id(stream, NULL, &(int){0}), EINVAL);
    IS(posix_trace_eventtypelist_getnext_id(stream, &id, NULL), EINVAL);
}

TEST(LST_04)
{
    type("one");
    type("two");
    trace_id_t stream = created(NULL);
    trace_event_id_t id;
    while (next_type(stream, &id))
        name_of(stream, id);
}

TEST(LST_05)
{
    trace_id_t stream = created(NULL);
    trace_event_id_t first, id;
    CHECK(next_type(stream, &first));
    CHECK(next_type(stream, &id));
    CHECK(next_type(stream, &id));
    OK(posix_trace_eventtypelist_rewind(stream));
    CHECK(next_type(stream, &id));
    IS(id, first);
}

TEST(LST_06)
{
    trace_id_t stream = created(NULL);
    trace_event_id_t id;
    while (next_type(stream, &id))
        continue;
    trace_event_id_t late = type("late");
    CHECK(next_type(stream, &id));
    IS(id, late);
    CHECK(!next_type(stream, &id));
}

TEST(LST_07)
{
    trace_event_id_t id = 77;
    int unavailable = 77;
    for (int at = 0; at < NO_STREAMS; at++)
        IS(posix_trace_eventtypelist_getnext_id(no_streams[at], &id, &unavailable), EINVAL);
    IS(id, 77);
    IS(unavailable, 77);
}

TEST(LST_08)
{
    for (int at = 0; at < NO_STREAMS; at++)
        IS(posix_trace_eventtypelist_rewind(no_streams[at]), EINVAL);
}

TEST(LST_09)
{
    trace_id_t one = created(NULL), two = created(NULL);
    trace_event_id_t first, id;
    CHECK(next_type(one, &first));
    CHECK(next_type(one, &id));
    CHECK(next_type(two, &id));
    IS(id, first);
}
