/* The kernel's configuration for the example: a Cortex-M3 at 25 MHz with the recorder. */
#ifndef FREERTOS_CONFIG_H
#define FREERTOS_CONFIG_H

#define configCPU_CLOCK_HZ 25000000
#define configTICK_RATE_HZ 1000
#define configUSE_PREEMPTION 1
#define configUSE_TIME_SLICING 1
#define configUSE_PORT_OPTIMISED_TASK_SELECTION 0
#define configMAX_PRIORITIES 8
#define configMINIMAL_STACK_SIZE 256
#define configMAX_TASK_NAME_LEN 16
#define configTICK_TYPE_WIDTH_IN_BITS TICK_TYPE_WIDTH_32_BITS
#define configTOTAL_HEAP_SIZE (64 * 1024)
#define configUSE_IDLE_HOOK 1
#define configUSE_TICK_HOOK 0
#define configUSE_MUTEXES 1
#define configUSE_COUNTING_SEMAPHORES 1
#define configUSE_TIMERS 1
#define configTIMER_TASK_PRIORITY 6
#define configTIMER_QUEUE_LENGTH 8
#define configTIMER_TASK_STACK_DEPTH 256
#define configQUEUE_REGISTRY_SIZE 8
#define configCHECK_HANDLER_INSTALLATION 0
#define configKERNEL_INTERRUPT_PRIORITY 255
#define configMAX_SYSCALL_INTERRUPT_PRIORITY 128
#define INCLUDE_vTaskDelay 1
#define INCLUDE_vTaskDelete 1
#define INCLUDE_vTaskSuspend 1
#define INCLUDE_xTaskDelayUntil 1
#define vPortSVCHandler SVC_Handler
#define xPortPendSVHandler PendSV_Handler
#define xPortSysTickHandler SysTick_Handler

/* Step 2 of docs/target.md: the recorder needs the numbers that the kernel gives to tasks. The header defines
 * the kernel's trace macros. */
#define configUSE_TRACE_FACILITY 1
#include "tracewell_freertos.h"

/* The program's own log of switches. A test compares the trace with it. */
#ifndef __ASSEMBLER__
void own_log(uint32_t task);
#undef traceTASK_SWITCHED_IN
#define traceTASK_SWITCHED_IN()                        \
    do {                                               \
        own_log((uint32_t)pxCurrentTCB->uxTCBNumber);  \
        TW_EVENT(TW_RUNS, TW_TCB(pxCurrentTCB), 0);    \
    } while (0)
#endif

#endif
