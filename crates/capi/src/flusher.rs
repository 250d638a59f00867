//! A thread that writes a stream to a file while the program runs.
//!
//! Unsafe: exported symbols and C strings.
#![allow(unsafe_code)]

use std::ffi::{c_char, c_int};
use std::fs::File;
use std::mem::MaybeUninit;
use std::sync::Arc;

use tracewell_record::stream::{Flusher, Log, Take};

use crate::boundary::{guard, hand_over, non_null, path};
use crate::stream::tw_stream;

/// A thread that writes a stream to a file.
pub struct tw_flusher {
    flusher: Flusher<File>,
}

/// Starts a thread that writes a stream to a new file. An existing file is replaced.
///
/// If a write fails, the thread retries it and the stream's status reports the error.
///
/// Ownership: the caller owns `*flusher` and passes it to `tw_flusher_stop`; it is null after an
/// error. The stream may be closed before the flusher stops. Errors: TW_NULL, or an error of the
/// system. Not for signal handlers.
///
/// # Safety
/// * `file` must be null-terminated.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tw_flusher_start(
    stream: Option<&tw_stream>,
    file: *const c_char,
    flusher: Option<&mut MaybeUninit<*mut tw_flusher>>,
) -> c_int {
    guard(|| {
        hand_over(flusher, || {
            // SAFETY: guaranteed by the caller (see `# Safety`).
            let log = Log::new(File::create(unsafe { path(file)? })?, Take::Out);
            Ok(tw_flusher { flusher: Flusher::start(Arc::clone(&non_null(stream)?.stream), log)? })
        })
    })
}

/// Writes all events recorded before the call, and ends the log and the thread.
///
/// Ownership: the flusher is freed, even after an error. Errors: TW_NULL, or an error of the file.
/// After an error of the file, some events are not in the log, and the stream's status counts them.
/// Not for signal handlers.
#[unsafe(no_mangle)]
pub extern "C" fn tw_flusher_stop(flusher: Option<Box<tw_flusher>>) -> c_int {
    guard(|| {
        let stopped = non_null(flusher)?.flusher.stop();
        stopped.map(|_| ()).map_err(|failed| failed.error.into())
    })
}
