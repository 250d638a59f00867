//! The results of checks as JUnit XML: one test suite per trace, one test case per rule.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use quick_junit::{NonSuccessKind, TestCase, TestCaseStatus, TestSuite};
use tracewell::check::{
    Failure as RuleFailure, FailureKind, RuleKind, RuleOutcome, RuleResult, Verdict,
};
use tracewell::model::{Diagnostics, Severity};
use tracewell::report::{Layout, check};
use tracewell::source::{Source, Span};
use tracewell::text::shown_path;

use crate::inputs::Inputs;
use crate::junit;
use crate::outcome::{Failure, Outcome};
use crate::verbs::check::NOTHING_DECIDED;

/// Maximum number of messages in the test case about the damage of a trace.
const MAX_DAMAGE: usize = 3;

/// The test suites of a command, one per trace that was checked.
pub(super) struct Suites {
    /// The file to be written.
    path: PathBuf,
    suites: Mutex<Vec<TestSuite>>,
}

impl Suites {
    /// Creates an empty list. Fails if `path` is one of the files that the command reads.
    pub(super) fn new(path: &Path, inputs: &Inputs) -> Result<Self, Failure> {
        inputs.refuse(path)?;
        Ok(Self { path: path.to_owned(), suites: Mutex::default() })
    }

    /// Adds the verdict on a trace.
    pub(super) fn add(&self, trace: &Path, source: &Source, verdict: &Verdict) {
        let mut suite = TestSuite::new(shown_path(trace).to_string());
        for result in &verdict.rules {
            suite.add_test_case(test_case(source, verdict, result));
        }
        let of_rule =
            |failure: &&RuleFailure| verdict.rules.iter().any(|rule| is_of(failure, rule));
        for failure in verdict.failures.iter().filter(|failure| !of_rule(failure)) {
            let name = source.slice(failure.span);
            suite.add_test_case(case(source, name, failure.span, failed(source, failure)));
        }
        if let Some(missing) = check::missing_events(verdict) {
            suite.set_system_out(missing);
            suite.add_property(("gaps", verdict.gaps.to_string().as_str()));
            if let Some(lost) = verdict.lost {
                suite.add_property(("lost", lost.to_string().as_str()));
            }
        }
        self.suites().push(suite);
    }

    /// If the trace is damaged, adds a case with an error to its suite.
    pub(super) fn note_damage(&self, trace: &Path, diagnostics: &Diagnostics) {
        let damage = diagnostics.iter().filter(|of| of.severity == Severity::Damage);
        let messages: Vec<_> = damage
            .take(MAX_DAMAGE)
            .map(|of| match of.offset {
                Some(offset) => format!("at byte {offset}: {}", of.message),
                None => of.message.clone(),
            })
            .collect();
        if diagnostics.worst() == Some(Severity::Damage) {
            self.add_damage(trace, &format!("the trace is damaged: {}", messages.join("; ")));
        }
    }

    /// Adds a test case with this error message to the suite of a trace.
    pub(super) fn add_damage(&self, trace: &Path, message: &str) {
        let name = shown_path(trace).to_string();
        // If several suites have this name, the last one belongs to this trace.
        let mut suites = self.suites();
        if let Some(suite) = suites.iter_mut().rfind(|suite| suite.name.as_str() == name) {
            suite.add_test_case(junit::error("read the whole trace", message));
        }
    }

    fn suites(&self) -> MutexGuard<'_, Vec<TestSuite>> {
        self.suites.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes the file. Traces without a verdict get a suite with an error, so that the file does
    /// not look like a success. `failures` contains the reasons for these errors. `decided_nothing`
    /// is true if no trace decided a rule. Each suite of a trace with a verdict then gets a failed
    /// case.
    pub(super) fn write(
        self,
        traces: &[PathBuf],
        failures: &[(PathBuf, String)],
        decided_nothing: bool,
        inputs: &Inputs,
    ) -> Result<Outcome, Failure> {
        let Self { path, suites } = self;
        let mut suites = suites.into_inner().unwrap_or_else(PoisonError::into_inner);
        for trace in traces {
            let name = shown_path(trace).to_string();
            if !suites.iter().any(|suite| suite.name.as_str() == name) {
                let failure =
                    failures.iter().find(|(of, message)| of == trace && !message.is_empty());
                let message = failure.map(|(_, message)| message.as_str());
                suites.push(junit::unreadable(&name, message));
            } else if decided_nothing {
                let of_trace = suites.iter_mut().filter(|suite| suite.name.as_str() == name);
                of_trace.for_each(|suite| {
                    suite.add_test_case(junit::failed("decide a rule", NOTHING_DECIDED));
                });
            }
        }
        junit::write(&path, "tracewell check", suites, inputs)
    }
}

fn test_case(source: &Source, verdict: &Verdict, result: &RuleResult) -> TestCase {
    let status = match result.outcome() {
        RuleOutcome::Held => TestCaseStatus::success(),
        RuleOutcome::Open => {
            let mut status = TestCaseStatus::skipped();
            status.set_message(result.open_because.as_deref().unwrap_or_default());
            status
        }
        RuleOutcome::Failed => {
            let failure = verdict.failures.iter().find(|failure| is_of(failure, result));
            failure.map_or_else(failure_status, |failure| failed(source, failure))
        }
    };
    case(source, &check::title(source, result), result.span, status)
}

fn failure_status() -> TestCaseStatus {
    TestCaseStatus::non_success(NonSuccessKind::Failure)
}

/// Returns the status for a failed case, with the text of the failure.
fn failed(source: &Source, failure: &RuleFailure) -> TestCaseStatus {
    let mut status = failure_status();
    status.set_type(failure.kind.as_str());
    status.set_message(&failure.message);
    let failures = std::slice::from_ref(failure);
    status.set_description(check::failures(source, failures, Layout::default()));
    status
}

/// Returns a test case with the position of its rule in the rules file.
fn case(source: &Source, name: &str, span: Span, status: TestCaseStatus) -> TestCase {
    let mut case = TestCase::new(name, status);
    let line = source.position(span.start).line;
    case.set_classname(&source.name);
    // Viewers of JUnit files use these attributes to show the rule in its file.
    case.extra.insert("file".into(), source.name.as_str().into());
    case.extra.insert("line".into(), line.to_string().into());
    case
}

/// Returns true if a failure belongs to the rule of `result`.
fn is_of(failure: &RuleFailure, result: &RuleResult) -> bool {
    let (inner, outer) = (failure.span, result.span);
    match result.kind {
        // A name in the rules that belongs to no event gets its own case.
        _ if failure.kind == FailureKind::Unknown => false,
        // The span of a failure is the span of one step. The steps of a rule need not be
        // consecutive lines: other statements may stand between them.
        RuleKind::Steps => {
            use FailureKind::{Early, Late, Missing, Unexpected};
            matches!(failure.kind, Early | Late | Missing | Unexpected)
                && failure.rule == result.rule
                && outer.start <= inner.start
                && inner.end <= outer.end
        }
        _ => inner == outer,
    }
}
