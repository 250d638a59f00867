//! Which packet numbers came, in rows: memory grows with the gaps, not with the packets.

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;

/// Rows that are kept apart. With more, the lowest gap is counted and forgotten.
const MOST_ROWS: usize = 1 << 16;

/// Numbers that are listed one by one.
pub(super) const MOST_LISTED: usize = 1000;

/// How a packet came.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Arrival {
    /// Its number is the highest so far.
    Next,
    /// One with a higher number came before it.
    Late,
    /// One with its number came before it.
    Again,
}

/// The numbers of the packets that came.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Numbers {
    /// First number of each row, and its last one.
    rows: BTreeMap<u32, u32>,
    /// Packets of gaps that were forgotten.
    forgotten: u64,
}

impl Numbers {
    /// Takes a number.
    pub fn arrive(&mut self, number: u32) -> Arrival {
        let below = self.rows.range(..=number).next_back().map(|(first, last)| (*first, *last));
        if below.is_some_and(|(_, last)| number <= last) {
            return Arrival::Again;
        }
        let highest = self.bounds().is_none_or(|(_, last)| number > last);
        // Joins the row that ends just below and the one that begins just above.
        let joined = below.filter(|(_, last)| last.checked_add(1) == Some(number));
        let first = joined.map_or(number, |(first, _)| first);
        let above = number.checked_add(1).and_then(|above| self.rows.remove(&above));
        self.rows.insert(first, above.unwrap_or(number));
        if self.rows.len() > MOST_ROWS {
            self.forget();
        }
        if highest { Arrival::Next } else { Arrival::Late }
    }

    /// Closes the lowest gap.
    fn forget(&mut self) {
        let Some((first, last)) = self.rows.pop_first() else { return };
        let Some((start, end)) = self.rows.pop_first() else { return };
        self.forgotten += u64::from(start - last - 1);
        self.rows.insert(first, end);
    }

    /// Lowest and highest number.
    pub fn bounds(&self) -> Option<(u32, u32)> {
        Some((*self.rows.first_key_value()?.0, *self.rows.last_key_value()?.1))
    }

    /// First and last number of each gap, in order.
    pub fn missing(&self) -> impl Iterator<Item = (u32, u32)> {
        let behind = self.rows.keys().skip(1);
        self.rows.values().zip(behind).map(|(last, first)| (last + 1, first - 1))
    }

    /// Packets in all gaps.
    pub fn missing_packets(&self) -> u64 {
        let gaps = self.missing().map(|(first, last)| u64::from(last - first) + 1);
        self.forgotten + gaps.sum::<u64>()
    }
}

/// Numbers of packets with something in common, in the order in which they came.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize)]
pub struct PacketNumbers {
    /// How many.
    pub count: u64,
    /// The first thousand of them.
    pub first: Vec<u32>,
}

impl PacketNumbers {
    pub(super) fn add(&mut self, number: u32) {
        self.count += 1;
        if self.first.len() < MOST_LISTED {
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

/// Rows of numbers for people, the first twenty of them.
pub(super) fn list(f: &mut fmt::Formatter<'_>, rows: &[(u32, u32)]) -> fmt::Result {
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
    fn a_flood_of_gaps_keeps_their_count_and_not_their_places() {
        let mut numbers = Numbers::default();
        let rows = MOST_ROWS as u32 + 10;
        (0..rows).for_each(|row| assert_eq!(numbers.arrive(3 * row), Arrival::Next));
        assert_eq!(numbers.missing().count(), MOST_ROWS - 1);
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
