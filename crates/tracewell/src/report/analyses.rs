//! Runs all analyses in one pass over a trace, and writes their figures as text and as JSON.
//!
//! To add an analysis, add a file to [`crate::analysis`] that derives its figures, a file to this
//! folder that writes them as text and as typed JSON, and a field to [`Analyses`] and
//! [`AllFigures`].

use std::io;

use serde::Serialize;

use super::distributions::{self, DistributionFigures};
use super::document::DocumentWriter;
use super::machines::{self, MachineFigures};
use super::scheduling::{self, SchedulingFigures, WithoutEffect};
pub use super::sections::Section;
use super::spans::{self, SpansFigures};
use super::{Layout, summary};
use crate::analysis::machines::Machines;
use crate::analysis::scheduling::{Scheduling, Wanted};
use crate::analysis::spans::Spans;
use crate::model::{Batch, Flow, Loss, Sink, Trace};
use crate::select::{CountsInRange, Covered};
use crate::text::counted;

/// The version of the JSON document.
pub const SCHEMA: u32 = 1;

/// The figures of a trace, as JSON. docs/analysis.md defines them.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AllFigures<'a> {
    /// Figures of the scheduler.
    #[serde(flatten)]
    pub scheduling: SchedulingFigures<'a>,
    /// Figures of state machines, messages, queues, pools and timers.
    #[serde(flatten)]
    pub machines: MachineFigures,
    /// Figures of the spans of instrumented programs.
    #[serde(flatten)]
    pub spans: SpansFigures,
    /// Distributions of all times, if they are collected.
    #[serde(flatten)]
    pub distributions: Option<DistributionFigures>,
    /// The part of the trace that the figures cover; absent if they cover the whole trace.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub range: Option<RangeRow>,
}

/// A part of a trace.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RangeRow {
    /// Ticks of its beginning.
    pub from_ticks: u64,
    /// Ticks of its end.
    pub until_ticks: u64,
    /// Number of events before it.
    pub events_before: u64,
    /// Number of events within this part that were not selected.
    pub events_not_selected: u64,
    /// True if the trace was read to its end.
    pub read_to_end: bool,
}

/// A sink that passes events to all analyses.
///
/// ```
/// use tracewell::analysis::scheduling::Wanted;
/// use tracewell::input::{Input, Settings};
/// use tracewell::report::analyses::{self, Analyses};
/// use tracewell::report::document::DocumentWriter;
///
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/threadx/tiny.trx").as_ref();
/// let mut analyses = Analyses::new(Wanted::default());
/// let trace = Input::open(path, Settings::default())?.read(&mut analyses)?;
/// let mut document = DocumentWriter::new(Vec::new(), analyses::SCHEMA);
/// analyses.write_json(&trace, "tiny.trx", &mut document)?;
/// let json: serde_json::Value = serde_json::from_slice(&document.end()?)?;
/// let figures = &json["traces"][0];
/// assert!(figures["tasks"].is_array() && figures["machines"].is_array());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Analyses {
    wanted: Wanted,
    scheduling: Scheduling,
    machines: Machines,
    spans: Spans,
    histograms: bool,
    /// The part of the trace that the figures cover; `None` for the whole trace.
    covered: Option<Covered>,
}

impl Analyses {
    /// Creates all analyses. `wanted` selects optional figures.
    pub fn new(wanted: Wanted) -> Self {
        let scheduling = Scheduling::new(wanted.clone());
        let (machines, spans) = (Machines::default(), Spans::default());
        let (machines, spans) = match wanted.distributions {
            true => (machines.with_distributions(), spans.with_distributions()),
            false => (machines, spans),
        };
        Self { scheduling, machines, spans, wanted, histograms: false, covered: None }
    }

    /// Also writes a histogram of each distribution. The caller must have selected
    /// [`Wanted::distributions`].
    #[must_use]
    pub fn with_histograms(self) -> Self {
        Self { histograms: true, ..self }
    }

