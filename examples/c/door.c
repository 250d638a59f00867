/* A state machine that records an RKH stream and sends it to a file or to standard output.
 *
 *     cargo build -p tracewell-capi
 *     cc -Icrates/capi/include examples/c/door.c target/debug/libtracewell_capi.a -lpthread -ldl -lm -o door
 *     ./door door.rkh && tracewell report door.rkh
 *     ./door | tracewell report -
 *
 * The state machine controls a door: a code opens the door, a timer locks it again, and three wrong codes
 * sound the alarm. Everything before main is firmware with static memory, a clock and no operating system.
 * crates/record/examples/door is the same program in Rust and records the same bytes.
 */
#include <stdio.h>

/* ---- definitions for the macros ---- */

#include "tracewell.h"

static tw_rkh trace;
static void send(void);

#define TW_RKH_TRACE (&trace)
#define TW_RKH_FLUSH() send()
/* On a Cortex-M, disable and enable interrupts:
 * #define TW_RKH_ENTER_CRITICAL() __disable_irq()
 * #define TW_RKH_EXIT_CRITICAL() __enable_irq() */
#include "tracewell_rkh.h"

/* ---- the link ---- */

static FILE *link_;
static unsigned char memory[512];
static unsigned char signals[1];

static void send(void)
{
    tw_rkh_block block;

    /* A serial port would accept as many bytes as fit into its buffer. */
    while (tw_rkh_get_block(&trace, 128, &block) == TW_OK)
        fwrite(block.bytes, 1, block.length, link_);
}

/* ---- the program, with addresses as a linker would assign them ---- */

enum { door = 0x20000100, relock = 0x20000180, keypad = 0x20000200 };
enum { locked = 0x08001000, unlocked = 0x08001040, alarmed = 0x08001080 };
enum { open_bolt = 0x08002001, close_bolt = 0x08002021, sound = 0x08002041 };
enum { CODE, WRONG, TIMEOUT };
enum { PRIORITY = 3, ATTEMPTS = 0 };

static uint32_t state = locked;
static unsigned wrong_codes;
static uint64_t ticks;

static uint64_t read_clock(void *context)
{
    (void)context;
    return ticks += 10;
}

static void name_everything(void)
{
    TW_TR_FWK_AO(door, "door");
    TW_TR_FWK_STATE(door, locked, "locked");
    TW_TR_FWK_STATE(door, unlocked, "unlocked");
    TW_TR_FWK_STATE(door, alarmed, "alarmed");
    TW_TR_FWK_TIMER(relock);
    TW_TR_FWK_ACTOR(keypad, "keypad");
    TW_TR_FWK_FUN(open_bolt);
    TW_TR_FWK_FUN(close_bolt);
    TW_TR_FWK_FUN(sound);
    TW_TR_FWK_SIG(CODE);
    TW_TR_FWK_SIG(WRONG);
    TW_TR_FWK_SIG(TIMEOUT);
    TW_TR_FWK_TUSR(ATTEMPTS);
}

static void go_to(uint32_t target, uint32_t action)
{
    TW_TRC_BEGIN_AO(TW_TE_SM_TRN, PRIORITY)
        TW_TRC_SYM(door);
        TW_TRC_SYM(state);
        TW_TRC_SYM(target);
    TW_TRC_END();
    TW_TRC_BEGIN_AO(TW_TE_SM_EXSTATE, PRIORITY)
        TW_TRC_SYM(door);
        TW_TRC_SYM(state);
    TW_TRC_END();
    TW_TRC_BEGIN_AO(TW_TE_SM_EXE_ACT, PRIORITY)
        TW_TRC_U8(0);
        TW_TRC_SYM(door);
        TW_TRC_SYM(state);
        TW_TRC_FUN(action);
    TW_TRC_END();
    TW_TRC_BEGIN_AO(TW_TE_SM_ENSTATE, PRIORITY)
        TW_TRC_SYM(door);
        TW_TRC_SYM(target);
    TW_TRC_END();
    TW_TRC_BEGIN_AO(TW_TE_SM_STATE, PRIORITY)
        TW_TRC_SYM(door);
        TW_TRC_SYM(target);
    TW_TRC_END();
    state = target;
}

