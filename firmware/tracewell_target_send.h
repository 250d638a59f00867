/*
 * Ready-made ways to send the recorder's packets: in pieces for DMA, by a function of yours, over
 * SEGGER RTT, and into a file by semihosting. A program needs only the C files that it uses:
 *
 *   tracewell_target_send.c          pieces, functions, and the idle task
 *   tracewell_target_rtt.c           SEGGER RTT: J-Link, OpenOCD and probe-rs serve it
 *   tracewell_target_semihosting.c   a file on the host, through the debugger or an emulator
 *
 * All of them use tw_target_read(), which has one caller at a time. So one task sends, usually the
 * idle task, and programs that use these functions do not call tw_target_read() themselves.
 */
#ifndef TRACEWELL_TARGET_SEND_H
#define TRACEWELL_TARGET_SEND_H

#include "tracewell_target.h"

/* Bytes of the buffer for packets that are being sent: at least TW_TARGET_SLOT. */
#ifndef TW_SEND_BUFFER
#define TW_SEND_BUFFER TW_TARGET_SLOT
#endif

/* Bytes of the RTT buffer. The host must read it before it is full, or the ring fills up. */
#ifndef TW_RTT_BUFFER
#define TW_RTT_BUFFER 1024
#endif

#ifdef __cplusplus
extern "C" {
#endif

/*
 * A function that sends at most `length` bytes and returns the number of bytes that it accepted. It
 * does not wait: a UART whose buffer is full accepts 0 bytes.
 */
typedef uint32_t (*tw_send_function)(const uint8_t *bytes, uint32_t length);

/*
 * Stores the address of the bytes to send next and returns their number, or 0 if there are none. The
 * bytes do not change before tw_send_done(), so a DMA controller can read them.
 */
uint32_t tw_send_piece(const uint8_t **bytes);

/* Removes bytes that were sent from the piece. */
void tw_send_done(uint32_t bytes);

/* Passes packets to `send` until it accepts fewer bytes than it gets. Returns the bytes it accepted. */
uint32_t tw_send(tw_send_function send);

/*
 * Sends like tw_send(). If there is nothing to send, and at least `ticks` of the clock have passed
 * since the last time, also sends the open packets, which are not full. For the idle task.
 */
uint32_t tw_send_idle(tw_send_function send, uint32_t ticks);

/* Prepares RTT with one channel to the host, number 0. Call it before tw_rtt_write(). */
void tw_rtt_init(void);

/* Copies bytes into the RTT buffer. Has the type tw_send_function. */
uint32_t tw_rtt_write(const uint8_t *bytes, uint32_t length);

/* Creates a file on the host. Returns 0, or -1 if the host has not created it. */
int tw_semihosting_open(const char *name);

/* Appends bytes to the file. Has the type tw_send_function. */
uint32_t tw_semihosting_write(const uint8_t *bytes, uint32_t length);

/* Closes the file. */
void tw_semihosting_close(void);

#ifdef __cplusplus
}
#endif
#endif /* TRACEWELL_TARGET_SEND_H */
