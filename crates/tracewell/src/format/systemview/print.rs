//! Formats the texts that a target sends, with their arguments, in the same way as the host
//! programs.
//!
//! The conversions are the same as in C: the flags `-0+#` and blank, a width, a precision, `l` and
//! `h` (ignored), and one of `c d i u x X p s %`. The target counts the `%` characters of a text to
//! find the number of arguments. Therefore `%%` uses one argument, which is not shown. The argument
//! of `%s` is an address, because the target does not send the text at this address.

use std::fmt::Write;

/// Maximum width and precision.
const MAX_WIDTH: usize = 64;

#[derive(Default)]
struct Conversion {
    left: bool,
    zero: bool,
    plus: bool,
    blank: bool,
    alternative: bool,
    width: usize,
    precision: Option<usize>,
}

/// Formats a text with its arguments. A conversion without an argument, or of an unknown kind,
/// stays in the text.
pub(super) fn format(text: &str, values: &[u32]) -> String {
    let mut out = String::with_capacity(text.len());
    let mut values = values.iter();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('%') {
        out.push_str(before);
        // The target counts `%%` as a conversion, so each `%` uses a value.
        let value = values.next();
        let (conversion, kind, end) = parse(after);
        match (value, kind) {
            (_, Some('%')) => out.push('%'),
            (Some(value), Some(kind)) if "cdiuxXps".contains(kind) => {
                conversion.put(*value, kind, &mut out);
            }
            _ => {
                // Keep the `%` and continue after it: the rest may contain further conversions.
                out.push('%');
                rest = after;
                continue;
            }
        }
        rest = after.get(end..).unwrap_or_default();
    }
    out.push_str(rest);
    out
}

/// Parses the conversion at the start of a text. Returns the conversion, its kind, and its length
/// in bytes.
fn parse(text: &str) -> (Conversion, Option<char>, usize) {
    let mut conversion = Conversion::default();
    let mut in_precision = false;
    let mut digits = false;
    for (at, character) in text.char_indices() {
        match character {
            // Flags precede all digits. After the first digit, these characters are the
            // conversion's kind.
            '-' if !digits => conversion.left = true,
            '+' if !digits => conversion.plus = true,
            '#' if !digits => conversion.alternative = true,
            ' ' if !digits => conversion.blank = true,
            '0' if !digits && !in_precision => conversion.zero = true,
            '0'..='9' => {
                let digit = character.to_digit(10).unwrap_or(0) as usize;
                // Digits after the point are the precision; all other digits are the width.
                let number = conversion.precision.as_mut().filter(|_| in_precision);
                let number = number.unwrap_or(&mut conversion.width);
                // Limit the number, because a damaged text can demand any width.
                *number = (*number * 10 + digit).min(MAX_WIDTH);
                digits = true;
            }
            '.' => {
                conversion.precision = Some(0);
                in_precision = true;
            }
            'l' | 'h' => {}
            kind => return (conversion, Some(kind), at + kind.len_utf8()),
        }
    }
    (conversion, None, text.len())
}

impl Conversion {
    fn put(&self, value: u32, kind: char, out: &mut String) {
        let signed = value.cast_signed();
        let plus = match (self.plus, self.blank) {
            (true, _) => "+",
            (_, true) => " ",
            _ => "",
        };
        let has_prefix = self.alternative && value != 0;
        let (sign, digits) = match kind {
            'c' => ("", char::from(value as u8).escape_default().to_string()),
            'd' | 'i' if signed < 0 => ("-", signed.unsigned_abs().to_string()),
            'd' | 'i' => (plus, value.to_string()),
            'u' => ("", value.to_string()),
            'x' => (if has_prefix { "0x" } else { "" }, format!("{value:x}")),
            'X' => (if has_prefix { "0X" } else { "" }, format!("{value:X}")),
            _ => ("0x", format!("{value:08X}")),
        };
        let precision = self.precision.filter(|_| kind != 'c').unwrap_or(0);
        let zeros = precision.saturating_sub(digits.len());
        let length = sign.len() + zeros + digits.len();
        let fill = self.width.saturating_sub(length);
        let pads_zeros = self.zero && !self.left && self.precision.is_none();
        let (before, zeros, after) = match (self.left, pads_zeros) {
            (true, _) => (0, zeros, fill),
            (_, true) => (0, zeros + fill, 0),
            _ => (fill, zeros, 0),
        };
        // Writing to a String does not fail.
        let _ = write!(out, "{:before$}{sign}{:0>zeros$}{digits}{:after$}", "", "", "");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_formatted_as_in_c() {
        for (text, values, expected) in [
            ("value %d of %u%%", &[u32::MAX, 7, 0][..], "value -1 of 7%"),
            ("[%5d|%-5d|%05d|%+d|%.3u]", &[42, 42, 42, 42, 7], "[   42|42   |00042|+42|007]"),
            ("%#x %X %lx %p %c", &[255, 255, 16, 0x2000_0000, 65], "0xff FF 10 0x20000000 A"),
            ("%s", &[0x800_1234], "0x08001234"),
            ("%d %d", &[1], "1 %d"),
            ("%q %d", &[1, 2], "%q 2"),
            ("end %", &[1], "end %"),
            // Flags are valid only before the width. An invalid conversion is shown as text.
            ("%5-d|%d", &[1, 2], "%5-d|2"),
            ("%5+d|%d", &[1, 2], "%5+d|2"),
            ("%5#x|%d", &[1, 2], "%5#x|2"),
            ("%5 d|%d", &[1, 2], "%5 d|2"),
            ("[%hd|%+5d|%-+5d|%05d]", &[8, 9, 10, u32::MAX], "[8|   +9|+10  |-0001]"),
            ("% d|% d|%+ d|% +i|% u", &[7, u32::MAX, 8, 9, 10], " 7|-1|+8|+9|10"),
            ("%5c|%.3c|%#6x|%#06x", &[65, 66, 10, 11], "    A|B|   0xa|0x000b"),
            ("%#X|%#x|%#X", &[255, 0, 0], "0XFF|0|0"),
            ("%10d|%.05d|%-04d|", &[1, 2, 3], "         1|00002|3   |"),
        ] {
            assert_eq!(format(text, values), expected, "{text}");
        }
    }
}
