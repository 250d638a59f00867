/* Sets of event types. */
#include "streams.h"

#include <string.h>

enum { FIRST_NAMED = POSIX_TRACE_UNNAMED_USER_EVENT + 1, LAST = POSIX_TRACE_UNNAMED_USER_EVENT + TRACE_USER_EVENT_MAX };

/* Returns the number of event type ids that are in the set. */
static int members(const trace_event_set_t *set)
{
    int count = 0;
    for (trace_event_id_t id = POSIX_TRACE_ERROR; id <= LAST; id++)
        count += member(set, id);
    return count;
}

static int user_members(const trace_event_set_t *set)
{
    int count = 0;
    for (trace_event_id_t id = POSIX_TRACE_UNNAMED_USER_EVENT; id <= LAST; id++)
        count += member(set, id);
    return count;
}

TEST(SET_01)
{
    trace_event_set_t set;
    memset(&set, 0xAA, sizeof set);
    OK(posix_trace_eventset_empty(&set));
    IS(members(&set), 0);
}

TEST(SET_02)
{
    trace_event_id_t id = type("user");
    trace_event_set_t set = filled(POSIX_TRACE_ALL_EVENTS);
    for (trace_event_id_t system = POSIX_TRACE_ERROR; system <= POSIX_TRACE_FLUSH_STOP; system++)
        CHECK(member(&set, system));
    CHECK(member(&set, POSIX_TRACE_UNNAMED_USER_EVENT));
    CHECK(member(&set, id));
}

TEST(SET_03)
{
    trace_event_set_t set = filled(POSIX_TRACE_SYSTEM_EVENTS);
    for (trace_event_id_t id = POSIX_TRACE_ERROR; id <= POSIX_TRACE_FLUSH_STOP; id++)
        CHECK(member(&set, id));
    IS(user_members(&set), 0);
}

TEST(SET_04)
{
    trace_event_set_t set = filled(POSIX_TRACE_WOPID_EVENTS), all = filled(POSIX_TRACE_SYSTEM_EVENTS);
    for (trace_event_id_t id = POSIX_TRACE_ERROR; id <= LAST; id++)
        CHECK(!member(&set, id) || member(&all, id));
    IS(user_members(&set), 0);
}

TEST(SET_05)
{
    trace_event_set_t set = set_of(POSIX_TRACE_START, 0, 0, 0);
    const int others[] = {0, 4, -1, 0x7fffffff};
    for (int at = 0; at < 4; at++)
        IS(posix_trace_eventset_fill(&set, others[at]), EINVAL);
    CHECK(member(&set, POSIX_TRACE_START));
    IS(members(&set), 1);
}

TEST(SET_06)
{
    const trace_event_id_t ids[] = {POSIX_TRACE_ERROR, POSIX_TRACE_FLUSH_STOP,
                                    POSIX_TRACE_UNNAMED_USER_EVENT, FIRST_NAMED, LAST - 1, LAST};
    for (int at = 0; at < 6; at++) {
        trace_event_set_t set = set_of(0, 0, 0, 0);
        OK(posix_trace_eventset_add(ids[at], &set));
        CHECK(member(&set, ids[at]));
        IS(members(&set), 1);
    }
}

TEST(SET_07)
{
    trace_event_set_t set = set_of(FIRST_NAMED, 0, 0, 0);
    OK(posix_trace_eventset_add(FIRST_NAMED, &set));
    CHECK(member(&set, FIRST_NAMED));
    IS(members(&set), 1);
}

TEST(SET_08)
{
    trace_event_set_t set = filled(POSIX_TRACE_ALL_EVENTS);
    int all = members(&set);
    OK(posix_trace_eventset_del(POSIX_TRACE_STOP, &set));
    OK(posix_trace_eventset_del(LAST, &set));
    CHECK(!member(&set, POSIX_TRACE_STOP));
    CHECK(!member(&set, LAST));
    IS(members(&set), all - 2);
}

TEST(SET_09)
{
    trace_event_set_t set = set_of(POSIX_TRACE_STOP, 0, 0, 0);
    OK(posix_trace_eventset_del(POSIX_TRACE_START, &set));
    OK(posix_trace_eventset_del(LAST, &set));
    IS(members(&set), 1);
}

TEST(SET_10)
{
    trace_event_set_t set = filled(POSIX_TRACE_ALL_EVENTS);
    int is = 77;
    IS(posix_trace_eventset_empty(NULL), EINVAL);
    IS(posix_trace_eventset_fill(NULL, POSIX_TRACE_ALL_EVENTS), EINVAL);
    IS(posix_trace_eventset_add(POSIX_TRACE_START, NULL), EINVAL);
    IS(posix_trace_eventset_del(POSIX_TRACE_START, NULL), EINVAL);
    IS(posix_trace_eventset_ismember(POSIX_TRACE_START, NULL, &is), EINVAL);
    IS(posix_trace_eventset_ismember(POSIX_TRACE_START, &set, NULL), EINVAL);
    IS(is, 77);
}

TEST(SET_11)
{
    trace_event_set_t set, zeros;
    int is = 77;
    memset(&zeros, 0, sizeof zeros);
    set = zeros;
    IS(posix_trace_eventset_add(POSIX_TRACE_START, &set), EINVAL);
    IS(posix_trace_eventset_del(POSIX_TRACE_START, &set), EINVAL);
    IS(posix_trace_eventset_ismember(POSIX_TRACE_START, &set, &is), EINVAL);
    IS(posix_trace_set_filter(created(NULL), &set, POSIX_TRACE_SET_EVENTSET), EINVAL);
    CHECK(memcmp(&set, &zeros, sizeof set) == 0);
    IS(is, 77);
}

TEST(SET_12)
{
    trace_event_set_t set = filled(POSIX_TRACE_ALL_EVENTS);
    CHECK(member(&set, type("opened later")));
}

TEST(SET_13)
{
    const trace_event_id_t ids[] = {LAST + 1, 0xffffffff, 1 << 20};
    trace_event_set_t set = set_of(POSIX_TRACE_START, 0, 0, 0), before = set;
    int is = 77;
    for (int at = 0; at < 3; at++) {
        IS(posix_trace_eventset_add(ids[at], &set), EINVAL);
        IS(posix_trace_eventset_del(ids[at], &set), EINVAL);
        IS(posix_trace_eventset_ismember(ids[at], &set, &is), EINVAL);
    }
    CHECK(memcmp(&set, &before, sizeof set) == 0);
    IS(is, 77);
}

TEST(SET_14)
{
    trace_event_set_t set = set_of(POSIX_TRACE_STOP, FIRST_NAMED, LAST, 0), copy = set;
    trace_event_set_t bytes;
    memcpy(&bytes, &set, sizeof bytes);
    for (trace_event_id_t id = POSIX_TRACE_ERROR; id <= LAST; id++) {
        IS(member(&copy, id), member(&set, id));
        IS(member(&bytes, id), member(&set, id));
    }
    OK(posix_trace_eventset_del(LAST, &copy));
    CHECK(member(&set, LAST));
}

TEST(SET_15)
{
    trace_event_set_t set = filled(POSIX_TRACE_ALL_EVENTS);
    OK(posix_trace_eventset_empty(&set));
    IS(members(&set), 0);
}
