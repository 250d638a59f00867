//! Writes the lines of events whose arguments are numbers. This module keeps some parts of lines as
//! text. For each context, it keeps the core, key and priority. For each event id, it keeps the
//! number, the name, and the names and values of the arguments. `row` writes all other lines. It
//! can write any line, but it is slower than this module.

use std::io::Write;

use super::escape::escape_from;
use super::keys::{Absent, Keys};
use super::plan::{ContextPlan, EventPlan, argument_plan, context_plan, event_plan};
use super::values::{Prefix, put_key};
use super::{EventFormat, EventWriter};
use crate::model::{
    ContextDetail, Event, Flow, MAX_NUMBERS, NumberRow, NumberRows, PayloadLayout, Priority, Trace,
};
use crate::text::{
    IncrementalRight, KeptTexts, KeyText, LineDescriber, MAX_KEPT_IDS, MAX_LINE, PerEvent,
    Reservation, TextBuffer, WideText, put_unkept,
};

/// The kept parts of lines, except the parts for contexts.
#[derive(Debug)]
pub(super) struct KeptLines {
    keys: LineKeys,
    seq: IncrementalRight<2>,
    events: KeptEvents,
    /// The cached texts of the preemption threshold and of the interrupted thread.
    details: [KeptTexts; 2],
    describer: LineDescriber,
    /// The texts are valid for payloads with this layout.
    layout: Option<PayloadLayout>,
    text: TextBuffer,
}

/// The separators and keys of a line.
#[derive(Debug)]
struct LineKeys {
    seq: KeyText,
    ticks: KeyText,
    time_ns: KeyText,
    /// The key of the decoded arguments, in JSON.
    text: Option<KeyText>,
    end: KeyText,
    absent: Absent,
}

/// The kept parts of event ids.
#[derive(Debug, Default)]
struct KeptEvents {
    /// The parts of each event id; `None` if the lines of this id are composed differently.
    by_id: PerEvent<Option<KeptEvent>>,
    /// Number of ids with kept texts.
    kept: usize,
}

/// The kept parts of an event id.
#[derive(Debug)]
struct KeptEvent {
    head: WideText,
    arguments: Vec<(KeptTexts, Prefix)>,
}

/// Maximum length of a line in bytes. A line consists of keys, numbers, the texts of context and
/// event id, and the arguments. It can contain the arguments twice.
const MAX_LENGTH: usize = 8 * Reservation::NUMBER + 4 * WideText::MAX_LEN + ARGUMENTS;
const ARGUMENTS: usize = 2 * MAX_NUMBERS * WideText::MAX_LEN;
const _: () = assert!(MAX_LENGTH <= MAX_LINE);

impl KeptLines {
    pub(super) fn new(format: EventFormat, keys: &Keys) -> Self {
        let escape: fn(&mut TextBuffer) = |text| escape_from(EventFormat::JsonLines, text, 0);
        Self {
            keys: LineKeys::of(format, keys),
            seq: IncrementalRight::new(0),
            events: KeptEvents::default(),
            details: Default::default(),
            describer: LineDescriber::new(escape),
            layout: None,
            text: TextBuffer::default(),
        }
    }

    /// Discards texts that may no longer be valid for a batch.
    fn begin(&mut self, rows: &NumberRows<'_>) {
        self.describer.begin(rows);
        if self.layout.replace(rows.trace().payload) != Some(rows.trace().payload) {
            self.events = KeptEvents::default();
            self.details.iter_mut().for_each(KeptTexts::forget);
        }
    }
}

impl KeptEvents {
    /// Prepares the kept parts for an event id. Stores `None` if `row` must write its lines, or if
    /// too many ids already have kept parts.
    #[cold]
    fn prepare(&mut self, format: EventFormat, plan: &EventPlan, rows: &NumberRows<'_>, id: u32) {
        let Self { by_id, kept } = self;
        let make = || {
            let has_span = rows.trace().schema.event(id).instrumentation.span.is_some();
            if *kept >= MAX_KEPT_IDS || plan.more_than_digits || has_span {
                return None;
            }
            // The named arguments come first. The schema has no names for the other words.
            let unnamed = plan.args.len()..rows.count();
            let unnamed = unnamed.map(|index| argument_plan(format, index, None, false));
            let prefixes = plan.args.iter().cloned().chain(unnamed);
            let digits = rows.trace().payload.digits();
            let texts = |prefix: &Prefix| KeptTexts::of(prefix.number_form(format, digits));
            let arguments: Vec<_> = prefixes.map(|prefix| (texts(&prefix), prefix)).collect();
            let head = WideText::new(&plan.head.bytes())?;
            *kept += 1;
            (arguments.len() == rows.count()).then_some(KeptEvent { head, arguments })
        };
        by_id.get(id, make);
    }
}

