//! Escapes, which keep the bytes of a frame distinct from flags.

use super::cut::equal;
use super::{ESCAPE, ESCAPE_MASK, FLAG, checksum};

/// The result of removing escapes from the bytes between two flags.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unstuffed {
    /// A frame of this many bytes.
    Frame(usize),
    /// The last byte is an escape: the sender aborted the frame.
    Aborted,
    /// The frame does not fit into the buffer.
    TooLong,
}

/// Removes the escapes from the bytes between two flags. Any byte can follow an escape.
///
/// ```
/// use tracewell_wire::rkh::{Unstuffed, unstuff};
///
/// let mut frame = [0; 8];
/// assert_eq!(unstuff(&[1, 0x7D, 0x5E, 2], &mut frame), Unstuffed::Frame(3));
/// assert_eq!(frame[..3], [1, 0x7E, 2]);
/// ```
#[inline]
pub fn unstuff(stuffed: &[u8], out: &mut [u8]) -> Unstuffed {
    let mut length = 0;
    let mut rest = stuffed;
    loop {
        // Escapes are rare, so copy whole runs without escapes instead of single bytes.
        let run = rest.iter().position(|byte| *byte == ESCAPE).unwrap_or(rest.len());
        let (plain, after) = rest.split_at(run);
        let Some(room) = out.get_mut(length..length + run) else { return Unstuffed::TooLong };
        room.copy_from_slice(plain);
        length += run;
        match after {
            [] => return Unstuffed::Frame(length),
            [_escape] => return Unstuffed::Aborted,
            [_escape, turned, after @ ..] => {
                let Some(place) = out.get_mut(length) else { return Unstuffed::TooLong };
                *place = turned ^ ESCAPE_MASK;
                length += 1;
                rest = after;
            }
        }
    }
}

/// Removes the escapes in place; the frame starts at byte 0.
pub fn unstuff_in_place(bytes: &mut [u8]) -> Unstuffed {
    let Some(first) = bytes.iter().position(|byte| *byte == ESCAPE) else {
        return Unstuffed::Frame(bytes.len());
    };
    // Bytes before the first escape are already in place. After the first escape, `to` is always
    // less than `from`.
    let (mut from, mut to) = (first, first);
    while let Some(&byte) = bytes.get(from) {
        let byte = if byte == ESCAPE {
            from += 1;
            let Some(&turned) = bytes.get(from) else { return Unstuffed::Aborted };
            turned ^ ESCAPE_MASK
        } else {
            byte
        };
        bytes[to] = byte;
        (from, to) = (from + 1, to + 1);
    }
    Unstuffed::Frame(to)
}

/// Writes bytes with escapes. Returns the number of bytes written, or `None` if `out` is too short;
/// twice the length of `plain` always suffices.
#[inline]
pub fn stuff(plain: &[u8], out: &mut [u8]) -> Option<usize> {
    let mut length = 0;
    let (words, rest) = plain.as_chunks::<8>();
    for word in words {
        let bits = u64::from_le_bytes(*word);
        // Few bytes need an escape, so most words are copied whole.
        if equal(bits, FLAG) | equal(bits, ESCAPE) == 0 {
            *out.get_mut(length..)?.first_chunk_mut()? = *word;
            length += 8;
        } else {
            length += stuff_bytes(word, out.get_mut(length..)?)?;
        }
    }
    Some(length + stuff_bytes(rest, out.get_mut(length..)?)?)
}

/// Returns the byte that replaces `byte` after an escape, or `None` if `byte` needs no escape.
#[inline]
pub const fn turned(byte: u8) -> Option<u8> {
    match byte {
        FLAG | ESCAPE => Some(byte ^ ESCAPE_MASK),
        _ => None,
    }
}

#[inline]
fn stuff_bytes(plain: &[u8], out: &mut [u8]) -> Option<usize> {
    let mut length = 0;
    for &byte in plain {
        if let Some(turned) = turned(byte) {
            *out.get_mut(length..)?.first_chunk_mut()? = [ESCAPE, turned];
            length += 2;
        } else {
            *out.get_mut(length)? = byte;
            length += 1;
        }
    }
    Some(length)
}

/// Writes a frame in its transmitted form: with escapes, with a checksum if `with_checksum` is
/// true, and with the flag at the end. Returns the number of bytes written, or `None` if `out` is
/// too short.
///
/// ```
/// let mut sent = [0; 8];
/// assert_eq!(tracewell_wire::rkh::encode(&[1, 0x7E], true, &mut sent), Some(5));
/// assert_eq!(sent[..5], [1, 0x7D, 0x5E, 0x81, 0x7E]);
/// ```
#[inline]
pub fn encode(frame: &[u8], with_checksum: bool, out: &mut [u8]) -> Option<usize> {
    let mut length = stuff(frame, out)?;
    if with_checksum {
        // The checksum may itself need an escape.
        let byte = [checksum::of(frame)];
        length += stuff_bytes(&byte, out.get_mut(length..)?)?;
    }
    *out.get_mut(length)? = FLAG;
    Some(length + 1)
}
