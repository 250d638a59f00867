//! What functions return: 0, a negative code of ours, or a positive error number of the system.
//!
//! The module holds `unsafe` code because an exported name is one.
#![allow(unsafe_code)]

use core::ffi::{CStr, c_char, c_int};
#[cfg(feature = "std")]
use std::io;

use tracewell_record::aix::{ControlError, Outcome, StartError};
use tracewell_record::shark;
#[cfg(feature = "std")]
use tracewell_record::stream::DefineError;
use tracewell_record::threadx::Status;

/// Done.
pub const TW_OK: c_int = 0;
/// A pointer is null that must not be.
pub const TW_NULL: c_int = -1;
/// An argument is outside its range, or a file is not what it should be.
pub const TW_INVALID: c_int = -2;
/// A fault in Tracewell itself was caught. What the call was about should not be used any more.
pub const TW_PANIC: c_int = -3;
/// The storage was never initialised.
pub const TW_NOT_INITIALISED: c_int = -4;
/// Memory or a buffer is too small (ThreadX: TX_SIZE_ERROR).
pub const TW_TOO_SMALL: c_int = -5;
/// Tracing is on already, or it is off (ThreadX: TX_NOT_DONE).
pub const TW_NOT_DONE: c_int = -6;
/// No channel, stream or event id is free.
pub const TW_NONE_FREE: c_int = -7;
/// Tracing is off; the channel is not started, off or stopped. Nothing was recorded or changed.
pub const TW_OFF: c_int = -8;
/// The channel's list of events, or a filter, leaves the event out.
pub const TW_EXCLUDED: c_int = -9;
/// There was no room for the event; the loss is counted, and stands in the trace.
pub const TW_MISSED: c_int = -10;
/// The channel has not stopped yet.
pub const TW_RUNNING: c_int = -11;
/// The channel's buffers are not drained yet.
pub const TW_DRAINING: c_int = -12;
/// The id means another event in this stream.
pub const TW_CONFLICT: c_int = -13;
/// There is nothing to be had: no stream in the environment, nothing waiting, no such entry or chunk.
pub const TW_NOTHING: c_int = -14;
/// The chunk is not free, or compressed.
pub const TW_NOT_FREE: c_int = -15;
/// The chunk records, is the successor of another one, or is being sent.
pub const TW_IN_USE: c_int = -16;

/// Why a call did nothing; the number that C gets.
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
        Self(match (error.raw_os_error(), error.kind()) {
            (Some(number), _) if number > 0 => number,
            (_, io::ErrorKind::StorageFull | io::ErrorKind::OutOfMemory) => TW_TOO_SMALL,
            (_, io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData) => TW_INVALID,
            _ => TW_NONE_FREE,
        })
    }
}

/// What a recording call of AIX says.
pub(crate) fn of_outcome(outcome: Outcome) -> Result<(), Code> {
    match outcome {
        Outcome::Recorded => Ok(()),
        Outcome::Off => Err(Code(TW_OFF)),
        Outcome::Excluded => Err(Code(TW_EXCLUDED)),
        Outcome::Missed => Err(Code(TW_MISSED)),
        Outcome::Refused(_) => Err(Code(TW_INVALID)),
    }
}

/// What a recording call of S.Ha.R.K. says.
#[inline]
pub(crate) fn of_shark_outcome(outcome: shark::Outcome) -> Result<(), Code> {
    use shark::Outcome::*;
    match outcome {
        Recorded | Kept | Jumped => Ok(()),
        Disabled => Err(Code(TW_OFF)),
        Filtered => Err(Code(TW_EXCLUDED)),
        NoChunk | Full | Busy => Err(Code(TW_MISSED)),
        NoSuccessor => Err(Code(TW_NOTHING)),
        Refused => Err(Code(TW_INVALID)),
    }
}

/// What a code means, in English; for a positive one ask strerror.
///
/// Ownership: the text is constant and never freed. Errors: none. Safe in a signal handler.
#[unsafe(no_mangle)]
pub extern "C" fn tw_message(code: c_int) -> *const c_char {
    message(code).as_ptr()
}

fn message(code: c_int) -> &'static CStr {
    match code {
        TW_OK => c"done",
        TW_NULL => c"a pointer is null",
        TW_INVALID => c"an argument or a file is not as it should be",
        TW_PANIC => c"a fault in Tracewell was caught",
        TW_NOT_INITIALISED => c"the storage was never initialised",
        TW_TOO_SMALL => c"memory or a buffer is too small",
        TW_NOT_DONE => c"tracing is on already, or it is off",
        TW_NONE_FREE => c"no channel, stream or id is free",
        TW_OFF => c"tracing or the channel is off",
        TW_EXCLUDED => c"a list or a filter leaves the event out",
        TW_MISSED => c"there was no room for the event",
        TW_RUNNING => c"the channel has not stopped yet",
        TW_DRAINING => c"the channel's buffers are not drained yet",
        TW_CONFLICT => c"the id means another event in this stream",
        TW_NOTHING => c"there is nothing to be had",
        TW_NOT_FREE => c"the chunk is not free",
        TW_IN_USE => c"the chunk records, is linked to or is being sent",
        1.. => c"an error of the operating system",
        _ => c"no code of Tracewell",
    }
}
