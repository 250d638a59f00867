//! Sending: a chunk leaves the table for as long as a carrier works on it.

use core::fmt;

use tracewell_wire::shark::ids::flag;
use tracewell_wire::shark::{ChunkHeader, Record};

use super::{ControlError, Trace, pack};
use crate::clock::Clock;

/// Carries a chunk's records somewhere.
pub trait Sender {
    /// Why it could not.
    type Error;

    /// Carries the records; returns when they are there, or as far as the carrier can know.
    ///
    /// # Errors
    /// Where some are not. The chunk keeps them all.
    fn send(&mut self, dump: &Dump<'_>) -> Result<(), Self::Error>;
}

/// A chunk that is being sent: its records, until [`Trace::end_send`] takes it back.
///
/// One that is dropped leaves its chunk BUSY, without memory, for good.
#[must_use = "the chunk stays busy until end_send takes this back"]
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
    /// The chunk's number.
    pub fn number(&self) -> u8 {
        self.number
    }

    /// The records in use of both areas, in memory order: what a file and datagrams hold. A compressed
    /// chunk gives what it gave before.
    pub fn records(&self) -> DumpRecords<'_> {
        records_of(self.memory, self.compressed)
    }
}

/// The records of a chunk's memory.
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
        reason = "an open block; there is no allocator to put it elsewhere"
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

/// Why a chunk was not sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SendError<E> {
    /// It cannot be sent, or cannot have these flags then.
    Control(ControlError),
    /// The carrier failed. The chunk is as it was.
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
    /// The whole tracer is borrowed until the carrier is done; [`Trace::begin_send`] and [`Trace::end_send`] are
    /// for carriers that are slow.
    ///
    /// # Errors
    /// As [`Trace::begin_send`] and [`Trace::end_send`], before anything is sent; what the carrier says.
    pub fn send_chunk<S: Sender>(
        &mut self,
        number: u8,
        new_flags: u8,
        sender: &mut S,
    ) -> Result<(), SendError<S::Error>> {
        self.check_new_flags(number, new_flags).map_err(SendError::Control)?;
        let dump = self.begin_send(number).map_err(SendError::Control)?;
        let sent = sender.send(&dump).map_err(SendError::Sender);
        let new_flags = sent.is_ok().then_some(new_flags);
        self.end_send(dump, new_flags).map_err(SendError::Control)?;
        sent
    }

    /// Marks a chunk BUSY and hands its records out. Until [`Trace::end_send`], events that would go
    /// to it are dropped and counted.
    ///
    /// # Errors
    /// [`ControlError::NoSuchChunk`], [`ControlError::Busy`]; [`ControlError::Linked`], as it may be jumped to.
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

    /// Takes a chunk back from its carrier: with new flags where all was sent, as it was where not (`None`).
    ///
    /// With FREE among the flags the chunk is empty afterwards and, if it was the current one, no
    /// longer selected. Without it records stay and recording goes on behind them.
    ///
    /// # Errors
    /// [`ControlError::NotBusy`] for a dump of another tracer; the chunk stays BUSY. [`ControlError::Flags`]; the chunk is taken
    /// back as it was.
    pub fn end_send(&mut self, dump: Dump<'m>, new_flags: Option<u8>) -> Result<(), ControlError> {
        let chunk = self.chunk_mut(dump.number).map_err(|_| ControlError::NotBusy)?;
        if !chunk.has(flag::BUSY) || !chunk.owns(dump.memory) {
            return Err(ControlError::NotBusy);
        }
        let number = dump.number;
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
