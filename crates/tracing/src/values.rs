//! Splits the values of an event into words for numbers and one string for all texts.
//!
//! The layer visits an event once for its numbers. If some fields are text, the layer visits the
//! event again. At the first event of a call site, the layer visits the event once more for the
//! names of the fields. Most events have only numbers and need a single visit.
//!
//! The words of an event are: its numbers; the length of each text except the last; the length of
//! the whole string. [`Words`], [`Text`] and [`Names`] assign the words in the same way: numbers
//! first, then texts, in the order of the fields. If no word is left for a field, the layer appends
//! the field to the last text, as ` name=value`.

use std::fmt::{self, Write};

use tracewell_wire::native::{FieldKind, PARENT_FIELD, SPAN_FIELD};
use tracing_core::field::{Field, Visit};

/// Maximum number of words per event; the word for the string length is not counted. Further
/// numbers become part of the text.
const MAX_WORDS: usize = 16;

/// Maximum total length of an event's texts, in bytes. Longer text is truncated.
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

/// The words of an event, in the order of the event's fields. This value is on the stack while the
/// event is recorded.
pub(crate) struct Words {
    /// The words, and room for one more: the length of the string that follows them.
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

    /// Returns true if at least one field has to be written into the text.
    #[inline]
    pub(crate) fn has_text(&self) -> bool {
        self.has_text
    }

    /// Returns the words of a record without text.
    #[inline]
    pub(crate) fn words(&self) -> &[u64] {
        &self.words[..self.count]
    }

    /// Returns the words of a record with a string of `length` bytes after them.
    pub(crate) fn words_before(&mut self, length: usize) -> &[u64] {
        self.words[self.count] = length as u64;
        &self.words[..=self.count]
    }

    /// Returns a number that encodes the kinds of the values. Two records of one call site have
    /// different numbers if the kinds of their values differ.
    ///
    /// A call site has at most 32 fields. Each field has four bits of the number: 0 if it has no
    /// value, otherwise its kind plus 1.
    #[inline]
    pub(crate) fn shape(&self) -> [u64; 2] {
        self.shape
    }

    #[inline]
    fn kind_of(&mut self, field: &Field, kind: FieldKind) {
        let index = field.index();
        self.shape[index / 16 % 2] |= (kind as u64 + 1) << (4 * (index % 16));
    }

    #[inline]
    fn number_of(&mut self, field: &Field, kind: FieldKind, word: u64) {
        if self.word(word) {
            self.kind_of(field, kind);
        } else {
            self.text_of(field);
        }
    }

    #[inline]
    fn text_of(&mut self, field: &Field) {
        self.kind_of(field, FieldKind::Text);
        self.has_text = true;
    }
}

impl Visit for Words {
    fn record_debug(&mut self, field: &Field, _: &dyn fmt::Debug) {
        self.text_of(field);
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

/// The string of an event: the texts of all fields that are not numbers.
pub(crate) struct Text<'a> {
    text: [u8; MAX_TEXT],
    length: usize,
    /// The words of the record. [`Text::of`] appends the lengths of the texts to them.
    words: &'a mut Words,
    /// Words that are still free for numbers.
    free: usize,
    /// The beginning of the last text; `None` before the first text.
    last: Option<usize>,
}

impl<'a> Text<'a> {
    /// Builds the string of `fields`. `words` contains the numbers. The layer added the first
    /// `before` of these numbers. Appends to `words` the length of each text except the last.
    pub(crate) fn of(fields: &impl Fields, words: &'a mut Words, before: usize) -> Self {
        let free = MAX_WORDS - before;
        let mut text = Self { text: [0; MAX_TEXT], length: 0, words, free, last: None };
        fields.visit(&mut text);
        text
    }

    /// Returns the words of the record and the string as UTF-8.
    pub(crate) fn record(&mut self) -> (&[u64], &[u8]) {
        (self.words.words_before(self.length), &self.text[..self.length])
    }

    /// Begins the text of a field. If no word is left for the length of the last text, appends the
    /// name of the field to that text instead.
    fn begin(&mut self, name: &str) {
        if let Some(start) = self.last
            && !self.words.word((self.length - start) as u64)
        {
            self.push(" ");
            self.push(name);
            self.push("=");
            return;
        }
        self.last = Some(self.length);
    }

    /// Appends a text, or as many whole characters as fit.
    #[inline]
    fn push(&mut self, text: &str) {
        let end = self.length + text.len();
        match self.text.get_mut(self.length..end) {
            Some(room) => {
                room.copy_from_slice(text.as_bytes());
                self.length = end;
            }
            None => self.push_start(text),
        }
    }

    #[cold]
    fn push_start(&mut self, text: &str) {
        let room = &mut self.text[self.length..];
        let end = text.floor_char_boundary(room.len().min(text.len()));
        room[..end].copy_from_slice(&text.as_bytes()[..end]);
        self.length += end;
    }

    fn number(&mut self, field: &Field, value: &dyn fmt::Debug) {
        match self.free.checked_sub(1) {
            Some(left) => self.free = left,
            None => self.record_debug(field, value),
        }
    }
}

impl Write for Text<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.push(text);
        Ok(())
    }
}

impl Visit for Text<'_> {
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

/// The names and kinds of the fields, for the definition of an event type.
pub(crate) struct Names {
    numbers: Vec<(&'static str, FieldKind)>,
    texts: Vec<&'static str>,
}

impl Names {
    /// Collects the names in `before`, which are the fields that the layer adds, and then the names
    /// of `fields`.
    pub(crate) fn of(fields: &impl Fields, before: &[&'static str]) -> Self {
        let numbers = before.iter().map(|name| (*name, FieldKind::Unsigned)).collect();
        let mut names = Self { numbers, texts: Vec::new() };
        fields.visit(&mut names);
        names
    }

    /// Returns each name and kind: the numbers, then as many texts as fit. The last of these
    /// contains all further texts.
    pub(crate) fn fields(&self) -> impl Iterator<Item = (&'static str, FieldKind)> {
        let last = (MAX_WORDS - self.numbers.len()).min(self.texts.len().saturating_sub(1));
        let texts = self.texts.iter().take(last + 1).enumerate();
        let kind = move |index| if index == last { FieldKind::Text } else { FieldKind::Part };
        let texts = texts.map(move |(index, name)| (*name, kind(index)));
        self.numbers.iter().copied().chain(texts)
    }

    fn number(&mut self, field: &Field, kind: FieldKind) {
        if self.numbers.len() < MAX_WORDS {
            self.numbers.push((own(field), kind));
        } else {
            self.texts.push(own(field));
        }
    }
}

/// Returns the name for one of the program's own fields. Readers recognise the layer's own fields
/// by their names, so a program's fields with the same names get other names.
fn own(field: &Field) -> &'static str {
    match field.name() {
        SPAN_FIELD => "span_",
        PARENT_FIELD => "parent_",
        name => name,
    }
}

impl Visit for Names {
    fn record_debug(&mut self, field: &Field, _: &dyn fmt::Debug) {
        self.texts.push(own(field));
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
