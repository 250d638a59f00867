//! A section of the stream, together with the decoder's state and the emitter that receives events
//! and losses.

use tracewell_wire::rkh::Cut;

use super::plan::Step;
use super::state::{BATCH, Pending, State};
use crate::model::{Emitter, Flow, LossCause, Records, Severity, Span};

/// Maximum length of a chunk in bytes. It is limited because positions in a batch have 32 bits.
pub(super) const MAX_LEN: usize = 1 << 24;

/// Up to [`MAX_LEN`] bytes of the stream.
pub(super) struct Chunk<'a, 'o> {
    pub(super) state: &'a mut State,
    pub(super) bytes: &'a [u8],
    /// Offset of `bytes` in the source.
    pub(super) offset: u64,
    pub(super) out: &'a mut Emitter<'o>,
}

/// A frame without its escapes.
#[derive(Clone, Copy)]
pub(super) struct Frame<'a> {
    /// The frame's bytes, followed by [`SLACK`](super::row::SLACK) meaningless bytes.
    pub(super) bytes: &'a [u8],
    /// Length of the frame, checksum included.
    pub(super) length: usize,
    pub(super) cut: Cut,
}

impl<'a> Frame<'a> {
    /// Returns the frame without the slack.
    #[inline]
    pub(super) fn whole(&self) -> &'a [u8] {
        self.bytes.get(..self.length).unwrap_or_default()
    }
}

/// The reason for rejecting a frame.
#[derive(Clone, Copy)]
pub(super) enum Fault {
    Aborted,
    Oversize,
    BadChecksum,
    Short,
    UnknownId,
    BadArguments,
}

impl Fault {
    pub(super) const fn message(self) -> &'static str {
        match self {
            Self::Aborted => "frame aborted: escape byte directly before the flag",
            Self::Oversize => "expected a flag within 1024 bytes, found none",
            Self::BadChecksum => "checksum of the frame is wrong",
            Self::Short => "frame is shorter than its header",
            Self::UnknownId => "frame has an unknown event id",
            Self::BadArguments => "arguments do not end at the end of the frame",
        }
    }
}

impl Chunk<'_, '_> {
    /// Adds an event, whose row begins at byte `row`, to the batch.
    #[inline]
    pub(super) fn push(&mut self, cut: Cut, id: u32, row: usize, step: Step) {
        let state = &mut *self.state;
        let context = match step {
            Step::Elsewhere => state.running.unwrap_or(state.framework),
            Step::Of(slot) | Step::Ends(slot) => {
                // Every row of such an event has the object's address in the same slot.
                let object = state.pending.rows.value(row, slot);
                let context = state.symbols.active_object(self.out.trace, object);
                state.running = matches!(step, Step::Of(_)).then_some(context);
                context
            }
        };
        let Pending { columns, spans, count, .. } = &mut state.pending;
        columns.ticks[*count] = state.timeline.ticks();
        columns.context[*count] = context;
        columns.id[*count] = id;
        spans[*count] = span(cut, row);
        *count += 1;
    }

    /// Delivers the events of the batch if it is full.
    #[inline]
    pub(super) fn flush_if_full(&mut self) -> Flow {
        if self.state.pending.count == BATCH { self.flush() } else { Flow::Continue(()) }
    }

    /// Delivers the events that were added.
    pub(super) fn flush(&mut self) -> Flow {
        let Pending { columns, spans, rows, count } = &mut self.state.pending;
        let count = std::mem::take(count);
        if count == 0 {
            return Flow::Continue(());
        }
        let spans = spans.get(..count).unwrap_or_default();
        let records = Records::decoded(self.bytes, self.offset, spans, rows.bytes());
        // Shorten the columns to the rows in use, swap them into the emitter, and swap them back
        // afterwards.
        columns.resize(count);
        self.out.columns(|_, emitted| std::mem::swap(emitted, columns));
        let flow = self.out.batch(records);
        self.out.columns(|_, emitted| std::mem::swap(emitted, columns));
        columns.resize(BATCH);
        rows.clear();
        flow
    }

    /// Delivers the events of the batch, then reports a loss at the position of a frame.
    pub(super) fn lose(&mut self, events: Option<u64>, cause: LossCause, cut: Cut) -> Flow {
        self.lose_at(events, cause, self.offset + cut.start as u64)
    }

    /// Delivers the events of the batch, then reports a loss at an offset of the source.
    pub(super) fn lose_at(&mut self, events: Option<u64>, cause: LossCause, offset: u64) -> Flow {
        self.flush()?;
        self.out.loss(events, cause, offset)
    }

    /// Rejects a frame: counts it, and reports it as damage.
    #[cold]
    pub(super) fn fault(&mut self, fault: Fault, cut: Cut) -> Flow {
        let counts = &mut self.state.counts;
        let count = match fault {
            Fault::Aborted => &mut counts.aborted,
            Fault::Oversize => &mut counts.oversize,
            Fault::BadChecksum => &mut counts.bad_checksum,
            Fault::Short => &mut counts.short,
            Fault::UnknownId => &mut counts.unknown_id,
            Fault::BadArguments => &mut counts.bad_args,
        };
        *count += 1;
        let offset = self.offset + cut.start as u64;
        let hints = matches!(fault, Fault::UnknownId | Fault::BadArguments);
        let hint = if hints { self.state.hint() } else { "" };
        let message = format!("{}{hint}", fault.message());
        self.out.trace.diagnostics.add(Severity::Damage, offset, message);
        // If frames are numbered, the number of the next good frame shows how many are missing.
        let events = self.state.settings.sequence.then_some(0);
        self.lose(events, LossCause::Damaged, cut)
    }
}

/// Returns the span of a frame. The frame's row begins at byte `row`.
#[inline(always)]
pub(super) fn span(cut: Cut, row: usize) -> Span {
    // A chunk and the rows of a batch are both shorter than 2^32 bytes.
    let [start, end, payload] = [cut.start, cut.end, row].map(|at| at as u32);
    Span { start, payload, end }
}
