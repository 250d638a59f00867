//! Which encoding a file's bytes are in, by their content alone.

use super::lines::Lines;
use super::{Encoding, ascii_hex, intel_hex, s_record};

/// How far into the bytes the evidence is sought.
const PREFIX: usize = 4096;

/// Lines that may stand before the first whole record: headings, a damaged record.
const LINES: usize = 8;

/// Bare hex has no structure that would give it away, so it takes some pairs to be believed.
const LEAST_PAIRS: u64 = 16;

/// Of this many pairs one may be damaged.
const PAIRS_PER_DAMAGE: u64 = 32;

/// Tells the encoding of a text, or `None` if it is none of them. Looks at the first 4 KiB.
///
/// Records are believed when one of the first eight lines that are not blank is one, with the
/// length it announces; bare hex when there are at least sixteen pairs and hardly anything else.
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
    // A pair that the end of the prefix cuts in two is no evidence against the text.
    let damaged = damaged.saturating_sub(1);
    let plausible = pairs >= LEAST_PAIRS && damaged * PAIRS_PER_DAMAGE <= pairs;
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
    fn what_only_looks_like_a_record_is_none() {
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
