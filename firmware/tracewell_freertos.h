/*
 * The trace macros of FreeRTOS V10.4 to V11.2, for the recorder of tracewell_target.h.
 *
 * Include this file at the end of FreeRTOSConfig.h, set configUSE_TRACE_FACILITY to 1, and call
 * tw_target_init() before the first call of the kernel. Queues, semaphores and mutexes get their names
 * from vQueueAddToRegistry().
 *
 * The macros expand in the kernel's own files, where the private structures are known. Tasks have the
 * kernel's number (uxTCBNumber). The macros assign numbers to queues, timers, event groups and stream buffers, in the
 * field that the kernel provides for tools. The recorder records ticks and sleep only
 * if TW_TARGET_GROUPS contains TW_TICKS, and allocations only if it contains TW_MEMORY.
 */
#ifndef TRACEWELL_FREERTOS_H
#define TRACEWELL_FREERTOS_H

#include "tracewell_target.h"

#if (configUSE_TRACE_FACILITY != 1)
#error "set configUSE_TRACE_FACILITY to 1: the recorder needs the numbers of tasks and queues"
#endif

#ifndef __ASSEMBLER__

/* Returns the number of the interrupt in progress. */
#ifndef TW_FREERTOS_INTERRUPT
#if defined(__arm__) && (__ARM_ARCH_PROFILE == 'M')
static inline uint32_t tw_freertos_interrupt(void)
{
    uint32_t number;
    __asm volatile("mrs %0, ipsr" : "=r"(number));
    return number;
}
#define TW_FREERTOS_INTERRUPT() tw_freertos_interrupt()
#else
#define TW_FREERTOS_INTERRUPT() 0u
#endif
#endif

/* Returns 1 if `name` is `idle`, the kernel's name of idle tasks, with or without a number at the end.
 * With several cores, the kernel appends a number. */
static inline uint32_t tw_freertos_is_idle(const char *name, const char *idle)
{
    while ((*idle != '\0') && (*name == *idle)) {
        name++;
        idle++;
    }
    while ((*name >= '0') && (*name <= '9')) {
        name++;
    }
    return ((*idle == '\0') && (*name == '\0')) ? 1u : 0u;
}

/* Tasks. Idle tasks have the lowest priority. */
#define TW_TCB(tcb) ((uint32_t)((const TCB_t *)(tcb))->uxTCBNumber)
#define TW_TASK_KIND(tcb)                                                                           \
    ((((tcb)->uxPriority == 0u) && (tw_freertos_is_idle((tcb)->pcTaskName, configIDLE_TASK_NAME) != 0u)) \
         ? TW_IDLE_TASK : TW_TASK)

#define traceTASK_CREATE(tcb)                                                                       \
    do {                                                                                            \
        tw_target_define(TW_TASK_KIND(tcb), TW_TCB(tcb), 0, (uint32_t)(tcb)->uxPriority,            \
                         (tcb)->pcTaskName);                                                        \
        TW_EVENT(TW_TASK_CREATE, TW_TCB(tcb), (tcb)->uxPriority);                                   \
    } while (0)
#define traceTASK_DELETE(tcb)                                                                       \
    do {                                                                                            \
        TW_EVENT(TW_TASK_DELETE, TW_TCB(tcb), 0);                                                   \
        tw_target_remove(TW_TASK, TW_TCB(tcb));                                                     \
    } while (0)
