//! A list of entries that keeps only a sample if there are too many, and returns the entries that a
//! view can distinguish. In a stored summary, the entries of each block are a record, which is read
//! when a view needs all of them.

use std::borrow::Cow;
use std::collections::HashMap;
use std::io;
use std::ops::Range;

use foldhash::fast::RandomState;

use super::MAX_LIST;
use super::pool::{Pool, Record, damaged};
use crate::analysis::stored::Stored;
use crate::analysis::tracks::{Arrow, ArrowKind, Job, Mark, WaitSpan};

/// Number of entries in a block.
const BLOCK: usize = 1024;

/// A block can have one thinned list for each of these numbers. The resolution of the list is the
/// time of the block divided by the number.
const PARTS: [u64; 2] = [64, 16];

/// Keys below this number have places in a list.
const LOW_KEYS: u64 = 1 << 12;

/// An entry with a range of ticks. If a view cannot distinguish two entries with the same key, it
/// shows only one of them.
pub(crate) trait Extent: Copy {
    /// Returns the key of the entry. Keys are small numbers in a trace with few contexts.
    fn key(&self) -> u64;
    fn first(&self) -> u64;
    fn last(&self) -> u64;

    fn overlaps(&self, range: &Range<u64>) -> bool {
        self.first() <= range.end && self.last() >= range.start
    }
}

impl Extent for Mark {
    fn key(&self) -> u64 {
        u64::from(self.context.0)
    }

    fn first(&self) -> u64 {
        self.at.ticks
    }

    fn last(&self) -> u64 {
        self.at.ticks
    }
}

impl Extent for Arrow {
    fn key(&self) -> u64 {
        u64::from(self.to_context.0) << 1 | u64::from(self.kind == ArrowKind::WakeUp)
    }

    fn first(&self) -> u64 {
        self.from.ticks
    }

    fn last(&self) -> u64 {
        self.to.ticks
    }
}

/// A view draws all waits for a lock in one row.
impl Extent for WaitSpan {
    fn key(&self) -> u64 {
        0
    }

    fn first(&self) -> u64 {
        self.from.ticks
    }

    fn last(&self) -> u64 {
        self.until.map_or(u64::MAX, |until| until.ticks)
    }
}

impl Extent for Job {
    fn key(&self) -> u64 {
        u64::from(self.context.0) << 1 | u64::from(self.missed.is_some())
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
    blocks: Vec<Block<T>>,
    /// The entries after the last block.
    open: Vec<T>,
    /// Number of entries that were added.
    added: u64,
    stride: u64,
}

/// A block of [`BLOCK`] entries.
#[derive(Clone, Debug)]
struct Block<T> {
    /// The ticks of its entries; all ticks if `is_thinned` is false.
    first: u64,
    last: u64,
    /// The thinned lists, beginning with the longest. Each list has a resolution, and contains the
    /// entries that can be distinguished at this resolution.
    thinned: Vec<(u64, Vec<T>)>,
    /// False if the block still lacks its thinned lists; see [`Sample::thin_out`].
    is_thinned: bool,
    entries: Entries<T>,
}

#[derive(Clone, Debug)]
enum Entries<T> {
    Memory(Vec<T>),
    Stored(Record),
}

impl<T> Default for Sample<T> {
    fn default() -> Self {
        Self { blocks: Vec::new(), open: Vec::new(), added: 0, stride: 1 }
    }
}

impl<T: Extent> Block<T> {
    fn new(entries: Vec<T>) -> Self {
        let (first, last, thinned) = (0, u64::MAX, Vec::new());
        Self { first, last, thinned, is_thinned: false, entries: Entries::Memory(entries) }
    }

    /// Determines the ticks of the entries, and makes the thinned lists.
    fn thin_out(&mut self) {
        let Entries::Memory(entries) = &self.entries else { return };
        self.first = entries.iter().map(T::first).min().unwrap_or(0);
        self.last = entries.iter().map(T::last).max().unwrap_or(0);
        // Divide only the time up to the latest beginning into parts, because a few long entries
        // can end much later than all others.
        let begin = entries.iter().map(T::first).max().unwrap_or(0);
        let mut thinned: Vec<(u64, Vec<T>)> = Vec::with_capacity(PARTS.len());
        for parts in PARTS {
            let resolution = (begin - self.first) / parts;
            let all = thinned.last().map_or(entries, |(_, list)| list);
            thinned.push((resolution, distinct(all.iter(), &(0..u64::MAX), resolution)));
        }
        // A list with most of the entries saves little.
        thinned.retain(|(_, list)| 2 * list.len() <= entries.len());
        (self.thinned, self.is_thinned) = (thinned, true);
    }
}

impl<T: Extent> Sample<T> {
    /// Adds an entry.
    #[inline]
    pub(super) fn push(&mut self, entry: T) {
        // The stride is a power of two, so this needs no division.
        let is_kept = self.added & (self.stride - 1) == 0;
        self.added += 1;
        if is_kept {
            self.keep(entry);
        }
    }

