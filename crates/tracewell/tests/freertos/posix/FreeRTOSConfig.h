/* The kernel's configuration for a Linux process, with the recorder and the program's own log. */
#ifndef FREERTOS_CONFIG_H
#define FREERTOS_CONFIG_H

#define configCPU_CLOCK_HZ 1000000
#define configTICK_RATE_HZ 1000
#define configUSE_PREEMPTION 1
#define configUSE_PORT_OPTIMISED_TASK_SELECTION 0
#define configMAX_PRIORITIES 8
#define configMINIMAL_STACK_SIZE 4096
#define configMAX_TASK_NAME_LEN 16
#define configTICK_TYPE_WIDTH_IN_BITS TICK_TYPE_WIDTH_64_BITS
#define configTOTAL_HEAP_SIZE (1024 * 1024)
#define configUSE_IDLE_HOOK 0
#define configUSE_TICK_HOOK 0
#define configUSE_MUTEXES 1
#define configUSE_COUNTING_SEMAPHORES 1
#define configUSE_TIMERS 1
#define configTIMER_TASK_PRIORITY 6
#define configTIMER_QUEUE_LENGTH 8
#define configTIMER_TASK_STACK_DEPTH 4096
#define configQUEUE_REGISTRY_SIZE 8
#define INCLUDE_vTaskDelay 1
#define INCLUDE_vTaskDelete 1
#define INCLUDE_vTaskSuspend 1
#define INCLUDE_xTaskDelayUntil 1

#define configUSE_TRACE_FACILITY 1
#include "tracewell_freertos.h"

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
