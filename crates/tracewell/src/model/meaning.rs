//! The shared vocabulary: what an event asserts about scheduling, whatever system recorded it.
//!
//! Analyses and the timeline use meanings only, so each works for every dialect. An event that says
//! nothing about scheduling has no meaning here, which does not make it less of an event.

/// What an event asserts. "Subject" is the context it is about: the recording one unless the
/// schema names an argument; "object" and "next" are arguments, too.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Meaning {
    /// The subject is running from here on.
    Runs,
    /// The subject became ready to run.
    Ready,
    /// The subject stopped being ready; the value says why.
    Blocks,
    /// The subject's time slice expired.
    SliceExpired,
    /// The subject gave way to others of its priority.
    Yields,
    /// An interrupt service routine began; the value is its number.
    InterruptEnter,
    /// An interrupt service routine ended; the value is its number.
    InterruptExit,
    /// The subject asks for exclusive ownership of the object. That it got it is said by no event:
    /// it goes on, or blocks.
    Lock,
    /// The subject gives up ownership of the object.
    Unlock,
    /// The subject waits for the object: a count, flags, a message, memory.
    Wait,
    /// The subject makes available what others wait for at the object.
    Post,
    /// The subject puts a message into the object.
    Send,
    /// The subject puts a message into the object, before all that are there.
    SendFirst,
    /// The subject asks for a message from the object.
    Receive,
    /// The object could not take a message that was offered.
    Refuse,
    /// All messages of the object are thrown away.
    Flush,
    /// The subject puts a message, the value, aside in the object, to be sent again later.
    Defer,
    /// A message, the value, that was put aside is sent again to the object.
    Recall,
    /// The subject asks for memory from the object.
    Allocate,
    /// The subject gives memory back to the object.
    Free,
    /// The object begins to live.
    Create,
    /// The object ceases to live.
    Delete,
    /// The subject sleeps for a time, the value.
    Sleeps,
    /// The subject's priority is changed to the value.
    PriorityChange,
    /// The scheduler chose the subject; the next context runs on its behalf: the subject itself, or
    /// who holds what it waits for.
    Schedule,
    /// The subject runs with the urgency of another.
    Inherit,
    /// The system starts: what was going on before has ended.
    Boot,
    /// The trace begins while the subject runs.
    TraceStart,
    /// The trace ends.
    TraceStop,
    /// The subject exists.
    Exists,
    /// A job of the subject was released: its period or its event has come.
    Release,
    /// A job of the subject was asked for. A release of the same job may be told beside it.
    Activate,
    /// The subject's job is done.
    Complete,
    /// The subject's deadline passed before its job was done.
    DeadlineMissed,
    /// The subject's job took longer than it was said to at most.
    WcetExceeded,
    /// The budget of the object, a server, is used up.
    BudgetExhausted,
    /// The object, a server, has its budget again.
    BudgetReplenished,
    /// The object, a server, takes over budget that others leave.
    BudgetReclaimed,
    /// The object, a server, used reclaimed budget, the value.
    ReclaimedUsed,
    /// The object, a server, has something to serve: the subject, where it is told.
    ServerActive,
    /// A timer of the kernel was set.
    TimerSet,
    /// A timer of the kernel was cancelled.
    TimerCancelled,
    /// The subject, a state machine, entered a state, the value.
    StateEntered,
    /// The subject, a state machine, left a state, the value.
    StateLeft,
    /// The subject, a state machine, is in a state, the value, when its step is done.
    StateReached,
    /// The subject, a state machine, comes through a vertex, the value, on its way to another state.
    Vertex,
    /// A function, the object, of the subject, a state machine, runs; the value says what for.
    Action,
    /// The subject, a state machine, changes from one state, the object, to another, the value.
    Transition,
    /// An event, the value, is handed to the subject, a state machine: its step begins, to end with
    /// `Complete` or `Unhandled`.
    Dispatch,
    /// The subject, a state machine, did not take the event it was handed.
    Unhandled,
    /// A timer, the object, begins to count for the subject; the value is the first delay.
    TimerStart,
    /// A timer, the object, stops counting.
    TimerStop,
    /// A timer, the object, has run out.
    TimerExpired,
    /// A condition that the program takes for granted does not hold; the value is the place.
    AssertionFailed,
    /// The subject enters a service of the system, the value.
    Call,
    /// The subject comes back from a service of the system, the value.
    Return,
    /// A mark of the application.
    Mark,
    /// A number of the application, the value.
    Value,
    /// Events of a kind are recorded no more, or again where the value is 0: a filter was set.
    Hides,
    /// Events are missing from here on.
    Lost,
    /// Events are missing up to here.
    LostEnd,
}
