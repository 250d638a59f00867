//! The results of recording calls and control calls.

use core::fmt;

/// The outcome of logging an event. Callers can ignore it; the kernel's calls return nothing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// The event is in the normal area of the current chunk.
    Recorded,
    /// The event is in the emergency area of the current chunk, whose normal area is full.
    InEmergencyArea,
    /// Recording continues in the next chunk. The command itself is not stored.
    Jumped,
    /// Not stored: tracing is off.
    Disabled,
    /// Not stored: the event's family is suppressed.
    Filtered,
    /// Not stored: no chunk is selected.
    NoChunk,
    /// Not stored: the current chunk is full.
    Full,
    /// Not stored: the current chunk is being sent.
    Busy,
    /// The current chunk has no successor to jump to.
    NoSuccessor,
    /// Not stored: the code is 0, which marks empty slots, or the fast path was called with the
    /// code of a command.
    Refused,
}

/// Number of events that were not stored or were overwritten, for each cause.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Drops {
    /// Logged while tracing was off.
    pub disabled: u64,
    /// Suppressed by the filter of their family.
    pub filtered: u64,
    /// Logged while no chunk was selected.
    pub no_chunk: u64,
    /// Logged while the current chunk was full.
    pub full: u64,
    /// Logged while the current chunk was being sent.
    pub busy: u64,
    /// Logged with a code that cannot be stored: see [`Outcome::Refused`].
    pub refused: u64,
    /// Commands to continue in the next chunk, given while there was no next chunk. These commands
    /// lose no event.
    pub no_successor: u64,
    /// Stored, but overwritten by a later lap of a cyclic chunk.
    pub overwritten: u64,
    /// Essential events that were overwritten while the emergency area was full; `overwritten`
    /// counts them as well.
    pub essential_overwritten: u64,
}

/// An entry of the chunk table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ChunkStatus {
    /// Number of the chunk: its index in the table.
    pub number: u8,
    /// Flags of the chunk, see [`tracewell_wire::shark::ids::flag`].
    pub flags: u8,
    /// Size of the normal area in bytes.
    pub normal: u32,
    /// Size of the emergency area in bytes.
    pub emergency: u32,
    /// Offset of the next record from the start of the normal area, in bytes. In a compressed
    /// chunk, the number of bytes of packed records.
    pub position: u32,
    /// Number of bytes in use in the emergency area.
    pub kept: u32,
    /// Number of times that a cyclic chunk continued at its start.
    pub laps: u32,
    /// The successor, in which recording continues after a jump.
    pub next: Option<u8>,
    /// True for the current chunk, in which events are recorded.
    pub current: bool,
}

/// Error of a control call. The call has changed nothing, except that
/// [`Trace::end_send`](super::Trace::end_send) may have returned the memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ControlError {
    /// No chunk has this number.
    NoSuchChunk,
    /// All entries of the chunk table are in use.
    TableFull,
    /// An area is smaller than two records, or the size of the whole chunk exceeds 32 bits.
    Sizes,
    /// The memory is too small for the header and the areas.
    MemoryTooSmall {
        /// Number of bytes needed.
        needed: usize,
    },
    /// The flags contain both mode bits, an unknown bit, or flags that only the tracer sets.
    Flags,
    /// The chunk does not have the flag FREE.
    NotFree,
    /// The chunk is the current chunk.
    Current,
    /// The chunk is the successor of another chunk.
    Linked,
    /// The chunk is being sent.
    Busy,
    /// The chunk is not being sent, or the dump belongs to another chunk.
    NotBusy,
    /// The chunk's content is compressed.
    Compressed,
    /// The link would create a cycle of chunks.
    Circle,
    /// No chunk is selected.
    NoneSelected,
    /// The family has no filter.
    NoFilter,
}

impl ControlError {
    /// The kernel's return value for every error.
    pub const CODE: i32 = -1;
}

impl fmt::Display for ControlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::MemoryTooSmall { needed } => write!(f, "at least {needed} bytes are needed"),
            other => f.write_str(other.text()),
        }
    }
}

impl ControlError {
    const fn text(self) -> &'static str {
        match self {
            Self::NoSuchChunk => "no chunk has this number",
            Self::TableFull => "the chunk table is full",
            Self::Sizes => "an area must hold at least two records, and have 32-bit addresses",
            Self::MemoryTooSmall { .. } => "the memory is too small",
            Self::Flags => "the flags are mutually exclusive, or only the tracer may set them",
            Self::NotFree => "the chunk is not free",
            Self::Current => "the chunk is the current one",
            Self::Linked => "the chunk is the successor of another one",
            Self::Busy => "the chunk is being sent",
            Self::NotBusy => "the chunk is not being sent, or this dump does not belong to it",
            Self::Compressed => "the chunk is compressed",
            Self::Circle => "the link would create a cycle",
            Self::NoneSelected => "no chunk is selected",
            Self::NoFilter => "family 0xF has no filter",
        }
    }
}

impl core::error::Error for ControlError {}
