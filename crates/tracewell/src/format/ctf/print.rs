//! Writes the fields of a scope in the form of Babeltrace 2.

use super::bits::ones;
use super::classes::{Encoding, Integer, IntegerKind};
use super::program::{Field, Output, Shape};
use super::row::decode;
use crate::text::TextBuffer;

/// Text of the fields of one scope.
#[derive(Debug, Default)]
pub(super) struct Printer {
    pub(super) out: TextBuffer,
    /// The open structures and arrays, each with the number of its fields so far.
    open: Vec<(Shape, u64)>,
}

impl Printer {
    /// Begins a scope.
    pub(super) fn begin(&mut self) {
        self.open.clear();
        self.open.push((Shape::Structure, 0));
        self.out.text("{ ");
    }

    /// Ends a scope. Returns the number of its fields.
    pub(super) fn end(&mut self) -> u64 {
        let fields = self.open.pop().map_or(0, |(_, fields)| fields);
        self.out.text(if fields == 0 { "}" } else { " }" });
        fields
    }

    /// Begins a field: writes the separator, and the name or the index.
    fn field(&mut self, field: &Field) {
        let Some((shape, fields)) = self.open.last_mut() else { return };
        let index = *fields;
        *fields += 1;
        if index > 0 {
            self.out.text(", ");
        }
        match shape {
            Shape::Structure => {
                self.out.text(&*field.name);
                self.out.text(" = ");
            }
            Shape::Array => {
                self.out.byte(b'[');
                self.out.decimal(index);
                self.out.text("] = ");
            }
            Shape::Variant | Shape::Optional => {}
        }
    }
}

impl Output for Printer {
    fn number(&mut self, field: &Field, value: u64) {
        if field.place == super::program::Place::Hidden {
            return;
        }
        self.field(field);
        match &field.integer {
            Some(integer) if integer.is_enumeration => {
                put_enumeration(&mut self.out, integer, value)
            }
            Some(integer) => put_integer(&mut self.out, integer, value),
            None => self.out.decimal(value),
        }
    }

    fn float(&mut self, field: &Field, value: f64) {
        self.field(field);
        self.out.text(general(value));
    }

    fn text(&mut self, field: &Field, text: &[u8], encoding: Encoding) {
        self.field(field);
        let decoded = decode(text, encoding);
        put_text(&mut self.out, decoded.as_ref().map_or(text, |text| text.as_bytes()));
    }

    fn blob(&mut self, field: &Field, bytes: &[u8]) {
        if field.place == super::program::Place::Hidden {
            return;
        }
        self.field(field);
        // In CTF 1.8, these bytes are declared as an array of numbers.
        self.out.text("[ ");
        for (index, byte) in bytes.iter().enumerate() {
            let separator = if index == 0 { "" } else { ", " };
            self.out.text(format!("{separator}[{index}] = {byte}"));
        }
        self.out.text(if bytes.is_empty() { "]" } else { " ]" });
    }

    fn open(&mut self, field: &Field, shape: Shape) {
        self.field(field);
        self.open.push((shape, 0));
        match shape {
            Shape::Array => self.out.text("[ "),
            Shape::Structure | Shape::Variant => self.out.text("{ "),
            Shape::Optional => {}
        }
    }

    fn close(&mut self, shape: Shape) {
        let fields = self.open.pop().map_or(0, |(_, fields)| fields);
        match (shape, fields) {
            (Shape::Array, 0) => self.out.text("]"),
            (Shape::Array, _) => self.out.text(" ]"),
            (Shape::Optional, 0) => self.out.text("<none>"),
            (Shape::Optional, _) => {}
            (_, 0) => self.out.text("}"),
            _ => self.out.text(" }"),
        }
    }
}

