//! Compares the rows of the cases with the stored rows.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write as _;

use crate::answer::{Answer, Arrival, Counts, digest};
use crate::cases::{self, Case};
use crate::samples::Sample;
use crate::support::fixture;

const HEAD: &str = "case\tevents\tgaps\tlost\tdamage\twarnings\trefused\tdigest\tin parts";

/// Samples of 64-bit targets. A damaged size in their headers can be larger than the memory of a
/// 32-bit machine. There, the decoder counts fewer slots, so the rows are not compared.
const NEEDS_64_BITS: [&str; 3] = ["wrapped: ", "wide stamps: ", "late width: "];

/// The largest number of changed rows that a failure lists.
const SHOWN: usize = 20;

/// Compares the rows of a dialect with its table.
pub(crate) fn compare(dialect: &str, samples: &[Sample]) {
    let shown = std::env::var("SHOW").ok();
    let cases = samples.iter().flat_map(cases::of).map(|case| {
        if shown.as_deref() == Some(&case.name) {
            show(&case);
        }
        let row = row(&case);
        (case.name, row)
    });
    check(dialect, HEAD, cases.collect());
}

/// Compares rows with the table of this name, or writes the table if `BLESS=1` is set. A row is its
/// name and its other columns.
pub(crate) fn check(name: &str, head: &str, rows: Vec<(String, String)>) {
    let path = fixture(&format!("answers/{name}.tsv"));
    let mut table = format!("{head}\n");
    for (case, row) in rows {
        let _ = writeln!(table, "{case}\t{row}");
    }
    if std::env::var_os("BLESS").is_some_and(|value| value == "1") {
        std::fs::write(&path, &table).unwrap();
    }
    let stored = std::fs::read_to_string(&path).unwrap_or_default().replace('\r', "");
    let changes = changes(&stored, &table);
    assert!(
        changes.is_empty(),
        "{}: {} rows differ:\n{}\nSHOW='CASE' prints the whole answer of a row; BLESS=1 renews the \
         table",
        path.display(),
        changes.len(),
        changes[..changes.len().min(SHOWN)].concat(),
    );
}

/// Returns a line for each row that only one of two tables contains.
fn changes(stored: &str, found: &str) -> Vec<String> {
    let rows = |table: &str| -> BTreeMap<String, String> {
        let rows = table.lines().filter_map(|row| row.split_once('\t'));
        rows.map(|(case, answer)| (case.to_owned(), answer.replace('\t', " "))).collect()
    };
    let (stored, found) = (rows(stored), rows(found));
    let mut changes = Vec::new();
    for (case, new) in &found {
        match stored.get(case) {
            Some(old) if old == new => {}
            Some(old) => changes.push(format!("  {case}\n    stored {old}\n    found  {new}\n")),
            None => changes.push(format!("  {case}\n    found  {new}, not stored\n")),
        }
    }
    let gone = stored.keys().filter(|case| !found.contains_key(*case));
    changes.extend(gone.map(|case| format!("  {case}\n    stored, but no such case\n")));
    if cfg!(target_pointer_width = "32") {
        changes
            .retain(|row| !NEEDS_64_BITS.iter().any(|sample| row.trim_start().starts_with(sample)));
    }
    changes
}

/// Returns the row of a case, without its name. If it has several inputs, the row contains sums of
/// their counts, and a digest of their digests.
fn row(case: &Case<'_>) -> String {
    let mut counts = Counts::default();
    let (mut whole, mut parts) = (String::new(), String::new());
    // The digests of sweeps leave out the lines, which take most of the time.
    let lines = case.inputs.len() == 1;
    for (index, edits) in case.inputs.iter().enumerate() {
        let answer = case.answer(edits, Arrival::Whole, lines);
        counts.add(&answer.counts);
        whole.push_str(&digest(&format!("{}{}", answer.text, answer.copied)));
        // In parts, a few inputs of a sweep suffice.
        if index % 8 == 0 {
            let in_parts = case.answer(edits, Arrival::Parts, lines);
            let same = in_parts.text == answer.text;
            parts.push_str(&if same { "same".to_owned() } else { digest(&in_parts.text) });
        }
    }
    let Counts { events, gaps, lost, damage, warnings, refused } = counts;
    let short = |digests: &str| match digests.len() > 8 {
        true => digest(digests),
        false => digests.to_owned(),
    };
    let all_same = parts.as_bytes().chunks(4).all(|part| part == b"same");
    let parts = if all_same { "same".to_owned() } else { short(&parts) };
    let numbers = format!("{events}\t{gaps}\t{lost}\t{damage}\t{warnings}\t{refused}");
    format!("{numbers}\t{}\t{parts}", short(&whole))
}

/// Prints the whole answers of a case.
fn show(case: &Case<'_>) {
    let mut text = String::new();
    for edits in &case.inputs {
        let edits_text: Vec<_> = edits.iter().map(ToString::to_string).collect();
        let edits_text = edits_text.join(", ");
        let Answer { text: whole, copied, .. } = case.answer(edits, Arrival::Whole, true);
        let _ = writeln!(text, "== {} [{edits_text}]\n{whole}{copied}", case.name);
        let parts = case.answer(edits, Arrival::Parts, true).text;
        if parts != whole {
            let _ = writeln!(text, "== {} [{edits_text}], in parts\n{parts}", case.name);
        }
    }
    print(&text);
}

/// Prints a text, past the test runner's capture, which hides the output of passing tests.
pub(crate) fn print(text: &str) {
    let _ = std::io::stderr().write_all(text.as_bytes());
}
