//! Reads the runs in a log, block by block. After a damaged block, searches for the next valid
//! block.

use tracewell_wire::ProgramEnd;
use tracewell_wire::native::block::{self, Block, Kind, Lookup, Start, StatusWords};
use tracewell_wire::native::{PacketHeader, WORD};

use super::merge::Merge;
use super::run::RecordRun;
use super::types;
use crate::format::blocks::BlockPlace;
use crate::model::{Severity, Trace, Window};

/// The state of reading a log.
#[derive(Debug, Default)]
pub(super) struct Log {
    pub(super) place: BlockPlace,
    /// The content of the start block.
    pub(super) start: Option<Start>,
    /// The content of the latest status block.
    pub(super) status: Option<StatusWords>,
    /// True if an end block was read.
    pub(super) ended: bool,
    /// The end of the recorded program, if the log contains a block that describes this end.
    pub(super) program_end: Option<ProgramEnd>,
    /// Expected number of the next block.
    next: u64,
}

/// The reason why [`Log::read`] returned.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Stop {
    /// This number of bytes is needed, counted from the start of the next block.
    Wanted(usize),
    /// A status block was read. It contains a limit, and events before this limit can be delivered.
    Status,
    /// The end block was read. It is the last block of this log.
    End,
}

impl Log {
    /// Reads blocks up to the next status block.
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
                Lookup::Block(found) => {
                    let at = self.place.at;
                    self.place.pass(found.body.len());
                    if let Some(stop) = self.block(&found, at, window, merge, trace) {
                        return stop;
                    }
                }
                Lookup::Incomplete(wanted) if !last => return Stop::Wanted(wanted),
                // The header looks damaged, but the window may contain only its first bytes.
                Lookup::Damaged if !last && rest.len() < block::HEAD => {
                    return Stop::Wanted(block::HEAD);
                }
                Lookup::Incomplete(_) | Lookup::Damaged => self.place.look_further(trace),
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
        // Report only the first gap in the numbers, and only if no damage was reported before it.
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
                    types::define(trace, &mut merge.kernel, id, text, body);
                }
            }
            Some(Kind::Packet) => self.packet(found.body, body, window, merge, trace),
            Some(Kind::Status) => {
                self.status = StatusWords::read(found.body);
                return Some(Stop::Status);
            }
            Some(Kind::ProgramEnd) => self.program_end = ProgramEnd::read(found.body),
            Some(Kind::End) => {
                self.ended = true;
                return Some(Stop::End);
            }
            // An index only makes searches faster. Unknown kinds come from newer writers.
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
        // Recorders have far fewer than 4096 lanes. The limit prevents a damaged number from
        // filling memory.
        let header = PacketHeader::read(body).filter(|header| header.lane < 4096);
        let Some(header) = header else {
            let message = "expected the header of a packet with a lane below 4096";
            return trace.diagnostics.add(Severity::Damage, at, message);
        };
        let records = at + (PacketHeader::WORDS * WORD) as u64..at + body.len() as u64;
        let run = RecordRun { header, records, after_damage: self.place.damaged };
        merge.add(run, window, trace);
    }
}
