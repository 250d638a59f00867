//! Functions that read streams and logs.
//!
//! The waiting functions are cancellation points: a cancelled thread unwinds from the system call
//! through their frames. Therefore they are `C-unwind`, and own no value with a destructor while
//! they sleep. All other work is done in functions that return before the sleep.
//!
//! Unsafe: exported symbols and C pointers.
#![allow(unsafe_code)]

use std::ffi::{c_int, c_void};
use std::mem::MaybeUninit;
use std::sync::Arc;

use tracewell_posix::{Controller, EventInfo, Polled, RecordedLog};

use super::handles::{self, Handle};
use super::{INVALID, Number, guard, non_null, timespec};
use crate::boundary::{CancellableSleep, memory};

/// `struct posix_trace_event_info` of `trace.h`.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct posix_trace_event_info {
    event_id: u32,
    pid: libc::pid_t,
    prog_address: *mut c_void,
    truncation_status: c_int,
    timestamp: libc::timespec,
    thread_id: libc::pthread_t,
}

const TRUNCATED_RECORD: c_int = 1;
const TRUNCATED_READ: c_int = 2;

type Place<'a, T> = Option<&'a mut MaybeUninit<T>>;

/// The checked output arguments of a reading function.
struct Wanted<'a> {
    event: &'a mut MaybeUninit<posix_trace_event_info>,
    data: &'a mut [u8],
    length: &'a mut MaybeUninit<usize>,
}

impl Wanted<'_> {
    /// Stores an event; `copy` stores its data.
    fn give(self, info: EventInfo, copy: impl FnOnce(&mut [u8])) {
        let length = info.length.min(self.data.len());
        copy(&mut self.data[..length]);
        self.length.write(length);
        let truncated = if info.truncated { TRUNCATED_RECORD } else { 0 };
        self.event.write(posix_trace_event_info {
            event_id: info.id,
            pid: info.process as libc::pid_t,
            prog_address: std::ptr::without_provenance_mut(info.address as usize),
            truncation_status: if length < info.length { TRUNCATED_READ } else { truncated },
            timestamp: timespec(info.stamp),
            thread_id: info.thread as libc::pthread_t,
        });
    }
}

fn copy_words(words: &[u64], to: &mut [u8]) {
    // The last part may be shorter than a word, because the caller's buffer can have any length.
    for (piece, word) in to.chunks_mut(8).zip(words) {
        piece.copy_from_slice(&word.to_le_bytes()[..piece.len()]);
    }
}

/// The output arguments of a reading function.
#[derive(Clone, Copy)]
struct Arguments {
    event: *mut posix_trace_event_info,
    data: *mut c_void,
    bytes: usize,
    length: *mut usize,
    unavailable: *mut c_int,
}

impl Arguments {
    /// # Safety
    /// * Each pointer must be null or point to memory of its type that is not used for anything
    ///   else; `data` must point to `bytes` bytes.
    unsafe fn check<'a>(self) -> Result<(Wanted<'a>, &'a mut MaybeUninit<c_int>), Number> {
        // SAFETY: guaranteed by the caller (see `# Safety`).
        unsafe {
            let event: Place<'a, _> = self.event.cast::<MaybeUninit<_>>().as_mut();
            let length: Place<'a, _> = self.length.cast::<MaybeUninit<_>>().as_mut();
            let unavailable: Place<'a, _> = self.unavailable.cast::<MaybeUninit<_>>().as_mut();
            let data = memory(self.data.cast(), self.bytes).map_err(|_| INVALID)?;
            Ok((
                Wanted { event: non_null(event)?, data, length: non_null(length)? },
                non_null(unavailable)?,
            ))
        }
    }
}

fn next_of_log(log: &RecordedLog, wanted: Wanted<'_>) -> bool {
    log.next(|info, data| wanted.give(info, |to| to.copy_from_slice(&data[..to.len()]))).is_some()
}

/// Tries to read. If there is no event, prepares a sleep.
///
/// # Safety
/// * As [`Arguments::check`].
#[inline(never)]
unsafe fn poll(trid: c_int, arguments: Arguments, sleep: &mut Option<CancellableSleep>) -> c_int {
    guard(|| {
        // SAFETY: guaranteed by the caller (see `# Safety`).
        let (wanted, unavailable) = unsafe { arguments.check() }?;
        let stream = match handles::find(trid)? {
            Handle::Active(stream) => stream,
            // A log is complete, so this call never waits.
            Handle::Recorded(log) => {
                let found = next_of_log(&log, wanted);
                unavailable.write((!found).into());
                return Ok(());
            }
        };
        let give = |info, words: &[u64]| wanted.give(info, |to| copy_words(words, to));
        match stream.poll(give)? {
            Polled::Event(()) => {
                unavailable.write(0);
            }
            // No traced process is left that could record an event.
            Polled::Abandoned => {
                unavailable.write(1);
            }
            Polled::Sleep(seen) => *sleep = Some(asleep(stream, seen)),
        }
        Ok(())
    })
}

