/* Attribute objects: defaults, getters and setters, errors. */
#include "streams.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

static void fresh(trace_attr_t *attr)
{
    memset(attr, 0xAA, sizeof *attr);
    OK(posix_trace_attr_init(attr));
}

static int policy_of(int (*getter)(const trace_attr_t *, int *), const trace_attr_t *attr)
{
    int policy = -1;
    OK(getter(attr, &policy));
    return policy;
}

static size_t size_of(int (*getter)(const trace_attr_t *, size_t *), const trace_attr_t *attr)
{
    size_t size = (size_t)-1;
    OK(getter(attr, &size));
    return size;
}

static size_t user_size(const trace_attr_t *attr, size_t data)
{
    size_t size = 0;
    OK(posix_trace_attr_getmaxusereventsize(attr, data, &size));
    return size;
}

static const char *name_of(const trace_attr_t *attr)
{
    static char name[TRACE_NAME_MAX];
    memset(name, 'x', sizeof name);
    OK(posix_trace_attr_getname(attr, name));
    CHECK(memchr(name, 0, sizeof name));
    return name;
}

TEST(ATT_01)
{
    trace_attr_t attr;
    memset(&attr, 0xAA, sizeof attr);
    OK(posix_trace_attr_init(&attr));
    memset(&attr, 0, sizeof attr);
    OK(posix_trace_attr_init(&attr));
    IS(policy_of(posix_trace_attr_getstreamfullpolicy, &attr), POSIX_TRACE_LOOP);
}

TEST(ATT_02)
{
    IS(posix_trace_attr_init(NULL), EINVAL);
}

TEST(ATT_03)
{
    trace_attr_t attr;
    fresh(&attr);
    OK(posix_trace_attr_destroy(&attr));
    IS(posix_trace_attr_destroy(&attr), EINVAL);
}

TEST(ATT_04)
{
    trace_attr_t attr;
    fresh(&attr);
    int policy = 77;
    OK(posix_trace_attr_destroy(&attr));
    IS(posix_trace_attr_getstreamfullpolicy(&attr, &policy), EINVAL);
    IS(policy, 77);
}

TEST(ATT_05)
{
    trace_attr_t attr;
    fresh(&attr);
    OK(posix_trace_attr_setname(&attr, "gone"));
    OK(posix_trace_attr_setstreamsize(&attr, 123456));
    OK(posix_trace_attr_destroy(&attr));
    OK(posix_trace_attr_init(&attr));
    SAME(name_of(&attr), "");
    CHECK(stream_size_of(&attr) != 123456);
}

TEST(ATT_06)
{
    IS(posix_trace_attr_destroy(NULL), EINVAL);
}

TEST(ATT_07)
{
    trace_attr_t attr;
    fresh(&attr);
    char version[TRACE_NAME_MAX + 1];
    memset(version, 'x', sizeof version);
    OK(posix_trace_attr_getgenversion(&attr, version));
    CHECK(memchr(version, 0, TRACE_NAME_MAX));
    CHECK(strlen(version) > 0);
    IS(version[TRACE_NAME_MAX], 'x');
}

TEST(ATT_08)
{
    trace_attr_t attr;
    fresh(&attr);
    struct timespec ours = {-1, -1}, systems;
    OK(posix_trace_attr_getclockres(&attr, &ours));
    OK(clock_getres(CLOCK_REALTIME, &systems));
    IS(nanoseconds(ours), nanoseconds(systems));
}

TEST(ATT_09)
{
    trace_attr_t attr;
    fresh(&attr);
    SAME(name_of(&attr), "");
}

TEST(ATT_10)
{
    trace_attr_t attr;
    fresh(&attr);
    OK(posix_trace_attr_setname(&attr, "first"));
    OK(posix_trace_attr_setname(&attr, "wheels"));
    SAME(name_of(&attr), "wheels");
}

TEST(ATT_11)
{
    trace_attr_t attr;
    fresh(&attr);
    char longer[TRACE_NAME_MAX + 20];
    for (size_t at = 0; at < sizeof longer; at++)
        longer[at] = (char)('a' + at % 26);
    longer[sizeof longer - 1] = 0;
    OK(posix_trace_attr_setname(&attr, longer));
    longer[TRACE_NAME_MAX - 1] = 0;
    SAME(name_of(&attr), longer);
}

