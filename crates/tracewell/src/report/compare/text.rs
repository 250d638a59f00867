//! The result of a comparison as text for people.

use super::findings::{Comparison, Finding, FindingKind, Shift, Summary};
use crate::report::Layout;
use crate::report::table::{Cell, table};
use crate::text::style::{ERROR, LOSS, SUCCESS, styled};
use crate::text::{counted, spoken_time};

const HEADINGS: [&str; 10] = [
    "", "OF", "OLD MEAN", "NEW MEAN", "CHANGE", "OLD P50", "NEW P50", "OLD P99", "NEW P99",
    "SHIFTED",
];

/// Returns the result as text: the notes, tables of findings, and a line that counts them.
///
/// ```
/// use tracewell::report::Layout;
/// use tracewell::report::compare::{Comparison, text};
///
/// let text = text(&Comparison::default(), Layout::default());
/// assert_eq!(text, "NOTHING COMPARED: 0 figures compared\n");
/// ```
pub fn text(comparison: &Comparison, layout: Layout) -> String {
    let mut text = String::new();
    for note in &comparison.notes {
        text.push_str(&format!("{}\n", layout.fold(&format!("note: {note}"), 2)));
    }
    let changed = |is: fn(FindingKind) -> bool| {
        comparison.findings.iter().filter(move |finding| is(finding.kind))
    };
    let time = if comparison.has_time { Cell::Time } else { Cell::Ticks };
    let mut put = |name, is: fn(FindingKind) -> bool, cell: &dyn Fn(u64) -> Cell| {
        let mut headings = HEADINGS;
        headings[0] = name;
        let rows = changed(is).filter_map(|finding| row(finding, cell));
        table(&mut text, layout, &headings, rows);
    };
    put("TIME", |kind| matches!(kind, FindingKind::Time(_)), &time);
    // Loads are in millionths. A cell has hundredths of a percent.
    put("LOAD", |kind| kind == FindingKind::Load, &|millionths| Cell::Share(millionths / 100));
    let rate = if comparison.has_time { "EVENTS PER 1000 s" } else { "EVENTS PER 10^9 TICKS" };
    put(rate, |kind| kind == FindingKind::Rate, &Cell::Count);
    let names = comparison.findings.iter().filter_map(|finding| match finding.kind {
        FindingKind::New(kind) => {
            Some(["new".into(), kind.into(), finding.subject.as_str().into()])
        }
        FindingKind::Gone(kind) => {
            Some(["gone".into(), kind.into(), finding.subject.as_str().into()])
        }
        _ => None,
    });
    table(&mut text, layout, &["NAMES", "KIND", "NAME"], names);
    if !comparison.findings.is_empty() {
        text.push('\n');
    }
    text.push_str(&format!("{}\n", layout.fold(&last_line(comparison, layout), 2)));
    text
}

/// Returns the name and the description of a difference, for lists without columns.
///
/// ```
/// use tracewell::report::compare::{Comparison, Finding, FindingKind, sentence};
///
/// let finding = Finding { kind: FindingKind::New("event"), subject: "reset".into(), shift: None };
/// let (name, message) = sentence(&Comparison::default(), &finding);
/// assert_eq!((&*name, &*message), ("new event: reset", "only in the new runs"));
/// ```
pub fn sentence(comparison: &Comparison, finding: &Finding) -> (String, String) {
    let subject = &finding.subject;
    let shown = |mean: f64| match finding.kind {
        FindingKind::Time(_) if comparison.has_time => spoken_time(mean.round() as u64),
        FindingKind::Time(_) => counted(mean.round() as u64, "tick"),
        FindingKind::Load => format!("{:.2} %", mean / 10_000.0),
        _ if comparison.has_time => format!("{mean:.0} events per 1000 s"),
        _ => format!("{mean:.0} events per 10^9 ticks"),
    };
    let Some(Shift { old, new, change, .. }) = &finding.shift else {
        return match finding.kind {
            FindingKind::Gone(kind) => {
                (format!("gone {kind}: {subject}"), "only in the old runs".to_owned())
            }
            FindingKind::New(kind) => {
                (format!("new {kind}: {subject}"), "only in the new runs".to_owned())
            }
            kind => (format!("{}: {subject}", figure_name(kind)), String::new()),
        };
    };
    let message =
        format!("mean {}, was {} ({})", shown(new.mean), shown(old.mean), signed(*change));
    (format!("{}: {subject}", figure_name(finding.kind)), message)
}

const fn figure_name(kind: FindingKind) -> &'static str {
    match kind {
        FindingKind::Time(measure) => measure.name(),
        FindingKind::Load => "load",
        _ => "rate",
    }
}

/// Returns a change of the mean as text.
fn signed(change: f64) -> String {
    match change.is_finite() {
        true => format!("{:+.1} %", change * 100.0),
        false => "from 0".to_owned(),
    }
}

fn row(finding: &Finding, cell: &dyn Fn(u64) -> Cell) -> Option<[Cell; 10]> {
    let Shift { old, new, change, difference } = finding.shift.as_ref()?;
    let mean = |of: &Summary| cell(of.mean.round() as u64);
    Some([
        figure_name(finding.kind).into(),
        finding.subject.as_str().into(),
        mean(old),
        mean(new),
        signed(*change).into(),
        cell(old.p50),
        cell(new.p50),
        cell(old.p99),
        cell(new.p99),
        format!("{:.0} %", difference.distance * 100.0).into(),
    ])
}

fn last_line(comparison: &Comparison, layout: Layout) -> String {
    let count = |is: fn(FindingKind) -> bool| {
        comparison.findings.iter().filter(|finding| is(finding.kind)).count() as u64
    };
    let added = count(|kind| matches!(kind, FindingKind::New(_)));
    let removed = count(|kind| matches!(kind, FindingKind::Gone(_)));
    let changed = comparison.findings.len() as u64 - added - removed;
    let worse = comparison.findings.iter().filter(|finding| finding.is_worse()).count();
    let compared = format!("{} compared", counted(comparison.compared, "figure"));
    let few = match comparison.not_compared {
        0 => String::new(),
        few => format!(", {few} with too few values"),
    };
    if comparison.findings.is_empty() {
        let (word, style) = match comparison.compared {
            0 => ("NOTHING COMPARED", LOSS),
            _ => ("no difference", SUCCESS),
        };
        return format!("{}: {compared}{few}", styled(word, style, layout.color));
    }
    let word = styled("different", ERROR, layout.color);
    let changed = format!("{} changed, {worse} of them worse", counted(changed, "figure"));
    format!("{word}: {changed}; {added} new, {removed} gone; {compared}{few}")
}
