/* The trace macros of FreeRTOS V10.4 as its kernel expands them: with the parameters, the local
 * variables and the fields of private structures that this version has. The file is only compiled. It
 * contains no code of the kernel. Source: the kernel's documentation of the trace hook macros, and the
 * fields that configUSE_TRACE_FACILITY adds.
 */
#include <stddef.h>
#include <stdint.h>

#define configUSE_TRACE_FACILITY 1
#define TW_TARGET_GROUPS 0xFFu
#include "tracewell_freertos.h"

typedef long BaseType_t;
typedef unsigned long UBaseType_t;
typedef uint32_t TickType_t;

#define configIDLE_TASK_NAME "IDLE"

typedef struct tskTaskControlBlock {
    UBaseType_t uxPriority;
    char pcTaskName[16];
    UBaseType_t uxTCBNumber;
    volatile uint32_t ulNotifiedValue[1];
} tskTCB;
typedef tskTCB TCB_t;

typedef struct QueueDefinition {
    union {
        struct {
            struct tskTaskControlBlock *xMutexHolder;
        } xSemaphore;
    } u;
    volatile UBaseType_t uxMessagesWaiting;
    UBaseType_t uxLength;
    UBaseType_t uxQueueNumber;
    uint8_t ucQueueType;
} Queue_t;

typedef struct tmrTimerControl {
    const char *pcTimerName;
    TickType_t xTimerPeriodInTicks;
    UBaseType_t uxTimerNumber;
} Timer_t;

typedef struct EventGroupDef_t {
    UBaseType_t uxEventGroupNumber;
} EventGroup_t;

typedef struct StreamBufferDef_t {
    UBaseType_t uxStreamBufferNumber;
} StreamBuffer_t;

void tasks(TCB_t *pxNewTCB, TCB_t *pxTCB, TickType_t xTicksToDelay, UBaseType_t uxPriority);
void notifications(TCB_t *pxTCB, UBaseType_t uxIndexToNotify, uint32_t ulValue);
void queues(Queue_t *pxQueue, const char *pcQueueName);
void timers(Timer_t *pxTimer, BaseType_t xCommandID, TickType_t xOptionalValue);
void groups(EventGroup_t *pxEventBits, uint32_t uxBits);
void buffers(StreamBuffer_t *pxStreamBuffer, size_t xBytes);
void memory(void *pv, size_t xSize);

TCB_t *volatile pxCurrentTCB;

void tasks(TCB_t *pxNewTCB, TCB_t *pxTCB, TickType_t xTicksToDelay, UBaseType_t uxPriority)
{
    const TickType_t xTickCount = 0;
    traceTASK_CREATE(pxNewTCB);
    traceTASK_DELETE(pxTCB);
    traceTASK_SWITCHED_IN();
    traceMOVED_TASK_TO_READY_STATE(pxTCB);
    traceTASK_DELAY();
    traceTASK_DELAY_UNTIL(xTicksToDelay);
    traceTASK_SUSPEND(pxTCB);
    traceTASK_RESUME(pxTCB);
    traceTASK_RESUME_FROM_ISR(pxTCB);
    traceTASK_PRIORITY_SET(pxTCB, uxPriority);
    traceTASK_PRIORITY_INHERIT(pxTCB, uxPriority);
    traceTASK_PRIORITY_DISINHERIT(pxTCB, uxPriority);
    traceTASK_INCREMENT_TICK(xTickCount);
    traceINCREASE_TICK_COUNT(xTicksToDelay);
    traceLOW_POWER_IDLE_BEGIN();
    traceLOW_POWER_IDLE_END();
}

