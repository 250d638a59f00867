//! What recording and controlling calls answer.

use core::fmt;

/// What became of an event. The kernel's calls return nothing, so ignoring it is fine.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// It is in the normal area of the current chunk.
    Recorded,
    /// It is in the emergency area of the current chunk, whose normal area is full.
    Kept,
    /// The command was obeyed; nothing is stored for it.
    Jumped,
    /// Tracing is off.
    Disabled,
    /// Its family is hidden.
    Filtered,
    /// No chunk is selected.
    NoChunk,
    /// The current chunk takes no more records.
    Full,
    /// The current chunk is being sent.
    Busy,
    /// The command to go to the next chunk came, and there is none.
    NoSuccessor,
    /// Code 0 marks slots that were never written, and the fast path takes no commands.
    Refused,
}

/// How many events were not stored, by cause, and what the ends of areas cost.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Drops {
    /// Logged while tracing was off.
    pub disabled: u64,
    /// Hidden by their family's filter.
    pub filtered: u64,
    /// Logged while no chunk was selected.
    pub no_chunk: u64,
    /// Logged while the current chunk was full.
    pub full: u64,
    /// Logged while the current chunk was being sent.
    pub busy: u64,
    /// Not to be stored: see [`Outcome::Refused`].
    pub refused: u64,
    /// Commands to go to the next chunk without one. No event is lost by that.
    pub no_successor: u64,
    /// Stored, and overwritten by a later lap of a cyclic chunk.
    pub overwritten: u64,
    /// Of those, the essential ones for which the emergency area had no room.
    pub essential_overwritten: u64,
}

/// What the chunk table tells of a chunk.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ChunkStatus {
    /// Its index in the table.
    pub number: u8,
    /// Its flags, see [`tracewell_wire::shark::ids::flag`].
    pub flags: u8,
    /// Bytes of the normal area.
    pub normal: u32,
    /// Bytes of the emergency area.
    pub emergency: u32,
    /// Bytes behind the start at which the next record, or packed record, goes.
    pub position: u32,
    /// Bytes of the emergency area that are in use.
    pub kept: u32,
    /// Times that a cyclic chunk began again at its start.
    pub laps: u32,
    /// The chunk that recording goes on in.
    pub next: Option<u8>,
    /// Whether it is the one that records.
    pub current: bool,
}

/// Why a controlling call did nothing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ControlError {
    /// There is no chunk of this number.
    NoSuchChunk,
    /// All places of the chunk table are taken.
    TableFull,
    /// An area is smaller than two records, or larger than a 32-bit target's memory.
    Sizes,
    /// The memory does not hold header and areas.
    MemoryTooSmall {
        /// Bytes that do.
        needed: usize,
    },
    /// Both mode bits are set, or flags that only the tracer sets.
    Flags,
    /// The chunk does not have the flag FREE.
    NotFree,
    /// The chunk is the current one.
    Current,
    /// The chunk is the successor of another one.
    Linked,
    /// The chunk is being sent.
    Busy,
    /// The chunk is not being sent, or not with this dump.
    NotBusy,
    /// The chunk's content is compressed.
    Compressed,
    /// The link would close a circle of chunks.
    Circle,
    /// No chunk was ever selected.
    NoneSelected,
    /// The family has no filter.
    NoFilter,
}

impl ControlError {
    /// What the kernel's call returns for any of them.
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
            Self::NoSuchChunk => "there is no such chunk",
            Self::TableFull => "the chunk table is full",
            Self::Sizes => "an area has room for two records at least, and 32-bit addresses",
            Self::MemoryTooSmall { .. } => "the memory is too small",
            Self::Flags => "the flags exclude each other, or are the tracer's own",
            Self::NotFree => "the chunk is not free",
            Self::Current => "the chunk is the current one",
            Self::Linked => "the chunk is the successor of another one",
            Self::Busy => "the chunk is being sent",
            Self::NotBusy => "the chunk is not being sent, or not with this dump",
            Self::Compressed => "the chunk is compressed",
            Self::Circle => "the link would close a circle",
            Self::NoneSelected => "no chunk is selected",
            Self::NoFilter => "family 0xF has no filter",
        }
    }
}

impl core::error::Error for ControlError {}

/// A call with memory that was refused: the reason, and the memory back, untouched.
#[derive(PartialEq, Eq)]
pub struct Refused<'m> {
    /// Why.
    pub reason: ControlError,
    /// What was passed.
    pub memory: &'m mut [u8],
}

impl fmt::Debug for Refused<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The memory's bytes would drown the reason.
        f.debug_struct("Refused")
            .field("reason", &self.reason)
            .field("memory_size", &self.memory.len())
            .finish()
    }
}

impl fmt::Display for Refused<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no chunk made of {} bytes: {}", self.memory.len(), self.reason)
    }
}

impl core::error::Error for Refused<'_> {}
