//! Questions that select the response or wait to explain, and errors for questions without an
//! answer.

use std::str::FromStr;

use super::super::tracks::MAX_ENTRIES;
use crate::model::{Context, NoDates, Trace, did_you_mean, nearest, some_of};
use crate::select::Bound;

/// The response or wait to explain.
///
/// ```
/// use tracewell::analysis::critical_path::Question;
/// use tracewell::select::Bound;
///
/// assert_eq!("836".parse(), Ok(Question::Event(836)));
/// assert_eq!("1.5ms".parse(), Ok(Question::Time(Bound::Nanoseconds(1_500_000))));
/// assert_eq!("tick:20".parse(), Ok(Question::Time(Bound::Ticks(20))));
/// assert_eq!("worst:control".parse(), Ok(Question::Worst("control".to_owned())));
/// assert!("control".parse::<Question>().is_err());
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Question {
    /// The longest response or wait that ends with the event of this number. If no response or wait
    /// ends with this event, the question selects the longest one that begins with it. If none ends
    /// or begins with this event, the question selects the shortest response or wait that contains
    /// it.
    Event(u64),
    /// The shortest response or wait that contains this time.
    Time(Bound),
    /// The longest response of the task that has this name, or whose context has this key. If the
    /// task has no responses, the question selects its longest wait for a mutex. If the task never
    /// waited for a mutex, the question selects its longest wait.
    Worst(String),
}

impl Question {
    /// Checks that a trace contains the task, the event or the time of the question. `last` is the
    /// number of the trace's last event; `None` if the trace has no events.
    ///
    /// # Errors
    /// Returns an error if the trace does not contain it, or if the question is a time and the
    /// trace's clock has no known rate.
    pub fn check(&self, trace: &Trace, last: Option<u64>) -> Result<(), NoPath> {
        match self {
            Self::Event(seq) if last.is_none_or(|last| *seq > last) => {
                Err(NoPath::NoSuchEvent { seq: *seq, last: last_event(last) })
            }
            Self::Event(_) => Ok(()),
            Self::Time(time) => Self::tick(trace, *time).map(|_| ()),
            Self::Worst(name) => {
                if trace.contexts.iter().any(|(_, context)| is_meant(name, context)) {
                    return Ok(());
                }
                let names = || trace.contexts.iter().map(|(_, context)| context.name.as_str());
                let hint = match nearest(name, names()) {
                    None if names().next().is_some() => {
                        format!("; the trace has {}", some_of(names()))
                    }
                    meant => did_you_mean(meant),
                };
                Err(NoPath::UnknownTask { name: name.clone(), hint })
            }
        }
    }

    /// Returns the first tick at or after a time. Fails if the trace ends before this time or has
    /// no clock for it.
    pub(super) fn tick(trace: &Trace, time: Bound) -> Result<u64, NoPath> {
        match time {
            Bound::Nanoseconds(_) if trace.clock.rate.is_none() => return Err(NoPath::NoRate),
            Bound::WallClock(_) => trace.check_dates()?,
            _ => {}
        }
        let (mut from, mut until) = (0, trace.span);
        if time.is_after(trace, until) {
            let end = match (time, trace.clock.nanoseconds(until)) {
                (Bound::Nanoseconds(_), Some(ns)) => Bound::Nanoseconds(ns),
                _ => Bound::Ticks(until),
            };
            return Err(NoPath::AfterTheEnd { time: time.spoken(), end: end.spoken() });
        }
        // Times increase with ticks, so divide the range in half until one tick is left.
        while from < until {
            let middle = from + (until - from) / 2;
            match time.is_after(trace, middle) {
                true => from = middle + 1,
                false => until = middle,
            }
        }
        Ok(from)
    }
}

/// Returns a clause about the last event of a trace.
fn last_event(last: Option<u64>) -> String {
    last.map_or_else(|| "it has none".to_owned(), |last| format!("the last event is {last}"))
}

/// Returns true if a word is the name or the key of a context.
pub(super) fn is_meant(name: &str, context: &Context) -> bool {
    context.name == name || context.key_text == name
}

/// Error for text that is not a valid [`Question`].
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "expected the number of an event such as 836, a time such as 1.5ms or tick:12345, or a task \
     such as worst:control, found '{found}'"
)]
pub struct QuestionError {
    found: String,
}

impl FromStr for Question {
    type Err = QuestionError;

    fn from_str(text: &str) -> Result<Self, QuestionError> {
        let error = || QuestionError { found: text.to_owned() };
        if let Some(task) = text.strip_prefix("worst:") {
            return (!task.is_empty()).then(|| Self::Worst(task.to_owned())).ok_or_else(error);
        }
        // A number alone is the number of an event. A time has a unit or a prefix.
        match text.parse().map_err(|_| error())? {
            Bound::Ticks(number) if !text.starts_with("tick:") => Ok(Self::Event(number)),
            time => Ok(Self::Time(time)),
        }
    }
}

/// Error for a question without an answer.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum NoPath {
    /// The trace does not show when tasks get and lose the processor.
    #[error(
        "execution is unknown: events say who recorded them, not when tasks get and lose the \
         processor (that needs {needed})"
    )]
    UnknownExecution {
        /// The events that the trace would have to contain.
        needed: &'static str,
    },
    /// No task has the name.
    #[error("no task '{name}'{hint}")]
    UnknownTask {
        /// The name that the user typed.
        name: String,
        /// A suggestion, or an empty text.
        hint: String,
    },
    /// The task did not wait, and it has no job that was released and completed.
    #[error("the trace shows no completed job and no completed wait of task '{name}'")]
    NothingOfTask {
        /// The name that the user typed.
        name: String,
    },
    /// The event or the time is not within any response or wait.
    #[error("no completed job or wait contains this event or time")]
    NothingThere,
    /// The trace has no event of this number.
    #[error("the trace has no event {seq}: {last}")]
    NoSuchEvent {
        /// The number that the user typed.
        seq: u64,
        /// A clause about the last event.
        last: String,
    },
    /// The trace ends before the time.
    #[error("the trace ends at {end}, before {time}")]
    AfterTheEnd {
        /// The time that the user typed.
        time: String,
        /// The end of the trace.
        end: String,
    },
    /// The question is a time, but the trace's clock has no known rate.
    #[error(
        "times need a clock of known rate: give tick:N, or the rate with -O rate=TICKS_PER_SECOND"
    )]
    NoRate,
    /// The question is a date, but the dates of events are not known.
    #[error(transparent)]
    NoDates(#[from] NoDates),
    /// The tracks of the trace exceed their maximum size.
    #[error("the trace has more than {MAX_ENTRIES} changes of states")]
    TooLong,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Clock, PayloadLayout};

    #[test]
    fn the_event_of_a_question_is_in_the_trace() {
        let payload = PayloadLayout::Values { digits: 8 };
        let schema = crate::format::threadx::schema();
        let trace = Trace::new("threadx", schema, payload, Clock::of_64_bits(None));
        let error = |last| Question::Event(7).check(&trace, last).err().map(|e| e.to_string());
        assert_eq!([error(Some(7)), error(Some(8))], [None, None]);
        assert!(error(Some(6)).unwrap().ends_with("the last event is 6"));
        assert!(error(None).unwrap().ends_with("it has none"));
    }
}
