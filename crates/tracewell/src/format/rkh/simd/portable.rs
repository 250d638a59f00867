//! The operations for all processors: eight bytes at a time, in ordinary registers.

use tracewell_wire::rkh::{BLOCK, masks};

use super::{FRAME_WINDOW, Gather, Simd, Task, load};
use crate::format::rkh::plan::FIXED_SLOTS;

/// The instructions that every processor has.
#[derive(Clone, Copy, Debug)]
pub(in crate::format::rkh) struct Portable;

impl Simd for Portable {
    #[inline(always)]
    fn look(self, block: &[u8; BLOCK], before: u8, sums: &mut [u8; BLOCK]) -> (u64, u64, u8) {
        let (flags, escapes) = masks(block);
        let (words, _) = block.as_chunks::<8>();
        let (sums, _) = sums.as_chunks_mut::<8>();
        let mut total = before;
        for (sums, word) in sums.iter_mut().zip(words) {
            // The last sum of one word is the start value of the next word.
            *sums = prefix_sums(u64::from_le_bytes(*word), total);
            total = sums[7];
        }
        (flags, escapes, total.wrapping_sub(before))
    }

    #[inline(always)]
    fn gather(self, gather: &Gather, frame: &[u8; FRAME_WINDOW]) -> [u64; FIXED_SLOTS] {
        let mut arguments = [0; FIXED_SLOTS];
        for (slot, argument) in arguments.iter_mut().enumerate() {
            *argument = u64::from(load(frame, gather.offsets[slot]) & gather.masks[slot]);
        }
        arguments
    }

    #[inline(always)]
    fn dispatch<T: Task>(self, task: T) -> T::Output {
        task.run()
    }
}

/// Returns, for each byte of the word, the sum of the bytes up to and including it, plus `before`,
/// modulo 256.
#[inline(always)]
const fn prefix_sums(word: u64, before: u8) -> [u8; 8] {
    const EVEN: u64 = 0x00FF_00FF_00FF_00FF;
    const ONES: u64 = 0x0001_0001_0001_0001;
    // Multiplying by ONES adds up all lower lanes. A lane has 16 bits and holds the sum of at most
    // five bytes, so it never carries into the next lane.
    let even = (word & EVEN).wrapping_mul(ONES) + before as u64 * ONES;
    let odd = ((word >> 8) & EVEN).wrapping_mul(ONES);
    // The sum up to byte 2n consists of the even bytes up to 2n and the odd bytes of the lower
    // lanes.
    let up_to_even = even.wrapping_add(odd << 16) & EVEN;
    let up_to_odd = even.wrapping_add(odd) & EVEN;
    (up_to_even | up_to_odd << 8).to_le_bytes()
}
