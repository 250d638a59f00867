/*
 * Tracewell's recorder for small targets, in C99: no libc, no allocation.
 *
 * It records events of a kernel and its tasks into a ring in RAM. New packets overwrite the oldest
 * ones. A dump of the memory contains the whole ring; tw_target_read() copies packets to a buffer,
 * so that the program can send them. The guide docs/target.md shows how to use the recorder and
 * describes every byte.
 *
 * Configuration: define these macros for the compiler, or in a file named by TW_TARGET_CONFIG. Defaults
 * are in parentheses.
 *
 *   TW_TARGET_CORES        number of cores that record (1)
 *   TW_TARGET_SLOT         maximum bytes of a packet with its header: a multiple of 4, 64 to 4096 (256)
 *   TW_TARGET_ENTRIES      entries of 32 bytes in the table of names (24)
 *   TW_TARGET_GROUPS       groups of events that are compiled in: TW_TASKS | ... (all but ticks and memory)
 *   TW_TARGET_CLOCK()      a counter of 32 bits that counts up and wraps (your tw_target_clock())
 *   TW_TARGET_CORE()       number of the calling core (0)
 *   TW_TARGET_LOCK()       disables interrupts of this core and returns the state before (PRIMASK, mstatus).
 *                          If several cores record, it must also exclude the other cores, for example by a spinlock
 *   TW_TARGET_UNLOCK(s)    restores this state
 *
 * Between two recorded events of a core, the counter must advance by less than 2^32 ticks. Interrupts
 * that the lock does not disable must not record. With the default lock, recording never waits: an
 * event takes a bounded number of instructions with interrupts disabled.
 */
#ifndef TRACEWELL_TARGET_H
#define TRACEWELL_TARGET_H

#ifdef TW_TARGET_CONFIG
#include TW_TARGET_CONFIG
#endif

#ifndef TW_TARGET_CORES
#define TW_TARGET_CORES 1
#endif
#ifndef TW_TARGET_SLOT
#define TW_TARGET_SLOT 256
#endif
#ifndef TW_TARGET_ENTRIES
#define TW_TARGET_ENTRIES 24
#endif

/* Groups of events: the bits of TW_TARGET_GROUPS and of the filter. */
#define TW_TASKS        0x01u
#define TW_INTERRUPTS   0x02u
#define TW_LOCKS        0x04u
#define TW_MESSAGES     0x08u
#define TW_TIMERS       0x10u
#define TW_MEMORY       0x20u
#define TW_TICKS        0x40u
#define TW_APPLICATION  0x80u
#define TW_ALWAYS       0x100u

#ifndef TW_TARGET_GROUPS
#define TW_TARGET_GROUPS (TW_TASKS | TW_INTERRUPTS | TW_LOCKS | TW_MESSAGES | TW_TIMERS | TW_APPLICATION)
#endif

/* A code consists of the group of an event and its id in the stream. */
#define TW_CODE(group, id) (((group) << 8) | (id))
#define TW_ID(code)        ((code) & 0xFFu)
#define TW_GROUP(code)     ((code) >> 8)

