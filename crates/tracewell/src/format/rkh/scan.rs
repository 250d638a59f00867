//! Finds the ends of frames and the sums of their bytes, in sections of 1024 bytes.
//!
//! The scan first lists all flags of a section, eight entries per step, and then returns the frames
//! one by one. The processor can predict both loops, because no branch depends on the number of
//! flags in a block. The sum of a frame is the difference of two prefix sums, so no loop over its
//! bytes is necessary.
//!
//! `tracewell_wire::rkh::Cutter` returns the same frames with less memory.

use tracewell_wire::rkh::{BLOCK, Cut, FLAG};

use super::simd::Simd;

/// Number of blocks of 64 bytes per section.
const BLOCKS: usize = 16;

/// Number of list entries written in one step.
const AT_ONCE: usize = 8;

/// Iterates over the frames in a slice that starts with the first byte of a frame.
pub(super) struct Scan<'a, S> {
    simd: S,
    bytes: &'a [u8],
    cursor: Cursor,
    /// Start and end of the section.
    range: (usize, usize),
    /// Sum of all bytes before the end of the section.
    total: u8,
    /// Positions of the flags in the section. The first `count` entries are valid.
    flags: [u16; BLOCKS * BLOCK + AT_ONCE],
    count: usize,
    /// For each byte of the section, the sum of all bytes up to and including it.
    sums: [[u8; BLOCK]; BLOCKS],
    escapes: [u64; BLOCKS],
    /// Position of the first escape at or after the cursor, or the end of the section if there is
    /// no such escape.
    escape: usize,
}

/// The progress of a scan. A loop over many frames keeps a copy of the cursor in registers.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Cursor {
    /// First byte after the flag of the last frame.
    start: usize,
    /// Sum of all bytes before `start`.
    sum: u8,
    /// Number of frames of the section that have been returned.
    next: usize,
}

/// The position and the sum of a frame.
#[derive(Clone, Copy, Debug)]
pub(super) struct ScannedFrame {
    pub(super) cut: Cut,
    /// Sum of the bytes, escapes included: 0 if the frame has a valid checksum and no escape.
    pub(super) sum: u8,
}

impl<'a, S: Simd> Scan<'a, S> {
    pub(super) fn new(bytes: &'a [u8], simd: S) -> Self {
        Self {
            simd,
            bytes,
            cursor: Cursor::default(),
            range: (0, 0),
            total: 0,
            flags: [0; BLOCKS * BLOCK + AT_ONCE],
            count: 0,
            sums: [[0; BLOCK]; BLOCKS],
            escapes: [0; BLOCKS],
            escape: 0,
        }
    }

    pub(super) fn simd(&self) -> S {
        self.simd
    }

    /// Returns the index of the first byte after the last flag found.
    pub(super) const fn rest(&self) -> usize {
        self.cursor.start
    }

    pub(super) const fn cursor(&self) -> Cursor {
        self.cursor
    }

    /// Continues from the cursor that [`Self::frame_at`] returned last.
    pub(super) const fn resume_at(&mut self, cursor: Cursor) {
        self.cursor = cursor;
    }

    /// Skips to the byte after the next flag. Returns false if there is no further flag.
    pub(super) fn skip_to_flag(&mut self) -> bool {
        self.next().is_some()
    }

    /// Returns the next frame, which may be empty; `None` after the last flag.
    #[inline]
    pub(super) fn next(&mut self) -> Option<ScannedFrame> {
        let (found, cursor) = self.frame_at(self.cursor)?;
        self.cursor = cursor;
        Some(found)
    }

    /// Returns the frame at a cursor, and the cursor after it. The cursor must be the latest one.
    #[inline(always)]
    pub(super) fn frame_at(&mut self, mut cursor: Cursor) -> Option<(ScannedFrame, Cursor)> {
        while cursor.next >= self.count {
            if self.range.1 >= self.bytes.len() {
                return None;
            }
            self.advance(cursor.start);
            cursor.next = 0;
        }
        // The remainder operations do not change the values, but let the compiler omit two bounds
        // checks.
        let flag = usize::from(self.flags[cursor.next % (BLOCKS * BLOCK)]) % (BLOCKS * BLOCK);
        let through_flag = self.sums.as_flattened()[flag];
        let end = self.range.0 + flag;
        // For most frames, the cached position of the first escape is after the frame. Such a frame
        // has no escape, and its bytes need not be examined.
        let cut = Cut { start: cursor.start, end, escaped: self.escape < end };
        // The difference of two prefix sums includes the flag, which is not part of the frame.
        let sum = through_flag.wrapping_sub(FLAG).wrapping_sub(cursor.sum);
        if cut.escaped {
            self.find_escape(end + 1);
        }
        let cursor = Cursor { start: end + 1, sum: through_flag, next: cursor.next + 1 };
        Some((ScannedFrame { cut, sum }, cursor))
    }

