//! A list of entries that keeps only a sample if there are too many.

use std::collections::HashMap;
use std::hash::Hash;

use foldhash::fast::RandomState;

use super::MAX_LIST;

/// All entries, or the entries whose number is divisible by a power of two. Such a sample covers
/// the trace evenly.
#[derive(Clone, Debug)]
pub(super) struct Sample<T> {
    pub(super) list: Vec<T>,
    /// Number of entries that were added.
    pub(super) added: u64,
    pub(super) stride: u64,
}

impl<T> Default for Sample<T> {
    fn default() -> Self {
        Self { list: Vec::new(), added: 0, stride: 1 }
    }
}

impl<T> Sample<T> {
    /// Adds an entry.
    pub(super) fn push(&mut self, entry: T) {
        let is_kept = self.added.is_multiple_of(self.stride);
        self.added += 1;
        if !is_kept {
            return;
        }
        self.list.push(entry);
        if self.list.len() > MAX_LIST {
            let mut number = 0_u64;
            self.list.retain(|_| {
                number += 1;
                !number.is_multiple_of(2)
            });
            self.stride *= 2;
        }
    }

    /// Returns the kept entries, in the order in which they were added.
    pub(super) fn list(&self) -> &[T] {
        &self.list
    }

    /// Returns the number of entries that were not kept.
    pub(super) fn left_out(&self) -> u64 {
        self.added - self.list.len() as u64
    }
}

/// Returns the entries that a view can distinguish. These are all entries longer than `resolution`
/// ticks. Of the shorter entries, each key has at most one within `resolution` ticks. `of` returns
/// the key of an entry, and its first and last tick.
pub(super) fn distinct<'a, T: Copy + 'a, K: Eq + Hash>(
    entries: impl Iterator<Item = &'a T>,
    resolution: u64,
    of: impl Fn(&T) -> (K, u64, u64),
) -> Vec<T> {
    let mut free: HashMap<K, u64, RandomState> = HashMap::default();
    let is_distinct = |entry: &&T| {
        let (key, first, last) = of(entry);
        if last.saturating_sub(first) > resolution {
            return true;
        }
        let free = free.entry(key).or_insert(0);
        let is_free = first >= *free;
        if is_free {
            *free = first.saturating_add(resolution);
        }
        is_free || resolution == 0
    };
    entries.filter(is_distinct).copied().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_that_are_not_distinct_are_left_out() {
        let entries = [('a', 0, 1), ('a', 3, 4), ('b', 4, 5), ('a', 5, 99), ('a', 10, 12)];
        let at = |resolution| distinct(entries.iter(), resolution, |entry| *entry);
        assert_eq!(at(0), entries);
        assert_eq!(at(10), [entries[0], entries[2], entries[3], entries[4]]);
        assert_eq!(at(100), [entries[0], entries[2]]);
    }

    #[test]
    fn a_sample_is_complete_up_to_the_limit_and_then_spread_evenly() {
        let mut sample = Sample::default();
        (0..MAX_LIST as u64).for_each(|entry| sample.push(entry));
        assert_eq!((sample.list().len(), sample.left_out()), (MAX_LIST, 0));
        (MAX_LIST as u64..3 * MAX_LIST as u64).for_each(|entry| sample.push(entry));
        let expected: Vec<_> = (0..3 * MAX_LIST as u64).step_by(4).collect();
        assert_eq!(sample.list(), expected);
        assert_eq!(sample.left_out() as usize, 3 * MAX_LIST - expected.len());
    }
}
