/* Signal handlers leave by siglongjmp while the thread records into a stream. Afterwards the thread records 100 events;
 * none of them may be missing. Argument 1 is a folder. The stream remains there, in the file `jumps`. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>
#include <unistd.h>

#include "tracewell.h"

#define CHECK(condition) do { if (!(condition)) { printf("%s:%d: %s\n", __FILE__, __LINE__, #condition); return 1; } } while (0)

enum { JUMPS = 60 };

static sigjmp_buf before;
static volatile sig_atomic_t jumps;

static void leave(int number)
{
    (void)number;
    jumps++;
    siglongjmp(before, 1);
}

int main(int count, char **arguments)
{
    /* The timer measures processor time: on a busy machine, a wall-clock timer would expire only between
     * events. */
    const struct itimerval often = { { 0, 300 }, { 0, 300 } }, never = { { 0, 0 }, { 0, 0 } };
    tw_stream *stream;
    tw_event interrupted, after;
    char path[512];

    CHECK(count == 2);
    alarm(120);
    snprintf(path, sizeof path, "%s/jumps", arguments[1]);
    CHECK(tw_stream_create(path, NULL, &stream) == TW_OK);
    CHECK(tw_define(stream, 0, "test/interrupted(number:u64)", &interrupted) == TW_OK);
    CHECK(tw_define(stream, 0, "test/after(number:u64)", &after) == TW_OK);
    CHECK(tw_stream_start(stream) == TW_OK);
    signal(SIGVTALRM, leave);
    if (sigsetjmp(before, 1) == 0) {
        CHECK(setitimer(ITIMER_VIRTUAL, &often, NULL) == 0);
    }
    while (jumps < JUMPS) {
        uint64_t number = (uint64_t)jumps;
        tw_record(stream, interrupted, &number, 1);
    }
    signal(SIGVTALRM, SIG_IGN);
    CHECK(setitimer(ITIMER_VIRTUAL, &never, NULL) == 0);
    for (uint64_t number = 0; number < 100; number++) {
        CHECK(tw_record(stream, after, &number, 1) == TW_OK);
    }
    tw_stream_close(stream);
    return 0;
}