#define traceTASK_SWITCHED_IN() TW_EVENT(TW_RUNS, TW_TCB(pxCurrentTCB), 0)
#define traceMOVED_TASK_TO_READY_STATE(tcb) TW_EVENT(TW_READY, TW_TCB(tcb), 0)
#define traceTASK_DELAY() TW_EVENT(TW_DELAY, xTicksToDelay, 0)
#define traceTASK_DELAY_UNTIL(tick) TW_EVENT(TW_DELAY_UNTIL, tick, 0)
#define traceTASK_SUSPEND(tcb) TW_EVENT(TW_SUSPEND, TW_TCB(tcb), 0)
#define traceTASK_RESUME(tcb) TW_EVENT(TW_RESUME, TW_TCB(tcb), 0)
#define traceTASK_RESUME_FROM_ISR(tcb) TW_EVENT(TW_RESUME, TW_TCB(tcb), 0)
#define traceTASK_PRIORITY_SET(tcb, priority) TW_EVENT(TW_PRIORITY_SET, TW_TCB(tcb), priority)
#define traceTASK_PRIORITY_INHERIT(tcb, priority) TW_EVENT(TW_INHERIT, TW_TCB(tcb), priority)
#define traceTASK_PRIORITY_DISINHERIT(tcb, priority) TW_EVENT(TW_DISINHERIT, TW_TCB(tcb), priority)
#define traceTASK_INCREMENT_TICK(before) TW_EVENT(TW_TICK, (uint32_t)(before) + 1u, 0)
#define traceINCREASE_TICK_COUNT(ticks) TW_EVENT(TW_TICKS_JUMP, ticks, 0)
#define traceLOW_POWER_IDLE_BEGIN() TW_EVENT(TW_SLEEP_BEGIN, 0, 0)
#define traceLOW_POWER_IDLE_END() TW_EVENT(TW_SLEEP_END, 0, 0)

/* Notifications. */
#define traceTASK_NOTIFY(index) TW_EVENT(TW_NOTIFY, TW_TCB(pxTCB), ulValue)
#define traceTASK_NOTIFY_FROM_ISR(index) TW_EVENT(TW_NOTIFY, TW_TCB(pxTCB), ulValue)
#define traceTASK_NOTIFY_GIVE_FROM_ISR(index) TW_EVENT(TW_NOTIFY, TW_TCB(pxTCB), 1)
#define traceTASK_NOTIFY_TAKE_BLOCK(index) TW_EVENT(TW_NOTIFY_WAIT, index, 0)
#define traceTASK_NOTIFY_WAIT_BLOCK(index) TW_EVENT(TW_NOTIFY_WAIT, index, 0)
#define traceTASK_NOTIFY_TAKE(index) TW_EVENT(TW_NOTIFY_TAKE, pxCurrentTCB->ulNotifiedValue[index], 0)
#define traceTASK_NOTIFY_WAIT(index) TW_EVENT(TW_NOTIFY_TAKE, pxCurrentTCB->ulNotifiedValue[index], 0)

/* Queues, semaphores and mutexes. The kernel uses one structure for all of them, with a field for the type. */
#define TW_QUEUE_NUMBER(queue) ((uint32_t)(queue)->uxQueueNumber)
#define TW_IS_MUTEX(queue) (((queue)->ucQueueType == 1u) || ((queue)->ucQueueType == 4u))
#define TW_IS_SEMAPHORE(queue) (((queue)->ucQueueType == 2u) || ((queue)->ucQueueType == 3u))
/* For a mutex, 1 if it is recursive; for all others, the capacity. */
#define TW_QUEUE_VALUE(queue) \
    (TW_IS_MUTEX(queue) ? (((queue)->ucQueueType == 4u) ? 1u : 0u) : (uint32_t)(queue)->uxLength)
#define TW_QUEUE_KIND(queue) \
    (TW_IS_MUTEX(queue) ? TW_MUTEX : (TW_IS_SEMAPHORE(queue) ? TW_SEMAPHORE : TW_QUEUE))
/* Records the event for the kind of a queue. Unless the queue is a mutex, the event contains its count
 * before the operation. */
#define TW_BY_KIND(queue, mutex, semaphore, other)                                                  \
    do {                                                                                            \
        if (TW_IS_MUTEX(queue)) {                                                                   \
            TW_EVENT(mutex, TW_QUEUE_NUMBER(queue), 0);                                             \
        } else if (TW_IS_SEMAPHORE(queue)) {                                                        \
            TW_EVENT(semaphore, TW_QUEUE_NUMBER(queue), (queue)->uxMessagesWaiting);                \
        } else {                                                                                    \
            TW_EVENT(other, TW_QUEUE_NUMBER(queue), (queue)->uxMessagesWaiting);                    \
        }                                                                                           \
    } while (0)

