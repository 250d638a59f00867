//! Prints the verdict of [`crate::check`]: as text for people, and as JSON or annotations for
//! programs.

mod github;
mod json;

pub use github::github;
pub use json::{
    EventRow, FailureRow, Near, Place, RuleRow, Since, ThresholdRow, VerdictRow, WarningRow,
    WorstRow,
};

use super::Layout;
use crate::check::{Failure, Line, RuleKind, RuleOutcome, RuleResult, Verdict};
use crate::source::{Finding, Source};
use crate::text::style::{ERROR, LOSS, SUCCESS, styled};
use crate::text::{counted, padded};

/// The version of the JSON document.
pub const SCHEMA: u32 = 1;

/// Returns the title of a rule: its name if it has one, otherwise its first line.
///
/// ```
/// use tracewell::check::{Check, Rules};
/// use tracewell::report::check;
/// use tracewell::source::Source;
///
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/threadx/tiny.trx");
/// let source = Source::new("my.rules", "rule \"quiet\" { never tx_mutex_delete }");
/// let rules = Rules::parse(&source).rules.expect("valid rules");
/// let mut run = Check::new(&rules);
/// let trace = tracewell::open(path)?.read(&mut run)?;
/// let verdict = run.verdict(&trace);
/// assert_eq!(check::title(&source, &verdict.rules[0]), "quiet: never tx_mutex_delete");
/// # Ok::<(), tracewell::input::InputError>(())
/// ```
pub fn title(source: &Source, result: &RuleResult) -> String {
    let line = json::first_line(source.slice(result.span));
    match &result.rule {
        Some(rule) => format!("{rule}: {line}"),
        None => line.to_owned(),
    }
}

/// Returns the verdict as text.
///
/// ```
/// use tracewell::check::{Check, Rules};
/// use tracewell::report::{Layout, check};
/// use tracewell::source::Source;
///
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/threadx/tiny.trx");
/// let source = Source::new("my.rules", "never tx_mutex_delete");
/// let rules = Rules::parse(&source).rules.expect("valid rules");
/// let mut run = Check::new(&rules);
/// let trace = tracewell::open(path)?.read(&mut run)?;
/// let verdict = run.verdict(&trace);
/// assert!(!verdict.passed());
/// assert!(check::text(&source, &verdict, Layout::default()).contains("FAILED"));
/// # Ok::<(), tracewell::input::InputError>(())
/// ```
pub fn text(source: &Source, verdict: &Verdict, layout: Layout) -> String {
    failures(source, &verdict.failures, layout) + &summary(source, verdict, layout)
}

/// Returns failures as text, each followed by an empty line.
pub fn failures(source: &Source, failures: &[Failure], layout: Layout) -> String {
    let mut lines = Vec::new();
    for failure in failures {
        failure_text(&mut lines, source, failure, layout);
        lines.push(String::new());
    }
    lines.iter().flat_map(|line| [line.as_str(), "\n"]).collect()
}

/// Maximum number of undecided rules that the text lists.
const MAX_OPEN: usize = 20;

/// Returns the last lines of a verdict: missing events, rules that the trace does not decide,
/// thresholds that the baseline does not contain, and the number of rules that held.
pub fn summary(source: &Source, verdict: &Verdict, layout: Layout) -> String {
    let mut lines = Vec::new();
    if let Some(missing) = missing_events(verdict) {
        lines.push(styled(&missing, LOSS, layout.color));
    }
    let open = || {
        verdict.rules.iter().filter_map(|rule| {
            Some((rule, rule.open_because.as_ref().or(rule.not_compared.as_ref())?))
        })
    };
    for (rule, why) in open().take(MAX_OPEN) {
        let place = source.position(rule.span.start);
        lines.push(format!("{}:{}:{}: {why}", source.name, place.line, place.column));
    }
    if let more @ 1.. = open().count().saturating_sub(MAX_OPEN) {
        lines.push(format!("and {} not decided", counted(more as u64, "more rule")));
    }
    let (word, style) = match verdict.failures.len() {
        0 if verdict.decides_nothing() => ("NOTHING DECIDED".to_owned(), LOSS),
        0 => ("passed".to_owned(), SUCCESS),
        1 => ("FAILED".to_owned(), ERROR),
        failures => (format!("FAILED in {failures} places"), ERROR),
    };
    let word = styled(&word, style, layout.color);
    lines.push(format!("{word}: {}", rules_held(verdict)));
    lines.iter().map(|line| format!("{}\n", layout.fold(line, 2))).collect()
}

