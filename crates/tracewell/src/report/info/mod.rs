//! Summarises a trace: facts, clock, counts, contexts, objects, losses. Does not list single
//! events.

mod json;

use std::collections::HashMap;
use std::fmt::Write;
use std::ops::Range;

use super::document::Entries;
use super::key_text;
use crate::model::schema::EventType;
use crate::model::{Batch, Fact, FactForm, Flow, Object, Sink, Trace};
use foldhash::fast::RandomState;

use super::Layout;
use crate::text::calendar::Zone;
use crate::text::style::{HEADING, LOSS, of_context, styled};
use crate::text::{display_width, padded, plural};

pub use json::{
    CauseRow, ClockRow, ContextRow, DateRange, EventCount, FactValue, LossTotals, ObjectRow,
    Remark, Summary,
};

/// The version of the JSON document.
pub const SCHEMA: u32 = 1;

/// A sink that counts events per id and per context.
///
/// ```
/// use tracewell::report::info::Census;
///
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/threadx/tiny.trx");
/// let mut census = Census::default();
/// let trace = tracewell::open(path)?.read(&mut census)?;
/// let summary = census.summary(&trace);
/// assert_eq!((summary.format, summary.events), ("threadx", 197));
/// # Ok::<(), tracewell::input::InputError>(())
/// ```
#[derive(Debug, Default)]
pub struct Census {
    /// Ticks of the first and of the last counted event.
    ticks: Option<(u64, u64)>,
    by_context: Vec<u64>,
    /// Counts of the ids below [`LOW_IDS`].
    by_low_id: Vec<u64>,
    by_id: HashMap<u32, u64, RandomState>,
}

/// Ids below this number are counted without a hash table.
const LOW_IDS: usize = 1 << 10;

impl Sink for Census {
    fn events(&mut self, _: &Trace, batch: &Batch<'_>) -> Flow {
        let ticks = &batch.columns.ticks;
        if let (Some(first), Some(last)) = (ticks.first(), ticks.last()) {
            self.ticks = Some((self.ticks.map_or(*first, |(first, _)| first), *last));
        }
        for context in &batch.columns.context {
            if context.index() >= self.by_context.len() {
                self.by_context.resize(context.index() + 1, 0);
            }
            self.by_context[context.index()] += 1;
        }
        self.by_low_id.resize(LOW_IDS, 0);
        for id in &batch.columns.id {
            match self.by_low_id.get_mut(*id as usize) {
                Some(count) => *count += 1,
                None => *self.by_id.entry(*id).or_default() += 1,
            }
        }
        Flow::Continue(())
    }
}

impl Census {
    /// Returns the event ids and their counts, most events first.
    fn ids(&self) -> Vec<(u32, u64)> {
        let low = (0..).zip(self.by_low_id.iter().copied()).filter(|(_, count)| *count > 0);
        let high = self.by_id.iter().map(|(id, count)| (*id, *count));
        let mut ids: Vec<(u32, u64)> = low.chain(high).collect();
        // Sort equal counts by id, because a hash map has no order.
        ids.sort_by_key(|(id, count)| (std::cmp::Reverse(*count), *id));
        ids
    }

    /// Returns the first and the last tick of the trace. If only some events were counted,
    /// these are the ticks of the first and the last counted event.
    fn span(&self, trace: &Trace) -> Range<u64> {
        let (first, last) = self.ticks.unwrap_or_default();
        if self.events() == trace.events { 0..trace.span } else { first..last }
    }

    /// Returns the nanoseconds since 1970 of both ends of the span, if they are known.
    fn dates(&self, trace: &Trace) -> Option<Range<u64>> {
        let Range { start, end } = self.span(trace);
        self.ticks?;
        Some(trace.wall_clock_ns(start)?..trace.wall_clock_ns(end)?)
    }

    /// Returns the number of events that were counted.
    fn events(&self) -> u64 {
        self.by_context.iter().sum()
    }

    fn events_of(&self, index: usize) -> u64 {
        self.by_context.get(index).copied().unwrap_or(0)
    }

