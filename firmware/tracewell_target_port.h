/*
 * The parts of the recorder that depend on the processor: the clock, the number of the core, and the
 * lock. The recorder's C files include this file; programs need not include it. tracewell_target.h
 * lists the macros that replace these defaults.
 */
#ifndef TRACEWELL_TARGET_PORT_H
#define TRACEWELL_TARGET_PORT_H

#include "tracewell_target.h"

#ifndef TW_TARGET_CLOCK
uint32_t tw_target_clock(void);
#define TW_TARGET_CLOCK() tw_target_clock()
#endif
#ifndef TW_TARGET_CORE
#define TW_TARGET_CORE() 0u
#endif
#ifndef TW_TARGET_LOCK
#if TW_TARGET_CORES > 1
#error "define TW_TARGET_LOCK() and TW_TARGET_UNLOCK(state) so that they also exclude the other cores"
#elif defined(__arm__) && (__ARM_ARCH_PROFILE == 'M')
static inline uint32_t tw_lock(void)
{
    uint32_t state;
    __asm volatile("mrs %0, primask\n\tcpsid i" : "=r"(state) : : "memory");
    return state;
}
#define TW_TARGET_LOCK()      tw_lock()
#define TW_TARGET_UNLOCK(s)   __asm volatile("msr primask, %0" : : "r"(s) : "memory")
#elif defined(__riscv)
/* Newer compilers accept instructions for control registers only with the extension Zicsr, but -march=rv32imac
 * does not name it. Every core that takes interrupts has it. */
#if defined(__riscv_zicsr) || (defined(__clang__) && (__clang_major__ < 17)) || (__GNUC__ < 12 && !defined(__clang__))
#define TW_ZICSR(instruction) instruction
#else
#define TW_ZICSR(instruction) ".option push\n\t.option arch, +zicsr\n\t" instruction "\n\t.option pop"
#endif
static inline uint32_t tw_lock(void)
{
    unsigned long state;
    __asm volatile(TW_ZICSR("csrrci %0, mstatus, 8") : "=r"(state) : : "memory");
    return (uint32_t)(state & 8u);
}
#define TW_TARGET_LOCK()      tw_lock()
#define TW_TARGET_UNLOCK(s)   __asm volatile(TW_ZICSR("csrs mstatus, %0") : : "r"(s) : "memory")
#else
#error "define TW_TARGET_LOCK() and TW_TARGET_UNLOCK(state) for this target"
#endif
#endif

#endif /* TRACEWELL_TARGET_PORT_H */
