//! The explanation of a response or a wait as JSON.

use serde::Serialize;

use super::{happened, inherits, object, reason, sums};
use crate::analysis::critical_path::{Activity, CriticalPath, Explained, Link, Part};
use crate::model::Trace;
use crate::report::key_text;
use crate::report::scheduling::json_parts::{key_of, name_of};

/// The explanation of a response or a wait. The times of its parts add up to the whole.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PathRow<'a> {
    /// Key of the task's context.
    pub context: Option<&'a str>,
    /// Name of the task.
    pub name: Option<&'a str>,
    /// The kind of the explained time: `response` or `wait`.
    pub kind: &'static str,
    /// The object for which the task waited, with its kind.
    pub object: Option<String>,
    /// Ticks of the beginning.
    pub from_ticks: u64,
    /// Number of the event at which it began.
    pub from_event: u64,
    /// Ticks of the end.
    pub until_ticks: u64,
    /// Number of the event at which it ended.
    pub until_event: u64,
    /// Length of the explained time in ticks.
    pub ticks: u64,
    /// The total time of each activity, the largest first.
    pub sums: Vec<SumRow>,
    /// The parts in order of time.
    pub parts: Vec<PartRow<'a>>,
    /// Number of parts that are not in the list.
    pub more_parts: u64,
    /// Ticks of the parts that are not in the list.
    pub more_ticks: u64,
}

impl<'a> PathRow<'a> {
    pub(in crate::report) fn of(trace: &'a Trace, path: &CriticalPath) -> Self {
        let (kind, asked) = match path.kind {
            Explained::Response => ("response", None),
            Explained::Wait(reason) => ("wait", object(trace, &reason)),
        };
        let sums = sums(trace, path).into_iter().map(|(what, ticks)| SumRow { what, ticks });
        let parts = path.parts.iter().map(|part| PartRow::of(trace, path, part));
        Self {
            context: key_of(trace, path.context),
            name: name_of(trace, path.context),
            kind,
            object: asked,
            from_ticks: path.from.ticks,
            from_event: path.from.seq,
            until_ticks: path.until.ticks,
            until_event: path.until.seq,
            ticks: path.ticks(),
            sums: sums.collect(),
            parts: parts.collect(),
            more_parts: path.more.0,
            more_ticks: path.more.1,
        }
    }
}

/// The total time of one activity.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SumRow {
    /// The activity as text.
    pub what: String,
    /// Its time in ticks.
    pub ticks: u64,
}

/// A part of an explained time.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PartRow<'a> {
    /// Ticks of its beginning.
    pub from_ticks: u64,
    /// Number of the event at which it began.
    pub event: u64,
    /// Its length in ticks.
    pub ticks: u64,
    /// The chain of waits, beginning with the task. Each link names a context and the context for
    /// which it waits. Empty if the task does not wait.
    pub chain: Vec<LinkRow<'a>>,
    /// Key of the context at the end of the chain, or of the task if the chain is empty.
    pub context: Option<&'a str>,
    /// Name of this context.
    pub name: Option<&'a str>,
    /// The activity of this context: `runs`; `interrupt` while an interrupt is served; `delayed`
    /// if it is ready and another context runs; `woken by interrupt` if it waits for an interrupt;
    /// or the name of its state.
    pub activity: &'static str,
    /// For `delayed`: the context that ran instead.
    pub by: Option<&'a str>,
    /// Number of the interrupt.
    pub interrupt: Option<u32>,
    /// The activity as text.
    pub what: String,
}

impl<'a> PartRow<'a> {
    fn of(trace: &'a Trace, path: &CriticalPath, part: &Part) -> Self {
        let (activity, by, interrupt) = match part.activity {
            Activity::Runs => ("runs", None, None),
            Activity::Interrupt(number) => ("interrupt", None, number),
            Activity::Delayed(by) => ("delayed", name_of(trace, by), None),
            Activity::Ready => ("ready", None, None),
            Activity::WokenByInterrupt(number) => ("woken by interrupt", None, number),
            Activity::In(state) => (state.name(), None, None),
        };
        Self {
            from_ticks: part.from.ticks,
            event: part.from.seq,
            ticks: part.ticks(),
            chain: part.chain.iter().map(|link| LinkRow::of(trace, path, link)).collect(),
            context: key_of(trace, part.context),
            name: name_of(trace, part.context),
            activity,
            by,
            interrupt,
            what: happened(trace, path, part.context, part.activity),
        }
    }
}

/// A context that waits for another context.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LinkRow<'a> {
    /// Name of the context that waits.
    pub name: Option<&'a str>,
    /// The object for which it waits, with its kind.
    pub object: Option<String>,
    /// Key of the object.
    pub key: Option<String>,
    /// Name of the context that holds the object, or that wakes the waiting context.
    pub on: Option<&'a str>,
    /// Number of the event that wakes the waiting context; null if `on` holds the object.
    pub woken_event: Option<u64>,
    /// Number of the event at which `on` got the object; null if the trace does not show it.
    pub since_event: Option<u64>,
    /// Ticks of this event.
    pub since_ticks: Option<u64>,
    /// True if the object is a mutex with priority inheritance; null if the trace does not show it.
    pub inherits: Option<bool>,
}

impl<'a> LinkRow<'a> {
    fn of(trace: &'a Trace, path: &CriticalPath, link: &Link) -> Self {
        let reason = reason(path, link.reason);
        Self {
            name: name_of(trace, link.context),
            object: reason.and_then(|reason| object(trace, reason)),
            key: reason.and_then(|reason| reason.key).map(|key| key_text(trace, key)),
            on: name_of(trace, link.on),
            woken_event: link.woken.map(|woken| woken.seq),
            since_event: link.since.map(|since| since.seq),
            since_ticks: link.since.map(|since| since.ticks),
            inherits: reason.zip(link.since).and_then(|(of, at)| inherits(trace, of, at.ticks)),
        }
    }
}
