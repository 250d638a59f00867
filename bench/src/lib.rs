//! Shared parts of the benchmarks: large traces, baselines in C, medians.
//!
//! Absolute times on a shared machine vary, but the ratio of two medians is stable if each round
//! runs the baseline and then the candidate.
#![forbid(unsafe_code)]

pub mod baseline;
pub mod collect;
pub mod ctf;
pub mod fleet;
pub mod posix;
pub mod program;
pub mod rkh;
pub mod scaling;
pub mod serve;
pub mod shark;
pub mod stream;
pub mod systemview;
pub mod templates;
pub mod trace;
pub mod tracing;

use tracewell::model::{Batch, Flow, Sink, Trace};

/// Counts the events of a trace, and does nothing else with them.
#[derive(Clone, Copy, Debug, Default)]
pub struct Events(
    /// The number of events so far.
    pub u64,
);

impl Sink for Events {
    fn events(&mut self, _: &Trace, batch: &Batch<'_>) -> Flow {
        self.0 += batch.len() as u64;
        Flow::Continue(())
    }
}

/// Sorts measurements and returns the middle one, or 0 if there are none.
///
/// ```
/// assert_eq!(tracewell_bench::median(&mut [3.0, 1.0, 2.0]), 2.0);
/// ```
pub fn median(measurements: &mut [f64]) -> f64 {
    measurements.sort_by(f64::total_cmp);
    measurements.get(measurements.len() / 2).copied().unwrap_or(0.0)
}

/// Parses a number of bytes with or without a unit. Returns `None` if the string is invalid.
///
/// ```
/// assert_eq!(tracewell_bench::size("64KiB"), Some(65_536));
/// assert_eq!(tracewell_bench::size("64kB"), None);
/// ```
pub fn size(text: &str) -> Option<u64> {
    let units = [("KiB", 10), ("MiB", 20), ("GiB", 30)];
    let unit = units.iter().find_map(|(unit, shift)| Some((text.strip_suffix(unit)?, *shift)));
    let (number, shift) = unit.unwrap_or((text, 0));
    number.trim().parse::<u64>().ok()?.checked_mul(1 << shift)
}
