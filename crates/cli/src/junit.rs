//! Files of JUnit XML, which CI systems show as test results. `check` and `diff` make the suites.

use std::path::Path;

use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};

use crate::inputs::Inputs;
use crate::outcome::{Failure, Outcome};
use crate::output;

/// Writes the results of a command to a file that is not one of its inputs.
pub(crate) fn write(
    path: &Path,
    command: &str,
    suites: Vec<TestSuite>,
    inputs: &Inputs,
) -> Result<Outcome, Failure> {
    let mut report = Report::new(command);
    report.add_test_suites(suites);
    let text = report.to_string().map_err(|error| Failure::usage(format!("JUnit: {error}")))?;
    output::write_whole(path, inputs, |out| {
        out.write_all(text.as_bytes()).map_err(|error| Failure::io(path, &error))
    })?;
    Ok(Outcome::Done)
}

/// Returns a case that failed.
pub(crate) fn failed(name: &str, message: &str) -> TestCase {
    unsuccessful(NonSuccessKind::Failure, name, message)
}

/// Returns a case for a test that could not run.
pub(crate) fn error(name: &str, message: &str) -> TestCase {
    unsuccessful(NonSuccessKind::Error, name, message)
}

fn unsuccessful(kind: NonSuccessKind, name: &str, message: &str) -> TestCase {
    let mut status = TestCaseStatus::non_success(kind);
    status.set_message(message);
    TestCase::new(name, status)
}

/// Returns the suite of a trace that could not be read. If `reason` is `None`, the suite refers to
/// standard error.
pub(crate) fn unreadable(name: &str, reason: Option<&str>) -> TestSuite {
    let other = "the trace could not be read: see standard error for the reason";
    let mut suite = TestSuite::new(name);
    suite.add_test_case(error("read the trace", reason.unwrap_or(other)));
    suite
}
