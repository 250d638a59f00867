//! Reads the records of an update file.

use super::FIRST_LINE;
use crate::source::{Finding, Source, Span};
use crate::template::parser::parse_line;
use crate::template::syntax::{Key, Stanza};

/// A record of an update file.
///
/// # Examples
///
/// ```
/// use tracewell::template::Source;
/// use tracewell::template::update::{Record, read};
///
/// let records = read(&Source::new("u.trc", "* /etc/trcfmt\n- 0AB\n")).expect("no errors");
/// assert!(matches!(records[..], [Record::Delete { id: 0x0AB0 }]));
/// ```
#[derive(Clone, Debug)]
pub enum Record {
    /// `+ TEMPLATE`: adds the template, or replaces an older template.
    Add {
        /// The parsed template, with its key and version.
        stanza: Stanza,
        /// The text of the template as written.
        text: String,
    },
    /// `- ID`: deletes the template.
    Delete {
        /// The hook id as a 16-bit number: `0AB` is 0x0AB0.
        id: u16,
    },
}

/// Reads an update file.
///
/// # Errors
/// Returns all errors of the file. In that case no record may be applied. Warnings alone are not an
/// error.
pub fn read(source: &Source) -> Result<Vec<Record>, Vec<Finding>> {
    let mut findings = Vec::new();
    let first = source.text.lines().next().unwrap_or_default();
    if first.trim_end() != FIRST_LINE {
        let span = Span { start: 0, end: first.len() as u32 };
        let message = format!("expected '{FIRST_LINE}' as the first line of an update file");
        findings.push(Finding::error(span, message));
    }
    let mut records = Vec::new();
    // Continue after a wrong first line, so that all errors are reported at once.
    let mut at = first.len() as u32 + 1;
    while let Some(line) = source.text.get(at as usize..).filter(|rest| !rest.is_empty()) {
        let blanks = line.len() - line.trim_start_matches([' ', '\t', '\r']).len();
        let start = at + blanks as u32;
        at = match line.as_bytes().get(blanks) {
            Some(b'+') => addition(source, start, &mut records, &mut findings),
            Some(b'-') => {
                deletion(source, start, &mut records, &mut findings);
                after_line(source, start)
            }
            None | Some(b'\n' | b'#' | b'*') => after_line(source, start),
            Some(_) => {
                let message = "expected '+' and a template, '-' and a hook id, or a comment";
                findings.push(Finding::error(Span { start, end: start + 1 }, message));
                after_line(source, start)
            }
        };
    }
    let is_error = |finding: &Finding| finding.is_error;
    if findings.iter().any(is_error) { Err(findings) } else { Ok(records) }
}

fn after_line(source: &Source, at: u32) -> u32 {
    let rest = source.text.get(at as usize..).unwrap_or_default();
    at + rest.find('\n').map_or(rest.len(), |end| end + 1) as u32
}

/// Reads the template after a `+`. Also returns the offset of the text after it.
fn addition(
    source: &Source,
    plus: u32,
    records: &mut Vec<Record>,
    findings: &mut Vec<Finding>,
) -> u32 {
    let (stanza, found, after) = parse_line(source, plus + 1);
    findings.extend(found);
    if stanza.valid && matches!(stanza.key, Key::Name(_)) {
        let message = "expected a hook id: update files cannot use event names";
        findings.push(Finding::error(stanza.key_span, message));
    }
    let text = source.slice(stanza.span).to_owned();
    records.push(Record::Add { stanza, text });
    // Always advance, even if there was no template after the `+`.
    after.max(plus + 1)
}

fn deletion(source: &Source, minus: u32, records: &mut Vec<Record>, findings: &mut Vec<Finding>) {
    let rest = source.text.get(minus as usize + 1..).unwrap_or_default();
    let line = rest.lines().next().unwrap_or_default();
    // The text after the id is a comment.
    let word = line.split_whitespace().next().unwrap_or_default();
    match Key::from_digits(word) {
        Some(id) => records.push(Record::Delete { id }),
        None => {
            let start = minus + 1 + (line.len() - line.trim_start().len()) as u32;
            let span = Span { start, end: start + word.len() as u32 };
            let message = "expected a hook id of 3 or 4 hexadecimal digits after '-'";
            findings.push(Finding::error(span, message));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_another_kind_is_marked_at_its_first_character() {
        let lines = format!("{FIRST_LINE}\n# a comment\n  what\n- 100\n?\n");
        let source = Source::new("update", lines.as_str());
        let marked = read(&source).unwrap_err().into_iter().map(|finding| finding.span);
        let marked: Vec<_> =
            marked.map(|span| &lines[span.start as usize..span.end as usize]).collect();
        assert_eq!(marked, ["w", "?"]);
    }
}
