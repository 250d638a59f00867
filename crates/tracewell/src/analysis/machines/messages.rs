//! Follows messages between machines: each is posted, taken from the queue, dispatched and
//! processed.
//!
//! A message is identified by its receiver and its signal. A get takes the oldest pending message
//! that has the same receiver and signal. Messages posted to the front are taken first. If the
//! trace does not show the post of a message, the time of the post is unknown.

use std::collections::HashMap;

use foldhash::fast::RandomState;

use super::moments::{MachineMoments, Passed};
use super::sight::{Named, Sight};
use super::waiting::Waiting;
use super::{MAX_MESSAGES, MAX_ROWS, Rows};
use crate::analysis::Range;
use crate::analysis::measured::{Distributions, Measure};
use crate::model::Meaning;
use crate::model::schema::Means;

/// A message. Its times are in ticks; a time is `None` if the trace does not show it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Message {
    /// The sender; `None` if the event does not name it, for example if an interrupt sends.
    pub sender: Option<Named>,
    /// The machine or thread to which the message was posted.
    pub receiver: Named,
    /// The signal that it carries.
    pub signal: Named,
    /// Time of the post.
    pub posted: Option<u64>,
    /// Time at which the message was taken from the queue.
    pub taken: Option<u64>,
    /// Time at which the message was dispatched to the state machine.
    pub dispatched: Option<u64>,
    /// Time at which the step was complete.
    pub done: Option<u64>,
    /// Id of the event that ended the step.
    pub outcome: Option<u32>,
}

/// The sender, the receiver and the signal of messages.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Route {
    /// The sender; `None` if the event does not name it, for example if an interrupt sends.
    pub sender: Option<Named>,
    /// The machine or thread that receives the messages.
    pub receiver: Named,
    /// The signal of the messages.
    pub signal: Named,
}

/// The messages with one signal from one sender to one receiver.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Flow {
    /// The sender; `None` if the event does not name it, for example if an interrupt sends.
    pub sender: Option<Named>,
    /// The machine or thread that received them.
    pub receiver: Named,
    /// The signal that they carry.
    pub signal: Named,
    /// Number of posted messages.
    pub posted: u64,
    /// Number of taken messages.
    pub taken: u64,
    /// Time from post to get or dispatch, in ticks.
    pub waiting: Range,
    /// Time from get or dispatch to the end of the step, in ticks.
    pub step: Range,
    /// Response time: from post to the end of the step, in ticks.
    pub response: Range,
}

/// The pending messages, and the figures of all flows.
#[derive(Clone, Debug, Default)]
pub(super) struct Messages {
    waiting: Waiting<Open>,
    /// The message that each receiver is processing.
    steps: HashMap<u64, Open, RandomState>,
    flows: Rows<Route, Flow>,
    pub(super) distributions: Distributions<Route>,
    kept: Vec<Message>,
    /// Number of messages that were listed before the range of the figures began.
    before: usize,
    more: u64,
}

/// A message whose step has not ended yet.
#[derive(Clone, Copy, Debug)]
struct Open {
    message: Message,
    /// The index of the message's row. This index also counts the messages that were listed before
    /// the range.
    kept: Option<usize>,
    /// The event that posted it.
    sent: Option<Passed>,
}

/// Returns true if events of this type can post, take or dispatch a message, or end the step of a
/// message.
pub(super) fn concern(means: &Means) -> bool {
    match means.meaning {
        // An item without a signal is not a message to a receiver.
        Meaning::Send | Meaning::SendFirst | Meaning::Receive | Meaning::Dispatch => {
            means.value.is_some()
        }
        Meaning::Complete | Meaning::Unhandled => true,
        _ => false,
    }
}

impl Messages {
    /// Handles an event. If the event belongs to a step that is in progress or has just ended,
    /// returns the message of the step.
    pub(super) fn take(
        &mut self,
        sight: &Sight<'_>,
        moments: &mut impl MachineMoments,
    ) -> Option<Message> {
        match sight.meaning {
            Meaning::Send | Meaning::SendFirst => {
                self.post(sight);
                None
            }
            Meaning::Receive => {
                self.begin(sight, moments, |message, ticks| message.taken = Some(ticks))
            }
            Meaning::Dispatch => {
                self.begin(sight, moments, |message, ticks| message.dispatched = Some(ticks))
            }
            Meaning::Complete | Meaning::Unhandled => self.end(sight),
            // All other events of a receiver belong to the message that the receiver is processing.
            _ => self.steps.get(&sight.subject()?.key).map(|open| open.message),
        }
    }

