//! Results of functions: 0, a negative code of this library, or a positive error number of the
//! system.
//!
//! Unsafe: an exported symbol.
#![allow(unsafe_code)]

use core::ffi::{CStr, c_char, c_int};
#[cfg(feature = "std")]
use std::io;

use tracewell_record::aix::{ControlError, Outcome, StartError};
use tracewell_record::shark;
#[cfg(feature = "std")]
use tracewell_record::stream::DefineError;
use tracewell_record::threadx::Status;

/// The call succeeded.
pub const TW_OK: c_int = 0;
/// A required pointer is null.
pub const TW_NULL: c_int = -1;
/// An argument is out of range, or a file has the wrong format.
pub const TW_INVALID: c_int = -2;
/// Tracewell caught an internal error. Do not use the object of the failed call again.
pub const TW_PANIC: c_int = -3;
/// The storage was not initialised.
pub const TW_NOT_INITIALISED: c_int = -4;
/// The memory or a buffer is too small (ThreadX: TX_SIZE_ERROR).
pub const TW_TOO_SMALL: c_int = -5;
/// Tracing is already in the requested state, on or off (ThreadX: TX_NOT_DONE).
pub const TW_NOT_DONE: c_int = -6;
/// No channel, stream or event id is free.
pub const TW_NONE_FREE: c_int = -7;
/// Tracing is off, or the channel is off, stopped or not started. The call had no effect.
pub const TW_OFF: c_int = -8;
/// A filter or the channel's list of ids excludes the event.
pub const TW_EXCLUDED: c_int = -9;
/// There was no space for the event. The loss is counted and marked in the trace.
pub const TW_MISSED: c_int = -10;
/// The channel is not stopped yet.
pub const TW_RUNNING: c_int = -11;
/// The channel's buffers are not drained yet.
pub const TW_DRAINING: c_int = -12;
/// The stream already uses the id for a different event type.
pub const TW_CONFLICT: c_int = -13;
/// The requested stream, data, entry or chunk does not exist.
pub const TW_NOTHING: c_int = -14;
/// The chunk is not free, or is compressed.
pub const TW_NOT_FREE: c_int = -15;
/// The chunk is recording, is being sent, or is the target of a link.
pub const TW_IN_USE: c_int = -16;

/// The error code that a failed call returns to C.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Code(pub(crate) c_int);

impl From<Status> for Code {
    fn from(status: Status) -> Self {
        Self(match status {
            Status::SizeError => TW_TOO_SMALL,
            Status::NotDone => TW_NOT_DONE,
        })
    }
}

impl From<StartError> for Code {
    fn from(error: StartError) -> Self {
        Self(match error {
            StartError::NoChannel => TW_NONE_FREE,
            StartError::MemoryTooSmall { .. } | StartError::LogTooSmall { .. } => TW_TOO_SMALL,
            StartError::TextsTooLong => TW_INVALID,
        })
    }
}

impl From<ControlError> for Code {
    fn from(error: ControlError) -> Self {
        Self(match error {
            ControlError::NotStarted | ControlError::Stopped => TW_OFF,
            ControlError::Flags => TW_INVALID,
            ControlError::Running => TW_RUNNING,
            ControlError::Draining => TW_DRAINING,
        })
    }
}

impl From<shark::ControlError> for Code {
    fn from(error: shark::ControlError) -> Self {
        use shark::ControlError as Error;
        Self(match error {
            Error::NoSuchChunk | Error::NoneSelected => TW_NOTHING,
            Error::TableFull => TW_NONE_FREE,
            Error::MemoryTooSmall { .. } => TW_TOO_SMALL,
            Error::NotFree | Error::Compressed => TW_NOT_FREE,
            Error::Current | Error::Linked | Error::Busy => TW_IN_USE,
            Error::Sizes | Error::Flags | Error::NotBusy | Error::Circle | Error::NoFilter => {
                TW_INVALID
            }
        })
    }
}

#[cfg(feature = "std")]
impl From<DefineError> for Code {
    fn from(error: DefineError) -> Self {
        Self(match error {
            DefineError::TooLong | DefineError::NoEventType => TW_INVALID,
            DefineError::NoIdLeft => TW_NONE_FREE,
            DefineError::Conflict => TW_CONFLICT,
        })
    }
}

#[cfg(feature = "std")]
impl From<io::Error> for Code {
    fn from(error: io::Error) -> Self {
        // An error that contains the path of a file has the system's error as its source.
        let source = error.get_ref().and_then(|error| error.source());
        let source = source.and_then(|source| source.downcast_ref::<io::Error>());
        let number = error.raw_os_error().or_else(|| source?.raw_os_error());
        Self(match (number, error.kind()) {
            (Some(number), _) if number > 0 => number,
            (_, io::ErrorKind::StorageFull | io::ErrorKind::OutOfMemory) => TW_TOO_SMALL,
            (_, io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData) => TW_INVALID,
            _ => TW_NONE_FREE,
        })
    }
}

/// Converts an outcome of AIX's recorder to a result with an error code.
pub(crate) fn of_outcome(outcome: Outcome) -> Result<(), Code> {
    match outcome {
        Outcome::Recorded => Ok(()),
        Outcome::Off => Err(Code(TW_OFF)),
        Outcome::Excluded => Err(Code(TW_EXCLUDED)),
        Outcome::Missed => Err(Code(TW_MISSED)),
        Outcome::Refused(_) => Err(Code(TW_INVALID)),
    }
}

/// Converts an outcome of S.Ha.R.K.'s recorder to a result with an error code.
#[inline]
pub(crate) fn of_shark_outcome(outcome: shark::Outcome) -> Result<(), Code> {
    use shark::Outcome::*;
    match outcome {
        Recorded | InEmergencyArea | Jumped => Ok(()),
        Disabled => Err(Code(TW_OFF)),
        Filtered => Err(Code(TW_EXCLUDED)),
        NoChunk | Full | Busy => Err(Code(TW_MISSED)),
        NoSuccessor => Err(Code(TW_NOTHING)),
        Refused => Err(Code(TW_INVALID)),
    }
}

/// Returns a description of a code in English. For positive codes use strerror.
///
/// Ownership: the string is constant and never freed. Errors: none. Safe in a signal handler.
#[unsafe(no_mangle)]
pub extern "C" fn tw_message(code: c_int) -> *const c_char {
    message(code).as_ptr()
}

fn message(code: c_int) -> &'static CStr {
    match code {
        TW_OK => c"done",
        TW_NULL => c"a pointer is null",
        TW_INVALID => c"an argument is out of range, or a file has the wrong format",
        TW_PANIC => c"Tracewell caught an internal error",
        TW_NOT_INITIALISED => c"the storage was not initialised",
        TW_TOO_SMALL => c"the memory or a buffer is too small",
        TW_NOT_DONE => c"tracing is already in the requested state",
        TW_NONE_FREE => c"no channel, stream or event id is free",
        TW_OFF => c"tracing is off, or the channel is off, stopped or not started",
        TW_EXCLUDED => c"a filter or the channel's list of ids excludes the event",
        TW_MISSED => c"there was no space for the event",
        TW_RUNNING => c"the channel is not stopped yet",
        TW_DRAINING => c"the channel's buffers are not drained yet",
        TW_CONFLICT => c"the stream already uses the id for a different event type",
        TW_NOTHING => c"the requested stream, data, entry or chunk does not exist",
        TW_NOT_FREE => c"the chunk is not free, or is compressed",
        TW_IN_USE => c"the chunk is recording, is being sent, or is the target of a link",
        1.. => c"a system error",
        _ => c"an unknown code",
    }
}
