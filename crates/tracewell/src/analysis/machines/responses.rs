//! The number of each message that is posted, and how long it waited, told when it is taken: Trazer's response
//! times.

use std::collections::HashMap;

use foldhash::fast::RandomState;

use super::MOST_ROWS;
use super::sight::Sight;
use super::waiting::Waiting;
use crate::model::schema::Schema;
use crate::model::{EventRef, Meaning, Trace};
use crate::text::PerEvent;

/// A message that was posted or taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Response {
    /// From its post to its taking, in ticks; `None` at its post.
    pub waited: Option<u64>,
    /// Its number among the messages posted to its receiver, from 1.
    pub number: u64,
}

/// Follows messages.
#[derive(Debug, Default)]
pub struct Responses {
    /// Whether events of an id tell of messages that are posted or taken, or of a new start.
    tells: PerEvent<bool>,
    waiting: Waiting<(u64, u64)>,
    posted: HashMap<u64, u64, RandomState>,
}

impl Responses {
    /// Whether events of this schema tell of messages that are taken.
    pub fn are_told(schema: &Schema) -> bool {
        schema.events().iter().any(|event| {
            let means = event.means.filter(|means| means.meaning == Meaning::Receive);
            means.is_some_and(|means| means.value.is_some())
        })
    }

    /// Takes an event; returns what is known of the message that it posts or takes.
    #[inline]
    pub fn take(&mut self, trace: &Trace, event: &EventRef<'_>) -> Option<Response> {
        let tells = self.tells.get(event.id, || tells(&trace.schema, event.id));
        if *tells { self.follow(&Sight::of(trace, event)?) } else { None }
    }

    fn follow(&mut self, sight: &Sight<'_>) -> Option<Response> {
        match sight.meaning {
            Meaning::Send | Meaning::SendFirst => {
                let (receiver, signal) = (sight.object()?, sight.value()?);
                if self.posted.len() > MOST_ROWS {
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
                self.posted.clear();
                self.waiting.clear();
                None
            }
            _ => None,
        }
    }

    /// Events are missing: what waits is not known any more.
    pub fn gap(&mut self) {
        self.waiting.clear();
    }
}

fn tells(schema: &Schema, id: u32) -> bool {
    use Meaning::{Boot, Receive, Send, SendFirst};
    let means = schema.event(id).means;
    means.is_some_and(|means| matches!(means.meaning, Send | SendFirst | Receive | Boot))
}
