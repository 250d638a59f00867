//! Sums over consecutive parts of a row: the time in each class of states.
//!
//! A sum combines the states of one class, such as all reasons for waiting. It names only one state
//! of the class: the state for which the most ticks were added at once. So the number of states in
//! a sum stays small, and the time in each class is exact.

use super::encoded::START;
use super::pool::{Pool, Record};
use crate::analysis::stored::{Stored, stored_structs};
use crate::analysis::total::Total;
use crate::analysis::tracks::{Holder, Occupant, Position, State};

/// Number of sums that a sum of the next level contains.
pub(super) const FAN: usize = 8;

/// Number of elements in a segment: blocks, or sums of one level. The number is a power of `FAN`.
/// In tests, segments are small, so that short rows have several.
pub(super) const SEGMENT: usize = if cfg!(test) { FAN } else { FAN * FAN * FAN };

/// A state that can be combined with other states of its class in a sum.
pub(super) trait Classed {
    /// Returns the number of the class.
    fn class(self) -> u64;
}

impl Classed for State {
    fn class(self) -> u64 {
        match self {
            Self::Unknown => 0,
            Self::Running(_) => 1,
            Self::Interrupted => 2,
            Self::Preempted => 3,
            Self::Ready => 4,
            Self::Blocked(_) => 5,
            Self::Sleeping => 6,
            Self::Done => 7,
            Self::Off => 8,
            Self::Deleted => 9,
        }
    }
}

impl Classed for Occupant {
    fn class(self) -> u64 {
        match self {
            Self::Unknown => 0,
            Self::Idle => 1,
            Self::Interrupt { .. } => 2,
            Self::Task { runs, .. } => 3 + u64::from(runs.0),
        }
    }
}

impl Classed for Holder {
    fn class(self) -> u64 {
        match self {
            Self::Unknown => 0,
            Self::Free => 1,
            Self::Context(context) => 2 + u64::from(context.0),
        }
    }
}

/// The sums of one level of a row. Complete segments are stored in the pool, as records.
#[derive(Clone, Debug, Default)]
pub(super) struct Sums {
    pub(super) sealed: Vec<Sealed>,
    /// The sums after the complete segments.
    pub(super) open: Level,
}

/// A complete segment of sums: its first change, and its record.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sealed {
    from: Position,
    pub(super) record: Record,
}

impl Sums {
    /// Returns the number of parts.
    pub(super) fn len(&self) -> usize {
        self.sealed.len() * SEGMENT + self.open.len()
    }

    /// Adds a part that begins at `from` and whose sum is in `sum`. If the part completes a group
    /// of [`FAN`] parts, returns the beginning of this group, and leaves the group's sum in `sum`.
    /// Otherwise leaves `sum` empty. `classes` contains the class of each state of the row.
    pub(super) fn push(
        &mut self,
        from: Position,
        sum: &mut Sum,
        classes: &[u32],
        pool: &mut Pool,
    ) -> Option<Position> {
        self.open.push(from, sum);
        let group = self.open.last_group(sum, classes);
        if self.open.len() == SEGMENT {
            let record = pool.push(|out| self.open.put(out));
            self.sealed.push(Sealed { from: self.open.from[0], record });
            self.open.clear();
        }
        group
    }

    /// Returns the position at which a part begins. In a complete segment, this must be the first
    /// part, because only its position is stored.
    pub(super) fn start(&self, part: usize) -> Option<Position> {
        match part.checked_sub(self.sealed.len() * SEGMENT) {
            Some(open) => self.open.from.get(open).copied(),
            None => self.sealed.get(part / SEGMENT).map(|sealed| sealed.from),
        }
    }

    /// Returns true if the number of parts is `parts` and all indices are valid.
    pub(super) fn is_sound(&self, parts: usize, states: usize) -> bool {
        let open = parts.checked_sub(self.sealed.len().saturating_mul(SEGMENT));
        open.is_some_and(|open| open < SEGMENT && self.open.is_sound(open, states))
    }

    /// Returns true if the pool contains all records.
    pub(super) fn is_in(&self, pool: &Pool) -> bool {
        self.sealed.iter().all(|sealed| pool.has(&sealed.record))
    }
}

