//! Finds the stream with the earliest element.
//!
//! A binary heap contains the time of the next element of each stream. Unlike in the heap of the
//! standard library, the first entry can change its time without leaving the heap. This takes two
//! comparisons if the stream remains the first. An entry is one number, so that a comparison
//! needs no branch for equal times.

/// The streams in order of time. Streams with equal times are in the order of their indices.
#[derive(Debug, Default)]
pub(super) struct Merge {
    /// The entries of the streams. An entry is never later than its two children. For an entry at
    /// position `n`, they are at positions `2n + 1` and `2n + 2`.
    heap: Vec<u128>,
}

/// Returns an entry: the time in the high half, the index of the stream in the low half.
#[inline]
const fn entry(time: u64, index: usize) -> u128 {
    (time as u128) << 64 | index as u128
}

impl Merge {
    /// Adds a stream.
    pub(super) fn add(&mut self, time: u64, index: usize) {
        let mut at = self.heap.len();
        self.heap.push(entry(time, index));
        while at > 0 && self.heap[at] < self.heap[(at - 1) / 2] {
            self.heap.swap(at, (at - 1) / 2);
            at = (at - 1) / 2;
        }
    }

    /// Returns the index of the stream with the earliest element, or `None` if there are no
    /// streams.
    #[inline]
    pub(super) fn first(&self) -> Option<usize> {
        self.heap.first().map(|entry| *entry as usize)
    }

    /// Returns true if a stream with an element at this time would still be the first one. `second`
    /// is the result of [`Merge::second`].
    #[inline]
    pub(super) const fn is_first(time: u64, index: usize, second: u128) -> bool {
        entry(time, index) < second
    }

    /// Returns the entry that follows the first one.
    #[inline]
    pub(super) fn second(&self) -> u128 {
        let child = |at| self.heap.get(at).copied().unwrap_or(u128::MAX);
        child(1).min(child(2))
    }

    /// Sets the time of the first stream's next element, or removes the stream if it has ended.
    #[inline]
    pub(super) fn replace_first(&mut self, time: Option<u64>) {
        match time {
            Some(time) => {
                if let Some(first) = self.heap.first_mut() {
                    *first = entry(time, *first as usize);
                }
            }
            None if self.heap.is_empty() => {}
            None => {
                self.heap.swap_remove(0);
            }
        }
        self.sink_first();
    }

    /// Moves the first entry to its place. Earlier children move up, until neither child is
    /// earlier.
    #[inline]
    fn sink_first(&mut self) {
        let heap = &mut *self.heap;
        let Some(moved) = heap.first().copied() else { return };
        let mut at = 0;
        while let Some(left) = heap.get(2 * at + 1) {
            let right = heap.get(2 * at + 2).copied().unwrap_or(u128::MAX);
            let next = 2 * at + 1 + usize::from(right < *left);
            let earliest = right.min(*left);
            if moved < earliest {
                break;
            }
            heap[at] = earliest;
            at = next;
        }
        heap[at] = moved;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_come_in_order_of_time_and_index() {
        // The times of each stream do not decrease; the merged order equals the sorted order.
        let streams: Vec<Vec<u64>> = (0..13_u64)
            .map(|stream| (0..stream * 3 % 7).map(|i| (stream * 5 % 11) + i * i % 4 * i).collect())
            .map(|mut times: Vec<u64>| {
                times.sort_unstable();
                times
            })
            .collect();
        let mut expected: Vec<_> = streams
            .iter()
            .enumerate()
            .collect::<Vec<_>>()
            .into_iter()
            .flat_map(|(index, times)| times.iter().map(move |time| (*time, index)))
            .collect();
        expected.sort_unstable();
        let (mut merge, mut positions) = (Merge::default(), vec![0; streams.len()]);
        for (index, times) in streams.iter().enumerate() {
            if let Some(time) = times.first() {
                merge.add(*time, index);
            }
        }
        let mut found = Vec::new();
        while let Some(index) = merge.first() {
            found.push((streams[index][positions[index]], index));
            positions[index] += 1;
            let next = streams[index].get(positions[index]).copied();
            let second = merge.second();
            merge.replace_first(next);
            if let Some(next) = next {
                assert_eq!(Merge::is_first(next, index, second), merge.first() == Some(index));
            }
        }
        assert_eq!(found, expected);
    }
}
