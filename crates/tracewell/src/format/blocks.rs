//! Where the reading of a log's blocks stands, for the logs whose blocks have the frame of `wire::frame`: how it goes
//! on behind a block, and behind damage. What blocks mean, the logs know.

use tracewell_wire::frame::HEAD;
use tracewell_wire::native::WORD;

use crate::model::{Severity, Trace};

/// A place in a log, and whether there was damage before it.
#[derive(Debug, Default)]
pub(super) struct BlockPlace {
    /// Where the next block lies in the source.
    pub(super) at: u64,
    /// Damage that nothing missing accounts for yet.
    pub(super) damaged: bool,
    /// Whether the bytes just before were damaged, too: they are one damage, told once.
    in_damage: bool,
}

impl BlockPlace {
    /// A log whose next block lies here.
    pub(super) fn new(at: u64) -> Self {
        Self { at, ..Self::default() }
    }

    /// Goes behind a block with so many bytes of body; where the body lies.
    pub(super) fn pass(&mut self, body: usize) -> u64 {
        let body_at = self.at + HEAD as u64;
        (self.at, self.in_damage) = (body_at + body as u64, false);
        body_at
    }

    /// A block is damaged, or cut off: the next one begins at a later multiple of 8.
    pub(super) fn look_further(&mut self, trace: &mut Trace) {
        if !self.in_damage {
            let message = "expected a block of a log with the right checksum";
            trace.diagnostics.add(Severity::Damage, self.at, message);
        }
        (self.in_damage, self.damaged) = (true, true);
        self.at += WORD as u64;
    }
}
