//! What is wrong with a text, shown as its author needs it: file, line, column, the line itself
//! with the place marked, what was expected and what was found.

use super::{Source, Span};

/// How bad it is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Severity {
    /// It can be used and is probably not meant so.
    Warning,
    /// It cannot be used; what it is part of is left out.
    Error,
}

impl Severity {
    /// In a word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

/// Something wrong at a place.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Finding {
    /// How bad it is.
    pub severity: Severity,
    /// Where.
    pub span: Span,
    /// What was expected and what was found.
    pub message: String,
}

impl Finding {
    /// An error at a place.
    pub fn error(span: Span, message: impl Into<String>) -> Self {
        Self { severity: Severity::Error, span, message: message.into() }
    }

    /// A warning at a place.
    pub fn warning(span: Span, message: impl Into<String>) -> Self {
        Self { severity: Severity::Warning, span, message: message.into() }
    }

    /// Three lines of text: place and message, the line, a mark under the place.
    pub fn show(&self, source: &Source) -> String {
        let place = source.position(self.span.start);
        let line = source.line(self.span.start);
        let (line, before) = excerpt(line, place.column - 1);
        let marked = source.slice(self.span).lines().next().unwrap_or_default().chars().count();
        let room = line.chars().count().saturating_sub(before).max(1);
        let number = place.line.to_string();
        format!(
            "{}:{}:{}: {}: {}\n{number} | {line}\n{:width$} | {:before$}{}",
            source.name,
            place.line,
            place.column,
            self.severity.as_str(),
            self.message,
            "",
            "",
            "^".repeat(marked.clamp(1, room)),
            width = number.len(),
        )
    }
}

/// As much of a line as is worth showing: tabs are blanks, and of a very long line only what is around
/// the place `before` characters into it. Also how many characters are before the place then.
fn excerpt(line: &str, before: usize) -> (String, usize) {
    const AROUND: usize = 80;
    let skipped = before.saturating_sub(AROUND);
    let plain = |c: char| if c.is_control() { ' ' } else { c };
    let shown = line.chars().skip(skipped).take(2 * AROUND).map(plain).collect();
    (shown, before - skipped)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mark_is_under_the_place() {
        let source = Source::new("my.fmt", "# head\n0AA 1.0 X99 \"a\"\n");
        let finding = Finding::error(Span { start: 15, end: 18 }, "X takes 0 to 16 bytes");
        let shown = "my.fmt:2:9: error: X takes 0 to 16 bytes\n\
                     2 | 0AA 1.0 X99 \"a\"\n\
                     \u{20} |         ^^^";
        assert_eq!(finding.show(&source), shown);
    }

    #[test]
    fn a_place_at_the_end_of_the_text_can_be_shown() {
        let source = Source::new("my.fmt", "0AA 1.0 {");
        let shown = Finding::error(Span { start: 9, end: 9 }, "expected '}'").show(&source);
        assert!(shown.ends_with("1 | 0AA 1.0 {\n  |          ^"), "{shown}");
    }
}
