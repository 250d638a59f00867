//! S.Ha.R.K.'s tracer: a chunk table in storage of the caller, chunks in memory of the caller.
//!
//! The calls are the kernel's (`FTrace_enable` is `tw_shark_enable`), and check what it does not. Here
//! are the clock, on and off, recording, filters and counts; none of these functions allocates, locks,
//! waits or asks the operating system anything. The chunk table is in `chunks`, the way out in `send`.
//!
//! The module holds `unsafe` code because exported names and storage of C are that by nature.
#![allow(unsafe_code)]

pub mod chunks;
#[cfg(feature = "std")]
pub mod send;

use core::ffi::c_int;
use core::mem::MaybeUninit;

use tracewell_record::shark::{Drops, Trace};

use crate::boundary::{Placed, guard, some};
use crate::clock::{CallerClock, truth, tw_clock};
use crate::code::{Code, of_shark_outcome};

/// A S.Ha.R.K. tracer: up to 256 chunks. Its words are nobody's business.
///
/// Static memory or zeroed; `tw_shark_init` before anything else.
#[repr(C)]
pub struct tw_shark {
    words: [MaybeUninit<u64>; 2400],
}

/// No chunk, where a chunk's number is told.
pub const TW_NO_CHUNK: i16 = -1;

/// How a tracer stands. The counts are of events that were not stored, since `tw_shark_init`.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct tw_shark_status {
    /// Logged while tracing was off.
    pub disabled: u64,
    /// Hidden by their family's filter.
    pub filtered: u64,
    /// Logged while no chunk was selected.
    pub no_chunk: u64,
    /// Logged while the chunk was full.
    pub full: u64,
    /// Logged while the chunk was being sent.
    pub busy: u64,
    /// Of a code that is no event's: 0, or a command on the fast path.
    pub refused: u64,
    /// Commands to go to the next chunk where there was none; no event is lost by that.
    pub no_successor: u64,
    /// Stored, and overwritten by a later lap of a cyclic chunk.
    pub overwritten: u64,
    /// Of those, the essential ones for which the emergency area had no room.
    pub essential_overwritten: u64,
    /// 1 while tracing is on.
    pub on: c_int,
    /// The chunk that records, or TW_NO_CHUNK.
    pub current: i16,
    /// A bit for each family that is hidden.
    pub hidden: u16,
}

type Recorder = Trace<'static, CallerClock>;

/// Does something with a tracer, for C.
#[inline]
fn with(
    trace: Option<&mut tw_shark>,
    work: impl FnOnce(&mut Recorder) -> Result<(), Code>,
) -> c_int {
    // SAFETY: the storage is zeros or was made by `tw_shark_init` (the header's text on `tw_shark`).
    guard(|| work(unsafe { Placed::<Recorder>::get(some(trace)?)? }))
}

/// Initialises a tracer without chunks, off, with nothing hidden.
///
/// Ownership: `trace` stays the caller's; nothing has to be freed. `clock` is copied; what its context
/// points at must stay as long as the trace. It is unwrapped to 64 bits: one with fewer has to be read
/// once in its period. Errors: TW_NULL. Safe in a signal handler or interrupt.
#[unsafe(no_mangle)]
pub extern "C" fn tw_shark_init(
    trace: Option<&mut MaybeUninit<tw_shark>>,
    clock: Option<&tw_clock>,
) -> c_int {
    guard(|| {
        let clock = CallerClock::new(*some(clock)?, u64::MAX);
        Placed::put(some(trace)?, Recorder::new(clock));
        Ok(())
    })
}

/// Switches recording on (`FTrace_enable`).
///
/// Ownership: none. Errors: TW_NULL, TW_NOT_INITIALISED, TW_NOTHING where no chunk is selected. Safe in
/// an interrupt if no other call on this trace can be under way.
#[unsafe(no_mangle)]
pub extern "C" fn tw_shark_enable(trace: Option<&mut tw_shark>) -> c_int {
    with(trace, |trace| Ok(trace.enable()?))
}

/// Switches recording off (`FTrace_disable`); chunks, positions and filters stay.
///
/// Ownership: none. Errors: TW_NULL, TW_NOT_INITIALISED. Safe in an interrupt if no other call on this
/// trace can be under way.
#[unsafe(no_mangle)]
pub extern "C" fn tw_shark_disable(trace: Option<&mut tw_shark>) -> c_int {
    with(trace, |trace| {
        trace.disable();
        Ok(())
    })
}

