/* Tests of the harness itself. Most of them fail on purpose. They run only if an argument names them. */
#include "harness.h"

#include <signal.h>
#include <stdlib.h>

TEST(SELF_PASSES)
{
    IS(1 + 1, 2);
}

TEST(SELF_FAILS)
{
    IS(1 + 1, 3);
}

TEST(SELF_CHECKS_NOTHING)
{
}

TEST(SELF_CRASHES)
{
    CHECK(1);
    raise(SIGSEGV);
}

TEST_WITHIN(1, SELF_HANGS)
{
    CHECK(1);
    for (;;)
        sleep_ms(1000);
}

static void *failing(void *nothing)
{
    CHECK(nothing);
    return NULL;
}

TEST(SELF_THREAD_FAILS)
{
    joined(thread(failing, NULL));
}

TEST(SELF_CHILD_FAILS)
{
    pid_t child = forked();
    if (child == 0) {
        SAME("child", "parent");
        done();
    }
    finished(child);
}

ROLE(self_role)
{
    SAME(arguments[0], "other");
}

TEST(SELF_ROLE_FAILS)
{
    finished(start_role("self_role", (char *[]){"given", NULL}));
}

TEST(SELF_SKIPS)
{
    skip("a reason");
}
