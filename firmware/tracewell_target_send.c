/*
 * Sends the recorder's packets in pieces, or through a function of the program. tracewell_target_send.h
 * describes the functions.
 */
#include "tracewell_target_port.h"
#include "tracewell_target_send.h"

#if TW_SEND_BUFFER < TW_TARGET_SLOT
#error "TW_SEND_BUFFER must be at least TW_TARGET_SLOT"
#endif

static struct {
    uint8_t packets[TW_SEND_BUFFER];
    uint32_t next;     /* index of the next byte to send */
    uint32_t end;      /* index after the last byte */
    uint32_t flushed;  /* the clock at the last flush of open packets */
} sender;

uint32_t tw_send_piece(const uint8_t **bytes)
{
    if (sender.next == sender.end) {
        sender.next = 0;
        sender.end = tw_target_read(sender.packets, (uint32_t)sizeof sender.packets);
    }
    *bytes = &sender.packets[sender.next];
    return sender.end - sender.next;
}

void tw_send_done(uint32_t bytes)
{
    const uint32_t left = sender.end - sender.next;
    sender.next += (bytes < left) ? bytes : left;
}

uint32_t tw_send(tw_send_function send)
{
    uint32_t total = 0;
    for (;;) {
        const uint8_t *bytes;
        const uint32_t length = tw_send_piece(&bytes);
        const uint32_t accepted = (length > 0u) ? send(bytes, length) : 0u;
        tw_send_done(accepted);
        total += accepted;
        if ((length == 0u) || (accepted < length)) {
            return total;
        }
    }
}

uint32_t tw_send_idle(tw_send_function send, uint32_t ticks)
{
    uint32_t total = tw_send(send);
    const uint32_t now = TW_TARGET_CLOCK();
    /* If the line accepts no more bytes, a flush would only close packets before they are full. */
    if ((sender.next == sender.end) && ((now - sender.flushed) >= ticks)) {
        sender.flushed = now;
        tw_target_flush();
        total += tw_send(send);
    }
    return total;
}
