//! A list of entries that keeps only a sample if there are too many, and returns the entries that a
//! view can distinguish.

use std::collections::HashMap;
use std::hash::Hash;
use std::ops::Range;

use foldhash::fast::RandomState;

use super::MAX_LIST;
use crate::analysis::tracks::{Arrow, ArrowKind, Job, Mark, WaitSpan};

/// Number of entries in a block.
const BLOCK: usize = 1024;

/// A block is divided into this number of parts. In each part, the thinned block contains one short
/// entry per key.
const PARTS: u64 = 8;

/// An entry with a range of ticks. Of two entries with the same key, a view can show one instead of
/// both.
pub(crate) trait Extent: Copy {
    type Key: Eq + Hash;

    fn key(&self) -> Self::Key;
    fn first(&self) -> u64;
    fn last(&self) -> u64;

    fn overlaps(&self, range: &Range<u64>) -> bool {
        self.first() <= range.end && self.last() >= range.start
    }
}

impl Extent for Mark {
    type Key = u32;

    fn key(&self) -> u32 {
        self.context.0
    }

    fn first(&self) -> u64 {
        self.at.ticks
    }

    fn last(&self) -> u64 {
        self.at.ticks
    }
}

impl Extent for Arrow {
    type Key = (u32, bool);

    fn key(&self) -> (u32, bool) {
        (self.to_context.0, self.kind == ArrowKind::WakeUp)
    }

    fn first(&self) -> u64 {
        self.from.ticks
    }

    fn last(&self) -> u64 {
        self.to.ticks
    }
}

impl Extent for WaitSpan {
    type Key = u32;

    fn key(&self) -> u32 {
        self.context.0
    }

    fn first(&self) -> u64 {
        self.from.ticks
    }

    fn last(&self) -> u64 {
        self.until.map_or(u64::MAX, |until| until.ticks)
    }
}

impl Extent for Job {
    type Key = (u32, bool);

    fn key(&self) -> (u32, bool) {
        (self.context.0, self.missed.is_some())
    }

    fn first(&self) -> u64 {
        self.from.ticks
    }

    fn last(&self) -> u64 {
        self.until.map_or(u64::MAX, |until| until.ticks)
    }
}

/// All entries, or the entries whose number is divisible by a power of two. Such a sample covers
/// the trace evenly.
#[derive(Clone, Debug)]
pub(super) struct Sample<T> {
    list: Vec<T>,
    /// The whole blocks of the list.
    blocks: Vec<Block<T>>,
    /// Number of entries that were added.
    pub(super) added: u64,
    pub(super) stride: u64,
}

/// A block of entries.
#[derive(Clone, Debug)]
struct Block<T> {
    /// The ticks of its entries.
    first: u64,
    last: u64,
    /// Those entries that can be distinguished at this `resolution`.
    thinned: Vec<T>,
    resolution: u64,
}

impl<T> Default for Sample<T> {
    fn default() -> Self {
        Self { list: Vec::new(), blocks: Vec::new(), added: 0, stride: 1 }
    }
}

impl<T: Extent> Block<T> {
    fn new(entries: &[T]) -> Self {
        let first = entries.iter().map(T::first).min().unwrap_or(0);
        let last = entries.iter().map(T::last).max().unwrap_or(0);
        // The parts end at the latest beginning, because a few long entries can end much later than
        // all others.
        let begin = entries.iter().map(T::first).max().unwrap_or(0);
        let resolution = (begin - first) / PARTS;
        let thinned = distinct(entries.iter(), &(0..u64::MAX), resolution);
        Self { first, last, thinned, resolution }
    }
}

impl<T: Extent> Sample<T> {
    /// Returns a sample with this list of entries.
    pub(super) fn of(list: Vec<T>, added: u64, stride: u64) -> Self {
        let blocks = list.chunks_exact(BLOCK).map(Block::new).collect();
        Self { list, blocks, added, stride }
    }

    /// Adds an entry.
    pub(super) fn push(&mut self, entry: T) {
        let is_kept = self.added.is_multiple_of(self.stride);
        self.added += 1;
        if !is_kept {
            return;
        }
        self.list.push(entry);
        if self.list.len() > MAX_LIST {
            let list = std::mem::take(&mut self.list).into_iter().step_by(2).collect();
            *self = Self::of(list, self.added, 2 * self.stride);
        } else if self.list.len().is_multiple_of(BLOCK) {
            let block = Block::new(&self.list[self.list.len() - BLOCK..]);
            self.blocks.push(block);
        }
    }

    /// Returns the kept entries, in the order in which they were added.
    pub(super) fn list(&self) -> &Vec<T> {
        &self.list
    }

