//! All lanes' records in order of time, with losses in their places.
//!
//! Records of a lane are in the order they were made in, so the earliest of the lanes' next records
//! is the next one of all. A lane runs on as long as it stays the earliest; where threads take turns
//! in bursts that is a comparison an event.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use super::piece::{Piece, Record, Step, Walk};
use crate::format::order::Order;
use crate::model::{
    Batch, Columns, Context, ContextId, ContextKind, Flow, Loss, LossCause, NO_PRIORITY, Records,
    Severity, Sink, Span, Trace,
};
use crate::text::shown;

/// What may make time go back.
const HELD_UP: &str = "a thread was held up, or clocks of cores differ";

/// Events of a batch.
const BATCH: usize = 4096;

/// What is known of a lane.
#[derive(Debug, Default)]
struct Lane {
    pieces: VecDeque<Piece>,
    /// The piece in front, entered, and its next record.
    current: Option<(Walk, Record, ContextId)>,
    /// Number of the event that comes next if none is missing.
    expected: Option<u64>,
    /// Events lost for want of room so far.
    lost: u64,
}

/// The window: some bytes of the source and where they lie in it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Window<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) offset: u64,
}

/// Merges lanes.
#[derive(Debug, Default)]
pub(super) struct Merge {
    lanes: Vec<Lane>,
    heap: BinaryHeap<Reverse<(u64, u32)>>,
    columns: Columns,
    spans: Vec<Span>,
    /// Where the spans count from.
    origin: u64,
    /// Gaps that lie before the next event.
    gaps: Vec<(Option<u64>, LossCause, u64)>,
    order: Order,
}

impl Merge {
    /// Adds records of a lane, behind those that were added before.
    pub(super) fn add(&mut self, piece: Piece, window: Window<'_>, trace: &mut Trace) {
        let number = piece.header.lane as usize;
        if number >= self.lanes.len() {
            self.lanes.resize_with(number + 1, Lane::default);
        }
        self.lanes[number].pieces.push_back(piece);
        if self.lanes[number].current.is_none() {
            self.enter(number, window, trace);
        }
    }

    /// Events lost for want of room that the lanes' packets tell of.
    pub(super) fn lost(&self) -> u64 {
        self.lanes.iter().fold(0, |sum, lane| sum.saturating_add(lane.lost))
    }

    /// Where the first byte lies that is still needed, if one is.
    pub(super) fn needed_from(&self) -> Option<u64> {
        let start = |lane: &Lane| {
            let current = lane.current.as_ref().map(|(_, record, _)| record.start);
            current.or_else(|| lane.pieces.front().map(|piece| piece.records.start))
        };
        self.lanes.iter().filter_map(start).min()
    }

    /// Takes the lane's next record, of the next piece where one is over.
    fn enter(&mut self, number: usize, window: Window<'_>, trace: &mut Trace) {
        let lane = &mut self.lanes[number];
        let (mut walk, mut context) = match lane.current.take() {
            Some((walk, _, context)) => (Some(walk), context),
            None => (None, ContextId::default()),
        };
        loop {
            let step = walk.as_mut().map_or(Step::End, |w| w.next(window.bytes, window.offset));
            match step {
                Step::Record(record) => {
                    lane.expected = lane.expected.map(|expected| expected.wrapping_add(1));
                    self.heap.push(Reverse((record.stamp, number as u32)));
                    lane.current = walk.map(|walk| (walk, record, context));
                    return;
                }
                Step::Damage => {
                    let at = walk.map_or(0, |walk| walk.at);
                    let message = "expected a record that ends within its packet";
                    trace.diagnostics.add(Severity::Damage, at, message);
                    self.gaps.push((None, LossCause::Damaged, at));
                    // What the next piece begins with shows nothing new about this gap.
                    lane.expected = None;
                    walk = None;
                }
                Step::End => {
                    let Some(piece) = lane.pieces.pop_front() else { return };
                    gap_before(lane, &piece, &mut self.gaps);
                    context = context_of(trace, &piece);
                    walk = Some(Walk::of(&piece));
                }
            }
        }
    }

    /// Delivers what lies before `limit`.
    pub(super) fn deliver(
        &mut self,
        limit: Option<u64>,
        window: Window<'_>,
        trace: &mut Trace,
        sink: &mut dyn Sink,
    ) -> Flow {
        while let Some(Reverse((stamp, number))) = self.heap.peek().copied() {
            if limit.is_some_and(|limit| stamp >= limit) {
                break;
            }
            self.heap.pop();
            self.run(number as usize, limit, window, trace, sink)?;
        }
        self.hand_over(window, trace, sink)
    }

