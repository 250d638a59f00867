//! Lists the steps of a sequence diagram (messages, timers, states) in order.

use std::collections::HashMap;

use foldhash::fast::RandomState;

use super::MAX_ROWS;
use super::exchange::{Act, Exchange, Exchanged, tells_messages};
use super::sight::{Named, Sight, Sights};
use super::waiting::Waiting;
use crate::model::{Batch, Event, Flow, Loss, Meaning, Sink, Trace};
use crate::select::{Selection, Selector};

/// A step of a sequence.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Occurrence {
    /// Sequence number of the event.
    pub seq: u64,
    /// Ticks of the event since the first event of the trace.
    pub ticks: u64,
    /// The kind of step.
    pub what: Happening,
}

/// The kinds of steps.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Happening {
    /// A message was posted.
    Sent {
        /// The sender, or `None` if the event does not name it.
        sender: Option<Named>,
        /// The machine or thread that received the message, or a kernel object if no thread took
        /// the item from the object.
        receiver: Named,
        /// The signal of the message. If threads exchange an item through a kernel object, this is
        /// the object.
        signal: Named,
        /// The tick at which the receiver took or dispatched the message; `None` if the trace does
        /// not show it.
        taken: Option<u64>,
    },
    /// A timer of a machine or thread expired.
    Expired {
        /// The timer that expired.
        timer: Named,
        /// The machine or thread that receives the timer's signal.
        owner: Named,
        /// The signal that the timer sends.
        signal: Option<Named>,
    },
    /// A machine reached a state.
    Reached {
        /// The machine whose step is complete.
        machine: Named,
        /// The state that the machine was in when the step ended.
        state: Named,
    },
    /// A machine did not handle a message.
    Unhandled {
        /// The machine that received the message.
        machine: Named,
        /// The signal, if it is recorded.
        signal: Option<Named>,
        /// Id of the event. It shows the reason.
        id: u32,
    },
    /// The system started or restarted. Pending messages no longer exist.
    Boot,
    /// Events are missing. The value is the number of missing events, or `None` if it is unknown.
    /// The value is 0 if another loss already counts these events.
    Lost(Option<u64>),
}

/// A sink that lists steps up to a maximum number and counts the others.
#[derive(Debug)]
pub struct Sequence {
    most: usize,
    selector: Selector,
    sights: Sights,
    happened: Vec<Occurrence>,
    more: u64,
    /// For each pending message, its index in `happened`.
    waiting: Waiting<usize>,
    /// Items that threads exchange.
    exchange: Exchange<usize>,
    /// True if events name the receivers of messages; `None` before the first event.
    tells_messages: Option<bool>,
    /// Signal of the step in progress, per machine.
    steps: HashMap<u64, Named, RandomState>,
    last: (u64, u64),
}

impl Sequence {
    /// Creates a sequence of at most `most` selected steps.
    pub fn new(most: usize, selection: Selection) -> Self {
        Self {
            most,
            selector: Selector::new(selection),
            sights: Sights::default(),
            happened: Vec::new(),
            more: 0,
            waiting: Waiting::default(),
            exchange: Exchange::default(),
            tells_messages: None,
            steps: HashMap::default(),
            last: (0, 0),
        }
    }

    /// Returns the steps in order, and the number of steps beyond the limit.
    pub fn finish(self) -> (Vec<Occurrence>, u64) {
        (self.happened, self.more)
    }

    fn push(&mut self, seq: u64, ticks: u64, what: Happening) -> Option<usize> {
        if self.happened.len() >= self.most {
            self.more += 1;
            return None;
        }
        self.happened.push(Occurrence { seq, ticks, what });
        Some(self.happened.len() - 1)
    }

    fn event(&mut self, event: Event<'_>, selected: bool) {
        let sight = self.sights.of(event);
        // An event without a meaning also shows that its thread no longer waits.
        self.exchange.recorded(event.row.context, sight.map(|sight| sight.meaning));
        let Some(sight) = sight else { return };
        let tells = *self.tells_messages.get_or_insert_with(|| tells_messages(&event.trace.schema));
        // If no event names the receivers of messages, show the items of kernel objects as
        // messages.
        if let Some(act) = Act::of(sight.event.kind()).filter(|_| !tells) {
            return self.exchanged(&sight, act, selected);
        }
        match sight.meaning {
            Meaning::Receive | Meaning::Dispatch => return self.taken(&sight),
            Meaning::Boot => {
                self.waiting.clear();
                self.exchange.clear();
            }
            _ => {}
        }
        let Some(what) = self.what(&sight).filter(|_| selected) else { return };
        let place = self.push(event.seq(), event.ticks(), what);
        if let (Happening::Sent { receiver, signal, .. }, Some(place)) = (what, place) {
            let first = sight.meaning == Meaning::SendFirst;
            self.waiting.post(receiver, signal, place, first);
        }
    }

