//! The facts about an event id that the analysis of scheduling needs at each event.

use crate::model::Meaning;
use crate::model::schema::{ArgumentKind, Means, Schema};

/// The parts of the analysis that need an event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Class {
    /// Only the time and the participants of the event matter.
    Plain,
    /// A request for a mutex.
    Lock,
    /// The release of a mutex.
    Unlock,
    /// A request for an object other than a mutex.
    Wait,
    /// The beginning or the end of an interrupt.
    Interrupt,
    /// A report that a context is running from here on.
    Load,
    /// A choice by the scheduler; it can also make its subject ready or not ready.
    Choice,
    /// The release or the completion of a job.
    Job,
    /// All parts may need the event.
    Other,
}

/// The facts about an event id.
#[derive(Clone, Copy, Debug)]
pub(super) struct Kind {
    pub(super) class: Class,
    /// The meaning with its arguments.
    pub(super) means: Option<Means>,
    /// The meaning, unless one of [`Means::cases`] applies.
    pub(super) meaning: Option<Meaning>,
    /// The arguments that name the subject, the next context and the object.
    pub(super) subject: Option<usize>,
    pub(super) next: Option<usize>,
    pub(super) object: Option<usize>,
    /// The argument with the value, and the number to add to this value.
    pub(super) value: Option<usize>,
    pub(super) offset: u64,
    /// The argument that says how often the mutex was held before the event.
    pub(super) holds: Option<usize>,
    /// The type code of the object, if the event can be a request.
    pub(super) object_kind: Option<u32>,
    /// True if the schema defines the id.
    pub(super) is_known: bool,
    /// True if an event with this `meaning` can make the scheduler choose again.
    pub(super) is_cause: bool,
    /// The argument that contains the task's stack pointer.
    pub(super) stack_pointer: Option<usize>,
}

impl Kind {
    pub(super) fn of(schema: &Schema, id: u32) -> Self {
        let event = schema.event(id);
        let asks = |means: &Means| means.can_be(Meaning::Lock) || means.can_be(Meaning::Wait);
        let object = event.means.filter(asks).and_then(|means| event.args.get(means.object?));
        Self {
            class: event.means.as_ref().map_or(Class::Plain, class),
            means: event.means,
            meaning: event.means.map(|means| means.meaning),
            subject: event.means.and_then(|means| means.subject),
            next: event.means.and_then(|means| means.next),
            object: event.means.and_then(|means| means.object),
            value: event.means.and_then(|means| means.value),
            offset: event.means.map_or(0, |means| means.offset),
            holds: event.details.holds,
            object_kind: object.and_then(|object| match object.kind {
                ArgumentKind::Object(kind) => kind,
                _ => None,
            }),
            is_known: event.family != "unknown",
            is_cause: is_cause(event.means.map(|means| means.meaning)),
            stack_pointer: event.args.iter().position(|argument| argument.name == "stack_ptr"),
        }
    }
}

fn class(means: &Means) -> Class {
    use Meaning as M;
    // The meaning depends on the value.
    if means.cases[0].is_some() {
        return Class::Other;
    }
    match (means.meaning, means.next) {
        (M::Lock, None) => Class::Lock,
        (M::Unlock, None) => Class::Unlock,
        (M::Wait, None) => Class::Wait,
        (M::InterruptEnter, None) | (M::InterruptExit, _) => Class::Interrupt,
        (M::Runs, None) => Class::Load,
        (M::Schedule | M::Ready | M::Blocks | M::SliceExpired | M::Yields, Some(_)) => {
            Class::Choice
        }
        (M::Activate | M::Release | M::Complete, None) => Class::Job,
        (
            M::Post
            | M::Send
            | M::SendFirst
            | M::Receive
            | M::Refuse
            | M::Flush
            | M::Defer
            | M::Recall
            | M::Allocate
            | M::Free
            | M::Yields
            | M::SliceExpired
            | M::Sleeps
            | M::PriorityChange
            | M::Inherit
            | M::Boot
            | M::TimerSet
            | M::TimerCancelled
            | M::StateEntered
            | M::StateLeft
            | M::StateReached
            | M::Vertex
            | M::Action
            | M::Transition
            | M::Dispatch
            | M::Unhandled
            | M::TimerStart
            | M::TimerStop
            | M::TimerExpired
            | M::AssertionFailed
            | M::Call
            | M::Return
            | M::Mark
            | M::Value
            | M::LostEnd,
            None,
        ) => Class::Plain,
        _ => Class::Other,
    }
}

/// Returns true if an event can make the scheduler choose again. Events of timers, budgets, checks
/// and inheritance cannot do this, because they accompany other events.
pub(super) fn is_cause(meaning: Option<Meaning>) -> bool {
    !matches!(
        meaning,
        Some(
            Meaning::TimerSet
                | Meaning::TimerCancelled
                | Meaning::Release
                | Meaning::ServerActive
                | Meaning::BudgetReplenished
                | Meaning::BudgetExhausted
                | Meaning::WcetExceeded
                | Meaning::DeadlineMissed
                | Meaning::Inherit
        )
    )
}
