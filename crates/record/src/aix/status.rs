//! Results of the recording and control calls.

use core::fmt;

use tracewell_wire::aix::EntryError;

/// Result of recording an event. Callers can ignore the outcome; the AIX calls return nothing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// The entry is in a buffer.
    Recorded,
    /// The channel was not started, is switched off, or has stopped.
    Off,
    /// The channel's event list excludes the event.
    Excluded,
    /// There was no room for the entry. The loss is counted, and a hook 006 marks its position.
    Missed,
    /// The hook word is not valid for this call, or there is too much data.
    Refused(EntryError),
}

/// Counts of entries since the channel was started, including the trace's own entries.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Counts {
    /// Number of entries stored in a buffer.
    pub recorded: u64,
    /// Number of entries not stored because there was no room.
    pub missed: u64,
    /// Number of entries stored but overwritten before they were drained.
    pub overwritten: u64,
    /// Number of entries stored but discarded at the stop.
    pub discarded: u64,
    /// In circular mode, the number of times that the buffer wrapped. In the other modes, the
    /// number of sequences of missed entries.
    pub buffer_wraps: u64,
    /// Number of times that the log wrapped.
    pub log_wraps: u64,
}

/// Error of a control call that was refused, or that must be repeated until it is complete.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ControlError {
    /// The channel is not started or does not exist.
    NotStarted,
    /// The call passes both flags of `trcstop`, which are mutually exclusive.
    Flags,
    /// The channel has stopped and cannot be switched on or off.
    Stopped,
    /// The channel has not stopped yet.
    Running,
    /// The channel has stopped, but its buffers have not been drained yet.
    Draining,
}

impl ControlError {
    /// Return value of the AIX call for every error.
    pub const CODE: i32 = -1;
}

impl fmt::Display for ControlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotStarted => "the trace channel is not started",
            Self::Flags => "SERIAL and DISCARDBUFS are mutually exclusive",
            Self::Stopped => "the trace channel has stopped",
            Self::Running => "the trace channel has not stopped yet",
            Self::Draining => "the buffers of the stopped trace channel have not been drained yet",
        })
    }
}

impl core::error::Error for ControlError {}

/// The reason why a trace could not be started.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StartError {
    /// The event trace is already running, or all seven generic channels are in use.
    NoChannel,
    /// The memory is too small for the first entries.
    MemoryTooSmall {
        /// Minimum length of the memory in bytes.
        needed: usize,
    },
    /// The log is too small. It must hold the header and one buffer. It must also be at least twice
    /// as long as one buffer, or, in single mode, at least as long as the buffer.
    LogTooSmall {
        /// Minimum length of the log in bytes.
        needed: u64,
    },
    /// The strings that describe the machine and the command do not fit into an entry.
    TextsTooLong,
}

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoChannel => f.write_str("no trace channel is free"),
            Self::MemoryTooSmall { needed } => {
                write!(f, "the memory must be at least {needed} bytes long")
            }
            Self::LogTooSmall { needed } => {
                write!(f, "the log must be at least {needed} bytes long")
            }
            Self::TextsTooLong => f.write_str("the strings do not fit into an entry"),
        }
    }
}

impl core::error::Error for StartError {}