TEST(ATT_12)
{
    trace_attr_t attr;
    fresh(&attr);
    OK(posix_trace_attr_setname(&attr, "kept"));
    IS(posix_trace_attr_setname(&attr, NULL), EINVAL);
    SAME(name_of(&attr), "kept");
}

TEST(ATT_13)
{
    trace_attr_t attr;
    fresh(&attr);
    IS(policy_of(posix_trace_attr_getinherited, &attr), POSIX_TRACE_CLOSE_FOR_CHILD);
}

typedef int getter_of_policy(const trace_attr_t *, int *);
typedef int setter_of_policy(trace_attr_t *, int);

static void takes(getter_of_policy *get, setter_of_policy *set, int policy)
{
    trace_attr_t attr;
    fresh(&attr);
    OK(set(&attr, policy));
    IS(policy_of(get, &attr), policy);
}

static void refuses(getter_of_policy *get, setter_of_policy *set, int kept, int refused)
{
    trace_attr_t attr;
    fresh(&attr);
    OK(set(&attr, kept));
    IS(set(&attr, refused), EINVAL);
    IS(policy_of(get, &attr), kept);
}

TEST(ATT_14)
{
    takes(posix_trace_attr_getinherited, posix_trace_attr_setinherited, POSIX_TRACE_INHERITED);
    takes(posix_trace_attr_getinherited, posix_trace_attr_setinherited, POSIX_TRACE_CLOSE_FOR_CHILD);
}

TEST(ATT_15)
{
    const int others[] = {2, -1, INT_MAX, INT_MIN};
    for (int at = 0; at < 4; at++)
        refuses(posix_trace_attr_getinherited, posix_trace_attr_setinherited, POSIX_TRACE_INHERITED,
                others[at]);
}

TEST(ATT_16)
{
    trace_attr_t attr;
    fresh(&attr);
    IS(policy_of(posix_trace_attr_getstreamfullpolicy, &attr), POSIX_TRACE_LOOP);
}

TEST(ATT_17)
{
    const int policies[] = {POSIX_TRACE_LOOP, POSIX_TRACE_UNTIL_FULL, POSIX_TRACE_FLUSH};
    for (int at = 0; at < 3; at++)
        takes(posix_trace_attr_getstreamfullpolicy, posix_trace_attr_setstreamfullpolicy, policies[at]);
}

TEST(ATT_18)
{
    const int others[] = {POSIX_TRACE_APPEND, 0, -1, 5, INT_MAX};
    for (int at = 0; at < 5; at++)
        refuses(posix_trace_attr_getstreamfullpolicy, posix_trace_attr_setstreamfullpolicy,
                POSIX_TRACE_UNTIL_FULL, others[at]);
}

TEST(ATT_19)
{
    trace_attr_t attr;
    fresh(&attr);
    IS(policy_of(posix_trace_attr_getlogfullpolicy, &attr), POSIX_TRACE_LOOP);
}

TEST(ATT_20)
{
    const int policies[] = {POSIX_TRACE_LOOP, POSIX_TRACE_UNTIL_FULL, POSIX_TRACE_APPEND};
    for (int at = 0; at < 3; at++)
        takes(posix_trace_attr_getlogfullpolicy, posix_trace_attr_setlogfullpolicy, policies[at]);
}

TEST(ATT_21)
{
    const int others[] = {POSIX_TRACE_FLUSH, 0, -1, 5, INT_MAX};
    for (int at = 0; at < 5; at++)
        refuses(posix_trace_attr_getlogfullpolicy, posix_trace_attr_setlogfullpolicy, POSIX_TRACE_APPEND,
                others[at]);
}

TEST(ATT_22)
{
    trace_attr_t attr;
    fresh(&attr);
    OK(posix_trace_attr_setstreamsize(&attr, 98304));
    IS(stream_size_of(&attr), 98304);
    OK(posix_trace_attr_setstreamsize(&attr, 1));
    IS(stream_size_of(&attr), 1);
}

