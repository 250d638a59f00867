//! Analyses of state machines and of the messages, queues, pools and timers between them.
//!
//! | file | purpose |
//! |---|---|
//! | `concerns` | for each event id, the analyses that need its events |
//! | `named_rows` | one row for each machine, queue, pool or timer |
//! | `messages` | messages and their latencies |
//! | `states` | the states of each machine, and the time in each state |
//! | `transitions` | the different transitions of a machine |
//! | `levels` | fill levels of queues and pools |
//! | `timers` | starts, stops and expiries of timers |
//! | `exchange` | items that threads exchange through queues and semaphores |
//! | `handovers` | the put and the get operation of each of these items |
//! | `moments` | passes the changes to consumers such as timelines |
//! | `sequence` | the steps of a sequence diagram |
//!
//! `select/messages` determines the meaning and the participants of an event, and the order of
//! pending messages. All figures are derived from meanings ([`crate::model::Meaning`]) and from the
//! roles of arguments in the schema. A system without state machines may still have queues and
//! timers. Times are in ticks.
//!
//! Memory is bounded, whatever a trace contains: each table has at most `MAX_ROWS` rows. The tables
//! of all machines together have at most `MAX_DETAILS` rows and `MAX_TRANSITIONS` transitions.
//! Further messages and transitions are only counted.
//!
//! When events are missing or the system restarts, pending messages are dropped, and the current
//! states and timers end. Their durations are not counted.
//!
//! ```
//! use tracewell::analysis::machines::Machines;
//! use tracewell::input::{Input, Settings};
//!
//! # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/rkh/ahsm-a.bin").as_ref();
//! let mut machines = Machines::default();
//! let trace = Input::open(path, Settings::default())?.read(&mut machines)?;
//! let figures = machines.figures(&trace);
//! assert!(!figures.machines.is_empty() && figures.machines[0].steps > 0);
//! # Ok::<(), tracewell::input::InputError>(())
//! ```

mod concerns;
mod exchange;
mod handovers;
mod levels;
mod messages;
mod moments;
mod named_rows;
mod sequence;
mod states;
mod timers;
mod transitions;

use std::collections::HashMap;
use std::hash::Hash;

use foldhash::fast::RandomState;

pub(in crate::analysis) use handovers::Handovers;
pub use levels::Level;
pub use messages::{Flow as MessageFlow, Message, Route};
pub use moments::{MachineMoments, Passed};
pub use sequence::{Happening, Occurrence, Sequence};
pub use states::{Machine, Outcome, StateTime, Unhandled};
pub use timers::Timer;
pub use transitions::Transition;

pub use crate::select::messages::sight::Named;
pub use crate::select::messages::{Response, Responses};

use super::measured::Measured;
use crate::model::{Arguments, Batch, Event, Flow, Loss, PerId, Position, Sink, Trace};
use crate::select::messages::sight::{Sight, Sights};
use crate::select::messages::{MAX_ROWS, sight, waiting};
use concerns::{BLOCK, Concerns, Skipped, Wanted, Way};
use levels::Levels;
use messages::Messages;
use states::States;
use timers::Timers;

/// Maximum number of listed messages. Further messages are counted.
pub const MAX_MESSAGES: usize = 10_000;

/// A sink that follows state machines. [`Machines::figures`] returns the results.
#[derive(Clone, Debug, Default)]
pub struct Machines<M = ()> {
    moments: M,
    concerns: PerId<Concerns>,
    skipped: Skipped,
    sights: Sights,
    messages: Messages,
    states: States,
    levels: Levels,
    timers: Timers,
    /// The event of the latest system start in the current batch. If there was none, this is the
    /// last event of the previous batch.
    last: Position,
    /// The tick after the range of the figures; `None` for the end of the trace.
    end: Option<u64>,
}

