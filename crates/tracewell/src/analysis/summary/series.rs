//! A series of entries that have no length: the events that contexts recorded, or the levels of a
//! queue. A view combines entries that are close together, and shows a digest of them, such as
//! their number or the highest level among them.
//!
//! Entries are encoded in blocks of [`BLOCK`] entries. The blocks of [`GROUP`] entries are one
//! record of the pool, and their digests are another record. Only the digests of whole groups stay
//! in memory. So a coarse view reads few records, and any view decodes at most about [`BLOCK`]
//! entries for each of its parts.

use std::io;
use std::ops::Range;

use super::encoded::START;
use super::pool::{Pool, Record, damaged};
use crate::analysis::stored::{Stored, put_bytes, take_bytes};
use crate::analysis::tracks::Position;

/// Number of entries in a block. In tests, blocks and groups are small, so that short traces have
/// several.
pub(super) const BLOCK: usize = if cfg!(test) { 4 } else { 64 };

/// Number of entries in a group; a multiple of [`BLOCK`].
const GROUP: usize = if cfg!(test) { 4 * BLOCK } else { 64 * BLOCK };

/// An entry of a series.
pub(super) trait Entry: Copy {
    /// The facts about several consecutive entries.
    type Digest: Clone + Stored;

    /// Collects a digest. It can be filled again after [`Self::drain`].
    type Sum: Default;

    /// Adds an entry to a sum.
    fn add(self, sum: &mut Self::Sum);

    /// Adds the entries of a digest to a sum.
    fn merge(digest: &Self::Digest, sum: &mut Self::Sum);

    /// Returns the digest of a sum, and empties the sum.
    fn drain(sum: &mut Self::Sum) -> Self::Digest;

    /// Appends the encoded entries of a block to `out`.
    fn put(entries: &[(Position, Self)], out: &mut Vec<u8>);

    /// Returns the entries of a block.
    fn take(bytes: &[u8]) -> impl Iterator<Item = (Position, Self)>;

    /// Returns a number that the entries and digests of a series must not exceed; 0 if there is no
    /// such limit. The sum allocates memory for this number.
    fn number(self) -> u32 {
        0
    }

    /// Returns the largest number of the entries of a digest.
    fn most(_digest: &Self::Digest) -> u32 {
        0
    }
}

/// Consecutive entries with the digest of them.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Part<D> {
    /// The first entry.
    pub(super) from: Position,
    /// The last entry.
    pub(super) last: Position,
    pub(super) digest: D,
}

/// A part with the place of its entries. In a group, `length` is the number of bytes of a block's
/// entries.
type BlockPart<D> = (Part<D>, usize);

#[derive(Clone, Debug)]
struct Group<D> {
    part: Part<D>,
    /// The list of the group's blocks.
    blocks: Record,
    /// The entries of all blocks, one block after the other.
    entries: Record,
}

/// All entries, in order of time.
#[derive(Clone, Debug)]
pub(super) struct Series<E: Entry> {
    groups: Vec<Group<E::Digest>>,
    /// The entries after the last group.
    open: Vec<(Position, E)>,
    /// The largest [`Entry::number`] of all entries.
    most: u32,
}

impl<E: Entry> Default for Series<E> {
    fn default() -> Self {
        Self { groups: Vec::new(), open: Vec::new(), most: 0 }
    }
}

impl<D: Stored> Stored for Part<D> {
    fn put(&self, out: &mut Vec<u8>) {
        let Self { from, last, digest } = self;
        from.put(out);
        // Wrapping, because a damaged trace may have decreasing times.
        last.ticks.wrapping_sub(from.ticks).put(out);
        last.seq.wrapping_sub(from.seq).put(out);
        digest.put(out);
    }

    fn take(input: &mut &[u8]) -> Option<Self> {
        let from = Position::take(input)?;
        let ticks = from.ticks.wrapping_add(u64::take(input)?);
        let seq = from.seq.wrapping_add(u64::take(input)?);
        Some(Self { from, last: Position { ticks, seq }, digest: Stored::take(input)? })
    }
}

impl<D: Stored> Stored for Group<D> {
    fn put(&self, out: &mut Vec<u8>) {
        self.part.put(out);
        self.blocks.put(out);
        self.entries.put(out);
    }

    fn take(input: &mut &[u8]) -> Option<Self> {
        let (part, blocks) = (Stored::take(input)?, Stored::take(input)?);
        Some(Self { part, blocks, entries: Stored::take(input)? })
    }
}

