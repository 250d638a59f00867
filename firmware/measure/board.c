/* Starts a program on the machine mps2-an385. The emulator exits with the result of main(). */
#include "board.h"

extern uint32_t stack_top[], data_start[], data_end[], data_load[], __bss_start__[], __bss_end__[];
int main(void);
void reset(void);

static void semihosting(int operation, const void *block)
{
    register int r0 __asm__("r0") = operation;
    register const void *r1 __asm__("r1") = block;
    __asm__ volatile("bkpt 0xAB" : "+r"(r0) : "r"(r1) : "memory");
}

void board_print(const char *text)
{
    semihosting(4, text);
}

static void leave(uint32_t code)
{
    const uint32_t block[2] = {0x20026, code};
    semihosting(0x20, block);
    for (;;) {
    }
}

static void fault(void)
{
    leave(2);
}

void reset(void)
{
    const uint32_t *from = data_load;
    for (uint32_t *to = data_start; to < data_end; to++) {
        *to = *from++;
    }
    for (uint32_t *to = __bss_start__; to < __bss_end__; to++) {
        *to = 0;
    }
    leave((uint32_t)main());
}

typedef union {
    uint32_t *stack;
    void (*handler)(void);
} vector;

__attribute__((section(".vectors"), used)) static const vector vectors[16] = {
    {stack_top},        {.handler = reset}, {.handler = fault}, {.handler = fault}, {.handler = fault},
    {.handler = fault}, {.handler = fault}, {0},                {0},                {0},
    {0},                {.handler = fault}, {.handler = fault}, {0},                {.handler = fault},
    {.handler = fault},
};
