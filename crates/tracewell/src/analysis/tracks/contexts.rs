//! The state of each context.

use std::collections::HashMap;

use foldhash::fast::RandomState;

use super::{Position, Reason, Row, Settled, State};
use crate::analysis::key_slots::KeySlots;
use crate::analysis::scheduling::Wait;
use crate::model::{ContextId, MaybeContext, Meaning};

/// The known facts about a context.
#[derive(Clone, Debug, Default)]
struct Context {
    row: Row<State>,
    /// The core on which it is running.
    core: Option<u16>,
    /// Its latest request, until another event shows that the request was granted.
    asked: Option<Asked>,
    /// The call that it has entered and in which it can wait; `None` after the call returns.
    call: Option<Asked>,
    /// The state that the context will have when it loses the processor, if an event has announced
    /// this state.
    next: Option<State>,
    /// The event that made it ready, and the context that recorded this event.
    woken: Option<(Position, Option<ContextId>)>,
}

/// A request of a context, or a call in which it can wait.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asked {
    /// As in [`Reason::request`].
    pub(super) request: Meaning,
    /// As in [`Reason::key`].
    pub(super) key: Option<u64>,
}

/// Follows the states of all contexts.
#[derive(Clone, Debug, Default)]
pub(super) struct Contexts {
    list: Vec<Context>,
    reasons: Vec<Reason>,
    by_reason: HashMap<Reason, u32, RandomState>,
    /// The latest results of `by_reason`.
    recent: KeySlots<Reason, u32>,
    /// Number of changes of all rows.
    pub(super) changes: u64,
}

/// The cause of a wake-up: the event that made the context ready, and the context that recorded
/// the event, or `None` for an interrupt.
pub(super) type Cause = (Position, Option<ContextId>);

impl Contexts {
    #[inline]
    fn at(&mut self, id: ContextId) -> &mut Context {
        self.with_changes(id).0
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self, id: ContextId) {
        self.list.resize_with(id.index() + 1, Context::default);
    }

    fn set(&mut self, id: ContextId, at: Position, state: State) {
        let (context, changes) = self.with_changes(id);
        *changes += u64::from(context.row.set(at, state));
    }

    /// Returns the facts about a context, and the number of changes.
    #[inline]
    fn with_changes(&mut self, id: ContextId) -> (&mut Context, &mut u64) {
        if id.index() >= self.list.len() {
            self.grow(id);
        }
        (&mut self.list[id.index()], &mut self.changes)
    }

    fn blocked(&mut self, reason: Reason) -> State {
        let Self { reasons, by_reason, recent, .. } = self;
        // The numbers of contexts and codes are small. The first reason of a wait lacks the kind of
        // the object, which the second one has.
        let holder = reason.holder.map_or(0, |holder| u64::from(holder.0) + 1);
        let kind = u64::from(reason.kind.is_some());
        let (key, code) = (reason.key.unwrap_or(0), reason.code.unwrap_or(0));
        let number = key ^ code << 40 ^ holder << 48 ^ kind << 63;
        State::Blocked(recent.get(number, reason, || {
            *by_reason.entry(reason).or_insert_with(|| {
                reasons.push(reason);
                reasons.len() as u32 - 1
            })
        }))
    }

    /// Stores the request of a context. `None` means that, according to an event, the previous
    /// request was granted.
    pub(super) fn asks(&mut self, id: ContextId, asked: Option<Asked>) {
        self.at(id).asked = asked;
    }

    /// Stores the call that a context entered and in which it can wait. `None` means that the
    /// context has returned from the call.
    pub(super) fn calls(&mut self, id: ContextId, call: Option<Asked>) {
        self.at(id).call = call;
    }

    /// Handles a report that a context stops being ready. `code` is the state that the kernel
    /// recorded.
    pub(super) fn blocks(&mut self, id: ContextId, at: Position, code: Option<u64>) {
        let context = self.at(id);
        let (core, asked, call) = (context.core, context.asked.take(), context.call);
        let is_announced = matches!(context.next, Some(State::Blocked(_) | State::Sleeping));
        if core.is_some() && asked.is_none() && code.is_none() && is_announced {
            // Some kernels record two events for a wait. The first event contains the reason, so
            // keep it.
            return;
        }
        let state = match asked.or(call) {
            Some(Asked { request: Meaning::Sleeps, .. }) => State::Sleeping,
            asked => {
                let (request, key) = (asked.map(|it| it.request), asked.and_then(|it| it.key));
                self.blocked(Reason { request, key, code, ..Reason::default() })
            }
        };
        self.leaves(id, at, core, state);
    }

