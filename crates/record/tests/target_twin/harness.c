/* Runs a script of calls on the C recorder: reads lines from standard input, writes all bytes that
 * tw_target_read() returns to standard output, and the whole ring at the end. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "tracewell_target.h"

uint32_t harness_now;
uint32_t harness_core;

static const uint32_t codes[] = {
    TW_INTERRUPT_EXIT, TW_INTERRUPT_EXIT_TO_SCHEDULER, TW_SLEEP_BEGIN, TW_SLEEP_END, TW_START, TW_STOP, TW_YIELD,
    TW_RUNS, TW_READY, TW_DELAY, TW_DELAY_UNTIL, TW_SUSPEND, TW_RESUME, TW_TASK_DELETE, TW_INTERRUPT_ENTER, TW_TICK,
    TW_TICKS_JUMP, TW_MUTEX_WAIT, TW_MUTEX_LOCK, TW_MUTEX_UNLOCK, TW_MUTEX_REFUSE, TW_SEMAPHORE_WAIT,
    TW_SEMAPHORE_REFUSE, TW_QUEUE_WAIT_RECEIVE, TW_QUEUE_WAIT_SEND, TW_QUEUE_REFUSE, TW_QUEUE_EMPTY, TW_QUEUE_FLUSH,
    TW_STREAM_WAIT_RECEIVE, TW_STREAM_WAIT_SEND, TW_STREAM_FLUSH, TW_NOTIFY_WAIT, TW_NOTIFY_TAKE, TW_TIMER_EXPIRED,
    TW_TIMER_STOP, TW_MARK, TW_SECTION_BEGIN, TW_SECTION_END, TW_ALLOCATE_FAILED, TW_PRIORITY_SET, TW_INHERIT,
    TW_DISINHERIT, TW_SEMAPHORE_GIVE, TW_SEMAPHORE_TAKE, TW_QUEUE_SEND, TW_QUEUE_SEND_FIRST, TW_QUEUE_OVERWRITE,
    TW_QUEUE_RECEIVE, TW_QUEUE_PEEK, TW_GROUP_WAIT, TW_GROUP_SET, TW_GROUP_CLEAR, TW_GROUP_TAKE, TW_STREAM_SEND,
    TW_STREAM_RECEIVE, TW_NOTIFY, TW_ALLOCATE, TW_FREE, TW_HEAP, TW_STACK, TW_TIMER_START, TW_VALUE,
    TW_OBJECT_CREATE, TW_OBJECT_DELETE, TW_TASK_CREATE,
};

static void event(uint32_t id, uint32_t first, uint32_t second)
{
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
        if (TW_ID(codes[i]) == id) {
            tw_target_event(codes[i], first, second);
        }
    }
}

int main(int argc, char **argv)
{
    static uint32_t memory[1 << 14];
    static uint8_t out[1 << 16];
    const uint32_t bytes = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : sizeof memory;
    char op;
    char text[256];
    unsigned a, b, c, d;

    while (scanf(" %c", &op) == 1) {
        switch (op) {
        case 'i': {
            struct tw_target_options options = {1000000, "kernel", 1, 0};
            if (scanf("%u", &a) != 1) return 2;
            options.keep = (uint8_t)a;
            if (tw_target_init(memory, bytes, &options) != 0) return 3;
            break;
        }
        case 't':
            if (scanf("%u %u", &a, &b) != 2) return 2;
            harness_now = a;
            harness_core = b;
            break;
        case 'e':
            if (scanf("%u %u %u", &a, &b, &c) != 3) return 2;
            event(a, b, c);
            break;
        case 'v':
            if (scanf("%u %u", &a, &b) != 2) return 2;
            tw_target_value(a, (int32_t)b);
            break;
        case 'x':
            if (scanf("%u %255s", &a, text) != 2) return 2;
            tw_target_text(a, text);
            break;
        case 'u': {
            int32_t arguments[16];
            if (scanf("%u %u", &a, &b) != 2 || b > 16) return 2;
            for (unsigned i = 0; i < b; i++) {
                if (scanf("%u", &c) != 1) return 2;
                arguments[i] = (int32_t)c;
            }
            tw_target_user(a, arguments, b);
            break;
        }
        case 'd':
            if (scanf("%u %u %u %u %255s", &a, &b, &c, &d, text) != 5) return 2;
            tw_target_define(a, b, c, d, text);
            break;
        case 'm':
            if (scanf("%u %u", &a, &b) != 2) return 2;
            tw_target_remove(a, b);
            break;
        case 'g':
            if (scanf("%u", &a) != 1) return 2;
            tw_target_set_filter(a);
            break;
        case 'q':
            tw_target_refuse();
            break;
        case 'f':
            tw_target_flush();
            break;
        case 'r':
            if (scanf("%u", &a) != 1 || a > sizeof out) return 2;
            fwrite(out, 1, tw_target_read(out, a), stdout);
            break;
        default:
            return 2;
        }
    }
    fwrite(memory, 1, bytes, stdout);
    return 0;
}
