//! What is wrong with a text, shown as its author needs it: file, line, column, the line itself
//! with the place marked, what was expected and what was found.

use super::{Source, Span};
use crate::text::{is_plain, shown};

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

/// Findings of a text that are kept. A text with more is not read on: what is in it is likely no text of this kind, and a
/// finding takes more memory than the byte that it is about.
pub const MAX_FINDINGS: usize = 10_000;

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
        let Excerpt { line, before, room } =
            Excerpt::of(source.line(self.span.start), place.column - 1);
        let marked = source.slice(self.span).lines().next().unwrap_or_default().chars().count();
        let number = place.line.to_string();
        format!(
            "{}:{}:{}: {}: {}\n{number} | {line}\n{:width$} | {:before$}{}",
            source.name,
            place.line,
            place.column,
            self.severity.as_str(),
            shown(&self.message),
            "",
            "",
            "^".repeat(marked.clamp(1, room.max(1))),
            width = number.len(),
        )
    }
}

/// As much of a line as is worth showing.
struct Excerpt {
    /// The text; tabs and what cannot be shown are blanks, `…` stands where the line was cut.
    line: String,
    /// Characters of it before the place.
    before: usize,
    /// Characters of the source line in it from the place on.
    room: usize,
}

impl Excerpt {
    /// The longest line that is shown whole, in characters: a file that is no text at all may be one line.
    const LONGEST: usize = 200;
    /// Characters that are shown on each side of the place in a longer one.
    const AROUND: usize = 80;

    /// What is around the place `column` characters into a line.
    fn of(line: &str, column: usize) -> Self {
        let length = line.chars().count();
        let (start, end) = match length {
            0..=Self::LONGEST => (0, length),
            _ => (column.saturating_sub(Self::AROUND), length.min(column + Self::AROUND)),
        };
        let plain = |c: char| if is_plain(c) { c } else { ' ' };
        let cut = |is_cut: bool| is_cut.then_some('…');
        let shown = line.chars().skip(start).take(end - start).map(plain);
        Self {
            line: cut(start > 0).into_iter().chain(shown).chain(cut(end < length)).collect(),
            before: column - start + usize::from(start > 0),
            room: end.saturating_sub(column),
        }
    }
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

    /// The line and the marks of an error at `at` characters into a line of `length`, the `marked` ones being `x`.
    fn excerpt(length: usize, at: usize, marked: usize) -> (String, String) {
        let text = "a".repeat(at) + &"x".repeat(marked) + &"b".repeat(length - at - marked);
        let span = Span { start: at as u32, end: (at + marked) as u32 };
        let shown = Finding::error(span, "no").show(&Source::new("my.fmt", text));
        let mut lines = shown.lines().skip(1).map(|line| line[4..].to_owned());
        (lines.next().unwrap(), lines.next().unwrap())
    }

    #[test]
    fn a_line_of_usual_length_is_shown_whole() {
        let (line, mark) = excerpt(200, 150, 2);
        assert_eq!(line, "a".repeat(150) + "xx" + &"b".repeat(48));
        assert_eq!(mark, " ".repeat(150) + "^^");
    }

    #[test]
    fn a_long_line_is_cut_around_the_place_and_says_so() {
        let (line, mark) = excerpt(1000, 500, 3);
        assert_eq!(line, format!("…{}xxx{}…", "a".repeat(80), "b".repeat(77)));
        assert_eq!(mark, " ".repeat(81) + "^^^");
        let (line, mark) = excerpt(1000, 10, 3);
        assert_eq!(line, format!("{}xxx{}…", "a".repeat(10), "b".repeat(77)));
        assert_eq!(mark, " ".repeat(10) + "^^^");
        let (line, mark) = excerpt(1000, 990, 3);
        assert_eq!(line, format!("…{}xxx{}", "a".repeat(80), "b".repeat(7)));
        assert_eq!(mark, " ".repeat(81) + "^^^");
        // What is marked goes on behind the cut: the marks do not.
        let (line, mark) = excerpt(1000, 0, 900);
        assert_eq!((line, mark), ("x".repeat(80) + "…", "^".repeat(80)));
        // Behind the last character.
        let (line, mark) = excerpt(1000, 1000, 0);
        assert_eq!((line, mark), ("…".to_owned() + &"a".repeat(80), " ".repeat(81) + "^"));
    }
}
