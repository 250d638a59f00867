//! Where in a log which times are: read from its end, or made again from its blocks.

use tracewell_wire::native::block::{self, Block, Found, Kind};
use tracewell_wire::native::{IndexEntry, PacketHeader, WORD, word};

use super::piece::{Piece, Step, Walk};

/// The index of a log, in order of the blocks.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Index {
    entries: Vec<IndexEntry>,
}

impl Index {
    /// The index that a log ends with; `None` where it has none, or a damaged one.
    pub fn read(log: &[u8]) -> Option<Self> {
        let end = log.len().checked_sub(block::HEAD + WORD)?;
        let mut at = word(at(log, end, Kind::End)?.body, 0)?;
        let mut entries = Vec::new();
        while at != 0 {
            let here = usize::try_from(at).ok()?;
            let found = self::at(log, here, Kind::Index)?;
            let count = found.body.len() / WORD / IndexEntry::WORDS;
            let body = found.body.get(WORD..)?;
            let block = (0..count).map(|number| IndexEntry::read(body, number));
            entries.extend(block.rev().collect::<Option<Vec<_>>>()?);
            // Each index block points to an earlier one, so this ends.
            at = word(found.body, 0).filter(|before| *before < at)?;
        }
        entries.reverse();
        Some(Self { entries })
    }

    /// Makes the index from the blocks of a log, as far as they are whole.
    pub fn rebuild(log: &[u8]) -> Self {
        let (mut at, mut entries) = (0, Vec::new());
        while at < log.len() {
            match block::find(&log[at..]) {
                Found::Block(found) => {
                    if found.kind == Some(Kind::Packet) {
                        entries.extend(entry(log, at, found.body));
                    }
                    at += block::HEAD + found.body.len();
                }
                Found::Part(_) | Found::Damage => at += WORD,
            }
        }
        Self { entries }
    }

    /// All entries, in order of the blocks.
    pub fn entries(&self) -> &[IndexEntry] {
        &self.entries
    }

    /// The blocks that hold events from `from` to `until`, both included, in order of the blocks.
    pub fn between(&self, from: u64, until: u64) -> impl Iterator<Item = &IndexEntry> {
        self.entries.iter().filter(move |entry| entry.first <= until && entry.last >= from)
    }
}

fn at(log: &[u8], at: usize, kind: Kind) -> Option<Block<'_>> {
    match block::find(log.get(at..)?) {
        Found::Block(block) if block.kind == Some(kind) => Some(block),
        _ => None,
    }
}

fn entry(log: &[u8], at: usize, body: &[u8]) -> Option<IndexEntry> {
    let header = PacketHeader::read(body)?;
    let start = (at + block::HEAD + PacketHeader::WORDS * WORD) as u64;
    let records = start..(at + block::HEAD + body.len()) as u64;
    let mut walk = Walk::of(&Piece { header, records, after_damage: false });
    let (mut first, mut last, mut events) = (None, 0, 0);
    while let Step::Record(record) = walk.next(log, 0) {
        first.get_or_insert(record.stamp);
        last = record.stamp;
        events += 1;
    }
    let first = first?;
    Some(IndexEntry { offset: at as u64, first, last, lane: header.lane, events })
}
