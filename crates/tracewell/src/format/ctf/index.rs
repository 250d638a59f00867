//! Reads the index files of LTTng. An index file lists the packets of a stream file.
//!
//! All numbers are big-endian.
//!
//! | bytes | header of the file |
//! |---|---|
//! | 0–3 | magic number 0xC1F1DCC1 |
//! | 4–7 | major version, 1 |
//! | 8–11 | minor version, which the decoder ignores |
//! | 12–15 | length of an entry in bytes |
//!
//! | bytes | entry |
//! |---|---|
//! | 0–7 | offset of the packet in bytes |
//! | 8–15, 16–23 | size of the packet and of its content in bits |
//! | 24–31, 32–39 | value of the clock at the beginning and at the end |
//! | 40–47 | count of discarded events |
//!
//! The other fields of an entry repeat numbers from the packet's header. The decoder does not read
//! them.

use std::path::{Path, PathBuf};

use super::packets::Packet;

const MAGIC: u32 = 0xC1F1_DCC1;

/// Length of a file header in bytes.
const HEADER: usize = 16;

/// Number of bytes of an entry that are read.
const ENTRY: usize = 48;

/// The entries of an index file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Index<'a> {
    entries: &'a [u8],
    /// Length of an entry.
    length: usize,
}

/// An entry of an index file. It describes one packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Entry {
    pub(super) offset: u64,
    packet_size: u64,
    content_size: u64,
    begin: u64,
    end: u64,
    discarded: u64,
}

/// The place of a packet in an index.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Place {
    /// The number of its entry.
    Number(usize),
    /// Its entry is the first one that has this offset or a larger one. The number of the entry is
    /// not known, because the number of packets before it is not known: bytes were damaged.
    From(u64),
}

/// Returns the path of the index of a stream file.
pub(super) fn path_of(stream: &Path) -> Option<PathBuf> {
    let mut name = stream.file_name()?.to_owned();
    name.push(".idx");
    Some(stream.parent()?.join(FOLDER).join(name))
}

/// Name of the folder, next to the streams, that contains the index files.
pub(super) const FOLDER: &str = "index";

/// Returns true if a path is that of an index file.
pub(super) fn is_index(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "idx")
        && path.parent().is_some_and(|folder| folder.ends_with(FOLDER))
}

fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    bytes.get(at..)?.first_chunk().copied().map(u64::from_be_bytes)
}

impl<'a> Index<'a> {
    /// Reads an index file. Returns `None` if the bytes are not an index in a known version.
    pub(super) fn new(bytes: &'a [u8]) -> Option<Self> {
        let (header, entries) = bytes.split_at_checked(HEADER)?;
        let word = |index: usize| {
            let bytes = header.as_chunks::<4>().0.get(index)?;
            Some(u32::from_be_bytes(*bytes))
        };
        let length = usize::try_from(word(3)?).ok()?;
        let is_known = word(0) == Some(MAGIC) && word(1) == Some(1) && length >= ENTRY;
        is_known.then_some(Self { entries, length })
    }

    /// Returns the number of packets.
    pub(super) const fn len(&self) -> usize {
        self.entries.len() / self.length
    }

    pub(super) fn get(&self, number: usize) -> Option<Entry> {
        let from = number.checked_mul(self.length)?;
        let entry = self.entries.get(from..from.checked_add(self.length)?)?;
        Some(Entry {
            offset: u64_at(entry, 0)?,
            packet_size: u64_at(entry, 8)?,
            content_size: u64_at(entry, 16)?,
            begin: u64_at(entry, 24)?,
            end: u64_at(entry, 32)?,
            discarded: u64_at(entry, 40)?,
        })
    }

    /// Returns the number of the entry at a place.
    pub(super) fn number(&self, place: Place) -> usize {
        match place {
            Place::Number(number) => number,
            Place::From(offset) => self.first_from(offset),
        }
    }

    /// Returns the number of the first packet that begins at or after an offset.
    pub(super) fn first_from(&self, offset: u64) -> usize {
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = low.midpoint(high);
            match self.get(middle) {
                Some(entry) if entry.offset < offset => low = middle + 1,
                _ => high = middle,
            }
        }
        low
    }
}

impl Entry {
    /// Returns the first difference between the entry and the packet.
    pub(super) fn difference(&self, packet: &Packet<'_>) -> Option<String> {
        let numbers = &packet.numbers;
        let is = |value: Option<u64>, other: u64| value.is_none_or(|value| value == other);
        let discarded = numbers.discarded.map(|(count, _)| count);
        let facts = [
            ("an offset", Some(packet.offset), self.offset),
            ("a size in bits", numbers.packet_size, self.packet_size),
            ("a content in bits", numbers.content_size, self.content_size),
            ("a beginning", numbers.begin, self.begin),
            ("an end", numbers.end, self.end),
            ("a count of discarded events", discarded, self.discarded),
        ];
        let (what, found, listed) =
            facts.into_iter().find(|(_, found, listed)| !is(*found, *listed))?;
        let found = found.unwrap_or_default();
        Some(format!("expected a packet with {what} of {listed} as in the index, found {found}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn index(offsets: &[u64], length: u32) -> Vec<u8> {
        let mut bytes = Vec::new();
        for word in [MAGIC, 1, 1, length] {
            bytes.extend(word.to_be_bytes());
        }
        for offset in offsets {
            let mut entry = vec![0; length as usize];
            entry[..8].copy_from_slice(&offset.to_be_bytes());
            bytes.extend(entry);
        }
        bytes
    }

    #[test]
    fn entries_are_found_by_their_offset() {
        for length in [ENTRY as u32, 56, 72] {
            let bytes = index(&[0, 100, 300], length);
            let index = Index::new(&bytes).unwrap();
            assert_eq!(index.len(), 3);
            assert_eq!(
                [0, 1, 100, 101, 300, 301].map(|at| index.first_from(at)),
                [0, 1, 1, 2, 2, 3]
            );
            assert_eq!(index.get(2).map(|entry| entry.offset), Some(300));
            assert_eq!(index.get(3), None);
        }
    }

    #[test]
    fn files_that_are_not_an_index_have_no_entries() {
        let good = index(&[0], 72);
        for (at, byte) in [(0, 0xC2), (7, 2), (15, 8), (15, ENTRY as u8 - 1)] {
            let mut bad = good.clone();
            bad[at] = byte;
            assert_eq!(Index::new(&bad), None);
        }
        for length in 0..HEADER {
            assert_eq!(Index::new(&good[..length]), None);
        }
        // The last entry is incomplete.
        assert_eq!(Index::new(&good[..good.len() - 1]).unwrap().len(), 0);
    }

    #[test]
    fn the_index_of_a_stream_is_beside_it() {
        let path = path_of(Path::new("trace/ch_0")).unwrap();
        assert_eq!(path, Path::new("trace/index/ch_0.idx"));
        assert!(is_index(&path) && !is_index(Path::new("trace/ch_0.idx")));
    }
}
