/*
 * Writes packets to a channel of SEGGER RTT. A debugger finds the control block by its first 16 bytes
 * or by the symbol _SEGGER_RTT, and reads the buffer while the program runs. If a program contains
 * SEGGER's own RTT, pass packets to SEGGER_RTT_Write() instead of using this file.
 *
 * The control block consists of an id, the numbers of channels to the host and to the target, and a
 * descriptor for each channel. The id is `SEGGER RTT`, padded with 0 to 16 bytes. The writer of a
 * channel changes only `written`, its reader only `read`.
 */
#include "tracewell_target_send.h"

/* Orders memory accesses. A debugger, too, sees all accesses before the barrier earlier than any access after it. */
#if defined(__GNUC__)
#define BARRIER() __sync_synchronize()
#else
#define BARRIER() ((void)0)
#endif

struct channel {
    const char *name;
    uint8_t *buffer;
    uint32_t size;
    volatile uint32_t written; /* index of the next byte to write */
    volatile uint32_t read;    /* index of the next byte to read */
    uint32_t flags;            /* 0: the target does not wait if the buffer is full */
};

struct control {
    volatile char id[16];
    uint32_t to_host;
    uint32_t to_target;
    struct channel up;
    struct channel down;
};

extern struct control _SEGGER_RTT;
struct control _SEGGER_RTT;

static uint8_t up[TW_RTT_BUFFER];
/* Debuggers expect a channel to the target. The recorder does not read it. */
static uint8_t down[4];

void tw_rtt_init(void)
{
    /* The constant is reversed, because a debugger would mistake a copy of the id for a control block. */
    static const char backwards[16] = {0, 0, 0, 0, 0, 0, 'T', 'T', 'R', ' ', 'R', 'E', 'G', 'G', 'E', 'S'};
    const struct channel to_host = {"Tracewell", up, (uint32_t)sizeof up, 0, 0, 0};
    const struct channel to_target = {"", down, (uint32_t)sizeof down, 0, 0, 0};
    struct control *const control = &_SEGGER_RTT;

    control->to_host = 1;
    control->to_target = 1;
    control->up = to_host;
    control->down = to_target;
    /* Store the id last, because it makes the block valid. */
    BARRIER();
    for (uint32_t i = 0; i < 16u; i++) {
        control->id[15u - i] = backwards[i];
    }
}

uint32_t tw_rtt_write(const uint8_t *bytes, uint32_t length)
{
    struct channel *const channel = &_SEGGER_RTT.up;
    const uint32_t read = channel->read;
    uint32_t written = channel->written;
    uint32_t room;

    /* The host stores `read`, so it can have any value. */
    if (read >= channel->size) {
        return 0;
    }
    /* One byte stays unused, because equal indices mean that the buffer is empty. */
    room = ((read > written) ? (read - written) : (read + channel->size - written)) - 1u;
    length = (length < room) ? length : room;
    for (uint32_t i = 0; i < length; i++) {
        channel->buffer[written] = bytes[i];
        written = ((written + 1u) < channel->size) ? (written + 1u) : 0u;
    }
    /* The host may read the bytes when it sees the new index. */
    BARRIER();
    channel->written = written;
    return length;
}
