//! Prints values as text.

use crate::template::errno;
use crate::template::syntax::Code;
use crate::text::{TextBuffer, calendar, put};

/// Prints bytes in hexadecimal, two digits each.
#[inline]
pub(super) fn hexadecimal_bytes(out: &mut TextBuffer, bytes: &[u8]) {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    for byte in bytes {
        let digits = [DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]];
        out.text(digits);
    }
}

/// Prints the low bytes of a number in hexadecimal.
#[inline]
pub(super) fn hexadecimal(out: &mut TextBuffer, number: u64, bytes: usize) {
    match bytes {
        // Nearly all numbers in a report are words of 4 or 8 bytes.
        4 => out.hexadecimal(number, 8),
        8 => out.hexadecimal(number, 16),
        _ => {
            let all = number.to_be_bytes();
            // A number has at most 8 bytes. A longer code prints leading zeros.
            for _ in 8..bytes {
                out.text(b"00");
            }
            hexadecimal_bytes(out, &all[8 - bytes.min(8)..]);
        }
    }
}

#[inline]
pub(super) fn signed(out: &mut TextBuffer, number: i64) {
    if number < 0 {
        out.byte(b'-');
    }
    out.decimal(number.unsigned_abs());
}

pub(super) fn octal(out: &mut TextBuffer, number: u64) {
    put(out, format_args!("{number:o}"));
}

/// Prints bytes as text, with dots for unprintable bytes. With a width, the text is truncated or
/// padded on the right.
pub(super) fn ascii(out: &mut TextBuffer, bytes: &[u8], width: Option<u16>) {
    let width = width.map(usize::from);
    let shown = bytes.get(..width.unwrap_or(bytes.len())).unwrap_or(bytes);
    for byte in shown {
        out.byte(if matches!(byte, b' '..=b'~') { *byte } else { b'.' });
    }
    out.blanks(width.unwrap_or(0).saturating_sub(shown.len()));
}

/// Prints a number in the default form of macros: 4, 8 or 16 hexadecimal digits, as needed.
#[inline]
pub(super) fn plain(out: &mut TextBuffer, number: u64) {
    match number {
        0..=0xFFFF => hexadecimal(out, number, 2),
        0x1_0000..=0xFFFF_FFFF => out.hexadecimal(number, 8),
        _ => out.hexadecimal(number, 16),
    }
}

/// Prints a number in scientific notation with an exponent of two digits, as C's `%E` does.
pub(super) fn scientific(out: &mut TextBuffer, number: f64, decimals: usize) {
    if !number.is_finite() {
        let sign = if number == f64::NEG_INFINITY { "-" } else { "" };
        return put(out, format_args!("{sign}{}", if number.is_nan() { "NAN" } else { "INF" }));
    }
    let start = out.len();
    put(out, format_args!("{number:.decimals$E}"));
    // In C, the exponent has a sign and at least two digits.
    let text = out.as_bytes().get(start..).unwrap_or_default();
    let at = text.iter().position(|byte| *byte == b'E').unwrap_or(text.len());
    // Rust prints `1.5E3`, but C prints `1.5E+03`.
    let exponent = text.get(at + 1..).and_then(|digits| std::str::from_utf8(digits).ok());
    let exponent: i32 = exponent.and_then(|digits| digits.parse().ok()).unwrap_or(0);
    out.truncate(start + at);
    let sign = if exponent < 0 { '-' } else { '+' };
    put(out, format_args!("E{sign}{:02}", exponent.unsigned_abs()));
}

/// Prints a number in the form that a code of fixed size defines. Does not print the space after
/// the number.
#[inline]
pub(super) fn number(out: &mut TextBuffer, code: Code, number: i64, bytes: usize) {
    let unsigned = number as u64;
    match code {
        Code::Hex(_) | Code::HexByte => hexadecimal(out, unsigned, bytes),
        Code::Signed(_) => signed(out, number),
        Code::Unsigned(_) => out.decimal(unsigned),
        Code::Octal(_) => octal(out, unsigned),
        Code::Float => scientific(out, f64::from(f32::from_bits(unsigned as u32)), 4),
        Code::Double => scientific(out, f64::from_bits(unsigned), 8),
        Code::Time => put(out, format_args!("{}", calendar::DateAndTime(unsigned))),
        Code::Errno(_) => match errno::name(unsigned) {
            Some(name) => out.text(name),
            None => out.decimal(unsigned),
        },
        _ => out.decimal(unsigned),
    }
}