    fn keep(&mut self, entry: T) {
        self.open.push(entry);
        if self.kept() > MAX_LIST {
            self.halve();
        } else {
            self.form_block();
        }
    }

    /// Returns the number of kept entries.
    fn kept(&self) -> usize {
        self.blocks.len() * BLOCK + self.open.len()
    }

    /// If there are enough open entries, moves them to a block.
    fn form_block(&mut self) {
        if self.open.len() == BLOCK {
            self.blocks.push(Block::new(std::mem::take(&mut self.open)));
        }
    }

    /// Keeps every second entry.
    #[cold]
    fn halve(&mut self) {
        let (blocks, open) = (std::mem::take(&mut self.blocks), std::mem::take(&mut self.open));
        let lists = blocks.into_iter().map(|block| match block.entries {
            Entries::Memory(entries) => entries,
            // No entries are added to a stored sample, so it is never halved.
            Entries::Stored(_) => Vec::new(),
        });
        // Blocks have an even number of entries. The halves of two blocks fit into the memory of
        // the first one.
        for mut list in lists.chain([open]) {
            let mut is_kept = false;
            list.retain(|_| {
                is_kept = !is_kept;
                is_kept
            });
            if self.open.is_empty() {
                self.open = list;
            } else {
                self.open.append(&mut list);
            }
            self.form_block();
        }
        self.stride *= 2;
    }

    /// Makes the thinned lists of all blocks, which views need. This takes time, so it is not done
    /// while entries are added: many of the entries would soon be dropped.
    pub(super) fn thin_out(&mut self) {
        let blocks = self.blocks.iter_mut().filter(|block| !block.is_thinned);
        blocks.for_each(Block::thin_out);
    }

    /// Returns the entries of a range that can be distinguished at a resolution, in the order in
    /// which they were added. `further` are entries that follow those of the sample.
    ///
    /// # Errors
    /// Returns an error if the pool cannot be read or is damaged.
    pub(super) fn distinct(
        &self,
        range: &Range<u64>,
        resolution: u64,
        further: &[T],
        pool: &Pool,
    ) -> io::Result<Vec<T>>
    where
        T: Stored,
    {
        let mut distinct = Distinct::new(range, resolution);
        for entries in self.within(range, resolution, pool) {
            entries?.iter().for_each(|entry| distinct.add(entry));
        }
        further.iter().for_each(|entry| distinct.add(entry));
        Ok(distinct.shown)
    }

    /// Returns lists of entries. They contain all entries that overlap a range and can be
    /// distinguished at a resolution, and possibly others.
    fn within<'s>(
        &'s self,
        range: &'s Range<u64>,
        resolution: u64,
        pool: &'s Pool,
    ) -> impl Iterator<Item = io::Result<Cow<'s, [T]>>>
    where
        T: Stored,
    {
        let near = self
            .blocks
            .iter()
            .filter(|block| block.first <= range.end && block.last >= range.start);
        let lists = near.map(move |block| {
            let thinned = block.thinned.iter().rev().find(|(at, _)| *at <= resolution);
            match (thinned, &block.entries) {
                (Some((_, entries)), _) | (None, Entries::Memory(entries)) => {
                    Ok(Cow::Borrowed(entries.as_slice()))
                }
                (None, Entries::Stored(record)) => {
                    let entries = Vec::take(&mut pool.read(record)?.as_ref());
                    entries.map(Cow::Owned).ok_or_else(|| damaged("a list of entries is not valid"))
                }
            }
        });
        lists.chain(std::iter::once(Ok(Cow::Borrowed(self.open.as_slice()))))
    }

    /// Returns the number of entries that were not kept.
    pub(super) fn left_out(&self) -> u64 {
        self.added - self.kept() as u64
    }
}

