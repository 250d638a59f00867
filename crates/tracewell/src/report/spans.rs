//! The figures of [`crate::analysis::spans`]: text for people, JSON for programs.

use serde::Serialize;

use super::Layout;
use super::figures::{duration, optional};
use super::machines::Spans as Durations;
use super::table::{Cell, table_with_groups};
use crate::analysis::spans::{AllSpans, SpanFigures};
use crate::model::Trace;
use crate::text::counted;

/// The figures of spans.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SpansFigures {
    /// Spans of instrumented programs, by target and name, the longest total duration first.
    pub spans: Vec<SpanRow>,
    /// Number of spans that ended, but whose beginning is not in the trace.
    pub unknown_spans: u64,
    /// Number of spans that are not measured, because there are too many names or open spans.
    pub more_spans: u64,
}

impl SpansFigures {
    /// Returns the figures for programs.
    pub fn new(figures: &AllSpans) -> Self {
        Self {
            spans: figures.names.iter().map(SpanRow::of).collect(),
            unknown_spans: figures.unknown,
            more_spans: figures.more,
        }
    }
}

/// The spans of one target and name.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SpanRow {
    /// Name of the spans.
    pub name: String,
    /// The part of the program that begins them.
    pub target: String,
    /// Number of spans that began.
    pub begun: u64,
    /// Number of spans that had not ended at the end of the trace.
    pub open: u64,
    /// Number of spans without a duration, because events are missing.
    pub cut: u64,
    /// Durations from beginning to end.
    pub duration: Durations,
    /// Ticks from beginning to end, summed over all spans.
    pub total_ticks: u64,
    /// Ticks in which at least one thread was in the span, summed over all spans.
    pub busy_ticks: u64,
    /// Ticks in which no thread was in the span, summed over all spans.
    pub idle_ticks: u64,
}

impl SpanRow {
    fn of(figures: &SpanFigures) -> Self {
        Self {
            name: figures.name.clone(),
            target: figures.target.clone(),
            begun: figures.begun,
            open: figures.open,
            cut: figures.cut,
            duration: figures.duration.into(),
            total_ticks: figures.duration.sum(),
            busy_ticks: figures.busy.sum(),
            idle_ticks: figures.idle(),
        }
    }
}

const SPANS: [&str; 11] =
    ["SPAN", "TARGET", "BEGUN", "OPEN", "CUT", "TOTAL", "BUSY", "IDLE", "MIN", "MEAN", "MAX"];

/// The columns that share a unit: first the sums, then the durations of single spans.
const COMPARED: [&[usize]; 2] = [&[5, 6, 7], &[8, 9, 10]];

/// Appends the table of spans with at most `rows` rows, and the number of omitted rows.
pub(super) fn put(
    text: &mut String,
    trace: &Trace,
    figures: &AllSpans,
    rows: usize,
    layout: Layout,
) {
    let shown = figures.names.iter().take(rows);
    let cells = shown.map(|figures| row(trace, figures));
    table_with_groups(text, layout, &SPANS, &COMPARED, cells);
    super::scheduling::text::left_out(
        text,
        figures.names.len().saturating_sub(rows) as u64,
        "span",
        Some(super::sections::Section::Spans),
    );
    if figures.unknown > 0 {
        let spans = counted(figures.unknown, "span");
        text.push_str(&format!("and {spans} ended without a recorded beginning\n"));
    }
    if figures.more > 0 {
        let more = counted(figures.more, "more span");
        text.push_str(&format!("and {more}: too many different or open ones\n"));
    }
}

fn row(trace: &Trace, figures: &SpanFigures) -> [Cell; 11] {
    let range = figures.duration;
    let total = |ticks| Cell::from((range.count > 0).then(|| duration(trace, ticks)));
    [
        figures.name.as_str().into(),
        figures.target.as_str().into(),
        figures.begun.into(),
        Cell::rare(figures.open),
        Cell::rare(figures.cut),
        total(range.sum()),
        total(figures.busy.sum()),
        total(figures.idle()),
        optional(trace, range, range.min),
        optional(trace, range, range.mean()),
        optional(trace, range, range.max),
    ]
}
