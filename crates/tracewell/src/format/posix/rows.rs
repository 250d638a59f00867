//! Records into batches: who recorded them, their arguments, losses in their places.

use std::collections::HashMap;

use foldhash::fast::RandomState;
use tracewell_wire::native::WORD;
use tracewell_wire::posix::log::LogRecord;
use tracewell_wire::posix::{
    ERROR, EventSet, FILTER, FLAG_SYSTEM, FLAG_TRUNCATED, OVERFLOW, START, STOP,
};

use super::types;
use crate::format::order::Order;
use crate::model::{
    Batch, Columns, Context, ContextId, ContextKind, Flow, Lifetime, Loss, LossCause, NO_PRIORITY,
    Object, Records, Severity, Sink, Span, Trace, values,
};

/// Events of a batch.
const BATCH: usize = 4096;
/// Bytes of records and of arguments of a batch, at most but for its last record.
const BYTES: usize = 1 << 20;

/// What may make time go back.
const SET_BACK: &str = "the system's clock was set";

/// The code of threads among the types of objects.
const THREAD: u32 = 1;

/// Gathers records and hands them on.
#[derive(Debug, Default)]
pub(super) struct Rows {
    columns: Columns,
    spans: Vec<Span>,
    records: Vec<u8>,
    arguments: Vec<u8>,
    /// Where each record is in the source.
    offsets: Vec<u64>,
    contexts: HashMap<(u32, u64), ContextId, RandomState>,
    /// Threads of each process so far.
    threads: HashMap<u32, u32, RandomState>,
    order: Order,
}

impl Rows {
    /// Adds a record that lies at `offset` of the source; `bytes` is the record itself.
    pub(super) fn add(
        &mut self,
        record: &LogRecord<'_>,
        bytes: &[u8],
        offset: u64,
        trace: &mut Trace,
        sink: &mut dyn Sink,
    ) -> Flow {
        if self.spans.len() >= BATCH || self.records.len().max(self.arguments.len()) >= BYTES {
            self.hand_over(trace, sink)?;
        }
        if u32::from(record.head.id) == OVERFLOW && record.head.flags & FLAG_SYSTEM != 0 {
            self.lost(None, LossCause::NoRoom, offset, trace, sink)?;
        }
        if trace.events == 0 && self.spans.is_empty() {
            trace.clock.first_stamp = record.stamp;
        }
        let ticks = record.stamp.saturating_sub(trace.clock.first_stamp);
        self.order.watch(&self.columns, ticks, offset, trace, SET_BACK);
        let context = self.context(record, trace);
        let start = self.records.len() as u32;
        self.records.extend_from_slice(bytes);
        let payload = self.arguments.len() as u32;
        arguments(record, trace, &mut self.arguments);
        self.spans.push(Span { start, payload, end: self.records.len() as u32 });
        self.offsets.push(offset);
        self.columns.ticks.push(ticks);
        self.columns.cpu.push(0);
        self.columns.context.push(context);
        self.columns.id.push(u32::from(record.head.id));
        self.columns.priority.push(NO_PRIORITY);
        Flow::Continue(())
    }

    /// Adds the records of a block's body, which lies at `offset` of the source.
    pub(super) fn add_all(
        &mut self,
        body: &[u8],
        offset: u64,
        trace: &mut Trace,
        sink: &mut dyn Sink,
    ) -> Flow {
        let mut rest = body;
        while let Some((record, after)) = LogRecord::read(rest) {
            let at = offset + (body.len() - rest.len()) as u64;
            types::define_unnamed(trace, u32::from(record.head.id));
            let bytes = &rest[..rest.len() - after.len()];
            self.add(&record, bytes, at, trace, sink)?;
            rest = after;
        }
        if !rest.is_empty() {
            let at = offset + (body.len() - rest.len()) as u64;
            let message = format!("expected a record, found {} bytes", rest.len());
            trace.diagnostics.add(Severity::Damage, at, message);
            self.lost(None, LossCause::Damaged, at, trace, sink)?;
        }
        Flow::Continue(())
    }

    fn context(&mut self, record: &LogRecord<'_>, trace: &mut Trace) -> ContextId {
        let system = record.head.flags & FLAG_SYSTEM != 0;
        let who = if system { (0, 0) } else { (record.head.process, record.thread) };
        if let Some(known) = self.contexts.get(&who) {
            return *known;
        }
        let context = match who {
            (0, 0) => Context {
                key: 0,
                key_text: "0".to_owned(),
                kind: ContextKind::System,
                name: "stream".to_owned(),
                object: None,
            },
            (process, thread) => self.thread(process, thread, trace),
        };
        let id = trace.contexts.add(context);
        self.contexts.insert(who, id);
        id
    }

