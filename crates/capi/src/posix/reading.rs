//! Reading streams, and logs as streams.
//!
//! The waiting readers are cancellation points: a thread that is cancelled ends by unwinding from the
//! system call through their frames. So these functions have nothing to be dropped while they sleep, and
//! say `C-unwind`; everything else happens in functions that have returned before.
//!
//! The module holds `unsafe` code because exported names and C's memory are that by nature.
#![allow(unsafe_code)]

use std::ffi::{c_int, c_void};
use std::mem::MaybeUninit;
use std::sync::Arc;

use tracewell_posix::{EventInfo, Recorded, Stream, Waited};

use super::handles::{self, Handle};
use super::{INVALID, Number, guard, some, timespec};
use crate::boundary::{CancellableSleep, memory};

/// `struct posix_trace_event_info`.
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

/// Where a reader wants what it gets.
struct Wanted<'a> {
    event: &'a mut MaybeUninit<posix_trace_event_info>,
    data: &'a mut [u8],
    length: &'a mut MaybeUninit<usize>,
}

impl Wanted<'_> {
    /// Gives an event out, whose data are handed to it by a function.
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
    for (piece, word) in to.chunks_mut(8).zip(words) {
        piece.copy_from_slice(&word.to_le_bytes()[..piece.len()]);
    }
}

/// The arguments of a reader, as C has them.
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
    /// * each pointer is null or points to memory of its type that nobody else uses, `data` to `bytes`
    ///   bytes.
    unsafe fn check<'a>(self) -> Result<(Wanted<'a>, &'a mut MaybeUninit<c_int>), Number> {
        // SAFETY: the caller's bullet.
        unsafe {
            let event: Place<'a, _> = self.event.cast::<MaybeUninit<_>>().as_mut();
            let length: Place<'a, _> = self.length.cast::<MaybeUninit<_>>().as_mut();
            let unavailable: Place<'a, _> = self.unavailable.cast::<MaybeUninit<_>>().as_mut();
            let data = memory(self.data.cast(), self.bytes).map_err(|_| INVALID)?;
            Ok((Wanted { event: some(event)?, data, length: some(length)? }, some(unavailable)?))
        }
    }
}

fn next_of_log(log: &Recorded, wanted: Wanted<'_>) -> bool {
    log.next(|info, data| wanted.give(info, |to| to.copy_from_slice(&data[..to.len()]))).is_some()
}

/// Tries to read; where nothing is to be had, prepares for sleep.
///
/// # Safety
/// * as [`Arguments::check`].
#[inline(never)]
unsafe fn poll(trid: c_int, arguments: Arguments, sleep: &mut Option<CancellableSleep>) -> c_int {
    guard(|| {
        // SAFETY: the caller's bullet.
        let (wanted, unavailable) = unsafe { arguments.check() }?;
        let stream = match handles::find(trid)? {
            Handle::Active(stream) => stream,
            Handle::Recorded(log) => {
                let found = next_of_log(&log, wanted);
                unavailable.write((!found).into());
                return Ok(());
            }
        };
        let give = |info, words: &[u64]| wanted.give(info, |to| copy_words(words, to));
        match stream.poll(give)? {
            Waited::Event(()) => {
                unavailable.write(0);
            }
            Waited::Abandoned => {
                unavailable.write(1);
            }
            Waited::Sleep(seen) => *sleep = Some(asleep(stream, seen)),
        }
        Ok(())
    })
}

/// The sleep of a reader: it keeps the stream's memory, and leaks it where its thread is cancelled.
fn asleep(stream: Arc<Stream>, seen: u32) -> CancellableSleep {
    let word = stream.core().wake_word().as_ptr().cast();
    CancellableSleep { word, seen, owner: Arc::into_raw(stream).cast() }
}

/// Ends a sleep.
#[inline(never)]
fn awake(sleep: CancellableSleep) {
    // SAFETY: `asleep` made it of such an `Arc`, and a sleep ends once.
    drop(unsafe { Arc::from_raw(sleep.owner.cast::<Stream>()) });
}

/// Takes the oldest event, and waits for one.
///
/// # Safety
/// * each pointer is null or points to memory of its type that nobody else uses, `data` to `num_bytes`
///   bytes.
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
    // SAFETY: the caller's bullet.
    unsafe { wait(trid, arguments, std::ptr::null()) }
}

/// Takes the oldest event, and waits for one until a time.
///
/// # Safety
/// * as [`posix_trace_getnext_event`]; `abstime` is null or points to a time.
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
    // SAFETY: the caller's bullet.
    let until = unsafe { abstime.as_ref() };
    // Null is no time; the kernel takes none before 1970.
    let until = until.copied().unwrap_or(libc::timespec { tv_sec: 0, tv_nsec: -1 });
    let until = libc::timespec { tv_sec: until.tv_sec.max(0), ..until };
    // SAFETY: the caller's bullet.
    unsafe { wait(trid, arguments, &until) }
}

/// # Safety
/// * as [`Arguments::check`]; `until` is null for ever, or points to a time.
unsafe fn wait(trid: c_int, arguments: Arguments, until: *const libc::timespec) -> c_int {
    loop {
        let mut sleep = None;
        // SAFETY: the caller's bullet.
        let result = unsafe { poll(trid, arguments, &mut sleep) };
        let Some(sleep) = sleep else { return result };
        // SAFETY: the sleep keeps the word's memory; the caller's bullet.
        let ended = unsafe { sleep.until(until) };
        awake(sleep);
        if matches!(ended, libc::EINTR | libc::ETIMEDOUT | libc::EINVAL) {
            return ended;
        }
    }
}

/// Takes the oldest event if there is one.
///
/// # Safety
/// * as [`posix_trace_getnext_event`].
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
        // SAFETY: the caller's bullet.
        let (wanted, unavailable) = unsafe { arguments.check() }?;
        let stream = handles::find(trid)?.active()?;
        let give = |info, words: &[u64]| wanted.give(info, |to| copy_words(words, to));
        let found = stream.core().try_next(give)?.is_some();
        unavailable.write((!found).into());
        Ok(())
    })
}

/// Opens a log as a stream.
#[unsafe(no_mangle)]
pub extern "C" fn posix_trace_open(
    file_desc: c_int,
    trid: Option<&mut MaybeUninit<c_int>>,
) -> c_int {
    guard(|| {
        let trid = some(trid)?;
        let log = Recorded::open(file_desc)?;
        trid.write(handles::add(Handle::Recorded(Arc::new(log)))?);
        Ok(())
    })
}

/// Begins a log again.
#[unsafe(no_mangle)]
pub extern "C" fn posix_trace_rewind(trid: c_int) -> c_int {
    guard(|| {
        handles::find(trid)?.recorded()?.rewind();
        Ok(())
    })
}

/// Closes a log.
#[unsafe(no_mangle)]
pub extern "C" fn posix_trace_close(trid: c_int) -> c_int {
    guard(|| handles::remove(trid, Handle::recorded).map(drop))
}
