//! The message fields `nseq` and `rt`. Reports show them after the arguments of an event.

use super::{Response, Responses};
use crate::model::schema::EventType;
use crate::model::{Event, Meaning};

/// A field of an event that posts or takes a message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum MessageField {
    /// `nseq`: the position of the message among the messages posted to the same receiver.
    Number,
    /// `rt`: the time in ticks for which the message waited.
    Waited,
}

impl MessageField {
    /// The names in reports.
    pub(crate) const ALL: [(&'static str, Self); 2] =
        [("nseq", Self::Number), ("rt", Self::Waited)];

    /// Returns the field that has the given name.
    pub(crate) fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(known, _)| *known == name).map(|(_, field)| *field)
    }

    /// Returns true if events of this type can have the field.
    pub(crate) fn is_of(self, event: &EventType) -> bool {
        let Some(means) = event.means.filter(|means| means.value.is_some()) else { return false };
        match means.meaning {
            Meaning::Receive => true,
            Meaning::Send | Meaning::SendFirst => self == Self::Number,
            _ => false,
        }
    }

    /// Returns the value of the field.
    const fn value(self, response: Response) -> Option<u64> {
        match self {
            Self::Number => Some(response.number),
            Self::Waited => response.waited,
        }
    }
}

/// Follows messages through a trace, for conditions about their fields.
#[derive(Debug, Default)]
pub(crate) struct MessageFields {
    responses: Responses,
    /// Number of gaps before the current event. It is unknown which messages are pending after a
    /// gap.
    gaps: u64,
    current: Option<Response>,
}

impl MessageFields {
    /// Handles the next event, whether or not a condition refers to it.
    pub(crate) fn follow(&mut self, event: Event<'_>) {
        let gaps = event.trace.losses.iter().map(|(_, count)| count.gaps).sum();
        if std::mem::replace(&mut self.gaps, gaps) != gaps {
            self.responses.gap();
        }
        self.current = self.responses.take(event);
    }

    /// Returns the value of a field of the current event.
    pub(crate) fn value(&self, field: MessageField) -> Option<u64> {
        field.value(self.current?)
    }
}
