//! The context that recorded the latest events, and the counting of its events.
//!
//! Contexts usually record several events in a row. If such an event shows nothing new about its
//! recorder, it is counted later, together with the events around it. `short_ways` stores the first
//! row that has not been counted yet.

use std::ops::Range;

use super::inversions::urgency;
use super::moments::{Moments, Position, Recorded};
use super::rows::Rows;
use super::{Known, Scheduling};
use crate::model::{ContextId, ContextKind, Priority, Trace};

/// The context that recorded the latest events. If it is a thread, it is running with the priority
/// `priority` and is not waiting.
#[derive(Clone, Copy, Debug)]
pub(super) struct Recorder {
    pub(super) context: ContextId,
    priority: Priority,
    /// The context, if it is a thread.
    pub(super) task: Option<ContextId>,
    /// True if its events are counted, because it is a task.
    pub(super) is_counted: bool,
}

impl<M: Moments> Scheduling<M> {
    /// Returns the recorder of an event if the event shows nothing new about this recorder. `run`
    /// is the first row that is still to be counted. If the recorder or its priority changes at
    /// `row`, counts the events from `run` to the row before `row`, and sets `run` to `row`.
    #[inline(always)]
    pub(super) fn recorder(
        &mut self,
        rows: &Rows<'_>,
        row: usize,
        run: &mut usize,
    ) -> Option<Recorder> {
        let is_same = |recorder: &Recorder| {
            recorder.context == rows.context(row) && recorder.priority == rows.priority(row)
        };
        if !self.recorder.as_ref().is_some_and(is_same) {
            self.count_run(rows, std::mem::replace(run, row)..row);
            self.recorder = self.find_recorder(rows.trace, rows.context(row), rows.priority(row));
        }
        self.recorder
    }

    #[inline(never)]
    fn find_recorder(
        &self,
        trace: &Trace,
        context: ContextId,
        priority: Priority,
    ) -> Option<Recorder> {
        let kind = self.directory.kind(context);
        let is_thread = kind == Some(ContextKind::Thread);
        let urgency = priority.get().map(|priority| urgency(trace, priority));
        let shows_nothing_new = !is_thread
            || self.cores.first().is_some_and(|core| core.running.runs_plainly(context))
                && !self.requests.waits(context)
                && urgency.is_none_or(|now| self.requests.has_priority(context, now));
        shows_nothing_new.then_some(Recorder {
            context,
            priority,
            task: is_thread.then_some(context),
            is_counted: is_thread || kind == Some(ContextKind::System),
        })
    }

    /// Counts events of the recorder.
    #[inline(always)]
    pub(super) fn count_run(&mut self, rows: &Rows<'_>, run: Range<usize>) {
        if let Some(recorder) = self.recorder.filter(|_| !run.is_empty()) {
            let (first, last) = (rows.at(run.start), rows.at(run.end - 1));
            if recorder.is_counted {
                let seen = self.name(recorder.context, first.ticks);
                seen.events += run.len() as u64;
                if recorder.task.is_some() {
                    seen.last_ticks = last.ticks;
                }
            }
            self.passed(last);
        }
    }

    /// Counts one event. `is_counted` is true if the context that recorded the event is a task.
    #[inline(always)]
    pub(super) fn count(
        &mut self,
        at: Position,
        by: ContextId,
        subject: Option<ContextId>,
        is_counted: bool,
    ) {
        if let Some(subject) = subject {
            let seen = self.name(subject, at.ticks);
            seen.last_ticks = at.ticks;
            seen.events += u64::from(is_counted && subject == by);
        }
        if is_counted && subject != Some(by) {
            self.name(by, at.ticks).events += 1;
        }
        self.passed(at);
    }

    /// Stores the position of the latest event.
    #[inline(always)]
    fn passed(&mut self, at: Position) {
        self.gaps.before = at;
        self.sanity.pass_until(at.ticks);
    }

    /// Handles the facts of an event that do not depend on its meaning: its stack pointer, and
    /// whether its type is known. `thread` is the context that recorded the event, if it is a
    /// thread. `is_counted` is true if this context is a task.
    #[inline(always)]
    pub(super) fn note(
        &mut self,
        rows: &Rows<'_>,
        row: usize,
        (kind, facts): &Known<M>,
        (subject, thread): (Option<ContextId>, Option<ContextId>),
        is_counted: bool,
    ) {
        let (context, at) = (rows.context(row), rows.at(row));
        if is_counted && kind.stack_pointer.is_some() {
            let pointer = rows.argument(row, kind.stack_pointer);
            self.stacks.take(rows.trace, context, pointer, at);
        }
        let (trace, id, meaning) = (rows.trace, rows.ids[row], kind.meaning);
        // Fast paths handle only events of core 0.
        let recorded = Recorded { trace, id, at, cpu: 0, meaning, context, thread, subject };
        self.moments.event(&recorded, facts, |index| rows.argument(row, Some(index)));
        self.sanity.pass_kind(kind.is_known);
    }
}
