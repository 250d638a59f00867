//! Tracks the position in a log whose blocks are framed as defined in `wire::frame`. Handles intact
//! blocks, damage, and bytes after the log. The modules of the formats interpret the content of
//! blocks.

use tracewell_wire::frame::HEAD;
use tracewell_wire::native::WORD;

use crate::format::{Input, Progress};
use crate::model::{Emitter, Flow, LossCause, Severity, Trace};
use crate::text::counted;

/// A position in a log, and the damage before this position.
#[derive(Debug, Default)]
pub(super) struct BlockPlace {
    /// Offset of the next block in the source.
    pub(super) at: u64,
    /// True if there was damage that no reported loss covers yet.
    pub(super) damaged: bool,
    /// True if the preceding bytes are also damaged. Adjacent damage is reported once.
    in_damage: bool,
}

impl BlockPlace {
    /// Returns a position before the block at offset `at`.
    pub(super) fn new(at: u64) -> Self {
        Self { at, ..Self::default() }
    }

    /// Moves past a block with a body of `body` bytes. Returns the offset of the body.
    pub(super) fn pass(&mut self, body: usize) -> u64 {
        let body_at = self.at + HEAD as u64;
        (self.at, self.in_damage) = (body_at + body as u64, false);
        body_at
    }

    /// Moves past a damaged word. Blocks begin at multiples of 8 bytes, so the next block can begin
    /// after any word.
    pub(super) fn look_further(&mut self, trace: &mut Trace) {
        if !self.in_damage {
            let message = "expected a block of a log with a valid checksum";
            trace.diagnostics.add(Severity::Damage, self.at, message);
        }
        (self.in_damage, self.damaged) = (true, true);
        self.at += WORD as u64;
    }
}

/// Reports that a log has no end block. The writer had records in memory that it did not write to
/// the log, so the size of the loss is unknown. A truncated block at the end is part of this loss.
/// If the log is growing, nothing has been lost yet.
pub(super) fn not_closed(end: u64, is_growing: bool, out: &mut Emitter<'_>) -> Flow {
    if is_growing {
        out.trace.diagnostics.add(Severity::Note, end, "the log is still being written");
        return Flow::Continue(());
    }
    let message = "the log was not closed: its writer was killed or still runs, \
                   and an unknown number of events may be missing at the end";
    out.trace.diagnostics.add(Severity::Warning, end, message);
    if out.trace.losses.iter().any(|(cause, _)| cause == LossCause::Truncated) {
        return Flow::Continue(());
    }
    out.loss(None, LossCause::Truncated, end)
}

/// The bytes after the end of a log. They may be the rest of a page or another file.
#[derive(Debug)]
pub(super) struct TrailingBytes {
    /// Offset of the end of the log.
    end: u64,
    /// The magic number with which another log would begin.
    magic: u32,
    bytes: u64,
    /// True if at least one of the bytes is not 0.
    has_data: bool,
    begins_with: Option<u32>,
}

impl TrailingBytes {
    /// Returns the state at the end of a log, before any byte after it is read. `magic` is the
    /// magic number of the log's blocks.
    pub(super) fn new(end: u64, magic: u32) -> Self {
        Self { end, magic, bytes: 0, has_data: false, begins_with: None }
    }

    /// Counts the bytes of the input as bytes after the log. At the end of the input, reports them.
    pub(super) fn read(&mut self, input: &Input<'_>, out: &mut Emitter<'_>) -> Progress {
        let consumed = self.skip(input);
        if !input.last {
            return Progress::More { consumed, wanted: size_of::<u32>() };
        }
        // No later event follows, so the sink's result does not matter.
        let _ = self.report(out);
        Progress::Done
    }

    /// Counts the bytes of the input. Returns the number of bytes consumed.
    fn skip(&mut self, input: &Input<'_>) -> usize {
        let from = self.end.saturating_sub(input.offset) as usize;
        let rest = input.bytes.get(from..).unwrap_or_default();
        if self.begins_with.is_none()
            && let Some(word) = rest.first_chunk()
        {
            self.begins_with = Some(u32::from_le_bytes(*word));
        // Consume no bytes after the log until four of them have arrived.
        } else if self.begins_with.is_none() && !input.last {
            return from.min(input.bytes.len());
        }
        self.bytes += rest.len() as u64;
        self.has_data |= rest.iter().any(|byte| *byte != 0);
        input.bytes.len()
    }

    /// Reports the undecoded bytes, unless all these bytes are zero.
    fn report(&self, out: &mut Emitter<'_>) -> Flow {
        if !self.has_data {
            return Flow::Continue(());
        }
        let bytes = counted(self.bytes, "byte");
        let message = match self.begins_with {
            Some(magic) if magic == self.magic => {
                format!("another log begins here: {bytes} are not read; split the file to read it")
            }
            _ => format!("{bytes} follow the end of the log; they are not read"),
        };
        out.damage(message, (None, LossCause::Damaged), self.end)
    }
}
