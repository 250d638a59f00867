//! The result of a comparison as suites of JUnit XML: one test case per difference.

use quick_junit::{TestCase, TestCaseStatus, TestSuite};
use tracewell::report::compare::{Comparison, sentence};
use tracewell::text::{counted, shown_path};

use super::Side;
use super::fail_on::FailOn;
use crate::junit;

/// Returns a suite with the differences, and a suite with an error for each unreadable trace.
pub(super) fn suites(
    (old, new): (&Side, &Side),
    comparison: Option<&Comparison>,
    fail_on: &[FailOn],
) -> Vec<TestSuite> {
    let compared = comparison.map(|comparison| {
        let name = format!("{} compared with {}", new.files.join(" "), old.files.join(" "));
        suite(&name, comparison, fail_on)
    });
    let unreadable = old.failures.iter().chain(&new.failures).map(|(path, message)| {
        let reason = Some(message.as_str()).filter(|message| !message.is_empty());
        junit::unreadable(&shown_path(path).to_string(), reason)
    });
    compared.into_iter().chain(unreadable).collect()
}

/// Adds a test case with an error to the suite of a comparison, because one of its traces is
/// damaged.
pub(super) fn add_damage(suite: &mut TestSuite) {
    let message = "a trace is damaged: see standard error for the place";
    suite.add_test_case(junit::error("read the whole traces", message));
}

fn suite(name: &str, comparison: &Comparison, fail_on: &[FailOn]) -> TestSuite {
    let mut suite = TestSuite::new(name);
    if !comparison.notes.is_empty() {
        suite.set_system_out(comparison.notes.join("\n"));
    }
    for finding in &comparison.findings {
        let (name, message) = sentence(comparison, finding);
        suite.add_test_case(match fail_on.iter().any(|fail_on| fail_on.is_met(finding)) {
            true => junit::failed(&name, &message),
            false => {
                let mut case = TestCase::new(name, TestCaseStatus::success());
                case.set_system_out(message);
                case
            }
        });
    }
    // A suite without cases would look as if nothing had run.
    let compared = counted(comparison.compared, "figure");
    let rest = format!("{compared} compared, {} different", comparison.findings.len());
    suite.add_test_case(TestCase::new(rest, TestCaseStatus::success()));
    suite
}