void notifications(TCB_t *pxTCB, UBaseType_t uxIndexToNotify, uint32_t ulValue)
{
    traceTASK_NOTIFY(uxIndexToNotify);
    traceTASK_NOTIFY_FROM_ISR(uxIndexToNotify);
    traceTASK_NOTIFY_GIVE_FROM_ISR(uxIndexToNotify);
    traceTASK_NOTIFY_TAKE_BLOCK(uxIndexToNotify);
    traceTASK_NOTIFY_TAKE(uxIndexToNotify);
    traceTASK_NOTIFY_WAIT_BLOCK(uxIndexToNotify);
    traceTASK_NOTIFY_WAIT(uxIndexToNotify);
}

void queues(Queue_t *pxQueue, const char *pcQueueName)
{
    traceQUEUE_CREATE(pxQueue);
    traceQUEUE_REGISTRY_ADD(pxQueue, pcQueueName);
    traceQUEUE_SEND(pxQueue);
    traceQUEUE_SEND_FAILED(pxQueue);
    traceQUEUE_SEND_FROM_ISR(pxQueue);
    traceQUEUE_SEND_FROM_ISR_FAILED(pxQueue);
    traceBLOCKING_ON_QUEUE_SEND(pxQueue);
    traceQUEUE_RECEIVE(pxQueue);
    traceQUEUE_RECEIVE_FAILED(pxQueue);
    traceQUEUE_RECEIVE_FROM_ISR(pxQueue);
    traceQUEUE_RECEIVE_FROM_ISR_FAILED(pxQueue);
    traceBLOCKING_ON_QUEUE_RECEIVE(pxQueue);
    traceQUEUE_PEEK(pxQueue);
    traceQUEUE_PEEK_FROM_ISR(pxQueue);
    traceBLOCKING_ON_QUEUE_PEEK(pxQueue);
    traceQUEUE_DELETE(pxQueue);
}

void timers(Timer_t *pxTimer, BaseType_t xCommandID, TickType_t xOptionalValue)
{
    traceTIMER_CREATE(pxTimer);
    traceTIMER_EXPIRED(pxTimer);
    traceTIMER_COMMAND_RECEIVED(pxTimer, xCommandID, xOptionalValue);
}

void groups(EventGroup_t *pxEventBits, uint32_t uxBits)
{
    void *const xEventGroup = pxEventBits;
    const BaseType_t xTimeoutOccurred = 0;
    traceEVENT_GROUP_CREATE(pxEventBits);
    traceEVENT_GROUP_WAIT_BITS_BLOCK(xEventGroup, uxBits);
    traceEVENT_GROUP_WAIT_BITS_END(xEventGroup, uxBits, xTimeoutOccurred);
    traceEVENT_GROUP_SYNC_BLOCK(xEventGroup, uxBits, uxBits);
    traceEVENT_GROUP_SYNC_END(xEventGroup, uxBits, uxBits, xTimeoutOccurred);
    traceEVENT_GROUP_SET_BITS(xEventGroup, uxBits);
    traceEVENT_GROUP_CLEAR_BITS(xEventGroup, uxBits);
    traceEVENT_GROUP_DELETE(xEventGroup);
}

void buffers(StreamBuffer_t *pxStreamBuffer, size_t xBytes)
{
    traceSTREAM_BUFFER_CREATE(pxStreamBuffer, 0);
    traceSTREAM_BUFFER_SEND(pxStreamBuffer, xBytes);
    traceSTREAM_BUFFER_SEND_FROM_ISR(pxStreamBuffer, xBytes);
    traceSTREAM_BUFFER_RECEIVE(pxStreamBuffer, xBytes);
    traceSTREAM_BUFFER_RECEIVE_FROM_ISR(pxStreamBuffer, xBytes);
    traceBLOCKING_ON_STREAM_BUFFER_SEND(pxStreamBuffer);
    traceBLOCKING_ON_STREAM_BUFFER_RECEIVE(pxStreamBuffer);
    traceSTREAM_BUFFER_RESET(pxStreamBuffer);
    traceSTREAM_BUFFER_DELETE(pxStreamBuffer);
}

void memory(void *pv, size_t xSize)
{
    traceMALLOC(pv, xSize);
    traceFREE(pv, xSize);
}
