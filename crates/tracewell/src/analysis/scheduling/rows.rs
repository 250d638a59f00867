//! The events of a batch as columns of the same length.

use std::ops::Range;

use super::moments::Position;
use crate::model::{Arguments, Batch, ContextId, Priority, Trace};

/// Number of rows that are checked together.
const BLOCK: usize = 64;

/// The columns of a batch, cut to the same length. So the compiler can prove that an index into one
/// column is valid for all columns.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rows<'a> {
    pub(super) trace: &'a Trace,
    /// The index of the first row in the batch, and the sequence number of its event.
    first: usize,
    first_seq: u64,
    pub(super) ids: &'a [u32],
    ticks: &'a [u64],
    cpus: &'a [u16],
    contexts: &'a [ContextId],
    priorities: &'a [Priority],
    arguments: Arguments<'a>,
}

impl<'a> Rows<'a> {
    #[inline(always)]
    pub(super) fn new(trace: &'a Trace, batch: &'a Batch<'a>) -> Self {
        let columns = batch.columns;
        let lengths = [columns.id.len(), columns.ticks.len(), columns.cpu.len()];
        let length = lengths.into_iter().fold(columns.context.len(), usize::min);
        let length = length.min(columns.priority.len());
        Self {
            trace,
            first: 0,
            first_seq: batch.first,
            ids: &columns.id[..length],
            ticks: &columns.ticks[..length],
            cpus: &columns.cpu[..length],
            contexts: &columns.context[..length],
            priorities: &columns.priority[..length],
            arguments: Arguments::new(trace, batch),
        }
    }

    /// Returns the end of the stretch that begins with this row. In a stretch, core 0 recorded all
    /// events, and no event has an earlier time than the previous event.
    pub(super) fn stretch(&self, from: usize) -> usize {
        let breaks = |row: &usize| {
            self.cpus[*row] != 0 || (*row > from && self.ticks[*row] < self.ticks[*row - 1])
        };
        let blocks = (from..self.ids.len()).step_by(BLOCK);
        let mut blocks = blocks.map(|start| start..self.ids.len().min(start + BLOCK));
        let end = blocks.find_map(|mut block| match self.is_even(&block) {
            true => None,
            false => block.find(breaks),
        });
        end.unwrap_or(self.ids.len())
    }

    /// Returns true only if no row of a block breaks a stretch. Without a branch per row, the
    /// compiler can check several rows with one instruction. So this function subtracts ticks
    /// instead of comparing them, and also returns false if ticks are so large that the highest bit
    /// of a difference is not its sign.
    fn is_even(&self, block: &Range<usize>) -> bool {
        let cpus = self.cpus[block.clone()].iter().fold(0, |all, cpu| all | cpu);
        let ticks = &self.ticks[block.start.saturating_sub(1)..block.end];
        let bits = ticks.windows(2).map(|pair| pair[0] | pair[1].wrapping_sub(pair[0]));
        let may_go_back = bits.fold(0, |all, bits| all | bits) > u64::MAX / 2;
        cpus == 0 && !may_go_back
    }

    /// Returns the rows of a range. They are numbered from 0.
    #[inline(always)]
    pub(super) fn part(&self, range: Range<usize>) -> Self {
        let Self { trace, arguments, .. } = *self;
        let (first, length) = (self.first + range.start, range.len());
        Self {
            trace,
            first,
            first_seq: self.first_seq + range.start as u64,
            ids: &self.ids[range.start..][..length],
            ticks: &self.ticks[range.start..][..length],
            cpus: &self.cpus[range.start..][..length],
            contexts: &self.contexts[range.start..][..length],
            priorities: &self.priorities[range.start..][..length],
            arguments,
        }
    }

    #[inline(always)]
    pub(super) fn at(&self, row: usize) -> Position {
        Position { ticks: self.ticks[row], seq: self.first_seq + row as u64 }
    }

    #[inline(always)]
    pub(super) fn context(&self, row: usize) -> ContextId {
        self.contexts[row]
    }

    #[inline(always)]
    pub(super) fn priority(&self, row: usize) -> Priority {
        self.priorities[row]
    }

    /// Returns an argument of an event. Returns `None` if `index` is `None` or the event lacks the
    /// argument.
    #[inline(always)]
    pub(super) fn argument(&self, row: usize, index: Option<usize>) -> Option<u64> {
        self.arguments.get(self.first + row, index?)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::model::schema::Schema;
    use crate::model::{Clock, Columns, PayloadLayout, Records};
    use tracewell_wire::ByteOrder;

    proptest! {
        #[test]
        fn stretches_end_at_another_core_or_an_earlier_time(
            steps in prop::collection::vec((0..200_u8, 0..5_u64), 0..300),
        ) {
            let layout = PayloadLayout::Words { order: ByteOrder::Little, bytes: 4 };
            let trace = Trace::new("test", Schema::empty(), layout, Clock::of_64_bits(None));
            let (mut columns, mut now) = (Columns::default(), u64::MAX / 2);
            columns.resize(steps.len());
            for (row, (step, ticks)) in steps.iter().enumerate() {
                now = if *step == 0 { now - ticks } else { now + ticks };
                // The clock can also go back or forward by about half of its range.
                columns.ticks[row] = if *step == 1 { 0 } else { now };
                columns.cpu[row] = u16::from(*step == 2);
            }
            let records = Records::fixed(&[], 0, 4, 0);
            let batch = Batch { first: 0, columns: &columns, records };
            let rows = Rows::new(&trace, &batch);
            for from in 0..steps.len() {
                let mut end = from;
                while end < steps.len()
                    && columns.cpu[end] == 0
                    && (end == from || columns.ticks[end] >= columns.ticks[end - 1])
                {
                    end += 1;
                }
                prop_assert_eq!(rows.stretch(from), end);
            }
        }
    }
}