/// Logs an event (`TRACER_LOGEVENT`): the code, a parameter of 16 and one of 32 bits. Code 0xFF is the
/// command of `tw_shark_next_chunk`.
///
/// Where a chunk ends, a cyclic one goes on at its start, one that jumps in its successor; of a full one
/// the emergency area takes what the others cannot be read without. What is not stored is counted by
/// cause: `tw_shark_get_status`.
/// Ownership: none. Errors: TW_NULL, TW_NOT_INITIALISED; TW_OFF, TW_EXCLUDED where its family is hidden,
/// TW_MISSED where no chunk has room, TW_NOTHING for the command without a successor, TW_INVALID for
/// code 0. Safe in an interrupt if no other call on this trace can be under way.
#[unsafe(no_mangle)]
pub extern "C" fn tw_shark_log(
    trace: Option<&mut tw_shark>,
    code: u8,
    par1: u16,
    par2: u32,
) -> c_int {
    with(trace, |trace| of_shark_outcome(trace.log(code, par1, par2)))
}

/// Logs an event without asking for its family's filter (`FAST_TRACER_LOGEVENT`). Readers leave the
/// second parameter of such records out, for the kernel's fast path writes none.
///
/// Ownership, errors and safety as `tw_shark_log`; code 0xFF is TW_INVALID too.
#[unsafe(no_mangle)]
pub extern "C" fn tw_shark_log_fast(
    trace: Option<&mut tw_shark>,
    code: u8,
    par1: u16,
    par2: u32,
) -> c_int {
    with(trace, |trace| of_shark_outcome(trace.log_fast(code, par1, par2)))
}

/// Makes the current chunk full and goes on in its successor, whatever its mode
/// (`FTrace_EVT_next_chunk`). Nothing is stored.
///
/// Ownership, errors and safety as `tw_shark_log`.
#[unsafe(no_mangle)]
pub extern "C" fn tw_shark_next_chunk(trace: Option<&mut tw_shark>) -> c_int {
    with(trace, |trace| of_shark_outcome(trace.next_chunk()))
}

/// Hides a family (`status` other than 0) or shows it again (`FTrace_set_filter`), and logs that while
/// tracing is on. Of `family` the low nibble counts.
///
/// Ownership: none. Errors: TW_NULL, TW_NOT_INITIALISED, TW_INVALID for family 15, which has commands;
/// TW_MISSED where the filter is set and the record of it found no room. Safe in an interrupt if no
/// other call on this trace can be under way.
#[unsafe(no_mangle)]
pub extern "C" fn tw_shark_set_filter(
    trace: Option<&mut tw_shark>,
    family: u8,
    status: u16,
) -> c_int {
    with(trace, |trace| {
        let logged = trace.set_filter(family, status)?;
        if trace.is_on() { of_shark_outcome(logged) } else { Ok(()) }
    })
}

/// How a tracer stands, and what it did not store.
///
/// Ownership: `status` is the caller's. Errors: TW_NULL, TW_NOT_INITIALISED. Safe in an interrupt if no
/// other call on this trace can be under way.
#[unsafe(no_mangle)]
pub extern "C" fn tw_shark_get_status(
    trace: Option<&mut tw_shark>,
    status: Option<&mut MaybeUninit<tw_shark_status>>,
) -> c_int {
    with(trace, |trace| {
        some(status)?.write(status_of(trace));
        Ok(())
    })
}

fn status_of(trace: &Recorder) -> tw_shark_status {
    let Drops { disabled, filtered, no_chunk, full, busy, refused, .. } = trace.drops();
    let Drops { no_successor, overwritten, essential_overwritten, .. } = trace.drops();
    tw_shark_status {
        disabled,
        filtered,
        no_chunk,
        full,
        busy,
        refused,
        no_successor,
        overwritten,
        essential_overwritten,
        on: truth(trace.is_on()),
        current: number_or_none(trace.current()),
        hidden: trace.filter(),
    }
}

/// A chunk's number for C.
fn number_or_none(chunk: Option<u8>) -> i16 {
    chunk.map_or(TW_NO_CHUNK, i16::from)
}