    fn thread(&mut self, process: u32, thread: u64, trace: &mut Trace) -> Context {
        let number = self.threads.entry(process).or_default();
        *number += 1;
        let name = match *number {
            1 => format!("process {process}"),
            number => format!("process {process} thread {number}"),
        };
        // An address of a thread says nothing without its process.
        let key = u64::from(process) << 32 | u64::from(*number);
        let object = trace.objects.add(Object {
            key,
            kind: THREAD,
            name: Vec::new(),
            label: name.clone(),
            parameters: vec![u64::from(process)],
            priority: None,
            alive: None,
            lifetime: Lifetime::default(),
            record: Vec::new(),
        });
        let key_text = format!("{process}:0x{thread:X}");
        Context { key, key_text, kind: ContextKind::Thread, name, object: Some(object) }
    }

    /// Hands the rows to the sink.
    pub(super) fn hand_over(&mut self, trace: &mut Trace, sink: &mut dyn Sink) -> Flow {
        if self.spans.is_empty() {
            return Flow::Continue(());
        }
        let records = Records::decoded(&self.records, 0, &self.spans, &self.arguments);
        let records = records.from_places(&self.offsets);
        let batch = Batch { first: trace.events, columns: &self.columns, records };
        trace.events += self.spans.len() as u64;
        trace.span = self.columns.ticks.iter().copied().fold(trace.span, u64::max);
        let flow = sink.events(trace, &batch);
        self.spans.clear();
        self.offsets.clear();
        self.records.clear();
        self.arguments.clear();
        self.columns.resize(0);
        flow
    }

    /// Tells of events that are missing before the next one.
    pub(super) fn lost(
        &mut self,
        events: Option<u64>,
        cause: LossCause,
        offset: u64,
        trace: &mut Trace,
        sink: &mut dyn Sink,
    ) -> Flow {
        self.hand_over(trace, sink)?;
        let loss = Loss { before: trace.events, events, cause, offset };
        trace.losses.add(&loss);
        sink.loss(trace, &loss)
    }
}

/// The arguments of a record, as the schema has them.
fn arguments(record: &LogRecord<'_>, trace: &Trace, row: &mut Vec<u8>) {
    let number = || record.data.first_chunk().map(|bytes| i64::from(i32::from_le_bytes(*bytes)));
    let set = |index: usize| {
        let words = record.data.get(index * EventSet::BYTES..)?.get(..EventSet::BYTES)?;
        let words = words.as_chunks().0;
        // The first word marks a set.
        let words = std::array::from_fn(|index| words.get(index + 1).map_or(0, le));
        Some(types::members(&EventSet::of_words(words), &trace.schema))
    };
    if record.head.flags & FLAG_SYSTEM == 0 {
        return user(record, row);
    }
    match u32::from(record.head.id) {
        ERROR | STOP => match number() {
            Some(number) => put(row, 0b1, &[number.cast_unsigned()], &[]),
            None => put(row, 0, &[0], &[]),
        },
        START => texts(row, &[set(0)]),
        FILTER => texts(row, &[set(0), set(1)]),
        _ => put(row, 0, &[], &[]),
    }
}

fn le(bytes: &[u8; WORD]) -> u64 {
    u64::from_le_bytes(*bytes)
}

fn user(record: &LogRecord<'_>, row: &mut Vec<u8>) {
    let cut = record.head.flags & FLAG_TRUNCATED != 0;
    let data = values::place((values::HEAD + 3 * WORD) as u32, record.data.len() as u32);
    put(row, 0b011 | u32::from(cut) << 2, &[data, record.address, 1], record.data);
}

/// A row of texts; those that are missing have an empty slot.
fn texts(row: &mut Vec<u8>, texts: &[Option<String>]) {
    let (mut present, mut slots, mut behind) = (0, Vec::new(), Vec::new());
    for (index, text) in texts.iter().enumerate() {
        let start = values::HEAD + texts.len() * WORD + behind.len();
        let text = text.as_ref().inspect(|_| present |= 1 << index).map_or("", String::as_str);
        slots.push(values::place(start as u32, text.len() as u32));
        behind.extend_from_slice(text.as_bytes());
    }
    put(row, present, &slots, &behind);
}

fn put(row: &mut Vec<u8>, present: u32, slots: &[u64], behind: &[u8]) {
    row.extend(values::head(present, slots.len() as u32).to_le_bytes());
    row.extend(slots.iter().flat_map(|slot| slot.to_le_bytes()));
    row.extend_from_slice(behind);
    row.resize(row.len().next_multiple_of(WORD), 0);
}
