//! The operations for processors with AVX2. They examine 32 bytes at a time, and gather four
//! arguments with one shuffle.
//!
//! This module contains unsafe code because it is measurably faster: without these instructions,
//! decoding runs at less than half the speed (rows "RKH" of `bench`). The only unsafe operation is
//! to call code that was compiled for processors with AVX2. A value of [`Avx2`] proves that the
//! processor has AVX2.
#![allow(unsafe_code)]

use std::arch::x86_64::{
    __m128i, __m256i, _mm_set_epi64x, _mm_set1_epi8, _mm256_add_epi8, _mm256_broadcastsi128_si256,
    _mm256_cmpeq_epi8, _mm256_extract_epi64, _mm256_movemask_epi8, _mm256_sad_epu8,
    _mm256_set_epi64x, _mm256_set_m128i, _mm256_set1_epi8, _mm256_setzero_si256,
    _mm256_shuffle_epi8, _mm256_slli_si256,
};

use tracewell_wire::rkh::{BLOCK, ESCAPE, FLAG};

use super::{FRAME_WINDOW, Gather, Portable, SHUFFLED_BYTES, Simd, Task};
use crate::format::rkh::plan::FIXED_SLOTS;

/// AVX2, BMI1, BMI2 and POPCNT. A value of this type exists only if the processor has all four
/// extensions.
#[derive(Clone, Copy, Debug)]
pub(in crate::format::rkh) struct Avx2(());

impl Avx2 {
    /// Returns `Some` if the processor has all four extensions.
    pub(in crate::format::rkh) fn detect() -> Option<Self> {
        let has_all = is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("bmi1")
            && is_x86_feature_detected!("bmi2")
            && is_x86_feature_detected!("popcnt");
        has_all.then_some(Self(()))
    }
}

impl Simd for Avx2 {
    #[inline(always)]
    fn look(self, block: &[u8; BLOCK], before: u8, sums: &mut [u8; BLOCK]) -> (u64, u64, u8) {
        // SAFETY: `self` exists only if `detect` has found all features.
        unsafe { look(block, before, sums) }
    }

    #[inline(always)]
    fn gather(self, gather: &Gather, frame: &[u8; FRAME_WINDOW]) -> [u64; FIXED_SLOTS] {
        if gather.near {
            // SAFETY: as above.
            unsafe { shuffled(gather, frame) }
        } else {
            Portable.gather(gather, frame)
        }
    }

    #[inline(always)]
    fn dispatch<T: Task>(self, task: T) -> T::Output {
        // SAFETY: as above.
        unsafe { run(task) }
    }
}

#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
fn run<T: Task>(task: T) -> T::Output {
    task.run()
}

#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
#[inline]
fn look(block: &[u8; BLOCK], before: u8, out: &mut [u8; BLOCK]) -> (u64, u64, u8) {
    let (mut flags, mut escapes, mut total) = (0, 0, before);
    let (halves, _) = block.as_chunks::<32>();
    let (out, _) = out.as_chunks_mut::<32>();
    for (half, (bytes, out)) in halves.iter().zip(out).enumerate() {
        let bytes = vector(bytes);
        flags |= mask(bytes, FLAG) << (32 * half);
        escapes |= mask(bytes, ESCAPE) << (32 * half);
        // Compute the total of these 32 bytes from sums of eight bytes. The next 32 bytes then do
        // not have to wait for the prefix sums.
        let totals = words(_mm256_sad_epu8(bytes, _mm256_setzero_si256()));
        let [a, b, c, d] = totals.map(|total| total as u8);
        let middle = total.wrapping_add(a).wrapping_add(b);
        // The prefix sums of the upper 16 bytes start from zero, so the sum of the lower 16 bytes
        // must be added.
        let before = _mm256_set_m128i(
            _mm_set1_epi8(middle.cast_signed()),
            _mm_set1_epi8(total.cast_signed()),
        );
        let sums = words(_mm256_add_epi8(prefix_sums(bytes), before));
        out.copy_from_slice(sums.map(u64::to_le_bytes).as_flattened());
        total = middle.wrapping_add(c).wrapping_add(d);
    }
    (flags, escapes, total.wrapping_sub(before))
}

/// Returns a mask of the bytes that equal `byte`.
#[target_feature(enable = "avx2")]
#[inline]
fn mask(bytes: __m256i, byte: u8) -> u64 {
    let equal = _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8(byte.cast_signed()));
    u64::from(_mm256_movemask_epi8(equal).cast_unsigned())
}

/// Returns, for each byte, the sum of the bytes up to and including it. Each half of 16 bytes is
/// summed separately.
#[target_feature(enable = "avx2")]
#[inline]
fn prefix_sums(bytes: __m256i) -> __m256i {
    // Each addition adds a copy that is shifted by 1, 2, 4 or 8 bytes. Afterwards, each byte holds
    // the sum of all bytes up to and including it.
    let two = _mm256_add_epi8(bytes, _mm256_slli_si256::<1>(bytes));
    let four = _mm256_add_epi8(two, _mm256_slli_si256::<2>(two));
    let eight = _mm256_add_epi8(four, _mm256_slli_si256::<4>(four));
    _mm256_add_epi8(eight, _mm256_slli_si256::<8>(eight))
}

/// Returns arguments that are in the 16 bytes after the header.
#[target_feature(enable = "avx2")]
#[inline]
fn shuffled(gather: &Gather, frame: &[u8; FRAME_WINDOW]) -> [u64; FIXED_SLOTS] {
    // No header is longer than 9 bytes, so `% 16` does not change the value. It lets the compiler
    // omit a bounds check.
    let header = usize::from(gather.header) % 16;
    let after = frame.get(header..).and_then(|bytes| bytes.first_chunk::<SHUFFLED_BYTES>());
    let Some(bytes) = after else { return [0; FIXED_SLOTS] };
    let bytes = _mm256_broadcastsi128_si256(half_vector(bytes));
    let (shuffles, _) = gather.shuffle.as_chunks::<32>();
    let mut out = [0; FIXED_SLOTS];
    let (halves, _) = out.as_chunks_mut::<4>();
    for (half, shuffle) in halves.iter_mut().zip(shuffles) {
        *half = words(_mm256_shuffle_epi8(bytes, vector(shuffle)));
    }
    out
}

#[target_feature(enable = "avx2")]
#[inline]
fn half_vector(bytes: &[u8; 16]) -> __m128i {
    let (words, _) = bytes.as_chunks::<8>();
    let [a, b] = [words[0], words[1]].map(i64::from_le_bytes);
    _mm_set_epi64x(b, a)
}

#[target_feature(enable = "avx2")]
#[inline]
fn vector(bytes: &[u8; 32]) -> __m256i {
    let (words, _) = bytes.as_chunks::<8>();
    let [a, b, c, d] = [words[0], words[1], words[2], words[3]].map(i64::from_le_bytes);
    _mm256_set_epi64x(d, c, b, a)
}

#[target_feature(enable = "avx2")]
#[inline]
fn words(vector: __m256i) -> [u64; 4] {
    [
        _mm256_extract_epi64::<0>(vector),
        _mm256_extract_epi64::<1>(vector),
        _mm256_extract_epi64::<2>(vector),
        _mm256_extract_epi64::<3>(vector),
    ]
    .map(i64::cast_unsigned)
}