    /// Reads the next section. `start` is the first byte after the last frame.
    #[inline(always)]
    fn advance(&mut self, start: usize) {
        let first = self.range.1;
        let rest = self.bytes.get(first..).unwrap_or_default();
        let (mut count, mut total, mut length) = (0, self.total, 0);
        let blocks = self.sums.iter_mut().zip(&mut self.escapes);
        for (index, (sums, escapes)) in blocks.enumerate() {
            // The last section of a chunk is rarely full. The unused blocks of this section contain
            // no escapes.
            let Some(left) = rest.get(length..).filter(|left| !left.is_empty()) else {
                *escapes = 0;
                continue;
            };
            let padded;
            let block = match left.first_chunk() {
                Some(block) => block,
                None => {
                    padded = last_block(left);
                    &padded
                }
            };
            let (flags, found, sum) = self.simd.look(block, total, sums);
            *escapes = found;
            list(flags, index * BLOCK, &mut self.flags, &mut count);
            total = total.wrapping_add(sum);
            length += left.len().min(BLOCK);
        }
        (self.range, self.total) = ((first, first + length), total);
        self.count = count;
        // An escape before this section has not been passed yet, so keep it.
        if self.escape >= first {
            self.find_escape(start);
        }
    }

    /// Finds the first escape of the section at or after `start`.
    #[cold]
    #[inline(never)]
    fn find_escape(&mut self, start: usize) {
        let (first, end) = self.range;
        let from = start.max(first) - first;
        self.escape = end;
        for (index, escapes) in self.escapes.iter().enumerate().skip(from / BLOCK) {
            // Escapes of frames before `start` are no longer relevant.
            let before = if index == from / BLOCK { (1 << (from % BLOCK)) - 1 } else { 0 };
            let escapes = escapes & !before;
            if escapes != 0 {
                self.escape = first + index * BLOCK + escapes.trailing_zeros() as usize;
                return;
            }
        }
    }
}

/// Appends the flags of a block to the list.
#[inline(always)]
fn list(
    mut flags: u64,
    block: usize,
    list: &mut [u16; BLOCKS * BLOCK + AT_ONCE],
    count: &mut usize,
) {
    let end = *count + flags.count_ones() as usize;
    while *count < end {
        // This always writes eight entries. The next block overwrites the entries after the last
        // flag.
        let entries = list.get_mut(*count..).and_then(|entries| entries.first_chunk_mut());
        let Some(entries): Option<&mut [u16; AT_ONCE]> = entries else { break };
        for entry in entries {
            *entry = (block as u32 + flags.trailing_zeros()) as u16;
            flags &= flags.wrapping_sub(1);
        }
        *count += AT_ONCE;
    }
    *count = end;
}

/// Returns the last bytes, padded with zeros. A zero byte is neither a flag nor an escape, and does
/// not change a sum.
#[cold]
fn last_block(left: &[u8]) -> [u8; BLOCK] {
    let mut block = [0; BLOCK];
    for (to, from) in block.iter_mut().zip(left) {
        *to = *from;
    }
    block
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use tracewell_wire::rkh::{Cutter, checksum};

    use super::*;
    use crate::format::rkh::simd::Portable;

    fn frames(bytes: &[u8], simd: impl Simd) -> (Vec<Cut>, usize) {
        let mut scan = Scan::new(bytes, simd);
        let mut cuts = Vec::new();
        while let Some(ScannedFrame { cut, sum }) = scan.next() {
            assert_eq!(sum, checksum::sum(&bytes[cut.start..cut.end]));
            if cut.start < cut.end {
                cuts.push(cut);
            }
        }
        (cuts, scan.rest())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn frames_and_sums_agree_with_the_cutter(
            bytes in prop::collection::vec(prop_oneof![
                8 => any::<u8>(), 1 => Just(0x7E), 1 => Just(0x7D)], 0..3000),
            dense in prop::collection::vec(prop_oneof![Just(0x7E), Just(0x7D), Just(1)], 0..1500),
        ) {
            let bytes = [bytes, dense].concat();
            let mut cutter = Cutter::new(&bytes);
            let cuts: Vec<_> = cutter.by_ref().collect();
            let expected = (cuts, cutter.rest());
            prop_assert_eq!(&frames(&bytes, Portable), &expected);
            #[cfg(target_arch = "x86_64")]
            if let Some(simd) = crate::format::rkh::simd::Avx2::detect() {
                prop_assert_eq!(&frames(&bytes, simd), &expected);
            }
        }
    }
}
