/*
 * A port of FreeRTOS for two cores. A core is a thread of this process, so both run at the same
 * time. A task is a context (makecontext) that any core can continue. The interrupts are the tick
 * on core 0, and requests of the other core to switch tasks. A core takes them only in port_poll()
 * and when it enables interrupts.
 *
 * The port keeps a log of the tasks that each core runs. It does not use the trace macros for this
 * log.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>
#include <ucontext.h>
#include "FreeRTOS.h"
#include "task.h"
#include "smp.h"

#define CORES 2
#define TICK  1000000u /* ns */

struct start {
    ucontext_t context;
    TaskFunction_t code;
    void *parameters;
};

struct core {
    ucontext_t context; /* switches tasks */
    atomic_int wants_switch;
    UBaseType_t masked;
    int in_interrupt;
};

static struct core cores[CORES];
static __thread BaseType_t this_core;
static struct { atomic_int owner; int count; } locks[2] = {{-1, 0}, {-1, 0}};
static uint64_t next_tick;
extern void *volatile pxCurrentTCBs[];

struct switched switched[CORES][1 << 14];
uint32_t switched_count[CORES];

uint64_t nanoseconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/*
 * After a switch, a task can continue on another thread. If this function were inlined, the
 * compiler could reuse the address of `this_core` of the earlier thread.
 */
__attribute__((noinline)) BaseType_t port_core(void)
{
    __asm volatile("" ::: "memory");
    return this_core;
}

BaseType_t port_is_in_interrupt(void)
{
    return cores[port_core()].in_interrupt;
}

void port_get_lock(int lock, BaseType_t core)
{
    int nobody = -1;
    if (atomic_load(&locks[lock].owner) != (int)core) {
        while (!atomic_compare_exchange_weak(&locks[lock].owner, &nobody, (int)core)) {
            nobody = -1;
            sched_yield();
        }
    }
    locks[lock].count++;
}

void port_release_lock(int lock, BaseType_t core)
{
    configASSERT(atomic_load(&locks[lock].owner) == (int)core);
    if (--locks[lock].count == 0) {
        atomic_store(&locks[lock].owner, -1);
    }
}

UBaseType_t port_mask(void)
{
    struct core *const core = &cores[port_core()];
    const UBaseType_t before = core->masked;
    core->masked = 1;
    return before;
}

void port_unmask(UBaseType_t mask)
{
    cores[port_core()].masked = mask;
    port_poll();
}

void port_yield(BaseType_t core)
{
    atomic_store(&cores[core].wants_switch, 1);
    if (core == port_core()) {
        port_poll();
    }
}

static void tick(struct core *core)
{
    UBaseType_t mask;
    core->masked = 1;
    core->in_interrupt = 1;
    traceISR_ENTER();
    mask = taskENTER_CRITICAL_FROM_ISR();
    if (xTaskIncrementTick() != pdFALSE) {
        atomic_store(&core->wants_switch, 1);
        traceISR_EXIT_TO_SCHEDULER();
    } else {
        traceISR_EXIT();
    }
    taskEXIT_CRITICAL_FROM_ISR(mask);
    core->in_interrupt = 0;
    core->masked = 0;
}

/*
 * Takes the interrupts that are pending on this core. The calling task may be on another core when
 * this function returns.
 */
void port_poll(void)
{
    const BaseType_t number = port_core();
    struct core *const core = &cores[number];
    if (core->masked != 0 || next_tick == 0) {
        return;
    }
    if (number == 0 && nanoseconds() >= next_tick) {
        next_tick = nanoseconds() + TICK;
        tick(core);
    }
    if (atomic_exchange(&core->wants_switch, 0) != 0) {
        core->masked = 1;
        swapcontext(*(ucontext_t **)pxCurrentTCBs[number], &core->context);
    }
}

static void task_begins(unsigned low, unsigned high)
{
    struct start *const start = (struct start *)((uintptr_t)low | ((uintptr_t)high << 32));
    start->code(start->parameters);
    __builtin_trap();
}

StackType_t *pxPortInitialiseStack(StackType_t *top, TaskFunction_t code, void *parameters)
{
    const size_t stack = (configMINIMAL_STACK_SIZE * sizeof(StackType_t)) / 2;
    struct start *const start = (struct start *)(((uintptr_t)top - sizeof *start) & ~(uintptr_t)63);
    getcontext(&start->context);
    start->context.uc_stack.ss_sp = (char *)start - stack;
    start->context.uc_stack.ss_size = stack;
    start->context.uc_link = NULL;
    start->code = code;
    start->parameters = parameters;
    makecontext(&start->context, (void (*)(void))task_begins, 2, (unsigned)(uintptr_t)start,
                (unsigned)((uintptr_t)start >> 32));
    return (StackType_t *)start;
}

static void log_switch(BaseType_t core, uint64_t before)
{
    struct switched *const entry = &switched[core][switched_count[core]];
    entry->before = before;
    entry->after = nanoseconds();
    strncpy(entry->task, pcTaskGetName(pxCurrentTCBs[core]), sizeof entry->task);
    switched_count[core] += (switched_count[core] + 1 < sizeof switched[core] / sizeof *entry) ? 1 : 0;
}

/* The thread of a core. Continues the core's current task until a switch is due. Then lets the kernel
 * choose the next task. */
static void *run(void *number)
{
    const BaseType_t core = (BaseType_t)number;
    this_core = core;
    for (;;) {
        void *const task = pxCurrentTCBs[core];
        uint64_t before;
        cores[core].masked = 0;
        swapcontext(&cores[core].context, *(ucontext_t **)task);
        before = nanoseconds();
        vTaskSwitchContext(core);
        if (pxCurrentTCBs[core] != task) {
            log_switch(core, before);
        }
    }
    return NULL;
}

BaseType_t xPortStartScheduler(void)
{
    pthread_t thread;
    next_tick = nanoseconds() + TICK;
    log_switch(0, 0);
    pthread_create(&thread, NULL, run, (void *)1);
    run((void *)0);
    return pdTRUE;
}

void vPortEndScheduler(void)
{
}

void vApplicationIdleHook(void)
{
    port_poll();
    sched_yield();
}

void vApplicationPassiveIdleHook(void)
{
    port_poll();
    sched_yield();
}
