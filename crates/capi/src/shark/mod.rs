//! S.Ha.R.K.'s tracer. The caller provides the storage of the chunk table and the memory of the
//! chunks.
//!
//! Each function corresponds to a function of the kernel, for example `tw_shark_enable` to
//! `FTrace_enable`, but checks its arguments. The functions in this module initialise a tracer,
//! switch recording on and off, log events, set filters and report counts. None of these functions
//! allocates, locks, waits or makes a system call. The chunk table is in `chunks`, the senders are
//! in `send`.
//!
//! Unsafe: exported symbols and C storage.
#![allow(unsafe_code)]

pub mod chunks;
#[cfg(feature = "std")]
pub mod send;

use core::ffi::c_int;
use core::mem::MaybeUninit;

use tracewell_record::shark::{Drops, Trace};

use crate::boundary::{Placed, guard, non_null};
use crate::clock::{CallerClock, truth, tw_clock};
use crate::code::{Code, of_shark_outcome};

/// A S.Ha.R.K. tracer with up to 256 chunks. Its words are private.
///
/// The storage must be static or filled with zeros, and initialised by `tw_shark_init` before use.
#[repr(C)]
pub struct tw_shark {
    words: [MaybeUninit<u64>; 2400],
}

/// The chunk number that stands for no chunk.
pub const TW_NO_CHUNK: i16 = -1;

/// The status of a tracer. Each count is the number of events since `tw_shark_init` that were not
/// stored, unless its comment states otherwise.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct tw_shark_status {
    /// Events logged while tracing was off.
    pub disabled: u64,
    /// Events hidden by their family's filter.
    pub filtered: u64,
    /// Events logged while no chunk was selected.
    pub no_chunk: u64,
    /// Events logged while the selected chunk was full.
    pub full: u64,
    /// Events logged while the selected chunk was being sent.
    pub busy: u64,
    /// Events with an invalid code: 0, or a command on the fast path.
    pub refused: u64,
    /// Number of times that a command requested the next chunk, but no chunk was linked. These
    /// commands are not lost events.
    pub no_successor: u64,
    /// Events that a cyclic chunk overwrote after it wrapped.
    pub overwritten: u64,
    /// Overwritten essential events for which the emergency area had no space.
    pub essential_overwritten: u64,
    /// 1 while tracing is on.
    pub on: c_int,
    /// The recording chunk, or TW_NO_CHUNK.
    pub current: i16,
    /// One bit per family, 1 if the family is hidden.
    pub hidden: u16,
}

type Recorder = Trace<'static, CallerClock>;

/// Runs `work` on a tracer, and returns the result of `work` to C.
#[inline]
fn with(
    trace: Option<&mut tw_shark>,
    work: impl FnOnce(&mut Recorder) -> Result<(), Code>,
) -> c_int {
    // SAFETY: the storage is zeroed or was initialised by `tw_shark_init` (see `tw_shark`).
    guard(|| work(unsafe { Placed::<Recorder>::get(non_null(trace)?)? }))
}

/// Initialises a tracer. It is off, has no chunks, and hides no families.
///
/// `clock` is copied, and the memory of its context must outlive the trace. Ticks are unwrapped to
/// 64 bits. If the clock has fewer bits and no event is logged for longer than one period of the
/// clock, later timestamps are too small.
///
/// Ownership: the caller keeps `trace`, which need not be freed. Errors: TW_NULL. Safe in a signal
/// handler or interrupt.
#[unsafe(no_mangle)]
pub extern "C" fn tw_shark_init(
    trace: Option<&mut MaybeUninit<tw_shark>>,
    clock: Option<&tw_clock>,
) -> c_int {
    guard(|| {
        let clock = CallerClock::new(*non_null(clock)?, u64::MAX);
        Placed::put(non_null(trace)?, Recorder::new(clock));
        Ok(())
    })
}

