//! Hook ids that a recorder must know: those of the trace facility itself, and those that a report
//! needs to name processes and processors.
//!
//! Ids, what they tell, and that reports need the second group: documented. Ids below 010 belong to
//! the trace facility (documented). In which data words the facts stand is documented for none but
//! [`TRACE_UTILITY`]; the layouts below are our decision, and what this project records. Names of
//! all other hooks are data (templates), not code.

use super::HookId;

/// Tracing was switched on; data word 1 is the channel.
pub const TRACE_ON: HookId = HookId::short(0x001);
/// Tracing was switched off; data word 1 is the channel.
pub const TRACE_OFF: HookId = HookId::short(0x002);
/// The heading of a report: data word 1 is the wall clock in seconds since 1970, the variable data
/// the six texts of [`super::Texts`].
pub const TRACE_HEADER: HookId = HookId::short(0x003);
/// The template for events with the id 000; never recorded.
pub const NULL_TEMPLATE: HookId = HookId::short(0x004);
/// The log started over; data word 1 is how often it did.
pub const LOG_WRAP: HookId = HookId::short(0x005);
/// The buffer was full; data word 1 is how often it was, data word 2 how many entries were lost in
/// this place.
pub const BUFFER_WRAP: HookId = HookId::short(0x006);
/// The template for ids without one (public); never recorded.
pub const UNDEFINED_TEMPLATE: HookId = HookId::short(0x007);
/// The default template (public); never recorded.
pub const DEFAULT_TEMPLATE: HookId = HookId::short(0x008);
/// The trace utility; its sub-hook [`TIME_CONVERSION`] is what [`super::TimeConversion`] reads.
pub const TRACE_UTILITY: HookId = HookId::short(0x00A);
/// Sub-hook of [`TRACE_UTILITY`]: how ticks become nanoseconds. Documented.
pub const TIME_CONVERSION: u16 = 0x25C;

/// A thread was dispatched: data word 1 is the thread that runs now, data word 2 its process.
pub const DISPATCH: HookId = HookId::short(0x106);
/// The idle thread was dispatched; words as for [`DISPATCH`].
pub const DISPATCH_IDLE: HookId = HookId::short(0x10C);
/// A process executes another program: generic, data word 1 is the process, the variable data the
/// thread (4 or 8 bytes, as wide as a word) and the path up to a NUL.
pub const EXEC: HookId = HookId::short(0x134);
/// A process was forked: data word 1 is the child, data word 2 its thread.
pub const FORK: HookId = HookId::short(0x139);
/// A thread was created: data word 1 is the thread, data word 2 its process.
pub const THREAD_CREATE: HookId = HookId::short(0x465);

/// The first id for temporary and user's events, 010 and 0100 in short (documented).
pub const USER_FIRST: HookId = HookId::short(0x010);
/// The last id for temporary and user's events, 0FF (documented).
pub const USER_LAST: HookId = HookId::short(0x0FF);
