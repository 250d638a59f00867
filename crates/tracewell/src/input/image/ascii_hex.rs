//! Plain hex: pairs of digits without addresses, with optional whitespace and newlines between
//! pairs.
//!
//! Commas and `0x` before a pair are accepted, so that an array from a C source can be read. A pair
//! that cannot be read becomes a zero byte, so that the bytes after it keep their addresses.

use super::Decoded;
use super::diagnostic::{Place, report, shown};
use super::digits;
use super::lines::mark_length;
use super::memory::MemoryImage;
use crate::model::{Diagnostics, Severity};

struct Decoder<'a> {
    text: &'a [u8],
    next: usize,
    line: u64,
    line_start: usize,
    bytes: Vec<u8>,
    diagnostics: Diagnostics,
}

pub(super) fn decode(text: &[u8]) -> Decoded {
    let mut decoder = Decoder::new(text);
    decoder.run();
    let Decoder { bytes, diagnostics, .. } = decoder;
    Decoded { image: MemoryImage::from_bytes(0, bytes), diagnostics }
}

/// Returns the number of pairs in a text, and the number of damaged pairs.
pub(super) fn pairs(text: &[u8]) -> (u64, u64) {
    let mut decoder = Decoder::new(text);
    decoder.run();
    // The number of faults is the number of damaged pairs.
    let damaged = decoder.diagnostics.iter().len() as u64 + decoder.diagnostics.more();
    (decoder.bytes.len() as u64, damaged)
}

const fn is_between(character: u8) -> bool {
    character.is_ascii_whitespace() || character == b','
}

impl<'a> Decoder<'a> {
    fn new(text: &'a [u8]) -> Self {
        let start = mark_length(text);
        Self {
            text,
            next: start,
            line: 1,
            line_start: start,
            bytes: Vec::with_capacity(text.len() / 2),
            diagnostics: Diagnostics::default(),
        }
    }

    fn run(&mut self) {
        loop {
            self.whole_pairs();
            match self.text.get(self.next..) {
                None | Some([]) => return,
                Some([b'\n', ..]) => {
                    self.next += 1;
                    self.line += 1;
                    self.line_start = self.next;
                }
                Some([between, ..]) if is_between(*between) => self.next += 1,
                Some([b'0', b'x' | b'X', ..]) => self.next += 2,
                Some(rest) => self.damaged_pair(rest),
            }
        }
    }

    /// Reads pairs up to the next character that is not a digit.
    fn whole_pairs(&mut self) {
        let rest = &self.text[self.next..];
        for pair in rest.chunks_exact(2) {
            let (high, low) = (digits::value(pair[0]), digits::value(pair[1]));
            // A character that is not a digit has a value above 15.
            if high | low > 0x0F {
                return;
            }
            self.bytes.push(high << 4 | low);
            self.next += 2;
        }
    }

    /// Replaces an invalid pair with a zero byte. The pair consists of two characters, or of one if
    /// a separator or the end of the text follows.
    fn damaged_pair(&mut self, rest: &[u8]) {
        // If the first character is a digit, the message refers to the second one, otherwise to the
        // first.
        let first_is_digit = digits::value(rest[0]) != digits::NOT_A_DIGIT;
        let second = rest.get(1).copied();
        let index = self.next + usize::from(first_is_digit);
        let at = Place { line: self.line, column: (index - self.line_start) as u64 + 1 };
        report(&mut self.diagnostics, Severity::Damage, at, || {
            let found =
                self.text.get(index).map_or("the end of the text".to_owned(), |c| shown(*c));
            let which =
                if first_is_digit { "the second digit of a pair" } else { "a pair of digits" };
            format!("expected {which}, found {found}; the byte is taken as 00")
        });
        self.bytes.push(0);
        self.next += if second.is_some_and(|second| !is_between(second)) { 2 } else { 1 };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults(decoded: &Decoded) -> Vec<String> {
        decoded.diagnostics.iter().map(|fault| fault.message.clone()).collect()
    }

    fn bytes(decoded: &Decoded) -> &[u8] {
        decoded.image.segments().first().map_or(&[], |segment| segment.bytes())
    }

    #[test]
    fn blanks_commas_and_prefixes_may_stand_between_pairs() {
        for text in ["42545854", "\r\n42 54\t58\n\n54 ", "0x42, 0X54,\n0x5854", "\u{FEFF}42545854"]
        {
            let decoded = decode(text.as_bytes());
            assert_eq!(faults(&decoded), [""; 0], "{text}");
            assert_eq!(bytes(&decoded), b"BTXT", "{text}");
        }
    }

    #[test]
    fn a_pair_that_cannot_be_read_keeps_its_place() {
        for (pair, fault) in [
            (
                "g4",
                "line 2, column 3: expected a pair of digits, found 'g'; the byte is taken as 00",
            ),
            (
                "4g",
                "line 2, column 4: expected the second digit of a pair, found 'g'; \
                 the byte is taken as 00",
            ),
            (
                "4 ",
                "line 2, column 4: expected the second digit of a pair, found ' '; \
                 the byte is taken as 00",
            ),
            (
                "g\n",
                "line 2, column 3: expected a pair of digits, found 'g'; the byte is taken as 00",
            ),
        ] {
            let decoded = decode(format!("41\n42{pair}43").as_bytes());
            assert_eq!(faults(&decoded), [fault]);
            assert_eq!(bytes(&decoded), b"AB\0C");
        }
    }

    #[test]
    fn a_text_may_not_end_within_a_pair() {
        let decoded = decode(b"41 4");
        assert_eq!(
            faults(&decoded),
            ["line 1, column 5: expected the second digit of a pair, found the end of the text; \
              the byte is taken as 00"]
        );
    }

    #[test]
    fn a_text_without_pairs_is_an_empty_image() {
        assert_eq!(decode(b" \n").image, MemoryImage::default());
    }
}
