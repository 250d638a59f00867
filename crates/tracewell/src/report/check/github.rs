//! Failures as annotations of GitHub: `::error file=…,line=…,col=…,title=…::message`.
//!
//! The format is documented in "Workflow commands for GitHub Actions". In a message, `%` and line
//! ends are escaped as `%25`, `%0D` and `%0A`. In a property, `:` and `,` are also escaped, as
//! `%3A` and `%2C`.

use std::fmt::Write;

use super::shown;
use crate::check::{Failure, Verdict};
use crate::source::{Source, Span};

/// Returns one line for each failure, each rule that the trace does not decide, and each name that
/// matches no event of the format. Adds one notice if events are missing. `trace` is the name of
/// the trace.
///
/// ```
/// use tracewell::check::{Check, Rules};
/// use tracewell::report::check;
/// use tracewell::source::Source;
///
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/threadx/tiny.trx");
/// let source = Source::new("my.rules", "never tx_mutex_delete");
/// let rules = Rules::parse(&source).rules.expect("valid rules");
/// let mut run = Check::new(&rules);
/// let trace = tracewell::open(path)?.read(&mut run)?;
/// let lines = check::github(&source, &run.verdict(&trace), "tiny.trx");
/// assert!(lines.starts_with("::error file=my.rules,line=1,col=1,endColumn=22,title=never::"));
/// # Ok::<(), tracewell::input::InputError>(())
/// ```
pub fn github(source: &Source, verdict: &Verdict, trace: &str) -> String {
    let mut lines = String::new();
    for failure in &verdict.failures {
        put_failure(&mut lines, source, failure, trace);
    }
    for warning in verdict.warnings.iter().chain(&verdict.absent) {
        let message = format!("{trace}: {}", warning.message);
        annotation(&mut lines, source, ("warning", warning.span), ("unknown", &message));
    }
    for rule in &verdict.rules {
        let why = rule.open_because.as_ref().or(rule.not_compared.as_ref());
        let Some(why) = why else { continue };
        let message = format!("{trace}: {why}");
        annotation(&mut lines, source, ("warning", rule.span), ("undecided", &message));
    }
    if verdict.gaps > 0 {
        let message = format!("{trace}: events are missing and were not checked");
        let _ = writeln!(lines, "::notice title=lost events::{}", escaped(&message, false));
    }
    lines
}

fn put_failure(lines: &mut String, source: &Source, failure: &Failure, trace: &str) {
    let mut message = format!("{trace}: {}", failure.message);
    if let Some(near) = &failure.near {
        let _ = write!(message, "\nevent {} almost matched: {}", near.event.seq, near.why);
    }
    for line in &failure.context {
        let mark = if Some(line) == failure.at.as_ref() { '>' } else { ' ' };
        let _ = write!(message, "\n{}", shown(mark, line));
    }
    let title = match &failure.rule {
        Some(rule) => format!("{rule} ({})", failure.kind.as_str()),
        None => failure.kind.as_str().to_owned(),
    };
    annotation(lines, source, ("error", failure.span), (&title, &message));
}

/// Appends an annotation for a span in the rules.
fn annotation(
    lines: &mut String,
    source: &Source,
    (command, span): (&str, Span),
    (title, message): (&str, &str),
) {
    let (start, end) = (source.position(span.start), source.position(span.end));
    let _ = write!(
        lines,
        "::{command} file={},line={},col={}",
        escaped(&source.name, true),
        start.line,
        start.column
    );
    // GitHub accepts an end column only if start and end are on the same line.
    if end.line == start.line {
        let _ = write!(lines, ",endColumn={}", end.column);
    }
    let _ = writeln!(lines, ",title={}::{}", escaped(title, true), escaped(message, false));
}

/// Escapes a message, or a property of an annotation.
fn escaped(text: &str, is_property: bool) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '%' => escaped.push_str("%25"),
            '\r' => escaped.push_str("%0D"),
            '\n' => escaped.push_str("%0A"),
            ':' if is_property => escaped.push_str("%3A"),
            ',' if is_property => escaped.push_str("%2C"),
            c => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn annotations_escape_what_would_end_a_property_or_a_line() {
        assert_eq!(escaped("100%, a:b\r\n", false), "100%25, a:b%0D%0A");
        assert_eq!(escaped("100%, a:b", true), "100%25%2C a%3Ab");
    }
}
