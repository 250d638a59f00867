//! The event codes that have special rules, the families of codes, the flags of chunks, and the
//! contexts.
//!
//! `schemas/shark.toml` lists all codes with names and arguments. The low nibble of a code is its
//! family, the high nibble its number within the family. Codes with the high nibble 0xF are filter
//! records and commands. No filter suppresses them.
//!
//! In the comment of a code, the words after the colon name the parameters of the code's records.

/// The clock was changed: parameter 2 is the new number of cycles per millisecond.
pub const CYCLES_PER_MSEC: u8 = 0x10;
/// The application started tracing: running context, cycles per millisecond.
pub const TRACE_START: u8 = 0x20;
/// The application stopped tracing.
pub const TRACE_STOP: u8 = 0x30;
/// Tracing was switched off.
pub const BLACKOUT_START: u8 = 0x40;
/// Tracing was switched on again.
pub const BLACKOUT_END: u8 = 0x50;
/// An existing task: context, pid.
pub const ID: u8 = 0x60;
/// A point that the application marked: number.
pub const IPOINT: u8 = 0x01;
/// A task was created: context, pid.
pub const TASK_CREATE: u8 = 0x02;
/// A task was activated: context.
pub const TASK_ACTIVATE: u8 = 0x12;
/// A task ended: context, pid.
pub const TASK_END: u8 = 0x42;
/// A job ended: context, scheduling level.
pub const TASK_END_CYCLE: u8 = 0x62;
/// The scheduler made a decision: the context that will run, the context that the scheduler chose.
pub const TASK_SCHEDULE: u8 = 0x82;
/// A job was released by its timer: context, scheduling level.
pub const TASK_TIMER: u8 = 0x92;
/// A device interrupt began: its number.
pub const INTERRUPT_START: u8 = 0x03;
/// A device interrupt ended: its number.
pub const INTERRUPT_END: u8 = 0x13;
/// A job could not be accepted: context, scheduling level.
pub const TASK_DISABLE: u8 = 0xA2;
/// A deadline passed: context.
pub const TASK_DEADLINE_MISS: u8 = 0xB2;
/// A job ran longer than its worst-case execution time: context.
pub const TASK_WCET_VIOLATION: u8 = 0xC2;
/// A context was loaded at task level: context.
pub const CONTEXT_SWITCH: u8 = 0x15;
/// A waiting task lends its priority: the context that will run, the context that the scheduler
/// chose.
pub const INHERITANCE: u8 = 0x25;
/// A task requests a mutex: context, address of the mutex.
pub const SET_MUTEX_LOCK: u8 = 0x16;
/// A task releases a mutex: context, address of the mutex.
pub const SET_MUTEX_UNLOCK: u8 = 0x36;
/// The code of [`SET_MUTEX_UNLOCK`] in the user manual. The kernel headers do not contain this
/// code, but a writer that follows the manual might use it.
pub const MANUAL_UNLOCK: u8 = 0x43;
/// A task waits for a semaphore, blocking or not: context, index of the semaphore.
pub const SET_MUTEX_WAIT: u8 = 0x46;
/// A task posts a semaphore: context, index of the semaphore.
pub const SET_MUTEX_POST: u8 = 0x56;
/// A server's budget was replenished: 0, address of the budget.
pub const SERVER_REPLENISH: u8 = 0x18;
/// A server's budget was exhausted: 0, address of the budget.
pub const SERVER_EXHAUST: u8 = 0x28;
/// A server used reclaimed time: microseconds, address of the budget.
pub const SERVER_USING_REC: u8 = 0x68;
/// A server became active: context or 0, address of the budget.
pub const SERVER_ACTIVE: u8 = 0x58;
/// A timer of the kernel was set.
pub const TIMER_POST: u8 = 0x0B;
/// A timer of the kernel was cancelled.
pub const TIMER_DELETE: u8 = 0x1B;
/// The timer interrupt began.
pub const TIMER_WAKEUP_START: u8 = 0x2B;
/// The timer interrupt ended: the context that will run.
pub const TIMER_WAKEUP_END: u8 = 0x3B;
/// A command coded as an event: switch to the next chunk. Never stored.
pub const NEXT_CHUNK: u8 = 0xFF;

