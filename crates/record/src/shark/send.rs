//! Sends chunks. The table lends a chunk's memory to a sender.

use core::fmt;

use tracewell_wire::shark::ids::flag;
use tracewell_wire::shark::{ChunkHeader, Record};

use super::{ControlError, Trace, pack};
use crate::clock::Clock;

/// Transmits or stores a chunk's records.
pub trait Sender {
    /// Error of a failed transmission.
    type Error;

    /// Sends the records. Returns after the transmission is complete, as far as the sender can
    /// determine.
    ///
    /// # Errors
    /// Returns an error if some records were not sent. The chunk keeps all records.
    fn send(&mut self, dump: &Dump<'_>) -> Result<(), Self::Error>;
}

/// The records of a chunk that is being sent. [`Trace::end_send`] returns them to the chunk.
///
/// If this value is dropped instead, the chunk remains BUSY and without memory forever.
#[must_use = "the chunk stays busy until end_send returns its memory"]
pub struct Dump<'m> {
    number: u8,
    compressed: bool,
    memory: &'m mut [u8],
}

impl fmt::Debug for Dump<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Dump")
            .field("number", &self.number)
            .field("compressed", &self.compressed)
            .field("memory_size", &self.memory.len())
            .finish()
    }
}

impl Dump<'_> {
    /// Returns the chunk's number in the table.
    pub fn number(&self) -> u8 {
        self.number
    }

    /// Returns the records of both areas in memory order, without empty slots. Files and datagrams
    /// contain these records. For a compressed chunk, returns the same records as before
    /// compression.
    pub fn records(&self) -> DumpRecords<'_> {
        records_of(self.memory, self.compressed)
    }
}

/// Returns the records in a chunk's memory.
pub(super) fn records_of(memory: &[u8], compressed: bool) -> DumpRecords<'_> {
    let areas = memory.get(ChunkHeader::SIZE..).unwrap_or_default();
    DumpRecords(if compressed {
        Source::Packed(pack::unpack(areas))
    } else {
        Source::Slots(areas.as_chunks().0.iter())
    })
}

/// Iterator over the records of a [`Dump`].
#[derive(Clone, Debug)]
pub struct DumpRecords<'a>(Source<'a>);

#[derive(Clone, Debug)]
#[cfg_attr(
    feature = "lz4",
    expect(
        clippy::large_enum_variant,
        reason = "the block that is being unpacked is large, and there is no allocator to box it"
    )
)]
enum Source<'a> {
    Slots(core::slice::Iter<'a, [u8; Record::SIZE]>),
    Packed(pack::Unpacked<'a>),
}

impl Iterator for DumpRecords<'_> {
    type Item = Record;

    fn next(&mut self) -> Option<Record> {
        match &mut self.0 {
            Source::Slots(slots) => slots.map(Record::from_bytes).find(|record| !record.is_empty()),
            Source::Packed(records) => records.next(),
        }
    }
}

/// Error of [`Trace::send_chunk`]: an error of the tracer, or an error of the sender.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SendError<E> {
    /// The chunk cannot be sent, or the new flags are invalid.
    Control(ControlError),
    /// The sender failed. The chunk has not changed.
    Sender(E),
}

impl<E: fmt::Display> fmt::Display for SendError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Control(error) => error.fmt(f),
            Self::Sender(error) => error.fmt(f),
        }
    }
}

impl<E: fmt::Debug + fmt::Display> core::error::Error for SendError<E> {}

impl<'m, C: Clock, const CHUNKS: usize> Trace<'m, C, CHUNKS> {
    /// Sends a chunk and gives it new flags (`send_chunk`).
    ///
    /// Borrows the whole tracer until the sender is done. For slow senders, use
    /// [`Trace::begin_send`] and [`Trace::end_send`].
    ///
    /// # Errors
    /// Before it sends anything, returns the errors of [`Trace::begin_send`] and
    /// [`Trace::end_send`]. After that, returns the errors of the sender.
    pub fn send_chunk<S: Sender>(
        &mut self,
        number: u8,
        new_flags: u8,
        sender: &mut S,
    ) -> Result<(), SendError<S::Error>> {
        // Check the flags first: after sending, an error would come too late.
        self.check_new_flags(number, new_flags).map_err(SendError::Control)?;
        let dump = self.begin_send(number).map_err(SendError::Control)?;
        let sent = sender.send(&dump).map_err(SendError::Sender);
        // If sending failed, the chunk keeps its flags and its records.
        let new_flags = sent.is_ok().then_some(new_flags);
        self.end_send(dump, new_flags).map_err(SendError::Control)?;
        sent
    }

    /// Marks a chunk as BUSY and returns its records. Until [`Trace::end_send`], events for this
    /// chunk are dropped and counted.
    ///
    /// # Errors
    /// Returns [`ControlError::NoSuchChunk`] or [`ControlError::Busy`]. Returns
    /// [`ControlError::Linked`] if the chunk is linked, because recording could jump to it.
    pub fn begin_send(&mut self, number: u8) -> Result<Dump<'m>, ControlError> {
        if self.chunk(number)?.has(flag::BUSY) {
            return Err(ControlError::Busy);
        }
        if self.is_linked(number) {
            return Err(ControlError::Linked);
        }
        let chunk = self.chunk_mut(number)?;
        chunk.flags |= flag::BUSY;
        let compressed = chunk.has(flag::COMPRESSED);
        Ok(Dump { number, compressed, memory: chunk.take_memory() })
    }

    /// Returns the memory to a chunk after sending. Pass the new flags if all records were sent, or
    /// `None` to leave the chunk unchanged.
    ///
    /// FREE in the new flags empties the chunk, and deselects it if it is the current chunk.
    /// Without FREE, the chunk keeps its records, and recording continues after them.
    ///
    /// # Errors
    /// Returns [`ControlError::NotBusy`] for a dump of another tracer; the chunk of that dump
    /// remains BUSY. Returns [`ControlError::Flags`] for invalid flags; the chunk still gets its
    /// memory back and is no longer BUSY.
    pub fn end_send(&mut self, dump: Dump<'m>, new_flags: Option<u8>) -> Result<(), ControlError> {
        let chunk = self.chunk_mut(dump.number).map_err(|_| ControlError::NotBusy)?;
        if !chunk.has(flag::BUSY) || !chunk.owns(dump.memory) {
            return Err(ControlError::NotBusy);
        }
        let number = dump.number;
        // Return the memory before the checks of the flags, so that no error can lose it.
        chunk.give_memory(dump.memory);
        chunk.flags &= !flag::BUSY;
        self.publish(number);
        let Some(flags) = new_flags else { return Ok(()) };
        self.check_new_flags(number, flags)?;
        let empties = flags & flag::FREE != 0;
        if empties && self.current == Some(number) {
            self.current = None;
        }
        self.replace_flags(number, flags, empties);
        Ok(())
    }

    fn check_new_flags(&self, number: u8, flags: u8) -> Result<(), ControlError> {
        self.chunk(number)?;
        if super::control::are_settable(flags) { Ok(()) } else { Err(ControlError::Flags) }
    }
}
