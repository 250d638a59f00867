//! Merges the records of all lanes by time and number of lane, and reports each loss at its
//! position.
//!
//! Records of a lane are in order, so the next event is the earliest of the lanes' next records.
//! The merge stays with a lane as long as that lane has the earliest record. If threads record in
//! bursts, the merge needs only one comparison per event.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use super::kernel::{KernelEvents, payload};
use super::run::{HEAD, Record, RecordRun, Step, Walk};
use super::sites;
use crate::format::order::Order;
use crate::model::{
    Context, ContextId, ContextKind, Emitter, Flow, LossCause, NewEvent, Severity, Trace, Window,
};
use crate::text::shown;

/// The possible reasons why times decrease.
const HELD_UP: &str = "a thread was held up, or clocks of cores differ";

/// The state of a lane.
#[derive(Debug, Default)]
struct Lane {
    runs: VecDeque<RecordRun>,
    /// The current run, the next record of this run, and the context of the records.
    current: Option<(Walk, Record, ContextId)>,
    next: Next,
    /// Number of events that were lost so far because the lane was full.
    lost: u64,
}

/// The number that the lane's next event should have.
#[derive(Clone, Copy, Debug, Default)]
enum Next {
    /// No run has been read. The header of the first run contains the number.
    #[default]
    Covered,
    Number(u64),
    /// Any number, because the gap before the next run has been reported.
    Any,
}

impl Next {
    /// Counts an event.
    fn advance(&mut self) {
        if let Self::Number(number) = self {
            *number = number.wrapping_add(1);
        }
    }
}

/// The lanes, and the gaps before the next event.
#[derive(Debug, Default)]
pub(super) struct Merge {
    lanes: Vec<Lane>,
    heap: BinaryHeap<Reverse<(u64, u32)>>,
    /// Gaps that will be reported before the next event.
    gaps: Vec<(Option<u64>, LossCause, u64)>,
    order: Order,
    pub(super) kernel: KernelEvents,
}

impl Merge {
    /// Adds records of a lane. They must follow all records that were added to this lane earlier.
    pub(super) fn add(&mut self, run: RecordRun, window: Window<'_>, trace: &mut Trace) {
        let number = run.header.lane as usize;
        if number >= self.lanes.len() {
            self.lanes.resize_with(number + 1, Lane::default);
        }
        self.lanes[number].runs.push_back(run);
        if self.lanes[number].current.is_none() {
            self.enter(number, window, trace);
        }
    }

    /// Returns the number of events that were lost because a lane was full, according to all packet
    /// headers.
    pub(super) fn lost(&self) -> u64 {
        self.lanes.iter().fold(0, |sum, lane| sum.saturating_add(lane.lost))
    }

    /// Returns the offset of the first byte that is still needed, or `None` if no byte is needed.
    pub(super) fn needed_from(&self) -> Option<u64> {
        let start = |lane: &Lane| {
            let current = lane.current.as_ref().map(|(_, record, _)| record.start);
            current.or_else(|| lane.runs.front().map(|run| run.records.start))
        };
        self.lanes.iter().filter_map(start).min()
    }