    /// Handles an event that shows the next state of a context. If the context still has the
    /// processor, the state takes effect when the context loses it.
    pub(super) fn becomes(&mut self, id: ContextId, at: Position, state: State) {
        let core = self.at(id).core;
        self.leaves(id, at, core, state);
    }

    fn leaves(&mut self, id: ContextId, at: Position, core: Option<u16>, state: State) {
        if core.is_some() {
            self.at(id).next = Some(state);
        } else {
            self.set(id, at, state);
        }
    }

    /// Handles an event that makes a context ready.
    pub(super) fn ready(&mut self, id: ContextId, at: Position, by: Option<ContextId>) {
        let (context, changes) = self.with_changes(id);
        context.next = None;
        if context.core.is_none() {
            context.woken = Some((at, by));
            *changes += u64::from(context.row.set(at, State::Ready));
        }
    }

    /// Handles the scheduler's choice to take the processor from a context that could continue.
    pub(super) fn preempted(&mut self, id: ContextId) {
        let context = self.at(id);
        if context.core.is_some() {
            context.next.get_or_insert(State::Preempted);
        }
    }

    /// Handles an event that takes the processor from a context for an unknown reason. The next
    /// state of the context is the one that an earlier event announced. Without such an event, the
    /// context sleeps if its last request was to sleep, and otherwise counts as preempted.
    pub(super) fn switched_out(&mut self, id: ContextId) {
        let context = self.at(id);
        if context.core.is_some() && context.next.is_none() {
            let request = context.asked.take().map(|asked| asked.request);
            let sleeps = request == Some(Meaning::Sleeps);
            context.next = Some(if sleeps { State::Sleeping } else { State::Preempted });
        }
    }

    /// Handles the beginning of a wait.
    pub(super) fn wait_began(&mut self, wait: &Wait) {
        let request = if wait.is_mutex { Meaning::Lock } else { Meaning::Wait };
        let Wait { key, kind, owner, .. } = *wait;
        // Keep the code of the state if an earlier event contained it.
        let code = match self.at(wait.task).next {
            Some(State::Blocked(index)) => self.reasons.get(index as usize).and_then(|r| r.code),
            _ => None,
        };
        let reason = Reason { request: Some(request), key, kind, holder: owner, code };
        let state = self.blocked(reason);
        self.at(wait.task).next = Some(state);
    }

    /// Handles the end of a wait. A context without a core becomes ready.
    pub(super) fn wait_ended(&mut self, wait: &Wait, at: Position) {
        if self.at(wait.task).core.is_none() {
            self.set(wait.task, at, State::Ready);
        }
    }

    /// Gives a core to a context. If this completes a wake-up, returns the cause of the wake-up.
    pub(super) fn gets(
        &mut self,
        id: ContextId,
        cpu: u16,
        at: Position,
        of: MaybeContext,
        in_interrupt: bool,
    ) -> Option<Cause> {
        let (context, changes) = self.with_changes(id);
        let continues = context.core.replace(cpu).is_some();
        // Within an interrupt, the scheduler may choose another context and then choose this
        // context again.
        let is_kept = context.next == Some(State::Preempted) && !in_interrupt;
        if !continues || is_kept {
            context.next = None;
        }
        let state = if in_interrupt { State::Interrupted } else { State::Running(of) };
        *changes += u64::from(context.row.set(at, state));
        context.woken.take_if(|_| !in_interrupt)
    }

    /// Takes a core from a context.
    pub(super) fn loses(&mut self, id: ContextId, cpu: u16, at: Position) {
        let (context, changes) = self.with_changes(id);
        // The context may already run on another core.
        if context.core == Some(cpu) {
            context.core = None;
            let state = context.next.take().unwrap_or(State::Off);
            *changes += u64::from(context.row.set(at, state));
        }
    }

    /// Handles the deletion of a context.
    pub(super) fn deleted(&mut self, id: ContextId, at: Position) {
        self.becomes(id, at, State::Deleted);
    }

    /// Handles missing events after `at`.
    pub(super) fn gap(&mut self, at: Position) {
        for index in 0..self.list.len() {
            let context = &mut self.list[index];
            *context = Context { row: std::mem::take(&mut context.row), ..Context::default() };
            let known = !matches!(context.row.last(), None | Some(State::Deleted));
            if known {
                self.set(ContextId(index as u32), at, State::Unknown);
            }
        }
    }

