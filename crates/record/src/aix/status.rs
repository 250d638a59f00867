//! What recording and controlling calls answer.

use core::fmt;

use tracewell_wire::aix::EntryError;

/// What became of an event. The AIX calls return nothing, so ignoring it is fine.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// It is in a buffer.
    Recorded,
    /// The channel is not started, off or stopped.
    Off,
    /// The channel's list of events leaves it out.
    Excluded,
    /// There was no room. It is counted, and a hook 006 will stand in its place.
    Missed,
    /// The hook word makes no entry, or there is too much data.
    Refused(EntryError),
}

/// How many entries went where since the channel was started. Entries that the trace records by
/// itself count like others.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Counts {
    /// Stored in a buffer.
    pub recorded: u64,
    /// Not stored for want of room.
    pub missed: u64,
    /// Stored, and overwritten before anybody saw them.
    pub overwritten: u64,
    /// Stored, and thrown away at the stop.
    pub discarded: u64,
    /// Times that a circular buffer came round, or that entries began to be missed.
    pub buffer_wraps: u64,
    /// Times that the log started over.
    pub log_wraps: u64,
}

/// Why a controlling call did nothing, or not all.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ControlError {
    /// The channel is not started, or there is no such channel.
    NotStarted,
    /// The flags of `trcstop` exclude each other.
    Flags,
    /// The channel has stopped, so that it cannot be switched on or off.
    Stopped,
    /// The channel has not stopped yet.
    Running,
    /// The channel has stopped, but its buffers are not drained yet.
    Draining,
}

impl ControlError {
    /// What the AIX call returns for any of them.
    pub const CODE: i32 = -1;
}

impl fmt::Display for ControlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotStarted => "the trace channel is not started",
            Self::Flags => "SERIAL and DISCARDBUFS exclude each other",
            Self::Stopped => "the trace channel has stopped",
            Self::Running => "the trace channel has not stopped yet",
            Self::Draining => "the buffers of the stopped trace channel are not drained yet",
        })
    }
}

impl core::error::Error for ControlError {}

/// Why no trace was started.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StartError {
    /// The event trace is running, or all seven generic channels are.
    NoChannel,
    /// The memory does not hold the first entries.
    MemoryTooSmall {
        /// Bytes that do.
        needed: usize,
    },
    /// A buffer is larger than half of the log, or than all of it in single mode; or header and
    /// one buffer do not fit into it.
    LogTooSmall {
        /// Bytes that would do.
        needed: u64,
    },
    /// The texts are longer than an entry holds.
    TextsTooLong,
}

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoChannel => f.write_str("no channel is free"),
            Self::MemoryTooSmall { needed } => write!(f, "at least {needed} bytes are needed"),
            Self::LogTooSmall { needed } => write!(f, "the log needs at least {needed} bytes"),
            Self::TextsTooLong => f.write_str("the texts do not fit into an entry"),
        }
    }
}

impl core::error::Error for StartError {}

/// A start that was refused: the reason, and the memory back, untouched.
#[derive(PartialEq, Eq)]
pub struct StartRefused<'m> {
    /// Why.
    pub reason: StartError,
    /// What was passed.
    pub memory: &'m mut [u8],
}

impl fmt::Debug for StartRefused<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The memory's bytes would drown the reason.
        f.debug_struct("StartRefused")
            .field("reason", &self.reason)
            .field("memory_size", &self.memory.len())
            .finish()
    }
}

impl fmt::Display for StartRefused<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "trace not started with {} bytes: {}", self.memory.len(), self.reason)
    }
}

impl core::error::Error for StartRefused<'_> {}