impl<E: Entry> Series<E> {
    /// Appends everything except the records to `out`.
    pub(super) fn put(&self, out: &mut Vec<u8>) {
        let Self { groups, open, most } = self;
        groups.put(out);
        let mut bytes = Vec::new();
        E::put(open, &mut bytes);
        put_bytes(&bytes, out);
        most.put(out);
    }

    /// Takes a series. Returns `None` if the pool does not contain all of its records.
    pub(super) fn take(input: &mut &[u8], pool: &Pool) -> Option<Self> {
        let groups: Vec<Group<E::Digest>> = Stored::take(input)?;
        let open: Vec<_> = E::take(take_bytes(input)?).collect();
        let most = Stored::take(input)?;
        let is_sound = groups.iter().all(|Group { part, blocks, entries }| {
            E::most(&part.digest) <= most && pool.has(blocks) && pool.has(entries)
        });
        let is_sound = is_sound && open.iter().all(|(_, entry)| entry.number() <= most);
        is_sound.then_some(Self { groups, open, most })
    }

    /// Returns the number of entries.
    pub(super) fn count(&self) -> u64 {
        (self.groups.len() * GROUP + self.open.len()) as u64
    }

    /// Returns the digest of all entries.
    pub(super) fn total(&self) -> E::Digest {
        let mut sum = E::Sum::default();
        self.groups.iter().for_each(|group| E::merge(&group.part.digest, &mut sum));
        self.open.iter().for_each(|(_, entry)| entry.add(&mut sum));
        E::drain(&mut sum)
    }

    /// Adds an entry that follows all others.
    #[inline]
    pub(super) fn push(&mut self, at: Position, entry: E, pool: &mut Pool) {
        if self.open.len() == GROUP {
            self.close(pool);
        }
        self.most = self.most.max(entry.number());
        self.open.push((at, entry));
    }

    /// Moves the open entries to the pool, as a group.
    #[inline(never)]
    fn close(&mut self, pool: &mut Pool) {
        let (mut blocks, mut bytes) = (Vec::new(), Vec::new());
        let (mut sum, mut all) = (E::Sum::default(), E::Sum::default());
        for entries in self.open.chunks(BLOCK) {
            let start = bytes.len();
            E::put(entries, &mut bytes);
            entries.iter().for_each(|(_, entry)| entry.add(&mut sum));
            let part = part_of(entries, E::drain(&mut sum));
            E::merge(&part.digest, &mut all);
            part.put(&mut blocks);
            (bytes.len() - start).put(&mut blocks);
        }
        let part = part_of(&self.open, E::drain(&mut all));
        let blocks = pool.push(|out| out.extend_from_slice(&blocks));
        let entries = pool.push(|out| out.extend_from_slice(&bytes));
        self.groups.push(Group { part, blocks, entries });
        self.open.clear();
    }

    /// Returns the parts of a range of ticks. A part has several entries if at most `resolution`
    /// ticks pass from the first to the last of them, and `resolution` is not 0. Parts are as long
    /// as possible, up to a limit that depends on blocks. The result also contains the last entry
    /// before the range, the first entry after it, and possibly others before it. `further` are
    /// entries that follow those of the series.
    ///
    /// # Errors
    /// Returns an error if the pool cannot be read or is damaged.
    pub(super) fn parts(
        &self,
        range: &Range<u64>,
        resolution: u64,
        further: &[(Position, E)],
        pool: &Pool,
    ) -> io::Result<Vec<Part<E::Digest>>> {
        let shown = Vec::new();
        let mut view = View { range, resolution, shown, sum: E::Sum::default(), place: None };
        let begins = |group: &Group<_>| group.part.from.ticks < range.start;
        let first = self.groups.partition_point(begins).saturating_sub(1);
        for group in &self.groups[first..] {
            if view.is_complete() {
                break;
            }
            if view.combines(&group.part) {
                view.add(&group.part);
            } else {
                self.group(group, &mut view, pool)?;
            }
        }
        for (at, entry) in self.open.iter().chain(further) {
            view.entry(*at, *entry);
        }
        view.show();
        Ok(view.shown)
    }

