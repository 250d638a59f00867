//! Stores the page of a large trace in a file, for a cache. Only the version of the program that
//! wrote the file can read it.
//!
//! | bytes | content |
//! |---|---|
//! | … | the records of the summary, each with a checksum of its own |
//! | … | the description, the facts, and the rest of the summary |
//! | 8 | [`MAGIC`] |
//! | 4 | [`FORM`], little-endian |
//! | 4 | checksum of everything between the records and [`MAGIC`], little-endian |
//! | 8 | number of bytes of the records, little-endian |
//! | 8 | number of bytes between the records and [`MAGIC`], little-endian |
//!
//! The program reads the file from its end. It reads the records when a view needs them.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};

use super::VERSION;
use super::machines::{MachineNames, SpanNames};
use super::served::{Facts, LargePage};
use super::servers::ServerRow;
use super::tracks::{Inversion, Names};
use crate::analysis::stored::{Stored, put_bytes, stored_structs, take_bytes};
use crate::analysis::summary::{Summary, checksum};

const MAGIC: &[u8; 8] = b"tw-page\n";

/// The form of the bytes, and the version of the payload. Increment the first number whenever the
/// form changes.
const FORM: u32 = 7 << 16 | VERSION;

/// Length in bytes of the last part of a file. This part begins with [`MAGIC`].
const TAIL: usize = 32;

stored_structs! {
    Inversion { context, lock, from, until, ticks }
    Names { locks, reasons, inversions, longest, severe }
    ServerRow { members, least, row }
    SpanNames { members, indices }
    MachineNames { machines, spans, levels, servers }
}

impl Stored for Facts {
    fn put(&self, out: &mut Vec<u8>) {
        let Self { header, span, names, machines, named, figures } = self;
        header.put(out);
        span.put(out);
        names.put(out);
        machines.put(out);
        named.put(out);
        put_bytes(figures, out);
    }

    fn take(input: &mut &[u8]) -> Option<Self> {
        Some(Self {
            header: Stored::take(input)?,
            span: Stored::take(input)?,
            names: Stored::take(input)?,
            machines: Stored::take(input)?,
            named: Stored::take(input)?,
            figures: take_bytes(input)?.to_vec(),
        })
    }
}

impl LargePage {
    /// Writes the page to a file, from which [`Self::load`] restores it. `description` contains the
    /// caller's own facts about the page. If [`spill_to`] has moved parts of the page to a file,
    /// writes the rest to this file. Otherwise writes the whole page to the file that `opener`
    /// returns. Returns false and writes nothing if the page has more than `most` bytes.
    ///
    /// # Errors
    /// Returns the error of the file system.
    ///
    /// [`spill_to`]: super::ServedBuilder::spill_to
    pub fn store(
        &self,
        description: &[u8],
        most: u64,
        opener: impl FnOnce() -> io::Result<File>,
    ) -> io::Result<bool> {
        let mut out = Vec::new();
        put_bytes(description, &mut out);
        self.facts.put(&mut out);
        // `rest` begins with further records, because the file contains all records before the
        // description.
        let mut rest = self.summary.put(&mut out);
        let tail = tail(&out, self.summary.records() + rest.len() as u64);
        rest.append(&mut out);
        rest.extend_from_slice(&tail);
        if self.summary.records() + rest.len() as u64 > most {
            return Ok(false);
        }
        self.summary.store(&rest, opener)?;
        Ok(true)
    }

    /// Returns the description and the page. Returns `None` in three cases: another version of the
    /// program wrote the file; the file is truncated, or damaged outside of the records; `accepts`
    /// returns false for the description.
    pub fn load(mut file: File, accepts: impl FnOnce(&[u8]) -> bool) -> Option<(Vec<u8>, Self)> {
        let end = file.seek(SeekFrom::End(0)).ok()?.checked_sub(TAIL as u64)?;
        file.seek(SeekFrom::Start(end)).ok()?;
        let mut found = [0; TAIL];
        file.read_exact(&mut found).ok()?;
        let length = u64::from_le_bytes(found[24..].try_into().ok()?);
        let records = end.checked_sub(length)?;
        file.seek(SeekFrom::Start(records)).ok()?;
        let mut bytes = vec![0; usize::try_from(length).ok()?];
        file.read_exact(&mut bytes).ok()?;
        // The tail contains version, lengths and checksum, so this comparison checks all of them.
        if found != tail(&bytes, records) {
            return None;
        }
        let mut rest = bytes.as_slice();
        let description = take_bytes(&mut rest)?.to_vec();
        if !accepts(&description) {
            return None;
        }
        let facts = Stored::take(&mut rest)?;
        let summary = Summary::take(&mut rest, file, records)?;
        let page = Self { facts, summary };
        rest.is_empty().then_some((description, page))
    }
}

