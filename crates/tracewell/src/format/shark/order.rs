//! Merges runs by timestamp. Records with equal timestamps keep their order in memory.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;

use tracewell_wire::shark::Record;

use super::container::Missing;
use super::runs::Run;

/// A part of the merged trace.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Step {
    /// Adjacent records, as a range of bytes of the input.
    Records(Range<usize>),
    /// A gap before the record at this byte.
    Missing(Missing, usize),
}

/// An iterator over the records of all runs, merged by timestamp.
#[derive(Debug)]
pub(super) struct Merge<'a> {
    input: &'a [u8],
    runs: Vec<Run>,
    /// Gaps that do not belong to a run, with their offsets in the input.
    gaps: &'a [(usize, Missing)],
    /// For each run: the timestamp and the offset of its next record, and the index of the run. An
    /// index after the last run stands for a gap. The entry then has the timestamp of the record
    /// before the gap.
    heads: BinaryHeap<Reverse<(u64, usize, usize)>>,
}

impl<'a> Merge<'a> {
    pub(super) fn new(input: &'a [u8], runs: Vec<Run>, gaps: &'a [(usize, Missing)]) -> Self {
        let heads = runs.iter().enumerate();
        let heads = heads.map(|(index, run)| Reverse((tsc(input, run.start), run.start, index)));
        let gap = |(index, (at, _)): (usize, &(usize, Missing))| {
            // A gap has no timestamp, so it gets that of the last record before the gap.
            let before = runs.partition_point(|run| run.end <= *at).checked_sub(1);
            let stamp = before.and_then(|run| runs.get(run)).map_or(0, |run| run.last);
            Reverse((stamp, *at, runs.len() + index))
        };
        let heads = heads.chain(gaps.iter().enumerate().map(gap)).collect();
        Self { input, heads, gaps, runs }
    }

    /// Returns the lowest timestamp of all records.
    pub(super) fn first(&self) -> Option<u64> {
        self.runs.iter().map(|run| tsc(self.input, run.start)).min()
    }

    /// Starting at `start`, finds the records of a run that precede the next record of every other
    /// run. Returns the offset of the byte after these records.
    fn end(&self, run: &Run, start: usize) -> usize {
        let Some(Reverse(next)) = self.heads.peek() else { return run.end };
        let next = (next.0, next.1);
        // Fast case: the whole run precedes the others.
        if (run.last, run.end - Record::SIZE) < next {
            return run.end;
        }
        let mut after = start + Record::SIZE;
        while after < run.end && (tsc(self.input, after), after) < next {
            after += Record::SIZE;
        }
        after
    }
}

impl Iterator for Merge<'_> {
    type Item = Step;

    fn next(&mut self) -> Option<Step> {
        let Reverse(head) = self.heads.pop()?;
        let (_, start, index) = head;
        let Some(run) = self.runs.get_mut(index) else {
            let (at, missing) = self.gaps.get(index - self.runs.len())?;
            return Some(Step::Missing(*missing, *at));
        };
        // The gap is reported first, so the run is put back with its head unchanged.
        if let Some(missing) = run.missing.take() {
            self.heads.push(Reverse(head));
            return Some(Step::Missing(missing, start));
        }
        let run = *run;
        let end = self.end(&run, start);
        if end < run.end {
            self.heads.push(Reverse((tsc(self.input, end), end, index)));
        }
        Some(Step::Records(start..end))
    }
}

fn tsc(input: &[u8], at: usize) -> u64 {
    let record = input.get(at..).and_then(Record::read);
    record.map_or(0, |record| record.tsc)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::LossCause;

    #[test]
    fn adjacent_records_are_one_step() {
        let record = |tsc: u64| Record { code_word: 1, par1: 0, tsc, par2: 0 }.to_bytes();
        let steps = |stamps: [u64; 7], missing, gaps: &[(usize, Missing)]| {
            let input: Vec<u8> = stamps.into_iter().flat_map(record).collect();
            let first = Run { start: 0, end: 64, last: stamps[3], missing: None };
            let second = Run { start: 64, end: 112, last: stamps[6], missing };
            Merge::new(&input, vec![first, second], gaps).collect::<Vec<_>>()
        };
        let records = |start: usize, end: usize| Step::Records(16 * start..16 * end);
        // Records with equal timestamps keep their order in memory.
        for stamps in [[1, 2, 3, 4, 5, 6, 7], [1, 2, 3, 4, 4, 4, 4]] {
            assert_eq!(steps(stamps, None, &[]), [records(0, 4), records(4, 7)]);
        }
        assert_eq!(steps([5, 6, 7, 8, 2, 3, 4], None, &[]), [records(4, 7), records(0, 4)]);
        assert_eq!(
            steps([2, 3, 4, 5, 2, 3, 4], None, &[]),
            [(0, 1), (4, 5), (1, 2), (5, 6), (2, 3), (6, 7), (3, 4)].map(|(a, b)| records(a, b))
        );
        // Two gaps at the same offset: one of the second run, and one after the first run.
        let gap = |cause| Missing { events: None, cause };
        let (own, after) = (gap(LossCause::Overwritten), gap(LossCause::Truncated));
        assert_eq!(
            steps([1, 2, 3, 10, 4, 5, 11], Some(own), &[(64, after)]),
            [
                records(0, 3),
                Step::Missing(own, 64),
                records(4, 6),
                records(3, 4),
                Step::Missing(after, 64),
                records(6, 7),
            ]
        );
    }
}