    /// Returns at least the entries that overlap a range and can be distinguished at a resolution,
    /// in the order in which they were added.
    pub(super) fn within<'s>(
        &'s self,
        range: &'s Range<u64>,
        resolution: u64,
    ) -> impl Iterator<Item = &'s T> {
        let open = self.blocks.len() * BLOCK;
        let blocks = self.blocks.iter().zip(self.list.chunks_exact(BLOCK));
        let near =
            blocks.filter(|(block, _)| block.first <= range.end && block.last >= range.start);
        let entries = near.flat_map(move |(block, all)| {
            if block.resolution <= resolution { block.thinned.iter() } else { all.iter() }
        });
        entries.chain(&self.list[open..])
    }

    /// Returns the number of entries that were not kept.
    pub(super) fn left_out(&self) -> u64 {
        self.added - self.list.len() as u64
    }
}

/// Returns the entries that overlap a range and can be distinguished in a view. These are all
/// entries longer than `resolution` ticks. Of the shorter entries, at most one per key is returned
/// within `resolution` ticks.
pub(crate) fn distinct<'a, T: Extent + 'a>(
    entries: impl Iterator<Item = &'a T>,
    range: &Range<u64>,
    resolution: u64,
) -> Vec<T> {
    let mut free: HashMap<T::Key, u64, RandomState> = HashMap::default();
    let is_distinct = |entry: &&T| {
        let first = entry.first();
        if resolution == 0 || entry.last().saturating_sub(first) > resolution {
            return true;
        }
        let free = free.entry(entry.key()).or_insert(0);
        let is_free = first >= *free;
        if is_free {
            *free = first.saturating_add(resolution);
        }
        is_free
    };
    entries.filter(|entry| entry.overlaps(range)).filter(is_distinct).copied().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::tracks::Position;
    use crate::model::ContextId;

    fn mark(context: u32, ticks: u64) -> Mark {
        Mark { at: Position { ticks, seq: ticks }, context: ContextId(context), id: 0 }
    }

    fn wait((context, from, until): (u32, u64, u64)) -> WaitSpan {
        let at = |ticks| Position { ticks, seq: ticks };
        WaitSpan {
            context: ContextId(context),
            from: at(from),
            until: Some(at(until)),
            owner: None,
        }
    }

    #[test]
    fn entries_that_are_not_distinct_are_left_out() {
        let entries = [(1, 0, 1), (1, 3, 4), (2, 4, 5), (1, 5, 99), (1, 10, 12)].map(wait);
        let at = |resolution| distinct(entries.iter(), &(0..100), resolution);
        assert_eq!(at(0), entries);
        assert_eq!(at(10), [entries[0], entries[2], entries[3], entries[4]]);
        assert_eq!(at(100), [entries[0], entries[2]]);
        assert_eq!(distinct(entries.iter(), &(6..9), 0), [entries[3]]);
    }

    #[test]
    fn a_sample_is_complete_up_to_the_limit_and_then_spread_evenly() {
        let mut sample = Sample::default();
        let most = MAX_LIST as u64;
        (0..most).for_each(|ticks| sample.push(mark(1, ticks)));
        assert_eq!((sample.list().len(), sample.left_out()), (MAX_LIST, 0));
        (most..3 * most).for_each(|ticks| sample.push(mark(1, ticks)));
        let expected: Vec<_> = (0..3 * most).step_by(4).map(|ticks| mark(1, ticks)).collect();
        assert_eq!(*sample.list(), expected);
        assert_eq!(sample.left_out() as usize, 3 * MAX_LIST - expected.len());
    }

    /// Views with thinned blocks still show every long entry, but not many entries in total.
    #[test]
    fn views_have_the_entries_of_their_range() {
        let mut sample = Sample::default();
        let of = |n: u64| (n as u32 % 3, 10 * n, 10 * n + if n % 1000 == 5 { 30_000 } else { 4 });
        (0..20_000).for_each(|n| sample.push(wait(of(n))));
        for (range, resolution) in [(0..200_000, 5000), (60_000..61_000, 0), (70_000..90_000, 100)]
        {
            let shown = distinct(sample.within(&range, resolution), &range, resolution);
            let exact = distinct(sample.list().iter(), &range, resolution);
            let long = |list: &[WaitSpan]| -> Vec<WaitSpan> {
                list.iter()
                    .filter(|wait| wait.last() - wait.first() > resolution)
                    .copied()
                    .collect()
            };
            assert_eq!(long(&shown), long(&exact));
            assert!(shown.len() <= exact.len() && 4 * shown.len() >= 3 * exact.len());
            if resolution == 0 {
                assert_eq!(shown, exact);
            }
            let read = sample.within(&range, resolution).count();
            assert!(read < 8000, "{read} of {} entries", sample.list().len());
        }
    }
}
