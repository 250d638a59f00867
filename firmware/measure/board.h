/* QEMU's machine mps2-an385: a Cortex-M3 without an operating system. */
#ifndef BOARD_H
#define BOARD_H

#include <stdint.h>

/* A counter of 32 bits that counts up at 25 MHz. */
#define BOARD_COUNTER (*(volatile uint32_t *)0x40028018)

/* Writes text to the emulator's standard error. */
void board_print(const char *text);

#endif /* BOARD_H */