/* An interrupt service routine ends. */
#define TW_INTERRUPT_EXIT TW_CODE(TW_INTERRUPTS, 0x01u)
/* An interrupt service routine ends, and a switch of tasks follows. */
#define TW_INTERRUPT_EXIT_TO_SCHEDULER TW_CODE(TW_INTERRUPTS, 0x02u)
/* The core begins to sleep. */
#define TW_SLEEP_BEGIN TW_CODE(TW_TICKS, 0x03u)
/* The core ends its sleep. */
#define TW_SLEEP_END TW_CODE(TW_TICKS, 0x04u)
/* The system starts, and the recorder with it. */
#define TW_START TW_CODE(TW_ALWAYS, 0x05u)
/* The recorder stops. */
#define TW_STOP TW_CODE(TW_ALWAYS, 0x06u)
/* The running task yields. */
#define TW_YIELD TW_CODE(TW_TASKS, 0x07u)
/* A task runs. Argument: task; 0 if the core has no task to run. */
#define TW_RUNS TW_CODE(TW_TASKS, 0x40u)
/* A task becomes ready. Argument: task. */
#define TW_READY TW_CODE(TW_TASKS, 0x41u)
/* The running task sleeps. Argument: ticks of the kernel. */
#define TW_DELAY TW_CODE(TW_TASKS, 0x42u)
/* The running task sleeps until a tick of the kernel. Argument: tick. */
#define TW_DELAY_UNTIL TW_CODE(TW_TASKS, 0x43u)
/* A task is suspended. Argument: task. */
#define TW_SUSPEND TW_CODE(TW_TASKS, 0x44u)
/* A suspended task is resumed. Argument: task. */
#define TW_RESUME TW_CODE(TW_TASKS, 0x45u)
/* A task is deleted. Argument: task. */
#define TW_TASK_DELETE TW_CODE(TW_TASKS, 0x46u)
/* An interrupt service routine begins. Argument: number of the interrupt. */
#define TW_INTERRUPT_ENTER TW_CODE(TW_INTERRUPTS, 0x47u)
/* The kernel's tick. Argument: the new count. */
#define TW_TICK TW_CODE(TW_TICKS, 0x48u)
/* The kernel's tick count jumps after a sleep. Argument: ticks. */
#define TW_TICKS_JUMP TW_CODE(TW_TICKS, 0x49u)
/* The running task begins to wait for a mutex. Argument: mutex. */
#define TW_MUTEX_WAIT TW_CODE(TW_LOCKS, 0x4Au)
/* The running task has locked a mutex. Argument: mutex. */
#define TW_MUTEX_LOCK TW_CODE(TW_LOCKS, 0x4Bu)
/* The running task unlocks a mutex. Argument: mutex. */
#define TW_MUTEX_UNLOCK TW_CODE(TW_LOCKS, 0x4Cu)
/* The running task did not get a mutex in time. Argument: mutex. */
#define TW_MUTEX_REFUSE TW_CODE(TW_LOCKS, 0x4Du)
/* The running task begins to wait for a semaphore. Argument: semaphore. */
#define TW_SEMAPHORE_WAIT TW_CODE(TW_LOCKS, 0x4Eu)
/* The running task did not get a semaphore in time. Argument: semaphore. */
#define TW_SEMAPHORE_REFUSE TW_CODE(TW_LOCKS, 0x4Fu)
/* The running task begins to wait for a message. Argument: queue. */
#define TW_QUEUE_WAIT_RECEIVE TW_CODE(TW_MESSAGES, 0x50u)
/* The running task begins to wait for room. Argument: queue. */
#define TW_QUEUE_WAIT_SEND TW_CODE(TW_MESSAGES, 0x51u)
/* A queue refused a message. Argument: queue. */
#define TW_QUEUE_REFUSE TW_CODE(TW_MESSAGES, 0x52u)
/* A queue had no message in time. Argument: queue. */
#define TW_QUEUE_EMPTY TW_CODE(TW_MESSAGES, 0x53u)
/* All messages of a queue are discarded. Argument: queue. */
#define TW_QUEUE_FLUSH TW_CODE(TW_MESSAGES, 0x54u)
/* The running task begins to wait for bytes. Argument: stream buffer. */
#define TW_STREAM_WAIT_RECEIVE TW_CODE(TW_MESSAGES, 0x55u)
/* The running task begins to wait for room. Argument: stream buffer. */
#define TW_STREAM_WAIT_SEND TW_CODE(TW_MESSAGES, 0x56u)
/* All bytes of a stream buffer are discarded. Argument: stream buffer. */
#define TW_STREAM_FLUSH TW_CODE(TW_MESSAGES, 0x57u)
/* The running task begins to wait for its notification. Argument: index of the notification. */
#define TW_NOTIFY_WAIT TW_CODE(TW_MESSAGES, 0x58u)
/* The running task no longer waits for its notification. Argument: the value; 0 if time ran out. */
#define TW_NOTIFY_TAKE TW_CODE(TW_MESSAGES, 0x59u)
/* A timer expires. Argument: timer. */
#define TW_TIMER_EXPIRED TW_CODE(TW_TIMERS, 0x5Au)
/* A timer is stopped. Argument: timer. */
#define TW_TIMER_STOP TW_CODE(TW_TIMERS, 0x5Bu)
/* A mark of the application. Argument: number. */
#define TW_MARK TW_CODE(TW_APPLICATION, 0x5Cu)
/* A section of the application begins. Argument: number. */
#define TW_SECTION_BEGIN TW_CODE(TW_APPLICATION, 0x5Du)
/* A section of the application ends. Argument: number. */
#define TW_SECTION_END TW_CODE(TW_APPLICATION, 0x5Eu)
/* An allocation fails. Argument: bytes. */
#define TW_ALLOCATE_FAILED TW_CODE(TW_MEMORY, 0x5Fu)
/* A task's priority is set. Arguments: task, priority. */
#define TW_PRIORITY_SET TW_CODE(TW_TASKS, 0x80u)
/* A task inherits a priority. Arguments: task, priority. */
#define TW_INHERIT TW_CODE(TW_TASKS, 0x81u)
/* A task loses an inherited priority. Arguments: task, its own priority. */
#define TW_DISINHERIT TW_CODE(TW_TASKS, 0x82u)
/* A semaphore is given. Arguments: semaphore, count before the call. */
#define TW_SEMAPHORE_GIVE TW_CODE(TW_LOCKS, 0x83u)
/* The running task has taken a semaphore. Arguments: semaphore, count before the call. */
#define TW_SEMAPHORE_TAKE TW_CODE(TW_LOCKS, 0x84u)
/* A message is sent. Arguments: queue, messages before the call. */
#define TW_QUEUE_SEND TW_CODE(TW_MESSAGES, 0x85u)
/* A message is sent to the front. Arguments: queue, messages before the call. */
#define TW_QUEUE_SEND_FIRST TW_CODE(TW_MESSAGES, 0x86u)
/* A message replaces the message in a queue. Arguments: queue, messages before the call. */
#define TW_QUEUE_OVERWRITE TW_CODE(TW_MESSAGES, 0x87u)
/* A message is received. Arguments: queue, messages before the call. */
#define TW_QUEUE_RECEIVE TW_CODE(TW_MESSAGES, 0x88u)
/* A message is read and stays in the queue. Arguments: queue, messages. */
#define TW_QUEUE_PEEK TW_CODE(TW_MESSAGES, 0x89u)
/* The running task begins to wait for bits. Arguments: event group, bits. */
#define TW_GROUP_WAIT TW_CODE(TW_MESSAGES, 0x8Au)
/* Bits are set. Arguments: event group, bits. */
#define TW_GROUP_SET TW_CODE(TW_MESSAGES, 0x8Bu)
/* Bits are cleared. Arguments: event group, bits. */
#define TW_GROUP_CLEAR TW_CODE(TW_MESSAGES, 0x8Cu)
/* The running task no longer waits for bits. Arguments: event group, bits. */
#define TW_GROUP_TAKE TW_CODE(TW_MESSAGES, 0x8Du)
/* Bytes are sent. Arguments: stream buffer, bytes. */
#define TW_STREAM_SEND TW_CODE(TW_MESSAGES, 0x8Eu)
/* Bytes are received. Arguments: stream buffer, bytes. */
#define TW_STREAM_RECEIVE TW_CODE(TW_MESSAGES, 0x8Fu)
/* A task is notified. Arguments: task, value. */
#define TW_NOTIFY TW_CODE(TW_MESSAGES, 0x90u)
/* Memory is allocated. Arguments: address, bytes. */
#define TW_ALLOCATE TW_CODE(TW_MEMORY, 0x91u)
/* Memory is freed. Arguments: address, bytes. */
#define TW_FREE TW_CODE(TW_MEMORY, 0x92u)
/* The state of the heap. Arguments: free bytes, smallest number of free bytes so far. */
#define TW_HEAP TW_CODE(TW_MEMORY, 0x93u)
/* The smallest amount of free stack that a task has had so far. Arguments: task, bytes. */
#define TW_STACK TW_CODE(TW_MEMORY, 0x94u)
/* A timer is started. Arguments: timer, period in ticks of the kernel. */
#define TW_TIMER_START TW_CODE(TW_TIMERS, 0x95u)
/* A value of the application. Arguments: channel, value (signed). */
#define TW_VALUE TW_CODE(TW_APPLICATION, 0x96u)
/* An object is created. Arguments: kind of its definition, object. */
#define TW_OBJECT_CREATE TW_CODE(TW_ALWAYS, 0x97u)
/* An object is deleted. Arguments: kind of its definition, object. */
#define TW_OBJECT_DELETE TW_CODE(TW_ALWAYS, 0x98u)
/* A task is created. Arguments: task, priority. */
#define TW_TASK_CREATE TW_CODE(TW_TASKS, 0x99u)
/* A text of the application. Block: channel as a number, then the text. */
#define TW_TEXT TW_CODE(TW_APPLICATION, 0xC0u)
/* An event that the application defines. Block: its number, then its arguments as signed numbers. */
#define TW_USER TW_CODE(TW_APPLICATION, 0xC1u)

