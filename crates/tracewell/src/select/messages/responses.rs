//! Numbers messages, and computes how long each message waited until it was taken. Trazer calls
//! these times response times.

use std::collections::HashMap;

use foldhash::fast::RandomState;

use super::MAX_ROWS;
use super::sight::{Sight, Sights};
use super::waiting::Waiting;
use crate::model::schema::Schema;
use crate::model::{Event, Meaning};
use crate::text::PerEvent;

/// The response data of a message that was posted or taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Response {
    /// Time from post to get in ticks; `None` at the post.
    pub waited: Option<u64>,
    /// Position of the message among the messages posted to the same receiver, counted from 1.
    pub number: u64,
}

/// The pending messages, with their numbers per receiver.
#[derive(Clone, Debug, Default)]
pub struct Responses {
    /// For each event id, true if its events post messages, take messages, or mark a restart.
    has_responses: PerEvent<bool>,
    sights: Sights,
    waiting: Waiting<(u64, u64)>,
    posted: HashMap<u64, u64, RandomState>,
}

impl Responses {
    /// Returns true if events of this schema show when messages are taken.
    pub fn are_recorded(schema: &Schema) -> bool {
        schema.events_that_mean(&[Meaning::Receive]).any(|event| {
            let means = event.means.filter(|means| means.meaning == Meaning::Receive);
            means.is_some_and(|means| means.value.is_some())
        })
    }

    /// Handles an event. If the event posts or takes a message, returns the response data of the
    /// message.
    #[inline]
    pub fn take(&mut self, event: Event<'_>) -> Option<Response> {
        let has_responses =
            self.has_responses.get(event.id(), || has_responses(&event.trace.schema, event.id()));
        if *has_responses {
            let sight = self.sights.of(event)?;
            self.follow(&sight)
        } else {
            None
        }
    }

    fn follow(&mut self, sight: &Sight<'_>) -> Option<Response> {
        match sight.meaning {
            Meaning::Send | Meaning::SendFirst => {
                let (receiver, signal) = (sight.object()?, sight.value()?);
                if self.posted.len() > MAX_ROWS {
                    self.posted.clear();
                }
                let number = self.posted.entry(receiver.key).or_insert(0);
                *number += 1;
                let first = sight.meaning == Meaning::SendFirst;
                self.waiting.post(receiver, signal, (sight.ticks(), *number), first);
                Some(Response { waited: None, number: *number })
            }
            Meaning::Receive => {
                let (posted, number) = self.waiting.take(sight.subject()?, sight.value()?)?;
                let waited = Some(sight.ticks().saturating_sub(posted));
                Some(Response { waited, number })
            }
            Meaning::Boot => {
                // The target restarted: its queues are empty, and it counts from 1 again.
                self.posted.clear();
                self.waiting.clear();
                None
            }
            _ => None,
        }
    }

    /// Handles missing events. After missing events, it is unknown which messages are pending.
    pub fn gap(&mut self) {
        self.waiting.clear();
    }
}

fn has_responses(schema: &Schema, id: u32) -> bool {
    use Meaning::{Boot, Receive, Send, SendFirst};
    let means = schema.event(id).means;
    means.is_some_and(|means| matches!(means.meaning, Send | SendFirst | Receive | Boot))
}