    /// Adds the parts of a group.
    fn group(
        &self,
        group: &Group<E::Digest>,
        view: &mut View<'_, E>,
        pool: &Pool,
    ) -> io::Result<()> {
        let wrong = || damaged("a group of entries is not valid");
        let blocks = pool.read(&group.blocks)?;
        let mut rest = blocks.as_ref();
        let mut list: Vec<BlockPart<E::Digest>> = Vec::with_capacity(GROUP / BLOCK);
        while !rest.is_empty() {
            let (part, length) = <(Part<E::Digest>, usize)>::take(&mut rest).ok_or_else(wrong)?;
            if E::most(&part.digest) > self.most {
                return Err(wrong());
            }
            list.push((part, length));
        }
        let begins = |(part, _): &BlockPart<_>| part.from.ticks < view.range.start;
        let first = list.partition_point(begins).saturating_sub(1);
        let mut place: usize = list[..first].iter().map(|(_, length)| length).sum();
        let mut entries = None;
        for (part, length) in &list[first..] {
            if view.is_complete() {
                break;
            }
            if view.combines(part) {
                view.add(part);
            } else {
                let bytes = match &entries {
                    Some(bytes) => bytes,
                    None => entries.insert(pool.read(&group.entries)?),
                };
                let bytes = bytes.get(place..).and_then(|bytes| bytes.get(..*length));
                for (at, entry) in E::take(bytes.ok_or_else(wrong)?) {
                    if entry.number() > self.most {
                        return Err(wrong());
                    }
                    view.entry(at, entry);
                }
            }
            place += length;
        }
        Ok(())
    }
}

/// Returns consecutive entries as a part. There must be at least one entry.
fn part_of<E, D>(entries: &[(Position, E)], digest: D) -> Part<D> {
    let at = |entry: Option<&(Position, E)>| entry.map_or(START, |(at, _)| *at);
    Part { from: at(entries.first()), last: at(entries.last()), digest }
}

/// The parts of a view under construction.
struct View<'a, E: Entry> {
    range: &'a Range<u64>,
    resolution: u64,
    shown: Vec<Part<E::Digest>>,
    /// The entries that have not been shown yet, and the positions of the first and the last.
    sum: E::Sum,
    place: Option<(Position, Position)>,
}