impl LineKeys {
    fn of(format: EventFormat, keys: &Keys) -> Self {
        let key =
            |text: &[u8]| KeyText::new(text).unwrap_or_else(|| unreachable!("all keys are short"));
        let is_json = format == EventFormat::JsonLines;
        Self {
            seq: key(&keys.seq.bytes()),
            ticks: key(&keys.ticks.bytes()),
            time_ns: key(&keys.time_ns.bytes()),
            text: is_json.then(|| key(&keys.text.bytes())),
            end: key(&[keys.end.bytes().as_slice(), b"\n"].concat()),
            absent: keys.absent,
        }
    }
}

impl<W: Write> EventWriter<W> {
    /// Returns true if the lines of all events have the usual parts.
    pub(super) fn has_usual_lines(&self) -> bool {
        let is_usual = self.cells.is_none() || self.format == EventFormat::JsonLines;
        is_usual && self.form.is_none() && !self.decoded && self.lines.is_whole()
    }

    /// Writes the lines of a batch.
    pub(super) fn kept_lines(&mut self, rows: &NumberRows<'_>) -> Flow {
        let (trace, format) = (rows.trace(), self.format);
        self.kept.begin(rows);
        trace.contexts.update(&mut self.contexts, &mut self.seen_contexts, |id, _| {
            context_plan(format, trace, id)
        });
        for row in rows.iter() {
            if self.kept_line(rows, row) {
                self.lines.after_line()?;
            } else if let Some(event) = rows.event(row.row) {
                self.line(Event::new(trace, &event))?;
            }
        }
        Flow::Continue(())
    }

    /// Writes the line of an event. Returns false and writes nothing if the caller must call `line`
    /// instead.
    #[inline(always)]
    fn kept_line(&mut self, rows: &NumberRows<'_>, row: NumberRow<'_>) -> bool {
        let Some(numbers) = rows.numbers(&row) else { return false };
        let KeptLines { keys, seq, events, details, describer, text, .. } = &mut self.kept;
        let format = self.format;
        let Some(context) = self.contexts.get_mut(row.context.index()) else { return false };
        if context.kept_for != Some((row.cpu, row.priority)) {
            keep_context(text, &self.keys, context, (row.cpu, row.priority));
        }
        let Some(context) = &context.kept else { return false };
        let trace = rows.trace();
        let Some(Some(event)) = events.by_id.find_mut(row.id) else {
            let plan = self.events.get(row.id, || event_plan(format, trace, row.id));
            events.prepare(format, plan, rows, row.id);
            return false;
        };
        let mut line = self.lines.buffer().window();
        line.key(&keys.seq);
        seq.put(&mut line, rows.seq(&row));
        line.key(&keys.ticks);
        self.ticks.put_line(&mut line, row.ticks);
        match trace.clock.nanoseconds(row.ticks) {
            Some(time) => {
                line.key(&keys.time_ns);
                self.time.put_line(&mut line, time);
            }
            None if keys.absent == Absent::Empty => line.key(&keys.time_ns),
            None => {}
        }
        line.wide(context);
        line.wide(&event.head);
        for ((texts, prefix), number) in event.arguments.iter_mut().zip(&numbers) {
            if !texts.put(&mut line, *number) {
                keep_argument(text, (prefix, texts), (format, trace), *number);
                if !put_unkept(&mut line, text) {
                    return false;
                }
            }
        }
        if let Some(detail) = row.detail {
            let (place, number) = match detail {
                ContextDetail::PreemptionThreshold(threshold) => (0, u64::from(threshold)),
                ContextDetail::Interrupted(key) => (1, key),
            };
            let texts = &mut details[place];
            if !texts.put(&mut line, number) {
                keep_argument(text, (&self.details[place], texts), (format, trace), number);
                if !put_unkept(&mut line, text) {
                    return false;
                }
            }
        }
        if let Some(key) = &keys.text {
            line.key(key);
            if !describer.put(&mut line, &mut self.describer, rows, &row, &numbers) {
                return false;
            }
        }
        line.key(&keys.end);
        line.done();
        true
    }
}

/// Formats and stores the text of core, context and priority.
#[cold]
fn keep_context(
    text: &mut TextBuffer,
    keys: &Keys,
    context: &mut ContextPlan,
    (cpu, priority): (u16, Priority),
) {
    text.truncate(0);
    text.literal(&keys.cpu);
    text.decimal(u64::from(cpu));
    text.literal(&context.text);
    match priority.get() {
        Some(priority) => {
            text.literal(&keys.priority);
            text.decimal(u64::from(priority));
        }
        None if keys.absent == Absent::Empty => text.literal(&keys.priority),
        None => {}
    }
    context.kept_for = Some((cpu, priority));
    context.kept = WideText::new(text.as_bytes());
}

/// Formats and stores the text of an argument.
#[inline(never)]
fn keep_argument(
    text: &mut TextBuffer,
    (prefix, texts): (&Prefix, &mut KeptTexts),
    (format, trace): (EventFormat, &Trace),
    number: u64,
) {
    text.truncate(0);
    let room = text.room(prefix.text.len() + Reservation::NUMBER + 1).literal(&prefix.text);
    if prefix.is_key {
        put_key(room, format, number, trace.payload.digits()).done();
    } else {
        room.decimal(number).done();
    }
    texts.keep(number, text);
}
