/*
 * Writes packets to a file on the host by semihosting. Without a debugger or an emulator, the
 * breakpoint instruction stops the program. Each call stops the processor until the host has answered,
 * so use this file only in tests and emulators.
 *
 * Source of the operations and their parameter blocks: Arm's specification of semihosting.
 */
#include "tracewell_target_send.h"

#define OPEN   1
#define CLOSE  2
#define WRITE  5
#define BINARY 5u /* mode "wb" */

static intptr_t file = -1;

static intptr_t call(intptr_t operation, const uintptr_t *block)
{
#if defined(__arm__) && (__ARM_ARCH_PROFILE == 'M')
    register intptr_t r0 __asm("r0") = operation;
    register const uintptr_t *r1 __asm("r1") = block;
    __asm volatile("bkpt 0xAB" : "+r"(r0) : "r"(r1) : "memory");
    return r0;
#elif defined(__riscv)
    register intptr_t a0 __asm("a0") = operation;
    register const uintptr_t *a1 __asm("a1") = block;
    /* The three instructions must not be compressed, because the debugger recognises them as a sequence. */
    __asm volatile(".balign 16\n\t.option push\n\t.option norvc\n\tslli x0, x0, 0x1f\n\tebreak\n\t"
                   "srai x0, x0, 7\n\t.option pop"
                   : "+r"(a0) : "r"(a1) : "memory");
    return a0;
#else
#error "semihosting is for Cortex-M and RISC-V"
#endif
}

int tw_semihosting_open(const char *name)
{
    uintptr_t block[3] = {(uintptr_t)name, BINARY, 0};
    while (name[block[2]] != '\0') {
        block[2]++;
    }
    file = call(OPEN, block);
    return (file == -1) ? -1 : 0;
}

uint32_t tw_semihosting_write(const uint8_t *bytes, uint32_t length)
{
    const uintptr_t block[3] = {(uintptr_t)file, (uintptr_t)bytes, length};
    /* The host returns the number of bytes that it has not written. */
    const uint32_t left = (file != -1) ? (uint32_t)call(WRITE, block) : length;
    return (left < length) ? (length - left) : 0u;
}

void tw_semihosting_close(void)
{
    const uintptr_t block[1] = {(uintptr_t)file};
    if (file != -1) {
        (void)call(CLOSE, block);
        file = -1;
    }
}
