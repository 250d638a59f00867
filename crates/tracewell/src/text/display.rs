//! Text on a screen of fixed-width cells: its width, padding, and folding of long lines.
//!
//! A Chinese character fills two cells and a combining accent none, so the number of characters is
//! not the width. Colours (escape sequences that end in `m`) have no width.

use std::borrow::Cow;

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Returns the number of cells that a line fills on a screen.
///
/// ```
/// use tracewell::text::display_width;
///
/// assert_eq!([display_width("queue"), display_width("任务"), display_width("e\u{301}")], [5, 4, 1]);
/// assert_eq!(display_width("\x1b[31mred\x1b[0m"), 3);
/// ```
pub fn display_width(line: &str) -> usize {
    if line.bytes().all(|byte| (b' '..=b'~').contains(&byte)) {
        return line.len();
    }
    if line.contains('\x1b') { cells(line).map(|(_, _, width)| width).sum() } else { line.width() }
}

/// Returns a string, padded with blanks at its end to at least `width` cells.
///
/// ```
/// use tracewell::text::padded;
///
/// assert_eq!(padded("任务", 6), "任务  ");
/// ```
pub fn padded(text: &str, width: usize) -> String {
    let blanks = width.saturating_sub(display_width(text));
    format!("{text}{:blanks$}", "")
}

/// Returns a string that fills at most `width` cells. `…` marks the place where a text was cut. A
/// number at the end of the text remains, because it often distinguishes names.
///
/// ```
/// use tracewell::text::shortened;
///
/// assert_eq!(shortened("System Timer Thread", 9), "System T…");
/// assert_eq!(shortened("control", 9), "control");
/// assert_eq!(shortened("process 4194304/12", 16), "process 4194…/12");
/// ```
pub fn shortened(text: &str, width: usize) -> Cow<'_, str> {
    if display_width(text) <= width {
        return Cow::Borrowed(text);
    }
    let number = number_at_end(text, width / 2);
    // The `…` occupies one cell.
    let mut filled = 1 + number.len();
    let kept = text.chars().take_while(|c| {
        filled += c.width().unwrap_or(0);
        filled <= width
    });
    Cow::Owned(kept.chain(['…']).chain(number.chars()).collect())
}

/// Returns the number at the end of a text, with the character before it, such as `/12`. Returns an
/// empty text if there is no number, or if it is longer than `longest`.
fn number_at_end(text: &str, longest: usize) -> &str {
    let before = text.trim_end_matches(|c: char| c.is_ascii_digit());
    let separator = before.ends_with(|c: char| c.is_ascii_punctuation() || c == ' ');
    let start = before.len() - usize::from(separator);
    if before.len() == text.len() || text.len() - start > longest { "" } else { &text[start..] }
}

/// Folds a line into lines of at most `width` cells. The lines after the first begin with `indent`
/// blanks, at most half of the width.
///
/// Breaks a line at the last blank that follows a comma in its second half, or else at the last
/// blank. If there is no blank, breaks within a word.
///
/// ```
/// use tracewell::text::fold;
///
/// assert_eq!(fold("mutex=bus, owner=none, count=0", 24, 2), "mutex=bus, owner=none,\n  count=0");
/// ```
pub fn fold(line: &str, width: usize, indent: usize) -> Cow<'_, str> {
    // Every line takes at least one character, so folding ends.
    let width = width.max(1);
    if display_width(line) <= width {
        return Cow::Borrowed(line);
    }
    // The widest characters fill two cells.
    let indent = indent.min(width / 2).min(width.saturating_sub(2));
    let (mut folded, mut rest, mut room) = (String::with_capacity(2 * line.len()), line, width);
    loop {
        let (head, tail) = rest.split_at(end_of_line(rest, room));
        folded.push_str(head.trim_end());
        // Blanks separate columns; at the beginning of a line they have no purpose.
        rest = tail.trim_start();
        if rest.is_empty() {
            return Cow::Owned(folded);
        }
        folded.push('\n');
        folded.extend(std::iter::repeat_n(' ', indent));
        room = width - indent;
    }
}

/// Returns the length in bytes of the part of `line` that fits into `room` cells.
fn end_of_line(line: &str, room: usize) -> usize {
    let (mut filled, mut blank, mut comma) = (0, None, None);
    let (mut is_indent, mut before) = (true, ' ');
    for (start, c, width) in cells(line) {
        if c == ' ' && !is_indent {
            blank = Some(start);
            if before == ',' && filled > room / 2 {
                comma = Some(start);
            }
        }
        is_indent &= c == ' ';
        if filled + width > room && (c != ' ' || is_indent) {
            // Return at least one character, even if it is wider than `room`.
            let whole = if start > 0 { start } else { c.len_utf8() };
            return comma.or(blank).unwrap_or(whole);
        }
        filled += width;
        before = c;
    }
    line.len()
}

/// Returns the characters of a line: byte offset, character, width in cells.
fn cells(line: &str) -> impl Iterator<Item = (usize, char, usize)> {
    let mut is_escape = false;
    line.char_indices().map(move |(start, c)| {
        // An escape sequence occupies no cell. It ends with `m`.
        is_escape |= c == '\x1b';
        let width = if is_escape { 0 } else { c.width().unwrap_or(0) };
        is_escape &= c != 'm';
        (start, c, width)
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_line_is_folded_at_commas_then_at_blanks_then_anywhere() {
        let line = "tx_mutex_get  mutex=log file, wait option=forever, own count=0";
        let folded = "tx_mutex_get  mutex=log file,\n    wait option=forever,\n    own count=0";
        assert_eq!(fold(line, 34, 4), folded);
        assert_eq!(fold("a word and another", 8, 0), "a word\nand\nanother");
        assert_eq!(fold("abcdefghij", 4, 1), "abcd\n efg\n hij");
        assert_eq!(fold("任务任务", 3, 0), "任\n务\n任\n务");
        assert_eq!(fold("任务", 1, 0), "任\n务");
    }

    #[test]
    fn blanks_at_a_break_disappear_and_an_indentation_is_no_break() {
        assert_eq!(fold("   abc   def", 6, 2), "   abc\n  def");
        assert_eq!(fold("      abcdef", 8, 2), "      ab\n  cdef");
        assert_eq!(fold("abc     ", 4, 2), "abc");
    }

    #[test]
    fn colours_fill_no_cell() {
        assert_eq!(fold("\x1b[31mred\x1b[0m", 3, 0), "\x1b[31mred\x1b[0m");
        assert_eq!(fold("\x1b[1mab\x1b[0m cd", 3, 0), "\x1b[1mab\x1b[0m\ncd");
    }

    proptest! {
        #[test]
        fn folded_lines_fit_and_keep_every_word(line in "[a-z,任 ]{0,60}", width in 2..40_usize) {
            let folded = fold(&line, width, 3);
            let letters = |text: &str| text.replace([' ', '\n'], "");
            prop_assert!(folded.lines().all(|line| display_width(line) <= width), "{folded}");
            prop_assert_eq!(letters(&folded), letters(&line));
        }
    }
}
