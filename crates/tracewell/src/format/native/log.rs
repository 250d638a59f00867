//! The pieces in a log: block after block, looking for the next one where one is damaged.

use tracewell_wire::native::block::{self, Block, Found, Kind, Start, StatusWords};
use tracewell_wire::native::{PacketHeader, WORD};

use super::merge::{Merge, Window};
use super::piece::Piece;
use super::types;
use crate::format::blocks::BlockPlace;
use crate::model::{Severity, Trace};

/// Reads a log, block by block.
#[derive(Debug, Default)]
pub(super) struct Log {
    pub(super) place: BlockPlace,
    /// What the start block says.
    pub(super) start: Option<Start>,
    /// The last status.
    pub(super) status: Option<StatusWords>,
    /// Whether an end block was there.
    pub(super) ended: bool,
    /// Number that the next block has if none is missing.
    next: u64,
}

/// Why no more blocks were read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Stop {
    /// So many bytes must be there from the next block on.
    Wanted(usize),
    /// A status block: what is before it may be delivered.
    Status,
    /// The end block.
    End,
}

impl Log {
    /// Reads blocks up to the next status.
    pub(super) fn read(
        &mut self,
        window: Window<'_>,
        last: bool,
        merge: &mut Merge,
        trace: &mut Trace,
    ) -> Stop {
        loop {
            let start = self.place.at.saturating_sub(window.offset) as usize;
            let rest = window.bytes.get(start..).unwrap_or_default();
            if rest.is_empty() {
                return Stop::Wanted(block::HEAD);
            }
            match block::find(rest) {
                Found::Block(found) => {
                    let at = self.place.at;
                    self.place.pass(found.body.len());
                    if let Some(stop) = self.block(&found, at, window, merge, trace) {
                        return stop;
                    }
                }
                Found::Part(wanted) if !last => return Stop::Wanted(wanted),
                Found::Damage if !last && rest.len() < block::HEAD => {
                    return Stop::Wanted(block::HEAD);
                }
                Found::Part(_) | Found::Damage => self.place.look_further(trace),
            }
        }
    }

    fn block(
        &mut self,
        found: &Block<'_>,
        at: u64,
        window: Window<'_>,
        merge: &mut Merge,
        trace: &mut Trace,
    ) -> Option<Stop> {
        if found.number != self.next && !self.place.damaged {
            let message = format!("expected block {}, found {}", self.next, found.number);
            trace.diagnostics.add(Severity::Damage, at, message);
            self.place.damaged = true;
        }
        self.next = found.number.wrapping_add(1);
        let body = at + block::HEAD as u64;
        match found.kind {
            Some(Kind::Start) => self.start = Start::read(found.body),
            Some(Kind::Type) => {
                if let Some((id, _, text)) = block::event_type(found.body) {
                    types::define(trace, id, text, body);
                }
            }
            Some(Kind::Packet) => self.packet(found.body, body, window, merge, trace),
            Some(Kind::Status) => {
                self.status = StatusWords::read(found.body);
                return Some(Stop::Status);
            }
            Some(Kind::End) => {
                self.ended = true;
                return Some(Stop::End);
            }
            Some(Kind::Index) | None => {}
        }
        None
    }

    fn packet(
        &mut self,
        body: &[u8],
        at: u64,
        window: Window<'_>,
        merge: &mut Merge,
        trace: &mut Trace,
    ) {
        let header = PacketHeader::read(body).filter(|header| header.lane < 4096);
        let Some(header) = header else {
            let message = "expected the header of a packet of one of 4096 lanes";
            return trace.diagnostics.add(Severity::Damage, at, message);
        };
        let records = at + (PacketHeader::WORDS * WORD) as u64..at + body.len() as u64;
        let piece = Piece { header, records, after_damage: self.place.damaged };
        merge.add(piece, window, trace);
    }
}
