//! Encodes the changes of a row in about five bytes each.
//!
//! A change is three numbers: the differences of ticks and sequence numbers from the previous
//! change, and the index of the state in a table. The first change of a block contains its full
//! ticks and sequence number. A change has one of two forms:
//!
//! | form | bytes |
//! |---|---|
//! | short | a little-endian number of one to four bytes: four times the ticks, plus the number of its further bytes; one byte with the sequence number, which is not [`LONG`]; one byte with the state |
//! | long | one byte 0; one byte [`LONG`]; ticks, sequence number and state as in [`tracewell_wire::number`] |
//!
//! A short change is read and written as one word, so its length needs no branch.

use tracewell_wire::number;

use crate::analysis::stored::Stored;
use crate::analysis::tracks::Position;

/// Maximum length of a change: two bytes, two numbers of 64 bits and one of 32 bits.
pub(super) const MAX_CHANGE: usize = 2 + 2 * number::MAX_NUMBER + 5;

/// The byte after the ticks of a long change.
const LONG: u64 = 0xFF;

/// The bits of the ticks in a word, by the number of further bytes.
const TICKS: [u64; 4] = [0xFC, 0xFFFC, 0xFF_FFFC, 0xFFFF_FFFC];

/// Writes a change, as the difference from the previous change at `last`, to the start of `out`,
/// which has room for [`MAX_CHANGE`] bytes. Returns the length of the change.
#[inline]
pub(super) fn put(out: &mut [u8], last: Position, at: Position, state: u32) -> usize {
    // The subtractions wrap, so a change may have fewer ticks than the change before it.
    let (ticks, seq) = (at.ticks.wrapping_sub(last.ticks), at.seq.wrapping_sub(last.seq));
    let state = u64::from(state);
    if ticks >= 1 << 30 || seq >= LONG || state > 0xFF {
        return put_long(out, [ticks, seq, state]);
    }
    let further = (63 - (ticks << 2 | 3).leading_zeros()) / 8;
    let bits = 8 * further + 8;
    let change = ticks << 2 | u64::from(further) | (seq | state << 8) << bits;
    out[..8].copy_from_slice(&change.to_le_bytes());
    further as usize + 3
}

#[inline(never)]
fn put_long(out: &mut [u8], change: [u64; 3]) -> usize {
    (out[0], out[1]) = (0, LONG as u8);
    let mut length = 2;
    for value in change {
        let number = number::encode(value);
        out[length..length + number.len()].copy_from_slice(&number);
        length += number.len();
    }
    length
}

/// Returns the changes of a block, each with its position and the number of its state.
pub(super) fn changes(bytes: &[u8]) -> impl Iterator<Item = (Position, u32)> + '_ {
    let (mut rest, mut last) = (bytes, START);
    std::iter::from_fn(move || {
        let (ticks, seq, state) = take(&mut rest)?;
        last.ticks = last.ticks.wrapping_add(ticks);
        last.seq = last.seq.wrapping_add(seq);
        Some((last, state))
    })
}

/// Takes a change from the start of the bytes. Returns `None` if they contain no whole change.
#[inline(always)]
fn take(bytes: &mut &[u8]) -> Option<(u64, u64, u32)> {
    let word = if let Some(word) = bytes.first_chunk() {
        u64::from_le_bytes(*word)
    } else {
        let mut word = [0; 8];
        word[..bytes.len()].copy_from_slice(bytes);
        u64::from_le_bytes(word)
    };
    let further = (word & 3) as usize;
    let (ticks, rest) = ((word & TICKS[further]) >> 2, word >> (8 * further + 8));
    let (seq, state) = (rest & 0xFF, rest >> 8 & 0xFF);
    if seq == LONG {
        *bytes = bytes.get(2..)?;
        return Some((u64::take(bytes)?, u64::take(bytes)?, u32::take(bytes)?));
    }
    *bytes = bytes.get(further + 3..)?;
    Some((ticks, seq, state as u32))
}

/// The first change of a block is stored relative to this position.
pub(super) const START: Position = Position { ticks: 0, seq: 0 };

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

    /// Numbers on both sides of each limit of the short form.
    #[test]
    fn both_forms_return_the_numbers_that_were_put() {
        let bits = [6, 14, 22, 30];
        let ticks = bits.into_iter().flat_map(|bits| [(1_u64 << bits) - 1, 1 << bits]);
        for ticks in [0, 1].into_iter().chain(ticks) {
            for (seq, state) in [(0, 0), (254, 255), (255, 0), (256, 0), (0, 256), (255, 256)] {
                let (mut bytes, at) = (vec![0; 2 * MAX_CHANGE], Position { ticks, seq });
                let length = put(&mut bytes, START, at, state);
                let next = Position { ticks: ticks + 1, seq: seq + 1 };
                let end = length + put(&mut bytes[length..], at, next, 7);
                let is_short = ticks < 1 << 30 && seq < 255 && state < 256;
                assert_eq!(bytes[..2] != [0, 0xFF], is_short, "{ticks} {seq} {state}");
                let read: Vec<_> = changes(&bytes[..end]).collect();
                assert_eq!(read, [(at, state), (next, 7)]);
                // Without its last byte, the second change is missing.
                assert_eq!(changes(&bytes[..end - 1]).count(), 1);
            }
        }
    }
}
