//! JSON types that several figures use: durations, contexts with their ticks, and the parts of a
//! wait.

use serde::Serialize;

use crate::analysis::Range;
use crate::analysis::scheduling::Split;
use crate::model::{ContextId, Trace};

/// Count, minimum, mean and maximum of durations.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Durations {
    /// Number of durations, at least 1.
    pub count: u64,
    /// The shortest in ticks.
    pub min_ticks: u64,
    /// The mean in ticks, rounded down.
    pub mean_ticks: u64,
    /// The longest in ticks.
    pub max_ticks: u64,
}

impl Durations {
    /// Returns the durations, or `None` if there are none.
    pub(super) fn of(range: Range) -> Option<Self> {
        (range.count > 0).then(|| Self {
            count: range.count,
            min_ticks: range.min,
            mean_ticks: range.mean(),
            max_ticks: range.max,
        })
    }
}

/// The parts of waiting times.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SplitRow {
    /// Ticks in which the waiting task itself executed.
    pub own_ticks: u64,
    /// Ticks in which others executed on its behalf, because they held what it was waiting for.
    pub blocking_ticks: u64,
    /// Ticks in which others executed, but not on its behalf.
    pub interference_ticks: u64,
    /// Ticks for which interrupts executed during these waits.
    pub interrupt_ticks: u64,
    /// Ticks in which no task executed, or in which the executing task is unknown.
    pub unattributed_ticks: u64,
}

impl From<Split> for SplitRow {
    fn from(spent: Split) -> Self {
        Self {
            own_ticks: spent.own,
            blocking_ticks: spent.blocking,
            interference_ticks: spent.interference,
            interrupt_ticks: spent.interrupts,
            unattributed_ticks: spent.unattributed,
        }
    }
}

/// A context, and the ticks for which it executed.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ContextTicks<'a> {
    /// Its key, as in the contexts of `info` and in events.
    pub context: Option<&'a str>,
    /// Name of the context.
    pub name: Option<&'a str>,
    /// Ticks for which the context executed.
    pub ticks: u64,
}

impl<'a> ContextTicks<'a> {
    pub(super) fn of(trace: &'a Trace, context: ContextId, ticks: u64) -> Self {
        Self { context: key_of(trace, context), name: name_of(trace, context), ticks }
    }
}

pub(in crate::report) fn name_of(trace: &Trace, context: ContextId) -> Option<&str> {
    trace.contexts.get(context).map(|context| context.name.as_str())
}

pub(in crate::report) fn key_of(trace: &Trace, context: ContextId) -> Option<&str> {
    trace.contexts.get(context).map(|context| context.key_text.as_str())
}
