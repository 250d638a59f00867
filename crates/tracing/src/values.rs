//! The values of an event, taken apart: numbers as words, everything else as one text behind them.
//!
//! An event is visited once for its numbers, a second time if some of its fields are text, and once more at
//! its first event, for the names. Most events have numbers only, and they pay for nothing else.

use std::fmt::{self, Write};

use tracewell_wire::native::FieldKind;
use tracing_core::field::{Field, Visit};

/// Fields that are words; more go into the text.
const MAX_WORDS: usize = 16;

/// Bytes of text; what is longer is cut off.
const MAX_TEXT: usize = 1024;

/// What has fields: an event, the attributes of a span, values that a span gets later.
pub(crate) trait Fields {
    /// Shows each field to a visitor.
    fn visit(&self, visitor: &mut dyn Visit);
}

impl Fields for tracing_core::Event<'_> {
    fn visit(&self, visitor: &mut dyn Visit) {
        self.record(visitor);
    }
}

impl Fields for tracing_core::span::Attributes<'_> {
    fn visit(&self, visitor: &mut dyn Visit) {
        self.record(visitor);
    }
}

impl Fields for tracing_core::span::Record<'_> {
    fn visit(&self, visitor: &mut dyn Visit) {
        self.record(visitor);
    }
}

/// The numbers in the order in which they came. Lives on the stack of the call that records.
pub(crate) struct Words {
    /// The words, and behind them room for the length of the text.
    words: [u64; MAX_WORDS + 1],
    count: usize,
    has_text: bool,
    /// Four bits for each field, of which the highest is free.
    shape: [u64; 2],
}

impl Words {
    /// No word yet.
    #[inline]
    pub(crate) fn new() -> Self {
        Self { words: [0; MAX_WORDS + 1], count: 0, has_text: false, shape: [0; 2] }
    }

    /// A word for a field that is not in the program; 0 for none.
    #[inline]
    pub(crate) fn number(&mut self, value: Option<u64>) {
        self.word(value.unwrap_or(0));
    }

    #[inline]
    fn word(&mut self, word: u64) -> bool {
        if self.count == MAX_WORDS {
            return false;
        }
        self.words[self.count] = word;
        self.count += 1;
        true
    }

    /// Returns true if some field belongs to the text.
    #[inline]
    pub(crate) fn has_text(&self) -> bool {
        self.has_text
    }

    /// The words of a record without text.
    #[inline]
    pub(crate) fn words(&self) -> &[u64] {
        &self.words[..self.count]
    }

    /// The words of a record with a text of this length behind them.
    pub(crate) fn words_before(&mut self, length: usize) -> &[u64] {
        self.words[self.count] = length as u64;
        &self.words[..=self.count]
    }

    /// Numbers that tell records of one call site with different fields apart: four bits for each of
    /// its fields, 32 at most, say of which kind its word is, if it has one; the fourth bit says
    /// whether there is a text.
    #[inline]
    pub(crate) fn shape(&self) -> [u64; 2] {
        [self.shape[0] | u64::from(self.has_text) << 3, self.shape[1]]
    }

    #[inline]
    fn number_of(&mut self, field: &Field, kind: FieldKind, word: u64) {
        if self.word(word) {
            let index = field.index();
            self.shape[index / 16 % 2] |= (kind as u64 + 1) << (4 * (index % 16));
        } else {
            self.has_text = true;
        }
    }
}

impl Visit for Words {
    fn record_debug(&mut self, _: &Field, _: &dyn fmt::Debug) {
        self.has_text = true;
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.number_of(field, FieldKind::Signed, value as u64);
    }

    #[inline]
    fn record_u64(&mut self, field: &Field, value: u64) {
        self.number_of(field, FieldKind::Unsigned, value);
    }

    fn record_f64(&mut self, field: &Field, value: f64) {
        self.number_of(field, FieldKind::Float, value.to_bits());
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.number_of(field, FieldKind::Bool, value.into());
    }
}

/// The text of an event: all fields that have no word.
pub(crate) struct Text {
    text: [u8; MAX_TEXT],
    length: usize,
    /// Words that are left for numbers.
    words: usize,
}

impl Text {
    /// The text of fields, of which `before` words are taken by fields that are not in the program.
    pub(crate) fn of(fields: &impl Fields, before: usize) -> Self {
        let mut text = Self { text: [0; MAX_TEXT], length: 0, words: MAX_WORDS - before };
        fields.visit(&mut text);
        text
    }

    /// Its bytes, UTF-8.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.text[..self.length]
    }

    /// Begins a field: what stands before its value.
    fn begin(&mut self, name: &str) {
        if self.length > 0 {
            self.push(" ");
        }
        if name != "message" {
            self.push(name);
            self.push("=");
        }
    }

    /// Takes what has room, whole characters only.
    fn push(&mut self, text: &str) {
        let room = &mut self.text[self.length..];
        let end = text.floor_char_boundary(room.len().min(text.len()));
        room[..end].copy_from_slice(&text.as_bytes()[..end]);
        self.length += end;
    }

    fn number(&mut self, field: &Field, value: &dyn fmt::Debug) {
        match self.words.checked_sub(1) {
            Some(left) => self.words = left,
            None => self.record_debug(field, value),
        }
    }
}

impl Write for Text {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.push(text);
        Ok(())
    }
}

impl Visit for Text {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.begin(field.name());
        // Writing here never fails; that a value's own form does is no matter of ours.
        let _ = write!(self, "{value:?}");
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.begin(field.name());
        self.push(value);
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.number(field, &value);
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.number(field, &value);
    }

    fn record_f64(&mut self, field: &Field, value: f64) {
        self.number(field, &value);
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.number(field, &value);
    }
}

/// Names and kinds of the fields, for the text of an event type.
pub(crate) struct Names {
    names: Vec<(&'static str, FieldKind)>,
    has_text: bool,
}

impl Names {
    /// The names of fields, behind those of fields that are not in the program.
    pub(crate) fn of(fields: &impl Fields, before: &[&'static str]) -> Self {
        let names = before.iter().map(|name| (*name, FieldKind::Unsigned)).collect();
        let mut names = Self { names, has_text: false };
        fields.visit(&mut names);
        names
    }

    /// Each name and kind; the text is the last.
    pub(crate) fn fields(&self) -> impl Iterator<Item = (&'static str, FieldKind)> {
        let text = self.has_text.then_some(("message", FieldKind::Text));
        self.names.iter().copied().chain(text)
    }

    fn number(&mut self, field: &Field, kind: FieldKind) {
        if self.names.len() < MAX_WORDS {
            self.names.push((field.name(), kind));
        } else {
            self.has_text = true;
        }
    }
}

impl Visit for Names {
    fn record_debug(&mut self, _: &Field, _: &dyn fmt::Debug) {
        self.has_text = true;
    }

    fn record_i64(&mut self, field: &Field, _: i64) {
        self.number(field, FieldKind::Signed);
    }

    fn record_u64(&mut self, field: &Field, _: u64) {
        self.number(field, FieldKind::Unsigned);
    }

    fn record_f64(&mut self, field: &Field, _: f64) {
        self.number(field, FieldKind::Float);
    }

    fn record_bool(&mut self, field: &Field, _: bool) {
        self.number(field, FieldKind::Bool);
    }
}