    fn post(&mut self, sight: &Sight<'_>) {
        // An item without a signal was put into a queue. It is not yet a message to a receiver.
        let (Some(receiver), Some(signal)) = (sight.object(), sight.value()) else { return };
        let message = Message {
            sender: sight.doer(),
            posted: Some(sight.ticks()),
            ..Message::new(receiver, signal)
        };
        let passed = Passed { at: sight.position(), context: sight.event.row.context };
        let open = Open { sent: Some(passed), ..self.open(message) };
        let first = sight.meaning == Meaning::SendFirst;
        self.waiting.post(receiver, signal, open, first);
        if let Some(flow) = self.flow(&message) {
            flow.posted += 1;
        }
    }

    fn open(&mut self, message: Message) -> Open {
        // After the limit is reached, a message is counted in its flow, but gets no row.
        let kept = (self.kept.len() < MAX_MESSAGES).then_some(self.before + self.kept.len());
        match kept {
            Some(_) => self.kept.push(message),
            None => self.more += 1,
        }
        Open { message, kept, sent: None }
    }

    fn flow(&mut self, message: &Message) -> Option<&mut Flow> {
        let route = message.route();
        let Route { sender, receiver, signal } = route;
        self.flows.get(route, || Flow {
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

    /// Handles an event that takes or dispatches a message.
    fn begin(
        &mut self,
        sight: &Sight<'_>,
        moments: &mut impl MachineMoments,
        note: fn(&mut Message, u64),
    ) -> Option<Message> {
        let (receiver, signal) = (sight.subject()?, sight.value()?);
        let mut open = match self.steps.remove(&receiver.key) {
            // The message was taken earlier and is dispatched now.
            Some(open) if sight.meaning == Meaning::Dispatch && open.awaits(signal) => open,
            _ => self.first(receiver, signal),
        };
        // A message that was first taken and then dispatched is counted once, when it is taken.
        let first = open.message.taken.is_none() && open.message.dispatched.is_none();
        note(&mut open.message, sight.ticks());
        if first && let Some(flow) = self.flow(&open.message) {
            flow.taken += 1;
            if let Some(posted) = open.message.posted {
                let (route, waited) = (open.message.route(), sight.ticks().saturating_sub(posted));
                flow.waiting.add(waited);
                self.distributions.add(Measure::MessageWait, route, waited, sight.position());
            }
        }
        if let Some(sent) = open.sent.filter(|_| first) {
            let taken = Passed { at: sight.position(), context: sight.event.row.context };
            moments.message(sent, taken);
        }
        self.keep(&open);
        let message = open.message;
        // Only a damaged trace contains that many receivers. Drop the steps of all receivers, so
        // that memory stays bounded.
        if self.steps.len() >= MAX_ROWS {
            self.steps.clear();
        }
        self.steps.insert(receiver.key, open);
        Some(message)
    }

    /// Returns the oldest pending message with this signal at a receiver.
    fn first(&mut self, receiver: Named, signal: Named) -> Open {
        let found = self.waiting.take(receiver, signal);
        found.unwrap_or_else(|| self.open(Message::new(receiver, signal)))
    }

    fn end(&mut self, sight: &Sight<'_>) -> Option<Message> {
        let mut open = self.steps.remove(&sight.subject()?.key)?;
        let (done, message) = (sight.ticks(), &mut open.message);
        (message.done, message.outcome) = (Some(done), Some(sight.event.id()));
        let message = *message;
        if let Some(flow) = self.flow(&message) {
            // Systems record the get, the dispatch, or both. The step begins with the first of
            // these events.
            let begun = message.taken.or(message.dispatched);
            let step = begun.map(|begun| done.saturating_sub(begun));
            let response = message.posted.map(|posted| done.saturating_sub(posted));
            step.into_iter().for_each(|ticks| flow.step.add(ticks));
            response.into_iter().for_each(|ticks| flow.response.add(ticks));
            let (route, at) = (message.route(), sight.position());
            let times = [(Measure::MessageStep, step), (Measure::MessageResponse, response)];
            for (measure, ticks) in times {
                let ticks = ticks.into_iter();
                ticks.for_each(|ticks| self.distributions.add(measure, route, ticks, at));
            }
        }
        self.keep(&open);
        Some(message)
    }

    fn keep(&mut self, open: &Open) {
        let index = open.kept.and_then(|number| number.checked_sub(self.before));
        if let Some(kept) = index.and_then(|index| self.kept.get_mut(index)) {
            *kept = open.message;
        }
    }

    /// Begins a range: forgets the figures and rows, and keeps the pending messages.
    pub(super) fn restart(&mut self) {
        self.before += self.kept.len();
        self.kept.clear();
        (self.flows, self.more) = Default::default();
        self.distributions.restart();
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
    const fn route(&self) -> Route {
        Route { sender: self.sender, receiver: self.receiver, signal: self.signal }
    }

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
