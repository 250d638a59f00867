//! The operations of the fast path that depend on the processor, with one implementation per
//! instruction set.
//!
//! [`Simd`] has two operations: one examines a block of 64 bytes, the other gathers the arguments
//! of a frame. `portable` runs on all processors; `avx2` is faster on processors that support AVX2.
//! [`Simd::dispatch`] runs a whole loop in code that is compiled for the instruction set, so both
//! operations are inlined.

#[cfg(target_arch = "x86_64")]
mod avx2;
mod portable;

use tracewell_wire::rkh::BLOCK;

#[cfg(target_arch = "x86_64")]
pub(super) use avx2::Avx2;
pub(super) use portable::Portable;

use super::plan::{FIXED_SLOTS, Slot};

/// Number of bytes that the fast path may load from any frame, whatever the frame's length. This is
/// enough to load four bytes from any 8-bit offset.
pub(super) const FRAME_WINDOW: usize = 256 + 4;

/// One shuffle can gather arguments from this number of bytes after the header.
const SHUFFLED_BYTES: usize = 16;

/// The operations of one instruction set.
pub(super) trait Simd: Copy {
    /// Examines a block. Returns a mask of the flags, a mask of the escapes, and the sum of all
    /// bytes. A mask has one bit per byte, the lowest for the first byte. For each byte, `sums`
    /// receives `before` plus the sum of the bytes up to and including it. All sums are modulo 256.
    fn look(self, block: &[u8; BLOCK], before: u8, sums: &mut [u8; BLOCK]) -> (u64, u64, u8);

    /// Returns the arguments of a frame, zero-extended; 0 in slots without an argument.
    fn gather(self, gather: &Gather, frame: &[u8; FRAME_WINDOW]) -> [u64; FIXED_SLOTS];

    /// Runs a task in code compiled for these instructions.
    fn dispatch<T: Task>(self, task: T) -> T::Output;
}

/// A task for [`Simd::dispatch`]. Implementations are `#[inline(always)]`, because only inlined
/// code is compiled for the instruction set.
pub(super) trait Task {
    /// The result of the task.
    type Output;

    /// Runs the task and returns its result.
    fn run(self) -> Self::Output;
}

/// The positions of a frame's arguments, prepared for each instruction set.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(
    not(target_arch = "x86_64"),
    expect(dead_code, reason = "the portable code uses offsets and masks only")
)]
pub(super) struct Gather {
    /// For each byte of the row's words, the index of its source byte, counted from the end of the
    /// header; 0x80 for a zero byte.
    shuffle: [u8; 8 * FIXED_SLOTS],
    /// True if `shuffle` covers all arguments.
    near: bool,
    /// Length of the header in bytes.
    header: u8,
    /// Offsets from the beginning of the frame.
    offsets: [u8; FIXED_SLOTS],
    masks: [u32; FIXED_SLOTS],
}

impl Gather {
    /// The value for frames that take the slow path. It gathers no arguments.
    pub(super) const NOTHING: Self = Self {
        shuffle: [0x80; 8 * FIXED_SLOTS],
        near: false,
        header: 0,
        offsets: [0; FIXED_SLOTS],
        masks: [0; FIXED_SLOTS],
    };

    /// Prepares the positions of arguments that occupy `bytes` bytes after a header of `header`
    /// bytes.
    pub(super) fn new(header: u8, bytes: usize, slots: &[Slot; FIXED_SLOTS]) -> Self {
        // For a shuffle of bytes (PSHUFB), the index 0x80 means a zero byte.
        let mut shuffle = [0x80; 8 * FIXED_SLOTS];
        for (word, slot) in shuffle.chunks_exact_mut(8).zip(slots) {
            let bytes = slot.mask.count_ones() / 8;
            word.iter_mut().zip(slot.offset..).take(bytes as usize).for_each(|(to, at)| *to = at);
        }
        Self {
            shuffle,
            near: bytes <= SHUFFLED_BYTES,
            header,
            offsets: slots.map(|slot| header + slot.offset),
            masks: slots.map(|slot| slot.mask),
        }
    }
}

/// Returns four bytes of a frame as a little-endian number.
#[inline(always)]
pub(super) fn load(frame: &[u8; FRAME_WINDOW], at: u8) -> u32 {
    let at = usize::from(at);
    u32::from_le_bytes([frame[at], frame[at + 1], frame[at + 2], frame[at + 3]])
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A reference implementation of [`Simd::look`] that examines one byte at a time.
    fn by_bytes(block: &[u8; BLOCK], before: u8) -> (u64, u64, u8, [u8; BLOCK]) {
        let mask = |byte| {
            let equal = block.iter().enumerate().map(|(index, b)| u64::from(*b == byte) << index);
            equal.sum()
        };
        let mut sums = [0; BLOCK];
        let mut total = before;
        for (sum, byte) in sums.iter_mut().zip(block) {
            total = total.wrapping_add(*byte);
            *sum = total;
        }
        (mask(0x7E), mask(0x7D), total.wrapping_sub(before), sums)
    }

    fn look(simd: impl Simd, block: &[u8; BLOCK], before: u8) -> (u64, u64, u8, [u8; BLOCK]) {
        let mut sums = [0; BLOCK];
        let (flags, escapes, total) = simd.look(block, before, &mut sums);
        (flags, escapes, total, sums)
    }

    proptest! {
        #[test]
        fn every_instruction_set_sees_the_same(
            bytes in prop::collection::vec(
                prop_oneof![4 => any::<u8>(), 1 => Just(0x7E), 1 => Just(0x7D)], BLOCK),
            before in any::<u8>(),
            frame in prop::collection::vec(any::<u8>(), FRAME_WINDOW),
            sizes in prop::collection::vec(0..=2_u32, FIXED_SLOTS),
            header in 2..7_u8,
        ) {
            let block: [u8; BLOCK] = bytes.try_into().expect("64 bytes");
            let frame: [u8; FRAME_WINDOW] = frame.try_into().expect("260 bytes");
            let (mut slots, mut offset) = ([Slot::default(); FIXED_SLOTS], 0);
            for (slot, size) in slots.iter_mut().zip(sizes) {
                let bytes = 1 << size;
                *slot = Slot { offset, mask: u32::MAX >> (32 - 8 * bytes) };
                offset += bytes;
            }
            let gather = Gather::new(header, usize::from(offset), &slots);
            let expected = by_bytes(&block, before);
            let arguments = slots.map(|slot| {
                let start = usize::from(header + slot.offset);
                let bytes = &frame[start..start + slot.mask.count_ones() as usize / 8];
                bytes.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte))
            });
            prop_assert_eq!(look(Portable, &block, before), expected);
            prop_assert_eq!(Portable.gather(&gather, &frame), arguments);
            #[cfg(target_arch = "x86_64")]
            if let Some(avx2) = Avx2::detect() {
                prop_assert_eq!(look(avx2, &block, before), expected);
                prop_assert_eq!(avx2.gather(&gather, &frame), arguments);
            }
        }
    }
}
