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
        if id.index() >= self.list.len() {
            self.grow(id);
        }
        &mut self.list[id.index()]
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self, id: ContextId) {
        self.list.resize_with(id.index() + 1, Context::default);
    }

    fn set(&mut self, id: ContextId, at: Position, state: State) {
        let added = self.at(id).row.set(at, state);
        self.changes += u64::from(added);
    }

    fn blocked(&mut self, reason: Reason) -> State {
        let Self { reasons, by_reason, recent, .. } = self;
        let number = reason.key.unwrap_or(0) ^ reason.code.unwrap_or(0);
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
        let context = self.at(id);
        context.next = None;
        if context.core.is_none() {
            context.woken = Some((at, by));
            self.set(id, at, State::Ready);
        }
    }

    /// Handles the scheduler's choice to take the processor from a context that could continue.
    pub(super) fn preempted(&mut self, id: ContextId) {
        let context = self.at(id);
        if context.core.is_some() {
            context.next.get_or_insert(State::Preempted);
        }
    }

    /// Handles an event that takes the processor from a context for an unknown reason. If an
    /// earlier event announced the next state, that state applies. Otherwise, the context sleeps if
    /// it last requested to sleep. If it requested something else, it counts as preempted.
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
        let context = self.at(id);
        let continues = context.core.replace(cpu).is_some();
        // Within an interrupt, the scheduler may choose another context and then choose this
        // context again.
        let is_kept = context.next == Some(State::Preempted) && !in_interrupt;
        if !continues || is_kept {
            context.next = None;
        }
        let state = if in_interrupt { State::Interrupted } else { State::Running(of) };
        let cause = context.woken.take_if(|_| !in_interrupt);
        self.set(id, at, state);
        cause
    }

    /// Takes a core from a context.
    pub(super) fn loses(&mut self, id: ContextId, cpu: u16, at: Position) {
        let context = self.at(id);
        // The context may already run on another core.
        if context.core == Some(cpu) {
            context.core = None;
            let state = context.next.take().unwrap_or(State::Off);
            self.set(id, at, state);
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
            let before = context.row.changes().len();
            settled.context(ContextId(index as u32), context.row.settle());
            self.changes -= (before - context.row.changes().len()) as u64;
        }
    }

    /// Returns the rows by context id, and the reasons why contexts were blocked.
    pub(super) fn finish(self) -> (Vec<Row<State>>, Vec<Reason>) {
        (self.list.into_iter().map(|context| context.row).collect(), self.reasons)
    }
}
