//! Errors and warnings about a source text. They are shown with file, line, column, a message, and
//! the line itself with a marker under the position.

use super::{Source, Span};
use crate::text::{display_width, fold, is_plain, shown};

/// Maximum number of findings per text. Reading stops at this number, because such a text is
/// probably not of the expected kind, and each finding needs more memory than the byte that causes
/// it.
pub const MAX_FINDINGS: usize = 10_000;

/// An error or a warning at a position in a text.
///
/// # Examples
///
/// ```
/// use tracewell::source::{Finding, Source, Span};
///
/// let source = Source::new("my.fmt", "0AA 1.0 X99");
/// let finding = Finding::error(Span { start: 8, end: 11 }, "X takes 1 to 16 bytes");
/// assert_eq!(
///     finding.show(&source),
///     "my.fmt:1:9: error: X takes 1 to 16 bytes\n1 | 0AA 1.0 X99\n  |         ^^^"
/// );
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Finding {
    /// True for an error: the program ignores the marked text. False for a warning.
    pub is_error: bool,
    /// The marked span of the text.
    pub span: Span,
    /// The message: what was expected, and what was found. Lower case, no full stop.
    pub message: String,
}

impl Finding {
    /// Creates an error. The marked text is ignored.
    pub fn error(span: Span, message: impl Into<String>) -> Self {
        Self { is_error: true, span, message: message.into() }
    }

    /// Creates a warning. The marked text is still used.
    pub fn warning(span: Span, message: impl Into<String>) -> Self {
        Self { is_error: false, span, message: message.into() }
    }

    /// Returns three lines: position and message, the source line, and a marker under the position.
    pub fn show(&self, source: &Source) -> String {
        self.show_within(source, None)
    }

    /// Returns the lines of [`Finding::show`] for a screen of `width` cells. Folds the message, and
    /// shortens the source line around the position. `None` stands for any width.
    pub fn show_within(&self, source: &Source, width: Option<usize>) -> String {
        let place = source.position(self.span.start);
        let (line, number) = (source.line(self.span.start), place.line.to_string());
        let margin = number.len() + " | ".len();
        let most = width.map(|width| width.saturating_sub(margin));
        let Excerpt { line, before, room } = Excerpt::of(line, place.column - 1, most);
        let marked = source.slice(self.span).lines().next().unwrap_or_default();
        let marked = Excerpt::cells(marked).clamp(1, room.max(1));
        let message = format!(
            "{}:{}:{}: {}: {}",
            source.name,
            place.line,
            place.column,
            if self.is_error { "error" } else { "warning" },
            shown(&self.message),
        );
        let message = width.map_or(message.as_str().into(), |width| fold(&message, width, 4));
        let digits = number.len();
        let marks = "^".repeat(marked);
        format!("{message}\n{number} | {line}\n{:digits$} | {:before$}{marks}", "", "")
    }
}

/// The part of a line that is shown.
struct Excerpt {
    /// The text. Tabs and unprintable characters are replaced by spaces; `…` marks omitted text.
    line: String,
    /// Number of cells before the position.
    before: usize,
    /// Number of cells from the position to the end of the text, without a final `…`.
    room: usize,
}

impl Excerpt {
    /// Maximum width in cells of a line that is shown completely. A file that is not text can be a
    /// single line.
    const MAX_LEN: usize = 200;
    /// Number of cells that are shown on each side of the position in a longer line.
    const AROUND: usize = 80;

    /// Returns the part of `line` around character number `column`. The part fills at most `most`
    /// cells.
    fn of(line: &str, column: usize, most: Option<usize>) -> Self {
        let plain = |c: char| if is_plain(c) { c } else { ' ' };
        let line: Vec<char> = line.chars().map(plain).collect();
        let (head, tail) = line.split_at(column.min(line.len()));
        let (head, tail): (String, String) = (head.iter().collect(), tail.iter().collect());
        let whole = most.map_or(Self::MAX_LEN, |most| most.min(Self::MAX_LEN));
        let length = display_width(&head) + display_width(&tail);
        let around = match length <= whole {
            true => whole,
            // Each side may need a cell for `…`.
            false => Self::AROUND.min((whole / 2).saturating_sub(1)),
        };
        let before: String =
            head.chars().rev().scan(0, |filled, c| taken(filled, c, around)).collect();
        let after: String = tail.chars().scan(0, |filled, c| taken(filled, c, around)).collect();
        let cut = |is_cut: bool| if is_cut { "…" } else { "" };
        let (cut_before, cut_after) =
            (cut(before.len() < head.len()), cut(after.len() < tail.len()));
        let shown: String = before.chars().rev().collect();
        Self {
            line: format!("{cut_before}{shown}{after}{cut_after}"),
            before: display_width(cut_before) + display_width(&shown),
            room: display_width(&after),
        }
    }

    /// Returns the number of cells that a marked text occupies in the excerpt.
    fn cells(marked: &str) -> usize {
        let plain = |c: char| if is_plain(c) { c } else { ' ' };
        display_width(&marked.chars().map(plain).collect::<String>())
    }
}

/// Returns the character if it fits into the rest of `most` cells.
fn taken(filled: &mut usize, c: char, most: usize) -> Option<char> {
    *filled += display_width(c.encode_utf8(&mut [0; 4]));
    (*filled <= most).then_some(c)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_characters_and_narrow_screens_keep_the_mark_under_the_place() {
        let source = Source::new("my.fmt", "任务 X99 \"a long text that follows the error\"");
        let finding = Finding::error(Span { start: 7, end: 10 }, "X takes 0 to 16 bytes");
        let shown = finding.show_within(&source, Some(30));
        let lines: Vec<_> = shown.lines().collect();
        assert_eq!(lines[..2], ["my.fmt:1:4: error: X takes 0", "    to 16 bytes"]);
        assert_eq!(lines[2..], ["1 | 任务 X99 \"a long …", "  |      ^^^"]);
    }

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

    /// Returns the line and the marks for an error at character `at` of a line of `length`
    /// characters. The `marked` characters are `x`.
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
        // The marked span extends past the shown text. The marks end at the end of the shown text.
        let (line, mark) = excerpt(1000, 0, 900);
        assert_eq!((line, mark), ("x".repeat(80) + "…", "^".repeat(80)));
        // The position is after the last character.
        let (line, mark) = excerpt(1000, 1000, 0);
        assert_eq!((line, mark), ("…".to_owned() + &"a".repeat(80), " ".repeat(81) + "^"));
    }
}