    /// Passes on the settled changes of all rows; see [`Row::settle`].
    pub(super) fn settle(&mut self, settled: &mut impl Settled) {
        for (index, context) in self.list.iter_mut().enumerate() {
            let id = ContextId(index as u32);
            self.changes -= context.row.settle(|changes| settled.context(id, changes)) as u64;
        }
    }

    /// Returns the rows by context id, and the reasons why contexts were blocked.
    pub(super) fn finish(self) -> (Vec<Row<State>>, Vec<Reason>) {
        (self.list.into_iter().map(|context| context.row).collect(), self.reasons)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TASK: ContextId = ContextId(0);
    const OTHER: ContextId = ContextId(1);

    fn at(ticks: u64) -> Position {
        Position { ticks, seq: ticks }
    }

    fn asked(request: Meaning) -> Option<Asked> {
        Some(Asked { request, key: Some(7) })
    }

    impl Contexts {
        /// Gives core 0 to the task.
        fn runs(&mut self, ticks: u64, in_interrupt: bool) -> Option<Cause> {
            self.gets(TASK, 0, at(ticks), TASK.into(), in_interrupt)
        }
    }

    /// Returns the state that the task has when it loses its core after these calls.
    fn lost(calls: impl FnOnce(&mut Contexts)) -> State {
        let mut contexts = Contexts::default();
        contexts.runs(10, false);
        calls(&mut contexts);
        contexts.loses(TASK, 0, at(20));
        contexts.list[0].row.last().unwrap()
    }

    #[test]
    fn a_context_that_loses_its_core_has_the_announced_state() {
        assert_eq!(lost(|_| {}), State::Off);
        assert_eq!(lost(|contexts| contexts.preempted(TASK)), State::Preempted);
        assert_eq!(lost(|contexts| contexts.becomes(TASK, at(15), State::Done)), State::Done);
        assert_eq!(lost(|contexts| contexts.deleted(TASK, at(15))), State::Deleted);
        // The task was made ready again before it lost the core.
        let ready = |contexts: &mut Contexts| {
            contexts.blocks(TASK, at(15), None);
            contexts.ready(TASK, at(16), Some(OTHER));
        };
        assert_eq!(lost(ready), State::Off);
        let done_and_preempted = |contexts: &mut Contexts| {
            contexts.becomes(TASK, at(15), State::Done);
            contexts.preempted(TASK);
        };
        assert_eq!(lost(done_and_preempted), State::Done);
        let chosen_again = |contexts: &mut Contexts| {
            contexts.preempted(TASK);
            contexts.runs(16, false);
        };
        assert_eq!(lost(chosen_again), State::Off);
        // Within an interrupt, the scheduler has not decided yet.
        let chosen_in_interrupt = |contexts: &mut Contexts| {
            contexts.preempted(TASK);
            contexts.runs(16, true);
        };
        assert_eq!(lost(chosen_in_interrupt), State::Preempted);
    }

    #[test]
    fn a_context_that_is_switched_out_sleeps_if_it_asked_for_that() {
        let after = |calls: fn(&mut Contexts)| {
            lost(|contexts| {
                calls(contexts);
                contexts.switched_out(TASK);
            })
        };
        assert_eq!(after(|_| {}), State::Preempted);
        assert_eq!(after(|c| c.asks(TASK, asked(Meaning::Sleeps))), State::Sleeping);
        assert_eq!(after(|c| c.asks(TASK, asked(Meaning::Lock))), State::Preempted);
        assert_eq!(after(|c| c.becomes(TASK, at(15), State::Done)), State::Done);
        let granted = |contexts: &mut Contexts| {
            contexts.asks(TASK, asked(Meaning::Sleeps));
            contexts.asks(TASK, None);
        };
        assert_eq!(after(granted), State::Preempted);
    }

    /// Returns the reasons after calls of a context, which then loses its core.
    fn reasons(calls: impl FnOnce(&mut Contexts)) -> Vec<(Option<Meaning>, Option<u64>)> {
        let mut contexts = Contexts::default();
        contexts.runs(10, false);
        calls(&mut contexts);
        contexts.loses(TASK, 0, at(20));
        let (rows, reasons) = contexts.finish();
        let states = rows[0].changes().iter().filter_map(|change| match change.state {
            State::Blocked(number) => reasons.get(number as usize),
            _ => None,
        });
        states.map(|reason| (reason.request, reason.code)).collect()
    }

    #[test]
    fn a_context_is_blocked_for_its_latest_request_or_else_in_its_call() {
        let blocks = |c: &mut Contexts| c.blocks(TASK, at(15), None);
        assert_eq!(reasons(blocks), [(None, None)]);
        let in_call = |contexts: &mut Contexts| {
            contexts.calls(TASK, asked(Meaning::Call));
            blocks(contexts);
        };
        assert_eq!(reasons(in_call), [(Some(Meaning::Call), None)]);
        let in_request = |contexts: &mut Contexts| {
            contexts.calls(TASK, asked(Meaning::Call));
            contexts.asks(TASK, asked(Meaning::Receive));
            blocks(contexts);
        };
        assert_eq!(reasons(in_request), [(Some(Meaning::Receive), None)]);
        let after_call = |contexts: &mut Contexts| {
            contexts.calls(TASK, asked(Meaning::Call));
            contexts.calls(TASK, None);
            blocks(contexts);
        };
        assert_eq!(reasons(after_call), [(None, None)]);
        // The first of two events for one wait contains the reason.
        let twice = |contexts: &mut Contexts| {
            contexts.asks(TASK, asked(Meaning::Receive));
            blocks(contexts);
            blocks(contexts);
        };
        assert_eq!(reasons(twice), [(Some(Meaning::Receive), None)]);
        let twice_with_code = |contexts: &mut Contexts| {
            contexts.asks(TASK, asked(Meaning::Receive));
            blocks(contexts);
            contexts.blocks(TASK, at(16), Some(4));
        };
        assert_eq!(reasons(twice_with_code), [(None, Some(4))]);
        let waits_with_code = |contexts: &mut Contexts| {
            contexts.blocks(TASK, at(15), Some(4));
            let (key, kind, owner, from) = (Some(7), None, Some(OTHER), at(12));
            contexts.wait_began(&Wait { task: TASK, key, kind, is_mutex: true, owner, from });
        };
        assert_eq!(reasons(waits_with_code), [(Some(Meaning::Lock), Some(4))]);
    }

    #[test]
    fn a_wake_up_ends_when_the_context_gets_a_core_outside_interrupts() {
        let mut contexts = Contexts::default();
        contexts.ready(TASK, at(5), Some(OTHER));
        assert_eq!(contexts.runs(7, true), None);
        assert_eq!(contexts.runs(9, false), Some((at(5), Some(OTHER))));
        // A context that has a core is not woken.
        contexts.ready(TASK, at(10), None);
        contexts.loses(TASK, 0, at(11));
        assert_eq!(contexts.runs(12, false), None);
    }

    #[test]
    fn a_context_keeps_the_core_to_which_it_moved() {
        let mut contexts = Contexts::default();
        contexts.runs(10, false);
        contexts.gets(TASK, 1, at(12), TASK.into(), false);
        contexts.loses(TASK, 0, at(14));
        assert!(matches!(contexts.list[0].row.last(), Some(State::Running(_))));
        contexts.loses(TASK, 1, at(16));
        assert_eq!(contexts.list[0].row.last(), Some(State::Off));
    }

    #[test]
    fn after_a_gap_every_context_but_a_deleted_one_is_unknown() {
        let mut contexts = Contexts::default();
        contexts.runs(10, false);
        contexts.asks(TASK, asked(Meaning::Lock));
        contexts.deleted(OTHER, at(12));
        contexts.ready(ContextId(3), at(13), None);
        contexts.gap(at(15));
        let last = |contexts: &Contexts| -> Vec<_> {
            contexts.list.iter().map(|context| context.row.last()).collect()
        };
        let unknown = Some(State::Unknown);
        // The trace does not mention the context with number 2.
        assert_eq!(last(&contexts), [unknown, Some(State::Deleted), None, unknown]);
        // The context has no core any more, so it is blocked at once, for an unknown reason.
        contexts.blocks(TASK, at(20), None);
        assert_eq!(contexts.list[0].row.last(), Some(State::Blocked(0)));
        assert_eq!(contexts.reasons, [Reason::default()]);
        assert_eq!(contexts.gets(ContextId(3), 0, at(21), TASK.into(), false), None);
    }
}
