//! The events of the page as columns. If the arguments of several events have the same text, this
//! text is stored once.

use std::collections::HashMap;

use foldhash::fast::RandomState;
use serde_json::{Value, json};

use super::columns::{Column, Columns};
use crate::model::schema::Schema;
use crate::model::{Arguments, Batch, ContextId, Event, Meaning, PerId, Priority, Trace};
use crate::text::{Describer, TextBuffer};

/// Maximum number of events in a page.
pub const MAX_EVENTS: u64 = 2_000_000;

/// Maximum total length of all distinct argument texts, in bytes.
pub const MAX_TEXT: usize = 256 << 20;

/// Error for a trace that is too large for a page.
#[derive(Debug, thiserror::Error)]
pub(super) enum TooLarge {
    #[error("a page has at most {MAX_EVENTS} events: select fewer with --from and --to")]
    Events,
    #[error(
        "a page has at most {MAX_TEXT} bytes of arguments: select fewer events with --from and --to"
    )]
    Text,
}

/// Collects events.
#[derive(Debug, Default)]
pub(super) struct Events {
    pub(super) count: u64,
    /// Ticks of the first and of the last event.
    pub(super) ticks: Option<(u64, u64)>,
    seq: Column,
    at: Column,
    cpu: Column,
    context: Column,
    kind: Column,
    args: Column,
    /// Event ids, in the order in which they first occur.
    ids: Vec<u32>,
    /// The index of each event id in `ids`.
    index_of: HashMap<u32, u64, RandomState>,
    /// The index of each argument text. The keys are the bytes as the describer wrote them, which
    /// need not be UTF-8.
    texts: HashMap<Vec<u8>, u64, RandomState>,
    lengths: Column,
    text: Vec<u8>,
    describer: Describer,
    buffer: TextBuffer,
    /// The first recorded priority of each context.
    priorities: Vec<Priority>,
    /// For each event id that blocks a context, the argument with the state code.
    blocks: PerId<Option<usize>>,
    /// Names of the state codes that the kernel recorded.
    pub(super) codes: HashMap<u64, String, RandomState>,
    /// The bits of those codes that are below 64 and known. Codes are usually small, so most
    /// look-ups need no hash table.
    known_codes: u64,
}

/// Returns the argument with the state code, if events of an id block a context.
fn state_code(schema: &Schema, id: u32) -> Option<usize> {
    let means = schema.event(id).means.filter(|means| means.meaning == Meaning::Blocks);
    means.and_then(|means| means.value)
}

impl Events {
    /// Creates a collection that behaves as if it had `count` events, with `text` bytes of argument
    /// texts.
    #[cfg(test)]
    pub(super) fn filled(count: u64, text: usize) -> Self {
        Self { count, text: vec![b' '; text], ..Self::default() }
    }

    /// Stores the first priority of each context, and the name of each state code with which an
    /// event blocks a context. Also call this for batches whose events the page does not list.
    pub(super) fn note(&mut self, trace: &Trace, batch: &Batch<'_>) {
        if self.priorities.len() < trace.contexts.len() {
            self.priorities.resize(trace.contexts.len(), Priority::NONE);
        }
        let pairs = || batch.columns.context.iter().zip(&batch.columns.priority);
        // Usually no event of a batch shows a new priority, so check the whole batch at once. A
        // branch for each event would often be mispredicted.
        let none = |context: &ContextId| {
            self.priorities.get(context.index()).is_some_and(|known| *known == Priority::NONE)
        };
        let is_new = |(context, priority): (&ContextId, &Priority)| {
            (*priority != Priority::NONE) & none(context)
        };
        if pairs().fold(false, |any, pair| any | is_new(pair)) {
            for (context, priority) in pairs() {
                let known = self.priorities.get_mut(context.index());
                if let Some(known) = known.filter(|known| **known == Priority::NONE) {
                    *known = *priority;
                }
            }
        }
        let arguments = Arguments::new(trace, batch);
        let mut blocks = self.blocks.of_schema(&trace.schema);
        for (row, id) in batch.columns.id.iter().enumerate() {
            let Some(argument) = *blocks.get(*id, state_code) else { continue };
            let Some(code) = arguments.get(row, argument) else { continue };
            let bit = if code < u64::from(u64::BITS) { 1 << code } else { 0 };
            if self.known_codes & bit != 0 {
                continue;
            }
            if self.codes.contains_key(&code) {
                self.known_codes |= bit;
                continue;
            }
            let Some(row) = batch.event(row) else { break };
            self.buffer.truncate(0);
            self.describer.put_value(&mut self.buffer, Event::new(trace, &row), argument);
            self.codes.insert(code, self.buffer.as_text().into_owned());
        }
    }