/// Sums over consecutive parts of a row.
#[derive(Clone, Debug, Default)]
pub(super) struct Level {
    /// The first change of each part.
    pub(super) from: Vec<Position>,
    /// For each part, the index in `shares` after the part's last entry.
    ends: Vec<usize>,
    /// For each part and each class: one state of the class, and the ticks of the class; classes
    /// are in the order of their first occurrence.
    shares: Vec<Share>,
}

#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Share {
    pub(super) state: u32,
    pub(super) ticks: u64,
}

stored_structs! {
    Sums { sealed, open }
    Sealed { from, record }
    Share { state, ticks }
}

/// For each part, stores the difference between the positions of this part and the previous part,
/// the number of shares, and the shares.
impl Stored for Level {
    fn put(&self, out: &mut Vec<u8>) {
        self.len().put(out);
        let mut last = START;
        for (part, from) in self.from.iter().enumerate() {
            from.ticks.wrapping_sub(last.ticks).put(out);
            from.seq.wrapping_sub(last.seq).put(out);
            let shares = self.shares(part);
            shares.len().put(out);
            shares.iter().for_each(|share| share.put(out));
            last = *from;
        }
    }

    fn take(input: &mut &[u8]) -> Option<Self> {
        let parts = usize::take(input)?;
        // Each part has at least three bytes.
        if parts > input.len() {
            return None;
        }
        let (from, ends) = (Vec::with_capacity(parts), Vec::with_capacity(parts));
        let mut level = Self { from, ends, shares: Vec::with_capacity(4 * parts) };
        let mut last = START;
        for _ in 0..parts {
            last.ticks = last.ticks.wrapping_add(u64::take(input)?);
            last.seq = last.seq.wrapping_add(u64::take(input)?);
            level.from.push(last);
            for _ in 0..usize::take(input)? {
                level.shares.push(Stored::take(input)?);
            }
            level.ends.push(level.shares.len());
        }
        Some(level)
    }
}

impl Level {
    /// Returns the number of parts.
    pub(super) fn len(&self) -> usize {
        self.from.len()
    }

    pub(super) fn shares(&self, part: usize) -> &[Share] {
        let start = part.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.shares[start..self.ends[part]]
    }

    /// Removes all parts, and keeps the memory for others.
    fn clear(&mut self) {
        self.from.clear();
        self.ends.clear();
        self.shares.clear();
    }

    fn push(&mut self, from: Position, sum: &mut Sum) {
        self.from.push(from);
        self.shares.extend(sum.drain());
        self.ends.push(self.shares.len());
    }

    /// If the last part completes a group, returns the first change of the group, and adds the sum
    /// of its [`FAN`] parts to `sum`.
    fn last_group(&self, sum: &mut Sum, classes: &[u32]) -> Option<Position> {
        let parts = self.len();
        if !parts.is_multiple_of(FAN) {
            return None;
        }
        let first = parts - FAN;
        let start = first.checked_sub(1).map_or(0, |before| self.ends[before]);
        for share in &self.shares[start..] {
            sum.add(classes[share.state as usize], share.state, share.ticks);
        }
        Some(self.from[first])
    }

    /// Returns true if there are exactly this many parts, and all indices are valid.
    pub(super) fn is_sound(&self, parts: usize, states: usize) -> bool {
        let Self { from, ends, shares } = self;
        // Each part has at least one state.
        let mut start = 0;
        let rise = ends.iter().all(|end| std::mem::replace(&mut start, *end) < *end);
        let are_states = shares.iter().all(|share| (share.state as usize) < states);
        from.len() == parts && ends.len() == parts && rise && start == shares.len() && are_states
    }
}

/// Time by class of states, in the order of the first occurrence.
#[derive(Clone, Debug, Default)]
pub(super) struct Sum {
    parts: Vec<SumPart>,
    /// For each class, its index in `parts` plus 1, or 0 if it is not there.
    places: Vec<u32>,
}

#[derive(Clone, Copy, Debug)]
struct SumPart {
    class: u32,
    share: Share,
    /// The largest number of ticks that were added at once.
    most: u64,
}