/// Returns the last bytes of a file. Before them, the file contains the records and then `bytes`.
fn tail(bytes: &[u8], records: u64) -> [u8; TAIL] {
    let mut tail = [0; TAIL];
    tail[..8].copy_from_slice(MAGIC);
    tail[8..12].copy_from_slice(&FORM.to_le_bytes());
    tail[12..16].copy_from_slice(&checksum(bytes).to_le_bytes());
    tail[16..24].copy_from_slice(&records.to_le_bytes());
    tail[24..].copy_from_slice(&(bytes.len() as u64).to_le_bytes());
    tail
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::super::served::{View, tests::large};
    use super::*;

    fn page(path: &str) -> LargePage {
        large(path).unwrap().1.expect("the page is too large for one payload")
    }

    /// Returns the bytes of a stored page.
    fn stored(page: &LargePage, description: &[u8]) -> Vec<u8> {
        let mut file = tempfile::tempfile().unwrap();
        assert!(page.store(description, u64::MAX, || file.try_clone()).unwrap());
        let mut bytes = Vec::new();
        file.rewind().unwrap();
        file.read_to_end(&mut bytes).unwrap();
        bytes
    }

    /// Returns the size in bytes of a stored page's records.
    fn records(bytes: &[u8]) -> usize {
        let place = bytes.len() - TAIL;
        let length = u64::from_le_bytes(bytes[place + 24..].try_into().unwrap());
        place - length as usize
    }

    fn loaded(bytes: &[u8], accepts: impl FnOnce(&[u8]) -> bool) -> Option<(Vec<u8>, LargePage)> {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(bytes).unwrap();
        LargePage::load(file, accepts)
    }

    const TRACES: [&str; 3] =
        ["threadx/tiny.trx", "../../../../examples/scheduling.trx", "shark/cbs_server.dat"];

    fn views(span: u64) -> impl Iterator<Item = View> {
        let ranges = [None, Some(0..span / 3), Some(span / 2..span), Some(span..span + 5)];
        let ranges = ranges.into_iter();
        let parts = ranges.flat_map(|range| [(range.clone(), 5), (range, 900)]);
        parts.map(|(range, parts)| View { range, parts, ..View::default() })
    }

    #[test]
    fn a_stored_page_shows_the_same() {
        for page in TRACES.map(page) {
            let bytes = stored(&page, b"about the page");
            let (description, again) = loaded(&bytes, |_| true).unwrap();
            assert_eq!(description, b"about the page");
            assert_eq!(again.facts, page.facts);
            for view in views(page.facts.span) {
                assert_eq!(again.view(&view).unwrap(), page.view(&view).unwrap(), "{view:?}");
            }
            assert!(loaded(&bytes, |description| description.is_empty()).is_none());
            let none = || Err(io::Error::other("the page is too large"));
            assert!(!page.store(b"", bytes.len() as u64 - 20, none).unwrap());
        }
        assert!(page(TRACES[1]).summary.records() > 1000, "the records are tested, too");
    }

    /// Damage in the records is found only by views that need these records.
    #[test]
    fn damaged_and_truncated_files_are_no_page() {
        let page = page(TRACES[1]);
        let bytes = stored(&page, b"about");
        let records = records(&bytes);
        let shows = |bytes: &[u8]| {
            let (_, page) = loaded(bytes, |_| true)?;
            let view = View { parts: 100_000, ..View::default() };
            page.view(&view).ok()
        };
        let picture = shows(&bytes);
        assert!(picture.is_some());
        let last = bytes.len() - 40..bytes.len();
        for length in (0..bytes.len()).step_by(20_011).chain(last.clone()) {
            assert!(shows(&bytes[..length]).is_none(), "truncated to {length} bytes");
        }
        assert!(shows(&[&bytes[..], b"x"].concat()).is_none(), "a byte too much");
        for place in (0..bytes.len()).step_by(20_021).chain(last) {
            let mut flipped = bytes.clone();
            flipped[place] ^= 1 << (place % 8);
            let shown = shows(&flipped);
            let is_unread = place < records && shown == picture;
            assert!(shown.is_none() || is_unread, "a flipped bit at {place}");
        }
        let mut flipped = bytes.clone();
        flipped[records / 2] ^= 1;
        let (_, page) = loaded(&flipped, |_| true).unwrap();
        let view = View { range: Some(0..page.facts.span), parts: u64::MAX, ..View::default() };
        assert_eq!(page.view(&view).unwrap_err().kind(), io::ErrorKind::InvalidData);
    }

    /// Bytes with a valid checksum can still be wrong, if another program wrote them.
    #[test]
    fn wrong_content_with_a_valid_checksum_does_not_panic() {
        let page = page(TRACES[1]);
        let bytes = stored(&page, b"about");
        let (records, end) = (records(&bytes), bytes.len() - TAIL);
        for place in (records..end).step_by(1009) {
            let mut wrong = bytes.clone();
            wrong[place] ^= 0x55;
            let tail = tail(&wrong[records..end], records as u64);
            wrong[end..].copy_from_slice(&tail);
            if let Some((_, page)) = loaded(&wrong, |_| true) {
                let _ = page.view(&View::default());
            }
        }
    }
}
