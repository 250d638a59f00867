//! Logs: the caller drains a stream into a file or a function.
//!
//! Unsafe: exported symbols and C strings.
#![allow(unsafe_code)]

use std::ffi::{c_char, c_int, c_void};
use std::fs::File;
use std::io::{self, Write};
use std::mem::MaybeUninit;

use tracewell_record::stream::{Log, Take};

use crate::boundary::{guard, hand_over, non_null, path, put};
use crate::code::Code;
use crate::stream::tw_stream;

/// An open log. Only one thread may use it at a time.
pub struct tw_log {
    log: Log<Sink>,
}

/// Writes bytes of a log to a destination. Returns the number of bytes accepted, at least 1, or a
/// negative error number. Bytes that were not accepted are passed again.
pub type tw_sink =
    Option<extern "C" fn(context: *mut c_void, bytes: *const c_void, length: usize) -> isize>;

/// The destination of a log.
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

/// Creates a log in a new file. An existing file is replaced. The first `tw_log_drain` writes the
/// header.
///
/// Ownership: the caller owns `*log` and passes it to `tw_log_close`; it is null after an error.
/// Errors: TW_NULL, or an error of the system. Not for signal handlers.
///
/// # Safety
/// * `file` must be null-terminated.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tw_log_create(
    file: *const c_char,
    log: Option<&mut MaybeUninit<*mut tw_log>>,
) -> c_int {
    // SAFETY: guaranteed by the caller (see `# Safety`).
    begin(log, || Ok(Sink::File(File::create(unsafe { path(file)? })?)))
}

/// Creates a log whose bytes are passed to `sink`, together with `context`.
///
/// Ownership: as `tw_log_create`; the memory of `context` must outlive the log. Errors: TW_NULL.
/// Not for signal handlers.
#[unsafe(no_mangle)]
pub extern "C" fn tw_log_to(
    sink: tw_sink,
    context: *mut c_void,
    log: Option<&mut MaybeUninit<*mut tw_log>>,
) -> c_int {
    begin(log, || Ok(Sink::Caller { function: non_null(sink)?, context }))
}

fn begin(
    log: Option<&mut MaybeUninit<*mut tw_log>>,
    sink: impl FnOnce() -> Result<Sink, Code>,
) -> c_int {
    guard(|| hand_over(log, || Ok(tw_log { log: Log::new(sink()?, Take::Out) })))
}

/// Moves new records from a stream to the log. `events` receives the number of events in these
/// records, and may be null. A log belongs to one stream, and a stream has one log at a time.
///
/// Ownership: none. Errors: TW_NULL, or an error of the destination; no record is lost, and the
/// next call continues. Not for signal handlers.
#[unsafe(no_mangle)]
pub extern "C" fn tw_log_drain(
    log: Option<&mut tw_log>,
    stream: Option<&tw_stream>,
    events: Option<&mut MaybeUninit<u64>>,
) -> c_int {
    guard(|| {
        let (log, stream) = (non_null(log)?, &non_null(stream)?.stream);
        put(events, log.log.drain(stream)?);
        stream.image().resume_if_empty();
        Ok(())
    })
}

/// Drains the stream again, writes the index, and closes the log.
///
/// Ownership: the log is freed, even after an error. Errors: TW_NULL, or an error of the
/// destination. After an error of the destination, some events are not in the log, and the stream's
/// status counts them. Not for signal handlers.
#[unsafe(no_mangle)]
pub extern "C" fn tw_log_close(log: Option<Box<tw_log>>, stream: Option<&tw_stream>) -> c_int {
    guard(|| {
        let (log, stream) = (non_null(log)?, &non_null(stream)?.stream);
        let closed = log.log.close(stream);
        closed.map(|_| ()).map_err(|failed| failed.error.into())
    })
}
