//! Tracks, which show the state of each core, context and mutex at every time.
//!
//! | file | purpose |
//! |---|---|
//! | `row` | consecutive states, and the interval of each state |
//! | `state` | the states of contexts and cores, and the spans of threads |
//! | `builder` | turns moments of [`super::scheduling`] into tracks |
//! | `effects` | the effect of each event id on tracks |
//! | `contexts` | the state of each context |
//! | `locks` | holders of mutexes, and waits |
//! | `jobs` | jobs from release to completion |
//! | `servers` | budgets of servers |
//! | `machines` | states and steps of machines, levels of queues, messages |
//! | `spans` | the spans of instrumented programs, in each thread |
//! | `findings` | priority inversions and missed deadlines |
//! | `settled` | passes on finished parts of tracks before the end of the trace |
//!
//! Tracks are derived from the same moments as the figures of [`super::scheduling::Scheduling`] and
//! [`super::machines::Machines`]. So over the whole trace, the times in a track add up to these
//! figures: the time in [`State::Running`] is the execution time of a context, and the lengths of
//! [`Job`]s are its response times.
//!
//! If a trace shows only which context recorded an event
//! ([`Processor::Recorders`](crate::model::Processor::Recorders)), no states are known, so there
//! are only marks. After missing events, each state is unknown until an event shows it.
//!
//! ```
//! use tracewell::analysis::tracks::{State, TrackBuilder};
//! use tracewell::input::{Input, Settings};
//!
//! # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/threadx/tiny.trx").as_ref();
//! let mut builder = TrackBuilder::default();
//! let trace = Input::open(path, Settings::default())?.read(&mut builder)?;
//! let tracks = builder.finish(&trace);
//! let runs = |state| matches!(state, State::Running(_));
//! for (context, row) in tracks.contexts() {
//!     let ticks = row.time(0..trace.span, trace.span, runs);
//!     println!("{}: {ticks} ticks", trace.contexts.get(context).unwrap().name);
//! }
//! assert!(tracks.contexts().count() > 0);
//! # Ok::<(), tracewell::input::InputError>(())
//! ```

mod builder;
mod contexts;
mod effects;
mod findings;
mod jobs;
mod locks;
mod machines;
mod row;
mod servers;
mod settled;
mod spans;
mod state;

pub use builder::TrackBuilder;
pub use findings::{Finding, FindingKind};
pub use jobs::{Job, Miss};
pub use locks::{Holder, LockTrack, WaitSpan};
pub use machines::{LevelTrack, MachineTrack, MachineTrackBuilder, MachineTracks, StepSpan};
pub use row::{Change, Row, Span};
pub use servers::ServerTrack;
pub(in crate::analysis) use settled::{Places, Settled};
pub use spans::SpanTrack;
pub use state::{EnteredSpan, Occupant, Reason, State};

use crate::analysis::machines as machine_figures;
use crate::analysis::scheduling::Figures;
pub use crate::analysis::scheduling::{Budget, Position, ServerState};
use crate::model::{ContextId, LossCause};

/// Maximum number of changes, marks, jobs, waits and arrows of all tracks together.
/// [`Tracks::left_out`] is the number of entries beyond this limit.
pub const MAX_ENTRIES: u64 = 1 << 24;

