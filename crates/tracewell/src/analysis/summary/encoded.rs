//! Encodes the changes of a row in about four bytes each.
//!
//! A change is three numbers: the differences of ticks and sequence numbers from the previous
//! change, and the index of the state in a table. The first change of a block contains its full
//! ticks and sequence number. [`tracewell_wire::number`] defines the encoding of the numbers.

use tracewell_wire::number;

use crate::analysis::stored::Stored;
use crate::analysis::tracks::Position;

/// Maximum length of a change: two numbers of 64 bits and one of 32 bits.
pub(super) const MAX_CHANGE: usize = 2 * number::MAX_NUMBER + 5;

/// Writes a change, as the difference from the previous change at `last`, to the start of `out`,
/// which has room for [`MAX_CHANGE`] bytes. Returns the length of the change.
#[inline]
pub(super) fn put(out: &mut [u8], last: Position, at: Position, state: u32) -> usize {
    // The subtractions wrap, so a change may have fewer ticks than the change before it.
    let (ticks, seq) = (at.ticks.wrapping_sub(last.ticks), at.seq.wrapping_sub(last.seq));
    let state = u64::from(state);
    if ticks >= 1 << 28 || (seq | state) >= 0x80 {
        return put_long(out, [ticks, seq, state]);
    }
    // Most changes fit into eight bytes, which are written at once.
    let group = |number: u32| (ticks & (0x7F << (7 * number))) << number;
    let groups = group(0) | group(1) | group(2) | group(3);
    let more = (63 - (ticks | 1).leading_zeros()) / 7;
    let continues = 0x80_8080 & ((1 << (8 * more)) - 1);
    let change = groups | continues | (seq | state << 8) << (8 * more + 8);
    out[..8].copy_from_slice(&change.to_le_bytes());
    more as usize + 3
}

#[inline(never)]
fn put_long(out: &mut [u8], change: [u64; 3]) -> usize {
    let mut length = 0;
    for value in change {
        let number = number::encode(value);
        out[length..length + number.len()].copy_from_slice(&number);
        length += number.len();
    }
    length
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
        u64::take(&mut self.0)
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
        // Differences and states of each length.
        let lengths = (0..64).map(|shift| (at(1 << shift, u64::MAX << shift), 1 << (shift / 2)));
        let all: Vec<_> = all.into_iter().chain(lengths).collect();
        let mut bytes = vec![0; all.len() * MAX_CHANGE];
        let (mut last, mut length) = (START, 0);
        for (position, state) in all.iter().copied() {
            length += put(&mut bytes[length..], last, position, state);
            last = position;
        }
        bytes.truncate(length);
        assert_eq!(changes(&bytes).collect::<Vec<_>>(), all);
    }
}
