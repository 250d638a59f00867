//! The states of contexts, cores and the spans of threads on their tracks.

use crate::model::{ContextId, MaybeContext, Meaning, Trace};

/// The state of a context.
///
/// ```
/// use tracewell::analysis::tracks::State;
///
/// assert_eq!(State::Blocked(0).name(), "blocked");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum State {
    /// The trace does not show the state, for example before the first mention of the context or
    /// after missing events.
    Unknown,
    /// It has the processor. The value is the context on whose behalf it runs: itself, or a
    /// context that waits for a resource of the running context.
    Running(MaybeContext),
    /// It has the processor, but an interrupt is being served.
    Interrupted,
    /// It could run, but another context took its processor.
    Preempted,
    /// It became ready, but does not have the processor yet.
    Ready,
    /// It waits. The number is the index of the reason in [`super::Tracks::reasons`].
    Blocked(u32),
    /// It sleeps for a time.
    Sleeping,
    /// Its job is done, and the next one has not been released.
    Done,
    /// It does not have the processor, and the trace does not show why.
    Off,
    /// It was deleted.
    Deleted,
}

impl State {
    /// Returns the word that the output shows.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Unknown => "unknown",
            Self::Running(_) => "running",
            Self::Interrupted => "interrupted",
            Self::Preempted => "preempted",
            Self::Ready => "ready",
            Self::Blocked(_) => "blocked",
            Self::Sleeping => "sleeping",
            Self::Done => "done",
            Self::Off => "off",
            Self::Deleted => "deleted",
        }
    }
}

/// The reason why a context is blocked.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Reason {
    /// The request of the context: [`Meaning::Lock`], [`Meaning::Wait`], [`Meaning::Receive`], …
    /// `None` if the trace does not show it. [`Meaning::Call`] if the trace shows only the call in
    /// which the context waits.
    pub request: Option<Meaning>,
    /// Key of the requested object. For a call, the id of the event that began the call.
    pub key: Option<u64>,
    /// Type code of the object.
    pub kind: Option<u32>,
    /// For a mutex: the context that held it when the wait began.
    pub holder: Option<ContextId>,
    /// The state code that the kernel recorded.
    pub code: Option<u64>,
}

/// The activity of a core.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Occupant {
    /// Unknown, for example after missing events.
    Unknown,
    /// An event has reported that no task is ready.
    Idle,
    /// A task is running, for itself or on behalf of another.
    Task {
        /// The task that runs.
        runs: ContextId,
        /// The task on whose behalf it runs.
        of: MaybeContext,
    },
    /// An interrupt is being served.
    Interrupt {
        /// Its number, if events contain it.
        number: Option<u32>,
        /// Number of interrupts that are being served; at least 1.
        depth: u16,
    },
}

/// A span that a thread entered.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct EnteredSpan {
    /// The number of the span in the trace.
    pub number: u64,
    /// The id of the event type with which the span began; `None` if the trace does not contain its
    /// beginning.
    pub begun_by: Option<u32>,
}

impl EnteredSpan {
    /// Returns the name of the span, or `?` if it is unknown.
    pub fn name<'a>(&self, trace: &'a Trace) -> &'a str {
        let kind = self.begun_by.map(|id| trace.schema.event(id));
        let site = kind.and_then(|kind| kind.instrumentation.site.as_ref());
        site.map_or("?", |site| site.name.as_str())
    }
}
