/* The code of a Cortex-M that runs before main: vectors and reset. newlib's start code (rdimon) clears .bss,
 * opens files by semihosting, and calls main. mps2-an385.ld defines the symbols.
 */
#include <stdint.h>

extern uint32_t stack_top[], data_start[], data_end[], data_load[];
extern void _start(void);

void reset(void);

/* Ends the program with an error, by semihosting. */
static void fault(void)
{
    register uint32_t operation __asm__("r0") = 0x18;
    register uint32_t reason __asm__("r1") = 0x20023;

    for (;;)
        __asm__ volatile("bkpt 0xAB" : : "r"(operation), "r"(reason) : "memory");
}

void reset(void)
{
    const uint32_t *from = data_load;
    uint32_t *to;

    for (to = data_start; to < data_end; to++)
        *to = *from++;
    _start();
    fault();
}

typedef union {
    uint32_t *stack;
    void (*handler)(void);
} vector;

#define TO(function) { .handler = (function) }
#define NONE { 0 }

__attribute__((section(".vectors"), used))
static const vector vectors[16] = {
    { stack_top }, TO(reset), TO(fault), TO(fault), TO(fault), TO(fault), TO(fault), NONE, NONE, NONE, NONE,
    TO(fault), TO(fault), NONE, TO(fault), TO(fault),
};
