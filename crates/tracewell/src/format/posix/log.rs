//! Reads a log of adjacent blocks while its bytes arrive. After a damaged block, searches for the
//! next valid one.

use tracewell_wire::ProgramEnd;
use tracewell_wire::frame::{self, HEAD, Lookup};
use tracewell_wire::posix::log::{self, Kind, LogStatus, MAGIC};

use super::rows::Rows;
use super::types;
use crate::format::blocks::BlockPlace;
use crate::format::{Input, Progress, program};
use crate::model::{Emitter, Flow, LossCause, Severity, Trace};

/// Reads a log, block by block.
#[derive(Debug, Default)]
pub(super) struct Log {
    place: BlockPlace,
    /// Expected number of the next block of records.
    next: u64,
    /// The content of the end block.
    pub(super) status: Option<LogStatus>,
}

impl Log {
    /// Returns the state before the first block, which begins at `header_end`.
    pub(super) fn after_header(header_end: u64) -> Self {
        Self { place: BlockPlace::new(header_end), ..Self::default() }
    }

    /// Returns the offset of the next block.
    pub(super) const fn at(&self) -> u64 {
        self.place.at
    }

    /// Reads the blocks that have arrived. Returns `Break` if the sink returns `Break`.
    pub(super) fn read(
        &mut self,
        input: Input<'_>,
        rows: &mut Rows,
        out: &mut Emitter<'_>,
    ) -> Flow<Progress> {
        loop {
            let start = self.place.at.saturating_sub(input.offset) as usize;
            let rest = input.bytes.get(start..).unwrap_or_default();
            let wanted = match frame::find(rest, MAGIC) {
                _ if rest.is_empty() => HEAD,
                Lookup::Block { kind, number, body } => {
                    let body_at = self.place.pass(body.len());
                    self.block(Kind::of_code(kind), (number, body, body_at), rows, out)?;
                    if self.status.is_some() {
                        return Flow::Continue(Progress::Done);
                    }
                    continue;
                }
                Lookup::Incomplete(wanted) if !input.last => wanted,
                Lookup::Damaged if !input.last && rest.len() < HEAD => HEAD,
                Lookup::Incomplete(_) | Lookup::Damaged => {
                    self.place.look_further(out.trace);
                    continue;
                }
            };
            if input.last {
                return Flow::Continue(Progress::Done);
            }
            // Deliver complete records now, so that a growing log can be followed.
            out.flush()?;
            return Flow::Continue(Progress::More {
                consumed: start.min(input.bytes.len()),
                wanted,
            });
        }
    }

    fn block(
        &mut self,
        kind: Option<Kind>,
        (number, body, at): (u64, &[u8], u64),
        rows: &mut Rows,
        out: &mut Emitter<'_>,
    ) -> Flow {
        match kind {
            Some(Kind::Name) => name(body, at, out.trace),
            Some(Kind::Records) => {
                // If a damaged section precedes this block, that section contained the missing
                // blocks. Otherwise the missing blocks were never in the file.
                if number > self.next {
                    let cause =
                        if self.place.damaged { LossCause::Damaged } else { LossCause::Missing };
                    out.loss(None, cause, at)?;
                    self.place.damaged = false;
                }
                self.next = number.saturating_add(1);
                rows.add_all(body, at, out)?;
            }
            Some(Kind::End) => self.status = Some(LogStatus::read(body).unwrap_or_default()),
            Some(Kind::ProgramEnd) => program_end(body, at, out.trace),
            Some(Kind::Header) | None => {}
        }
        Flow::Continue(())
    }

    /// Reports a loss if the log ends with damage.
    pub(super) fn rest(&self, out: &mut Emitter<'_>) -> Flow {
        if self.place.damaged {
            let ended = self.status.is_some();
            let cause = if ended { LossCause::Damaged } else { LossCause::Truncated };
            out.loss(None, cause, self.place.at)?;
        }
        Flow::Continue(())
    }
}

/// Adds the exit status of the traced program, or the signal that ended it.
pub(super) fn program_end(body: &[u8], at: u64, trace: &mut Trace) {
    if let Some(end) = ProgramEnd::read(body) {
        program::ended(end, at, trace);
    }
}

/// Defines the event type whose id and name a name block contains.
pub(super) fn name(body: &[u8], at: u64, trace: &mut Trace) {
    match log::name(body) {
        Some((id, name)) => types::define(trace, id, name, at),
        None => {
            let message = "expected the id of an event type and its name";
            trace.diagnostics.add(Severity::Damage, at, message);
        }
    }
}