    /// Advances to the lane's next record. If the current run has ended, this is the first record
    /// of the next run.
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
                    lane.next.advance();
                    self.heap.push(Reverse((record.stamp, number as u32)));
                    lane.current = walk.map(|walk| (walk, record, context));
                    return;
                }
                Step::Damage => {
                    let at = walk.map_or(0, |walk| walk.at);
                    let message = "expected a record that ends within its packet";
                    trace.diagnostics.add(Severity::Damage, at, message);
                    // The next run would show how many events are lost. But if the trace arrives in
                    // pieces, it is not known yet, and events of other lanes may follow.
                    self.gaps.push((None, LossCause::Damaged, at));
                    lane.next = Next::Any;
                    walk = None;
                }
                Step::End => {
                    let Some(run) = lane.runs.pop_front() else { return };
                    gap_before(lane, &run, &mut self.gaps);
                    context = context_of(trace, &run, self.kernel.kind_of_threads());
                    walk = Some(Walk::of(&run));
                }
            }
        }
    }

    /// Delivers the records with timestamps below `limit`. If there is no limit, delivers all
    /// records.
    pub(super) fn deliver(&mut self, limit: Option<u64>, out: &mut Emitter<'_>) -> Flow {
        while let Some(Reverse((stamp, number))) = self.heap.peek().copied() {
            if limit.is_some_and(|limit| stamp >= limit) {
                break;
            }
            self.heap.pop();
            self.run(number as usize, limit, out)?;
        }
        out.flush()?;
        self.report_gaps(out)
    }

    /// Delivers records of a lane as long as this lane has the earliest record.
    fn run(&mut self, number: usize, limit: Option<u64>, out: &mut Emitter<'_>) -> Flow {
        let window = out.window;
        // Stay with this lane up to the earliest record of the other lanes, or up to the limit. If
        // two records have the same timestamp, the lane with the lower number comes first.
        let end = self.heap.peek().map_or(u64::MAX, |Reverse((stamp, lane))| {
            stamp.saturating_add(u64::from(number < *lane as usize))
        });
        let end = end.min(limit.unwrap_or(u64::MAX));
        loop {
            let Some(lane) = self.lanes.get_mut(number) else { return Flow::Continue(()) };
            let Some((walk, record, context)) = &mut lane.current else {
                return Flow::Continue(());
            };
            let (row, context) = (*record, *context);
            // Look one record ahead. After the last record of a run, `enter` must find the next
            // run.
            let mut ahead = *walk;
            let next = ahead.next(window.bytes, window.offset);
            if let Step::Record(next) = next {
                *walk = ahead;
                *record = next;
                lane.next.advance();
                self.row(row, context, out)?;
                if next.stamp >= end {
                    self.heap.push(Reverse((next.stamp, number as u32)));
                    return Flow::Continue(());
                }
            } else {
                self.row(row, context, out)?;
                self.enter(number, window, out.trace);
                return Flow::Continue(());
            }
        }
    }

    fn row(&mut self, record: Record, context: ContextId, out: &mut Emitter<'_>) -> Flow {
        if !self.gaps.is_empty() {
            self.report_gaps(out)?;
        }
        let ticks = out.ticks(record.stamp);
        self.order.watch(ticks, record.start, out, HELD_UP);
        let context = self.kernel.outside(context, out.trace);
        if self.kernel.has(record.id) {
            return self.kernel.deliver(record, context, ticks, out);
        }
        let event = NewEvent::new(ticks, context, u32::from(record.id));
        let spans = &mut out.trace.program_spans;
        if !self.kernel.are_recorded() && !spans.are_recorded() {
            return out.event(event, record.start..record.end, HEAD);
        }
        // The rows of a kernel's events and of spans are not in the window, because the decoder
        // computes them. A batch has either all its rows in the window, or none. So copy the rows
        // of all other events, too.
        let arguments = payload(record, out.window.bytes, out.window.offset);
        let copies = &mut out.buffer.payloads;
        match spans.role(record.id) {
            Some(role) => {
                sites::number_spans(role, (record, context), arguments, (spans, copies));
            }
            None => copies.extend_from_slice(arguments),
        }
        out.decoded(event, record.start..record.end)
    }

    /// Reports the gaps between the delivered events and the next event.
    fn report_gaps(&mut self, out: &mut Emitter<'_>) -> Flow {
        for (events, cause, offset) in std::mem::take(&mut self.gaps) {
            self.kernel.gap();
            out.loss(events, cause, offset)?;
        }
        Flow::Continue(())
    }
}

/// Stores the gap between the last record of a lane and the next run.
fn gap_before(lane: &mut Lane, run: &RecordRun, gaps: &mut Vec<(Option<u64>, LossCause, u64)>) {
    let (header, at) = (&run.header, run.records.start);
    let expected = match lane.next {
        Next::Covered => header.covered_from,
        Next::Number(number) => number,
        Next::Any => header.first_event,
    };
    // Events are numbered per lane, so the difference of the numbers is the exact number of lost
    // events.
    if header.first_event > expected {
        let cause = if run.after_damage { LossCause::Damaged } else { LossCause::Overwritten };
        gaps.push((Some(header.first_event - expected), cause, at));
    }
    if header.lost_before > lane.lost {
        gaps.push((Some(header.lost_before - lane.lost), LossCause::BufferFull, at));
        lane.lost = header.lost_before;
    }
    lane.next = Next::Number(header.first_event);
}

fn context_of(trace: &mut Trace, run: &RecordRun, kind: ContextKind) -> ContextId {
    let header = &run.header;
    let key = u64::from(header.process) << 32 | u64::from(header.thread);
    if let Some(known) = trace.contexts.find(key) {
        return known;
    }
    let name = match header.name() {
        [] => format!("thread {}", header.thread),
        name => shown(name).into_owned(),
    };
    let key_text = format!("{}:{}", header.process, header.thread);
    let context = trace.contexts.add(Context { key, key_text, kind, name, object: None });
    trace.program_spans.set_process(context, header.process);
    context
}
