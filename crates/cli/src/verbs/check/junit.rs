//! The results of checks as JUnit XML: one test suite per trace, one test case per rule.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};
use tracewell::check::{
    Failure as RuleFailure, FailureKind, RuleKind, RuleOutcome, RuleResult, Verdict,
};
use tracewell::report::{Layout, check};
use tracewell::source::{Source, Span};
use tracewell::text::shown_path;

use crate::inputs::Inputs;
use crate::outcome::{Failure, Outcome};
use crate::output;

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
        self.push(suite);
    }

    fn push(&self, suite: TestSuite) {
        self.suites.lock().unwrap_or_else(PoisonError::into_inner).push(suite);
    }

    /// Writes the file. Traces without a verdict get a suite with an error, so that the file does
    /// not look like a success. `failures` contains the reasons for these errors.
    pub(super) fn write(
        self,
        traces: &[PathBuf],
        failures: &[(PathBuf, String)],
        inputs: &Inputs,
    ) -> Result<Outcome, Failure> {
        let Self { path, suites } = self;
        let mut suites = suites.into_inner().unwrap_or_else(PoisonError::into_inner);
        for trace in traces {
            let name = shown_path(trace).to_string();
            if !suites.iter().any(|suite| suite.name.as_str() == name) {
                let failure =
                    failures.iter().find(|(of, message)| of == trace && !message.is_empty());
                suites.push(unreadable(&name, failure.map(|(_, message)| message.as_str())));
            }
        }
        let mut report = Report::new("tracewell check");
        report.add_test_suites(suites);
        let text = report.to_string().map_err(|error| Failure::usage(format!("JUnit: {error}")))?;
        output::write_whole(&path, inputs, |out| {
            out.write_all(text.as_bytes()).map_err(|error| Failure::io(&path, &error))
        })?;
        Ok(Outcome::Done)
    }
}

/// Returns the suite of a trace without a verdict. If `reason` is `None`, the suite refers to
/// standard error.
fn unreadable(name: &str, reason: Option<&str>) -> TestSuite {
    let mut status = TestCaseStatus::non_success(NonSuccessKind::Error);
    let other = "the trace could not be checked: see standard error for the reason";
    status.set_message(reason.unwrap_or(other));
    let mut suite = TestSuite::new(name);
    suite.add_test_case(TestCase::new("read the trace", status));
    suite
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
        // The span of a failure is that of one step. The steps of a rule need not be consecutive
        // lines: other statements may stand between them.
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
