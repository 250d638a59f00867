//! Runs all analyses in one pass over a trace, and writes their figures as text and as JSON.
//!
//! To add an analysis, derive its figures in a new file of [`crate::analysis`]. Write them as text
//! and as typed JSON in a new file of this folder. Then add a field to [`Analyses`] and to
//! [`AllFigures`].

use std::io;

use serde::Serialize;

use super::critical_path::{self, PathRow};
use super::distributions::{self, DistributionFigures};
use super::document::DocumentWriter;
use super::machines::{self, MachineFigures};
use super::scheduling::{self, SchedulingFigures, WithoutEffect};
pub use super::sections::Section;
use super::spans::{self, SpansFigures};
use super::{Layout, summary};
use crate::analysis::critical_path::{CriticalPath, Explainer, NoPath, Question};
use crate::analysis::machines::{Figures as MachineResults, Machines};
use crate::analysis::scheduling::{Figures, Scheduling, Wanted};
use crate::analysis::spans::{AllSpans, Spans};
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
    pub spans: Option<SpansFigures>,
    /// Distributions of all times, if they are collected.
    #[serde(flatten)]
    pub distributions: Option<DistributionFigures>,
    /// With `--why`: the explanation of a response or a wait.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<PathRow<'a>>,
    /// The part of the trace from which the figures are computed; absent for the whole trace.
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
/// analyses.write_json(&trace, "tiny.trx", None, &mut document)?;
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
    why: Option<(Question, Explainer)>,
    /// The part of the trace from which the figures are computed; `None` for the whole trace.
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
        let (machines, spans) = match wanted.places {
            true => (machines.with_places(), spans.with_places()),
            false => (machines, spans),
        };
        Self { scheduling, machines, spans, wanted, histograms: false, why: None, covered: None }
    }

    /// Also writes a histogram of each distribution. [`Wanted::distributions`] must be true.
    #[must_use]
    pub fn with_histograms(self) -> Self {
        Self { histograms: true, ..self }
    }

    /// Also explains a response or a wait.
    #[must_use]
    pub fn with_explanation(self, question: Question) -> Self {
        Self { why: Some((question, Explainer::default())), ..self }
    }

    /// Returns the figures of `sections` as text. Without sections, returns the requested
    /// explanation. If none was requested, returns a summary of the most important figures that
    /// fits on a screen. Call this after the last event of `trace`.
    pub fn text(self, trace: &Trace, sections: Option<&[Section]>, layout: Layout) -> String {
        let results = self.finish(trace);
        let Results { figures, machines, spans: all_spans, wanted, .. } = &results;
        let times = distributions::named(trace, figures, machines, all_spans);
        let mut text = match sections {
            Some(sections) => {
                let mut text = scheduling::text(trace, figures, wanted, sections, layout)
                    + &machines::text(trace, machines, sections, layout);
                if sections.contains(&Section::Spans) {
                    spans::put(&mut text, trace, all_spans, usize::MAX, layout);
                }
                if sections.contains(&Section::Distributions) {
                    distributions::put_tables(&mut text, trace, &times, layout);
                }
                text
            }
            None if results.path.is_some() => scheduling::head(trace, figures, wanted, layout),
            None => summary::text(trace, figures, machines, all_spans, wanted, layout),
        };
        if results.histograms {
            distributions::put_histograms(&mut text, trace, &times, layout);
        }
        text.extend(distributions::more_times(figures, machines));
        if let Some(Ok(path)) = &results.path {
            critical_path::put(&mut text, trace, path, layout);
        }
        // Before all tables, insert the lines about the range and about options without effect.
        let second = text.match_indices('\n').nth(1).map_or(text.len(), |(at, _)| at + 1);
        let mut lines = results.covered.map(|covered| line(covered, figures.span.end));
        let lines = lines.get_or_insert_default();
        for WithoutEffect { option, reason } in results.without_effect(times.is_empty()) {
            lines.push_str(&format!("{option} has no effect: {reason}\n"));
        }
        for WithoutEffect { option, reason } in results.absent(sections) {
            lines.push_str(&format!("{}\n", layout.fold(&format!("{option}: {reason}"), 2)));
        }
        text.insert_str(second, lines);
        text
    }

    /// Checks that a trace contains the task, the event or the time of the requested explanation.
    ///
    /// # Errors
    /// Returns an error if the trace does not contain it, or if it is a time and the trace's clock
    /// has no known rate.
    pub fn check(&self, trace: &Trace) -> Result<(), NoPath> {
        self.why.as_ref().map_or(Ok(()), |(question, explainer)| explainer.check(trace, question))
    }

    /// Adds a trace to a document: writes the figures of `sections`, or all figures. `file` is the
    /// path of the trace.
    ///
    /// # Errors
    /// Returns an error if writing fails.
    pub fn write_json<W: io::Write>(
        self,
        trace: &Trace,
        file: &str,
        sections: Option<&[Section]>,
        document: &mut DocumentWriter<W>,
    ) -> io::Result<()> {
        let results = self.finish(trace);
        let has = |section| sections.is_none_or(|sections| sections.contains(&section));
        let Results { figures, machines, spans, wanted, .. } = &results;
        let times = distributions::named(trace, figures, machines, spans);
        let mut scheduling = SchedulingFigures::new(trace, figures, wanted);
        scheduling.without_effect.extend(results.without_effect(times.is_empty()));
        scheduling.without_effect.extend(results.absent(sections));
        scheduling.limit(has);
        let mut of_machines = MachineFigures::new(trace, machines);
        of_machines.limit(has);
        let more_times = figures.more_times + machines.more_times;
        let mut distributions = DistributionFigures::new(&times, more_times, results.histograms);
        if wanted.places {
            distributions.add_bars(trace, &times);
        }
        let path = results.path.as_ref().and_then(|path| path.as_ref().ok());
        let range = results.covered.map(|covered| RangeRow {
            from_ticks: covered.from,
            until_ticks: covered.until.unwrap_or(figures.span.end),
            events_before: covered.before,
            events_not_selected: covered.not_selected,
            read_to_end: covered.until.is_none(),
        });
        let all = AllFigures {
            scheduling,
            machines: of_machines,
            spans: has(Section::Spans).then(|| SpansFigures::new(spans)),
            distributions: (wanted.distributions && has(Section::Distributions))
                .then_some(distributions),
            why: path.map(|path| PathRow::of(trace, path)),
            range,
        };
        document.trace(file, &all)
    }

    fn finish(self, trace: &Trace) -> Results {
        Results {
            wanted: self.wanted,
            figures: self.scheduling.figures(trace),
            machines: self.machines.figures(trace),
            spans: self.spans.figures(),
            histograms: self.histograms,
            path: self.why.map(|(question, explainer)| explainer.explain(trace, &question)),
            covered: self.covered,
        }
    }
}

