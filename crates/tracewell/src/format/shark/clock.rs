//! Determines the rates of the clock and the times from which they apply.
//!
//! The first `trace_start` specifies the cycles per millisecond. Each `cycles_per_msec` changes the
//! rate from that record on. As in all formats, time counts from the first event. The time of the
//! first `trace_start` is rounded to whole nanoseconds.

use tracewell_wire::shark::ids;

use super::runs::ClockRecord;
use crate::model::{Clock, Diagnostics, Rate, Severity};

/// Converts cycles per millisecond to a rate.
fn rate(cycles_per_msec: u32) -> Option<Rate> {
    Rate::new(u64::from(cycles_per_msec) * 1000, 1)
}

/// Sets the rates of the clock. `first` is the timestamp of the first record, and `known` is the
/// initial rate if the user specified it.
pub(super) fn set(
    clock: &mut Clock,
    mut records: Vec<ClockRecord>,
    first: u64,
    known: Option<Rate>,
    remarks: &mut Diagnostics,
) {
    // The records are in memory order. If a ring wrapped, this is not the order of time.
    records.sort_unstable();
    let start = records.iter().find(|record| record.code == ids::TRACE_START);
    // Without `trace_start`, the initial rate applies from the first record.
    let origin = start.map_or(first, |start| start.tsc);
    let at_first = known.or(start.and_then(|start| rate(start.cycles_per_msec)));
    let Some(at_first) = at_first else {
        if !records.is_empty() {
            let message = "the clock changes, but its first rate is unknown (-O rate= sets it)";
            remarks.add(Severity::Warning, None, message);
        }
        return;
    };
    // `change_rate` sets the initial rate only if the clock does not have one yet.
    clock.rate = None;
    clock.change_rate(origin - first, at_first);
    let mut now = at_first;
    for record in records.iter().filter(|record| record.tsc >= origin) {
        let Some(rate) = rate(record.cycles_per_msec) else { continue };
        // If tracing is started again, the kernel records the same rate again.
        if record.code == ids::CYCLES_PER_MSEC || (record.tsc > origin && rate != now) {
            clock.change_rate(record.tsc - first, rate);
            now = rate;
        }
    }
}
