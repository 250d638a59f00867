//! Recording: the safe and the fast path, the command to go to the next chunk, filters.

use tracewell_wire::shark::Record;
use tracewell_wire::shark::ids::{self, flag};

use super::chunk::{Before, Stored};
use super::{ControlError, Outcome, Trace};
use crate::clock::Clock;

impl<C: Clock, const CHUNKS: usize> Trace<'_, C, CHUNKS> {
    /// Logs an event (`TRACER_LOGEVENT`), if tracing is on, its family is not hidden, and a chunk has room.
    ///
    /// `code` is the event code; 0 is refused, [`ids::NEXT_CHUNK`] is the command [`Trace::next_chunk`]. The clock is read
    /// only if the event finds a chunk that records. Constant time; never blocks.
    ///
    /// Where the normal area ends, a cyclic chunk goes on at its start; a chunk that jumps becomes full and
    /// the event is the first of its successor (the published source loses it); a chunk that stops, or has
    /// no successor, becomes full. A full chunk keeps [essential](ids::is_essential) events in its emergency area.
    #[inline]
    pub fn log(&mut self, code: u8, par1: u16, par2: u32) -> Outcome {
        if !self.enabled {
            self.drops.disabled += 1;
            return Outcome::Disabled;
        }
        if self.filter & ids::filter_bit(code) != 0 {
            self.drops.filtered += 1;
            return Outcome::Filtered;
        }
        match code {
            ids::NEXT_CHUNK => self.next_chunk(),
            0 => self.refuse(),
            _ => self.store(u16::from(code), par1, par2),
        }
    }

    /// Logs an event without asking for its family's filter (`FAST_TRACER_LOGEVENT`); its code word is marked.
    ///
    /// A reader takes no second parameter from marked records, because the kernel's fast path writes none: it
    /// is here for readers of one's own, and 0 gives the kernel's bytes. Unlike there, the fast path asks
    /// whether tracing is on and never writes beyond an area.
    #[inline]
    pub fn log_fast(&mut self, code: u8, par1: u16, par2: u32) -> Outcome {
        if !self.enabled {
            self.drops.disabled += 1;
            return Outcome::Disabled;
        }
        match code {
            ids::NEXT_CHUNK | 0 => self.refuse(),
            _ => self.store(u16::from(code) | Record::FAST, par1, par2),
        }
    }

    #[cold]
    fn refuse(&mut self) -> Outcome {
        self.drops.refused += 1;
        Outcome::Refused
    }

    #[inline]
    fn store(&mut self, code_word: u16, par1: u16, par2: u32) -> Outcome {
        let Some(chunk) = self.current.and_then(|n| self.chunks.get_mut(usize::from(n))?.as_mut())
        else {
            self.drops.no_chunk += 1;
            return Outcome::NoChunk;
        };
        if chunk.has(flag::BUSY) {
            self.drops.busy += 1;
            return Outcome::Busy;
        }
        let record = Record { code_word, par1, tsc: self.ticks.now(), par2 };
        if chunk.has(flag::FULL) {
            return self.overflow(record);
        }
        match chunk.store(record) {
            Stored::Over(before) => self.note(before),
            Stored::AtEnd => self.at_end(record),
        }
    }

    /// Counts what a stored record replaced.
    #[inline]
    fn note(&mut self, before: Before) -> Outcome {
        let lost = matches!(before, Before::Lost | Before::EssentialLost);
        self.drops.overwritten += u64::from(lost);
        self.drops.essential_overwritten += u64::from(before == Before::EssentialLost);
        Outcome::Recorded
    }

    /// An event found the position at the end of the normal area.
    #[cold]
    fn at_end(&mut self, record: Record) -> Outcome {
        let Some(chunk) = self.current_chunk() else { return Outcome::NoChunk };
        match chunk.mode() {
            flag::CYCLIC => chunk.begin_again(),
            flag::JUMP_TO_NEXT if chunk.next.is_some() => self.jump(),
            _ => {
                chunk.flags |= flag::FULL;
                self.publish_current();
                return self.overflow(record);
            }
        }
        // A successor was free when it was linked and is empty, but its flags may have been set since.
        let takes = self.current_chunk().filter(|chunk| !chunk.has(flag::FULL));
        match takes.map(|chunk| chunk.store(record)) {
            Some(Stored::Over(before)) => self.note(before),
            Some(Stored::AtEnd) | None => self.overflow(record),
        }
    }

    /// An event for a full chunk.
    #[cold]
    fn overflow(&mut self, record: Record) -> Outcome {
        let essential = ids::is_essential(record.code());
        if essential && self.current_chunk().is_some_and(|chunk| chunk.keep(record)) {
            return Outcome::Kept;
        }
        self.drops.full += 1;
        Outcome::Full
    }

    /// Makes the current chunk full and goes on in its successor, whatever its mode (`FTrace_EVT_next_chunk`).
    ///
    /// Nothing is stored. Without a successor nothing happens but [`Outcome::NoSuccessor`], where the published
    /// source goes on to read low memory. The way out of a cyclic chunk. Obeys [`Trace::disable`].
    #[cold]
    pub fn next_chunk(&mut self) -> Outcome {
        if !self.enabled {
            self.drops.disabled += 1;
            return Outcome::Disabled;
        }
        match self.current_chunk() {
            None => {
                self.drops.no_chunk += 1;
                Outcome::NoChunk
            }
            Some(chunk) if chunk.next.is_some() => {
                self.jump();
                Outcome::Jumped
            }
            Some(_) => {
                self.drops.no_successor += 1;
                Outcome::NoSuccessor
            }
        }
    }

    /// Fills the current chunk up and goes on in its successor. That uses the link up.
    fn jump(&mut self) {
        let Some(chunk) = self.current_chunk() else { return };
        chunk.flags |= flag::FULL;
        let Some(next) = chunk.next.take() else { return };
        self.publish_current();
        self.current = Some(next);
    }

    /// Hides a family (`status` other than 0) or shows it again, and logs that (`set_filter`).
    ///
    /// Of `family` the low nibble counts; the record's code is 0xF0 with it, its first parameter the status. While
    /// tracing is off the filter changes and nothing is logged. Filters are kept when tracing is switched off
    /// and when the chunk changes.
    ///
    /// # Errors
    /// [`ControlError::NoFilter`] for family 0xF, whose code is a command.
    pub fn set_filter(&mut self, family: u8, status: u16) -> Result<Outcome, ControlError> {
        let family = ids::family(family);
        let code = ids::filter_record(family);
        if code == ids::NEXT_CHUNK {
            return Err(ControlError::NoFilter);
        }
        let bit = 1 << family;
        if status == 0 {
            self.filter &= !bit;
        } else {
            self.filter |= bit;
        }
        Ok(if self.enabled { self.log(code, status, 0) } else { Outcome::Disabled })
    }
}
