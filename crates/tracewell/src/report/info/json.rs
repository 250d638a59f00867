//! The summary of a trace as JSON.

use std::ops::Range;

use serde::Serialize;

use super::{kind_label, object_key_text};
use crate::model::{Context, Fact, FactForm, Object, Trace};
use crate::report::document::Entries;
use crate::text::calendar::Zone;

/// The summary of a trace.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Summary<'a> {
    /// Name of the format.
    pub format: &'a str,
    /// Properties of the source; addresses and masks are strings with `0x`.
    pub options: Entries<FactValue>,
    /// The clock of the trace.
    pub clock: ClockRow,
    /// Number of events that the options select. Only these events are counted.
    pub events: u64,
    /// Number of events that were read.
    pub events_read: u64,
    /// Ticks from the first to the last counted event.
    pub span_ticks: u64,
    /// Nanoseconds from the first to the last counted event; null if the clock's rate is unknown.
    pub span_ns: Option<u64>,
    /// The dates of the first and the last counted event; null if the trace has no wall clock.
    pub dates: Option<DateRange>,
    /// Number of cores: the highest core number plus one.
    pub cpus: u16,
    /// Number of events of each event id, the most frequent first.
    pub event_counts: Vec<EventCount<'a>>,
    /// The contexts of the trace.
    pub contexts: Vec<ContextRow<'a>>,
    /// The objects of the trace.
    pub objects: Vec<ObjectRow<'a>>,
    /// The losses of the trace.
    pub losses: LossTotals,
    /// Remarks of the decoder.
    pub diagnostics: Vec<Remark>,
}

/// The dates of two events, in UTC with nine decimals, such as `2026-03-02T09:00:00.000000000Z`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DateRange {
    /// The date of the first event.
    pub first: String,
    /// The date of the last event.
    pub last: String,
}

impl DateRange {
    pub(super) fn of(ns: &Range<u64>) -> Self {
        let utc = Zone::utc();
        Self { first: utc.date(ns.start), last: utc.date(ns.end) }
    }
}

/// A property of the source.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum FactValue {
    /// A number.
    Number(u64),
    /// A text, or a number in hexadecimal with `0x`.
    Text(String),
}

impl FactValue {
    pub(super) fn of(fact: &Fact) -> Self {
        match fact.form {
            FactForm::Decimal => Self::Number(fact.value),
            FactForm::Hexadecimal | FactForm::Text(_) => Self::Text(super::fact_text(fact)),
        }
    }
}

/// The clock of a trace.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ClockRow {
    /// Ticks per second as a ratio of two numbers; null if the rate is unknown.
    pub ticks_per_second: Option<(u64, u64)>,
    /// The direction in which the counter counts: `up` or `down`.
    pub direction: String,
    /// The valid bits of a timestamp, as a hexadecimal mask.
    pub mask: String,
    /// The last timestamp before the counter wraps.
    pub last: u64,
    /// The timestamp of the first event.
    pub first_stamp: u64,
}

impl ClockRow {
    pub(super) fn of(trace: &Trace) -> Self {
        let clock = &trace.clock;
        Self {
            ticks_per_second: clock.rate.map(|rate| rate.ratio()),
            direction: clock.counter.direction.to_string(),
            mask: format!("0x{:08X}", clock.counter.mask),
            last: clock.counter.last,
            first_stamp: clock.first_stamp,
        }
    }
}

/// Number of events of an event id.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EventCount<'a> {
    /// The event id, as recorded in the trace.
    pub id: u32,
    /// Name of the event.
    pub name: &'a str,
    /// The level, if a call site of an instrumented program recorded the events.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub level: Option<&'a str>,
    /// The target of the call site, which names a part of the program.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<&'a str>,
    /// Number of events that have this id.
    pub events: u64,
}

impl<'a> EventCount<'a> {
    pub(super) fn of(trace: &'a Trace, id: u32, events: u64) -> Self {
        let event = trace.schema.event(id);
        let site = event.instrumentation.site.as_ref();
        let (level, target) = (site.map(|s| s.level.as_str()), site.map(|s| s.target.as_str()));
        Self { id, name: &event.name, level, target, events }
    }
}