    /// Returns the summary for programs.
    pub fn summary<'a>(&self, trace: &'a Trace) -> Summary<'a> {
        let options = trace.facts.iter().map(|fact| (fact.name.to_owned(), FactValue::of(fact)));
        let counts = self.ids().into_iter().map(|(id, events)| EventCount::of(trace, id, events));
        let contexts = trace
            .contexts
            .iter()
            .map(|(id, context)| ContextRow::of(trace, context, self.events_of(id.index())));
        let span = self.span(trace);
        Summary {
            format: trace.format,
            options: Entries(options.collect()),
            clock: ClockRow::of(trace),
            events: self.events(),
            events_read: trace.events,
            span_ticks: span.end - span.start,
            span_ns: nanoseconds(trace, &span),
            dates: self.dates(trace).map(|range| DateRange::of(&range)),
            cpus: trace.cpus,
            event_counts: counts.collect(),
            contexts: contexts.collect(),
            objects: trace.objects.iter().map(|(_, object)| ObjectRow::of(trace, object)).collect(),
            losses: LossTotals::of(trace),
            diagnostics: Remark::all(trace),
        }
    }

    /// Returns the summary as text, with dates in a time zone.
    pub fn text(&self, trace: &Trace, layout: Layout, zone: &Zone) -> String {
        let mut text = String::new();
        // Writing to a string cannot fail.
        let _ = self.write_text(trace, layout, zone, &mut text);
        text
    }

    fn write_text(
        &self,
        trace: &Trace,
        layout: Layout,
        zone: &Zone,
        all: &mut String,
    ) -> std::fmt::Result {
        let out = &mut String::new();
        writeln!(out, "format    {}", trace.format)?;
        let longest = trace.facts.iter().map(|fact| fact.name.len()).max().unwrap_or(0);
        let width = longest.max(18) + 2;
        for fact in &trace.facts {
            writeln!(out, "          {:<width$}{}", fact.name, fact_text(fact))?;
        }
        writeln!(out, "clock     {}", super::heading_of_clock(trace))?;
        let (events, span) = (self.events(), self.span(trace));
        let time = nanoseconds(trace, &span);
        let time = time.map_or_else(String::new, |ns| format!(" ({} s)", super::seconds(ns)));
        let length = span.end - span.start;
        write!(out, "span      {} {}{time}", layout.count(length), plural(length, "tick"))?;
        let (selected, read) = (layout.count(events), layout.count(trace.events));
        match events == trace.events {
            true => writeln!(out, "\nevents    {read}")?,
            false => {
                let Range { start, end } = span;
                writeln!(out, ", from tick {start} to {end}")?;
                writeln!(out, "events    {selected} selected of {read} read")?;
            }
        }
        if let Some(Range { start, end }) = self.dates(trace) {
            writeln!(out, "dates     {} to {}", zone.date(start), zone.date(end))?;
        }
        let color = layout.color && trace.losses.iter().next().is_some();
        let lost = format!("lost      {}", super::lost(&trace.losses));
        writeln!(out, "{}", styled(&lost, LOSS, color))?;
        if trace.cpus > 1 {
            writeln!(out, "cores     {}", trace.cpus)?;
        }
        for remark in trace.diagnostics.iter() {
            writeln!(out, "{remark}")?;
        }
        // The tables below fit themselves to the screen, so fold only these lines.
        for line in out.lines() {
            writeln!(all, "{}", layout.fold(line, 10))?;
        }
        self.write_events(trace, layout, all)?;
        self.write_contexts(trace, layout, all)?;
        write_objects(trace, layout, all)
    }

    fn write_events(&self, trace: &Trace, layout: Layout, out: &mut String) -> std::fmt::Result {
        // Only instrumented programs have levels.
        let (level, width) = if trace.schema.has_call_sites() { ("LEVEL", 7) } else { ("", 0) };
        heading(out, layout, &format!("{:>9}  {:>5}  {level:<width$}EVENT", "COUNT", "ID"))?;
        for (id, count) in self.ids() {
            let EventType { label, instrumentation, .. } = trace.schema.event(id);
            let level = instrumentation.site.as_ref().map_or("", |site| site.level.as_str());
            let id = trace.schema.shown_id(id);
            let line = format!("{:>9}  {id:>5}  {level:<width$}{label}", layout.count(count));
            writeln!(out, "{}", layout.fold(&line, 18 + width))?;
        }
        Ok(())
    }

    fn write_contexts(&self, trace: &Trace, layout: Layout, out: &mut String) -> std::fmt::Result {
        let width = super::key_width(trace);
        let names = format!("{:>9}  {:<width$}  {:<15}CONTEXT", "EVENTS", "KEY", "KIND");
        heading(out, layout, &names)?;
        for (id, context) in trace.contexts.iter() {
            let events = layout.count(self.events_of(id.index()));
            let (key, kind, name) = (&context.key_text, context.kind.as_str(), &context.name);
            let name = styled(name, of_context(name), layout.color);
            let line = format!("{events:>9}  {key:<width$}  {kind:<15}{name}");
            writeln!(out, "{}", layout.fold(&line, width + 28))?;
        }
        Ok(())
    }
}

