//! A thread that writes a stream to a file while the program goes on.
//!
//! The module holds `unsafe` code because exported names and C's texts are that by nature.
#![allow(unsafe_code)]

use std::ffi::{c_char, c_int};
use std::fs::File;
use std::mem::MaybeUninit;
use std::sync::Arc;

use tracewell_record::stream::{Flusher, Log, Take};

use crate::boundary::{guard, hand_over, path, some};
use crate::stream::tw_stream;

/// A thread that flushes.
pub struct tw_flusher {
    flusher: Flusher<File>,
}

/// Starts a thread that flushes a stream to a new file, in place of one that is there.
///
/// Ownership: `*flusher` is the caller's, to be given to `tw_flusher_stop`; null on errors. The stream
/// may be closed before. Errors: TW_NULL, or the system's. While it runs, errors of the file show in the
/// stream's status, and it tries again. Not for signal handlers.
///
/// # Safety
/// * `file` ends with a NUL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tw_flusher_start(
    stream: Option<&tw_stream>,
    file: *const c_char,
    flusher: Option<&mut MaybeUninit<*mut tw_flusher>>,
) -> c_int {
    guard(|| {
        hand_over(flusher, || {
            // SAFETY: the bullet above.
            let log = Log::new(File::create(unsafe { path(file)? })?, Take::Out);
            Ok(tw_flusher { flusher: Flusher::start(Arc::clone(&some(stream)?.stream), log)? })
        })
    })
}

/// Flushes what was recorded before the call, ends the log and the thread.
///
/// Ownership: the flusher is gone, whatever is returned. Errors: TW_NULL, or the file's: then some events
/// are not in the log, and the stream's status counts them. Not for signal handlers.
#[unsafe(no_mangle)]
pub extern "C" fn tw_flusher_stop(flusher: Option<Box<tw_flusher>>) -> c_int {
    guard(|| {
        let stopped = some(flusher)?.flusher.stop();
        stopped.map(|_| ()).map_err(|failed| failed.error.into())
    })
}