TEST(ATT_23)
{
    trace_attr_t attr;
    fresh(&attr);
    OK(posix_trace_attr_setlogsize(&attr, 7654321));
    IS(size_of(posix_trace_attr_getlogsize, &attr), 7654321);
}

TEST(ATT_24)
{
    trace_attr_t attr;
    fresh(&attr);
    OK(posix_trace_attr_setmaxdatasize(&attr, 100));
    IS(size_of(posix_trace_attr_getmaxdatasize, &attr), 100);
    OK(posix_trace_attr_setmaxdatasize(&attr, 0));
    IS(size_of(posix_trace_attr_getmaxdatasize, &attr), 0);
}

TEST(ATT_25)
{
    trace_attr_t attr;
    fresh(&attr);
    CHECK(size_of(posix_trace_attr_getmaxsystemeventsize, &attr) >= 2 * sizeof(trace_event_set_t));
}

TEST(ATT_26)
{
    trace_attr_t attr;
    fresh(&attr);
    OK(posix_trace_attr_setmaxdatasize(&attr, 3000));
    for (size_t data = 0; data <= 3000; data += 50)
        CHECK(user_size(&attr, data) >= data);
}

TEST(ATT_27)
{
    trace_attr_t attr;
    fresh(&attr);
    size_t last = 0;
    for (size_t data = 0; data < 10000; data += 7) {
        size_t size = user_size(&attr, data);
        CHECK(size >= last);
        last = size;
    }
    CHECK(user_size(&attr, SIZE_MAX) >= last);
}

TEST(ATT_28)
{
    trace_attr_t attr;
    fresh(&attr);
    OK(posix_trace_attr_setmaxdatasize(&attr, 100));
    size_t largest = user_size(&attr, 100);
    IS(user_size(&attr, 101), largest);
    IS(user_size(&attr, 100000), largest);
    IS(user_size(&attr, SIZE_MAX), largest);
}

TEST(ATT_29)
{
    trace_attr_t attr;
    fresh(&attr);
    struct timespec at = {5, 5};
    OK(posix_trace_attr_getcreatetime(&attr, &at));
    IS(nanoseconds(at), 0);
}

/* Checks that all getters reject an object. */
static void getters_refuse(const trace_attr_t *attr)
{
    struct timespec time = {7, 7};
    char text[TRACE_NAME_MAX] = "kept";
    int policy = 7;
    size_t size = 7;
    IS(posix_trace_attr_getclockres(attr, &time), EINVAL);
    IS(posix_trace_attr_getcreatetime(attr, &time), EINVAL);
    IS(posix_trace_attr_getgenversion(attr, text), EINVAL);
    IS(posix_trace_attr_getname(attr, text), EINVAL);
    IS(posix_trace_attr_getinherited(attr, &policy), EINVAL);
    IS(posix_trace_attr_getlogfullpolicy(attr, &policy), EINVAL);
    IS(posix_trace_attr_getstreamfullpolicy(attr, &policy), EINVAL);
    IS(posix_trace_attr_getlogsize(attr, &size), EINVAL);
    IS(posix_trace_attr_getmaxdatasize(attr, &size), EINVAL);
    IS(posix_trace_attr_getstreamsize(attr, &size), EINVAL);
    IS(posix_trace_attr_getmaxsystemeventsize(attr, &size), EINVAL);
    IS(posix_trace_attr_getmaxusereventsize(attr, 10, &size), EINVAL);
    IS(nanoseconds(time), 7000000007);
    SAME(text, "kept");
    IS(policy + (int)size, 14);
}

TEST(ATT_30)
{
    getters_refuse(NULL);
}

TEST(ATT_31)
{
    trace_attr_t attr;
    fresh(&attr);
    IS(posix_trace_attr_getclockres(&attr, NULL), EINVAL);
    IS(posix_trace_attr_getcreatetime(&attr, NULL), EINVAL);
    IS(posix_trace_attr_getgenversion(&attr, NULL), EINVAL);
    IS(posix_trace_attr_getname(&attr, NULL), EINVAL);
    IS(posix_trace_attr_getinherited(&attr, NULL), EINVAL);
    IS(posix_trace_attr_getlogfullpolicy(&attr, NULL), EINVAL);
    IS(posix_trace_attr_getstreamfullpolicy(&attr, NULL), EINVAL);
    IS(posix_trace_attr_getlogsize(&attr, NULL), EINVAL);
    IS(posix_trace_attr_getmaxdatasize(&attr, NULL), EINVAL);
    IS(posix_trace_attr_getstreamsize(&attr, NULL), EINVAL);
    IS(posix_trace_attr_getmaxsystemeventsize(&attr, NULL), EINVAL);
    IS(posix_trace_attr_getmaxusereventsize(&attr, 10, NULL), EINVAL);
}

