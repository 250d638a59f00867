//! Escapes text for each format. Names and strings come from traces and may contain arbitrary
//! bytes.
//!
//! | format | written |
//! |---|---|
//! | JSON | escapes such as `\n` and `\u202e` for characters that JSON requires to be escaped and for characters that are not plain (see [`is_plain`]); a JSON parser restores the text |
//! | TSV | `\` before tab, line end, carriage return and backslash; [`crate::text::shown`] escapes other characters that are not plain |
//! | CSV | quoted if RFC 4180 requires it; tabs and line ends are unchanged, and `shown` escapes other characters that are not plain |
//!
//! Spreadsheets interpret a CSV cell that begins with `=`, `+`, `-`, `@`, tab or carriage return as
//! a formula. This module puts an apostrophe before a text cell that begins with one of these
//! characters, unless the cell is a number. It also puts one before a text cell that begins with an
//! apostrophe, so removing one leading apostrophe always restores the text. Columns of numbers are
//! not changed.

use super::EventFormat;
use crate::text::{TextBuffer, is_plain, is_plain_ascii, put_shown};

/// Appends text, escaped for the format.
pub(super) fn put_text(format: EventFormat, out: &mut TextBuffer, text: &[u8]) {
    match format {
        EventFormat::JsonLines => put_json(out, text),
        EventFormat::Tsv => put_tsv(out, text),
        EventFormat::Csv => put_csv(out, text),
    }
}

/// Escapes the text from byte `start` on, if necessary.
#[inline]
pub(super) fn escape_from(format: EventFormat, out: &mut TextBuffer, start: usize) {
    let special = match format {
        EventFormat::JsonLines => out.any_from(start, special_in_json),
        EventFormat::Tsv => out.any_from(start, special_in_tsv),
        EventFormat::Csv => {
            out.any_from(start, special_in_csv) || is_formula(&out.as_bytes()[start..])
        }
    };
    if special {
        escape_all(format, out, start);
    }
}

/// Returns true if a name needs escapes in a format.
pub(super) fn is_special(format: EventFormat, name: &str) -> bool {
    match format {
        EventFormat::JsonLines => name.bytes().any(special_in_json),
        EventFormat::Tsv => name.bytes().any(special_in_tsv),
        EventFormat::Csv => name.bytes().any(special_in_csv) || is_formula(name.as_bytes()),
    }
}

#[cold]
fn escape_all(format: EventFormat, out: &mut TextBuffer, start: usize) {
    // Few strings need escapes, so this copy is rare.
    let text = out.as_bytes()[start..].to_vec();
    out.truncate(start);
    put_text(format, out, &text);
}

/// Returns true for bytes that may need an escape, including all non-ASCII bytes.
fn special_in_json(byte: u8) -> bool {
    !is_plain_ascii(byte) || byte == b'"' || byte == b'\\'
}

fn special_in_tsv(byte: u8) -> bool {
    !is_plain_ascii(byte) || byte == b'\\'
}

fn special_in_csv(byte: u8) -> bool {
    !is_plain_ascii(byte) || byte == b',' || byte == b'"'
}

/// Returns true if a spreadsheet would interpret a cell as a formula, or if the cell begins with an
/// apostrophe.
fn is_formula(cell: &[u8]) -> bool {
    let number = |rest: &[u8]| rest.iter().all(|byte| byte.is_ascii_digit() || *byte == b'.');
    match cell {
        [b'\'', ..] | [b'\t' | b'\r', ..] => true,
        [b'=' | b'@', rest @ ..] => !rest.is_empty(),
        [b'+' | b'-', rest @ ..] => !number(rest),
        _ => false,
    }
}

