//! The effects of events on the tracks, and the facts about an event id that determine them.

use super::State;
use crate::model::Meaning;
use crate::model::schema::Schema;

/// The facts about an event id that the tracks need.
#[derive(Clone, Copy, Debug)]
pub(super) struct EventFacts {
    pub(super) effect: Effect,
    /// True if the event has no effect without a subject.
    pub(super) needs_subject: bool,
    /// Index of the argument that contains the object; 0 if there is none.
    pub(super) object: usize,
    pub(super) has_object: bool,
    /// Index of the argument that contains the value.
    pub(super) value: Option<usize>,
    /// The number that is added to the value.
    pub(super) offset: u64,
    /// True if the event begins a call in which a context can wait.
    pub(super) waits_in: bool,
}

/// The effect of an event on the tracks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Effect {
    /// The event is a request of its subject. `None` means that the context that recorded the event
    /// continues to run, so its earlier request was granted.
    Asks(Option<Meaning>),
    /// The subject enters a call in which it can wait, or returns from a call.
    Calls,
    /// The subject becomes ready.
    Ready,
    /// The subject stops being ready.
    Blocks,
    /// The subject will have this state when it loses the processor.
    Becomes(State),
    /// The subject loses the processor for an unknown reason.
    SwitchedOut,
    /// An interrupt begins.
    Interrupts,
    /// The event is a mark of its subject.
    Marks,
    Nothing,
    /// The meaning depends on the value of the event, and determines the effect.
    ByMeaning,
}

impl EventFacts {
    pub(super) fn of(schema: &Schema, id: u32) -> Self {
        let event = schema.event(id);
        let (means, waits_in) = (event.means, event.details.waits_in.is_some());
        let object = means.and_then(|means| means.object);
        Self {
            effect: match means.map(|means| (means.meaning, means.cases[0])) {
                None => Effect::Asks(None),
                Some((_, Some(_))) => Effect::ByMeaning,
                Some((meaning, None)) => Effect::of(meaning, waits_in),
            },
            needs_subject: means.is_some(),
            object: object.unwrap_or(0),
            has_object: object.is_some(),
            value: means.and_then(|means| means.value),
            offset: means.map_or(0, |means| means.offset),
            waits_in: waits_in && means.is_some(),
        }
    }

    /// Returns the value of an event. `argument` returns an argument of the event.
    #[inline(always)]
    pub(super) fn value(&self, argument: impl Fn(usize) -> Option<u64>) -> Option<u64> {
        self.value.and_then(argument).map(|value| value.wrapping_add(self.offset))
    }

    /// Returns the key of the object of an event.
    #[inline(always)]
    pub(super) fn object(&self, argument: impl Fn(usize) -> Option<u64>) -> Option<u64> {
        // Any argument can be read, so reading needs no branch that depends on the id.
        argument(self.object).filter(|_| self.has_object)
    }
}

impl Effect {
    /// Returns the effect of an event with this meaning. `waits_in` is true if the event begins a
    /// call in which its context can wait.
    pub(super) fn of(meaning: Meaning, waits_in: bool) -> Self {
        match meaning {
            Meaning::Lock
            | Meaning::Wait
            | Meaning::Receive
            | Meaning::Send
            | Meaning::SendFirst
            | Meaning::Allocate
            | Meaning::Sleeps => Self::Asks(Some(meaning)),
            Meaning::Ready | Meaning::Activate => Self::Ready,
            Meaning::Blocks => Self::Blocks,
            Meaning::Complete => Self::Becomes(State::Done),
            Meaning::Yields | Meaning::SliceExpired => Self::Becomes(State::Preempted),
            Meaning::SwitchedOut => Self::SwitchedOut,
            Meaning::InterruptEnter => Self::Interrupts,
            Meaning::Mark | Meaning::Value | Meaning::DeadlineMissed | Meaning::WcetExceeded => {
                Self::Marks
            }
            // `Moments::deleted` handles deletions of contexts.
            Meaning::PriorityChange | Meaning::Inherit | Meaning::Runs | Meaning::Delete => {
                Self::Nothing
            }
            Meaning::Return => Self::Calls,
            _ if waits_in => Self::Calls,
            _ => Self::Asks(None),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::model::schema::{Details, EventType, Means};

    /// Returns the effect of events with a meaning. If `waits` is true, these events begin a call
    /// in which their contexts can wait.
    fn effect(meaning: Meaning, waits: bool) -> Effect {
        let mut schema = Schema::empty();
        Arc::make_mut(&mut schema).define(EventType {
            id: 1,
            name: String::new(),
            label: String::new(),
            family: String::new(),
            filter: 0,
            args: Vec::new(),
            means: Some(Means::of(meaning)),
            details: Details { waits_in: waits.then_some(0), ..Details::default() },
            instrumentation: Default::default(),
        });
        EventFacts::of(&schema, 1).effect
    }

    #[test]
    fn an_event_only_continues_its_context_unless_it_begins_a_call_or_a_request() {
        for meaning in [Meaning::Call, Meaning::Post, Meaning::Unlock] {
            assert_eq!(effect(meaning, false), Effect::Asks(None), "{meaning:?}");
            assert_eq!(effect(meaning, true), Effect::Calls, "{meaning:?}");
        }
        for meaning in [Meaning::Receive, Meaning::Lock] {
            assert_eq!(effect(meaning, false), Effect::Asks(Some(meaning)), "{meaning:?}");
            assert_eq!(effect(meaning, true), Effect::Asks(Some(meaning)), "{meaning:?}");
        }
        assert_eq!(effect(Meaning::Ready, true), Effect::Ready);
        assert_eq!(effect(Meaning::Return, false), Effect::Calls);
    }
}
