//! What passed between whom, in order: the matter of a sequence diagram.

use std::collections::HashMap;

use foldhash::fast::RandomState;

use super::MOST_ROWS;
use super::exchange::{Act, Exchange, tells_messages};
use super::sight::{Named, Sight};
use super::waiting::Waiting;
use crate::model::{Batch, EventRef, Flow, Loss, Meaning, Sink, Trace};
use crate::select::{Selection, Selector};

/// Something that happened.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Occurrence {
    /// Number of the event in the trace.
    pub seq: u64,
    /// When, in ticks.
    pub ticks: u64,
    /// What.
    pub what: Happening,
}

/// What happens in a diagram.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Happening {
    /// A message was posted.
    Sent {
        /// Who posted it; `None` where nobody is named.
        sender: Option<Named>,
        /// Whom it was for.
        receiver: Named,
        /// What it was.
        signal: Named,
        /// When it was taken or handed over, in ticks; `None` where that was not seen.
        taken: Option<u64>,
    },
    /// A timer ran out for somebody.
    Expired {
        /// Which timer.
        timer: Named,
        /// Whom it serves.
        owner: Named,
        /// The message that it makes.
        signal: Option<Named>,
    },
    /// A machine reached a state.
    Reached {
        /// Which machine.
        machine: Named,
        /// Which state.
        state: Named,
    },
    /// A machine did not take a message.
    Unhandled {
        /// Which machine.
        machine: Named,
        /// Which message, where it is told.
        signal: Option<Named>,
        /// Id of the event that says why.
        id: u32,
    },
    /// The system started.
    Boot,
    /// Events are missing, so many where that is known; 0 for a damaged record that another loss counts.
    Lost(Option<u64>),
}

/// A sink that keeps what happened, up to a number; what is beyond is counted.
#[derive(Debug)]
pub struct Sequence {
    most: usize,
    selector: Selector,
    happened: Vec<Occurrence>,
    more: u64,
    /// Places in `happened` of messages that were not taken yet.
    waiting: Waiting<usize>,
    /// Messages and counts that threads hand to each other.
    exchange: Exchange,
    /// True if events say which messages are sent; `None` before the first event.
    tells_messages: Option<bool>,
    /// Signals of the steps that go on, by machine.
    steps: HashMap<u64, Named, RandomState>,
    last: (u64, u64),
}

impl Sequence {
    /// A sequence of at most `most` selected occurrences.
    pub fn new(most: usize, selection: Selection) -> Self {
        Self {
            most,
            selector: Selector::new(selection),
            happened: Vec::new(),
            more: 0,
            waiting: Waiting::default(),
            exchange: Exchange::default(),
            tells_messages: None,
            steps: HashMap::default(),
            last: (0, 0),
        }
    }

    /// What happened, in order, and how much more did.
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

    fn event(&mut self, trace: &Trace, event: &EventRef<'_>, selected: bool) {
        let sight = Sight::of(trace, event);
        self.exchange.recorded(event.context, sight.map(|sight| sight.meaning));
        let Some(sight) = sight else { return };
        let tells = *self.tells_messages.get_or_insert_with(|| tells_messages(&trace.schema));
        if let Some(act) = Act::of(&sight).filter(|_| !tells) {
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
        let place = self.push(event.seq, event.ticks, what);
        if let (Happening::Sent { receiver, signal, .. }, Some(place)) = (what, place) {
            let first = sight.meaning == Meaning::SendFirst;
            self.waiting.post(receiver, signal, place, first);
        }
    }

    /// A thread puts something into an object of the kernel, or takes it: a message from the one to the other. A put
    /// that no thread takes in the trace goes to the object.
    fn exchanged(&mut self, sight: &Sight<'_>, act: Act, selected: bool) {
        let (Some(object), ticks) = (sight.object(), sight.ticks()) else { return };
        let (place, taker) = match act {
            Act::Put { first } => {
                let what = Happening::Sent {
                    sender: sight.recorder(),
                    receiver: object,
                    signal: object,
                    taken: None,
                };
                let place = if selected { self.push(sight.event.seq, ticks, what) } else { None };
                (place, self.exchange.put(sight, place, first))
            }
            Act::Take => {
                let taker = sight.recorder();
                (taker.and_then(|taker| self.exchange.take(sight, taker)), taker)
            }
        };
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
                owner: sight.subject().filter(|owner| owner.argument != 0)?,
                signal: sight.value(),
            },
            Meaning::StateReached => {
                Happening::Reached { machine: sight.subject()?, state: sight.value()? }
            }
            Meaning::Unhandled => {
                let machine = sight.subject()?;
                let signal = sight.value().or(self.steps.get(&machine.key).copied());
                Happening::Unhandled { machine, signal, id: sight.event.id }
            }
            _ => return None,
        })
    }

    /// Notes when the message of a signal that waits longest at a receiver was taken.
    fn taken(&mut self, sight: &Sight<'_>) {
        let (Some(receiver), Some(signal)) = (sight.subject(), sight.value()) else { return };
        if self.steps.len() >= MOST_ROWS {
            self.steps.clear();
        }
        // Handed over after it was taken.
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
        for event in batch.events() {
            let selected = self.selector.takes(trace, &event)?;
            self.last = (event.seq + 1, event.ticks);
            self.event(trace, &event, selected);
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
