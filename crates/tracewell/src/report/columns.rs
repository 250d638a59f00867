//! Computes the widths of a report's columns when the first line is written.
//!
//! If the width of a report is not limited, its columns are wide enough for all usual values. A
//! report for a screen has columns that are as narrow as its trace allows.

use crate::model::{Batch, Trace};
use crate::text::{TimeForm, display_width};

/// Widths in cells, including the blanks before a column; 0 if a column is not shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Columns {
    pub(super) seq: usize,
    pub(super) time: usize,
    pub(super) delta: usize,
    pub(super) cpu: usize,
    pub(super) context: usize,
    pub(super) priority: usize,
    /// The column of levels. The cells of the level and of the event are formatted as one text.
    pub(super) level: usize,
    pub(super) event: usize,
    timed: bool,
    /// True if the column of times has dates.
    dated: bool,
    is_narrow: bool,
}

/// Maximum width of the context column. Longer names move the rest of their line to the right.
const MAX_CONTEXT_WIDTH: usize = 32;
/// Maximum width of the context column on a screen; longer names are cut.
const MAX_NARROW_CONTEXT: usize = 16;
/// Minimum width of the context column on a screen. It leaves room for names that become known
/// later.
const MIN_NARROW_CONTEXT: usize = 12;
/// Maximum width of the event column on a screen.
const MAX_NARROW_EVENT: usize = 20;

impl Columns {
    /// Returns the widths for a report whose width is not limited.
    pub(super) fn of(trace: &Trace) -> Self {
        let names = trace.contexts.iter().map(|(_, context)| display_width(&context.name));
        let timed = trace.clock.rate.is_some();
        Self {
            seq: 8,
            time: if timed { 16 } else { 14 },
            delta: if timed { 13 } else { 11 },
            cpu: Self::of_cpu(trace),
            // `Initialization` is the longest name that decoders generate.
            context: names.max().unwrap_or(0).clamp("Initialization".len(), MAX_CONTEXT_WIDTH),
            priority: 5,
            level: level_width(trace),
            event: 28,
            timed,
            dated: false,
            is_narrow: false,
        }
    }

    /// Returns the widths for a screen. `batch` contains the first events.
    pub(super) fn of_screen(trace: &Trace, batch: Option<&Batch<'_>>) -> Self {
        let names = trace.contexts.iter().map(|(_, context)| display_width(&context.name));
        let labels = trace.schema.events().map(|event| display_width(&event.label));
        let timed = trace.clock.rate.is_some();
        let by_objects = trace.objects.iter().any(|(_, object)| object.priority.is_some());
        let prioritised = by_objects || batch.is_some_and(has_priorities);
        Self {
            seq: 6,
            time: if timed { 13 } else { 11 },
            delta: if timed { 11 } else { 9 },
            cpu: if trace.cpus > 1 { 4 } else { 0 },
            context: names.max().unwrap_or(0).clamp(MIN_NARROW_CONTEXT, MAX_NARROW_CONTEXT),
            priority: if prioritised { 5 } else { 0 },
            level: level_width(trace),
            event: labels.max().unwrap_or(0).clamp("EVENT".len(), MAX_NARROW_EVENT),
            timed,
            dated: false,
            is_narrow: true,
        }
    }

    /// Replaces the column of times by dates, or removes it.
    pub(super) fn show_times(&mut self, form: &TimeForm) {
        match form {
            TimeForm::Relative => {}
            TimeForm::Delta => self.time = 0,
            TimeForm::Absolute(zone) => (self.time, self.dated) = (zone.width() + 2, true),
        }
    }

    /// Adds the columns that this batch needs and the report does not yet have. Returns true if a
    /// column was added.
    pub(super) fn widen(&mut self, trace: &Trace, batch: &Batch<'_>) -> bool {
        let before = *self;
        if self.cpu == 0 && trace.cpus > 1 {
            self.cpu = if self.is_narrow { 4 } else { Self::of_cpu(trace) };
        }
        if self.priority == 0 && has_priorities(batch) {
            self.priority = 5;
        }
        self.level = self.level.max(level_width(trace));
        before != *self
    }

    /// Returns the text that is shown for an unknown priority.
    #[inline(always)]
    pub(super) fn no_priority(&self) -> &'static [u8] {
        if self.priority > 0 { b"    -" } else { b"" }
    }

    /// Returns the number of cells before the column of events.
    pub(super) fn before_event(&self) -> usize {
        self.seq + self.time + self.delta + self.cpu + MARK + self.context + self.priority + GAP
    }

    fn of_cpu(trace: &Trace) -> usize {
        if trace.cpus > 1 { 5 } else { 0 }
    }

    /// Returns the line of column names.
    pub(super) fn names(&self) -> String {
        let (time, delta) =
            if self.timed { ("TIME [s]", "DELTA [us]") } else { ("TICKS", "DELTA") };
        let date = format!("  {:<width$}", "DATE", width = self.time.saturating_sub(2));
        let time = match self.time {
            0 => "",
            _ if self.dated => date.as_str(),
            _ => time,
        };
        let cpu = if self.cpu > 0 { "CPU" } else { "" };
        let level = if self.level > 0 { "LEVEL" } else { "" };
        let pri = if self.priority > 0 { "PRI" } else { "" };
        format!(
            "{:>seq$}{time:>time_width$}{delta:>delta_width$}{cpu:>cpu_width$}   \
             {:<context$}{pri:>priority$}  {level:<level_width$}{:<event$}{}",
            "SEQ",
            "CONTEXT",
            "EVENT",
            "ARGUMENTS",
            seq = self.seq,
            time_width = self.time,
            delta_width = self.delta,
            cpu_width = self.cpu,
            context = self.context,
            priority = self.priority,
            level_width = self.level,
            event = self.event,
        )
    }
}

/// Width, in cells, of the column that marks a context that has just taken over its core.
const MARK: usize = 3;
/// Blanks before an event.
pub(super) const GAP: usize = 2;

/// Returns the width of the level column. Only instrumented programs have levels.
fn level_width(trace: &Trace) -> usize {
    if trace.schema.has_call_sites() { "ERROR".len() + GAP } else { 0 }
}

fn has_priorities(batch: &Batch<'_>) -> bool {
    batch.columns.priority.iter().any(|priority| priority.get().is_some())
}
