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
