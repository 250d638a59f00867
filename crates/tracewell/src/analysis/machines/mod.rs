//! What state machines did, and what passed between them: messages, queues, pools, timers.
//!
//! | file | question |
//! |---|---|
//! | `sight` | what does an event assert, and about what |
//! | `messages` | which message was taken when, and how long did it take |
//! | `waiting` | which message is the one that is taken |
//! | `responses` | how long did a message wait, told as it is taken |
//! | `states` | where were the machines, how long, and how did they get there |
//! | `levels` | how full were queues and pools |
//! | `timers` | when did timers start, stop, run out |
//! | `exchange` | which thread took what another put into a queue or a semaphore |
//! | `sequence` | what passed between whom, in order: the matter of a diagram |
//!
//! Everything rests on meanings ([`crate::model::Meaning`]) and on what the schema says of arguments. A system
//! that records no state machines may still tell of queues and timers. Times are ticks.
//!
//! Memory is bounded, whatever a trace names: tables end at `MOST_ROWS` rows, those of all machines together at
//! `MAX_DETAILS` and `MAX_TRANSITIONS`, and what has no row is counted as left out.
//!
//! Where events are missing, and where the system starts anew, nothing goes on: what was posted and not taken,
//! states that were entered and not left, timers that ran are counted as cut off and in no duration.

mod exchange;
mod levels;
mod messages;
mod responses;
mod sequence;
mod sight;
mod states;
mod timers;
mod waiting;

use std::collections::HashMap;
use std::hash::Hash;

use foldhash::fast::RandomState;

pub use levels::Level;
pub use messages::{Flow as MessageFlow, Message};
pub use responses::{Response, Responses};
pub use sequence::{Happening, Occurrence, Sequence};
pub use sight::Named;
pub use states::{Machine, Outcome, StateTime, Transition, Unhandled};
pub use timers::Timer;

use crate::model::{Batch, Flow, Loss, Meaning, Sink, Trace};
use levels::Levels;
use messages::Messages;
use sight::Sight;
use states::States;
use timers::Timers;

/// Messages that are kept one by one; the rest is counted.
pub const MOST_MESSAGES: usize = 10_000;

/// A sink that follows state machines; [`Machines::figures`] has the answers.
#[derive(Debug, Default)]
pub struct Machines {
    messages: Messages,
    states: States,
    levels: Levels,
    timers: Timers,
}

/// What is known of a trace.
#[derive(Debug, Default)]
pub struct Figures {
    /// State machines, in the order in which the trace first names them.
    pub machines: Vec<Machine>,
    /// Transitions that were made, but are in no row of theirs: there are too many different ones.
    pub more_transitions: u64,
    /// Who sent which message to whom, in the order of the first.
    pub flows: Vec<MessageFlow>,
    /// The first messages, in the order in which they were posted or, if that was not seen, taken.
    pub messages: Vec<Message>,
    /// Messages beyond those.
    pub more_messages: u64,
    /// Queues and pools, in the order in which the trace first names them.
    pub levels: Vec<Level>,
    /// Timers, likewise.
    pub timers: Vec<Timer>,
}

impl Figures {
    /// Whether the trace tells none of it.
    pub fn is_empty(&self) -> bool {
        let Self { machines, flows, levels, timers, .. } = self;
        machines.is_empty() && flows.is_empty() && levels.is_empty() && timers.is_empty()
    }
}

impl Sink for Machines {
    fn events(&mut self, trace: &Trace, batch: &Batch<'_>) -> Flow {
        for event in batch.events() {
            let Some(sight) = Sight::of(trace, &event) else { continue };
            if sight.meaning == Meaning::Boot {
                self.cut();
                continue;
            }
            self.levels.take(&sight);
            self.timers.take(&sight);
            let open = self.messages.take(&sight);
            self.states.take(&sight, open);
        }
        Flow::Continue(())
    }

    fn loss(&mut self, _: &Trace, _: &Loss) -> Flow {
        self.cut();
        Flow::Continue(())
    }
}

impl Machines {
    /// What goes on now is not followed any further.
    fn cut(&mut self) {
        self.messages.cut();
        self.states.cut();
        self.timers.cut();
    }

    /// The answers, once all events were taken; `trace` is what reading them returned.
    pub fn figures(self, trace: &Trace) -> Figures {
        let (flows, messages, more_messages) = self.messages.finish();
        let (machines, more_transitions) = self.states.finish(trace.span);
        Figures {
            machines,
            more_transitions,
            flows,
            messages,
            more_messages,
            levels: self.levels.finish(),
            timers: self.timers.finish(),
        }
    }
}

/// Rows in the order of their first mention, found by key. Beyond [`MOST_ROWS`] no new ones are made.
#[derive(Debug)]
struct Rows<K, T> {
    list: Vec<T>,
    by_key: HashMap<K, usize, RandomState>,
}

/// Rows of a table: a damaged trace of nothing but different keys must not fill memory.
const MOST_ROWS: usize = 1 << 16;

/// States, outcomes and messages not taken that are kept of all machines together.
const MAX_DETAILS: usize = 1 << 16;

/// Different transitions that are kept of all machines together: their ways make them large.
const MAX_TRANSITIONS: usize = 1 << 14;

/// Places for rows of several tables together.
#[derive(Debug)]
struct Room {
    rows: usize,
    /// How often there was no place.
    left_out: u64,
}

impl Room {
    const fn new(rows: usize) -> Self {
        Self { rows, left_out: 0 }
    }
}

impl<K, T> Default for Rows<K, T> {
    fn default() -> Self {
        Self { list: Vec::new(), by_key: HashMap::default() }
    }
}

impl<K: Eq + Hash, T> Rows<K, T> {
    fn get(&mut self, key: K, make: impl FnOnce() -> T) -> Option<&mut T> {
        let index = match self.by_key.get(&key) {
            Some(index) => *index,
            None if self.list.len() >= MOST_ROWS => return None,
            None => {
                self.list.push(make());
                self.by_key.insert(key, self.list.len() - 1);
                self.list.len() - 1
            }
        };
        self.list.get_mut(index)
    }

    /// The same for a table that shares its room with others.
    fn get_within(&mut self, key: K, room: &mut Room, make: impl FnOnce() -> T) -> Option<&mut T> {
        if !self.by_key.contains_key(&key) {
            if room.rows == 0 {
                room.left_out += 1;
                return None;
            }
            room.rows -= 1;
        }
        self.get(key, make)
    }

    fn find(&mut self, key: &K) -> Option<&mut T> {
        self.list.get_mut(*self.by_key.get(key)?)
    }
}
