//! The ids of events. `schemas/target.toml` of the crate `tracewell` defines their meanings.
//!
//! The kernel or the recorder gives tasks and objects their numbers. Small numbers need fewer
//! bytes. Each kind has its own numbers: mutex 3 and queue 3 are different objects.

/// An interrupt service routine ends.
pub const INTERRUPT_EXIT: u8 = 0x01;
/// An interrupt service routine ends, and a switch of tasks follows.
pub const INTERRUPT_EXIT_TO_SCHEDULER: u8 = 0x02;
/// The core begins to sleep.
pub const SLEEP_BEGIN: u8 = 0x03;
/// The core ends its sleep.
pub const SLEEP_END: u8 = 0x04;
/// The system starts, and the recorder with it.
pub const START: u8 = 0x05;
/// The recorder stops recording events.
pub const STOP: u8 = 0x06;
/// The running task yields.
pub const YIELD: u8 = 0x07;

/// A task runs. Argument: task; 0 if the core has no task to run.
pub const RUNS: u8 = 0x40;
/// A task becomes ready. Argument: task.
pub const READY: u8 = 0x41;
/// The running task sleeps. Argument: ticks of the kernel.
pub const DELAY: u8 = 0x42;
/// The running task sleeps until a tick of the kernel. Argument: tick.
pub const DELAY_UNTIL: u8 = 0x43;
/// A task is suspended. Argument: task.
pub const SUSPEND: u8 = 0x44;
/// A suspended task is resumed. Argument: task.
pub const RESUME: u8 = 0x45;
/// A task is deleted. Argument: task.
pub const TASK_DELETE: u8 = 0x46;
/// An interrupt service routine begins. Argument: number of the interrupt.
pub const INTERRUPT_ENTER: u8 = 0x47;
/// The kernel's tick. Argument: the new count.
pub const TICK: u8 = 0x48;
/// The kernel's tick count jumps after a sleep. Argument: number of skipped ticks.
pub const TICKS_JUMP: u8 = 0x49;
/// The running task begins to wait for a mutex. Argument: mutex.
pub const MUTEX_WAIT: u8 = 0x4A;
/// The running task has locked a mutex. Argument: mutex.
pub const MUTEX_LOCK: u8 = 0x4B;
/// The running task unlocks a mutex. Argument: mutex.
pub const MUTEX_UNLOCK: u8 = 0x4C;
/// The running task did not get a mutex in time. Argument: mutex.
pub const MUTEX_REFUSE: u8 = 0x4D;
/// The running task begins to wait for a semaphore. Argument: semaphore.
pub const SEMAPHORE_WAIT: u8 = 0x4E;
/// The running task did not get a semaphore in time. Argument: semaphore.
pub const SEMAPHORE_REFUSE: u8 = 0x4F;
/// The running task begins to wait for a message. Argument: queue.
pub const QUEUE_WAIT_RECEIVE: u8 = 0x50;
/// The running task begins to wait for room. Argument: queue.
pub const QUEUE_WAIT_SEND: u8 = 0x51;
/// A queue refused a message. Argument: queue.
pub const QUEUE_REFUSE: u8 = 0x52;
/// A queue had no message in time. Argument: queue.
pub const QUEUE_EMPTY: u8 = 0x53;
/// All messages of a queue are discarded. Argument: queue.
pub const QUEUE_FLUSH: u8 = 0x54;
/// The running task begins to wait for bytes. Argument: stream buffer.
pub const STREAM_WAIT_RECEIVE: u8 = 0x55;
/// The running task begins to wait for room. Argument: stream buffer.
pub const STREAM_WAIT_SEND: u8 = 0x56;
/// All bytes of a stream buffer are discarded. Argument: stream buffer.
pub const STREAM_FLUSH: u8 = 0x57;
/// The running task begins to wait for its notification. Argument: index of the notification.
pub const NOTIFY_WAIT: u8 = 0x58;
/// The running task no longer waits for its notification. Argument: the value; 0 if time ran out.
pub const NOTIFY_TAKE: u8 = 0x59;
/// A timer expires. Argument: timer.
pub const TIMER_EXPIRED: u8 = 0x5A;
/// A timer is stopped. Argument: timer.
pub const TIMER_STOP: u8 = 0x5B;
/// A mark of the application. Argument: number.
pub const MARK: u8 = 0x5C;
/// A section of the application begins. Argument: number.
pub const SECTION_BEGIN: u8 = 0x5D;
/// A section of the application ends. Argument: number.
pub const SECTION_END: u8 = 0x5E;
/// An allocation fails. Argument: bytes.
pub const ALLOCATE_FAILED: u8 = 0x5F;

