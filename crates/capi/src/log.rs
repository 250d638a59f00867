//! Logs: records taken out of a stream by the caller, into a file or a function of the caller.
//!
//! The module holds `unsafe` code because exported names and C's texts are that by nature.
#![allow(unsafe_code)]

use std::ffi::{c_char, c_int, c_void};
use std::fs::File;
use std::io::{self, Write};
use std::mem::MaybeUninit;

use tracewell_record::stream::{Log, Take};

use crate::boundary::{guard, hand_over, path, put, some};
use crate::code::Code;
use crate::stream::tw_stream;

/// A log that is being written. One thread at a time.
pub struct tw_log {
    log: Log<Sink>,
}

/// Takes bytes of a log: returns how many it took, 1 at least, or the negative of an error number. The
/// bytes that it did not take come again.
pub type tw_sink =
    Option<extern "C" fn(context: *mut c_void, bytes: *const c_void, length: usize) -> isize>;

/// Where a log goes.
pub(crate) enum Sink {
    File(File),
    Caller {
        function: extern "C" fn(*mut c_void, *const c_void, usize) -> isize,
        context: *mut c_void,
    },
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::File(file) => file.write(bytes),
            Self::Caller { function, context } => {
                let took = function(*context, bytes.as_ptr().cast(), bytes.len());
                let error = || {
                    i32::try_from(took.unsigned_abs())
                        .map_or_else(|_| io::ErrorKind::Other.into(), io::Error::from_raw_os_error)
                };
                usize::try_from(took).map(|took| took.min(bytes.len())).map_err(|_| error())
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Begins a log in a new file, in place of one that is there. Nothing is written before the first
/// `tw_log_drain`.
///
/// Ownership: `*log` is the caller's, to be given to `tw_log_close`; null on errors. Errors: TW_NULL, or
/// the system's. Not for signal handlers.
///
/// # Safety
/// * `file` ends with a NUL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tw_log_create(
    file: *const c_char,
    log: Option<&mut MaybeUninit<*mut tw_log>>,
) -> c_int {
    // SAFETY: the bullet above.
    begin(log, || Ok(Sink::File(File::create(unsafe { path(file)? })?)))
}

/// Begins a log that goes to a function, which `context` is handed to.
///
/// Ownership: as `tw_log_create`; what `context` points at stays as long as the log. Errors: TW_NULL. Not
/// for signal handlers.
#[unsafe(no_mangle)]
pub extern "C" fn tw_log_to(
    sink: tw_sink,
    context: *mut c_void,
    log: Option<&mut MaybeUninit<*mut tw_log>>,
) -> c_int {
    begin(log, || Ok(Sink::Caller { function: some(sink)?, context }))
}

fn begin(
    log: Option<&mut MaybeUninit<*mut tw_log>>,
    sink: impl FnOnce() -> Result<Sink, Code>,
) -> c_int {
    guard(|| hand_over(log, || Ok(tw_log { log: Log::new(sink()?, Take::Out) })))
}

/// Takes out of a stream what came into it, and writes it; `events` gets how many events that were, and
/// may be null. A log belongs to one stream, and a stream has one log at a time.
///
/// Ownership: none. Errors: TW_NULL, or the sink's; nothing is lost by that, the next call goes on.
/// Not for signal handlers.
#[unsafe(no_mangle)]
pub extern "C" fn tw_log_drain(
    log: Option<&mut tw_log>,
    stream: Option<&tw_stream>,
    events: Option<&mut MaybeUninit<u64>>,
) -> c_int {
    guard(|| {
        let (log, stream) = (some(log)?, &some(stream)?.stream);
        put(events, log.log.drain(&stream.image(), stream.stamp())?);
        stream.image().resume_if_empty();
        Ok(())
    })
}

/// Drains once more and ends the log with its index.
///
/// Ownership: the log is gone, whatever is returned. Errors: TW_NULL, or the sink's: then some events
/// are not in the log, and the stream's status counts them. Not for signal handlers.
#[unsafe(no_mangle)]
pub extern "C" fn tw_log_close(log: Option<Box<tw_log>>, stream: Option<&tw_stream>) -> c_int {
    guard(|| {
        let (log, stream) = (some(log)?, &some(stream)?.stream);
        let closed = log.log.close(&stream.image(), stream.stamp());
        closed.map(|_| ()).map_err(|failed| failed.error.into())
    })
}
