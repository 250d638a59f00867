//! Splits the values of an event into words for numbers and one string for everything else.
//!
//! The layer visits an event once for its numbers. If some fields are text, the layer visits the
//! event again. At the first event of a call site, the layer visits the event once more for the
//! names of the fields. Most events have only numbers and need a single visit.

use std::fmt::{self, Write};

use tracewell_wire::native::FieldKind;
use tracing_core::field::{Field, Visit};

/// Maximum number of words per event. Further numbers become part of the text.
const MAX_WORDS: usize = 16;

/// Maximum number of bytes of text per event. Longer text is truncated.
const MAX_TEXT: usize = 1024;

/// A source of fields: an event, the attributes of a span, or later values of a span.
pub(crate) trait Fields {
    /// Calls `visitor` for each field in order.
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

/// The numbers of an event in the order of its fields. This value is on the stack while the event
/// is recorded.
pub(crate) struct Words {
    /// The words, with room for the length of the text after them.
    words: [u64; MAX_WORDS + 1],
    count: usize,
    has_text: bool,
    /// Four bits per field; see [`Words::shape`].
    shape: [u64; 2],
}

impl Words {
    /// Returns an empty list.
    #[inline]
    pub(crate) fn new() -> Self {
        Self { words: [0; MAX_WORDS + 1], count: 0, has_text: false, shape: [0; 2] }
    }

    /// Appends a word for a field that the layer adds; 0 for `None`.
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

    /// Returns true if some field has to be written into the text.
    #[inline]
    pub(crate) fn has_text(&self) -> bool {
        self.has_text
    }

    /// Returns the words of a record without text.
    #[inline]
    pub(crate) fn words(&self) -> &[u64] {
        &self.words[..self.count]
    }

    /// Returns the words of a record with a text of `length` bytes after them.
    pub(crate) fn words_before(&mut self, length: usize) -> &[u64] {
        self.words[self.count] = length as u64;
        &self.words[..=self.count]
    }

    /// Returns a number for the kinds of the values. Two records of one call site have different
    /// numbers if the kinds of their values differ.
    ///
    /// A call site has at most 32 fields, and each field has four bits of the number. Three of them
    /// hold the kind of the field's word, or 0 if the field has no word. The fourth bit of field 0
    /// is set if there is text.
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

/// The text of an event: all fields without a word.
pub(crate) struct Text {
    text: [u8; MAX_TEXT],
    length: usize,
    /// Words that are still free for numbers.
    words: usize,
}

impl Text {
    /// Builds the text of `fields`. The fields that the layer adds take `before` words of the
    /// record.
    pub(crate) fn of(fields: &impl Fields, before: usize) -> Self {
        let mut text = Self { text: [0; MAX_TEXT], length: 0, words: MAX_WORDS - before };
        fields.visit(&mut text);
        text
    }

    /// Returns the text as UTF-8.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.text[..self.length]
    }

    /// Appends the prefix of a field's value: a separator, and `name=` except for the message.
    fn begin(&mut self, name: &str) {
        if self.length > 0 {
            self.push(" ");
        }
        if name != "message" {
            self.push(name);
            self.push("=");
        }
    }

    /// Appends as many whole characters as fit.
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
        // Writing into this buffer cannot fail. If the value's own `Debug` fails, the event is
        // recorded with the text written so far.
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

/// The names and kinds of the fields, for the text of an event type.
pub(crate) struct Names {
    names: Vec<(&'static str, FieldKind)>,
    has_text: bool,
}

impl Names {
    /// Collects names: first `before`, the names of the fields that the layer adds, then the names
    /// of `fields`.
    pub(crate) fn of(fields: &impl Fields, before: &[&'static str]) -> Self {
        let names = before.iter().map(|name| (*name, FieldKind::Unsigned)).collect();
        let mut names = Self { names, has_text: false };
        fields.visit(&mut names);
        names
    }

    /// Returns each name and kind. The text, if there is one, comes last.
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
