//! Makes untrusted strings safe to print. Only this module decides which characters reach a
//! terminal, a report or a message.
//!
//! Names, paths and other strings come from traces, files and targets and may contain any bytes.
//! Control bytes and escape sequences change the terminal's state, direction marks reverse a line,
//! and zero-width characters are invisible. All of these are escaped, and so are bytes that are not
//! UTF-8:
//!
//! | found | written |
//! |---|---|
//! | line end, carriage return, tab | `\n`, `\r`, `\t` |
//! | another control byte, a byte that is not UTF-8 | `\x1b` |
//! | a control character beyond ASCII, a direction mark, a character without width, a line separator | `\u{202e}` |
//!
//! Everything else is unchanged, even a backslash, because people read the output and no program
//! parses it. If a format has its own escapes, as JSON does, its writer uses them for each
//! character that [`is_plain`] rejects.

use std::borrow::Cow;
use std::fmt;
use std::path::Path;

use super::TextBuffer;

/// Returns true if a character is safe to print.
///
/// Unsafe characters are control characters, line and paragraph separators, characters that Unicode
/// lists as ignorable by default, and format characters that change the direction or form of their
/// neighbours.
///
/// ```
/// use tracewell::text::is_plain;
///
/// assert!(is_plain('ä'));
/// assert!(!is_plain('\x1b') && !is_plain('\u{202e}'));
/// ```
pub fn is_plain(c: char) -> bool {
    !c.is_control()
        && !matches!(c,
            '\u{AD}'
            | '\u{34F}'
            | '\u{61C}'
            | '\u{115F}'..='\u{1160}'
            | '\u{17B4}'..='\u{17B5}'
            | '\u{180B}'..='\u{180F}'
            | '\u{200B}'..='\u{200F}'
            | '\u{2028}'..='\u{202E}'
            | '\u{2060}'..='\u{206F}'
            | '\u{3164}'
            | '\u{FE00}'..='\u{FE0F}'
            | '\u{FEFF}'
            | '\u{FFA0}'
            | '\u{FFF0}'..='\u{FFFB}'
            | '\u{1BCA0}'..='\u{1BCA3}'
            | '\u{1D173}'..='\u{1D17A}'
            | '\u{E0000}'..='\u{E0FFF}')
}

/// Returns true if a byte is a printable ASCII character. A string of such bytes needs no further
/// check.
#[inline]
pub(crate) fn is_plain_ascii(byte: u8) -> bool {
    matches!(byte, b' '..=b'~')
}

/// An untrusted string. `Display` escapes its unsafe characters.
#[derive(Clone, Copy, Debug)]
pub struct Shown<'a>(&'a [u8]);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&shown(self.0))
    }
}

/// Returns a path as a string that is safe in a message.
///
/// ```
/// use tracewell::text::shown_path;
///
/// assert_eq!(shown_path("a\nb.trx").to_string(), r"a\nb.trx");
/// ```
pub fn shown_path<T: AsRef<Path> + ?Sized>(path: &T) -> Shown<'_> {
    Shown(path.as_ref().as_os_str().as_encoded_bytes())
}

/// Returns a string with unsafe characters escaped.
///
/// ```
/// use tracewell::text::shown;
///
/// assert_eq!(shown("main queue"), "main queue");
/// assert_eq!(shown(b"\x1b[31m\xFF"), r"\x1b[31m\xff");
/// ```
pub fn shown<T: AsRef<[u8]> + ?Sized>(text: &T) -> Cow<'_, str> {
    escaped(text.as_ref(), is_plain)
}

/// Does the same as [`shown`] for several lines. Line ends and tabs are unchanged.
pub fn shown_lines(text: &str) -> Cow<'_, str> {
    escaped(text.as_bytes(), |c| matches!(c, '\n' | '\t') || is_plain(c))
}

/// Appends a string with unsafe characters escaped.
pub(crate) fn put_shown(out: &mut TextBuffer, text: &[u8]) {
    out.text(shown(text).as_bytes());
}

/// Escapes every character for which `stays` returns false.
fn escaped(text: &[u8], stays: impl Fn(char) -> bool) -> Cow<'_, str> {
    if let Ok(text) = std::str::from_utf8(text)
        // Nearly every string is ASCII. For ASCII, the first test is much faster.
        && (text.bytes().all(is_plain_ascii) || text.chars().all(&stays))
    {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for chunk in text.utf8_chunks() {
        for c in chunk.valid().chars() {
            match c {
                _ if stays(c) => out.push(c),
                '\n' => out.push_str("\\n"),
                '\r' => out.push_str("\\r"),
                '\t' => out.push_str("\\t"),
                // Use two digits, as for single bytes. Characters beyond ASCII need more digits,
                // and braces around them.
                '\0'..='\x7f' => out.push_str(&format!("\\x{:02x}", u32::from(c))),
                _ => out.push_str(&format!("\\u{{{:x}}}", u32::from(c))),
            }
        }
        for byte in chunk.invalid() {
            out.push_str(&format!("\\x{byte:02x}"));
        }
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn characters_that_change_a_terminal_or_hide_are_escaped() {
        assert_eq!(shown("\x1b[31mred"), "\\x1b[31mred");
        assert_eq!(shown("a\nb\tc\rd\0e\x7f"), "a\\nb\\tc\\rd\\x00e\\x7f");
        assert_eq!(shown("\u{9b}31m"), "\\u{9b}31m");
        assert_eq!(shown("abc\u{202e}gpj.exe"), "abc\\u{202e}gpj.exe");
        assert_eq!(
            shown("a\u{2066}b\u{2069}c\u{200f}d\u{61c}"),
            "a\\u{2066}b\\u{2069}c\\u{200f}d\\u{61c}"
        );
        assert_eq!(
            shown("ad\u{200b}min\u{feff}\u{ad}\u{2060}"),
            "ad\\u{200b}min\\u{feff}\\u{ad}\\u{2060}"
        );
        assert_eq!(shown("one\u{2028}two"), "one\\u{2028}two");
        assert_eq!(shown("tag\u{e0041}"), "tag\\u{e0041}");
        assert_eq!(shown(b"caf\xe9 \xff\x1b"), "caf\\xe9 \\xff\\x1b");
    }

    #[test]
    fn ordinary_text_is_unchanged() {
        for text in ["", "main queue", "größe", "任务", "مهمة", "e\u{301}", "C:\\new", "100 %"]
        {
            assert!(matches!(shown(text), Cow::Borrowed(same) if same == text), "{text}");
        }
    }

    #[test]
    fn lines_of_a_message_stay_lines() {
        assert_eq!(shown_lines("one\n\ttwo\x1b[2J\n"), "one\n\ttwo\\x1b[2J\n");
    }

    #[test]
    fn a_path_is_shown_on_one_line() {
        assert_eq!(shown_path(Path::new("a\n\u{202e}b")).to_string(), "a\\n\\u{202e}b");
    }

    proptest! {
        #[test]
        fn no_unsafe_character_remains(text: Vec<u8>) {
            prop_assert!(shown(&text).chars().all(is_plain));
        }
    }
}
