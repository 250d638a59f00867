//! Recording: the safe and the fast path, the jump to the next chunk, and filters.

use tracewell_wire::shark::Record;
use tracewell_wire::shark::ids::{self, flag};

use super::chunk::{Before, Stored};
use super::{ControlError, Outcome, Trace};
use crate::clock::Clock;

impl<C: Clock, const CHUNKS: usize> Trace<'_, C, CHUNKS> {
    /// Logs an event (`TRACER_LOGEVENT`) if tracing is on, the event's family is not suppressed,
    /// and the current chunk has a free slot.
    ///
    /// `code` is the event code. The code 0 is refused, and [`ids::NEXT_CHUNK`] is a command that
    /// does the same as [`Trace::next_chunk`]. The clock is read only if a chunk is selected and
    /// not being sent. Takes constant time and never blocks.
    ///
    /// At the end of the normal area, a cyclic chunk continues at the start of this area. A chunk
    /// in jump mode becomes full, and its successor stores the event as its first record (the
    /// published source loses the event). A chunk in stop mode, or in jump mode without a
    /// successor, becomes full. A full chunk stores [essential](ids::is_essential) events in its
    /// emergency area.
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

    /// Logs an event without testing its family's filter (`FAST_TRACER_LOGEVENT`), and marks its
    /// code word.
    ///
    /// The kernel's fast path does not write the second parameter, so decoders ignore it in marked
    /// records. Pass 0 as `par2` to record the same bytes as the kernel. Unlike the kernel's, this
    /// fast path tests whether tracing is on, and never writes beyond an area.
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
        // The chunk's memory is with the sender.
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

    /// Counts the old record that a new record replaced.
    #[inline]
    fn note(&mut self, before: Before) -> Outcome {
        let lost = matches!(before, Before::Lost | Before::EssentialLost);
        self.drops.overwritten += u64::from(lost);
        self.drops.essential_overwritten += u64::from(before == Before::EssentialLost);
        Outcome::Recorded
    }

    /// Handles an event that arrives while the position is at the end of the normal area.
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
        // The successor was free when it was linked, and is empty. But the caller may have set its
        // flag FULL since then.
        let chunk = self.current_chunk().filter(|chunk| !chunk.has(flag::FULL));
        match chunk.map(|chunk| chunk.store(record)) {
            Some(Stored::Over(before)) => self.note(before),
            Some(Stored::AtEnd) | None => self.overflow(record),
        }
    }

    /// Handles an event for a full chunk.
    #[cold]
    fn overflow(&mut self, record: Record) -> Outcome {
        let essential = ids::is_essential(record.code());
        if essential && self.current_chunk().is_some_and(|chunk| chunk.keep(record)) {
            return Outcome::InEmergencyArea;
        }
        self.drops.full += 1;
        Outcome::Full
    }

    /// Marks the current chunk as full and continues in its successor, in every mode
    /// (`FTrace_EVT_next_chunk`).
    ///
    /// Stores nothing. Without a successor, does nothing and returns [`Outcome::NoSuccessor`]; the
    /// published source reads from an invalid address in low memory in this case. Only this call
    /// follows the link of a cyclic chunk. Does nothing while tracing is off.
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

    /// Marks the current chunk as full, continues in its successor, and removes the link.
    fn jump(&mut self) {
        let Some(chunk) = self.current_chunk() else { return };
        chunk.flags |= flag::FULL;
        let Some(next) = chunk.next.take() else { return };
        self.publish_current();
        self.current = Some(next);
    }

    /// Suppresses a family (`status` other than 0) or enables it again, and logs the change
    /// (`set_filter`).
    ///
    /// Uses the low nibble of `family`. The code of the record is 0xF0 plus this nibble, and its
    /// first parameter is the status. While tracing is off, the filter changes, but the change is
    /// not logged. Filters stay the same when tracing is switched off and when the chunk changes.
    ///
    /// # Errors
    /// Returns [`ControlError::NoFilter`] for family 0xF, whose code is a command.
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
