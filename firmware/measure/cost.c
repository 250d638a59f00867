/* Measures the recorder on a Cortex-M3 (QEMU's machine mps2-an385) and prints the figures by
 * semihosting, as lines of the form `name value`. With `-icount shift=6`, an instruction takes 64 ns
 * in the emulator. The board's counter of 25 MHz advances by 1.6 ticks in this time.
 *
 * With the macro TW_MEASURE_LOCKS, the program measures the longest time with interrupts disabled
 * instead. The lock then reads the counter, which would make the other figures too large.
 */
#include "board.h"
#include "tracewell_target.h"

#define ROUNDS 2000u

static uint32_t ring[4096];
static uint32_t longest;
static uint32_t locked_at;

static uint32_t counter(void)
{
    return BOARD_COUNTER;
}

/* Converts ticks of the counter to instructions. */
static uint32_t instructions(uint32_t ticks)
{
    return (ticks * 10u) / 16u;
}

uint32_t cost_lock(void)
{
    locked_at = counter();
    return 0;
}

void cost_unlock(void)
{
    const uint32_t ticks = counter() - locked_at;
    longest = (ticks > longest) ? ticks : longest;
}

static void print(const char *name, uint32_t value)
{
    char digits[12];
    uint32_t at = sizeof digits;
    digits[--at] = '\0';
    digits[--at] = '\n';
    do {
        digits[--at] = (char)('0' + (value % 10u));
        value /= 10u;
    } while (value != 0u);
    board_print(name);
    board_print(&digits[at]);
}

#ifdef TW_MEASURE_LOCKS
static uint8_t packets[512];

/* Prints the longest time with interrupts disabled since the last call, in instructions. Subtracts the
 * cost of the measurement itself. */
static void print_lock(const char *name)
{
    const uint32_t found = longest;
    longest = 0;
    (void)cost_lock();
    cost_unlock();
    print(name, instructions(found - longest));
    longest = 0;
}

static void measure(void)
{
    longest = 0;
    tw_target_event(TW_RUNS, 1, 0);
    print_lock("locked_switch ");
    for (uint32_t i = 0; i < ROUNDS; i++) {
        tw_target_event(TW_QUEUE_SEND, i, i);
    }
    print_lock("locked_new_packet ");
    tw_target_define(TW_TASK, 20, 0, 0, "a name of a task with forty characters..");
    print_lock("locked_define ");
    while (tw_target_read(packets, sizeof packets) != 0u) {
    }
    print_lock("locked_read ");
}
#else
/* Prints the mean cost of a call. Subtracts the time of an empty loop, because the measured time
 * includes the loop. */
#define MEASURE(name, call)                                        \
    do {                                                           \
        uint32_t start = counter();                                \
        for (volatile uint32_t i = 0; i < ROUNDS; i++) {           \
        }                                                          \
        const uint32_t empty = counter() - start;                  \
        start = counter();                                         \
        for (volatile uint32_t i = 0; i < ROUNDS; i++) {           \
            call;                                                  \
        }                                                          \
        print(name, instructions(counter() - start - empty) / ROUNDS); \
    } while (0)

static void measure(void)
{
    /* As in examples/freertos.bin, a task and a small value have 1 byte each, and the time between
     * two events has 2 bytes. */
    MEASURE("switch ", TW_EVENT(TW_RUNS, 3, 0));
    MEASURE("one_argument ", TW_EVENT(TW_MUTEX_LOCK, 3, 0));
    MEASURE("two_arguments ", TW_EVENT(TW_QUEUE_SEND, 3, 5));
    MEASURE("no_argument ", TW_EVENT(TW_INTERRUPT_EXIT, 0, 0));
    tw_target_set_filter(0);
    MEASURE("filtered ", TW_EVENT(TW_RUNS, 3, 0));
}
#endif

int main(void)
{
    static const struct tw_target_options options = {25000000, "measurement", 1, 0};
    if (tw_target_init(ring, sizeof ring, &options) != 0) {
        return 1;
    }
    measure();
    return 0;
}