#define traceQUEUE_CREATE(queue)                                                                    \
    do {                                                                                            \
        (queue)->uxQueueNumber = (UBaseType_t)tw_target_number();                                   \
        tw_target_define(TW_QUEUE_KIND(queue), TW_QUEUE_NUMBER(queue), TW_QUEUE_VALUE(queue), 0, "");\
        TW_EVENT(TW_OBJECT_CREATE, TW_QUEUE_KIND(queue), TW_QUEUE_NUMBER(queue));                   \
    } while (0)
#define traceQUEUE_DELETE(queue)                                                                    \
    do {                                                                                            \
        TW_EVENT(TW_OBJECT_DELETE, TW_QUEUE_KIND(queue), TW_QUEUE_NUMBER(queue));                   \
        tw_target_remove(TW_QUEUE_KIND(queue), TW_QUEUE_NUMBER(queue));                             \
    } while (0)
#define traceQUEUE_REGISTRY_ADD(queue, name)                                                        \
    tw_target_define(TW_QUEUE_KIND(queue), TW_QUEUE_NUMBER(queue), TW_QUEUE_VALUE(queue), 0, name)
/* The kernel gives each new mutex once, before any task holds it. This is not an unlock. */
#define traceQUEUE_SEND(queue)                                                                      \
    do {                                                                                            \
        if (!TW_IS_MUTEX(queue) || ((queue)->u.xSemaphore.xMutexHolder != NULL)) {                  \
            TW_BY_KIND(queue, TW_MUTEX_UNLOCK, TW_SEMAPHORE_GIVE, TW_QUEUE_SEND);                   \
        }                                                                                           \
    } while (0)
#define traceQUEUE_SEND_FROM_ISR(queue) TW_BY_KIND(queue, TW_MUTEX_UNLOCK, TW_SEMAPHORE_GIVE, TW_QUEUE_SEND)
#define traceQUEUE_SET_SEND(queue) TW_EVENT(TW_QUEUE_SEND, TW_QUEUE_NUMBER(queue), (queue)->uxMessagesWaiting)
#define traceQUEUE_SEND_FAILED(queue) TW_EVENT(TW_QUEUE_REFUSE, TW_QUEUE_NUMBER(queue), 0)
#define traceQUEUE_SEND_FROM_ISR_FAILED(queue) TW_EVENT(TW_QUEUE_REFUSE, TW_QUEUE_NUMBER(queue), 0)
#define traceBLOCKING_ON_QUEUE_SEND(queue) TW_EVENT(TW_QUEUE_WAIT_SEND, TW_QUEUE_NUMBER(queue), 0)
#define traceQUEUE_RECEIVE(queue) TW_BY_KIND(queue, TW_MUTEX_LOCK, TW_SEMAPHORE_TAKE, TW_QUEUE_RECEIVE)
#define traceQUEUE_RECEIVE_FROM_ISR(queue) TW_BY_KIND(queue, TW_MUTEX_LOCK, TW_SEMAPHORE_TAKE, TW_QUEUE_RECEIVE)
#define traceBLOCKING_ON_QUEUE_RECEIVE(queue) \
    TW_BY_KIND(queue, TW_MUTEX_WAIT, TW_SEMAPHORE_WAIT, TW_QUEUE_WAIT_RECEIVE)
#define traceQUEUE_RECEIVE_FAILED(queue) TW_BY_KIND(queue, TW_MUTEX_REFUSE, TW_SEMAPHORE_REFUSE, TW_QUEUE_EMPTY)
#define traceQUEUE_RECEIVE_FROM_ISR_FAILED(queue) \
    TW_BY_KIND(queue, TW_MUTEX_REFUSE, TW_SEMAPHORE_REFUSE, TW_QUEUE_EMPTY)
