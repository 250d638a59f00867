//! Explains one response or wait of a task by the chain of contexts that ran, held an object or
//! woke another context. The parts are consecutive, so their times add up to the whole.
//!
//! | file | purpose |
//! |---|---|
//! | `question` | which response or wait to explain, and why there is no explanation |
//! | `intervals` | finds the responses and waits of a trace |
//! | `walk` | divides an interval into parts |
//!
//! All facts come from [`super::tracks`]. Each part shows the activity of the last context in its
//! chain. While a context waits for a mutex, the chain continues with the holder. While it waits
//! for something else, the chain continues with the context that wakes it. The holder or the waking
//! context may itself wait for another context, with which the chain then continues. If the last
//! context of a chain is ready, the part shows which context has the processor instead.
//!
//! ```
//! use tracewell::analysis::critical_path::{Explainer, Question};
//!
//! # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/scheduling.trx");
//! let mut explainer = Explainer::default();
//! let trace = tracewell::open(path)?.read(&mut explainer)?;
//! let path = explainer.explain(&trace, &"worst:control".parse::<Question>()?)?;
//! let parts: u64 = path.parts.iter().map(|part| part.ticks()).sum();
//! assert_eq!(parts, path.ticks());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod intervals;
mod question;
mod walk;

pub use question::{NoPath, Question, QuestionError};

use std::ops::Range;

use super::tracks::{Position, Reason, State, TrackBuilder, Tracks};
use crate::model::{Batch, ContextId, Flow, Loss, Processor, Sink, Trace};

/// Maximum number of listed parts.
pub const MAX_PARTS: usize = 1 << 16;

/// Maximum number of links of a chain. A longer chain is cut after this number of links; the
/// context at the cut counts as blocked.
pub const MAX_LINKS: usize = 16;

/// The explanation of a response or a wait.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CriticalPath {
    /// The task whose time is explained.
    pub context: ContextId,
    /// The kind of the explained time.
    pub kind: Explained,
    /// The event at which the response or wait began.
    pub from: Position,
    /// The event at which the response or wait ended.
    pub until: Position,
    /// The parts of the response or wait, in order of time, without gaps.
    pub parts: Vec<Part>,
    /// Number of parts beyond [`MAX_PARTS`], and their ticks.
    pub more: (u64, u64),
    /// The reasons why contexts were blocked. [`Link::reason`] and [`State::Blocked`] contain
    /// indices into this list.
    pub reasons: Vec<Reason>,
}

impl CriticalPath {
    /// Returns the length in ticks of the time that is explained.
    pub fn ticks(&self) -> u64 {
        self.until.ticks.saturating_sub(self.from.ticks)
    }
}

/// Kind of an explained time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Explained {
    /// The time from the release of a job to its completion.
    Response,
    /// A wait, which begins with the request or the loss of the processor, and ends when the task
    /// continues.
    Wait(Reason),
}

/// A part of an explained time.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Part {
    /// The event at which the part began.
    pub from: Position,
    /// The tick at which the part ended.
    pub until: u64,
    /// The contexts that wait for each other, beginning with the explained task; empty if the task
    /// itself does not wait.
    pub chain: Vec<Link>,
    /// The last context of the chain, or the task itself.
    pub context: ContextId,
    /// The activity of this context.
    pub activity: Activity,
}

impl Part {
    /// Returns the length of the part in ticks.
    pub fn ticks(&self) -> u64 {
        self.until.saturating_sub(self.from.ticks)
    }
}

/// A context that waits for another one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Link {
    /// The context that waits.
    pub context: ContextId,
    /// Index of the reason of the wait in [`CriticalPath::reasons`].
    pub reason: u32,
    /// The context that holds the object, or that wakes the waiting context.
    pub on: ContextId,
    /// The event with which context `on` wakes the waiting context; `None` if context `on` holds
    /// the object instead.
    pub woken: Option<Position>,
    /// The event at which `on` got the object; `None` if the trace does not show it.
    pub since: Option<Position>,
}

/// The activity of the last context of a chain.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Activity {
    /// It ran.
    Runs,
    /// It was ready or had the processor, but the core served an interrupt with this number.
    Interrupt(Option<u32>),
    /// It was ready, but this other context had the processor.
    Delayed(ContextId),
    /// It was ready, but the trace does not show any task or interrupt that ran instead.
    Ready,
    /// It waited for an interrupt with this number, which woke it.
    WokenByInterrupt(Option<u32>),
    /// It was in this state, and the trace does not show what ended the state.
    In(State),
}

/// A sink that explains a response or a wait; [`Explainer::explain`] returns the result.
#[derive(Debug)]
pub struct Explainer {
    builder: TrackBuilder,
    /// The range, in ticks, in which the longest response or wait must end.
    from: u64,
    until: Option<u64>,
    /// Number of the last event.
    last: Option<u64>,
}

impl Default for Explainer {
    fn default() -> Self {
        let builder = TrackBuilder::default().without_machines();
        Self { builder, from: 0, until: None, last: None }
    }
}

impl Explainer {
    /// Begins a range at a tick. A question about the longest response or wait considers only those
    /// that end in the range.
    pub fn begin(&mut self, from: u64) {
        self.from = from;
    }

    /// Ends the range before a tick; `None` is the end of the trace.
    pub fn end(&mut self, until: Option<u64>) {
        self.until = until;
    }

    /// Checks that a trace contains the task, the event or the time of a question. Call this after
    /// the last event of `trace`.
    ///
    /// # Errors
    /// Returns an error if the trace does not contain it, or if the question is a time and the
    /// trace's clock has no known rate.
    pub fn check(&self, trace: &Trace, question: &Question) -> Result<(), NoPath> {
        question.check(trace, self.last)
    }

    /// Returns the explanation. Call this after the last event of `trace`.
    ///
    /// # Errors
    /// Returns an error if the trace does not show which context is running, or does not contain
    /// the response or the wait.
    pub fn explain(self, trace: &Trace, question: &Question) -> Result<CriticalPath, NoPath> {
        self.check(trace, question)?;
        let tracks = self.builder.finish(trace);
        explain(trace, &tracks, question, self.from..self.until.unwrap_or(u64::MAX))
    }
}

/// Explains a response or a wait. `tracks` contains the tracks of the trace. If the question asks
/// for the longest response or wait of a task, only responses and waits that end within `range` (in
/// ticks) are candidates.
///
/// # Errors
/// Returns an error if the trace does not show which context is running, or does not contain the
/// response or the wait.
pub fn explain(
    trace: &Trace,
    tracks: &Tracks,
    question: &Question,
    range: Range<u64>,
) -> Result<CriticalPath, NoPath> {
    if let Processor::Recorders { needed } = trace.processor {
        return Err(NoPath::UnknownExecution { needed });
    }
    if tracks.left_out > 0 {
        return Err(NoPath::TooLong);
    }
    Ok(walk::explain(tracks, intervals::find(trace, tracks, question, &range)?))
}

impl Sink for Explainer {
    fn events(&mut self, trace: &Trace, batch: &Batch<'_>) -> Flow {
        if let Some(last) = batch.len().checked_sub(1).and_then(|row| batch.event(row)) {
            self.last = Some(last.seq);
        }
        self.builder.events(trace, batch)
    }

    fn loss(&mut self, trace: &Trace, loss: &Loss) -> Flow {
        self.builder.loss(trace, loss)
    }
}
