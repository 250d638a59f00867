//! Caches the texts of numbers. If a number occurs again, its text is copied, and the number need
//! not be converted again.
//!
//! In most traces, each argument of an event id takes only a few values, such as the addresses of
//! some objects. So each argument has a small table, indexed by a hash of the value, that contains
//! most texts. A text consists of the argument's name and its value, with all escapes.

use super::blocks::Blocks;
use super::{LineWindow, ShortText, TextBuffer};

/// The texts for the numbers in one argument.
#[derive(Debug)]
pub(crate) struct KeptTexts {
    slots: Box<[Slot; SLOTS]>,
    hits: u64,
    misses: u64,
    /// True if most numbers were not in the table. In that case, no text is cached.
    given_up: bool,
    form: Option<NumberForm>,
}

/// The form of texts that consist of a number and constant bytes around it. Making such a text
/// needs no event and no buffer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NumberForm {
    before: ShortText,
    /// Number of hexadecimal digits; `None` for a decimal number.
    hexadecimal: Option<usize>,
    after: Option<u8>,
}

/// Maximum number of digits of a number.
const MAX_DIGITS: usize = 20;

impl NumberForm {
    /// Returns the form of decimal numbers, or `None` if the text before them is too long.
    pub(crate) fn decimal(before: &[u8]) -> Option<Self> {
        let (before, rest) = ShortText::split(before);
        let fits = rest.is_empty() && before.len() + MAX_DIGITS < MAX_KEPT;
        fits.then_some(Self { before, hexadecimal: None, after: None })
    }

    /// Returns the form of hexadecimal numbers with 8 or 16 digits, or `None` if the text before
    /// them is too long.
    pub(crate) fn hexadecimal(before: &[u8], digits: usize, after: Option<u8>) -> Option<Self> {
        Some(Self { hexadecimal: Some(digits), after, ..Self::decimal(before)? })
    }

    fn text(&self, number: u64) -> Slot {
        let mut text = FixedText { bytes: [b' '; ROOM], length: 0 };
        text.put_short(&self.before);
        match self.hexadecimal {
            Some(digits) => text.put_hexadecimal(number, digits),
            None => text.put_decimal(number),
        }
        if let Some(after) = self.after {
            text.put([after], 1);
        }
        let bytes = text.bytes.first_chunk();
        let bytes = bytes.unwrap_or_else(|| unreachable!("a text is shorter than its room"));
        Slot { number, length: text.length as u8, text: *bytes }
    }
}

/// A text of limited length.
struct FixedText {
    bytes: [u8; ROOM],
    length: usize,
}

/// Room for a text, and for the part of its last block that exceeds the text.
const ROOM: usize = 2 * MAX_KEPT;

impl Blocks for FixedText {
    #[inline(always)]
    fn put<const N: usize>(&mut self, block: [u8; N], length: usize) {
        self.bytes[self.length..self.length + N].copy_from_slice(&block);
        self.length += length;
    }
}

/// A cached text, in one line of the processor's cache.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Slot {
    number: u64,
    length: u8,
    text: [u8; MAX_KEPT],
}

const _: () = assert!(size_of::<Slot>() == 64);

/// Maximum length of a cached text in bytes.
const MAX_KEPT: usize = 48;
const SLOT_BITS: u32 = 6;
const SLOTS: usize = 1 << SLOT_BITS;
/// After this number of misses, the numbers of hits and misses are compared.
const PERIOD: u64 = 256;

impl Default for KeptTexts {
    fn default() -> Self {
        Self::of(None)
    }
}

/// The empty table. An empty slot contains a number that belongs in another slot, so no lookup
/// finds it.
const EMPTY: [Slot; SLOTS] = {
    let mut slots = [Slot { number: 0, length: 0, text: [b' '; MAX_KEPT] }; SLOTS];
    slots[slot_of(0)].number = 1;
    slots
};

const _: () = assert!(slot_of(0) != slot_of(1));

/// Returns the index of the slot for a number.
#[inline(always)]
const fn slot_of(number: u64) -> usize {
    /// 2^64 divided by the golden ratio.
    const FACTOR: u64 = 0x9E37_79B9_7F4A_7C15;
    (number.wrapping_mul(FACTOR) >> (u64::BITS - SLOT_BITS)) as usize
}

impl KeptTexts {
    /// Creates a table for texts of this form. Without a form, the caller makes the texts.
    pub(crate) fn of(form: Option<NumberForm>) -> Self {
        Self { slots: Box::new(EMPTY), hits: 0, misses: 0, given_up: false, form }
    }

    /// Appends the text of a number, if it is cached or the form is known. Returns false otherwise.
    #[inline(always)]
    pub(crate) fn put(&mut self, line: &mut LineWindow<'_>, number: u64) -> bool {
        let slot = &self.slots[slot_of(number)];
        if slot.number == number {
            line.block(&slot.text, usize::from(slot.length));
            self.hits += 1;
            return true;
        }
        let Some(form) = self.form else { return false };
        let made = self.make(form, number);
        line.block(&made.text, usize::from(made.length));
        true
    }

