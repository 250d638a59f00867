//! Hook ids that a recorder uses: the ids of the trace facility itself, and the ids from which a
//! report derives process names and processors.
//!
//! IBM documents the ids, their meanings, and which ids a report needs. Ids below 010 belong to the
//! trace facility. IBM documents the data words of [`TRACE_UTILITY`] only. The other layouts below
//! are our decision, and our recorder writes them. Templates contain the names of all other hooks.

use super::HookId;

/// Tracing was switched on; data word 1 is the channel.
pub const TRACE_ON: HookId = HookId::short(0x001);
/// Tracing was switched off; data word 1 is the channel.
pub const TRACE_OFF: HookId = HookId::short(0x002);
/// The heading of a report. Data word 1 is the wall clock in seconds since 1970. The variable data
/// are the six strings of [`super::Texts`].
pub const TRACE_HEADER: HookId = HookId::short(0x003);
/// The log wrapped; data word 1 is the number of wraps so far.
pub const LOG_WRAP: HookId = HookId::short(0x005);
/// The buffer was full. Data word 1 counts how often the buffer has been full. Data word 2 is the
/// number of entries lost at this point.
pub const BUFFER_WRAP: HookId = HookId::short(0x006);
/// The trace utility. [`super::TimeConversion`] decodes its sub-hook [`TIME_CONVERSION`].
pub const TRACE_UTILITY: HookId = HookId::short(0x00A);
/// Sub-hook of [`TRACE_UTILITY`] with the factor from ticks to nanoseconds. IBM documents this
/// number.
pub const TIME_CONVERSION: u16 = 0x25C;

/// A thread was dispatched: data word 1 is the thread that starts to run, data word 2 its process.
pub const DISPATCH: HookId = HookId::short(0x106);
/// The idle thread was dispatched; the words are the same as for [`DISPATCH`].
pub const DISPATCH_IDLE: HookId = HookId::short(0x10C);
/// A process executes another program. The entry is generic. Data word 1 is the process. The
/// variable data are the thread (one word of 4 or 8 bytes) and the path with a final NUL.
pub const EXEC: HookId = HookId::short(0x134);
/// A process was forked: data word 1 is the child, data word 2 its thread.
pub const FORK: HookId = HookId::short(0x139);
/// A thread was created: data word 1 is the thread, data word 2 its process.
pub const THREAD_CREATE: HookId = HookId::short(0x465);

/// First id for temporary and user events, 010 (documented).
pub const USER_FIRST: HookId = HookId::short(0x010);
/// Last id for temporary and user events, 0FF (documented).
pub const USER_LAST: HookId = HookId::short(0x0FF);