/// Returns a sentence about missing events; `None` if no events are missing.
pub fn missing_events(verdict: &Verdict) -> Option<String> {
    let gaps = counted(verdict.gaps, "place");
    let lost = verdict.lost.map_or_else(String::new, |lost| format!(", {lost} in all"));
    (verdict.gaps > 0)
        .then(|| format!("events are missing in {gaps}{lost}: the missing events were not checked"))
}

/// Returns a line that counts the rules that held, the rules that the trace does not decide, the
/// answers, and the steps.
fn rules_held(verdict: &Verdict) -> String {
    let rules = &verdict.rules;
    let held = rules.iter().filter(|rule| rule.outcome() == RuleOutcome::Held).count();
    let all = counted(rules.len() as u64, "rule");
    let held = if held == rules.len() { all } else { format!("{held} of {all}") };
    let of_kind = |kind| rules.iter().filter(move |rule| rule.kind == kind);
    let mut parts = vec![format!("{held} held in {}", counted(verdict.events, "event"))];
    if let undecided @ 1.. = verdict.undecided() {
        parts.push(format!("{} not decided", counted(undecided as u64, "rule")));
    }
    let answers = || of_kind(RuleKind::Whenever).chain(of_kind(RuleKind::Each));
    if answers().next().is_some() {
        let answered = answers().map(|rule| rule.held).sum();
        parts.push(format!("{} answered", counted(answered, "event")));
    }
    if let late @ 1.. = answers().map(|rule| rule.late).sum::<u64>() {
        parts.push(format!("{late} late or not answered"));
    }
    if of_kind(RuleKind::Steps).next().is_some() {
        parts.push(format!("{} met", counted(verdict.steps, "step")));
    }
    parts.join(", ")
}

fn failure_text(lines: &mut Vec<String>, source: &Source, failure: &Failure, layout: Layout) {
    let finding = Finding::error(failure.span, failure.message.clone());
    let finding = finding.show_within(source, layout.width);
    let word = styled("error:", ERROR, layout.color);
    lines.push(finding.replacen("error:", &word, 1));
    let first = lines.len();
    if let Some(rule) = &failure.rule {
        lines.push(format!("  in rule \"{}\"", rule.escape_debug()));
    }
    match &failure.since {
        Some((line, span)) => {
            let place = source.position(span.start);
            let number = place.line;
            lines.push(format!("  waiting since event {}, line {number} of the rules:", line.seq));
            lines.push(shown(' ', line));
        }
        // If an event caused the failure, do not write that the rule waited from the start.
        None if failure.at.is_none() && failure.kind.is_about_events() => {
            lines.push("  waiting since the start of the trace".to_owned());
        }
        None => {}
    }
    if let Some(near) = &failure.near {
        lines.push(format!("  event {} almost matched: {}", near.event.seq, near.why));
        lines.push(shown('~', &near.event));
    }
    let at = failure.at.as_ref().map(|line| line.seq);
    if !failure.context.is_empty() {
        let title = if at.is_some() { "  the events around it:" } else { "  what came instead:" };
        lines.push(title.to_owned());
    }
    let mark = |line: &Line| if Some(line.seq) == at { '>' } else { ' ' };
    lines.extend(failure.context.iter().map(|line| shown(mark(line), line)));
    for line in lines.iter_mut().skip(first) {
        let is_at_fault = line.starts_with("  > ");
        // Arguments that do not fit continue on the next line, in the context's column.
        let indent = if line.starts_with("    ") || is_at_fault { 26 } else { 4 };
        let folded = layout.fold(line, indent).into_owned();
        *line = styled(&folded, LOSS, layout.color && is_at_fault);
    }
}

/// Returns an event as a line with a mark before it.
fn shown(mark: char, line: &Line) -> String {
    let time = match line.time_ns {
        Some(ns) => format!("{}.{:09}", ns / 1_000_000_000, ns % 1_000_000_000),
        None => line.ticks.to_string(),
    };
    let Line { seq, context, label, text, .. } = line;
    let (context, label) = (padded(context, 12), padded(label, 14));
    format!("  {mark} {seq:>6}  {time:>12}  {context}  {label}  {text}").trim_end().to_owned()
}