    /// Makes the text of a number that was not found, and keeps it.
    #[inline(never)]
    fn make(&mut self, form: NumberForm, number: u64) -> Slot {
        let made = form.text(number);
        if !self.note_miss() {
            self.slots[slot_of(number)] = made;
        }
        made
    }

    /// Keeps the text of a number that the cache did not contain.
    pub(crate) fn keep(&mut self, number: u64, text: &TextBuffer) {
        if self.note_miss() || text.len() > MAX_KEPT {
            return;
        }
        let slot = &mut self.slots[slot_of(number)];
        slot.number = number;
        slot.length = text.len() as u8;
        slot.text = *text.first_block();
    }

    /// Counts a number that was not found. Returns true if no texts are cached.
    pub(crate) fn note_miss(&mut self) -> bool {
        self.misses += 1;
        if self.misses == PERIOD {
            // With fewer hits than misses, the cache costs more than it saves.
            if !self.given_up && self.hits < self.misses {
                self.given_up = true;
                *self.slots = EMPTY;
            }
            (self.hits, self.misses) = (0, 0);
        }
        self.given_up
    }

    /// Drops all texts, because they may have changed.
    pub(crate) fn forget(&mut self) {
        *self.slots = EMPTY;
        (self.hits, self.misses, self.given_up) = (0, 0, false);
    }
}

/// Appends a text that is not cached. Returns false if the text is too long for
/// [`LineWindow::text`].
#[inline(always)]
pub(crate) fn put_unkept(line: &mut LineWindow<'_>, text: &TextBuffer) -> bool {
    if text.len() <= MAX_KEPT {
        line.block::<MAX_KEPT>(text.first_block(), text.len());
        return true;
    }
    line.text(text.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text_of(number: u64) -> TextBuffer {
        let mut text = TextBuffer::default();
        text.decimal(number);
        text
    }

    /// Returns the cached text of a number.
    fn kept(texts: &mut KeptTexts, number: u64) -> Option<String> {
        let mut out = TextBuffer::default();
        let mut line = out.window();
        let found = texts.put(&mut line, number);
        line.done();
        found.then(|| out.as_text().into_owned())
    }

    #[test]
    fn only_the_texts_of_noted_numbers_are_kept() {
        let mut texts = KeptTexts::default();
        let numbers = [0, 1, 7, u64::from(u32::MAX), u64::MAX];
        for number in numbers {
            assert_eq!(kept(&mut texts, number), None);
            texts.keep(number, &text_of(number));
            assert_eq!(kept(&mut texts, number), Some(number.to_string()));
        }
        texts.forget();
        assert!(numbers.iter().all(|number| kept(&mut texts, *number).is_none()));
    }

    #[test]
    fn texts_of_a_known_form_are_made() {
        let long = [b'x'; MAX_KEPT - MAX_DIGITS - 1];
        let decimal = NumberForm::decimal(&long).unwrap();
        let quoted = NumberForm::hexadecimal(b"0x", 16, Some(b'"')).unwrap();
        let short = NumberForm::hexadecimal(b"", 8, None).unwrap();
        let (mut decimal, mut quoted, mut short) =
            (KeptTexts::of(Some(decimal)), KeptTexts::of(Some(quoted)), KeptTexts::of(Some(short)));
        // After many different numbers, no texts are kept.
        for number in (0..3 * PERIOD).chain([u64::from(u32::MAX), u64::MAX, u64::MAX]) {
            let expected = format!("{}{number}", "x".repeat(long.len()));
            assert_eq!(kept(&mut decimal, number), Some(expected));
            assert_eq!(kept(&mut quoted, number), Some(format!("0x{number:016X}\"")));
            assert_eq!(kept(&mut short, number), Some(format!("{:08X}", number as u32)));
        }
        assert!(NumberForm::decimal(&[&long[..], b"x"].concat()).is_none());
    }

    #[test]
    fn a_text_of_more_than_a_slot_is_not_kept() {
        let (mut texts, mut text) = (KeptTexts::default(), TextBuffer::default());
        text.text([b'x'; MAX_KEPT + 1]);
        texts.keep(7, &text);
        assert_eq!(kept(&mut texts, 7), None);
        let mut out = TextBuffer::default();
        let mut line = out.window();
        assert!(put_unkept(&mut line, &text));
        line.done();
        assert_eq!(out.as_bytes(), text.as_bytes());
        text.text([b'x'; MAX_KEPT]);
        assert!(!put_unkept(&mut out.window(), &text), "longer than the largest text of a line");
    }

    #[test]
    fn numbers_that_always_change_are_given_up() {
        let (mut changing, mut mixed) = (KeptTexts::default(), KeptTexts::default());
        for number in 0..2 * PERIOD {
            assert_eq!(kept(&mut changing, number), None);
            changing.keep(number, &text_of(number));
            // Two of every three numbers are in the cache.
            for number in [number, 3, 3] {
                if kept(&mut mixed, number).is_none() {
                    mixed.keep(number, &text_of(number));
                }
            }
        }
        assert!((0..2 * PERIOD).all(|number| kept(&mut changing, number).is_none()));
        assert_eq!(kept(&mut mixed, 2 * PERIOD - 1), Some((2 * PERIOD - 1).to_string()));
    }
}