impl<E: Entry> View<'_, E> {
    /// Returns true if the view contains an entry after the range.
    fn is_complete(&self) -> bool {
        let last = self.place.map(|(_, last)| last).or(self.shown.last().map(|part| part.last));
        last.is_some_and(|last| last.ticks > self.range.end)
    }

    /// Returns true if a part is so short that it is combined with its neighbours. A part that
    /// begins after the range is never combined, because the view needs only its first entry.
    fn combines(&self, part: &Part<E::Digest>) -> bool {
        self.fits(part.from, part.last) && part.from.ticks <= self.range.end
    }

    /// Returns true if entries from `from` to `last` can be one part.
    fn fits(&self, from: Position, last: Position) -> bool {
        self.resolution > 0 && last.ticks.saturating_sub(from.ticks) <= self.resolution
    }

    /// Makes room for entries up to `last` that follow the sum: shows the sum if they do not fit.
    fn make_room(&mut self, from: Position, last: Position) {
        if self.place.is_some_and(|(first, _)| !self.fits(first, last)) {
            self.show();
        }
        self.place = Some((self.place.map_or(from, |(first, _)| first), last));
    }

    fn add(&mut self, part: &Part<E::Digest>) {
        self.make_room(part.from, part.last);
        E::merge(&part.digest, &mut self.sum);
    }

    fn entry(&mut self, at: Position, entry: E) {
        if self.is_complete() {
            return;
        }
        // The state at the end of the range must not be combined with an entry after the range.
        if at.ticks > self.range.end {
            self.show();
        }
        self.make_room(at, at);
        entry.add(&mut self.sum);
    }

    fn show(&mut self) {
        if let Some((from, last)) = self.place.take() {
            self.shown.push(Part { from, last, digest: E::drain(&mut self.sum) });
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// An entry whose digest is the list of its values.
    #[derive(Clone, Copy, PartialEq, Debug)]
    struct Value(u32);

    impl Entry for Value {
        type Digest = Vec<u32>;
        type Sum = Vec<u32>;

        fn add(self, sum: &mut Vec<u32>) {
            sum.push(self.0);
        }

        fn merge(digest: &Vec<u32>, sum: &mut Vec<u32>) {
            sum.extend(digest);
        }

        fn drain(sum: &mut Vec<u32>) -> Vec<u32> {
            std::mem::take(sum)
        }

        fn put(entries: &[(Position, Self)], out: &mut Vec<u8>) {
            entries.iter().for_each(|(at, value)| (*at, value.0).put(out));
        }

        fn take(mut bytes: &[u8]) -> impl Iterator<Item = (Position, Self)> {
            std::iter::from_fn(move || {
                let (at, value) = Stored::take(&mut bytes)?;
                Some((at, Self(value)))
            })
        }

        fn number(self) -> u32 {
            self.0
        }

        fn most(digest: &Vec<u32>) -> u32 {
            digest.iter().copied().max().unwrap_or(0)
        }
    }

    /// Returns a series of entries at these distances, and the ticks of each entry. The value of an
    /// entry is its number.
    fn series(distances: &[u64], pool: &mut Pool) -> (Series<Value>, Vec<u64>) {
        let (mut series, mut ticks) = (Series::default(), Vec::new());
        for (number, distance) in (0..).zip(distances) {
            let at = ticks.last().unwrap_or(&0) + distance;
            series.push(Position { ticks: at, seq: u64::from(number) }, Value(number), pool);
            ticks.push(at);
        }
        (series, ticks)
    }

    fn again(series: &Series<Value>, pool: &Pool) -> Option<Series<Value>> {
        let mut bytes = Vec::new();
        series.put(&mut bytes);
        Series::take(&mut bytes.as_slice(), pool)
    }

    #[test]
    fn a_series_is_the_same_after_reading_and_needs_its_records() {
        let mut pool = Pool::default();
        let (series, _) = series(&[3; 3 * GROUP + 2], &mut pool);
        let read = again(&series, &pool).unwrap();
        assert_eq!((read.count(), read.total()), (series.count(), series.total()));
        let shown = |series: &Series<Value>| series.parts(&(0..9999), 20, &[], &pool).unwrap();
        assert_eq!(shown(&read), shown(&series));
        assert!(again(&series, &Pool::default()).is_none());
        let wrong = Series { most: 5, ..series };
        assert!(again(&wrong, &pool).is_none(), "an entry has a larger number");
        let error = wrong.parts(&(0..9999), 0, &[], &pool).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidData);
    }

    proptest! {
        #[test]
        fn parts_contain_each_entry_of_the_range_once_and_are_short(
            distances in prop::collection::vec(prop_oneof![4 => 0..9_u64, 1 => 0..900_u64], 1..200),
            resolution in 0..300_u64,
            cut in (0.0..1.0, 0.0..1.0),
        ) {
            let mut pool = Pool::default();
            let (series, ticks) = series(&distances, &mut pool);
            let end = ticks.last().unwrap() + 10;
            let [a, b] = [cut.0, cut.1].map(|cut| (end as f64 * cut) as u64);
            let range = a.min(b)..a.max(b);
            let parts = series.parts(&range, resolution, &[], &pool).unwrap();
            let shown: Vec<_> = parts.iter().flat_map(|part| part.digest.clone()).collect();
            let first = ticks.partition_point(|at| *at < range.start);
            let last = ticks.partition_point(|at| *at <= range.end);
            // The view contains all entries of the range, the one before it and the one after it.
            let begin = *shown.first().unwrap() as usize;
            prop_assert!(begin <= first.saturating_sub(1));
            let end = begin + shown.len();
            prop_assert_eq!(&shown, &(begin as u32..end as u32).collect::<Vec<_>>());
            // The last part can contain entries after the range, if they are near.
            prop_assert!(end >= (last + 1).min(ticks.len()));
            let last_part = parts.last().unwrap();
            prop_assert!(last_part.from.ticks <= range.end || last_part.digest.len() == 1);
            for part in &parts {
                let of = |value: Option<&u32>| ticks[*value.unwrap() as usize];
                let (from, until) = (of(part.digest.first()), of(part.digest.last()));
                prop_assert_eq!((part.from.ticks, part.last.ticks), (from, until));
                let is_short = until - from <= resolution && resolution > 0;
                prop_assert!(is_short || part.digest.len() == 1);
            }
            for two in parts.windows(2).filter(|_| resolution > 0) {
                let is_long = two[1].last.ticks - two[0].from.ticks > resolution;
                prop_assert!(is_long || two[1].from.ticks > range.end, "{two:?}");
            }
        }
    }
}
