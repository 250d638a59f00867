//! Encodes the changes of a row in about four bytes each.
//!
//! A change is three numbers: the differences of ticks and sequence numbers from the previous
//! change, and the index of the state in a table. The first change of a block contains its full
//! ticks and sequence number. [`tracewell_wire::number`] defines the encoding of the numbers.

use tracewell_wire::number;

use crate::analysis::tracks::Position;

/// Maximum length of a change: two numbers of 64 bits and one of 32 bits.
const MAX_CHANGE: usize = 2 * number::MAX_NUMBER + 5;

/// Appends a change that follows a change at `last`.
#[inline]
pub(super) fn put(bytes: &mut Vec<u8>, last: Position, at: Position, state: u32) {
    // The subtractions wrap, so a change may have fewer ticks than the change before it.
    let (ticks, seq) = (at.ticks.wrapping_sub(last.ticks), at.seq.wrapping_sub(last.seq));
    // Appending an array of fixed length and then cutting it is faster than appending the numbers.
    let mut change = [0; MAX_CHANGE];
    let mut length = 0;
    for mut value in [ticks, seq, u64::from(state)] {
        while value >= 0x80 {
            change[length] = value as u8 | 0x80;
            length += 1;
            value >>= 7;
        }
        change[length] = value as u8;
        length += 1;
    }
    bytes.extend_from_slice(&change);
    bytes.truncate(bytes.len() - MAX_CHANGE + length);
}

/// Returns the changes of a block, each with its position and the number of its state.
pub(super) fn changes(bytes: &[u8]) -> impl Iterator<Item = (Position, u32)> + '_ {
    let mut numbers = Numbers(bytes);
    let mut at = START;
    std::iter::from_fn(move || {
        let ticks = at.ticks.wrapping_add(numbers.next()?);
        let seq = at.seq.wrapping_add(numbers.next()?);
        at = Position { ticks, seq };
        Some((at, u32::try_from(numbers.next()?).ok()?))
    })
}

/// The first change of a block is stored relative to this position.
pub(super) const START: Position = Position { ticks: 0, seq: 0 };

struct Numbers<'a>(&'a [u8]);

impl Iterator for Numbers<'_> {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        let (number, rest) = number::read(self.0)?;
        self.0 = rest;
        Some(number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_returned_as_they_were_put() {
        let at = |ticks, seq| Position { ticks, seq };
        let all = [
            (at(u64::MAX - 1, 7), 0),
            (at(u64::MAX, 8), 300),
            // Ticks that decrease, and a repeated sequence number.
            (at(5, 8), u32::MAX),
            (at(5, u64::MAX), 1),
        ];
        let mut bytes = Vec::new();
        let mut last = START;
        for (position, state) in all {
            put(&mut bytes, last, position, state);
            last = position;
        }
        assert_eq!(changes(&bytes).collect::<Vec<_>>(), all);
    }
}
