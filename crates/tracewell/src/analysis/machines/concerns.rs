//! Determines which analyses of this folder an event id concerns. All events of other ids are
//! skipped without a look at their arguments.

use crate::model::Meaning;
use crate::model::schema::{ArgumentKind, EventType, Means};

/// The analyses that an event id concerns.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Concerns {
    pub(super) levels: bool,
    pub(super) timers: bool,
    /// True if an event can begin or end a message, or belongs to the step of a machine.
    pub(super) messages: bool,
    pub(super) states: bool,
    /// True if everything in progress ends.
    pub(super) boot: bool,
}

impl Concerns {
    pub(super) fn of(event: &EventType, means: &Means) -> Self {
        let states = concern_states(event, means);
        Self {
            levels: concern_levels(event, means),
            timers: concern_timers(event, means),
            messages: states || concern_messages(means),
            states,
            boot: means.meaning == Meaning::Boot,
        }
    }

    /// Returns true if the id concerns no analysis.
    #[inline(always)]
    pub(super) fn are_none(self) -> bool {
        let Self { levels, timers, messages, states, boot } = self;
        !(levels | timers | messages | states | boot)
    }
}

/// Returns true if events of this type add or remove items of an object, or contain its level.
fn concern_levels(event: &EventType, means: &Means) -> bool {
    let object = means.object.and_then(|role| event.args.get(role));
    let acts_on_object = object.is_some_and(|o| matches!(o.kind, ArgumentKind::Object(_)));
    let details = &event.details;
    let has_levels =
        details.used.or(details.free).or(details.capacity).is_some() || details.empties;
    let changes = matches!(
        means.meaning,
        Meaning::Send
            | Meaning::SendFirst
            | Meaning::Receive
            | Meaning::Allocate
            | Meaning::Free
            | Meaning::Refuse
            | Meaning::Flush
    );
    acts_on_object && (has_levels || changes)
}

/// Returns true if events of this type can be about timers.
fn concern_timers(event: &EventType, means: &Means) -> bool {
    match means.meaning {
        Meaning::TimerStart | Meaning::TimerStop | Meaning::TimerExpired => true,
        Meaning::Create => event.details.period.or(means.value).is_some(),
        _ => false,
    }
}

/// Returns true if events of this type can begin or end a message.
fn concern_messages(means: &Means) -> bool {
    match means.meaning {
        // An item without a signal is not a message to a receiver.
        Meaning::Send | Meaning::SendFirst | Meaning::Receive | Meaning::Dispatch => {
            means.value.is_some()
        }
        Meaning::Complete | Meaning::Unhandled => true,
        _ => false,
    }
}

/// Returns true if events of this type can be about a state machine.
fn concern_states(event: &EventType, means: &Means) -> bool {
    match means.meaning {
        Meaning::Runs => event.details.state.is_some(),
        Meaning::Unhandled
        | Meaning::Dispatch
        | Meaning::StateEntered
        | Meaning::StateLeft
        | Meaning::StateReached
        | Meaning::Vertex
        | Meaning::Transition
        | Meaning::Complete => true,
        _ => false,
    }
}