/* Kinds of definitions. */
#define TW_SYSTEM             1u
#define TW_TASK               2u
#define TW_IDLE_TASK          0x402u /* a task that runs if no other is ready: its time is idle time */
#define TW_INTERRUPT          3u
#define TW_MUTEX              4u
#define TW_SEMAPHORE          5u
#define TW_QUEUE              6u
#define TW_EVENT_GROUP        7u
#define TW_STREAM_BUFFER      8u
#define TW_TIMER              9u
#define TW_USER_EVENT         10u /* name(argument,argument:u,argument:x): signed, unsigned, hexadecimal */
#define TW_CHANNEL            11u

#ifndef __ASSEMBLER__
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The properties of a ring. */
struct tw_target_options {
    uint32_t rate;             /* ticks per second of the clock; 0 if unknown */
    const char *kernel;        /* name of the kernel */
    uint8_t larger_is_urgent;  /* 1 if a larger priority is more urgent */
    uint8_t keep;              /* 1 to keep the packets of an earlier run in memory that survives a reset */
};

/*
 * Creates the ring in `memory` and records TW_START. Call it once, before all other functions.
 * Returns 0 on success. Returns -1 if the memory has no room for two slots of each core. In this case,
 * call no other function.
 */
int tw_target_init(uint32_t *memory, uint32_t bytes, const struct tw_target_options *options);

