//! Runs: stretches of an area within which no slot is empty and no stamp goes back.

use tracewell_wire::shark::{Record, ids};

use super::container::{Area, Missing};
use crate::model::LossCause;

/// Slots of a piece of an area that is looked at as a whole before any slot is alone.
const PIECE: usize = 512;

/// What a ring that went round left no trace of.
const OVERWRITTEN: Missing = Missing { events: None, cause: LossCause::Overwritten };

/// Records side by side whose stamps do not go back.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Run {
    /// Byte of the first record in the input.
    pub(super) start: usize,
    /// Byte behind the last one.
    pub(super) end: usize,
    /// Stamp of the last one.
    pub(super) last: u64,
    /// What is missing before the first one.
    pub(super) missing: Option<Missing>,
}

/// A record that says how fast the clock is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct ClockRecord {
    pub(super) tsc: u64,
    pub(super) at: usize,
    pub(super) code: u8,
    pub(super) cycles_per_msec: u32,
}

/// What a walk over all areas found.
#[derive(Debug, Default)]
pub(super) struct Survey {
    pub(super) runs: Vec<Run>,
    pub(super) clock: Vec<ClockRecord>,
    pub(super) slots: u64,
    pub(super) empty: u64,
    pub(super) fast: u64,
    pub(super) descents: u64,
    /// Records with bits in their code word that no writer sets, and where the first one is.
    pub(super) odd: u64,
    pub(super) first_odd: Option<usize>,
    before: Option<u64>,
    /// First run of the area before, if no stamp goes back in it.
    seamless: Option<usize>,
}

impl Survey {
    /// Walks over an area.
    pub(super) fn area(&mut self, input: &[u8], area: &Area) {
        if !area.continues {
            self.before = None;
        }
        let (first, descents, seamless) = (self.runs.len(), self.descents, self.seamless);
        let mut start = area.bytes.start;
        let mut missing = area.missing;
        let mut open = false;
        let (slots, _) = input.get(area.bytes.clone()).unwrap_or_default().as_chunks();
        self.slots += slots.len() as u64;
        for piece in slots.chunks(PIECE) {
            let plain = self.plain(piece);
            if open && let Some(last) = plain {
                self.extend(last, piece.len());
            } else {
                for (index, slot) in piece.iter().enumerate() {
                    open = self.slot(slot, start + index * Record::SIZE, open, &mut missing);
                }
            }
            start += piece.len() * Record::SIZE;
        }
        self.seamless = (descents == self.descents).then_some(first);
        if let (true, Some(ring)) = (area.emergency, seamless) {
            self.mark_ring(input, ring, first);
        }
    }

    /// A ring whose oldest record lies at its start has no seam that a stamp would show. That it went round
    /// shows in older records in its emergency area, which were in the ring before.
    fn mark_ring(&mut self, input: &[u8], ring: usize, emergency: usize) {
        let stamp = |run: &Run| {
            let slot = input.get(run.start..)?.first_chunk()?;
            Some(Record::from_bytes(slot).tsc)
        };
        let kept = self.runs.get(emergency).and_then(stamp);
        if let Some(run) = self.runs.get_mut(ring).filter(|run| kept < stamp(run) && kept.is_some())
        {
            run.missing.get_or_insert(OVERWRITTEN);
        }
    }

    /// Whether nothing in a piece stands out and it follows what was before: its last stamp.
    fn plain(&self, piece: &[[u8; Record::SIZE]]) -> Option<u64> {
        let mut before = self.before?;
        let (mut goes_back, mut bits) = (false, 0);
        for slot in piece {
            let record = Record::from_bytes(slot);
            goes_back |= record.tsc < before;
            before = record.tsc;
            // Of empty slots, both clock records and, rarely, the end of a trace, nothing is left of
            // the code here, so that the subtraction sets all bits.
            let code_word = u32::from(record.code_word);
            bits |= code_word | (code_word & 0x00CF).wrapping_sub(1);
        }
        (!goes_back && bits <= 0xFF).then_some(before)
    }

    fn extend(&mut self, last: u64, slots: usize) {
        self.before = Some(last);
        if let Some(run) = self.runs.last_mut() {
            run.end += slots * Record::SIZE;
            run.last = last;
        }
    }

    /// One slot; `open` says whether the run before goes on to here. Returns whether a run is open.
    fn slot(
        &mut self,
        slot: &[u8; Record::SIZE],
        at: usize,
        open: bool,
        missing: &mut Option<Missing>,
    ) -> bool {
        let record = Record::from_bytes(slot);
        if record.is_empty() {
            self.empty += 1;
            return false;
        }
        self.note(&record, at);
        let back = self.before.is_some_and(|before| record.tsc < before);
        if open && !back {
            self.extend(record.tsc, 1);
            return true;
        }
        self.descents += u64::from(back);
        // A ring's seam: what was between the oldest record here and the newest was overwritten.
        let missing = missing.take().or(back.then_some(OVERWRITTEN));
        self.before = Some(record.tsc);
        self.runs.push(Run { start: at, end: at + Record::SIZE, last: record.tsc, missing });
        true
    }

    fn note(&mut self, record: &Record, at: usize) {
        self.fast += u64::from(record.is_fast());
        if record.unexpected_code_bits() != 0 {
            self.odd += 1;
            self.first_odd.get_or_insert(at);
        }
        if is_clock(record.code()) && !record.is_fast() {
            let (tsc, code, cycles_per_msec) = (record.tsc, record.code(), record.par2);
            self.clock.push(ClockRecord { tsc, at, code, cycles_per_msec });
        }
    }
}

fn is_clock(code: u8) -> bool {
    code == ids::TRACE_START || code == ids::CYCLES_PER_MSEC
}
