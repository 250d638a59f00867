//! The fast path: a loop over common frames, with one test per frame.
//!
//! A frame takes the fast path if its checksum is valid, its sequence number is the expected one,
//! its id has a [`FastPlan`](super::fast_plan::FastPlan), and its length is that of the plan. The
//! loop leaves all other frames to the slow path (`slow`): frames with symbols or texts, frames
//! after a gap, damaged frames, and frames so near to the end of the chunk that a fixed window does
//! not fit. The slow path can decode every frame, and it decodes common frames to the same events
//! as the fast path.

use std::hint::select_unpredictable;

use tracewell_wire::rkh::Cut;

use super::chunk::{Chunk, span};
use super::escaped;
use super::fast_plan::{Effect, FastPlans, NUMBER, STAMP};
use super::row::FIXED_ROW;
use super::scan::{Cursor, Scan, ScannedFrame};
use super::simd::{FRAME_WINDOW, Simd, Task, load};
use super::state::{BATCH, Pending, State};
use super::symbols::Symbols;
use crate::model::{ContextId, Span};

/// The reason why the loop left the fast path.
pub(super) enum Next {
    /// This frame needs the slow path.
    Slow(Cut),
    /// The batch is full.
    Full,
    /// No flag is left in the chunk.
    End,
}

/// The fast path over a chunk, as a task that can be compiled for each instruction set.
pub(super) struct FastPath<'p, 'c, 'o, S> {
    pub(super) chunk: &'p mut Chunk<'c, 'o>,
    pub(super) scan: &'p mut Scan<'c, S>,
}

impl<S: Simd> Task for FastPath<'_, '_, '_, S> {
    type Output = Next;

    #[inline(always)]
    fn run(self) -> Next {
        let Self { chunk, scan } = self;
        let Some(mut fast) = FastState::new(chunk.state, chunk.bytes, scan) else {
            // Stop if no event directly precedes this frame, or if frames have no timestamps.
            return scan.next().map_or(Next::End, |found| Next::Slow(found.cut));
        };
        let next = loop {
            if let Some(next) = fast.one_frame() {
                break next;
            }
        };
        let position = fast.position;
        scan.resume_at(position.cursor);
        position.store(chunk.state);
        next
    }
}

/// The variables of the loop, copied from the state so that the compiler can keep them in
/// registers.
struct FastState<'s, 'b, S> {
    scan: &'s mut Scan<'b, S>,
    bytes: &'b [u8],
    plans: &'s FastPlans,
    symbols: &'s Symbols,
    /// Number that is added to a code to get an id.
    base: u32,
    /// Mask of the bits of a timestamp.
    stamp_mask: u32,
    /// Mask of the bits that must be 0 in a frame's sum. The mask is 0 if frames have no checksum.
    sum_mask: u8,
    /// The context for events outside of steps.
    framework: ContextId,
    /// The columns of the batch.
    ticks: &'s mut [u64; BATCH],
    contexts: &'s mut [ContextId; BATCH],
    ids: &'s mut [u32; BATCH],
    spans: &'s mut [Span; BATCH],
    /// The rows of the batch, with room for [`BATCH`] rows.
    words: &'s mut [[u8; 8]],
    /// Holds a frame whose escapes were removed.
    scratch: [u8; FRAME_WINDOW],
    position: Position,
}

/// The state after the last frame that was read.
#[derive(Clone, Copy)]
struct Position {
    cursor: Cursor,
    number: u8,
    /// The recorded timestamp of the previous event, and the same time in ticks of the trace.
    stamp: u32,
    ticks: u64,
    /// The context of the next event, unless its record names the active object of a step.
    now: ContextId,
    /// Number of events in the batch, and number of words in their rows.
    count: usize,
    word: usize,
}

impl<'s, 'b, S: Simd> FastState<'s, 'b, S> {
    /// Returns `None` if the settings are unknown, or if no event with a timestamp directly
    /// precedes the next frame.
    #[inline(always)]
    fn new(state: &'s mut State, bytes: &'b [u8], scan: &'s mut Scan<'b, S>) -> Option<Self> {
        let tables = state.tables.as_deref()?;
        let (number, stamp) = state.timeline.steady()?;
        let Pending { columns, spans, rows, count } = &mut state.pending;
        let (words, word) = rows.reserve(BATCH - *count);
        let settings = &state.settings;
        let position = Position {
            cursor: scan.cursor(),
            number,
            stamp,
            ticks: state.timeline.ticks(),
            now: state.running.unwrap_or(state.framework),
            count: *count,
            word,
        };
        Some(Self {
            scan,
            bytes,
            plans: &tables.fast,
            symbols: &state.symbols,
            base: state.base,
            stamp_mask: u32::MAX >> (32 - 8 * u32::from(settings.stamp.clamp(1, 4))),
            sum_mask: if settings.checksum { u8::MAX } else { 0 },
            framework: state.framework,
            // Because the arrays have a known length, the loop saves four bounds checks per event.
            ticks: columns.ticks.first_chunk_mut()?,
            contexts: columns.context.first_chunk_mut()?,
            ids: columns.id.first_chunk_mut()?,
            spans: spans.first_chunk_mut()?,
            words,
            scratch: [0; FRAME_WINDOW],
            position,
        })
    }