impl Sum {
    pub(super) fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// Returns the shares, and removes them. The sum keeps its memory for further use.
    pub(super) fn drain(&mut self) -> impl Iterator<Item = Share> + '_ {
        for part in &self.parts {
            self.places[part.class as usize] = 0;
        }
        self.parts.drain(..).map(|part| part.share)
    }

    /// Adds time in a state. `class` is the number of the first state that has the same class as
    /// `state`.
    #[inline]
    pub(super) fn add(&mut self, class: u32, state: u32, ticks: u64) {
        let place = self.places.get(class as usize).copied().unwrap_or(0);
        let Some(part) = self.parts.get_mut((place as usize).wrapping_sub(1)) else {
            return self.add_class(class, state, ticks);
        };
        part.share.ticks.charge(ticks);
        if ticks > part.most {
            (part.most, part.share.state) = (ticks, state);
        }
    }

    #[inline(never)]
    fn add_class(&mut self, class: u32, state: u32, ticks: u64) {
        self.parts.push(SumPart { class, share: Share { state, ticks }, most: ticks });
        let index = class as usize;
        if index >= self.places.len() {
            self.places.resize(index + 1, 0);
        }
        self.places[index] = self.parts.len() as u32;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shares(sum: &mut Sum) -> Vec<(u32, u64)> {
        sum.drain().map(|share| (share.state, share.ticks)).collect()
    }

    #[test]
    fn a_sum_can_be_filled_again() {
        let mut sum = Sum::default();
        for states in [1000, 10, 2000] {
            for ticks in 1..=3 {
                (0..states).rev().for_each(|state| sum.add(state, state, ticks));
            }
            let expected: Vec<_> = (0..states).rev().map(|state| (state, 6)).collect();
            assert_eq!(shares(&mut sum), expected);
            assert!(sum.is_empty());
        }
    }

    #[test]
    fn a_class_has_the_state_with_the_longest_time() {
        let mut sum = Sum::default();
        for (class, state, ticks) in [(0, 0, 5), (1, 1, 2), (1, 4, 7), (1, 5, 6), (0, 0, 1)] {
            sum.add(class, state, ticks);
        }
        assert_eq!(shares(&mut sum), [(0, 6), (4, 15)]);
    }
    #[test]
    fn sums_with_impossible_parts_are_not_sound() {
        let from = |ticks| Position { ticks, seq: ticks };
        let share = |state| Share { state, ticks: 5 };
        let shares = vec![share(0), share(1), share(0)];
        let level = Level { from: vec![from(10), from(20)], ends: vec![1, 3], shares };
        assert!(level.is_sound(2, 2));
        assert!(!level.is_sound(1, 2) && !level.is_sound(3, 2), "there are two parts");
        assert!(!level.is_sound(2, 1), "there is no state 1");
        for ends in [&[0, 3][..], &[1, 1], &[3, 3], &[3, 1], &[1, 2], &[1], &[3], &[1, 4]] {
            let wrong = Level { ends: ends.to_vec(), ..level.clone() };
            assert!(!wrong.is_sound(2, 2), "{ends:?}");
        }
        let wrong = Level { from: vec![from(10)], ..level };
        assert!(!wrong.is_sound(2, 2), "there is one first change");
    }

    #[test]
    fn a_level_has_as_many_sums_as_parts() {
        let pool = &mut Pool::default();
        let mut sums = Sums::default();
        let mut sum = Sum::default();
        for part in 0..SEGMENT as u64 + 2 {
            sum.add(0, 0, 5);
            let from = Position { ticks: 10 * part, seq: part };
            let group = sums.push(from, &mut sum, &[0], pool);
            // Every eighth part completes a group, which begins at its first part.
            let is_last = (part + 1).is_multiple_of(FAN as u64);
            let first = (part + 1).saturating_sub(FAN as u64);
            let expected = is_last.then_some(Position { ticks: 10 * first, seq: first });
            assert_eq!(group, expected, "{part}");
            let shares: Vec<_> = sum.drain().map(|share| share.ticks).collect();
            assert_eq!(shares, if is_last { vec![5 * FAN as u64] } else { Vec::new() });
        }
        let parts = SEGMENT + 2;
        assert_eq!((sums.len(), sums.sealed.len()), (parts, 1));
        assert!(sums.is_sound(parts, 1));
        for wrong in [0, SEGMENT, parts - 1, parts + 1, parts + SEGMENT] {
            assert!(!sums.is_sound(wrong, 1), "{wrong}");
        }
        assert!(sums.is_in(pool) && !sums.is_in(&Pool::default()));
        let ticks = |part| sums.start(part).map(|from| from.ticks);
        let second = SEGMENT as u64 * 10;
        assert_eq!(
            (ticks(0), ticks(SEGMENT), ticks(SEGMENT + 1)),
            (Some(0), Some(second), Some(second + 10))
        );
    }
}