fn put_integer(out: &mut TextBuffer, integer: &Integer, value: u64) {
    let is_signed = integer.kind == IntegerKind::Signed;
    // Babeltrace truncates the value to the field's length, rounded up to a whole digit.
    let digits_of = |bits: u32| {
        let length = u32::from(integer.bits).div_ceil(bits) * bits;
        value & ones(length.min(64) as u8)
    };
    match (integer.kind, integer.base) {
        (IntegerKind::Boolean, _) => out.text(if value == 0 { "false" } else { "true" }),
        (IntegerKind::BitArray | IntegerKind::BitMap, _) | (_, 16) => {
            out.text(format!("0x{:X}", digits_of(4)));
        }
        (_, 8) => out.text(format!("0{:o}", if is_signed { digits_of(3) } else { value })),
        (_, 2) => {
            let bits = value & ones(integer.bits);
            out.text(format!("0b{bits:0width$b}", width = usize::from(integer.bits)));
        }
        _ if is_signed => out.text(value.cast_signed().to_string()),
        _ => out.decimal(value),
    }
}

fn put_enumeration(out: &mut TextBuffer, integer: &Integer, value: u64) {
    let number = match integer.kind {
        IntegerKind::Signed => i128::from(value.cast_signed()),
        _ => i128::from(value),
    };
    out.text("( ");
    let start = out.len();
    for mapping in &integer.mappings {
        if mapping.low <= number && number <= mapping.high {
            if out.len() > start {
                out.text(", ");
            }
            put_text(out, mapping.label.as_bytes());
        }
    }
    if out.len() == start {
        out.text("<unknown>");
    }
    out.text(" : container = ");
    put_integer(out, integer, value);
    out.text(" )");
}

fn put_text(out: &mut TextBuffer, text: &[u8]) {
    out.byte(b'"');
    for byte in text {
        match byte {
            b'\\' | b'\'' | b'"' | b'?' => {
                out.byte(b'\\');
                out.byte(*byte);
            }
            0x07 => out.text("\\a"),
            0x08 => out.text("\\b"),
            0x1B => out.text("\\e"),
            0x0C => out.text("\\f"),
            b'\n' => out.text("\\n"),
            b'\r' => out.text("\\r"),
            b'\t' => out.text("\\t"),
            0x0B => out.text("\\v"),
            0..=0x1F | 0x7F => out.text(format!("\\x{byte:02x}")),
            _ => out.byte(*byte),
        }
    }
    out.byte(b'"');
}

/// Returns a number as C's `%g` prints it: six significant digits, without trailing zeros.
fn general(value: f64) -> String {
    if !value.is_finite() {
        let name = if value.is_nan() { "nan" } else { "inf" };
        return if value.is_sign_negative() { format!("-{name}") } else { name.to_owned() };
    }
    let scientific = format!("{value:.5e}");
    let (digits, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let trimmed = |digits: &str| match digits.contains('.') {
        true => digits.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => digits.to_owned(),
    };
    if (-4..6).contains(&exponent) {
        let decimals = usize::try_from(5 - exponent).unwrap_or(0);
        return trimmed(&format!("{value:.decimals$}"));
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{}e{sign}{:02}", trimmed(digits), exponent.abs())
}

#[cfg(test)]
mod tests {
    use super::{TextBuffer, general, put_text};

    #[test]
    fn control_characters_and_quotes_are_escaped_as_by_babeltrace() {
        let mut out = TextBuffer::default();
        put_text(&mut out, b"a\\'\"?\x07\x08\x1B\x0C\n\r\t\x0B\x1F\x7F\x80 ");
        let expected = br#""a\\\'\"\?\a\b\e\f\n\r\t\v\x1f\x7f"#;
        assert_eq!(out.as_bytes(), [&expected[..], b"\x80 \""].concat());
    }

    #[test]
    fn fractions_have_six_digits_as_in_c() {
        // The expected texts are the output of printf("%g") in C.
        let answers = [
            (0.1, "0.1"),
            (1e-7, "1e-07"),
            (123_456_789.0, "1.23457e+08"),
            (-0.0, "-0"),
            (0.000_123_4, "0.0001234"),
            (999_999.5, "1e+06"),
            (100_000.0, "100000"),
            (1e300, "1e+300"),
            (f64::INFINITY, "inf"),
            (f64::NEG_INFINITY, "-inf"),
            (f64::NAN, "nan"),
            (f64::from(0.1_f32), "0.1"),
        ];
        for (value, text) in answers {
            assert_eq!(general(value), text);
        }
    }
}
