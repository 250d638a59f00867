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
    /// Gaps that are not followed by a record in memory.
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

    /// Finds the records from `start` on that precede the next record of every other run. Returns
    /// the offset of the byte after these records.
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
