//! Text as each format wants it. Names come from files: they may hold anything.

use super::EventFormat;
use crate::text::TextBuffer;

/// Appends text in the format's way of writing it. Text comes from files: it may hold anything.
pub(super) fn put_text(format: EventFormat, out: &mut TextBuffer, text: &[u8]) {
    match format {
        EventFormat::JsonLines => put_json(out, text),
        EventFormat::Tsv => put_tsv(out, text),
        EventFormat::Csv => put_csv(out, text),
    }
}

/// Escapes what was appended from byte `start` on, where it needs to be.
#[inline]
pub(super) fn escape_from(format: EventFormat, out: &mut TextBuffer, start: usize) {
    let special = match format {
        EventFormat::JsonLines => out.any_from(start, special_in_json),
        EventFormat::Tsv => out.any_from(start, special_in_tsv),
        EventFormat::Csv => out.any_from(start, special_in_csv),
    };
    if special {
        escape_all(format, out, start);
    }
}

#[cold]
fn escape_all(format: EventFormat, out: &mut TextBuffer, start: usize) {
    let text = out.as_bytes()[start..].to_vec();
    out.truncate(start);
    put_text(format, out, &text);
}

fn special_in_json(byte: u8) -> bool {
    byte < 0x20 || byte == b'"' || byte == b'\\'
}

fn special_in_tsv(byte: u8) -> bool {
    matches!(byte, b'\t' | b'\n' | b'\r' | b'\\')
}

fn special_in_csv(byte: u8) -> bool {
    matches!(byte, b',' | b'"' | b'\n' | b'\r')
}

fn put_json(out: &mut TextBuffer, text: &[u8]) {
    for &byte in text {
        match byte {
            b'"' | b'\\' => out.text([b'\\', byte]),
            b'\n' => out.text(b"\\n"),
            b'\t' => out.text(b"\\t"),
            0..0x20 => out.text(format!("\\u{byte:04x}")),
            _ => out.byte(byte),
        }
    }
}

fn put_tsv(out: &mut TextBuffer, text: &[u8]) {
    for &byte in text {
        match byte {
            b'\t' => out.text(b"\\t"),
            b'\n' => out.text(b"\\n"),
            b'\r' => out.text(b"\\r"),
            b'\\' => out.text(b"\\\\"),
            _ => out.byte(byte),
        }
    }
}

fn put_csv(out: &mut TextBuffer, text: &[u8]) {
    if !text.iter().copied().any(special_in_csv) {
        return out.text(text);
    }
    out.byte(b'"');
    for &byte in text {
        if byte == b'"' {
            out.byte(b'"');
        }
        out.byte(byte);
    }
    out.byte(b'"');
}