    /// Reads a frame. Returns the reason if the loop must stop.
    #[inline(always)]
    fn one_frame(&mut self) -> Option<Next> {
        let at = &mut self.position;
        // Stop: the chunk has no further flag.
        let Some((found, cursor)) = self.scan.frame_at(at.cursor) else { return Some(Next::End) };
        // The next frame begins after this one even if this one is damaged.
        at.cursor = cursor;
        let ScannedFrame { cut, mut sum } = found;
        let mut length = cut.end - cut.start;
        let mut frame = self.bytes.get(cut.start..).and_then(|bytes| bytes.first_chunk());
        if cut.escaped {
            // Stop: the frame is aborted, or too long for the scratch buffer.
            let Some(plain) = escaped::plain(frame, length, &mut self.scratch) else {
                return Some(Next::Slow(cut));
            };
            (length, sum) = (plain.length, plain.sum);
            frame = Some(&self.scratch);
        }
        // Stop: the fixed window would extend past the end of the chunk.
        let Some(frame) = frame else { return Some(Next::Slow(cut)) };
        let plan = self.plans.get(frame[0]);
        // Test checksum and sequence number together: nearly all frames pass.
        let step = frame[NUMBER].wrapping_sub(at.number);
        let wrong = (sum & self.sum_mask) | (step ^ 1);
        // Stop: damage, a gap, a restart, or a record that the fast path does not know.
        if wrong != 0 || length != plan.length as usize {
            return Some(Next::Slow(cut));
        }
        // The buffer has room for a full batch, so `row` is never `None` here. `get_mut` is used so
        // that the compiler generates no code for a panic.
        let row = self.words.get_mut(at.word..).and_then(|words| words.first_chunk_mut());
        let Some([head, arguments @ ..]): Option<&mut [[u8; 8]; FIXED_ROW]> = row else {
            return Some(Next::Slow(cut));
        };
        // Write all words, although the row may be shorter: the next row overwrites the rest.
        *head = plan.head.to_le_bytes();
        *arguments = self.scan.simd().gather(&plan.gather, frame).map(u64::to_le_bytes);
        let (known, object) = self.symbols.seen(plan.object(frame));
        let of_step = plan.effect != Effect::None;
        // Stop: the cache does not contain the context of the active object.
        if of_step & !known {
            return Some(Next::Slow(cut));
        }
        // Avoid branches, because the processor cannot predict how records of steps and other
        // records alternate.
        let context = select_unpredictable(of_step, object, at.now);
        at.now = select_unpredictable(plan.effect == Effect::Ends, self.framework, context);
        at.number = frame[NUMBER];
        let stamp = load(frame, STAMP) & self.stamp_mask;
        let elapsed = stamp.wrapping_sub(at.stamp) & self.stamp_mask;
        at.ticks = at.ticks.saturating_add(u64::from(elapsed));
        at.stamp = stamp;
        self.ticks[at.count] = at.ticks;
        self.contexts[at.count] = context;
        self.ids[at.count] = self.base + u32::from(frame[0]);
        self.spans[at.count] = span(cut, 8 * at.word);
        at.word += usize::from(plan.words);
        at.count += 1;
        // Stop: the batch is full.
        (at.count == BATCH).then_some(Next::Full)
    }
}

impl Position {
    /// Stores the position in `state`, with the same result as if the slow path had read the
    /// frames.
    fn store(self, state: &mut State) {
        state.counts.good += (self.count - state.pending.count) as u64;
        state.pending.count = self.count;
        state.pending.rows.fill_to(self.word);
        state.timeline.advance(self.number, self.stamp, self.ticks);
        // Within a step, the step's active object is running. Outside of steps, no active object is
        // running.
        state.running = (self.now != state.framework).then_some(self.now);
    }
}
