/*
 * Runs a script of calls on the C recorder. fuzz/src/target_script.rs makes the scripts and runs them on
 * the Rust recorder, and fuzz/src/target_twin.rs calls harness_run(). With HARNESS_PROGRAM, this file is a
 * program that reads a script from standard input and writes the output to standard output.
 *
 * A call consists of its operation and its core (one byte each), the length of its text (2 bytes), its
 * number of words, the counter of the clock and the words (4 bytes each), and the text.
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include "tracewell_target.h"

uint32_t harness_now;
uint32_t harness_core;
uint32_t harness_run(const uint8_t *script, uint32_t length, uint8_t *to, uint32_t size);

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

static uint32_t memory[1 << 12];

/* The output. Bytes that have no room are counted, but not stored. */
static uint8_t *out;
static uint32_t room;
static uint32_t used;

static void put(const void *from, uint32_t length)
{
    if (used <= room && length <= room - used) {
        memcpy(&out[used], from, length);
    }
    used += length;
}

static void put_number(uint32_t number)
{
    const uint8_t bytes[4] = {(uint8_t)number, (uint8_t)(number >> 8), (uint8_t)(number >> 16), (uint8_t)(number >> 24)};
    put(bytes, 4);
}

static uint32_t number_at(const uint8_t *from)
{
    return from[0] | ((uint32_t)from[1] << 8) | ((uint32_t)from[2] << 16) | ((uint32_t)from[3] << 24);
}

/* Records an event. A filter cannot remove an event whose id is not in `codes`. */
static void event(uint32_t id, uint32_t first, uint32_t second)
{
    uint32_t code = TW_CODE(TW_ALWAYS, id);
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
        if (TW_ID(codes[i]) == id) {
            code = codes[i];
        }
    }
    TW_EVENT(code, first, second);
}

/* Starts the recorder, and returns 1 if it accepts the memory. */
static int start(const uint32_t *words, const char *kernel)
{
    const struct tw_target_options options = {words[1], kernel, (uint8_t)words[3], (uint8_t)words[2]};
    const uint8_t refused = tw_target_init(memory, words[0], &options) != 0;
    put(&refused, 1);
    return !refused;
}

static void call(uint8_t op, const uint32_t *words, uint32_t count, const char *text)
{
    static uint8_t packets[1 << 12];
    int32_t arguments[16];
    uint32_t length;

    switch (op) {
    case 'e':
        event(words[0], words[1], words[2]);
        break;
    case 'v':
        tw_target_value(words[0], (int32_t)words[1]);
        break;
    case 'x':
        tw_target_text(words[0], text);
        break;
    case 'u':
        for (uint32_t i = 1; i < count; i++) {
            arguments[i - 1] = (int32_t)words[i];
        }
        tw_target_user(words[0], arguments, count - 1);
        break;
    case 'd':
        tw_target_define(words[0], words[1], words[2], words[3], text);
        break;
    case 'm':
        tw_target_remove(words[0], words[1]);
        break;
    case 'g':
        tw_target_set_filter(words[0]);
        break;
    case 'q':
        for (uint32_t i = 0; i < words[0]; i++) {
            tw_target_refuse();
        }
        break;
    case 'f':
        tw_target_flush();
        break;
    case 'r':
        length = tw_target_read(packets, words[0]);
        put_number(length);
        put(packets, length);
        break;
    }
}

/*
 * Runs a script that Script::encode() has made. Writes to `to` a byte for each start (1 if the recorder
 * refused the memory), the length and the bytes of each read, and the memory at the end. Writes at most
 * `size` bytes of this output, but returns its whole length.
 */
uint32_t harness_run(const uint8_t *script, uint32_t length, uint8_t *to, uint32_t size)
{
    const uint8_t *const end = script + length;
    int runs = 0;

    memset(memory, 0, sizeof memory);
    out = to;
    room = size;
    used = 0;
    while (script < end) {
        const uint8_t op = script[0];
        const uint32_t bytes = script[2] | ((uint32_t)script[3] << 8);
        const uint32_t count = number_at(&script[4]);
        uint32_t words[16] = {0};
        char text[TW_TARGET_SLOT + 256] = {0};

        harness_core = script[1];
        harness_now = number_at(&script[8]);
        script += 12;
        for (uint32_t i = 0; i < count; i++, script += 4) {
            words[i] = number_at(script);
        }
        memcpy(text, script, bytes);
        script += bytes;
        if (op == 'p') {
            memcpy((uint8_t *)memory + words[0], text, bytes);
        } else if (op == 'i') {
            runs = start(words, text);
        } else if (runs) {
            call(op, words, count, text);
        }
    }
    put(memory, sizeof memory);
    return used;
}

#ifdef HARNESS_PROGRAM
int main(void)
{
    static uint8_t script[1 << 20];
    static uint8_t output[1 << 22];
    const size_t length = fread(script, 1, sizeof script, stdin);
    const uint32_t bytes = harness_run(script, (uint32_t)length, output, sizeof output);
    if (length == sizeof script || bytes > sizeof output) {
        return 2;
    }
    return fwrite(output, 1, bytes, stdout) == bytes ? 0 : 3;
}
#endif
