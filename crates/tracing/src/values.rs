//! The values of an event, taken apart: numbers as words, everything else as one text behind them.

use std::fmt::{self, Write};

use tracewell_wire::native::FieldKind;
use tracing_core::field::{Field, Visit};

/// Fields that are words; more go into the text.
const WORDS: usize = 16;

/// Bytes of text; what is longer is cut off.
const TEXT: usize = 1024;

/// Values in the order in which they came. Lives on the stack of the call that records.
pub(crate) struct Values {
    /// The words, and behind them the length of the text.
    words: [u64; WORDS + 1],
    names: [&'static str; WORDS],
    kinds: [FieldKind; WORDS],
    count: usize,
    text: [u8; TEXT],
    length: usize,
    /// Whether there is a field of text, empty or not.
    has_text: bool,
    shape: u128,
}

impl Values {
    pub(crate) fn new() -> Self {
        Self {
            words: [0; WORDS + 1],
            names: [""; WORDS],
            kinds: [FieldKind::Unsigned; WORDS],
            count: 0,
            text: [0; TEXT],
            length: 0,
            has_text: false,
            shape: 0,
        }
    }

    /// The words of a record, and the text that follows them.
    pub(crate) fn parts(&self) -> (&[u64], &[u8]) {
        let words = &self.words[..self.count + usize::from(self.has_text)];
        (words, &self.text[..self.length])
    }

    /// Names and kinds of the fields.
    pub(crate) fn fields(&self) -> impl Iterator<Item = (&'static str, FieldKind)> {
        let words = self.names.iter().copied().zip(self.kinds).take(self.count);
        words.chain(self.has_text.then_some(("message", FieldKind::Text)))
    }

    /// A number that tells records of one call site with different fields apart: three bits for each of
    /// its fields, 32 at most, say of which kind its word is, if it has one.
    pub(crate) fn shape(&self) -> u128 {
        self.shape << 1 | u128::from(self.has_text)
    }

    /// A field that is not in the program; 0 for none.
    pub(crate) fn number(&mut self, name: &'static str, value: Option<u64>) {
        self.word(name, FieldKind::Unsigned, value.unwrap_or(0));
    }

    fn word(&mut self, name: &'static str, kind: FieldKind, word: u64) -> bool {
        if self.count == WORDS {
            return false;
        }
        (self.names[self.count], self.kinds[self.count]) = (name, kind);
        self.words[self.count] = word;
        self.count += 1;
        // The place of the text's length moves on.
        self.words[self.count] = self.length as u64;
        true
    }

    fn put_text(&mut self, name: &str, value: fmt::Arguments<'_>) {
        let separator = if self.length == 0 { "" } else { " " };
        self.has_text = true;
        // Writing here never fails; that a value's own form does is no matter of ours.
        let _ = match name {
            "message" => write!(self, "{separator}{value}"),
            _ => write!(self, "{separator}{name}={value}"),
        };
        self.words[self.count] = self.length as u64;
    }

    fn number_of(&mut self, field: &Field, kind: FieldKind, word: u64, value: &dyn fmt::Debug) {
        if self.word(field.name(), kind, word) {
            self.shape |= (kind as u128 + 1) << (3 * (field.index() % 32));
        } else {
            self.put_text(field.name(), format_args!("{value:?}"));
        }
    }
}

impl Write for Values {
    /// Takes what has room, whole characters only.
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let room = &mut self.text[self.length..];
        let end = text.floor_char_boundary(room.len().min(text.len()));
        room[..end].copy_from_slice(&text.as_bytes()[..end]);
        self.length += end;
        Ok(())
    }
}

impl Visit for Values {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.put_text(field.name(), format_args!("{value:?}"));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.put_text(field.name(), format_args!("{value}"));
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.number_of(field, FieldKind::Signed, value as u64, &value);
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.number_of(field, FieldKind::Unsigned, value, &value);
    }

    fn record_f64(&mut self, field: &Field, value: f64) {
        self.number_of(field, FieldKind::Float, value.to_bits(), &value);
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.number_of(field, FieldKind::Bool, value.into(), &value);
    }
}
