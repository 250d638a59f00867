//! `tracewell diff`: compares runs of a system. `fail_on` decides which differences are failures,
//! and `junit` converts all differences to test results.

mod fail_on;
mod junit;

use std::path::PathBuf;

use clap::Args;
use tracewell::report::compare::{self, Comparison, ComparisonDocument, Profile, Profiling};
use tracewell::select::{Ranged, Selection};
use tracewell::text::shown_path;

use self::fail_on::FailOn;
use super::follow::StreamEnd;
use super::{for_each_file, read_selected};
use crate::args::{InputArgs, SelectionArgs};
use crate::outcome::{Failure, Outcome};
use crate::{output, screen};

/// Compare runs: which figures changed by more than noise, and what is new or gone
///
/// Compares two traces, or two sets of traces, separated by --. The figures are distributions:
/// times of tasks, objects, interrupts and messages, the load of each task, and the rate of each
/// event. A figure counts as changed if the difference is unlikely to be chance, affects a
/// considerable part of the values, and is larger than the differences between the runs of one
/// side. docs/comparing.md describes the test.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  tracewell diff old.trx new.trx
  tracewell diff old*.trx -- new*.trx
  tracewell diff --fail-on 5%,new old.trx new.trx
  tracewell diff --fail-on worse --junit results.xml old.trx new.trx
  tracewell diff --json old.trx new.trx | jq '.findings[] | {subject, change}'")]
pub(crate) struct Diff {
    /// The old and the new trace, or all old traces if -- follows; - is standard input
    #[arg(required = true, value_name = "OLD")]
    files: Vec<PathBuf>,

    /// The new traces
    #[arg(last = true, value_name = "NEW")]
    new: Vec<PathBuf>,

    /// End with status 1 if a figure is worse by more than this share, such as 5%, if a difference
    /// has one of these kinds: worse, change, new, gone, or if no figure could be compared
    #[arg(long, value_name = "WHAT,…", value_delimiter = ',')]
    fail_on: Vec<FailOn>,

    /// Print one JSON document, for programs
    #[arg(long)]
    json: bool,

    /// Also write the differences to this file, as JUnit XML; differences that meet --fail-on
    /// become failed tests
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,

    #[command(flatten)]
    selection: SelectionArgs,

    #[command(flatten)]
    input: InputArgs,
}

/// The message if `--fail-on` is given but there is nothing to compare.
const NOTHING_COMPARED: &str = "no figure could be compared: each has too few values, or values in \
                                only one of the runs";

/// The runs of one side: the paths and the figures of the readable traces.
#[derive(Default)]
struct Side {
    files: Vec<String>,
    runs: Vec<Profile>,
    /// The paths of the traces that cannot be read, with the reasons.
    failures: Vec<(PathBuf, String)>,
}

impl Diff {
    pub(crate) fn run(&self) -> Result<Outcome, Failure> {
        let (old, new) = self.sides()?;
        let selection = self.selection.selection()?;
        let mut inputs = self.input.inputs(&self.files);
        inputs.add(&self.new);
        // Check the path before the long reading: the report must not replace an input.
        if let Some(path) = &self.junit {
            inputs.refuse(path)?;
        }
        let end = StreamEnd::default();
        let (old, outcome) = self.read(old, &selection, &end);
        let (new, second) = self.read(new, &selection, &end);
        let outcome = outcome.max(second);
        // A comparison needs at least one run on each side. Otherwise there are only failures.
        let comparison = (!old.runs.is_empty() && !new.runs.is_empty())
            .then(|| compare::compare(&old.runs, &new.runs));
        if let Some(path) = &self.junit {
            let mut suites = junit::suites((&old, &new), comparison.as_ref(), &self.fail_on);
            if comparison.as_ref().is_some_and(|found| self.decides_nothing(found, &old, &new)) {
                let failed = || crate::junit::failed("compare a figure", NOTHING_COMPARED);
                suites.iter_mut().for_each(|suite| _ = suite.add_test_case(failed()));
            }
            // A damaged trace that could be read is not among the failures, so the damage gets a
            // test case of its own.
            if outcome == Outcome::Damaged && old.failures.is_empty() && new.failures.is_empty() {
                suites.iter_mut().for_each(junit::add_damage);
            }
            crate::junit::write(path, "tracewell diff", suites, &inputs)?;
        }
        let Some(comparison) = comparison else { return Ok(outcome) };
        let text = if self.json {
            let sides = ((&old.files[..], &old.runs[..]), (&new.files[..], &new.runs[..]));
            let document = ComparisonDocument::new(sides.0, sides.1, &comparison);
            document.json().map_err(|error| Failure::usage(format!("JSON: {error}")))?
        } else {
            compare::text(&comparison, screen::layout())
        };
        output::write(&text).map_err(|error| Failure::io(output::stdout_path(), &error))?;
        let is_failure = comparison
            .findings
            .iter()
            .any(|finding| self.fail_on.iter().any(|fail_on| fail_on.is_met(finding)));
        // A failure of `--fail-on` has priority over damage, but not over other errors.
        Ok(match outcome {
            Outcome::Done | Outcome::Damaged if is_failure => Outcome::Wrong,
            // Nothing was compared, so the status must not report success.
            Outcome::Done if self.decides_nothing(&comparison, &old, &new) => {
                Failure::wrong(format!("--fail-on: {NOTHING_COMPARED}")).report()
            }
            outcome => outcome,
        })
    }

    /// Returns true if the runs lack what `--fail-on` asks for: figures that can be compared or,
    /// if it asks only for names, events.
    fn decides_nothing(&self, comparison: &Comparison, old: &Side, new: &Side) -> bool {
        if self.fail_on.iter().any(|fail_on| fail_on.is_about_figures()) {
            return comparison.compared == 0;
        }
        let is_empty = old.runs.iter().chain(&new.runs).all(|run| run.events == 0);
        !self.fail_on.is_empty() && is_empty
    }

    /// Returns the traces of both sides.
    fn sides(&self) -> Result<(&[PathBuf], &[PathBuf]), Failure> {
        match (&self.files[..], &self.new[..]) {
            ([old], []) => Err(Failure::usage(format!(
                "diff needs two traces: name a new trace after {}",
                shown_path(old)
            ))),
            ([_, new @ ..], []) if new.len() == 1 => Ok(self.files.split_at(1)),
            (_, []) => Err(Failure::usage(
                "several traces need -- between the old and the new ones: diff old*.trx -- new*.trx",
            )),
            (old, new) => Ok((old, new)),
        }
    }

    /// Reads the runs of a side.
    fn read(&self, files: &[PathBuf], selection: &Selection, end: &StreamEnd) -> (Side, Outcome) {
        let mut side = Side::default();
        let made = for_each_file(files, &self.input, |input| {
            let selection = input.without_tail(selection.clone())?;
            let mut sink = Ranged::new(Profiling::default(), selection.clone());
            let trace = end.by_signal(input, |input| {
                let mut trace = read_selected(input, &mut sink, &selection)?;
                selection.remark(&mut trace);
                Ok(trace)
            })?;
            side.files.push(shown_path(input.path()).to_string());
            side.runs.push(sink.into_inner().profile(&trace));
            Ok(trace)
        });
        side.failures = made.failures;
        (side, made.outcome)
    }
}
