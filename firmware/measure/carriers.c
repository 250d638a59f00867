/* Sends the same packets by RTT and by semihosting. Semihosting writes them to host.bin, and then the
 * whole memory to ram.bin. crates/tracewell/tests/target_carriers.rs finds RTT's control block in that memory. */
#include "board.h"
#include "tracewell_target_send.h"

#define EVENTS 600u

extern uint8_t __bss_end__[];
extern uint32_t _SEGGER_RTT[];

static uint32_t ring[2048];

uint32_t tw_target_clock(void)
{
    return BOARD_COUNTER;
}

static uint32_t send_twice(const uint8_t *bytes, uint32_t length)
{
    return tw_semihosting_write(bytes, tw_rtt_write(bytes, length));
}

/* Reads all bytes, as a debugger does: sets the reader's index to the writer's index. With
 * WAIT_FOR_DEBUGGER, waits until a debugger has done this. */
static void read_all(void)
{
#ifdef WAIT_FOR_DEBUGGER
    const volatile uint32_t *const indices = &_SEGGER_RTT[9];
    while (indices[0] != indices[1]) {
    }
#else
    _SEGGER_RTT[10] = _SEGGER_RTT[9];
#endif
}

int main(void)
{
    static const struct tw_target_options options = {25000000, "carriers", 1, 0};
    uint8_t *const memory = (uint8_t *)0x20000000;

    tw_rtt_init();
    if ((tw_target_init(ring, sizeof ring, &options) != 0) || (tw_semihosting_open("host.bin") != 0)) {
        return 1;
    }
    tw_target_define(TW_CHANNEL, 1, 0, 0, "number");
    for (uint32_t i = 0; i < EVENTS; i++) {
        tw_target_value(1, (int32_t)i);
        (void)tw_send_idle(send_twice, 20000);
        if ((i % 90u) == 89u) {
            read_all();
        }
    }
    tw_target_flush();
    (void)tw_send(send_twice);
    tw_semihosting_close();
#ifdef WAIT_FOR_DEBUGGER
    read_all();
#endif
    if (tw_semihosting_open("ram.bin") != 0) {
        return 1;
    }
    (void)tw_semihosting_write(memory, (uint32_t)(__bss_end__ - memory));
    tw_semihosting_close();
    return 0;
}
