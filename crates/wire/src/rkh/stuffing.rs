//! Escapes: none of a frame's bytes may look like a flag.

use super::cut::equal;
use super::{ESCAPE, ESCAPE_MASK, FLAG, checksum};

/// What became of the bytes between two flags.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unstuffed {
    /// A frame of so many bytes.
    Frame(usize),
    /// The last byte is an escape: the sender gave the frame up.
    Aborted,
    /// It does not fit the room given.
    TooLong,
}

/// Takes the escapes out of the bytes between two flags. Any byte may follow an escape.
#[inline]
pub fn unstuff(stuffed: &[u8], out: &mut [u8]) -> Unstuffed {
    let mut length = 0;
    let mut rest = stuffed;
    loop {
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

/// Takes the escapes out where the bytes lie; the frame begins where they began.
pub fn unstuff_in_place(bytes: &mut [u8]) -> Unstuffed {
    let Some(first) = bytes.iter().position(|byte| *byte == ESCAPE) else {
        return Unstuffed::Frame(bytes.len());
    };
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

/// Writes bytes with escapes; how many were written, or `None` where `out` is too short. Twice as
/// many bytes always fit.
#[inline]
pub fn stuff(plain: &[u8], out: &mut [u8]) -> Option<usize> {
    let mut length = 0;
    let (words, rest) = plain.as_chunks::<8>();
    for word in words {
        let bits = u64::from_le_bytes(*word);
        if equal(bits, FLAG) | equal(bits, ESCAPE) == 0 {
            *out.get_mut(length..)?.first_chunk_mut()? = *word;
            length += 8;
        } else {
            length += stuff_bytes(word, out.get_mut(length..)?)?;
        }
    }
    Some(length + stuff_bytes(rest, out.get_mut(length..)?)?)
}

/// What stands for a byte behind an escape, for the two that may not stand for themselves.
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

/// Writes a frame as it goes over the link: escapes, the checksum if there is one, the flag. How
/// many bytes were written, or `None` where `out` is too short.
#[inline]
pub fn encode(frame: &[u8], with_checksum: bool, out: &mut [u8]) -> Option<usize> {
    let mut length = stuff(frame, out)?;
    if with_checksum {
        let byte = [checksum::of(frame)];
        length += stuff_bytes(&byte, out.get_mut(length..)?)?;
    }
    *out.get_mut(length)? = FLAG;
    Some(length + 1)
}
