//! Where the reading of a log's blocks stands, for the logs whose blocks have the frame of `wire::frame`: how it goes
//! on behind a block, behind damage, and behind the end. What blocks mean, the logs know.

use tracewell_wire::frame::HEAD;
use tracewell_wire::native::WORD;

use crate::format::{Input, Progress};
use crate::model::{Flow, Loss, LossCause, Severity, Sink, Trace};
use crate::text::counted;

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

/// Bytes behind the end of a log: of a page that was not filled, of a file that was put behind it, of nothing known.
#[derive(Debug)]
pub(super) struct Behind {
    /// Where the log ends.
    end: u64,
    /// The magic number of another log.
    magic: u32,
    bytes: u64,
    /// True if any of them is not 0.
    says_something: bool,
    begins_with: Option<u32>,
}

impl Behind {
    /// What lies behind a log whose blocks have this magic number.
    pub(super) fn new(end: u64, magic: u32) -> Self {
        Self { end, magic, bytes: 0, says_something: false, begins_with: None }
    }

    /// Takes what is shown of it, and tells of it when nothing more comes.
    pub(super) fn read(
        &mut self,
        input: &Input<'_>,
        trace: &mut Trace,
        sink: &mut dyn Sink,
    ) -> Progress {
        let consumed = self.skip(input);
        if !input.last {
            return Progress::More { consumed, wanted: size_of::<u32>() };
        }
        // Nothing follows that a sink could want or not.
        let _ = self.tell(trace, sink);
        Progress::Done
    }

    /// How many bytes of the input are done with.
    fn skip(&mut self, input: &Input<'_>) -> usize {
        let from = self.end.saturating_sub(input.offset) as usize;
        let rest = input.bytes.get(from..).unwrap_or_default();
        if self.begins_with.is_none()
            && let Some(word) = rest.first_chunk()
        {
            self.begins_with = Some(u32::from_le_bytes(*word));
        } else if self.begins_with.is_none() && !input.last {
            return from.min(input.bytes.len());
        }
        self.bytes += rest.len() as u64;
        self.says_something |= rest.iter().any(|byte| *byte != 0);
        input.bytes.len()
    }

    /// Says what was left out; nothing about zeros.
    fn tell(&self, trace: &mut Trace, sink: &mut dyn Sink) -> Flow {
        if !self.says_something {
            return Flow::Continue(());
        }
        let bytes = counted(self.bytes, "byte");
        let message = match self.begins_with {
            Some(magic) if magic == self.magic => {
                format!("another log begins here: {bytes} are not read; split the file to read it")
            }
            _ => format!("{bytes} follow the end of the log; they are not read"),
        };
        trace.diagnostics.add(Severity::Damage, self.end, message);
        let cause = LossCause::Damaged;
        let loss = Loss { before: trace.events, events: None, cause, offset: self.end };
        trace.losses.add(&loss);
        sink.loss(trace, &loss)
    }
}
