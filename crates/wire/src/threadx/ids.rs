//! Object types, filter classes, and the event ids that the recorder itself uses.
//!
//! `schemas/threadx.toml` lists all 651 event ids with names and arguments. This module defines
//! only the ids with special recording rules.

/// A thread became ready (`TX_TRACE_THREAD_RESUME`).
pub const THREAD_RESUME: u16 = 1;
/// A thread stopped being ready (`TX_TRACE_THREAD_SUSPEND`).
pub const THREAD_SUSPEND: u16 = 2;
/// An interrupt service routine began (`TX_TRACE_ISR_ENTER`).
pub const ISR_ENTER: u16 = 3;
/// An interrupt service routine ended (`TX_TRACE_ISR_EXIT`).
pub const ISR_EXIT: u16 = 4;
/// A time slice expired (`TX_TRACE_TIME_SLICE`).
pub const TIME_SLICE: u16 = 5;
/// The context is running (`TX_TRACE_RUNNING`); recorded twice when tracing is enabled.
pub const RUNNING: u16 = 6;
/// Interrupt posture changed (`TX_TRACE_INTERRUPT_CONTROL`).
pub const INTERRUPT_CONTROL: u16 = 40;
/// First id reserved for the application (`TX_TRACE_USER_EVENT_START`); the last is 65535.
pub const USER_EVENT_START: u16 = 4096;

/// Object type codes of registry slots (`TX_TRACE_OBJECT_TYPE_*`, `FX_`, `NX_`, `UX_`). In the
/// comment of a type, the words after the colon are the parameters of a slot of this type.
pub mod object {
    /// The slot was never used.
    pub const NOT_VALID: u8 = 0;
    /// Thread: stack start, stack size.
    pub const THREAD: u8 = 1;
    /// Application timer: initial ticks, reschedule ticks.
    pub const TIMER: u8 = 2;
    /// Queue: size in bytes, message size in words.
    pub const QUEUE: u8 = 3;
    /// Semaphore: its initial count.
    pub const SEMAPHORE: u8 = 4;
    /// Mutex: 1 if it uses priority inheritance.
    pub const MUTEX: u8 = 5;
    /// Event flags group; it has no parameters.
    pub const EVENT_FLAGS: u8 = 6;
    /// Block pool: size in bytes, block size.
    pub const BLOCK_POOL: u8 = 7;
    /// Byte pool: size in bytes.
    pub const BYTE_POOL: u8 = 8;
}

/// Filter classes: bits of the enable word. The recorder stores an event if the enable word
/// contains a bit of its class.
pub mod class {
    /// Resume, suspend, interrupts, time slice, running: ids 1-6. Without these events, a trace
    /// does not show which thread was running.
    pub const INTERNAL: u32 = 0x0000_0001;
    /// Block pools, ids 10-17.
    pub const BLOCK_POOL: u32 = 0x0000_0002;
    /// Byte pools, ids 20-27.
    pub const BYTE_POOL: u32 = 0x0000_0004;
    /// Event flags, ids 30-37.
    pub const EVENT_FLAGS: u32 = 0x0000_0008;
    /// Interrupt control, id 40.
    pub const INTERRUPT_CONTROL: u32 = 0x0000_0010;
    /// Mutex services, ids 50-57.
    pub const MUTEX: u32 = 0x0000_0020;
    /// Queue services, ids 60-70.
    pub const QUEUE: u32 = 0x0000_0040;
    /// Semaphore services, ids 80-89.
    pub const SEMAPHORE: u32 = 0x0000_0080;
    /// Thread services, ids 100-117.
    pub const THREAD: u32 = 0x0000_0100;
    /// System time, ids 120-121.
    pub const TIME: u32 = 0x0000_0200;
    /// Timer services, ids 122-129.
    pub const TIMER: u32 = 0x0000_0400;
    /// All events of the kernel, without user events.
    pub const ALL_THREADX: u32 = 0x0000_07FF;
    /// All events of FileX.
    pub const ALL_FILEX: u32 = 0x0000_7800;
    /// All events of NetX and NetX Duo.
    pub const ALL_NETX: u32 = 0x00FF_8000;
    /// All events of USBX.
    pub const ALL_USBX: u32 = 0x7F00_0000;
    /// Events of the application.
    pub const USER: u32 = 0x8000_0000;
    /// Every class: the value of the enable word after tracing is enabled.
    pub const ALL: u32 = 0xFFFF_FFFF;
}