    /// Returns the figures of `sections` as text; without sections, a summary of the most important
    /// figures that fits on a screen. `trace` is the trace after the last event.
    pub fn text(self, trace: &Trace, sections: Option<&[Section]>, layout: Layout) -> String {
        let figures = self.scheduling.figures(trace);
        let machines = self.machines.figures(trace);
        let all_spans = self.spans.figures();
        let times = distributions::named(trace, &figures, &machines, &all_spans);
        let mut text = match sections {
            Some(sections) => {
                let mut text = scheduling::text(trace, &figures, &self.wanted, sections, layout)
                    + &machines::text(trace, &machines, sections, layout);
                if sections.contains(&Section::Spans) {
                    spans::put(&mut text, trace, &all_spans, usize::MAX, layout);
                }
                if sections.contains(&Section::Distributions) {
                    distributions::put_tables(&mut text, trace, &times, layout);
                }
                text
            }
            None => summary::text(trace, &figures, &machines, &all_spans, &self.wanted, layout),
        };
        if self.histograms {
            distributions::put_histograms(&mut text, trace, &times, layout);
        }
        if self.wanted.distributions {
            text.extend(distributions::more_times(&figures, &machines));
        }
        // Lines about options without effect and about the range precede all tables.
        let second = text.match_indices('\n').nth(1).map_or(text.len(), |(at, _)| at + 1);
        let mut lines = self.covered.map(|covered| line(covered, figures.span.end));
        let lines = lines.get_or_insert_default();
        if self.histograms && times.is_empty() {
            lines.push_str(&format!("{HISTOGRAM} has no effect: {NO_TIMES}\n"));
        }
        for section in sections.filter(|chosen| chosen.len() < Section::ALL.len()).unwrap_or(&[]) {
            if !section.has_figures(&figures, &machines, &all_spans) {
                let name = section.name();
                lines.push_str(&format!("--show {name}: the trace has no such figures\n"));
            }
        }
        text.insert_str(second, lines);
        text
    }

    /// Writes all figures as the next trace of a document. `file` is the path of the trace.
    ///
    /// # Errors
    /// Returns an error if writing fails.
    pub fn write_json<W: io::Write>(
        self,
        trace: &Trace,
        file: &str,
        document: &mut DocumentWriter<W>,
    ) -> io::Result<()> {
        let figures = self.scheduling.figures(trace);
        let (all_machines, all_spans) = (self.machines.figures(trace), self.spans.figures());
        let mut scheduling = SchedulingFigures::new(trace, &figures, &self.wanted);
        let machines = MachineFigures::new(trace, &all_machines);
        let spans = SpansFigures::new(&all_spans);
        let times = distributions::named(trace, &figures, &all_machines, &all_spans);
        if self.histograms && times.is_empty() {
            let (option, reason) = (HISTOGRAM.to_owned(), NO_TIMES.to_owned());
            scheduling.without_effect.push(WithoutEffect { option, reason });
        }
        let more_times = figures.more_times + all_machines.more_times;
        let buckets = self.histograms;
        let distributions = DistributionFigures::new(&times, more_times, buckets);
        let distributions = self.wanted.distributions.then_some(distributions);
        let range = self.covered.map(|covered| RangeRow {
            from_ticks: covered.from,
            until_ticks: covered.until.unwrap_or(figures.span.end),
            events_before: covered.before,
            events_not_selected: covered.not_selected,
            read_to_end: covered.until.is_none(),
        });
        document.trace(file, &AllFigures { scheduling, machines, spans, distributions, range })
    }
}

const HISTOGRAM: &str = "--histogram";
const NO_TIMES: &str = "the trace shows no times";

/// Returns a line about the part of a trace that all tables cover.
fn line(covered: Covered, end: u64) -> String {
    let Covered { from, until, before, not_selected } = covered;
    let last = until.map_or(end, |until| until.saturating_sub(1));
    let mut parts = vec![format!("all figures: from tick {from} to {last}")];
    parts.extend((before > 0).then(|| format!("{} before it", counted(before, "event"))));
    let left_out = || format!("{} not selected", counted(not_selected, "event"));
    parts.extend((not_selected > 0).then(left_out));
    parts.extend(until.map(|_| "the events after it were not read".to_owned()));
    parts.join("; ") + "\n"
}

impl CountsInRange for Analyses {
    fn begin(&mut self, trace: &Trace, from: u64) {
        self.scheduling.begin(trace, from);
        self.machines.begin(from);
        self.spans.begin_range();
    }

    fn end(&mut self, covered: Covered) {
        self.scheduling.end(covered.until);
        self.machines.end(covered.until);
        self.covered = Some(covered);
    }
}

impl Sink for Analyses {
    fn events(&mut self, trace: &Trace, batch: &Batch<'_>) -> Flow {
        self.scheduling.events(trace, batch)?;
        self.machines.events(trace, batch)?;
        self.spans.events(trace, batch)
    }

    fn loss(&mut self, trace: &Trace, loss: &Loss) -> Flow {
        self.scheduling.loss(trace, loss)?;
        self.machines.loss(trace, loss)?;
        self.spans.loss(trace, loss)
    }
}