/// Returns the nanoseconds of an interval, or `None` if the clock's rate is unknown.
fn nanoseconds(trace: &Trace, interval: &Range<u64>) -> Option<u64> {
    let at = |ticks| trace.clock.nanoseconds(ticks);
    Some(at(interval.end)?.saturating_sub(at(interval.start)?))
}

/// Writes the names of columns after a blank line.
fn heading(out: &mut String, layout: Layout, names: &str) -> std::fmt::Result {
    writeln!(out, "\n{}", layout.fold(&styled(names, HEADING, layout.color), 4))
}

/// Width of the column of objects' names, in cells.
const OBJECT_WIDTH: usize = 32;

fn write_objects(trace: &Trace, layout: Layout, out: &mut String) -> std::fmt::Result {
    let digits = trace.payload.digits() + 2;
    let names = trace.objects.iter().map(|(_, object)| display_width(&object.label));
    // On a screen, the column is as wide as its names.
    let longest = names.max().unwrap_or(0).max("OBJECT".len());
    let width = if layout.width.is_some() { longest.min(OBJECT_WIDTH) } else { OBJECT_WIDTH };
    let names =
        format!("{:<digits$}  {:<6}{:<16}{:<width$}  PARAMETERS", "KEY", "ALIVE", "KIND", "OBJECT");
    heading(out, layout, &names)?;
    for (_, object) in trace.objects.iter() {
        let alive = match object.alive {
            Some(true) => "yes",
            Some(false) => "no",
            None => "?",
        };
        let mut details: Vec<_> =
            parameters(trace, object).map(|(name, value)| format!("{name}={value}")).collect();
        // The last column contains the properties that only some objects have.
        details.extend(object.priority.map(|priority| format!("priority={priority}")));
        let life = object.lifetime;
        details.extend(life.from.map(|ticks| format!("created={ticks}")));
        details.extend(life.until.map(|ticks| format!("deleted={ticks}")));
        let key = object_key_text(trace, object);
        let kind = kind_label(trace, object);
        let label = padded(&object.label, width);
        let line = format!("{key}  {alive:<6}{kind:<16}{label}  {}", details.join(" "));
        writeln!(out, "{}", layout.fold(line.trim_end(), digits + width + 26))?;
    }
    Ok(())
}

/// Returns the text of an object's key. Arguments that refer to the object show the same text.
fn object_key_text(trace: &Trace, object: &Object) -> String {
    // Some dialects use a separate range of keys for each kind, but arguments show the recorded
    // number.
    key_text(trace, object.key.wrapping_sub(trace.schema.key(Some(object.kind), 0)))
}

fn kind_label(trace: &Trace, object: &Object) -> String {
    let kind = trace.schema.object_kind(object.kind);
    kind.map_or_else(|| format!("type {}", object.kind), |kind| kind.label.clone())
}

/// Returns the parameters of an object. Unnamed parameters are identified by position, and omitted
/// if they are 0.
fn parameters<'a>(
    trace: &'a Trace,
    object: &'a Object,
) -> impl Iterator<Item = (String, String)> + 'a {
    let names = trace.schema.object_kind(object.kind).map(|kind| kind.parameters.as_slice());
    let names = names.unwrap_or_default();
    object.parameters.iter().enumerate().filter_map(move |(index, value)| {
        let name = match names.get(index) {
            Some(name) => name.clone(),
            // Unnamed parameters are reserved, and nearly always 0.
            None if *value == 0 => return None,
            None => format!("parameter{}", index + 1),
        };
        let is_address = name.ends_with("start");
        let value = if is_address { key_text(trace, *value) } else { value.to_string() };
        Some((name, value))
    })
}

fn fact_text(fact: &Fact) -> String {
    match fact.form {
        FactForm::Decimal => fact.value.to_string(),
        FactForm::Hexadecimal => format!("0x{:08X}", fact.value),
        FactForm::Text(text) => text.to_owned(),
    }
}