/// A context: a thread, task, process or interrupt.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ContextRow<'a> {
    /// Its key, which the events' field `context` contains.
    pub key: &'a str,
    /// Name of the context.
    pub name: &'a str,
    /// Kind of the context.
    pub kind: &'a str,
    /// Number of events that it recorded.
    pub events: u64,
    /// Its priority, if the trace has an object for it.
    pub priority: Option<u16>,
}

impl<'a> ContextRow<'a> {
    pub(super) fn of(trace: &'a Trace, context: &'a Context, events: u64) -> Self {
        let object = context.object.and_then(|id| trace.objects.get(id));
        Self {
            key: &context.key_text,
            name: &context.name,
            kind: context.kind.as_str(),
            events,
            priority: object.and_then(|object| object.priority),
        }
    }
}

/// An object that events act on.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ObjectRow<'a> {
    /// Its key, as events show it in their arguments.
    pub key: String,
    /// Label of its kind.
    pub kind: String,
    /// Code of its kind.
    pub r#type: u32,
    /// Name of the object.
    pub name: &'a str,
    /// Its parameters by name.
    pub parameters: Entries<u64>,
    /// Its priority, if it has one.
    pub priority: Option<u16>,
    /// True if it existed when the trace ended; null if that is unknown.
    pub alive: Option<bool>,
    /// Ticks of its creation.
    pub created_ticks: Option<u64>,
    /// Ticks of its deletion.
    pub deleted_ticks: Option<u64>,
}

impl<'a> ObjectRow<'a> {
    pub(super) fn of(trace: &'a Trace, object: &'a Object) -> Self {
        let kind = trace.schema.object_kind(object.kind);
        let names = kind.map(|kind| kind.parameters.as_slice()).unwrap_or_default();
        let parameter = |(index, value): (usize, &u64)| {
            let unnamed = || format!("parameter{}", index + 1);
            (names.get(index).cloned().unwrap_or_else(unnamed), *value)
        };
        Self {
            key: object_key_text(trace, object),
            kind: kind_label(trace, object),
            r#type: object.kind,
            name: &object.label,
            parameters: Entries(object.parameters.iter().enumerate().map(parameter).collect()),
            priority: object.priority,
            alive: object.alive,
            created_ticks: object.lifetime.from,
            deleted_ticks: object.lifetime.until,
        }
    }
}

/// The losses of a trace.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LossTotals {
    /// Number of missing events; null if it is unknown.
    pub events: Option<u64>,
    /// Number of damaged records.
    pub damaged: u64,
    /// The losses of each cause.
    pub by_cause: Entries<CauseRow>,
}

/// The losses of one cause.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CauseRow {
    /// Number of places at which events are missing for this cause.
    pub gaps: u64,
    /// Number of missing events; null if it is unknown.
    pub events: Option<u64>,
}

impl LossTotals {
    pub(super) fn of(trace: &Trace) -> Self {
        let losses = &trace.losses;
        let by_cause = losses.iter().map(|(cause, count)| {
            // If the size of any gap is unknown, the total is unknown, too.
            let events = (count.unknown == 0).then_some(count.events);
            (cause.as_str().to_owned(), CauseRow { gaps: count.gaps, events })
        });
        let by_cause = Entries(by_cause.collect());
        Self { events: losses.events(), damaged: losses.damaged(), by_cause }
    }
}

/// A remark of the decoder.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Remark {
    /// `note`, `hint`, `warning` or `damaged`.
    pub severity: &'static str,
    /// Offset in bytes, if the remark is about one position.
    pub offset: Option<u64>,
    /// The remark in words.
    pub message: String,
}

impl Remark {
    pub(super) fn all(trace: &Trace) -> Vec<Self> {
        let remarks = trace.diagnostics.iter().map(|remark| Self {
            severity: remark.severity.as_str(),
            offset: remark.offset,
            message: remark.message_with_file(),
        });
        let more = trace.diagnostics.more();
        let rest = (more > 0).then(|| Self {
            severity: "note",
            offset: None,
            message: format!("{more} more remarks"),
        });
        remarks.chain(rest).collect()
    }
}
