//! Numbers that a recorder or a reader must know: event codes with rules of their own, families, flags.
//!
//! The whole table of codes with names and arguments is data (`schemas/shark.toml`). A code's low
//! nibble is its family, its high nibble its place within the family; codes with the high nibble 0xF
//! are no events of their family but filter records and commands, which no filter hides.

/// The clock was changed: parameter 2 is the new number of cycles per millisecond.
pub const CYCLES_PER_MSEC: u8 = 0x10;
/// The application began to trace: running context, cycles per millisecond.
pub const TRACE_START: u8 = 0x20;
/// The application ended its trace.
pub const TRACE_STOP: u8 = 0x30;
/// Tracing is off from here on.
pub const BLACKOUT_START: u8 = 0x40;
/// Tracing is on again.
pub const BLACKOUT_END: u8 = 0x50;
/// A task that exists: context, pid.
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
/// The scheduler decided: the context that will run, the context that it chose.
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
/// A job used more than its worst case: context.
pub const TASK_WCET_VIOLATION: u8 = 0xC2;
/// A context was loaded at task level: context.
pub const CONTEXT_SWITCH: u8 = 0x15;
/// Who waits lends its urgency: the context that will run, the context that was chosen.
pub const INHERITANCE: u8 = 0x25;
/// A mutex is asked for: context, address of the mutex.
pub const SET_MUTEX_LOCK: u8 = 0x16;
/// A mutex is given up: context, address of the mutex.
pub const SET_MUTEX_UNLOCK: u8 = 0x36;
/// The code that the user manual gives for [`SET_MUTEX_UNLOCK`]. No kernel's header has it, but a writer that
/// was made by the manual may.
pub const MANUAL_UNLOCK: u8 = 0x43;
/// A semaphore is waited for, whether that blocks or not: context, index of the semaphore.
pub const SET_MUTEX_WAIT: u8 = 0x46;
/// A semaphore is posted: context, index of the semaphore.
pub const SET_MUTEX_POST: u8 = 0x56;
/// A server has its budget again: 0, address of the budget.
pub const SERVER_REPLENISH: u8 = 0x18;
/// A server's budget is used up: 0, address of the budget.
pub const SERVER_EXHAUST: u8 = 0x28;
/// A server used reclaimed time: microseconds, address of the budget.
pub const SERVER_USING_REC: u8 = 0x68;
/// A server has something to serve: context or 0, address of the budget.
pub const SERVER_ACTIVE: u8 = 0x58;
/// A timer of the kernel was set.
pub const TIMER_POST: u8 = 0x0B;
/// A timer of the kernel was cancelled.
pub const TIMER_DELETE: u8 = 0x1B;
/// The timer interrupt began.
pub const TIMER_WAKEUP_START: u8 = 0x2B;
/// The timer interrupt ended: the context that will run.
pub const TIMER_WAKEUP_END: u8 = 0x3B;
/// A command in the shape of an event: go to the next chunk. Never stored.
pub const NEXT_CHUNK: u8 = 0xFF;

/// Whether a code's first parameter is a context.
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

/// Whether the rest of a trace can hardly be read without the records of a code: the clock, the map of
/// contexts, filters, and where tracing was off.
pub const fn is_essential(code: u8) -> bool {
    let general = matches!(code, CYCLES_PER_MSEC | TRACE_START | TRACE_STOP | ID);
    let blackout = matches!(code, BLACKOUT_START | BLACKOUT_END);
    let task = matches!(code, TASK_CREATE | TASK_END);
    general || blackout || task || (is_unfilterable(code) && code != NEXT_CHUNK)
}

/// The low nibble of a code: which family it belongs to.
pub const fn family(code: u8) -> u8 {
    code & 0x0F
}

/// Whether no filter hides a code: its high nibble is 0xF.
pub const fn is_unfilterable(code: u8) -> bool {
    code & 0xF0 == 0xF0
}

/// The code of the record that tells of a family's filter being changed.
pub const fn filter_record(family: u8) -> u8 {
    0xF0 | (family & 0x0F)
}

/// The bit of the filter mask that hides a code; 0 where none does.
pub const fn filter_bit(code: u8) -> u16 {
    if is_unfilterable(code) { 0 } else { 1 << family(code) }
}

/// Families that have events.
pub mod family {
    /// Clock, start and stop, the map of contexts.
    pub const GENERAL: u8 = 0x0;
    /// Points that the application marks.
    pub const IPOINT: u8 = 0x1;
    /// Tasks and the scheduler.
    pub const TASK: u8 = 0x2;
    /// Device interrupts.
    pub const INTERRUPT: u8 = 0x3;
    /// The processor's mode and interrupt flag.
    pub const CPU: u8 = 0x4;
    /// Context switches and inheritance.
    pub const ATTRIBUTES: u8 = 0x5;
    /// Mutexes and semaphores.
    pub const MUTEX: u8 = 0x6;
    /// Signals.
    pub const SIGNAL: u8 = 0x7;
    /// Servers: budgets.
    pub const SERVER: u8 = 0x8;
    /// Events of the application.
    pub const USER: u8 = 0x9;
    /// Pointers to data.
    pub const DATA: u8 = 0xA;
    /// Kernel timers and the timer interrupt.
    pub const TIMER: u8 = 0xB;
}

/// Flags of a chunk.
pub mod flag {
    /// May be selected or become a link's target; used up by both.
    pub const FREE: u8 = 0x01;
    /// Takes no more records.
    pub const FULL: u8 = 0x02;
    /// The bits that hold the mode.
    pub const MODE: u8 = 0x0C;
    /// Mode: begin again at the start. The absence of the other modes, not a bit.
    pub const CYCLIC: u8 = 0x00;
    /// Mode: go on in the linked chunk.
    pub const JUMP_TO_NEXT: u8 = 0x04;
    /// Mode: stop when full. Both mode bits stop, too.
    pub const STOP: u8 = 0x08;
    /// Being sent or compressed.
    pub const BUSY: u8 = 0x10;
    /// Must not be deleted.
    pub const NO_DELETE: u8 = 0x20;
    /// Its content is compressed.
    pub const COMPRESSED: u8 = 0x40;
}

/// Contexts: selectors of task state segments.
pub mod context {
    /// The kernel's own.
    pub const KERNEL: u16 = 0xF8;
    /// That of the first task; they lie 8 apart.
    pub const FIRST: u16 = 0x100;
    /// That of the last one.
    pub const LAST: u16 = FIRST + 8 * 154;
}
