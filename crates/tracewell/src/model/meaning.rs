//! The meanings of events for scheduling. They are the same for all traced systems.
//!
//! Analyses use only meanings, so every analysis works for every dialect. Events that are unrelated
//! to scheduling have no meaning.

/// The meaning of an event for scheduling.
///
/// The *subject* is the context that the event concerns. The schema can specify an argument that
/// identifies it. By default, it is the context that recorded the event. The *object*, *next* and
/// *value* are arguments.
///
/// ```
/// use tracewell::model::Meaning;
///
/// let schema = tracewell::format::threadx::schema();
/// let means = schema.event(52).means.unwrap();
/// assert_eq!((means.meaning, means.object), (Meaning::Lock, Some(0)));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, serde::Deserialize, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Meaning {
    /// The subject is running from here on.
    Runs,
    /// The running context loses the processor. The scheduler has not chosen another context yet.
    Stops,
    /// The subject loses the processor. It stays ready, unless an earlier event shows that it
    /// blocks or sleeps.
    SwitchedOut,
    /// The scheduler found no context that is ready to run.
    Idle,
    /// The subject became ready to run.
    Ready,
    /// The subject stopped being ready; the value is the reason.
    Blocks,
    /// The subject's time slice expired.
    SliceExpired,
    /// The subject yielded to other contexts of the same priority.
    Yields,
    /// An interrupt service routine began; the value is its number.
    InterruptEnter,
    /// An interrupt service routine ended; the value is its number.
    InterruptExit,
    /// The subject requests exclusive ownership of the object. No event reports that the ownership
    /// was granted: the subject continues or blocks.
    Lock,
    /// The subject releases the object.
    Unlock,
    /// The subject waits for something from the object: a count, flags, a message or memory.
    Wait,
    /// The subject signals the object. Other contexts may be waiting for the object.
    Post,
    /// The subject puts a message into the object.
    Send,
    /// The subject puts a message at the front of the object.
    SendFirst,
    /// The subject requests a message from the object.
    Receive,
    /// The object rejected a message.
    Refuse,
    /// All messages of the object are discarded.
    Flush,
    /// The subject stores a message (the value) in the object to send it again later.
    Defer,
    /// A deferred message (the value) is sent to the object again.
    Recall,
    /// The subject requests memory from the object.
    Allocate,
    /// The subject returns memory to the object.
    Free,
    /// The object is created.
    Create,
    /// The object is deleted.
    Delete,
    /// The subject sleeps for a time (the value).
    Sleeps,
    /// The subject's priority is changed to the value.
    PriorityChange,
    /// The scheduler chose the subject. The *next* context runs on behalf of the subject. It is the
    /// subject itself, or the owner of the resource for which the subject waits.
    Schedule,
    /// The subject begins to run with the urgency of another context.
    Inherit,
    /// The system starts. All earlier activity has ended.
    Boot,
    /// The subject is already running when the trace begins.
    TraceStart,
    /// The trace ends. Later events are not recorded.
    TraceStop,
    /// The subject exists when the trace begins.
    Exists,
    /// A job of the subject was released, for example by a timer.
    Release,
    /// A job of the subject was requested. Its release may be a separate event.
    Activate,
    /// The subject's job completed.
    Complete,
    /// The subject's deadline passed before its job completed.
    DeadlineMissed,
    /// The subject's job exceeded its declared worst-case execution time.
    WcetExceeded,
    /// The budget of a server (the object) is exhausted.
    BudgetExhausted,
    /// The budget of a server (the object) was replenished.
    BudgetReplenished,
    /// A server (the object) takes over unused budget of other servers.
    BudgetReclaimed,
    /// A server (the object) used an amount (the value) of reclaimed budget.
    ReclaimedUsed,
    /// A server (the object) has work. The subject, if it is recorded, is the source of the work.
    ServerActive,
    /// A timer of the kernel was set.
    TimerSet,
    /// A timer of the kernel was cancelled.
    TimerCancelled,
    /// A state machine (the subject) entered a state (the value).
    StateEntered,
    /// A state machine (the subject) left a state (the value).
    StateLeft,
    /// A state machine (the subject) completed its step and is in a state (the value).
    StateReached,
    /// A state machine (the subject) passes a vertex (the value) on its way to another state.
    Vertex,
    /// A state machine (the subject) runs a function (the object); the value is the purpose of the
    /// function.
    Action,
    /// A state machine (the subject) changes from one state (the object) to another (the value).
    Transition,
    /// A state machine (the subject) receives an event (the value) and begins a step. The step ends
    /// with `Complete` or `Unhandled`.
    Dispatch,
    /// A state machine (the subject) did not handle its event.
    Unhandled,
    /// A timer (the object) starts for the subject; the value is the first delay.
    TimerStart,
    /// A timer (the object) was stopped.
    TimerStop,
    /// A timer (the object) expired.
    TimerExpired,
    /// An assertion of the program failed; the value is its location.
    AssertionFailed,
    /// The value is the largest number of used bytes in the subject's stack so far; 0 if it is
    /// unknown.
    StackUsed,
    /// The value is the smallest number of free bytes in the subject's stack so far.
    StackFree,
    /// The subject enters a system service, whose number is the value.
    Call,
    /// The subject returns from a system service, whose number is the value.
    Return,
    /// A mark of the application.
    Mark,
    /// The application recorded a number (the value).
    Value,
    /// A filter was set. If the value is 0, the filtered events are recorded again; otherwise they
    /// are no longer recorded.
    Hides,
    /// Events are missing from here on.
    Lost,
    /// Events are missing from an earlier point up to here.
    LostEnd,
}