    /// Takes records of a lane as long as they are the earliest.
    fn run(
        &mut self,
        number: usize,
        limit: Option<u64>,
        window: Window<'_>,
        trace: &mut Trace,
        sink: &mut dyn Sink,
    ) -> Flow {
        let until = self.heap.peek().map_or(u64::MAX, |Reverse((stamp, _))| *stamp);
        let until = until.min(limit.map_or(u64::MAX, |limit| limit.saturating_sub(1)));
        loop {
            let Some(lane) = self.lanes.get_mut(number) else { return Flow::Continue(()) };
            let Some((walk, record, context)) = &mut lane.current else {
                return Flow::Continue(());
            };
            let (row, context) = (*record, *context);
            let mut ahead = *walk;
            let next = ahead.next(window.bytes, window.offset);
            if let Step::Record(next) = next {
                *walk = ahead;
                *record = next;
                lane.expected = lane.expected.map(|expected| expected.wrapping_add(1));
                self.row(row, context, window, trace, sink)?;
                if next.stamp > until {
                    self.heap.push(Reverse((next.stamp, number as u32)));
                    return Flow::Continue(());
                }
            } else {
                self.row(row, context, window, trace, sink)?;
                self.enter(number, window, trace);
                return Flow::Continue(());
            }
        }
    }

    fn row(
        &mut self,
        record: Record,
        context: ContextId,
        window: Window<'_>,
        trace: &mut Trace,
        sink: &mut dyn Sink,
    ) -> Flow {
        if self.spans.is_empty() {
            self.origin = record.start;
        }
        let far = record.start < self.origin || record.end - self.origin > u64::from(u32::MAX);
        if self.spans.len() >= BATCH || far || !self.gaps.is_empty() {
            self.hand_over(window, trace, sink)?;
            self.origin = record.start;
        }
        if trace.events == 0 && self.spans.is_empty() {
            trace.clock.first_stamp = record.stamp;
        }
        let ticks = record.stamp.saturating_sub(trace.clock.first_stamp);
        self.order.watch(&self.columns, ticks, record.start, trace, HELD_UP);
        let start = (record.start - self.origin) as u32;
        let end = (record.end - self.origin) as u32;
        self.spans.push(Span { start, payload: start + 8, end });
        self.columns.ticks.push(ticks);
        self.columns.cpu.push(0);
        self.columns.context.push(context);
        self.columns.id.push(u32::from(record.id));
        self.columns.priority.push(NO_PRIORITY);
        Flow::Continue(())
    }

    /// Hands the rows to the sink, then the gaps behind them.
    fn hand_over(&mut self, window: Window<'_>, trace: &mut Trace, sink: &mut dyn Sink) -> Flow {
        if !self.spans.is_empty() {
            let start = self.origin.wrapping_sub(window.offset) as usize;
            let bytes = window.bytes.get(start..).unwrap_or_default();
            let records = Records::variable(bytes, self.origin, &self.spans);
            let batch = Batch { first: trace.events, columns: &self.columns, records };
            trace.events += self.spans.len() as u64;
            trace.span = self.columns.ticks.iter().copied().fold(trace.span, u64::max);
            let flow = sink.events(trace, &batch);
            self.spans.clear();
            self.columns.resize(0);
            flow?;
        }
        for (events, cause, offset) in std::mem::take(&mut self.gaps) {
            report(events, cause, offset, trace, sink)?;
        }
        Flow::Continue(())
    }
}

/// Tells of a gap before the next event.
pub(super) fn report(
    events: Option<u64>,
    cause: LossCause,
    offset: u64,
    trace: &mut Trace,
    sink: &mut dyn Sink,
) -> Flow {
    let loss = Loss { before: trace.events, events, cause, offset };
    trace.losses.add(&loss);
    sink.loss(trace, &loss)
}

/// Notes what is missing between what was seen of a lane and a piece.
fn gap_before(lane: &mut Lane, piece: &Piece, gaps: &mut Vec<(Option<u64>, LossCause, u64)>) {
    let (header, at) = (&piece.header, piece.records.start);
    let expected = lane.expected.unwrap_or(header.covered_from);
    if header.first_event > expected {
        let cause = if piece.after_damage { LossCause::Damaged } else { LossCause::Overwritten };
        gaps.push((Some(header.first_event - expected), cause, at));
    }
    if header.lost_before > lane.lost {
        gaps.push((Some(header.lost_before - lane.lost), LossCause::NoRoom, at));
        lane.lost = header.lost_before;
    }
    lane.expected = Some(header.first_event);
}

fn context_of(trace: &mut Trace, piece: &Piece) -> ContextId {
    let header = &piece.header;
    let key = u64::from(header.process) << 32 | u64::from(header.thread);
    if let Some(known) = trace.contexts.find(key) {
        return known;
    }
    let name = match header.name() {
        [] => format!("thread {}", header.thread),
        name => shown(name).into_owned(),
    };
    let key_text = format!("{}:{}", header.process, header.thread);
    trace.contexts.add(Context { key, key_text, kind: ContextKind::Thread, name, object: None })
}