/// Writes and reads the samples of a stored summary. The entries of each block are one record.
impl<T: Extent + Stored> Sample<T> {
    /// Appends the sample to `out`, and the entries of its blocks to `further`. The records in
    /// `further` follow those of the pool.
    pub(super) fn put(&self, pool: &Pool, further: &mut Vec<u8>, out: &mut Vec<u8>) {
        let Self { blocks, open, added, stride } = self;
        blocks.len().put(out);
        for Block { first, last, thinned, entries, .. } in blocks {
            first.put(out);
            last.put(out);
            thinned.put(out);
            let record = match entries {
                Entries::Memory(entries) => {
                    let mut bytes = Vec::new();
                    entries.put(&mut bytes);
                    pool.append(further, &bytes)
                }
                Entries::Stored(record) => *record,
            };
            record.put(out);
        }
        open.put(out);
        added.put(out);
        stride.put(out);
    }

    /// Takes a sample. Returns `None` if the sample is not consistent, or if the pool does not
    /// contain all records of the sample.
    pub(super) fn take(input: &mut &[u8], pool: &Pool) -> Option<Self> {
        let mut sample = Self::default();
        for _ in 0..usize::take(input)? {
            sample.blocks.push(Block {
                first: Stored::take(input)?,
                last: Stored::take(input)?,
                thinned: Stored::take(input)?,
                is_thinned: true,
                entries: Entries::Stored(Record::take(input).filter(|record| pool.has(record))?),
            });
        }
        sample.open = Stored::take(input)?;
        (sample.added, sample.stride) = (Stored::take(input)?, Stored::take(input)?);
        let is_sound = sample.stride.is_power_of_two() && sample.added >= sample.kept() as u64;
        is_sound.then_some(sample)
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
    let mut distinct = Distinct::new(range, resolution);
    entries.for_each(|entry| distinct.add(entry));
    distinct.shown
}

/// The distinct entries so far; see [`distinct`].
struct Distinct<'a, T: Extent> {
    range: &'a Range<u64>,
    resolution: u64,
    shown: Vec<T>,
    /// A tick for each key. Short entries that begin before the tick of their key are omitted. Only
    /// keys from [`LOW_KEYS`] on need a hash table.
    free: Vec<u64>,
    free_more: HashMap<u64, u64, RandomState>,
}

impl<'a, T: Extent> Distinct<'a, T> {
    fn new(range: &'a Range<u64>, resolution: u64) -> Self {
        let (shown, free, free_more) = Default::default();
        Self { range, resolution, shown, free, free_more }
    }

    fn add(&mut self, entry: &T) {
        if entry.overlaps(self.range) && self.is_distinct(entry) {
            self.shown.push(*entry);
        }
    }

    fn is_distinct(&mut self, entry: &T) -> bool {
        let first = entry.first();
        if self.resolution == 0 || entry.last().saturating_sub(first) > self.resolution {
            return true;
        }
        let next = first.saturating_add(self.resolution);
        let free = self.free(entry.key());
        let is_free = first >= *free;
        if is_free {
            *free = next;
        }
        is_free
    }

    #[inline]
    fn free(&mut self, key: u64) -> &mut u64 {
        let index = key as usize;
        if key >= LOW_KEYS {
            return self.free_more.entry(key).or_insert(0);
        }
        if index >= self.free.len() {
            self.free.resize(index + 1, 0);
        }
        &mut self.free[index]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::tracks::Position;
    use crate::model::ContextId;

    fn list<T: Extent + Stored>(sample: &Sample<T>) -> Vec<T> {
        let (range, pool) = (0..u64::MAX, Pool::default());
        let lists = sample.within(&range, 0, &pool);
        lists.flat_map(|list| list.unwrap().into_owned()).collect()
    }

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
        assert_eq!(at(10), [entries[0], entries[3], entries[4]]);
        assert_eq!(at(100), [entries[0]]);
        assert_eq!(distinct(entries.iter(), &(6..9), 0), [entries[3]]);
        let marks = [(1, 0), (1, 3), (2, 4), (1, 10)].map(|(context, at)| mark(context, at));
        let shown = distinct(marks.iter(), &(0..100), 10);
        assert_eq!(shown, [marks[0], marks[2], marks[3]]);
    }

    /// Asserts which times an entry from 5 to `last` overlaps.
    fn check_extent<T: Extent>(entry: &T, last: u64) {
        for (range, overlaps) in [
            (0..4, false),
            (0..5, true),
            (5..5, true),
            (last..20, true),
            (last + 1..20, false),
            (0..20, true),
        ] {
            assert_eq!(entry.overlaps(&range), overlaps, "{range:?}");
        }
    }

