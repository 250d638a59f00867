//! The set of received packet numbers, stored as ranges, so that memory grows with the number of
//! gaps and not with the number of packets.

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;

/// Maximum number of ranges. If there are more, the lowest gap is closed, and only the number of
/// missing packets in it is kept.
const MAX_RANGES: usize = 1 << 16;

/// Maximum number of packets that are listed individually.
pub(crate) const MAX_LISTED: usize = 1000;

/// The number of a packet, compared with the numbers of the packets that arrived before it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Arrival {
    /// The packet has the highest number so far.
    Next,
    /// A packet with a higher number arrived before it.
    Late,
    /// A packet with the same number arrived before it.
    Again,
}

/// The set of packet numbers that arrived.
///
/// ```
/// use tracewell_collect::{Arrival, Numbers};
///
/// let mut numbers = Numbers::default();
/// let arrivals = [1, 2, 6, 4, 2].map(|number| numbers.arrive(number));
/// assert_eq!(arrivals[2..], [Arrival::Next, Arrival::Late, Arrival::Again]);
/// assert_eq!(numbers.missing().collect::<Vec<_>>(), [(3, 3), (5, 5)]);
/// ```
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Numbers {
    /// First and last number of each range.
    ranges: BTreeMap<u32, u32>,
    /// Number of missing packets in gaps that are no longer stored, to save memory.
    forgotten: u64,
}

impl Numbers {
    /// Adds a number and returns its relation to the earlier numbers.
    pub fn arrive(&mut self, number: u32) -> Arrival {
        // Find the last range that begins at or below the number. If this range does not contain
        // the number, no range does.
        let below = self.ranges.range(..=number).next_back().map(|(first, last)| (*first, *last));
        if below.is_some_and(|(_, last)| number <= last) {
            return Arrival::Again;
        }
        // Compare before the insertion: afterwards, the number itself can be the highest.
        let highest = self.bounds().is_none_or(|(_, last)| number > last);
        // Join the range that ends just below the number with the range that begins just above it.
        let joined = below.filter(|(_, last)| last.checked_add(1) == Some(number));
        let first = joined.map_or(number, |(first, _)| first);
        let above = number.checked_add(1).and_then(|above| self.ranges.remove(&above));
        self.ranges.insert(first, above.unwrap_or(number));
        if self.ranges.len() > MAX_RANGES {
            self.forget();
        }
        if highest { Arrival::Next } else { Arrival::Late }
    }

    /// Closes the lowest gap.
    fn forget(&mut self) {
        // The oldest packets are the least likely to arrive late.
        let Some((first, last)) = self.ranges.pop_first() else { return };
        let Some((start, end)) = self.ranges.pop_first() else { return };
        self.forgotten += u64::from(start - last - 1);
        self.ranges.insert(first, end);
    }

    /// Returns the lowest and the highest number.
    pub fn bounds(&self) -> Option<(u32, u32)> {
        Some((*self.ranges.first_key_value()?.0, *self.ranges.last_key_value()?.1))
    }

    /// Returns the first and last number of each gap, in ascending order.
    pub fn missing(&self) -> impl Iterator<Item = (u32, u32)> {
        let next = self.ranges.keys().skip(1);
        self.ranges.values().zip(next).map(|(last, first)| (last + 1, first - 1))
    }

    /// Returns the number of packets in all gaps.
    pub fn missing_packets(&self) -> u64 {
        let gaps = self.missing().map(|(first, last)| u64::from(last - first) + 1);
        self.forgotten + gaps.sum::<u64>()
    }
}

/// The numbers of certain packets, such as the duplicates, in order of arrival.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PacketNumbers {
    /// Number of packets, including packets that are not listed.
    pub count: u64,
    /// The first 1000 numbers.
    pub first: Vec<u32>,
}

impl PacketNumbers {
    pub(crate) fn add(&mut self, number: u32) {
        self.count += 1;
        if self.first.len() < MAX_LISTED {
            self.first.push(number);
        }
    }
}

impl fmt::Display for PacketNumbers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rows: Vec<_> = self.first.iter().map(|number| (*number, *number)).collect();
        list(f, &rows)
    }
}

/// Prints the first twenty ranges of numbers.
pub(crate) fn list(f: &mut fmt::Formatter<'_>, rows: &[(u32, u32)]) -> fmt::Result {
    const SHOWN: usize = 20;
    for (index, (first, last)) in rows.iter().take(SHOWN).enumerate() {
        f.write_str(if index > 0 { ", " } else { "" })?;
        match first == last {
            true => write!(f, "{first}")?,
            false => write!(f, "{first} to {last}")?,
        }
    }
    if rows.len() > SHOWN { f.write_str(", …") } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn beyond_the_limit_gaps_are_counted_but_not_listed() {
        let mut numbers = Numbers::default();
        let rows = MAX_RANGES as u32 + 10;
        (0..rows).for_each(|row| assert_eq!(numbers.arrive(3 * row), Arrival::Next));
        assert_eq!(numbers.missing().count(), MAX_RANGES - 1);
        assert_eq!(numbers.missing_packets(), 2 * u64::from(rows - 1));
    }

    #[test]
    fn the_highest_numbers_do_not_overflow() {
        let mut numbers = Numbers::default();
        let arrivals = [u32::MAX, 0, u32::MAX - 1, u32::MAX].map(|n| numbers.arrive(n));
        assert_eq!(arrivals, [Arrival::Next, Arrival::Late, Arrival::Late, Arrival::Again]);
        assert_eq!(numbers.missing().collect::<Vec<_>>(), [(1, u32::MAX - 2)]);
    }
}
