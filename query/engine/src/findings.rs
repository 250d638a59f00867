//! Findings about the traces of a query: failures, damage and warnings. Each finding is kept once
//! per trace, however many times the engine reads the trace.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tracewell::model::{Diagnostic, Severity, Trace};
use tracewell::text::{counted, shown_path};

use crate::failure::{Failure, Outcome};

/// The findings about all traces of a session.
#[derive(Debug, Default)]
pub struct Findings {
    by_path: Mutex<BTreeMap<PathBuf, Finding>>,
}

/// The messages about one trace.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Finding {
    outcome: Outcome,
    messages: Vec<String>,
    /// True if `take` has returned the messages.
    shown: bool,
}

impl Findings {
    /// Stores the failure of a trace that cannot be read.
    pub(crate) fn fail(&self, path: &Path, failure: &Failure) {
        self.set(path, failure.outcome(), vec![format!("error: {failure}")]);
    }

    /// Stores the damage, the warnings and the losses of a trace that was read.
    pub(crate) fn note(&self, path: &Path, trace: &Trace) {
        let shown = shown_path(path);
        let diagnostics = trace.diagnostics.iter();
        let serious = diagnostics.filter(|found| found.severity >= Severity::Warning);
        let mut messages: Vec<_> = serious
            .map(|diagnostic| {
                let Diagnostic { severity, message, .. } = diagnostic;
                let place = diagnostic.place();
                match severity {
                    Severity::Damage => format!("error: {shown}: damaged: {place}{message}"),
                    _ => format!("warning: {shown}: {place}{message}"),
                }
            })
            .collect();
        if trace.diagnostics.more() > 0 {
            let more = counted(trace.diagnostics.more(), "more diagnostic");
            messages.push(format!("note: {shown}: and {more}"));
        }
        let gaps: u64 = trace.losses.iter().map(|(_, count)| count.gaps).sum();
        if gaps > 0 {
            let places = counted(gaps, "place");
            let events = match trace.losses.events() {
                Some(events) => counted(events, "event"),
                None => "an unknown number of events".to_owned(),
            };
            messages.push(format!("note: {shown}: {events} missing, at {places}: see `losses`"));
        }
        let outcome = match trace.diagnostics.worst() {
            Some(Severity::Damage) => Outcome::Damaged,
            _ => Outcome::Done,
        };
        self.set(path, outcome, messages);
    }

    /// Counts rows that a table lacks because an analysis reached its limit.
    pub(crate) fn left_out(&self, path: &Path, table: &str, rows: u64) {
        let rows = counted(rows, "row");
        let message = format!(
            "warning: {}: {table} lacks {rows}: an analysis reached its limit of memory",
            shown_path(path)
        );
        let mut known = self.lock();
        let finding = known.entry(path.to_owned()).or_insert_with(Finding::empty);
        if !finding.messages.contains(&message) {
            finding.messages.push(message);
            finding.shown = false;
        }
    }

    fn set(&self, path: &Path, outcome: Outcome, messages: Vec<String>) {
        let mut known = self.lock();
        let finding = known.entry(path.to_owned()).or_insert_with(Finding::empty);
        finding.outcome = finding.outcome.max(outcome);
        for message in messages {
            if !finding.messages.contains(&message) {
                finding.messages.push(message);
                finding.shown = false;
            }
        }
    }

    /// Returns the messages that were not returned before, in the order of paths.
    pub fn take(&self) -> Vec<String> {
        let mut known = self.lock();
        let new = known.values_mut().filter(|finding| !finding.shown);
        new.flat_map(|finding| {
            finding.shown = true;
            finding.messages.clone()
        })
        .collect()
    }

    /// Returns the worst outcome of all traces.
    pub fn outcome(&self) -> Outcome {
        self.lock().values().map(|finding| finding.outcome).max().unwrap_or(Outcome::Done)
    }

    /// Returns true if this file is one of the traces.
    pub fn has(&self, path: &Path) -> bool {
        let Ok(path) = path.canonicalize() else { return false };
        let known = self.lock();
        known.keys().any(|trace| trace.canonicalize().is_ok_and(|trace| trace == path))
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<PathBuf, Finding>> {
        self.by_path.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Finding {
    const fn empty() -> Self {
        Self { outcome: Outcome::Done, messages: Vec::new(), shown: true }
    }
}
