//! The part of an event type that describes an instrumented program: the call site, the role in a
//! span, and the texts that share bytes. The spans themselves are in `model::program_spans`.

use std::fmt;

/// The level of an event. The most severe level comes first.
///
/// ```
/// use tracewell::model::schema::Level;
///
/// assert!(Level::Error < Level::Trace);
/// assert_eq!(Level::Warn.to_string(), "WARN");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Level {
    /// An error.
    Error,
    /// A warning.
    Warn,
    /// Information for users.
    Info,
    /// Information for developers.
    Debug,
    /// Details for developers.
    Trace,
}

impl Level {
    /// All levels, the most severe first.
    pub const ALL: [Self; 5] = [Self::Error, Self::Warn, Self::Info, Self::Debug, Self::Trace];

    /// Returns the level that has this name, in capital or small letters.
    ///
    /// ```
    /// use tracewell::model::schema::Level;
    ///
    /// assert_eq!((Level::named("Warn"), Level::named("fatal")), (Some(Level::Warn), None));
    /// ```
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|level| level.as_str().eq_ignore_ascii_case(name))
    }

    /// Returns the name in capital letters, as shown in outputs.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Error => "ERROR",
            Self::Warn => "WARN",
            Self::Info => "INFO",
            Self::Debug => "DEBUG",
            Self::Trace => "TRACE",
        }
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// A place in a program that records events or begins spans.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CallSite {
    /// The level of its events.
    pub level: Level,
    /// The part of the program, usually the path of a module, such as `app::net`.
    pub target: String,
    /// The name of the span or event, or the line in the source if an event has no name.
    pub name: String,
    /// For records that a bridge passes on from another logger, the index of the argument with the
    /// target. [`CallSite::target`] is then the same for all records of the bridge.
    pub forwarded: Option<usize>,
}

/// The role of an event in a span. Argument 0 of an event with a role is the number of the span.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SpanRole {
    /// The span begins. Argument 1 is the number of its parent span.
    Begins,
    /// The event occurs within the span. The number is 0 if the event happens outside of all spans.
    Inside,
    /// The program adds values to the span.
    Records,
    /// A thread enters the span.
    Enters,
    /// A thread leaves the span.
    Leaves,
    /// The span ends.
    Ends,
}

/// The part of an event type that describes an instrumented program. It is empty for events of
/// other systems.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Instrumentation {
    /// The call site that records the event.
    pub site: Option<CallSite>,
    /// The role of the event in a span.
    pub span: Option<SpanRole>,
    /// If several arguments are texts, the bytes of the last one can contain all of these texts.
    /// This field then contains the indices of the first and the last of these arguments.
    pub parts: Option<(usize, usize)>,
}
