//! Removes escapes on the fast path. One frame in a few dozen contains an escape. If the slow path
//! decoded these frames, the overall speed would be measurably lower.

use tracewell_wire::rkh::{Unstuffed, checksum, unstuff_in_place};

use super::simd::FRAME_WINDOW;

/// Maximum length of a frame, escapes included. Nearly all frames of the fast path are shorter.
const MAX_LEN: usize = 64;

/// A frame without its escapes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Plain {
    pub(super) length: usize,
    /// Sum of the bytes modulo 256: 0 if the checksum is valid.
    pub(super) sum: u8,
}

/// Copies a frame of `length` bytes to `scratch` without its escapes. Bytes after the frame have no
/// meaning.
///
/// Returns `None` if the frame is too long or aborted. The slow path decodes such frames.
#[cold]
#[inline(never)]
pub(super) fn plain(
    frame: Option<&[u8; FRAME_WINDOW]>,
    length: usize,
    scratch: &mut [u8; FRAME_WINDOW],
) -> Option<Plain> {
    let stuffed: &[u8; MAX_LEN] = frame?.first_chunk()?;
    // The compiler inlines a copy of fixed length.
    let copy = scratch.first_chunk_mut()?;
    *copy = *stuffed;
    let stuffed = copy.get_mut(..length)?;
    let Unstuffed::Frame(length) = unstuff_in_place(stuffed) else { return None };
    let sum = checksum::sum(stuffed.get(..length)?);
    Some(Plain { length, sum })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(stuffed: &[u8]) -> Option<(Plain, Vec<u8>)> {
        let (mut frame, mut scratch) = ([0; FRAME_WINDOW], [0; FRAME_WINDOW]);
        frame[..stuffed.len()].copy_from_slice(stuffed);
        let plain = plain(Some(&frame), stuffed.len(), &mut scratch)?;
        Some((plain, scratch[..plain.length].to_vec()))
    }

    #[test]
    fn escapes_are_removed_before_the_sum() {
        let expected = (Plain { length: 4, sum: 0xFE }, vec![1, 0x7E, 0x7D, 2]);
        assert_eq!(read(&[1, 0x7D, 0x5E, 0x7D, 0x5D, 2]), Some(expected));
    }

    #[test]
    fn aborted_and_long_frames_take_the_slow_path() {
        assert_eq!(read(&[1, 2, 0x7D]), None);
        assert_eq!(read(&[0x7D; MAX_LEN]).map(|(plain, _)| plain.length), Some(MAX_LEN / 2));
        assert_eq!(read(&[0x7D; MAX_LEN + 1]), None);
    }
}
