//! A log whose blocks follow each other, read as it arrives: looks for the next block where one is
//! damaged.

use tracewell_wire::frame::{self, Found, HEAD};
use tracewell_wire::posix::log::{self, Kind, LogStatus, MAGIC};

use super::rows::Rows;
use super::types;
use crate::format::blocks::BlockPlace;
use crate::format::{Input, Progress};
use crate::model::{Flow, LossCause, Severity, Sink, Trace};

/// Reads a log, block by block.
#[derive(Debug, Default)]
pub(super) struct Log {
    place: BlockPlace,
    /// Number that the next records block has if none is missing.
    next: u64,
    /// What the end block says.
    pub(super) status: Option<LogStatus>,
}

impl Log {
    /// A log whose blocks behind the header begin here.
    pub(super) fn behind(header_end: u64) -> Self {
        Self { place: BlockPlace::new(header_end), ..Self::default() }
    }

    /// Where the next block lies.
    pub(super) const fn at(&self) -> u64 {
        self.place.at
    }

    /// Reads on; breaks off where the sink does.
    pub(super) fn read(
        &mut self,
        input: Input<'_>,
        rows: &mut Rows,
        trace: &mut Trace,
        sink: &mut dyn Sink,
    ) -> std::ops::ControlFlow<(), Progress> {
        loop {
            let start = self.place.at.saturating_sub(input.offset) as usize;
            let rest = input.bytes.get(start..).unwrap_or_default();
            let wanted = match frame::find(rest, MAGIC) {
                _ if rest.is_empty() => HEAD,
                Found::Block { kind, number, body } => {
                    let body_at = self.place.pass(body.len());
                    self.block(Kind::of_code(kind), number, body, body_at, rows, trace, sink)?;
                    if self.status.is_some() {
                        return Flow::Continue(Progress::Done);
                    }
                    continue;
                }
                Found::Part(wanted) if !input.last => wanted,
                Found::Damage if !input.last && rest.len() < HEAD => HEAD,
                Found::Part(_) | Found::Damage => {
                    self.place.look_further(trace);
                    continue;
                }
            };
            if input.last {
                return Flow::Continue(Progress::Done);
            }
            // What is shown already is handed on, so that a log that grows can be followed.
            rows.hand_over(trace, sink)?;
            return Flow::Continue(Progress::More {
                consumed: start.min(input.bytes.len()),
                wanted,
            });
        }
    }

    #[expect(clippy::too_many_arguments, reason = "a block with where it is, and where it goes")]
    fn block(
        &mut self,
        kind: Option<Kind>,
        number: u64,
        body: &[u8],
        at: u64,
        rows: &mut Rows,
        trace: &mut Trace,
        sink: &mut dyn Sink,
    ) -> Flow {
        match kind {
            Some(Kind::Name) => name(body, at, trace),
            Some(Kind::Records) => {
                if number > self.next {
                    let cause =
                        if self.place.damaged { LossCause::Damaged } else { LossCause::Missing };
                    rows.lost(None, cause, at, trace, sink)?;
                    self.place.damaged = false;
                }
                self.next = number.saturating_add(1);
                rows.add_all(body, at, trace, sink)?;
            }
            Some(Kind::End) => self.status = Some(LogStatus::read(body).unwrap_or_default()),
            Some(Kind::Header) | None => {}
        }
        Flow::Continue(())
    }

    /// What is to be said when no more blocks come.
    pub(super) fn rest(&self, rows: &mut Rows, trace: &mut Trace, sink: &mut dyn Sink) -> Flow {
        if self.place.damaged {
            let ended = self.status.is_some();
            let cause = if ended { LossCause::Damaged } else { LossCause::Truncated };
            rows.lost(None, cause, self.place.at, trace, sink)?;
        }
        Flow::Continue(())
    }
}

/// Defines the event type that a name block names.
pub(super) fn name(body: &[u8], at: u64, trace: &mut Trace) {
    match log::name(body) {
        Some((id, name)) => types::define(trace, id, name, at),
        None => {
            let message = "expected the id of an event type and its name";
            trace.diagnostics.add(Severity::Damage, at, message);
        }
    }
}
