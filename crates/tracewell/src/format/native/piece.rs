//! Runs of records of one lane, and walking over them.

use std::ops::Range;

use tracewell_wire::native::{PacketHeader, REBASE, RecordHead, WORD, word};

/// Records of one lane that lie behind each other.
#[derive(Clone, Debug)]
pub(super) struct Piece {
    /// What their packet's header says of them.
    pub(super) header: PacketHeader,
    /// Where they lie in the source, in bytes.
    pub(super) records: Range<u64>,
    /// Events of the lane that should lie before them and do not are missing for this reason.
    pub(super) after_damage: bool,
}

/// Walks over the records of a piece.
#[derive(Clone, Copy, Debug)]
pub(super) struct Walk {
    /// Where the next record lies in the source.
    pub(super) at: u64,
    end: u64,
    base: u64,
}

/// One record.
#[derive(Clone, Copy, Debug)]
pub(super) struct Record {
    /// When.
    pub(super) stamp: u64,
    /// What.
    pub(super) id: u16,
    /// Where it lies in the source.
    pub(super) start: u64,
    /// Where the record behind it lies.
    pub(super) end: u64,
}

/// What comes next in a piece.
#[derive(Clone, Copy, Debug)]
pub(super) enum Step {
    Record(Record),
    /// The piece is over.
    End,
    /// A record that reaches beyond its piece, or a base without a stamp: nothing behind it can be
    /// told apart.
    Damage,
}

impl Walk {
    pub(super) fn of(piece: &Piece) -> Self {
        Self { at: piece.records.start, end: piece.records.end, base: piece.header.base }
    }

    /// The next record. `bytes` is the window, which begins at `offset` in the source.
    #[inline]
    pub(super) fn next(&mut self, bytes: &[u8], offset: u64) -> Step {
        loop {
            if self.at >= self.end {
                return Step::End;
            }
            let Some(here) = bytes.get((self.at.wrapping_sub(offset)) as usize..) else {
                return Step::Damage;
            };
            let Some(head) = word(here, 0).map(RecordHead::unpack) else { return Step::Damage };
            let start = self.at;
            let end = start + (WORD + usize::from(head.words) * WORD) as u64;
            if end > self.end {
                return Step::Damage;
            }
            self.at = end;
            if head.id != REBASE {
                let stamp = self.base.wrapping_add(u64::from(head.delta));
                return Step::Record(Record { stamp, id: head.id, start, end });
            }
            let Some(base) = word(here, 1).filter(|_| head.words > 0) else { return Step::Damage };
            self.base = base;
        }
    }
}
