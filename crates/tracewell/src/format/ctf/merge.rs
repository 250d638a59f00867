//! Finds the stream with the earliest element.
//!
//! A tournament tree contains the time of the next element of each stream. Each inner node stores
//! the loser of its match, so a new time of the winner needs one comparison at each level. If the
//! winner's next element also precedes the runner-up, one comparison is enough. An entry is one
//! number, so a comparison needs no branch for equal times.

/// The streams in order of time. Streams with equal times are in the order of their indices.
#[derive(Debug, Default)]
pub(super) struct Merge {
    /// The winner, then the loser at each inner node. The children of node `n` are `2n` and `2n +
    /// 1`. With `s` streams, node `s` and the nodes after it are the streams. An entry is [`ENDED`]
    /// if the stream has ended.
    entries: Vec<u128>,
    /// A lower bound of the second-earliest entry; 0 if that entry is not known.
    second: u128,
}

/// The entry of a stream without further elements.
const ENDED: u128 = u128::MAX;

/// Returns an entry: the time in the high half, the index of the stream in the low half.
#[inline]
const fn entry(time: u64, index: usize) -> u128 {
    (time as u128) << 64 | index as u128
}

impl Merge {
    /// Creates the tree from the time of each stream's next element; `None` if a stream has none.
    pub(super) fn new(times: impl ExactSizeIterator<Item = Option<u64>>) -> Self {
        let streams = times.len();
        let of = |(index, time): (usize, Option<u64>)| time.map_or(ENDED, |at| entry(at, index));
        // The winners of all matches. The first two entries exist even without streams.
        let mut winners = vec![ENDED; streams.max(1)];
        winners.extend(times.enumerate().map(of));
        winners.resize(2 * streams.max(1), ENDED);
        let mut entries = vec![ENDED; streams.max(1)];
        for node in (1..streams).rev() {
            let (left, right) = (winners[2 * node], winners[2 * node + 1]);
            winners[node] = left.min(right);
            entries[node] = left.max(right);
        }
        entries[0] = winners[1];
        Self { entries, second: 0 }
    }

    /// Returns the index of the stream with the earliest element and the time of this element, or
    /// `None` if there are no elements.
    #[inline]
    pub(super) fn first(&self) -> Option<(usize, u64)> {
        let first = *self.entries.first()?;
        let index = first as usize;
        // No stream has the index of `ENDED`.
        (index != ENDED as usize).then_some((index, (first >> 64) as u64))
    }

    /// Sets the time of the first stream's next element, or removes the stream if it has ended.
    /// Returns true if the stream is still the first one.
    #[inline(always)]
    pub(super) fn replace_first(&mut self, time: Option<u64>) -> bool {
        let Some(first) = self.entries.first_mut() else { return false };
        let index = *first as usize;
        let new = time.map_or(ENDED, |time| entry(time, index));
        if new < self.second {
            *first = new;
            return true;
        }
        self.play(index, new)
    }

    /// Plays the matches of a stream again.
    #[inline]
    fn play(&mut self, index: usize, new: u128) -> bool {
        let entries = &mut *self.entries;
        let (mut winner, mut node) = (new, (entries.len() + index) / 2);
        while node > 0
            && let Some(place) = entries.get_mut(node)
        {
            // The outcome cannot be predicted, so this must not become a branch.
            let other = *place;
            let is_later = other < winner;
            *place = if is_later { winner } else { other };
            winner = if is_later { other } else { winner };
            node /= 2;
        }
        if let Some(first) = entries.first_mut() {
            *first = winner;
        }
        let is_first = winner as usize == index;
        self.second = if is_first { self.second(index) } else { 0 };
        is_first
    }

    /// Returns the smallest entry of the streams other than `first`.
    fn second(&self, first: usize) -> u128 {
        let (mut second, mut node) = (ENDED, (self.entries.len() + first) / 2);
        while node > 0 {
            second = second.min(self.entries.get(node).copied().unwrap_or(ENDED));
            node /= 2;
        }
        second
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_come_in_order_of_time_and_index() {
        // The times of each stream do not decrease, so the merged elements must be in sorted order.
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
        let first = streams.iter().map(|times| times.first().copied());
        let (mut merge, mut positions) = (Merge::new(first), vec![0; streams.len()]);
        let mut found = Vec::new();
        while let Some((index, time)) = merge.first() {
            assert_eq!(time, streams[index][positions[index]]);
            found.push((time, index));
            positions[index] += 1;
            let is_first = merge.replace_first(streams[index].get(positions[index]).copied());
            let first = merge.first().map(|(index, _)| index);
            assert_eq!(is_first, first == Some(index));
        }
        assert_eq!(found, expected);
    }
}