fn put_json(out: &mut TextBuffer, text: &[u8]) {
    for chunk in text.utf8_chunks() {
        for c in chunk.valid().chars() {
            match c {
                '"' | '\\' => out.text([b'\\', c as u8]),
                '\n' => out.text(b"\\n"),
                '\t' => out.text(b"\\t"),
                _ if is_plain(c) => out.text(c.encode_utf8(&mut [0; 4])),
                _ => {
                    // JSON's `\u` escapes are UTF-16. A character of more than 16 bits needs two.
                    for unit in c.encode_utf16(&mut [0; 2]) {
                        out.text(format!("\\u{unit:04x}"));
                    }
                }
            }
        }
        // JSON cannot express bytes that are not UTF-8.
        for byte in chunk.invalid() {
            // The backslash is escaped, so a JSON parser returns `\xff` as text.
            out.text(format!("\\\\x{byte:02x}"));
        }
    }
}

fn put_tsv(out: &mut TextBuffer, text: &[u8]) {
    // `put_shown` does not escape backslashes, so they are doubled here.
    for part in text.split_inclusive(|byte| *byte == b'\\') {
        put_shown(out, part);
        if part.ends_with(b"\\") {
            out.byte(b'\\');
        }
    }
}

fn put_csv(out: &mut TextBuffer, text: &[u8]) {
    let quoted = text.iter().any(|byte| matches!(byte, b',' | b'"' | b'\n' | b'\r'));
    if quoted {
        out.byte(b'"');
    }
    // Put the apostrophe within the quotes, because spreadsheets remove quotes before they
    // interpret the cell.
    if is_formula(text) {
        out.byte(b'\'');
    }
    for part in text.split_inclusive(|byte| matches!(byte, b'"' | b'\n' | b'\r' | b'\t')) {
        match part.split_last() {
            Some((b'"', before)) => {
                put_shown(out, before);
                out.text(b"\"\"");
            }
            Some((stays @ (b'\n' | b'\r' | b'\t'), before)) => {
                put_shown(out, before);
                out.byte(*stays);
            }
            _ => put_shown(out, part),
        }
    }
    if quoted {
        out.byte(b'"');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(format: EventFormat, text: &str) -> String {
        let mut out = TextBuffer::default();
        out.text(text);
        escape_from(format, &mut out, 0);
        let mut put = TextBuffer::default();
        put_text(format, &mut put, text.as_bytes());
        assert_eq!(out.as_bytes(), put.as_bytes(), "{text:?}");
        String::from_utf8(put.as_bytes().to_vec()).unwrap()
    }

    #[test]
    fn json_gives_a_text_back_and_shows_nothing_that_is_not_plain() {
        for text in
            ["plain", "a\"b\\c\nd\te\0\x1b\x7f", "\u{202e}x\u{200b}\u{e0041}", "größe", "\u{9b}"]
        {
            let json = written(EventFormat::JsonLines, text);
            assert!(json.chars().all(is_plain), "{json}");
            let read: String = serde_json::from_str(&format!("\"{json}\"")).unwrap();
            assert_eq!(read, text);
        }
    }

    #[test]
    fn tables_show_nothing_that_is_not_plain() {
        assert_eq!(
            written(EventFormat::Tsv, "a\tb\\c\x1b[m\u{202e}"),
            "a\\tb\\\\c\\x1b[m\\u{202e}"
        );
        assert_eq!(written(EventFormat::Csv, "a\tb\\c\x1b[m\u{202e}"), "a\tb\\c\\x1b[m\\u{202e}");
        assert_eq!(written(EventFormat::Csv, "a\n\"b\","), "\"a\n\"\"b\"\",\"");
        assert_eq!(written(EventFormat::Csv, "größe"), "größe");
    }

    #[test]
    fn no_csv_cell_is_a_formula_and_numbers_stay() {
        for (text, cell) in [
            ("=1+1", "'=1+1"),
            ("@SUM(A1)", "'@SUM(A1)"),
            ("-idle-", "'-idle-"),
            ("+x,y", "\"'+x,y\""),
            ("\t=1", "'\t=1"),
            ("\r=1", "\"'\r=1\""),
            ("'quoted'", "''quoted'"),
            ("-5", "-5"),
            ("+1.5", "+1.5"),
            ("-", "-"),
            ("a=1", "a=1"),
        ] {
            assert_eq!(written(EventFormat::Csv, text), cell);
        }
    }
}