    /// Handles a put or get operation on a kernel object. A put operation and the matching get
    /// operation become one message from thread to thread. If the trace shows only the put
    /// operation, this operation becomes a message to the object.
    fn exchanged(&mut self, sight: &Sight<'_>, act: Act, selected: bool) {
        let (Some(exchanged), ticks) = (Exchanged::of(sight), sight.ticks()) else { return };
        let object = exchanged.object;
        let (place, taker) = match act {
            Act::Put { first } => {
                let what = Happening::Sent {
                    sender: sight.recorder(),
                    receiver: object,
                    signal: object,
                    taken: None,
                };
                let place = if selected { self.push(sight.event.seq(), ticks, what) } else { None };
                (place, self.exchange.put(&exchanged, place, first))
            }
            Act::Take => {
                let taker = sight.recorder();
                (taker.and_then(|taker| self.exchange.take(&exchanged, taker)), taker)
            }
        };
        // When the message was put, only the object was known, so the object was stored as the
        // receiver. Now the receiving thread is known.
        if let (Some(place), Some(taker)) = (place, taker)
            && let Some(occurrence) = self.happened.get_mut(place)
            && let Happening::Sent { receiver, taken, .. } = &mut occurrence.what
        {
            (*receiver, *taken) = (taker, Some(ticks));
        }
    }

    fn what(&mut self, sight: &Sight<'_>) -> Option<Happening> {
        Some(match sight.meaning {
            Meaning::Boot => Happening::Boot,
            Meaning::Send | Meaning::SendFirst => Happening::Sent {
                sender: sight.doer(),
                receiver: sight.object()?,
                signal: sight.value()?,
                taken: None,
            },
            Meaning::TimerExpired => Happening::Expired {
                timer: sight.object()?,
                // Owner 0 means that the timer posts to no machine.
                owner: sight.subject().filter(|owner| owner.argument != 0)?,
                signal: sight.value(),
            },
            Meaning::StateReached => {
                Happening::Reached { machine: sight.subject()?, state: sight.value()? }
            }
            Meaning::Unhandled => {
                let machine = sight.subject()?;
                // If the event omits the signal, use the signal of the machine's current step.
                let signal = sight.value().or(self.steps.get(&machine.key).copied());
                Happening::Unhandled { machine, signal, id: sight.event.id() }
            }
            _ => return None,
        })
    }

    /// Handles an event that takes or dispatches a message. The message is the receiver's oldest
    /// pending message that has the signal of the event.
    fn taken(&mut self, sight: &Sight<'_>) {
        let (Some(receiver), Some(signal)) = (sight.subject(), sight.value()) else { return };
        if self.steps.len() >= MAX_ROWS {
            self.steps.clear();
        }
        // The message was taken earlier and is dispatched now.
        if self.steps.insert(receiver.key, signal) == Some(signal)
            && sight.meaning == Meaning::Dispatch
        {
            return;
        }
        let place = self.waiting.take(receiver, signal);
        if let Some(occurrence) = place.and_then(|place| self.happened.get_mut(place))
            && let Happening::Sent { taken, .. } = &mut occurrence.what
        {
            *taken = Some(sight.ticks());
        }
    }
}

impl Sink for Sequence {
    fn events(&mut self, trace: &Trace, batch: &Batch<'_>) -> Flow {
        for row in batch.events() {
            let event = Event::new(trace, &row);
            let selected = self.selector.takes(event)?;
            self.last = (row.seq + 1, row.ticks);
            self.event(event, selected);
        }
        Flow::Continue(())
    }

    fn loss(&mut self, _: &Trace, loss: &Loss) -> Flow {
        self.waiting.clear();
        self.exchange.clear();
        let (seq, ticks) = self.last;
        self.push(seq, ticks, Happening::Lost(loss.events));
        Flow::Continue(())
    }
}