/// All figures about state machines, messages, queues, pools and timers.
#[derive(Clone, Debug, Default)]
pub struct Figures {
    /// State machines, in the order in which the trace first names them.
    pub machines: Vec<Machine>,
    /// Number of transitions that were not stored because there were too many different
    /// transitions.
    pub more_transitions: u64,
    /// The flows of messages: one for each sender, receiver and signal. They are in the order of
    /// their first messages.
    pub flows: Vec<MessageFlow>,
    /// The first messages, in the order of their posts. A message whose post is unknown is listed
    /// at the place of the event that took it.
    pub messages: Vec<Message>,
    /// Number of further messages.
    pub more_messages: u64,
    /// The distributions of message times, if requested.
    pub distributions: Vec<Measured<Route>>,
    /// Number of measured times that are in no distribution, because there are too many
    /// distributions.
    pub more_times: u64,
    /// Queues and pools, in the order in which the trace first names them.
    pub levels: Vec<Level>,
    /// Timers, in the order in which the trace first names them.
    pub timers: Vec<Timer>,
}

impl<M: MachineMoments> Sink for Machines<M> {
    fn events(&mut self, trace: &Trace, batch: &Batch<'_>) -> Flow {
        // The loop borrows both the table and `self`, so move the table out of `self` during the
        // loop.
        let mut table = std::mem::take(&mut self.concerns);
        let mut all_concerns = table.of_schema(&trace.schema);
        if all_concerns.is_empty() {
            self.skipped.clear();
        }
        let arguments = Arguments::new(trace, batch);
        for (block, ids) in batch.columns.id.chunks(BLOCK).enumerate() {
            for row in Wanted::with(ids, |id| !self.skipped.contains(id)) {
                let concerns = all_concerns.get(ids[row], Concerns::of);
                match concerns.way {
                    Way::Skip => self.skipped.add(ids[row]),
                    _ => self.row(trace, batch, &arguments, block * BLOCK + row, concerns),
                }
            }
        }
        self.concerns = table;
        if let Some(ticks) = batch.columns.ticks.last() {
            self.last = Position { ticks: *ticks, seq: batch.first + batch.len() as u64 - 1 };
        }
        Flow::Continue(())
    }

    fn loss(&mut self, _: &Trace, _: &Loss) -> Flow {
        self.cut();
        Flow::Continue(())
    }
}

impl Machines {
    /// Returns the figures after all events. Call this after the last event of `trace`.
    pub fn figures(self, trace: &Trace) -> Figures {
        self.finish(trace).0
    }

    /// Also collects the times of messages as distributions.
    #[must_use]
    pub fn with_distributions(mut self) -> Self {
        self.messages.distributions.collect();
        self
    }

    /// Also stores where the longest times of each bucket ended.
    #[must_use]
    pub fn with_places(mut self) -> Self {
        self.messages.distributions.place();
        self
    }
}

impl<M: MachineMoments> Machines<M> {
    /// Handles the event in a row of a batch.
    #[inline(always)]
    fn row(
        &mut self,
        trace: &Trace,
        batch: &Batch<'_>,
        arguments: &Arguments<'_>,
        row: usize,
        concerns: &Concerns,
    ) {
        if let (Way::Level, Some(effect)) = (concerns.way, &concerns.levels) {
            let Some(ticks) = batch.columns.ticks.get(row) else { return };
            let at = Position { ticks: *ticks, seq: batch.first + row as u64 };
            self.levels.take(trace, arguments, row, at, effect, &mut self.moments);
        } else if let Some(event) = batch.event(row)
            && let Some(sight) = self.sights.of(Event::new(trace, &event))
        {
            self.event(&sight, concerns);
        }
    }

    /// Creates a sink that also passes each moment to `moments`.
    pub fn with_moments(moments: M) -> Self {
        Self {
            moments,
            concerns: PerId::default(),
            skipped: Skipped::default(),
            sights: Sights::default(),
            messages: Messages::default(),
            states: States::default(),
            levels: Levels::default(),
            timers: Timers::default(),
            last: Position::default(),
            end: None,
        }
    }

    fn event(&mut self, sight: &Sight<'_>, concerns: &Concerns) {
        if concerns.boot {
            self.last = sight.position();
            return self.cut();
        }
        let moments = &mut self.moments;
        if let Some(effect) = &concerns.levels {
            self.levels.take_sight(sight, effect, moments);
        }
        if concerns.timers {
            self.timers.take(sight);
        }
        // Call `messages` first, because `states` needs the message of the step even at the event
        // that ends the step.
        let open = if concerns.messages { self.messages.take(sight, moments) } else { None };
        if concerns.states {
            self.states.take(sight, open, moments);
        }
    }