    #[test]
    fn entries_extend_from_their_beginning_to_their_end() {
        let at = |ticks| Position { ticks, seq: 1 };
        let (context, kind) = (ContextId(0), ArrowKind::WakeUp);
        check_extent(&mark(0, 5), 5);
        check_extent(&wait((0, 5, 9)), 9);
        let (from_context, to_context) = (None, context);
        check_extent(&Arrow { kind, from: at(5), from_context, to: at(9), to_context }, 9);
        check_extent(&Job { context, from: at(5), until: Some(at(9)), missed: None }, 9);
    }

    /// Returns true if a view shows both entries, although they are short and close together.
    fn are_both_shown<T: Extent>(first: T, second: T) -> bool {
        distinct([first, second].iter(), &(0..100), 50).len() == 2
    }

    #[test]
    fn short_entries_of_different_kinds_are_distinct() {
        let at = |ticks| Position { ticks, seq: 1 };
        let arrow = |kind, to| {
            let (from_context, to_context) = (None, ContextId(to));
            Arrow { kind, from: at(5), from_context, to: at(6), to_context }
        };
        let [wakes, waits] = [ArrowKind::WakeUp, ArrowKind::WaitsFor].map(|kind| arrow(kind, 4));
        let job = |number, missed: Option<u64>| {
            let (context, missed) = (ContextId(number), missed.map(at));
            Job { context, from: at(5), until: Some(at(6)), missed }
        };
        assert!(!are_both_shown(wakes, wakes) && are_both_shown(wakes, waits));
        assert!(are_both_shown(wakes, arrow(ArrowKind::WakeUp, 5)));
        assert!(!are_both_shown(job(4, None), job(4, None)));
        assert!(are_both_shown(job(4, None), job(4, Some(6))));
        assert!(are_both_shown(job(4, None), job(5, None)));
        let many = LOW_KEYS as u32;
        for context in [0, many - 1, many, many + 1] {
            assert!(!are_both_shown(mark(context, 5), mark(context, 6)));
            assert!(are_both_shown(mark(context, 5), mark(context + 1, 6)));
        }
    }

    #[test]
    fn a_sample_is_complete_up_to_the_limit_and_then_spread_evenly() {
        let mut sample = Sample::default();
        let most = MAX_LIST as u64;
        (0..most).for_each(|ticks| sample.push(mark(1, ticks)));
        assert_eq!((list(&sample).len(), sample.left_out()), (MAX_LIST, 0));
        sample.thin_out();
        (most..3 * most).for_each(|ticks| sample.push(mark(1, ticks)));
        let expected: Vec<_> = (0..3 * most).step_by(4).map(|ticks| mark(1, ticks)).collect();
        assert_eq!(list(&sample), expected);
        assert_eq!(sample.left_out() as usize, 3 * MAX_LIST - expected.len());
        assert_eq!(sample.open.len(), expected.len() % BLOCK);
    }

    /// Views with thinned blocks still show every long entry, but not many entries in total.
    #[test]
    fn views_have_the_entries_of_their_range() {
        let mut sample = Sample::default();
        let of = |n: u64| (n as u32 % 3, 10 * n, 10 * n + if n % 1000 == 5 { 30_000 } else { 4 });
        (0..20_000).for_each(|n| sample.push(wait(of(n))));
        let unthinned = sample.clone();
        sample.thin_out();
        let (mut further, mut bytes) = (Vec::new(), Vec::new());
        sample.put(&Pool::default(), &mut further, &mut bytes);
        let file = tempfile::tempfile().unwrap();
        Pool::default().store(&file, &further).unwrap();
        let pool = Pool::of_file(file, further.len() as u64);
        let stored = Sample::<WaitSpan>::take(&mut bytes.as_slice(), &pool).unwrap();
        assert!(matches!(stored.blocks[0].entries, Entries::Stored(_)));
        assert!(Sample::<WaitSpan>::take(&mut bytes.as_slice(), &Pool::default()).is_none());
        // The first entry of the fourth block begins at this time.
        let fourth = 3 * BLOCK as u64 * 10;
        let ranges = [
            (0..200_000, 5000),
            (60_000..61_000, 0),
            (70_000..90_000, 100),
            (fourth - 1000..fourth, 0),
        ];
        for (range, resolution) in ranges {
            let shown = sample.distinct(&range, resolution, &[], &pool).unwrap();
            assert_eq!(stored.distinct(&range, resolution, &[], &pool).unwrap(), shown);
            let exact = distinct(list(&sample).iter(), &range, resolution);
            assert_eq!(unthinned.distinct(&range, resolution, &[], &pool).unwrap(), exact);
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
            let read = sample.within(&range, resolution, &pool).map(|list| list.unwrap().len());
            let read: usize = read.sum();
            assert!(read < 8000, "{read} of {} entries", sample.kept());
        }
    }
}
