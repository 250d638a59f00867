//! Messages between machines: posted, taken from the queue, handed over, done.
//!
//! A message is known by receiver and signal: taking one takes the oldest of this signal that waits there.
//! Those posted before others come first. A taking or a hand-over of which no post was seen is a message
//! whose post is not known.

use std::collections::HashMap;

use foldhash::fast::RandomState;

use super::sight::{Named, Sight};
use super::waiting::Waiting;
use super::{MOST_MESSAGES, MOST_ROWS, Rows};
use crate::analysis::Range;
use crate::model::Meaning;

/// A message, as far as the trace shows it. Times are ticks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Message {
    /// Who posted it; `None` where nobody is named: an interrupt, the environment.
    pub sender: Option<Named>,
    /// Whom it was for.
    pub receiver: Named,
    /// What it was.
    pub signal: Named,
    /// When it was posted.
    pub posted: Option<u64>,
    /// When it was taken from the queue.
    pub taken: Option<u64>,
    /// When it was handed to the state machine.
    pub dispatched: Option<u64>,
    /// When the step that it made was done.
    pub done: Option<u64>,
    /// The id of the event that ended the step.
    pub outcome: Option<u32>,
}

/// Messages of one signal from one sender to one receiver.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Flow {
    /// Who posted them.
    pub sender: Option<Named>,
    /// Whom they were for.
    pub receiver: Named,
    /// What they were.
    pub signal: Named,
    /// How many were posted.
    pub posted: u64,
    /// How many were taken.
    pub taken: u64,
    /// From being posted to being taken or handed over, in ticks.
    pub waiting: Range,
    /// From being taken or handed over to the end of the step, in ticks.
    pub step: Range,
    /// From being posted to the end of the step: the response time, in ticks.
    pub response: Range,
}

/// Follows messages.
#[derive(Debug, Default)]
pub(super) struct Messages {
    waiting: Waiting<Open>,
    /// The message whose step is going on at a receiver.
    steps: HashMap<u64, Open, RandomState>,
    flows: Rows<(Option<Named>, Named, Named), Flow>,
    kept: Vec<Message>,
    more: u64,
}

/// A message that is on its way.
#[derive(Clone, Copy, Debug)]
struct Open {
    message: Message,
    /// Where it is among those kept.
    kept: Option<usize>,
}

impl Messages {
    /// Takes an event; returns the message whose step goes on, or has just ended, where the event belongs
    /// to one.
    pub(super) fn take(&mut self, sight: &Sight<'_>) -> Option<Message> {
        match sight.meaning {
            Meaning::Send | Meaning::SendFirst => {
                self.post(sight);
                None
            }
            Meaning::Receive => self.begin(sight, |message, ticks| message.taken = Some(ticks)),
            Meaning::Dispatch => {
                self.begin(sight, |message, ticks| message.dispatched = Some(ticks))
            }
            Meaning::Complete | Meaning::Unhandled => self.end(sight),
            _ => self.steps.get(&sight.subject()?.key).map(|open| open.message),
        }
    }

    fn post(&mut self, sight: &Sight<'_>) {
        // What has no signal is put into a queue, and is not yet a message to somebody.
        let (Some(receiver), Some(signal)) = (sight.object(), sight.value()) else { return };
        let message = Message {
            sender: sight.doer(),
            posted: Some(sight.ticks()),
            ..Message::new(receiver, signal)
        };
        let open = self.open(message);
        let first = sight.meaning == Meaning::SendFirst;
        self.waiting.post(receiver, signal, open, first);
        if let Some(flow) = self.flow(&message) {
            flow.posted += 1;
        }
    }

    fn open(&mut self, message: Message) -> Open {
        let kept = (self.kept.len() < MOST_MESSAGES).then_some(self.kept.len());
        match kept {
            Some(_) => self.kept.push(message),
            None => self.more += 1,
        }
        Open { message, kept }
    }

    fn flow(&mut self, message: &Message) -> Option<&mut Flow> {
        let Message { sender, receiver, signal, .. } = *message;
        self.flows.get((sender, receiver, signal), || Flow {
            sender,
            receiver,
            signal,
            posted: 0,
            taken: 0,
            waiting: Range::default(),
            step: Range::default(),
            response: Range::default(),
        })
    }

    /// A receiver takes a message, or is handed one.
    fn begin(&mut self, sight: &Sight<'_>, note: fn(&mut Message, u64)) -> Option<Message> {
        let (receiver, signal) = (sight.subject()?, sight.value()?);
        let mut open = match self.steps.remove(&receiver.key) {
            // Taken before, handed over now.
            Some(open) if sight.meaning == Meaning::Dispatch && open.awaits(signal) => open,
            _ => self.first(receiver, signal),
        };
        let first = open.message.taken.is_none() && open.message.dispatched.is_none();
        note(&mut open.message, sight.ticks());
        if first && let Some(flow) = self.flow(&open.message) {
            flow.taken += 1;
            let posted = open.message.posted;
            posted
                .into_iter()
                .for_each(|posted| flow.waiting.add(sight.ticks().saturating_sub(posted)));
        }
        self.keep(&open);
        let message = open.message;
        if self.steps.len() >= MOST_ROWS {
            self.steps.clear();
        }
        self.steps.insert(receiver.key, open);
        Some(message)
    }

    /// The message of a signal that waits longest at a receiver.
    fn first(&mut self, receiver: Named, signal: Named) -> Open {
        let found = self.waiting.take(receiver, signal);
        found.unwrap_or_else(|| self.open(Message::new(receiver, signal)))
    }

    fn end(&mut self, sight: &Sight<'_>) -> Option<Message> {
        let mut open = self.steps.remove(&sight.subject()?.key)?;
        let (done, message) = (sight.ticks(), &mut open.message);
        (message.done, message.outcome) = (Some(done), Some(sight.event.id));
        let message = *message;
        if let Some(flow) = self.flow(&message) {
            let begun = message.taken.or(message.dispatched);
            begun.into_iter().for_each(|begun| flow.step.add(done.saturating_sub(begun)));
            message
                .posted
                .into_iter()
                .for_each(|posted| flow.response.add(done.saturating_sub(posted)));
        }
        self.keep(&open);
        Some(message)
    }

    fn keep(&mut self, open: &Open) {
        if let Some(kept) = open.kept.and_then(|index| self.kept.get_mut(index)) {
            *kept = open.message;
        }
    }

    pub(super) fn cut(&mut self) {
        self.waiting.clear();
        self.steps.clear();
    }

    pub(super) fn finish(self) -> (Vec<Flow>, Vec<Message>, u64) {
        (self.flows.list, self.kept, self.more)
    }
}

impl Open {
    fn awaits(&self, signal: Named) -> bool {
        self.message.signal == signal && self.message.dispatched.is_none()
    }
}

impl Message {
    const fn new(receiver: Named, signal: Named) -> Self {
        Self {
            sender: None,
            receiver,
            signal,
            posted: None,
            taken: None,
            dispatched: None,
            done: None,
            outcome: None,
        }
    }
}
