//! Widths of a report's columns, from what is known when the first line is written.

use crate::model::Trace;

/// Widths in characters, with the blanks before a column; 0 where a column is not shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Columns {
    pub(super) seq: usize,
    pub(super) time: usize,
    pub(super) delta: usize,
    pub(super) cpu: usize,
    pub(super) context: usize,
    pub(super) priority: usize,
    pub(super) event: usize,
    timed: bool,
}

/// No context column is wider than this; longer names push their line to the right.
const WIDEST_CONTEXT: usize = 32;

impl Columns {
    pub(super) fn of(trace: &Trace) -> Self {
        let names = trace.contexts.iter().map(|(_, context)| context.name.chars().count());
        let timed = trace.clock.rate.is_some();
        Self {
            seq: 8,
            time: if timed { 16 } else { 14 },
            delta: if timed { 13 } else { 11 },
            cpu: Self::of_cpu(trace),
            context: names.max().unwrap_or(0).clamp("Initialization".len(), WIDEST_CONTEXT),
            priority: 5,
            event: 28,
            timed,
        }
    }

    /// The width of the column of cores, which may turn out to be needed after the first line.
    pub(super) fn of_cpu(trace: &Trace) -> usize {
        if trace.cpus > 1 { 5 } else { 0 }
    }

    /// The line of column names.
    pub(super) fn names(&self) -> String {
        let (time, delta) =
            if self.timed { ("TIME [s]", "DELTA [us]") } else { ("TICKS", "DELTA") };
        let cpu = if self.cpu > 0 { "CPU" } else { "" };
        format!(
            "{:>seq$}{time:>time_width$}{delta:>delta_width$}{cpu:>cpu_width$}   \
             {:<context$}{:>priority$}  {:<event$}{}",
            "SEQ",
            "CONTEXT",
            "PRI",
            "EVENT",
            "ARGUMENTS",
            seq = self.seq,
            time_width = self.time,
            delta_width = self.delta,
            cpu_width = self.cpu,
            context = self.context,
            priority = self.priority,
            event = self.event,
        )
    }
}