/// Returns true if the first parameter of a code is a context.
pub const fn names_context(code: u8) -> bool {
    matches!(
        code,
        TRACE_START
            | ID
            | TASK_CREATE
            | TASK_ACTIVATE
            | TASK_END
            | TASK_END_CYCLE
            | TASK_SCHEDULE
            | TASK_TIMER
            | TASK_DISABLE
            | TASK_DEADLINE_MISS
            | TASK_WCET_VIOLATION
            | CONTEXT_SWITCH
            | INHERITANCE
            | SET_MUTEX_LOCK
            | SET_MUTEX_UNLOCK
            | MANUAL_UNLOCK
            | SET_MUTEX_WAIT
            | SET_MUTEX_POST
            | SERVER_ACTIVE
            | TIMER_WAKEUP_END
    )
}

/// Returns true if a trace is hard to interpret without the records of this code. Such records
/// report the clock, the contexts, the filters, and the time spans without tracing.
pub const fn is_essential(code: u8) -> bool {
    let general = matches!(code, CYCLES_PER_MSEC | TRACE_START | TRACE_STOP | ID);
    let blackout = matches!(code, BLACKOUT_START | BLACKOUT_END);
    let task = matches!(code, TASK_CREATE | TASK_END);
    general || blackout || task || (is_unfilterable(code) && code != NEXT_CHUNK)
}

/// Returns the family of a code, which is its low nibble.
pub const fn family(code: u8) -> u8 {
    code & 0x0F
}

/// Returns true if no filter can suppress the code, because its high nibble is 0xF.
pub const fn is_unfilterable(code: u8) -> bool {
    code & 0xF0 == 0xF0
}

/// Returns the code of the record that reports a change of a family's filter.
pub const fn filter_record(family: u8) -> u8 {
    0xF0 | (family & 0x0F)
}

/// Returns the bit of the filter mask that suppresses a code, or 0 if there is none.
///
/// ```
/// use tracewell_wire::shark::ids;
///
/// assert_eq!(ids::filter_bit(ids::TASK_SCHEDULE), 1 << ids::family::TASK);
/// assert_eq!(ids::filter_bit(ids::filter_record(ids::family::TASK)), 0);
/// ```
pub const fn filter_bit(code: u8) -> u16 {
    if is_unfilterable(code) { 0 } else { 1 << family(code) }
}

/// Families that have events.
pub mod family {
    /// Clock, start and stop, contexts and their pids.
    pub const GENERAL: u8 = 0x0;
    /// Points that the application marks.
    pub const IPOINT: u8 = 0x1;
    /// Tasks and the scheduler.
    pub const TASK: u8 = 0x2;
    /// Interrupts that devices request.
    pub const INTERRUPT: u8 = 0x3;
    /// The processor's mode and interrupt flag.
    pub const CPU: u8 = 0x4;
    /// Context switches and inheritance.
    pub const ATTRIBUTES: u8 = 0x5;
    /// Mutexes and semaphores: lock, unlock, wait, post.
    pub const MUTEX: u8 = 0x6;
    /// Signals. No code above belongs to this family.
    pub const SIGNAL: u8 = 0x7;
    /// Servers and their budgets.
    pub const SERVER: u8 = 0x8;
    /// Events of the application.
    pub const USER: u8 = 0x9;
    /// Pointers to the application's data.
    pub const DATA: u8 = 0xA;
    /// Kernel timers and the timer interrupt.
    pub const TIMER: u8 = 0xB;
}

/// Flags of a chunk.
pub mod flag {
    /// The chunk can be selected or linked to. Both actions clear the flag.
    pub const FREE: u8 = 0x01;
    /// Accepts no further records.
    pub const FULL: u8 = 0x02;
    /// The bits that hold the mode.
    pub const MODE: u8 = 0x0C;
    /// Mode: wrap to the first slot. This mode has no bit: it is active if no other mode is set.
    pub const CYCLIC: u8 = 0x00;
    /// Mode: continue in the linked chunk.
    pub const JUMP_TO_NEXT: u8 = 0x04;
    /// Mode: stop when full. A chunk with both mode bits also stops.
    pub const STOP: u8 = 0x08;
    /// Being sent or compressed.
    pub const BUSY: u8 = 0x10;
    /// Must not be deleted.
    pub const NO_DELETE: u8 = 0x20;
    /// The content is compressed.
    pub const COMPRESSED: u8 = 0x40;
}

/// Contexts: selectors of task state segments.
pub mod context {
    /// The context of the kernel itself.
    pub const KERNEL: u16 = 0xF8;
    /// The context of the first task. The contexts of further tasks follow at intervals of 8.
    pub const FIRST: u16 = 0x100;
    /// The context of the last task.
    pub const LAST: u16 = FIRST + 8 * 154;
}