#define traceBLOCKING_ON_QUEUE_PEEK(queue) TW_EVENT(TW_QUEUE_WAIT_RECEIVE, TW_QUEUE_NUMBER(queue), 0)
#define traceQUEUE_PEEK(queue) TW_EVENT(TW_QUEUE_PEEK, TW_QUEUE_NUMBER(queue), (queue)->uxMessagesWaiting)
#define traceQUEUE_PEEK_FROM_ISR(queue) TW_EVENT(TW_QUEUE_PEEK, TW_QUEUE_NUMBER(queue), (queue)->uxMessagesWaiting)

/* Timers. timers.h defines the numbers of commands: 3 and 8 stop a timer, 5 deletes it, 4 and 9 change
 * its period to `value`. The kernel stores the new period only after it has called this macro. */
#define TW_TIMER_NUMBER(timer) ((uint32_t)(timer)->uxTimerNumber)
#define traceTIMER_CREATE(timer)                                                                    \
    do {                                                                                            \
        (timer)->uxTimerNumber = (UBaseType_t)tw_target_number();                                   \
        tw_target_define(TW_TIMER, TW_TIMER_NUMBER(timer), (uint32_t)(timer)->xTimerPeriodInTicks,  \
                         0, (timer)->pcTimerName);                                                  \
        TW_EVENT(TW_OBJECT_CREATE, TW_TIMER, TW_TIMER_NUMBER(timer));                               \
    } while (0)
#define traceTIMER_EXPIRED(timer) TW_EVENT(TW_TIMER_EXPIRED, TW_TIMER_NUMBER(timer), 0)
#define traceTIMER_COMMAND_RECEIVED(timer, command, value)                                          \
    do {                                                                                            \
        if (((command) == 3) || ((command) == 8)) {                                                 \
            TW_EVENT(TW_TIMER_STOP, TW_TIMER_NUMBER(timer), 0);                                     \
        } else if ((command) == 5) {                                                                \
            TW_EVENT(TW_OBJECT_DELETE, TW_TIMER, TW_TIMER_NUMBER(timer));                           \
            tw_target_remove(TW_TIMER, TW_TIMER_NUMBER(timer));                                     \
        } else if (((command) == 4) || ((command) == 9)) {                                          \
            TW_EVENT(TW_TIMER_START, TW_TIMER_NUMBER(timer), value);                                \
        } else {                                                                                    \
            TW_EVENT(TW_TIMER_START, TW_TIMER_NUMBER(timer), (timer)->xTimerPeriodInTicks);         \
        }                                                                                           \
    } while (0)

/* Event groups. */
#define TW_GROUP_NUMBER(group) ((uint32_t)((const EventGroup_t *)(group))->uxEventGroupNumber)
#define traceEVENT_GROUP_CREATE(group)                                                              \
    do {                                                                                            \
        ((EventGroup_t *)(group))->uxEventGroupNumber = (UBaseType_t)tw_target_number();            \
        TW_EVENT(TW_OBJECT_CREATE, TW_EVENT_GROUP, TW_GROUP_NUMBER(group));                         \
    } while (0)
#define traceEVENT_GROUP_DELETE(group) TW_EVENT(TW_OBJECT_DELETE, TW_EVENT_GROUP, TW_GROUP_NUMBER(group))
#define traceEVENT_GROUP_WAIT_BITS_BLOCK(group, bits) TW_EVENT(TW_GROUP_WAIT, TW_GROUP_NUMBER(group), bits)
#define traceEVENT_GROUP_WAIT_BITS_END(group, bits, late)                                           \
    do {                                                                                            \
        (void)(late);                                                                               \
        TW_EVENT(TW_GROUP_TAKE, TW_GROUP_NUMBER(group), bits);                                      \
    } while (0)
#define traceEVENT_GROUP_SYNC_BLOCK(group, set, bits)                                               \
    do {                                                                                            \
        TW_EVENT(TW_GROUP_SET, TW_GROUP_NUMBER(group), set);                                        \
        TW_EVENT(TW_GROUP_WAIT, TW_GROUP_NUMBER(group), bits);                                      \
    } while (0)