/// The results of all analyses.
struct Results {
    wanted: Wanted,
    figures: Figures,
    machines: MachineResults,
    spans: AllSpans,
    histograms: bool,
    path: Option<Result<CriticalPath, NoPath>>,
    covered: Option<Covered>,
}

impl Results {
    /// Returns the chosen sections for which the trace has no figures, with the reason.
    fn absent(&self, sections: Option<&[Section]>) -> Vec<WithoutEffect> {
        let chosen = sections.filter(|chosen| chosen.len() < Section::ALL.len()).unwrap_or(&[]);
        let has =
            |section: &&Section| section.has_figures(&self.figures, &self.machines, &self.spans);
        let absent = chosen.iter().filter(|section| !has(section)).map(|section| WithoutEffect {
            option: format!("--show {}", section.name()),
            reason: format!("the trace has no such figures, which need {}", section.needs()),
        });
        absent.collect()
    }

    /// Returns the options that have no effect, except those that `scheduling` reports.
    fn without_effect(&self, has_no_times: bool) -> Vec<WithoutEffect> {
        let histogram = (self.histograms && has_no_times).then(|| WithoutEffect {
            option: "--histogram".to_owned(),
            reason: "the trace shows no times".to_owned(),
        });
        let why = self.path.as_ref().and_then(|path| path.as_ref().err());
        let why = why
            .map(|error| WithoutEffect { option: "--why".to_owned(), reason: error.to_string() });
        histogram.into_iter().chain(why).collect()
    }
}

/// Returns a line about the part of a trace from which all tables are computed.
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
        self.why.iter_mut().for_each(|(_, explainer)| explainer.begin(from));
    }

    fn end(&mut self, covered: Covered) {
        self.scheduling.end(covered.until);
        self.machines.end(covered.until);
        self.why.iter_mut().for_each(|(_, explainer)| explainer.end(covered.until));
        self.covered = Some(covered);
    }
}

impl Sink for Analyses {
    fn events(&mut self, trace: &Trace, batch: &Batch<'_>) -> Flow {
        self.scheduling.events(trace, batch)?;
        self.machines.events(trace, batch)?;
        if let Some((_, explainer)) = &mut self.why {
            explainer.events(trace, batch)?;
        }
        self.spans.events(trace, batch)
    }

    fn loss(&mut self, trace: &Trace, loss: &Loss) -> Flow {
        self.scheduling.loss(trace, loss)?;
        self.machines.loss(trace, loss)?;
        if let Some((_, explainer)) = &mut self.why {
            explainer.loss(trace, loss)?;
        }
        self.spans.loss(trace, loss)
    }
}
