//! Converts records into events with contexts and arguments, and reports losses at their positions.

use std::collections::HashMap;

use foldhash::fast::RandomState;
use tracewell_wire::native::WORD;
use tracewell_wire::posix::log::LogRecord;
use tracewell_wire::posix::{
    ERROR, EventSet, FILTER, FLAG_SYSTEM, FLAG_TRUNCATED, OVERFLOW, START, STOP,
};

use super::fields::FieldValue;
use super::{fields, types};
use crate::format::order::Order;
use crate::model::schema::{ArgumentKind, EventType};
use crate::model::{
    Context, ContextId, ContextKind, Emitter, Flow, Lifetime, LossCause, NewEvent, Object, Trace,
    values::{self, put},
};
use crate::text::counted;

/// The possible reason why times decrease.
const SET_BACK: &str = "the system's clock was set";

/// Type code of threads in the schema.
const THREAD: u32 = 1;

/// Converts records to events, and counts the threads that recorded them.
#[derive(Debug, Default)]
pub(super) struct Rows {
    contexts: HashMap<(u32, u64), ContextId, RandomState>,
    /// For each process, the number of its threads that have recorded events so far.
    threads: HashMap<u32, u32, RandomState>,
    order: Order,
}

impl Rows {
    /// Adds a record at `offset` of the source; `bytes` is the whole record.
    pub(super) fn add(
        &mut self,
        record: &LogRecord<'_>,
        bytes: &[u8],
        offset: u64,
        out: &mut Emitter<'_>,
    ) -> Flow {
        let id = u32::from(record.head.id);
        // The recorder writes this system event only when the stream has room again, so the lost
        // events precede it.
        if id == OVERFLOW && record.head.flags & FLAG_SYSTEM != 0 {
            out.loss(None, LossCause::BufferFull, offset)?;
        }
        let ticks = out.ticks(record.stamp);
        self.order.watch(ticks, offset, out, SET_BACK);
        let context = self.context(record, out.trace);
        out.buffer.copies.extend_from_slice(bytes);
        arguments(record, out.trace, &mut out.buffer.payloads);
        out.copied(NewEvent::new(ticks, context, id), offset)
    }

    /// Adds the records of a block's body; the body begins at `offset` in the source.
    pub(super) fn add_all(&mut self, body: &[u8], offset: u64, out: &mut Emitter<'_>) -> Flow {
        let mut rest = body;
        while let Some((record, after)) = LogRecord::read(rest) {
            let at = offset + (body.len() - rest.len()) as u64;
            types::define_unnamed(out.trace, u32::from(record.head.id));
            let bytes = &rest[..rest.len() - after.len()];
            self.add(&record, bytes, at, out)?;
            rest = after;
        }
        if !rest.is_empty() {
            let at = offset + (body.len() - rest.len()) as u64;
            let message =
                format!("expected a record, found {}", counted(rest.len() as u64, "byte"));
            out.damage(message, (None, LossCause::Damaged), at)?;
        }
        Flow::Continue(())
    }

    fn context(&mut self, record: &LogRecord<'_>, trace: &mut Trace) -> ContextId {
        let system = record.head.flags & FLAG_SYSTEM != 0;
        // The stream itself records system events, so they have no thread.
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
            number => format!("process {process}/{number}"),
        };
        // Threads of different processes can have the same address. So the key consists of the
        // process and the thread's number within it.
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
}

/// Writes the arguments of a record as the schema describes them.
fn arguments(record: &LogRecord<'_>, trace: &Trace, row: &mut Vec<u8>) {
    let number = || record.data.first_chunk().map(|bytes| i64::from(i32::from_le_bytes(*bytes)));
    let set = |index: usize| {
        let words = record.data.get(index * EventSet::BYTES..)?.get(..EventSet::BYTES)?;
        let words = words.as_chunks().0;
        // The first word marks the data as a set of event types.
        let words = std::array::from_fn(|index| words.get(index + 1).map_or(0, le));
        Some(types::members(&EventSet::of_words(words), &trace.schema))
    };
    if record.head.flags & FLAG_SYSTEM == 0 {
        return user(record, trace.schema.event(u32::from(record.head.id)), row);
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

fn user(record: &LogRecord<'_>, event: &EventType, row: &mut Vec<u8>) {
    if fields::are_described(event) {
        return user_fields(record, event, row);
    }
    let cut = record.head.flags & FLAG_TRUNCATED != 0;
    let data = values::place((values::HEAD + 3 * WORD) as u32, record.data.len() as u32);
    put(row, 0b011 | u32::from(cut) << 2, &[data, record.address, 1], record.data);
}

/// Writes the fields that a user's schema file describes, and then the arguments that every user
/// event has.
#[cold]
fn user_fields(record: &LogRecord<'_>, event: &EventType, row: &mut Vec<u8>) {
    let mut slots = [0; values::MAX_SLOTS];
    let (mut present, mut count) = (0_u32, 0);
    let is_named = |index: usize| {
        event.args.get(index).is_none_or(|argument| argument.kind != ArgumentKind::Unnamed)
    };
    let described = fields::values(event, record.data).count().min(values::MAX_SLOTS);
    let slots_used = (described + 3).min(values::MAX_SLOTS);
    let start = (values::HEAD + slots_used * WORD) as u32;
    for field in fields::values(event, record.data).take(described) {
        // Fields without a name are padding.
        let field = field.filter(|_| is_named(count));
        slots[count] = match field {
            None => 0,
            Some(FieldValue::Number(number)) => number,
            Some(FieldValue::Bytes { offset, length }) => {
                values::place(start + offset as u32, length as u32)
            }
        };
        present |= u32::from(field.is_some()) << count;
        count += 1;
    }
    let cut = record.head.flags & FLAG_TRUNCATED != 0;
    let data = values::place(start, record.data.len() as u32);
    for (slot, value) in slots[count..].iter_mut().zip([data, record.address, 1]) {
        *slot = value;
    }
    for (number, is_present) in [is_named(count), is_named(count + 1), cut].into_iter().enumerate()
    {
        present |= u32::from(is_present).checked_shl((count + number) as u32).unwrap_or(0);
    }
    put(row, present, &slots[..slots_used], record.data);
}

/// Writes a row of strings. The slot of a missing string stays empty.
fn texts(row: &mut Vec<u8>, texts: &[Option<String>]) {
    let (mut present, mut slots, mut strings) = (0, Vec::new(), Vec::new());
    for (index, text) in texts.iter().enumerate() {
        let start = values::HEAD + texts.len() * WORD + strings.len();
        let text = text.as_ref().inspect(|_| present |= 1 << index).map_or("", String::as_str);
        slots.push(values::place(start as u32, text.len() as u32));
        strings.extend_from_slice(text.as_bytes());
    }
    put(row, present, &slots, &strings);
}