/* Sets the groups of events that are recorded, among the groups that are compiled in. */
void tw_target_set_filter(uint32_t groups);

/*
 * Stores the name of a task, object or event. docs/target.md specifies `value` and `priority`. Truncates the name after
 * 160 bytes. If the table of names is full, drops the definition and counts it.
 */
void tw_target_define(uint32_t kind, uint32_t number, uint32_t value, uint32_t priority, const char *name);

/* Marks a definition as deleted. New definitions replace its entries when the table is full. */
void tw_target_remove(uint32_t kind, uint32_t number);

/* Records an event without a block. Its code determines the number of arguments. Prefer TW_EVENT(). */
void tw_target_event(uint32_t code, uint32_t first, uint32_t second);

/* Records a text. Truncates the text if it does not fit into a packet or has more than 64 bytes. */
void tw_target_text(uint32_t channel, const char *text);

/* Records an event that the application has defined, with at most 8 arguments. */
void tw_target_user(uint32_t event, const int32_t *arguments, uint32_t count);

/* Records a value of the application. */
void tw_target_value(uint32_t channel, int32_t value);

/* Returns a number for an object that has none: 1, then 2, and so on. */
uint32_t tw_target_number(void);

/* Counts an event of this core that the caller could not record. */
void tw_target_refuse(void);

/* Closes the open packets, so that tw_target_read() copies all events. */
void tw_target_flush(void);

/*
 * Copies whole packets that have not been read yet into `out`, and returns their length in bytes. `size`
 * must be at least TW_TARGET_SLOT. Only one caller at a time may read. Recording continues during
 * the call.
 */
uint32_t tw_target_read(uint8_t *out, uint32_t size);

/* Records an event if its group is compiled in. Otherwise, the compiler can remove the call. */
#define TW_EVENT(code, first, second)                                            \
    do {                                                                         \
        if ((TW_GROUP(code) & (TW_TARGET_GROUPS | TW_ALWAYS)) != 0u) {           \
            tw_target_event((code), (uint32_t)(first), (uint32_t)(second));      \
        }                                                                        \
    } while (0)

#ifdef __cplusplus
}
#endif
#endif /* __ASSEMBLER__ */
#endif /* TRACEWELL_TARGET_H */
