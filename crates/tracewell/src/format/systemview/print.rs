//! Formats the texts that a target sends, with their arguments.
//!
//! SEGGER's host program formats these texts. A conversion consists of the flags `-0+#`, a width, a
//! precision, `l` and `h` (ignored), and one of `c d i u x X p s %`. The target counts the `%`
//! characters of a text to find the number of arguments. Therefore `%%` uses one argument, which is
//! not shown. The argument of `%s` is an address, because the target does not send the text at this
//! address.
//!
//! What the host program does with unusual combinations is not public. This module then follows C,
//! and also accepts C's blank flag. Unlike in C, `%p` and `%s` show eight digits, whatever the
//! precision is, and `%c` escapes control characters.

use std::fmt::Write;

use crate::text::shown;

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
    let mut digits = false;
    for (at, character) in text.char_indices() {
        // Flags precede the width and the precision. Later, their characters are the conversion's
        // kind.
        let can_be_flag = !digits && conversion.precision.is_none();
        match character {
            '-' if can_be_flag => conversion.left = true,
            '+' if can_be_flag => conversion.plus = true,
            '#' if can_be_flag => conversion.alternative = true,
            ' ' if can_be_flag => conversion.blank = true,
            '0' if can_be_flag => conversion.zero = true,
            '0'..='9' => {
                let digit = character.to_digit(10).unwrap_or(0) as usize;
                // Digits after the point are the precision; all other digits are the width.
                let number = conversion.precision.as_mut().unwrap_or(&mut conversion.width);
                // Limit the number, because a damaged text can demand any width.
                *number = (*number * 10 + digit).min(MAX_WIDTH);
                digits = true;
            }
            '.' if conversion.precision.is_none() => conversion.precision = Some(0),
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
        let precision = self.precision.filter(|_| "diuxX".contains(kind));
        let (sign, mut digits) = match kind {
            'c' => ("", shown(&[value as u8]).into_owned()),
            'd' | 'i' if signed < 0 => ("-", signed.unsigned_abs().to_string()),
            'd' | 'i' => (plus, value.to_string()),
            'u' => ("", value.to_string()),
            'x' => (if has_prefix { "0x" } else { "" }, format!("{value:x}")),
            'X' => (if has_prefix { "0X" } else { "" }, format!("{value:X}")),
            _ => ("0x", format!("{value:08X}")),
        };
        if value == 0 && precision == Some(0) {
            digits.clear();
        }
        let zeros = precision.unwrap_or(0).saturating_sub(digits.len());
        let length = sign.len() + zeros + digits.len();
        let fill = self.width.saturating_sub(length);
        let pads_zeros = self.zero && !self.left && precision.is_none();
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
            ("%c%c%c%c", &[34, 92, 10, 0xE9], "\"\\\\n\\xe9"),
            ("[%hd|%+5d|%-+5d|%05d]", &[8, 9, 10, u32::MAX], "[8|   +9|+10  |-0001]"),
            ("% d|% d|%+ d|% +i|% u", &[7, u32::MAX, 8, 9, 10], " 7|-1|+8|+9|10"),
            ("%5c|%.3c|%#6x|%#06x", &[65, 66, 10, 11], "    A|B|   0xa|0x000b"),
            ("%#X|%#x|%#X", &[255, 0, 0], "0XFF|0|0"),
            ("%10d|%.05d|%-04d|", &[1, 2, 3], "         1|00002|3   |"),
            // A precision of 0 shows no digits of the number 0.
            ("[%.0d|%.d|%+.0i|%3.0u|%.0x|%#.0X]", &[0; 6], "[||+|   ||]"),
            ("[%.0d|%.0u|%05.0d|%.0c|%.0p]", &[1, 2, 0, 65, 0], "[1|2|     |A|0x00000000]"),
            // A precision does not change the digits of an address.
            ("[%.12p|%.12s|%.2s]", &[1, 2, 3], "[0x00000001|0x00000002|0x00000003]"),
            ("%.-5d|%.5.3d|%d", &[1, 2, 3], "%.-5d|%.5.3d|3"),
        ] {
            assert_eq!(format(text, values), expected, "{text}");
        }
    }
}