static void start_timer(uint32_t delay)
{
    TW_TRC_BEGIN(TW_TE_TMR_START)
        TW_TRC_SYM(relock);
        TW_TRC_SYM(door);
        TW_TRC_NTICK(delay);
        TW_TRC_NTICK(0);
    TW_TRC_END();
}

static void count_attempt(void)
{
    TW_TRC_USR_BEGIN(ATTEMPTS)
        TW_TUSR_STR("wrong code");
        TW_TUSR_UI8(2, ++wrong_codes);
        TW_TUSR_SIG(WRONG);
    TW_TRC_USR_END();
}

static void dispatch(unsigned signal)
{
    int handled = 1;

    TW_TRC_BEGIN_AO_SIG(TW_TE_SM_DCH, PRIORITY, signal)
        TW_TRC_SYM(door);
        TW_TRC_SIG(signal);
        TW_TRC_SYM(state);
    TW_TRC_END();
    if (state == locked && signal == CODE) {
        go_to(unlocked, open_bolt);
        start_timer(50);
    } else if (state == locked && signal == WRONG) {
        count_attempt();
        if (wrong_codes == 3)
            go_to(alarmed, sound);
    } else if (state == unlocked && signal == TIMEOUT) {
        go_to(locked, close_bolt);
    } else {
        handled = 0;
    }
    if (handled) {
        TW_TRC_BEGIN_AO(TW_TE_SM_EVT_PROC, PRIORITY)
            TW_TRC_SYM(door);
        TW_TRC_END();
    } else {
        TW_TRC_BEGIN_AO_SIG(TW_TE_SM_EVT_NFOUND, PRIORITY, signal)
            TW_TRC_SYM(door);
            TW_TRC_SIG(signal);
        TW_TRC_END();
    }
}

/* Records that an event is posted and taken from the queue, and dispatches this event. Events have a sender
 * only if the target is configured to record senders. */
static void post(unsigned signal, uint32_t sender)
{
    TW_TRC_BEGIN_AO_SIG(TW_TE_SMA_FIFO, PRIORITY, signal)
        TW_TRC_SYM(door);
        TW_TRC_SIG(signal);
        TW_TRC_SYM(sender);
        TW_TRC_U8(0);
        TW_TRC_U8(0);
        TW_TRC_NE(1);
        TW_TRC_NE(3);
    TW_TRC_END();
    TW_TRC_BEGIN_AO_SIG(TW_TE_SMA_GET, PRIORITY, signal)
        TW_TRC_SYM(door);
        TW_TRC_SIG(signal);
        TW_TRC_U8(0);
        TW_TRC_U8(0);
        TW_TRC_NE(0);
        TW_TRC_NE(3);
    TW_TRC_END();
    dispatch(signal);
    send(); /* Sends the recorded bytes. */
}

static int start(void)
{
    static const tw_clock clock = { read_clock, NULL, 0 };
    tw_rkh_settings settings;
    int code;

    tw_rkh_usual(&settings);
    settings.sender = 1;
    settings.queue_low_water = 1;
    code = tw_rkh_init(&trace, &settings, &clock, memory, sizeof memory, signals, sizeof signals);
    if (code != TW_OK)
        return code;
    code = tw_rkh_open(&trace);
    send();
    name_everything();
    TW_FILTER_OFF_EVENT(TW_RKH_ALL);
    TW_FILTER_OFF_ALL_SMA();
    TW_FILTER_OFF_ALL_SIGNALS();
    /* Filter out the counts of entered and left states, because state machines record many of them. */
    TW_FILTER_ON_EVENT(TW_TE_SM_NENEX);
    return code;
}

int main(int argc, char **argv)
{
    static const unsigned script[] = { CODE, TIMEOUT, WRONG, TIMEOUT, WRONG, WRONG, CODE };
    size_t step;
    int code;

    link_ = argc > 1 ? fopen(argv[1], "wb") : stdout;
    if (link_ == NULL) {
        perror(argv[1]);
        return 4;
    }
    code = start();
    for (step = 0; code == TW_OK && step < sizeof script / sizeof script[0]; step++)
        post(script[step], script[step] == TIMEOUT ? relock : keypad);
    if (state == alarmed)
        TW_TR_FWK_ASSERT("door", 42);
    if (fclose(link_) != 0)
        code = TW_INVALID;
    if (code != TW_OK)
        fprintf(stderr, "door: %s\n", tw_message(code));
    return code == TW_OK ? 0 : 1;
}
