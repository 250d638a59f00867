//! Recognises the encoding of a text by its content.

use super::lines::Lines;
use super::{Encoding, ascii_hex, intel_hex, s_record};

/// Number of bytes at the start of a text that are examined.
const PREFIX: usize = 4096;

/// Number of lines within which the first complete record must appear. The lines before it may be
/// headings or damaged records.
const LINES: usize = 8;

/// Minimum number of pairs in bare hex. A lower number would accept other text, because bare hex
/// has no structure except the pairs.
const MIN_PAIRS: u64 = 16;

/// A text needs at least this number of pairs for each damaged pair.
const PAIRS_PER_DAMAGE: u64 = 32;

/// Returns the encoding of a text, or `None`. Examines the first 4 KiB.
///
/// Intel HEX and S-records need one whole record among the first eight lines that are not blank.
/// Bare hex needs at least sixteen pairs, and nearly all of the text must be pairs.
///
/// ```
/// use tracewell::input::image::{Encoding, recognise};
///
/// assert_eq!(recognise(b"S9030000FC\n"), Some(Encoding::SRecord));
/// assert_eq!(recognise(b"no digits"), None);
/// ```
pub fn recognise(bytes: &[u8]) -> Option<Encoding> {
    let prefix = &bytes[..bytes.len().min(PREFIX)];
    for line in Lines::new(prefix).take(LINES) {
        if intel_hex::is_record(line.text) {
            return Some(Encoding::IntelHex);
        }
        if s_record::is_record(line.text) {
            return Some(Encoding::SRecord);
        }
    }
    let (pairs, damaged) = ascii_hex::pairs(prefix);
    // A pair may continue after the end of the prefix; this is not damage.
    let damaged = damaged.saturating_sub(1);
    let plausible = pairs >= MIN_PAIRS && damaged * PAIRS_PER_DAMAGE <= pairs;
    plausible.then_some(Encoding::AsciiHex)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_whole_record_among_the_first_lines_is_enough() {
        assert_eq!(recognise(b"\r\n :0100000041BE\r\n"), Some(Encoding::IntelHex));
        assert_eq!(recognise(b"dump of bank 0\n\ns104001041aa\n"), Some(Encoding::SRecord));
        assert_eq!(recognise(b":0100000041BF"), Some(Encoding::IntelHex));
        let late = "heading\n".repeat(LINES) + ":0100000041BE\n";
        assert_eq!(recognise(late.as_bytes()), None);
    }

    #[test]
    fn a_line_that_resembles_a_record_is_not_recognised() {
        for text in [
            ":",
            ":-)",
            ":01000000",
            ":0100000641B8",
            "S",
            "S1",
            "S9030000",
            "S4030000FC",
            "S100FF",
        ] {
            assert_eq!(recognise(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn bare_hex_needs_some_pairs_and_hardly_anything_else() {
        assert_eq!(recognise("4a ".repeat(16).as_bytes()), Some(Encoding::AsciiHex));
        assert_eq!(recognise("4a ".repeat(15).as_bytes()), None);
        let long = "4a".repeat(PREFIX);
        assert_eq!(recognise(format!(" {long}").as_bytes()), Some(Encoding::AsciiHex));
        assert_eq!(recognise(long.replacen("4a", "4G", 3).as_bytes()), Some(Encoding::AsciiHex));
        assert_eq!(recognise(b"A decade of cafes and facades, dead and faded, was added."), None);
        assert_eq!(recognise(b""), None);
        assert_eq!(recognise(&[0; 100]), None);
    }
}