/// The tracks of a trace.
#[derive(Clone, Debug)]
pub struct Tracks {
    /// Ticks from the first event of the trace to its last.
    pub span: u64,
    /// The activity of each core, by core number. Empty if the trace does not show it.
    pub cores: Vec<Row<Occupant>>,
    pub(in crate::analysis) contexts: Vec<Row<State>>,
    /// Jobs in order of their release.
    pub jobs: Vec<Job>,
    /// All missed deadlines, in the order of the events that report them.
    pub misses: Vec<Miss>,
    /// Mutexes and semaphores, in the order of the first request.
    pub locks: Vec<LockTrack>,
    /// Servers, in the order of [`Figures::servers`].
    pub servers: Vec<ServerTrack>,
    /// Events that are shown as single points, in order of time. In a trace without states, these
    /// are all events; a summary has [`Self::recorded`] instead.
    pub marks: Vec<Mark>,
    /// In a summary of a trace without states: the numbers of events of each context, in order of
    /// time. Empty for all other traces, and outside of summaries.
    pub recorded: Vec<Recorded>,
    /// Causes and effects, in the order of the effects.
    pub arrows: Vec<Arrow>,
    /// Levels of queues, pools and semaphores, in the order of
    /// [`machine_figures::Figures::levels`].
    pub levels: Vec<LevelTrack>,
    /// State machines, in the order of [`machine_figures::Figures::machines`].
    pub machines: Vec<MachineTrack>,
    /// The spans of instrumented programs, by thread and then by depth.
    pub spans: Vec<SpanTrack>,
    /// Priority inversions and missed deadlines, in the order of their ends.
    pub findings: Vec<Finding>,
    /// Gaps in order of time.
    pub gaps: Vec<Gap>,
    /// The reasons why contexts were blocked; [`State::Blocked`] contains an index into this list.
    pub reasons: Vec<Reason>,
    /// Number of entries beyond [`MAX_ENTRIES`], which the tracks do not contain.
    pub left_out: u64,
    /// The scheduling figures of the same trace.
    pub figures: Figures,
    /// The figures of machines, messages and levels of the same trace.
    pub machine_figures: machine_figures::Figures,
    pub(in crate::analysis) places: Places,
}

impl Tracks {
    /// Returns the contexts whose states are known, with their rows.
    pub fn contexts(&self) -> impl Iterator<Item = (ContextId, &Row<State>)> {
        let rows = (0..).map(ContextId).zip(&self.contexts);
        rows.filter(|(_, row)| !row.changes().is_empty())
    }

    /// Returns the states of a context; `None` if none is known.
    pub fn context(&self, context: ContextId) -> Option<&Row<State>> {
        self.contexts.get(context.index()).filter(|row| !row.changes().is_empty())
    }

    /// Returns the jobs in the order of their releases, for consumers that show one missed deadline
    /// of each job. For each further one, the job occurs again.
    pub(crate) fn jobs_with_each_miss(&self) -> Vec<Job> {
        let further = self.misses.iter().filter(|miss| miss.is_further).map(|miss| {
            let Miss { context, from, until, at, .. } = *miss;
            Job { context, from, until, missed: Some(at) }
        });
        let mut jobs: Vec<_> = self.jobs.iter().copied().chain(further).collect();
        jobs.sort_by_key(|job| job.from);
        jobs
    }

    /// Returns the reason why a context is blocked; `None` if it is not blocked.
    pub fn reason(&self, state: State) -> Option<&Reason> {
        let State::Blocked(index) = state else { return None };
        self.reasons.get(index as usize)
    }
}

/// An event that is shown as a single point, such as a mark of the application.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Mark {
    /// The event with its position in the trace.
    pub at: Position,
    /// The context that the event concerns.
    pub context: ContextId,
    /// The id of the event in the schema.
    pub id: u32,
}

/// Events that a context recorded within a short time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Recorded {
    /// The position of the first event of any context in this time.
    pub at: Position,
    /// The context that recorded the events.
    pub context: ContextId,
    /// Number of events.
    pub count: u64,
}

/// Kind of an arrow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ArrowKind {
    /// An arrow from the event that made a context ready, to the event that gave it the processor.
    WakeUp,
    /// An arrow from a waiting context to the context that holds the requested mutex.
    WaitsFor,
    /// An arrow from the event that sent a message, or put an item into a queue or a semaphore, to
    /// the event that took the message or item.
    Message,
}

/// A cause and its effect.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Arrow {
    /// The relation between cause and effect.
    pub kind: ArrowKind,
    /// Position of the cause.
    pub from: Position,
    /// The context that caused the effect; `None` for an interrupt.
    pub from_context: Option<ContextId>,
    /// Position of the effect.
    pub to: Position,
    /// The context that became ready, is waited for, or took the message.
    pub to_context: ContextId,
}

/// A time in which events are missing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Gap {
    /// The last event before the gap.
    pub from: Position,
    /// The first event after the gap; `None` if none followed.
    pub until: Option<Position>,
    /// Number of missing events, if it is known.
    pub events: Option<u64>,
    /// The reason why the events are missing; `None` if recording was switched off.
    pub cause: Option<LossCause>,
}