/// Switches recording on (`FTrace_enable`).
///
/// Ownership: none. Errors: TW_NULL, TW_NOT_INITIALISED; TW_NOTHING if no chunk is selected. Safe
/// in an interrupt if no other call on this trace can be in progress.
#[unsafe(no_mangle)]
pub extern "C" fn tw_shark_enable(trace: Option<&mut tw_shark>) -> c_int {
    with(trace, |trace| Ok(trace.enable()?))
}

/// Switches recording off (`FTrace_disable`). Chunks, positions and filters are kept.
///
/// Ownership: none. Errors: TW_NULL, TW_NOT_INITIALISED. Safe in an interrupt if no other call on
/// this trace can be in progress.
#[unsafe(no_mangle)]
pub extern "C" fn tw_shark_disable(trace: Option<&mut tw_shark>) -> c_int {
    with(trace, |trace| {
        trace.disable();
        Ok(())
    })
}

/// Logs an event (`TRACER_LOGEVENT`): a code, a 16-bit parameter and a 32-bit parameter. Code 0xFF
/// is the command of `tw_shark_next_chunk`.
///
/// At the end of a chunk, the chunk's mode determines the next step: recording continues at the
/// start of the chunk, continues in the linked chunk, or stops. If the chunk is full, essential
/// events are stored in its emergency area. For each cause, `tw_shark_get_status` reports the
/// number of events that were not stored.
///
/// Ownership: none. Errors: TW_NULL, TW_NOT_INITIALISED, TW_OFF; TW_EXCLUDED if the family is
/// hidden; TW_MISSED if no chunk has space; TW_NOTHING for the command if no chunk is linked;
/// TW_INVALID for code 0. Safe in an interrupt if no other call on this trace can be in progress.
#[unsafe(no_mangle)]
pub extern "C" fn tw_shark_log(
    trace: Option<&mut tw_shark>,
    code: u8,
    par1: u16,
    par2: u32,
) -> c_int {
    with(trace, |trace| of_shark_outcome(trace.log(code, par1, par2)))
}

/// Logs an event without checking its family's filter (`FAST_TRACER_LOGEVENT`). Readers ignore the
/// second parameter of such records, because the kernel's fast path writes none.
///
/// Ownership, errors and safety are as for `tw_shark_log`; in addition, code 0xFF causes
/// TW_INVALID.
#[unsafe(no_mangle)]
pub extern "C" fn tw_shark_log_fast(
    trace: Option<&mut tw_shark>,
    code: u8,
    par1: u16,
    par2: u32,
) -> c_int {
    with(trace, |trace| of_shark_outcome(trace.log_fast(code, par1, par2)))
}

/// Marks the current chunk as full, whatever its mode is, and continues in the chunk linked to it
/// (`FTrace_EVT_next_chunk`). No record is stored.
///
/// Ownership, errors and safety are as for `tw_shark_log`.
#[unsafe(no_mangle)]
pub extern "C" fn tw_shark_next_chunk(trace: Option<&mut tw_shark>) -> c_int {
    with(trace, |trace| of_shark_outcome(trace.next_chunk()))
}

/// Hides a family, or shows it again if `status` is 0 (`FTrace_set_filter`). If tracing is on, the
/// call logs the change. Only the low four bits of `family` are used.
///
/// Ownership: none. Errors: TW_NULL, TW_NOT_INITIALISED; TW_INVALID for family 15, which holds
/// commands; TW_MISSED if the filter is set but there was no space for the record. Safe in an
/// interrupt if no other call on this trace can be in progress.
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

/// Stores the status of a tracer.
///
/// Ownership: the caller keeps `status`. Errors: TW_NULL, TW_NOT_INITIALISED. Safe in an interrupt
/// if no other call on this trace can be in progress.
#[unsafe(no_mangle)]
pub extern "C" fn tw_shark_get_status(
    trace: Option<&mut tw_shark>,
    status: Option<&mut MaybeUninit<tw_shark_status>>,
) -> c_int {
    with(trace, |trace| {
        non_null(status)?.write(status_of(trace));
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

/// Returns a chunk's number for C, or TW_NO_CHUNK.
fn number_or_none(chunk: Option<u8>) -> i16 {
    chunk.map_or(TW_NO_CHUNK, i16::from)
}
