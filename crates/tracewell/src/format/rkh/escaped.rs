//! Frames with escapes, for the loop over usual frames: one in some dozens has one, often enough that the
//! long way round would be felt. Frames that are too long to be usual do not belong here.

use tracewell_wire::rkh::{Unstuffed, checksum, unstuff_in_place};

use super::usual::LOOKED_AT;

/// The most bytes of a frame, its escapes among them: more than a usual frame has, nearly always.
const MOST: usize = 64;

/// A frame without its escapes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Plain {
    pub(super) length: usize,
    /// The sum of its bytes: 0 if its checksum is right.
    pub(super) sum: u8,
}

/// Copies a frame of `length` bytes without its escapes; `None` where it wants a closer look. What
/// stands behind it in `scratch` means nothing.
#[cold]
#[inline(never)]
pub(super) fn plain(
    frame: Option<&[u8; LOOKED_AT]>,
    length: usize,
    scratch: &mut [u8; LOOKED_AT],
) -> Option<Plain> {
    let stuffed: &[u8; MOST] = frame?.first_chunk()?;
    let room = scratch.first_chunk_mut()?;
    *room = *stuffed;
    let stuffed = room.get_mut(..length)?;
    let Unstuffed::Frame(length) = unstuff_in_place(stuffed) else { return None };
    let sum = checksum::sum(stuffed.get(..length)?);
    Some(Plain { length, sum })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(stuffed: &[u8]) -> Option<(Plain, Vec<u8>)> {
        let (mut frame, mut scratch) = ([0; LOOKED_AT], [0; LOOKED_AT]);
        frame[..stuffed.len()].copy_from_slice(stuffed);
        let plain = plain(Some(&frame), stuffed.len(), &mut scratch)?;
        Some((plain, scratch[..plain.length].to_vec()))
    }

    #[test]
    fn escapes_are_taken_out_before_the_sum() {
        let expected = (Plain { length: 4, sum: 0xFE }, vec![1, 0x7E, 0x7D, 2]);
        assert_eq!(read(&[1, 0x7D, 0x5E, 0x7D, 0x5D, 2]), Some(expected));
    }

    #[test]
    fn what_was_given_up_or_is_long_wants_a_closer_look() {
        assert_eq!(read(&[1, 2, 0x7D]), None);
        assert_eq!(read(&[0x7D; MOST]).map(|(plain, _)| plain.length), Some(MOST / 2));
        assert_eq!(read(&[0x7D; MOST + 1]), None);
    }
}
