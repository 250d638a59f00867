//! Divides areas into runs: adjacent used slots whose timestamps do not decrease.

use tracewell_wire::shark::{Record, ids};

use super::container::{Area, Missing};
use crate::model::LossCause;

/// Number of slots that are tested together. If the test fails, each of these slots is examined.
const CHUNK_LEN: usize = 512;

/// The records that a wrapped ring has overwritten.
const OVERWRITTEN: Missing = Missing { events: None, cause: LossCause::Overwritten };

/// Adjacent records whose timestamps do not decrease.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Run {
    /// Offset of the first record in the input.
    pub(super) start: usize,
    /// Offset of the first byte after the last record.
    pub(super) end: usize,
    /// Timestamp of the last record.
    pub(super) last: u64,
    /// The records that are missing before the first record of this run.
    pub(super) missing: Option<Missing>,
}

/// A record that contains the rate of the clock.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct ClockRecord {
    pub(super) tsc: u64,
    pub(super) at: usize,
    pub(super) code: u8,
    pub(super) cycles_per_msec: u32,
}

/// The result of examining all areas.
#[derive(Debug, Default)]
pub(super) struct Survey {
    pub(super) runs: Vec<Run>,
    pub(super) clock: Vec<ClockRecord>,
    pub(super) slots: u64,
    pub(super) empty: u64,
    pub(super) fast: u64,
    pub(super) descents: u64,
    /// Number of records whose code words contain bits that no writer sets. `first_odd` is the
    /// offset of the first such record.
    pub(super) odd: u64,
    pub(super) first_odd: Option<usize>,
    before: Option<u64>,
    /// First run of the previous area, if the area's timestamps never decrease.
    seamless: Option<usize>,
}

impl Survey {
    /// Divides an area into runs.
    pub(super) fn area(&mut self, input: &[u8], area: &Area) {
        // Timestamps of unrelated areas are not compared.
        if !area.continues {
            self.before = None;
        }
        let (first, descents, seamless) = (self.runs.len(), self.descents, self.seamless);
        let mut start = area.bytes.start;
        let mut missing = area.missing;
        let mut open = false;
        let (slots, _) = input.get(area.bytes.clone()).unwrap_or_default().as_chunks();
        self.slots += slots.len() as u64;
        for piece in slots.chunks(CHUNK_LEN) {
            // Nearly every piece only extends the open run. `plain` recognises such a piece
            // quickly, because it checks all slots of the piece together.
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

    /// Marks a wrapped ring whose oldest record is in its first slot. The timestamps in such a ring
    /// never decrease. If the emergency area contains older records than the ring, the ring has
    /// lost the records in between.
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

    /// Returns the last timestamp of `piece` if all its records are ordinary and in order.
    fn plain(&self, piece: &[[u8; Record::SIZE]]) -> Option<u64> {
        let mut before = self.before?;
        let (mut goes_back, mut bits, mut masked) = (false, 0, 0);
        for slot in piece {
            let record = Record::from_bytes(slot);
            goes_back |= record.tsc < before;
            before = record.tsc;
            // The code word and the first parameter, which one instruction reads together.
            let word = u32::from(record.code_word) | u32::from(record.par1) << 16;
            bits |= word;
            // The mask clears all bits of four codes: empty slot, the two kinds of clock records,
            // and end of trace. For these codes, the subtraction then sets all bits.
            masked |= (word & 0x00CF).wrapping_sub(1);
        }
        let only_codes = bits & 0xFF00 == 0;
        (!goes_back && only_codes && masked <= 0xFF).then_some(before)
    }

    fn extend(&mut self, last: u64, slots: usize) {
        self.before = Some(last);
        if let Some(run) = self.runs.last_mut() {
            run.end += slots * Record::SIZE;
            run.last = last;
        }
    }

    /// Adds one slot. `open` is true if a run ends directly before this slot. Returns true if the
    /// slot is now part of a run.
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
        // A decreasing timestamp ends a run, because the merge needs sorted runs.
        let back = self.before.is_some_and(|before| record.tsc < before);
        if open && !back {
            self.extend(record.tsc, 1);
            return true;
        }
        self.descents += u64::from(back);
        // The ring wrapped here: the records between the newest and the oldest record were
        // overwritten.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_ordinary_records_in_order_are_plain() {
        let plain = |before: Option<u64>, records: &[(u16, u64)]| {
            let record = |(code_word, tsc): &(u16, u64)| {
                Record { code_word: *code_word, par1: 0xFFFF, tsc: *tsc, par2: 0 }.to_bytes()
            };
            let slots: Vec<_> = records.iter().map(record).collect();
            Survey { before, ..Survey::default() }.plain(&slots)
        };
        let code = u16::from(ids::IPOINT);
        assert_eq!(plain(Some(10), &[(code, 10), (code, 12), (code, 12)]), Some(12));
        assert_eq!(plain(None, &[(code, 10)]), None);
        assert_eq!(plain(Some(10), &[(code, 9), (code, 12)]), None);
        assert_eq!(plain(Some(10), &[(code, 12), (code, 11), (code, 10), (code, 13)]), None);
        for code in 0..=u8::MAX {
            let is_special = is_clock(code) || code == 0 || code == ids::TRACE_STOP;
            let expected = (!is_special).then_some(12);
            assert_eq!(plain(Some(10), &[(code.into(), 12)]), expected, "{code}");
        }
        for bit in 8..16 {
            assert_eq!(plain(Some(10), &[(code | 1 << bit, 12)]), None, "{bit}");
        }
    }
}