TEST(ATT_32)
{
    trace_attr_t attr;
    with_policy(&attr, POSIX_TRACE_UNTIL_FULL, 100000);
    OK(posix_trace_attr_setname(&attr, "old"));
    trace_id_t stream = created(&attr);
    OK(posix_trace_attr_setname(&attr, "new"));
    OK(posix_trace_attr_setstreamfullpolicy(&attr, POSIX_TRACE_LOOP));
    trace_attr_t streams;
    attributes_of(stream, &streams);
    SAME(name_of(&streams), "old");
    OK(posix_trace_attr_destroy(&attr));
    attributes_of(stream, &streams);
    SAME(name_of(&streams), "old");
    IS(policy_of(posix_trace_attr_getstreamfullpolicy, &streams), POSIX_TRACE_UNTIL_FULL);
}

TEST(ATT_33)
{
    trace_attr_t attr;
    fresh(&attr);
    OK(posix_trace_attr_setname(&attr, "both"));
    trace_id_t streams[] = {created(&attr), created(&attr)};
    for (int at = 0; at < 2; at++) {
        trace_attr_t got;
        attributes_of(streams[at], &got);
        SAME(name_of(&got), "both");
    }
}

TEST(ATT_34)
{
    trace_attr_t attr;
    fresh(&attr);
    OK(posix_trace_attr_setmaxdatasize(&attr, 100));
    IS(posix_trace_attr_setmaxdatasize(&attr, SIZE_MAX), EINVAL);
    IS(posix_trace_attr_setmaxdatasize(&attr, 65537), EINVAL);
    IS(size_of(posix_trace_attr_getmaxdatasize, &attr), 100);
    OK(posix_trace_attr_setmaxdatasize(&attr, 65536));
}

/* Checks that all setters reject an object that is not initialised. */
static void setters_refuse(trace_attr_t *attr)
{
    IS(posix_trace_attr_setname(attr, "name"), EINVAL);
    IS(posix_trace_attr_setinherited(attr, POSIX_TRACE_INHERITED), EINVAL);
    IS(posix_trace_attr_setlogfullpolicy(attr, POSIX_TRACE_LOOP), EINVAL);
    IS(posix_trace_attr_setstreamfullpolicy(attr, POSIX_TRACE_LOOP), EINVAL);
    IS(posix_trace_attr_setlogsize(attr, 1000), EINVAL);
    IS(posix_trace_attr_setmaxdatasize(attr, 1000), EINVAL);
    IS(posix_trace_attr_setstreamsize(attr, 1000), EINVAL);
    IS(posix_trace_attr_destroy(attr), EINVAL);
}

TEST(OWN_01)
{
    trace_attr_t attr;
    fresh(&attr);
    OK(posix_trace_attr_destroy(&attr));
    getters_refuse(&attr);
    setters_refuse(&attr);
    setters_refuse(NULL);
    const int patterns[] = {0, 0xAA, 0xFF};
    for (int at = 0; at < 3; at++) {
        memset(&attr, patterns[at], sizeof attr);
        getters_refuse(&attr);
        setters_refuse(&attr);
    }
}

TEST(OWN_02)
{
    trace_attr_t attr;
    fresh(&attr);
    OK(posix_trace_attr_setname(&attr, "name"));
    OK(posix_trace_attr_setstreamsize(&attr, 100000));
    OK(posix_trace_attr_init(&attr));
    SAME(name_of(&attr), "");
    IS(stream_size_of(&attr), 65536);
    IS(size_of(posix_trace_attr_getmaxdatasize, &attr), 4096);
    IS(size_of(posix_trace_attr_getlogsize, &attr), 1048576);
}