#define traceEVENT_GROUP_SYNC_END(group, set, bits, late) traceEVENT_GROUP_WAIT_BITS_END(group, bits, late)
#define traceEVENT_GROUP_SET_BITS(group, bits) TW_EVENT(TW_GROUP_SET, TW_GROUP_NUMBER(group), bits)
#define traceEVENT_GROUP_CLEAR_BITS(group, bits) TW_EVENT(TW_GROUP_CLEAR, TW_GROUP_NUMBER(group), bits)

/* Stream and message buffers. */
#define TW_STREAM_NUMBER(buffer) ((uint32_t)((const StreamBuffer_t *)(buffer))->uxStreamBufferNumber)
#define traceSTREAM_BUFFER_CREATE(buffer, type)                                                     \
    do {                                                                                            \
        ((StreamBuffer_t *)(buffer))->uxStreamBufferNumber = (UBaseType_t)tw_target_number();       \
        TW_EVENT(TW_OBJECT_CREATE, TW_STREAM_BUFFER, TW_STREAM_NUMBER(buffer));                     \
    } while (0)
#define traceSTREAM_BUFFER_DELETE(buffer) TW_EVENT(TW_OBJECT_DELETE, TW_STREAM_BUFFER, TW_STREAM_NUMBER(buffer))
#define traceSTREAM_BUFFER_RESET(buffer) TW_EVENT(TW_STREAM_FLUSH, TW_STREAM_NUMBER(buffer), 0)
#define traceSTREAM_BUFFER_RESET_FROM_ISR(buffer) TW_EVENT(TW_STREAM_FLUSH, TW_STREAM_NUMBER(buffer), 0)
#define traceBLOCKING_ON_STREAM_BUFFER_SEND(buffer) TW_EVENT(TW_STREAM_WAIT_SEND, TW_STREAM_NUMBER(buffer), 0)
#define traceBLOCKING_ON_STREAM_BUFFER_RECEIVE(buffer) \
    TW_EVENT(TW_STREAM_WAIT_RECEIVE, TW_STREAM_NUMBER(buffer), 0)
#define traceSTREAM_BUFFER_SEND(buffer, bytes) TW_EVENT(TW_STREAM_SEND, TW_STREAM_NUMBER(buffer), bytes)
#define traceSTREAM_BUFFER_SEND_FROM_ISR(buffer, bytes) TW_EVENT(TW_STREAM_SEND, TW_STREAM_NUMBER(buffer), bytes)
#define traceSTREAM_BUFFER_RECEIVE(buffer, bytes) TW_EVENT(TW_STREAM_RECEIVE, TW_STREAM_NUMBER(buffer), bytes)
#define traceSTREAM_BUFFER_RECEIVE_FROM_ISR(buffer, bytes) \
    TW_EVENT(TW_STREAM_RECEIVE, TW_STREAM_NUMBER(buffer), bytes)

/* Memory. */
#define traceMALLOC(address, size) TW_EVENT(TW_ALLOCATE, (uintptr_t)(address), size)
#define traceFREE(address, size) TW_EVENT(TW_FREE, (uintptr_t)(address), size)

/* Interrupts. The kernel's port can call these macros only for its tick. Other handlers must call
 * traceISR_ENTER() at their start. At their end, they must call one of the exit macros, unless the port
 * calls it. */
#define traceISR_ENTER() TW_EVENT(TW_INTERRUPT_ENTER, TW_FREERTOS_INTERRUPT(), 0)
#define traceISR_EXIT() TW_EVENT(TW_INTERRUPT_EXIT, 0, 0)
#define traceISR_EXIT_TO_SCHEDULER() TW_EVENT(TW_INTERRUPT_EXIT_TO_SCHEDULER, 0, 0)

#endif /* __ASSEMBLER__ */
#endif /* TRACEWELL_FREERTOS_H */
