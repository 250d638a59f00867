//! The page of a large trace as bytes, for a cache. Only the version of the program that wrote the
//! bytes can read them.
//!
//! | bytes | content |
//! |---|---|
//! | 8 | [`MAGIC`] |
//! | 4 | [`FORM`], little-endian |
//! | 4 | CRC-32 of all following bytes, little-endian |
//! | 8 | number of the following bytes, little-endian |
//! | … | the description, then the facts and the summary |

use flate2::{Compression, Crc};

use super::VERSION;
use super::machines::{LevelRow, MachineRow, MachineRows};
use super::served::{Facts, LargePage};
use super::tracks::{Inversion, Names};
use crate::analysis::stored::{Stored, put_bytes, stored_structs, take_bytes};

const MAGIC: &[u8; 8] = b"tw-page\n";

/// The form of the bytes, and the version of the payload. Increment the first number with each
/// change of the form.
const FORM: u32 = 1 << 16 | VERSION;

/// Length of everything before the description.
const HEAD: usize = 24;

stored_structs! {
    Inversion { context, lock, from, until, ticks }
    Names { locks, reasons, inversions }
    MachineRow { members, row, steps }
    LevelRow { members, row }
    MachineRows { machines, levels, messages }
}

impl Stored for Facts {
    fn put(&self, out: &mut Vec<u8>) {
        let Self { header, span, names, machines, figures } = self;
        header.put(out);
        span.put(out);
        names.put(out);
        machines.put(out);
        put_bytes(figures, out);
    }

    fn take(input: &mut &[u8]) -> Option<Self> {
        Some(Self {
            header: Stored::take(input)?,
            span: Stored::take(input)?,
            names: Stored::take(input)?,
            machines: Stored::take(input)?,
            figures: take_bytes(input)?.to_vec(),
        })
    }
}

impl LargePage {
    /// Returns the page as bytes, from which [`Self::load`] restores it. `description` contains the
    /// caller's own facts about the page.
    pub fn store(&self, description: &[u8]) -> Vec<u8> {
        let mut out = vec![0; HEAD];
        put_bytes(description, &mut out);
        self.facts.put(&mut out);
        self.summary.put(&mut out);
        let length = (out.len() - HEAD) as u64;
        let sum = checksum(&out[HEAD..]);
        out[..8].copy_from_slice(MAGIC);
        out[8..12].copy_from_slice(&FORM.to_le_bytes());
        out[12..16].copy_from_slice(&sum.to_le_bytes());
        out[16..HEAD].copy_from_slice(&length.to_le_bytes());
        out
    }

    /// Returns the description and the page. Returns `None` if the bytes are damaged, truncated, or
    /// of another version, or if `accepts` returns false for the description.
    pub fn load(bytes: &[u8], accepts: impl FnOnce(&[u8]) -> bool) -> Option<(Vec<u8>, Self)> {
        let (head, mut body) = bytes.split_at_checked(HEAD)?;
        let sum = checksum(body).to_le_bytes();
        let length = (body.len() as u64).to_le_bytes();
        let expected = [&MAGIC[..], &FORM.to_le_bytes(), &sum, &length].concat();
        if head != expected {
            return None;
        }
        let description = take_bytes(&mut body)?.to_vec();
        if !accepts(&description) {
            return None;
        }
        let (facts, summary) = (Stored::take(&mut body)?, Stored::take(&mut body)?);
        let page = Self { facts, summary, compression: Compression::fast() };
        body.is_empty().then_some((description, page))
    }
}

fn checksum(bytes: &[u8]) -> u32 {
    let mut sum = Crc::new();
    sum.update(bytes);
    sum.sum()
}

#[cfg(test)]
mod tests {
    use super::super::served::{View, tests::large};
    use super::*;

    fn page() -> LargePage {
        large("threadx/tiny.trx").unwrap().1.expect("the page is too large for one payload")
    }

    #[test]
    fn a_stored_page_shows_the_same() {
        let page = page();
        let bytes = page.store(b"about the page");
        let (description, again) = LargePage::load(&bytes, |_| true).unwrap();
        assert_eq!(description, b"about the page");
        assert_eq!(again.facts, page.facts);
        let span = page.facts.span;
        let ranges = [None, Some(0..span / 3), Some(span / 2..span), Some(span..span + 5)];
        for (range, parts) in
            ranges.into_iter().flat_map(|range| [(range.clone(), 5), (range, 900)])
        {
            let view = View { range, parts, listed: None };
            assert_eq!(again.view(&view).unwrap(), page.view(&view).unwrap(), "{view:?}");
        }
        assert!(LargePage::load(&bytes, |description| description.is_empty()).is_none());
    }

    #[test]
    fn damaged_and_truncated_bytes_are_no_page() {
        let bytes = page().store(b"about");
        let is_page = |bytes: &[u8]| LargePage::load(bytes, |_| true).is_some();
        assert!(is_page(&bytes));
        for length in (0..bytes.len()).step_by(2003).chain(bytes.len() - 10..bytes.len()) {
            assert!(!is_page(&bytes[..length]), "truncated to {length} bytes");
        }
        assert!(!is_page(&[&bytes[..], b"x"].concat()), "a byte too much");
        for place in (0..bytes.len()).step_by(2011).chain(0..HEAD + 8) {
            let mut flipped = bytes.clone();
            flipped[place] ^= 1 << (place % 8);
            assert!(!is_page(&flipped), "a flipped bit at {place}");
        }
    }

    /// Bytes with a valid checksum can still be wrong, if another program wrote them.
    #[test]
    fn wrong_content_with_a_valid_checksum_does_not_panic() {
        let bytes = page().store(b"about");
        for place in (HEAD..bytes.len()).step_by(1009) {
            let mut wrong = bytes.clone();
            wrong[place] ^= 0x55;
            let sum = checksum(&wrong[HEAD..]);
            wrong[12..16].copy_from_slice(&sum.to_le_bytes());
            let _ = LargePage::load(&wrong, |_| true);
        }
    }
}
