//! Checks a trace and prints failures. For long streams, prints each failure as soon as it is
//! found.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use tracewell::check::{Baseline, Check, NoFigures, Rules, Verdict};
use tracewell::model::{Batch, Flow, Loss, Sink, SinkError, Stop, Trace};
use tracewell::report::check::{self, VerdictRow};
use tracewell::report::measures::Measures;
use tracewell::source::Source;
use tracewell::text::shown_path;

use super::Tally;
use super::junit::Suites;
use crate::document::Document;
use crate::{screen, sources};

/// Checks a trace against rules and writes the result.
pub(super) struct FailurePrinter<'r, W> {
    rules: Rulebook<'r>,
    check: Check<'r>,
    /// The figures of the trace, if thresholds need them.
    measures: Option<Measures>,
    out: W,
    trace: PathBuf,
    results: Results<'r>,
    /// Number of failures that were written.
    printed: usize,
    tally: &'r Tally,
}

/// The rules, their text, and the figures of earlier runs.
#[derive(Clone, Copy)]
pub(super) struct Rulebook<'r> {
    pub(super) source: &'r Source,
    pub(super) rules: &'r Rules,
    pub(super) baseline: Option<&'r Baseline>,
}

impl Rulebook<'_> {
    /// Returns true if thresholds need the analyses of a trace.
    pub(super) fn has_figures(&self) -> bool {
        self.rules.figures().next().is_some()
    }
}

/// The destinations of the results.
#[derive(Clone, Copy)]
pub(super) struct Results<'r> {
    pub(super) form: Form<'r>,
    pub(super) junit: Option<&'r Suites>,
    /// True if undecided rules and unknown names are failures.
    pub(super) is_strict: bool,
}

/// The form of the result on standard output.
#[derive(Clone, Copy)]
pub(super) enum Form<'r> {
    /// Nothing.
    Quiet,
    /// Text, at the end.
    Text,
    /// Text, with each failure as soon as it is found.
    TextAtOnce,
    /// A JSON document, at the end.
    Json(&'r Document),
    /// Annotations of GitHub, at the end.
    Github,
}

impl<'r, W: Write> FailurePrinter<'r, W> {
    /// Creates a printer for one trace.
    pub(super) fn new(
        rules: Rulebook<'r>,
        trace: &Path,
        results: Results<'r>,
        tally: &'r Tally,
        out: W,
    ) -> Self {
        let check = Check::new(rules.rules);
        let (trace, measures) = (trace.to_owned(), None);
        Self { rules, check, measures, out, trace, results, printed: 0, tally }
    }

    /// Sets the figures of the trace. The caller does this before it calls `finish`.
    pub(super) fn set_measures(&mut self, measures: Measures) {
        self.measures = Some(measures);
    }

    /// Writes the failures found since the last call.
    fn print_new(&mut self) -> io::Result<()> {
        let failures = self.check.failures();
        let at_once = matches!(self.results.form, Form::TextAtOnce);
        if !at_once || self.printed == failures.len() {
            return Ok(());
        }
        let text = check::failures(self.rules.source, &failures[self.printed..], screen::layout());
        self.printed = failures.len();
        self.write(&text)
    }

    fn write(&mut self, text: &str) -> io::Result<()> {
        self.out.write_all(text.as_bytes())?;
        self.out.flush()
    }

    /// Ends the check, and writes the part of the verdict that has not been written yet.
    fn end(&mut self, trace: &Trace) -> io::Result<()> {
        let Rulebook { source, rules, baseline } = self.rules;
        let check = std::mem::replace(&mut self.check, Check::new(rules));
        let mut verdict: Verdict = match self.measures.take() {
            Some(measures) => check.verdict_with(trace, &measures, baseline),
            None => check.verdict_with(trace, &NoFigures, baseline),
        };
        if self.results.is_strict {
            verdict = verdict.strict();
        }
        sources::report(source, &verdict.warnings);
        sources::report(source, &verdict.absent);
        let found = match () {
            () if !verdict.failures.is_empty() => &self.tally.failed,
            () if verdict.decides_nothing() => &self.tally.undecided,
            () => &self.tally.held,
        };
        found.store(true, Ordering::Relaxed);
        if let Some(junit) = self.results.junit {
            junit.add(&self.trace, source, &verdict);
        }
        let name = shown_path(&self.trace).to_string();
        let text = match self.results.form {
            Form::Quiet => return Ok(()),
            Form::Json(document) => {
                let verdict = VerdictRow::new(source, &verdict);
                return document.writer().trace(&name, &verdict);
            }
            Form::Github => check::github(source, &verdict, &name),
            // Failures are in the order of the trace, so the first `printed` failures have already
            // been printed.
            Form::Text | Form::TextAtOnce => {
                let left = verdict.failures.get(self.printed..).unwrap_or_default();
                let layout = screen::layout();
                check::failures(source, left, layout) + &check::summary(source, &verdict, layout)
            }
        };
        self.write(&text)
    }
}

impl<W: Write> Sink for FailurePrinter<'_, W> {
    fn events(&mut self, trace: &Trace, batch: &Batch<'_>) -> Flow {
        self.check.events(trace, batch)?;
        Stop::on_error(self.print_new())
    }

    fn loss(&mut self, trace: &Trace, loss: &Loss) -> Flow {
        self.check.loss(trace, loss)?;
        Stop::on_error(self.print_new())
    }

    fn finish(&mut self, trace: &Trace) -> Result<(), SinkError> {
        self.rules.rules.check(trace).map_err(SinkError::not_possible)?;
        Ok(self.end(trace)?)
    }
}