    /// Returns the consumer of moments.
    pub(in crate::analysis) fn moments(&self) -> &M {
        &self.moments
    }

    /// Returns the consumer of moments, to which the caller can pass further moments.
    pub(in crate::analysis) fn moments_mut(&mut self) -> &mut M {
        &mut self.moments
    }

    /// Begins the range of the figures at a tick: forgets all figures so far and keeps the state.
    pub fn begin(&mut self, from: u64) {
        self.messages.restart();
        self.states.restart(from);
        self.levels.restart(from);
        self.timers.restart();
    }

    /// Ends the range of the figures before a tick; `None` is the end of the trace.
    pub fn end(&mut self, until: Option<u64>) {
        self.end = until;
    }

    /// Ends everything that is in progress.
    fn cut(&mut self) {
        self.messages.cut();
        self.states.cut();
        self.levels.cut();
        self.timers.cut();
        self.moments.gap(self.last);
    }

    /// Returns the figures after all events, and the consumer of moments. `trace` is the trace
    /// after the last event.
    pub fn finish(mut self, trace: &Trace) -> (Figures, M) {
        let (distributions, more_times) = self.messages.distributions.finish();
        let (flows, messages, more_messages) = self.messages.finish();
        let end = self.end.unwrap_or(trace.span);
        let (machines, more_transitions) = self.states.finish(end, self.end.is_some());
        let figures = Figures {
            machines,
            more_transitions,
            flows,
            messages,
            more_messages,
            distributions,
            more_times,
            levels: self.levels.finish(),
            timers: self.timers.finish(),
        };
        (figures, self.moments)
    }
}

/// Rows by key, in the order of their first mention. There are at most [`MAX_ROWS`] rows.
#[derive(Clone, Debug)]
struct Rows<K, T> {
    list: Vec<T>,
    by_key: HashMap<K, usize, RandomState>,
}

/// Maximum number of states, outcomes and unhandled messages of all machines together.
const MAX_DETAILS: usize = 1 << 16;

/// Maximum number of different transitions of all machines together. The limit is low because the
/// paths of transitions need much memory.
const MAX_TRANSITIONS: usize = 1 << 14;

/// A limit on the number of rows, shared by several tables.
#[derive(Clone, Debug)]
struct Room {
    rows: usize,
    /// Number of rows that exceeded the limit.
    left_out: u64,
}

impl Room {
    const fn new(rows: usize) -> Self {
        Self { rows, left_out: 0 }
    }

    /// Reserves room for one row. Returns false if there is no room.
    fn take(&mut self) -> bool {
        let fits = self.rows > 0;
        self.rows -= usize::from(fits);
        self.left_out += u64::from(!fits);
        fits
    }
}

impl<K, T> Default for Rows<K, T> {
    fn default() -> Self {
        Self { list: Vec::new(), by_key: HashMap::default() }
    }
}

impl<K: Eq + Hash, T> Rows<K, T> {
    fn get(&mut self, key: K, make: impl FnOnce() -> T) -> Option<&mut T> {
        let index = self.index(key, make)?;
        self.list.get_mut(index)
    }

    /// Returns the index of a row in `list`. The index of a row never changes.
    fn index(&mut self, key: K, make: impl FnOnce() -> T) -> Option<usize> {
        match self.by_key.get(&key) {
            Some(index) => Some(*index),
            None if self.list.len() >= MAX_ROWS => None,
            None => {
                self.list.push(make());
                self.by_key.insert(key, self.list.len() - 1);
                Some(self.list.len() - 1)
            }
        }
    }

    /// Returns a row of a table that shares its limit with other tables.
    fn get_within(&mut self, key: K, room: &mut Room, make: impl FnOnce() -> T) -> Option<&mut T> {
        if !self.by_key.contains_key(&key) && !room.take() {
            return None;
        }
        self.get(key, make)
    }
}
