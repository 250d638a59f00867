/*
 * Functions that send the recorder's packets: in pieces for DMA, through a function that you write,
 * through SEGGER RTT, and to a file by semihosting. Compile only the C files that you use:
 *
 *   tracewell_target_send.c          tw_send_piece() and tw_send_done(), tw_send(), tw_send_idle()
 *   tracewell_target_rtt.c           SEGGER RTT, which J-Link, OpenOCD and probe-rs read
 *   tracewell_target_semihosting.c   a file on the host, through the debugger or an emulator
 *
 * tw_send_piece() calls tw_target_read(), which must have only one caller at a time. Therefore,
 * only one task may send, usually the idle task. Do not call tw_target_read() as well.
 */
#ifndef TRACEWELL_TARGET_SEND_H
#define TRACEWELL_TARGET_SEND_H

#include "tracewell_target.h"

/* Size in bytes of the buffer for packets that are being sent: at least TW_TARGET_SLOT. */
#ifndef TW_SEND_BUFFER
#define TW_SEND_BUFFER TW_TARGET_SLOT
#endif

/* Size in bytes of the RTT buffer. While this buffer is full, packets stay in the ring. */
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

/* Reports that the first `bytes` bytes of the piece were sent. */
void tw_send_done(uint32_t bytes);

/* Passes packets to `send` until none is left or `send` accepts fewer bytes than it was offered. Returns the number of
 * bytes that it accepted. */
uint32_t tw_send(tw_send_function send);

/*
 * Does the same as tw_send(). If all bytes were sent, and at least `ticks` of the clock have passed since the last
 * flush, also flushes and sends the open packets. Call it in the idle task.
 */
uint32_t tw_send_idle(tw_send_function send, uint32_t ticks);

/* Initialises RTT with channel 0 to the host. Call it before tw_rtt_write(). */
void tw_rtt_init(void);

/* Copies bytes into the RTT buffer. Has the type tw_send_function. */
uint32_t tw_rtt_write(const uint8_t *bytes, uint32_t length);

/* Creates or truncates a file on the host. Returns 0, or -1 if the host reports an error. */
int tw_semihosting_open(const char *name);

/* Appends bytes to the file. Has the type tw_send_function. Waits for the host. */
uint32_t tw_semihosting_write(const uint8_t *bytes, uint32_t length);

/* Closes the file. */
void tw_semihosting_close(void);

#ifdef __cplusplus
}
#endif
#endif /* TRACEWELL_TARGET_SEND_H */