/// A task's priority is set. Arguments: task, priority.
pub const PRIORITY_SET: u8 = 0x80;
/// A task inherits a priority. Arguments: task, priority.
pub const INHERIT: u8 = 0x81;
/// A task loses an inherited priority. Arguments: task, its own priority.
pub const DISINHERIT: u8 = 0x82;
/// A semaphore is given. Arguments: semaphore, its previous count.
pub const SEMAPHORE_GIVE: u8 = 0x83;
/// The running task has taken a semaphore. Arguments: semaphore, its previous count.
pub const SEMAPHORE_TAKE: u8 = 0x84;
/// A message is sent. Arguments: queue, previous number of messages.
pub const QUEUE_SEND: u8 = 0x85;
/// A message is sent to the front. Arguments: queue, previous number of messages.
pub const QUEUE_SEND_FIRST: u8 = 0x86;
/// A message replaces the message in a queue. Arguments: queue, previous number of messages.
pub const QUEUE_OVERWRITE: u8 = 0x87;
/// A message is received. Arguments: queue, previous number of messages.
pub const QUEUE_RECEIVE: u8 = 0x88;
/// A message is read and stays in the queue. Arguments: queue, number of messages.
pub const QUEUE_PEEK: u8 = 0x89;
/// The running task begins to wait for bits. Arguments: event group, bits.
pub const GROUP_WAIT: u8 = 0x8A;
/// Bits are set. Arguments: event group, bits.
pub const GROUP_SET: u8 = 0x8B;
/// Bits are cleared. Arguments: event group, bits.
pub const GROUP_CLEAR: u8 = 0x8C;
/// The running task no longer waits for bits. Arguments: event group, bits.
pub const GROUP_TAKE: u8 = 0x8D;
/// Bytes are sent. Arguments: stream buffer, bytes.
pub const STREAM_SEND: u8 = 0x8E;
/// Bytes are received. Arguments: stream buffer, bytes.
pub const STREAM_RECEIVE: u8 = 0x8F;
/// A task is notified. Arguments: task, value.
pub const NOTIFY: u8 = 0x90;
/// Memory is allocated. Arguments: address, bytes.
pub const ALLOCATE: u8 = 0x91;
/// Memory is freed. Arguments: address, bytes.
pub const FREE: u8 = 0x92;
/// The state of the heap. Arguments: free bytes, smallest number of free bytes so far.
pub const HEAP: u8 = 0x93;
/// The smallest amount of free stack that a task has had so far. Arguments: task, bytes.
pub const STACK: u8 = 0x94;
/// A timer is started. Arguments: timer, period in ticks of the kernel.
pub const TIMER_START: u8 = 0x95;
/// A value of the application. Arguments: channel, value (signed).
pub const VALUE: u8 = 0x96;
/// An object is created. Arguments: kind of its definition, object.
pub const OBJECT_CREATE: u8 = 0x97;
/// An object is deleted. Arguments: kind of its definition, object.
pub const OBJECT_DELETE: u8 = 0x98;
/// A task is created. Arguments: task, priority.
pub const TASK_CREATE: u8 = 0x99;

/// A text of the application. Block: channel as a number, then the text.
pub const TEXT: u8 = 0xC0;
/// An event that the application defines. Block: its number, then its arguments as signed numbers.
pub const USER: u8 = 0xC1;

/// Groups of events that recorders can switch off. The number of a group is the number of its bit
/// in a filter.
pub mod group {
    /// Tasks: creation, deletion, switches, readiness, delays, suspension, priorities.
    pub const TASKS: u8 = 0;
    /// Interrupts: the beginning and the end of service routines.
    pub const INTERRUPTS: u8 = 1;
    /// Mutexes and semaphores: requests, waits, and releases.
    pub const LOCKS: u8 = 2;
    /// Queues, event groups, stream buffers, notifications.
    pub const MESSAGES: u8 = 3;
    /// Timers: starts, stops, and expiries.
    pub const TIMERS: u8 = 4;
    /// Memory: allocations, heap, stacks.
    pub const MEMORY: u8 = 5;
    /// The kernel's tick, and sleep of the core.
    pub const TICKS: u8 = 6;
    /// Events of the application.
    pub const APPLICATION: u8 = 7;
}

/// Returns the group of an event, or `None` if no filter can switch the event off. Filters do not
/// apply to the start and stop of the recorder, the creation and deletion of an object, and unknown
/// ids.
pub const fn group_of(id: u8) -> Option<u8> {
    Some(match id {
        INTERRUPT_EXIT | INTERRUPT_EXIT_TO_SCHEDULER | INTERRUPT_ENTER => group::INTERRUPTS,
        SLEEP_BEGIN | SLEEP_END | TICK | TICKS_JUMP => group::TICKS,
        YIELD | RUNS..=TASK_DELETE | PRIORITY_SET..=DISINHERIT | TASK_CREATE => group::TASKS,
        MUTEX_WAIT..=SEMAPHORE_REFUSE | SEMAPHORE_GIVE | SEMAPHORE_TAKE => group::LOCKS,
        QUEUE_WAIT_RECEIVE..=NOTIFY_TAKE | QUEUE_SEND..=NOTIFY => group::MESSAGES,
        TIMER_EXPIRED | TIMER_STOP | TIMER_START => group::TIMERS,
        ALLOCATE_FAILED | ALLOCATE..=STACK => group::MEMORY,
        MARK..=SECTION_END | VALUE | TEXT | USER => group::APPLICATION,
        _ => return None,
    })
}
