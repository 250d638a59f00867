//! When which rate holds.
//!
//! The first `trace_start` in time says how many cycles a millisecond has, each `cycles_per_msec` that
//! it has another number from there on. Time is counted from the first event, as everywhere; the
//! moment of that `trace_start` is a whole number of nanoseconds.

use tracewell_wire::shark::ids;

use super::runs::ClockRecord;
use crate::model::{Clock, Diagnostics, Rate, Severity};

/// Cycles per millisecond as a rate.
fn rate(cycles_per_msec: u32) -> Option<Rate> {
    Rate::new(u64::from(cycles_per_msec) * 1000, 1)
}

/// Gives the clock its rates; `first` is the stamp of the first record, `known` the rate that the
/// user gave for the beginning.
pub(super) fn set(
    clock: &mut Clock,
    mut records: Vec<ClockRecord>,
    first: u64,
    known: Option<Rate>,
    remarks: &mut Diagnostics,
) {
    records.sort_unstable();
    let start = records.iter().find(|record| record.code == ids::TRACE_START);
    let origin = start.map_or(first, |start| start.tsc);
    let at_first = known.or(start.and_then(|start| rate(start.cycles_per_msec)));
    let Some(at_first) = at_first else {
        if !records.is_empty() {
            let message = "the clock changes, and nothing says how fast it was at first (-O rate=)";
            remarks.add(Severity::Warning, None, message);
        }
        return;
    };
    clock.rate = None;
    clock.change_rate(origin - first, at_first);
    let mut now = at_first;
    for record in records.iter().filter(|record| record.tsc >= origin) {
        let Some(rate) = rate(record.cycles_per_msec) else { continue };
        // Tracing that is started again says the same once more.
        if record.code == ids::CYCLES_PER_MSEC || (record.tsc > origin && rate != now) {
            clock.change_rate(record.tsc - first, rate);
            now = rate;
        }
    }
}
