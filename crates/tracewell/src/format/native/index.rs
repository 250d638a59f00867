//! Reads or rebuilds the index of a log. The index contains the times of the log's blocks. The
//! index is at the end of the log.

use tracewell_wire::native::block::{self, Block, Kind, Lookup};
use tracewell_wire::native::{IndexEntry, PacketHeader, WORD, word};

use super::run::{RecordRun, Step, Walk};

/// The index of a log. Its entries are in the order of the blocks.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Index {
    entries: Vec<IndexEntry>,
}

impl Index {
    /// Returns the index at the end of a log, or `None` if it is missing or damaged.
    pub fn read(log: &[u8]) -> Option<Self> {
        // The end block contains one word, which is the offset of the last index block.
        let end = log.len().checked_sub(block::HEAD + WORD)?;
        let mut at = word(at(log, end, Kind::End)?.body, 0)?;
        let mut entries = Vec::new();
        while at != 0 {
            let here = usize::try_from(at).ok()?;
            let found = self::at(log, here, Kind::Index)?;
            let count = found.body.len() / WORD / IndexEntry::WORDS;
            let body = found.body.get(WORD..)?;
            // Each index block links to the previous one, so entries are collected backwards.
            let block = (0..count).map(|number| IndexEntry::read(body, number));
            entries.extend(block.rev().collect::<Option<Vec<_>>>()?);
            // A link must point to an earlier block, so the loop ends.
            at = word(found.body, 0).filter(|before| *before < at)?;
        }
        entries.reverse();
        Some(Self { entries })
    }

    /// Rebuilds the index from the intact blocks of a log.
    pub fn rebuild(log: &[u8]) -> Self {
        let (mut at, mut entries) = (0, Vec::new());
        while at < log.len() {
            match block::find(&log[at..]) {
                Lookup::Block(found) => {
                    if found.kind == Some(Kind::Packet) {
                        entries.extend(entry(log, at, found.body));
                    }
                    at += block::HEAD + found.body.len();
                }
                // Blocks begin at multiples of the word size.
                Lookup::Incomplete(_) | Lookup::Damaged => at += WORD,
            }
        }
        Self { entries }
    }

    /// Returns all entries, in order of the blocks.
    pub fn entries(&self) -> &[IndexEntry] {
        &self.entries
    }

    /// Returns the blocks that contain events from `from` to `until`, both included, in order of
    /// the blocks.
    pub fn between(&self, from: u64, until: u64) -> impl Iterator<Item = &IndexEntry> {
        self.entries.iter().filter(move |entry| entry.first <= until && entry.last >= from)
    }
}

fn at(log: &[u8], at: usize, kind: Kind) -> Option<Block<'_>> {
    match block::find(log.get(at..)?) {
        Lookup::Block(block) if block.kind == Some(kind) => Some(block),
        _ => None,
    }
}

fn entry(log: &[u8], at: usize, body: &[u8]) -> Option<IndexEntry> {
    let header = PacketHeader::read(body)?;
    let start = (at + block::HEAD + PacketHeader::WORDS * WORD) as u64;
    let records = start..(at + block::HEAD + body.len()) as u64;
    let mut walk = Walk::of(&RecordRun { header, records, after_damage: false });
    let (mut first, mut last, mut events) = (None, 0, 0);
    while let Step::Record(record) = walk.next(log, 0) {
        first.get_or_insert(record.stamp);
        last = record.stamp;
        events += 1;
    }
    let first = first?;
    Some(IndexEntry { offset: at as u64, first, last, lane: header.lane, events })
}
