//! The records of an update file.

use super::FIRST_LINE;
use crate::source::{Finding, Severity, Source, Span};
use crate::template::parser::parse_line;
use crate::template::syntax::{Key, Stanza};

/// What an update file asks for.
#[derive(Clone, Debug)]
pub enum Record {
    /// `+ TEMPLATE`: add it, or put it in the place of an older one.
    Add {
        /// The template.
        stanza: Stanza,
        /// Its text as written.
        text: String,
    },
    /// `- ID`: delete the template.
    Delete {
        /// Its hook id.
        id: u16,
    },
}

/// Reads an update file.
///
/// # Errors
/// All that is wrong with it; nothing is to be changed then. Warnings alone are no error.
pub fn read(source: &Source) -> Result<Vec<Record>, Vec<Finding>> {
    let mut findings = Vec::new();
    let first = source.text.lines().next().unwrap_or_default();
    if first.trim_end() != FIRST_LINE {
        let span = Span { start: 0, end: first.len() as u32 };
        let message = format!("expected '{FIRST_LINE}' as the first line of an update file");
        findings.push(Finding::error(span, message));
    }
    let mut records = Vec::new();
    let mut at = first.len() as u32 + 1;
    while let Some(line) = source.text.get(at as usize..).filter(|rest| !rest.is_empty()) {
        let blanks = line.len() - line.trim_start_matches([' ', '\t', '\r']).len();
        let start = at + blanks as u32;
        at = match line.as_bytes().get(blanks) {
            Some(b'+') => addition(source, start, &mut records, &mut findings),
            Some(b'-') => {
                deletion(source, start, &mut records, &mut findings);
                behind_line(source, start)
            }
            None | Some(b'\n' | b'#' | b'*') => behind_line(source, start),
            Some(_) => {
                let message = "expected '+' and a template, '-' and a hook id, or a comment";
                findings.push(Finding::error(Span { start, end: start + 1 }, message));
                behind_line(source, start)
            }
        };
    }
    let is_error = |finding: &Finding| finding.severity == Severity::Error;
    if findings.iter().any(is_error) { Err(findings) } else { Ok(records) }
}

fn behind_line(source: &Source, at: u32) -> u32 {
    let rest = source.text.get(at as usize..).unwrap_or_default();
    at + rest.find('\n').map_or(rest.len(), |end| end + 1) as u32
}

/// Reads the template behind a `+`; where the text behind it begins.
fn addition(
    source: &Source,
    plus: u32,
    records: &mut Vec<Record>,
    findings: &mut Vec<Finding>,
) -> u32 {
    let (stanza, found, behind) = parse_line(source, plus + 1);
    findings.extend(found);
    if stanza.valid && matches!(stanza.key, Key::Name(_)) {
        let message = "expected a hook id: update files know no names of events";
        findings.push(Finding::error(stanza.key_span, message));
    }
    let text = source.slice(stanza.span).to_owned();
    records.push(Record::Add { stanza, text });
    behind.max(plus + 1)
}

fn deletion(source: &Source, minus: u32, records: &mut Vec<Record>, findings: &mut Vec<Finding>) {
    let rest = source.text.get(minus as usize + 1..).unwrap_or_default();
    let line = rest.lines().next().unwrap_or_default();
    // What stands behind the id is for people.
    let word = line.split_whitespace().next().unwrap_or_default();
    match Key::from_digits(word) {
        Some(id) => records.push(Record::Delete { id }),
        None => {
            let start = minus + 1 + (line.len() - line.trim_start().len()) as u32;
            let span = Span { start, end: start + word.len() as u32 };
            let message = "expected a hook id of 3 or 4 hexadecimal digits behind '-'";
            findings.push(Finding::error(span, message));
        }
    }
}