/// Creates the sleep of a reader. The sleep owns a reference to the stream. The reference leaks if
/// the thread is cancelled.
fn asleep(stream: Arc<Controller>, seen: u32) -> CancellableSleep {
    let word = stream.stream().wake_word().as_ptr().cast();
    // The sleep contains a raw pointer, because a cancelled thread must not unwind through a value
    // with a destructor.
    CancellableSleep { word, seen, owner: Arc::into_raw(stream).cast() }
}

/// Ends a sleep, and drops its reference to the stream.
#[inline(never)]
fn awake(sleep: CancellableSleep) {
    // SAFETY: `asleep` created the pointer from an `Arc<Controller>`, and `awake` runs once per
    // sleep.
    drop(unsafe { Arc::from_raw(sleep.owner.cast::<Controller>()) });
}

/// Removes the oldest event and stores it. If the stream is empty, waits for an event.
///
/// # Safety
/// * Each pointer must be null or point to memory of its type that is not used for anything else;
///   `data` must point to `num_bytes` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn posix_trace_getnext_event(
    trid: c_int,
    event: *mut posix_trace_event_info,
    data: *mut c_void,
    num_bytes: usize,
    data_len: *mut usize,
    unavailable: *mut c_int,
) -> c_int {
    let arguments = Arguments { event, data, bytes: num_bytes, length: data_len, unavailable };
    // SAFETY: guaranteed by the caller (see `# Safety`).
    unsafe { wait(trid, arguments, std::ptr::null()) }
}

/// Removes the oldest event and stores it. If the stream is empty, waits for an event until
/// `abstime`.
///
/// # Safety
/// * As [`posix_trace_getnext_event`]; `abstime` must be null or point to a time.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn posix_trace_timedgetnext_event(
    trid: c_int,
    event: *mut posix_trace_event_info,
    data: *mut c_void,
    num_bytes: usize,
    data_len: *mut usize,
    unavailable: *mut c_int,
    abstime: *const libc::timespec,
) -> c_int {
    let arguments = Arguments { event, data, bytes: num_bytes, length: data_len, unavailable };
    // SAFETY: guaranteed by the caller (see `# Safety`).
    let until = unsafe { abstime.as_ref() };
    // A null pointer becomes an invalid time. The kernel rejects times before 1970, so this code
    // replaces them with 1970.
    let until = until.copied().unwrap_or(libc::timespec { tv_sec: 0, tv_nsec: -1 });
    let until = libc::timespec { tv_sec: until.tv_sec.max(0), ..until };
    // SAFETY: guaranteed by the caller (see `# Safety`).
    unsafe { wait(trid, arguments, &until) }
}

/// # Safety
/// * As [`Arguments::check`]; `until` must be null to wait forever, or point to a time.
unsafe fn wait(trid: c_int, arguments: Arguments, until: *const libc::timespec) -> c_int {
    loop {
        let mut sleep = None;
        // SAFETY: guaranteed by the caller (see `# Safety`).
        let result = unsafe { poll(trid, arguments, &mut sleep) };
        let Some(sleep) = sleep else { return result };
        // SAFETY: the sleep keeps the word's memory alive, and the caller guarantees that `until`
        // is valid.
        let ended = unsafe { sleep.until(until) };
        awake(sleep);
        // Every result except these three errors is a wake-up. Another reader may have removed the
        // event, so poll again.
        if matches!(ended, libc::EINTR | libc::ETIMEDOUT | libc::EINVAL) {
            return ended;
        }
    }
}

/// Removes the oldest event and stores it, if there is one.
///
/// # Safety
/// * As [`posix_trace_getnext_event`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn posix_trace_trygetnext_event(
    trid: c_int,
    event: *mut posix_trace_event_info,
    data: *mut c_void,
    num_bytes: usize,
    data_len: *mut usize,
    unavailable: *mut c_int,
) -> c_int {
    let arguments = Arguments { event, data, bytes: num_bytes, length: data_len, unavailable };
    guard(|| {
        // SAFETY: guaranteed by the caller (see `# Safety`).
        let (wanted, unavailable) = unsafe { arguments.check() }?;
        let stream = handles::find(trid)?.active()?;
        let give = |info, words: &[u64]| wanted.give(info, |to| copy_words(words, to));
        let found = stream.stream().try_next(give)?.is_some();
        unavailable.write((!found).into());
        Ok(())
    })
}

/// Opens a log as a pre-recorded stream.
#[unsafe(no_mangle)]
pub extern "C" fn posix_trace_open(
    file_desc: c_int,
    trid: Option<&mut MaybeUninit<c_int>>,
) -> c_int {
    guard(|| {
        let trid = non_null(trid)?;
        let log = RecordedLog::open(file_desc)?;
        trid.write(handles::add(Handle::Recorded(Arc::new(log)))?);
        Ok(())
    })
}

/// Restarts reading a log at its oldest event.
#[unsafe(no_mangle)]
pub extern "C" fn posix_trace_rewind(trid: c_int) -> c_int {
    guard(|| {
        handles::find(trid)?.recorded()?.rewind();
        Ok(())
    })
}

/// Closes a log and invalidates its id.
#[unsafe(no_mangle)]
pub extern "C" fn posix_trace_close(trid: c_int) -> c_int {
    guard(|| handles::remove(trid, Handle::recorded).map(drop))
}