    /// Discards the list of events, but keeps the facts about contexts. [`Self::note`] still adds
    /// the facts of further events.
    pub(super) fn forget(&mut self) {
        let (priorities, codes) = (&mut self.priorities, &mut self.codes);
        let (priorities, codes) = (std::mem::take(priorities), std::mem::take(codes));
        *self = Self { priorities, codes, ..Self::default() };
    }

    /// Adds an event.
    pub(super) fn push(&mut self, event: Event<'_>) -> Result<(), TooLarge> {
        if self.count == MAX_EVENTS {
            return Err(TooLarge::Events);
        }
        self.count += 1;
        let ticks = event.ticks();
        self.ticks = Some((self.ticks.map_or(ticks, |(first, _)| first), ticks));
        self.seq.delta(event.seq());
        self.at.delta(ticks);
        self.cpu.number(u64::from(event.cpu()));
        self.context.number(u64::from(event.row.context.0));
        let kind = *self.index_of.entry(event.id()).or_insert_with(|| {
            self.ids.push(event.id());
            self.ids.len() as u64 - 1
        });
        self.kind.number(kind);
        self.buffer.truncate(0);
        self.describer.put(&mut self.buffer, event);
        // Most texts are known, so check whether a text is valid only when it is new.
        let index = match self.texts.get(self.buffer.as_bytes()) {
            Some(index) => *index,
            None => {
                let text = self.buffer.as_text();
                if self.text.len() + text.len() > MAX_TEXT {
                    return Err(TooLarge::Text);
                }
                let index = self.texts.len() as u64;
                self.text.extend_from_slice(text.as_bytes());
                self.lengths.number(text.len() as u64);
                self.texts.insert(self.buffer.as_bytes().to_vec(), index);
                index
            }
        };
        self.args.number(index);
        Ok(())
    }

    /// Returns the contexts for the header.
    pub(super) fn contexts(&self, trace: &Trace) -> Value {
        let row = |(id, context): (crate::model::ContextId, &crate::model::Context)| {
            let object = context.object.and_then(|object| trace.objects.get(object));
            let recorded = object.and_then(|object| object.priority);
            let seen = self.priorities.get(id.index()).and_then(|priority| priority.get());
            json!({
                "name": context.name,
                "key": context.key_text,
                "kind": context.kind.as_str(),
                "priority": recorded.or(seen),
            })
        };
        trace.contexts.iter().map(row).collect()
    }

    /// Adds the columns. Returns the event types for the header.
    pub(super) fn finish(self, trace: &Trace, columns: &mut Columns) -> Value {
        let kinds = self.kinds(trace);
        self.put(columns);
        kinds
    }

    /// Adds the columns.
    pub(super) fn put(self, columns: &mut Columns) {
        columns.deltas("event.seq", self.seq);
        columns.deltas("event.ticks", self.at);
        columns.numbers("event.cpu", self.cpu);
        columns.numbers("event.context", self.context);
        columns.numbers("event.kind", self.kind);
        columns.numbers("event.args", self.args);
        columns.numbers("text.length", self.lengths);
        columns.bytes("text.bytes", self.text);
    }

    fn kinds(&self, trace: &Trace) -> Value {
        let kind = |id: &u32| {
            let event = trace.schema.event(*id);
            let meaning = event.means.map(|means| format!("{:?}", means.meaning));
            let mut kind = json!({
                "id": id,
                "name": event.name,
                "label": trace.schema.label(*id),
                "means": meaning,
            });
            if let Some(site) = &event.instrumentation.site {
                kind["level"] = site.level.as_str().into();
                kind["target"] = site.target.as_str().into();
            }
            kind
        };
        self.ids.iter().map(kind).collect()
    }
}
