//! The pace of processors with AVX2: 32 bytes at a time, and the arguments of a record in four
//! instructions.
//!
//! The module holds `unsafe` code because of a measurement: made for every processor, the loop reads a
//! stream at less than half the speed (the rows "RKH" of `bench`). What is unsafe is calling code
//! made for a processor; a value of [`Avx2`] is the proof that this is one.
#![allow(unsafe_code)]

use std::arch::x86_64::{
    __m128i, __m256i, _mm_set_epi64x, _mm_set1_epi8, _mm256_add_epi8, _mm256_broadcastsi128_si256,
    _mm256_cmpeq_epi8, _mm256_extract_epi64, _mm256_movemask_epi8, _mm256_sad_epu8,
    _mm256_set_epi64x, _mm256_set_m128i, _mm256_set1_epi8, _mm256_setzero_si256,
    _mm256_shuffle_epi8, _mm256_slli_si256,
};

use tracewell_wire::rkh::{BLOCK, ESCAPE, FLAG};

use super::frames::Piece;
use super::plan::FIXED_SLOTS;
use super::scan::Scan;
use super::usual::{self, LOOKED_AT, Next, Pace, Usual};

/// The pace; exists only where the processor has what the functions below are made for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Avx2(());

impl Avx2 {
    pub(super) fn detect() -> Option<Self> {
        let there = is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("bmi1")
            && is_x86_feature_detected!("bmi2")
            && is_x86_feature_detected!("popcnt");
        there.then_some(Self(()))
    }
}

impl Pace for Avx2 {
    #[inline(always)]
    fn look(&self, block: &[u8; BLOCK], before: u8, sums: &mut [u8; BLOCK]) -> (u64, u64, u8) {
        // SAFETY: there is a value of this type, so `detect` has found all features.
        unsafe { look(block, before, sums) }
    }

    #[inline(always)]
    fn arguments(&self, usual: &Usual, frame: &[u8; LOOKED_AT]) -> [u64; FIXED_SLOTS] {
        if usual.near {
            // SAFETY: as above.
            unsafe { spread(usual, frame) }
        } else {
            usual.arguments(frame)
        }
    }

    fn usual(piece: &mut Piece<'_>, scan: &mut Scan<'_, Self>) -> Next {
        // SAFETY: the scan holds a value of this type, so `detect` has found all features.
        unsafe { usual(piece, scan) }
    }
}

#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
fn usual(piece: &mut Piece<'_>, scan: &mut Scan<'_, Avx2>) -> Next {
    usual::run(piece, scan)
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
        let totals = words(_mm256_sad_epu8(bytes, _mm256_setzero_si256()));
        let [a, b, c, d] = totals.map(|total| total as u8);
        let middle = total.wrapping_add(a).wrapping_add(b);
        let before = _mm256_set_m128i(
            _mm_set1_epi8(middle.cast_signed()),
            _mm_set1_epi8(total.cast_signed()),
        );
        let sums = words(_mm256_add_epi8(sums(bytes), before));
        out.copy_from_slice(sums.map(u64::to_le_bytes).as_flattened());
        total = middle.wrapping_add(c).wrapping_add(d);
    }
    (flags, escapes, total.wrapping_sub(before))
}

/// The bytes that equal `byte`, one bit each.
#[target_feature(enable = "avx2")]
#[inline]
fn mask(bytes: __m256i, byte: u8) -> u64 {
    let equal = _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8(byte.cast_signed()));
    u64::from(_mm256_movemask_epi8(equal).cast_unsigned())
}

/// In each half of 16 bytes the sums up to each byte.
#[target_feature(enable = "avx2")]
#[inline]
fn sums(bytes: __m256i) -> __m256i {
    let two = _mm256_add_epi8(bytes, _mm256_slli_si256::<1>(bytes));
    let four = _mm256_add_epi8(two, _mm256_slli_si256::<2>(two));
    let eight = _mm256_add_epi8(four, _mm256_slli_si256::<4>(four));
    _mm256_add_epi8(eight, _mm256_slli_si256::<8>(eight))
}

/// The arguments that lie in the 16 bytes behind the header.
#[target_feature(enable = "avx2")]
#[inline]
fn spread(usual: &Usual, frame: &[u8; LOOKED_AT]) -> [u64; FIXED_SLOTS] {
    // No header is longer; the remainder shows that the bytes are there.
    let header = usize::from(usual.header) % 16;
    let behind = frame.get(header..).and_then(|bytes| bytes.first_chunk());
    let Some(bytes) = behind else { return [0; FIXED_SLOTS] };
    let bytes = _mm256_broadcastsi128_si256(half_vector(bytes));
    let (spreads, _) = usual.spread.as_chunks::<32>();
    let mut out = [0; FIXED_SLOTS];
    let (halves, _) = out.as_chunks_mut::<4>();
    for (half, spread) in halves.iter_mut().zip(spreads) {
        *half = words(_mm256_shuffle_epi8(bytes, vector(spread)));
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
