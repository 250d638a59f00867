//! What the benchmarks share: large traces, baselines in C, medians.
//!
//! Absolute times on a shared machine mean little, ratios of medians of interleaved runs hold:
//! every round runs baseline and candidate one after the other.
#![forbid(unsafe_code)]

pub mod baseline;
pub mod collect;
pub mod posix;
pub mod rkh;
pub mod scaling;
pub mod shark;
pub mod stream;
pub mod templates;
pub mod trace;
pub mod tracing;

/// The middle one of some measurements, which are sorted by this; 0 where there is none.
pub fn median(measurements: &mut [f64]) -> f64 {
    measurements.sort_by(f64::total_cmp);
    measurements.get(measurements.len() / 2).copied().unwrap_or(0.0)
}

/// A size as typed: `4096`, `64KiB`, `256MiB`, `1GiB`.
pub fn size(text: &str) -> Option<u64> {
    let units = [("KiB", 10), ("MiB", 20), ("GiB", 30)];
    let unit = units.iter().find_map(|(unit, shift)| Some((text.strip_suffix(unit)?, *shift)));
    let (number, shift) = unit.unwrap_or((text, 0));
    number.trim().parse::<u64>().ok()?.checked_mul(1 << shift)
}
