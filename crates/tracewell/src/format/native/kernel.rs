//! Converts the records of a kernel or an executor to events. The kernel vocabulary determines the
//! contexts and meanings of these events.

use std::sync::Arc;

use tracewell_wire::native::kernel::{core_of, definition_of, event_of};
use tracewell_wire::native::{EventTypeText, WORD, word};
use tracewell_wire::target::definition::NAME;
use tracewell_wire::target::{Definition, DefinitionKind, ids};

use super::run::{HEAD, Record};
use crate::format::kernel::{Kernel, Place, Recorded, schema};
use crate::model::{
    Context, ContextId, ContextKind, Emitter, Fact, FactForm, Flow, LossCause, NewEvent, Processor,
    Trace,
};

/// Number that is added to the ids of the vocabulary. It is larger than the ids of a stream's own
/// event types.
const BASE: u32 = 0x1000;

/// An event type of a kernel.
#[derive(Debug)]
enum Known {
    /// The event with this id.
    Event(u8),
    /// Definitions of a task or object, one for each part of its name.
    Names(Vec<Definition>),
}

/// The events of a kernel in a stream.
#[derive(Debug, Default)]
pub(super) struct KernelEvents {
    kernel: Kernel,
    /// The event types of the kernel by their ids.
    types: Vec<Option<Known>>,
    /// The tasks and objects that have a name.
    named: Vec<(DefinitionKind, u32)>,
    /// The old and the new context of each thread that had a context before the kernel's first
    /// event type was known. The new context replaces the old one.
    replaced: Vec<(ContextId, ContextId)>,
}

impl KernelEvents {
    /// Adds an event type if it belongs to a kernel. Returns false for other event types.
    pub(super) fn define(&mut self, id: u16, text: &EventTypeText<'_>, trace: &mut Trace) -> bool {
        let known = if let Some(event) = event_of(text) {
            Known::Event(event.id)
        } else if let Some((first, name)) = definition_of(text) {
            Known::Names(parts(first, &name.collect::<Vec<_>>()))
        } else {
            return false;
        };
        if !self.are_recorded() {
            Arc::make_mut(&mut trace.schema).include(&schema(), BASE);
            trace.processor = Processor::Switches;
        }
        let index = usize::from(id);
        if index >= self.types.len() {
            self.types.resize_with(index + 1, || None);
        }
        // The first name of a task or object applies from the beginning of the trace, because the
        // record that assigned the name may have been overwritten.
        if let Known::Names(parts) = &known
            && let Some(first) = parts.first()
            && !self.named.contains(&(first.kind, first.number))
        {
            self.named.push((first.kind, first.number));
            apply(&mut self.kernel, parts, trace);
        }
        self.types[index] = Some(known);
        true
    }

    /// Returns true if the stream has event types of a kernel.
    pub(super) fn are_recorded(&self) -> bool {
        !self.types.is_empty()
    }

    /// Returns true if this is the id of an event type of a kernel.
    pub(super) fn has(&self, id: u16) -> bool {
        self.types.get(usize::from(id)).is_some_and(Option::is_some)
    }

    /// Returns the kind of thread contexts. If the stream also contains a kernel's events, threads
    /// are not tasks, because the trace does not show when threads run.
    pub(super) fn kind_of_threads(&self) -> ContextKind {
        if self.are_recorded() { ContextKind::Unknown } else { ContextKind::Thread }
    }

    /// Returns the context of a thread. If the stream also contains kernel events, this context is
    /// not a task.
    pub(super) fn outside(&mut self, thread: ContextId, trace: &mut Trace) -> ContextId {
        if !self.are_recorded() {
            return thread;
        }
        if let Some((_, new)) = self.replaced.iter().find(|(known, _)| *known == thread) {
            return *new;
        }
        let context = trace.contexts.get(thread).filter(|of| of.kind == ContextKind::Thread);
        let Some(context) = context.cloned() else { return thread };
        let kind = self.kind_of_threads();
        let new = trace.contexts.replace(Context { kind, ..context });
        self.replaced.push((thread, new));
        new
    }

    /// Handles missing events.
    pub(super) fn gap(&mut self) {
        self.kernel.gap_on_all_cores();
    }

    /// Delivers a record of a kernel event. `thread` is the context that wrote the record.
    pub(super) fn deliver(
        &mut self,
        record: Record,
        thread: ContextId,
        ticks: u64,
        out: &mut Emitter<'_>,
    ) -> Flow {
        let Some(Some(known)) = self.types.get(usize::from(record.id)) else {
            return Flow::Continue(());
        };
        let id = match known {
            Known::Event(id) => *id,
            Known::Names(parts) => {
                // The new names apply from here on, so first deliver the events before them.
                out.flush()?;
                apply(&mut self.kernel, parts, out.trace);
                return Flow::Continue(());
            }
        };
        // This event changes names too, so first deliver the events before it.
        if Kernel::renames(id) {
            out.flush()?;
        }
        let window = out.window;
        let payload = payload(record, window.bytes, window.offset);
        // Bits 6 and 7 of the id contain the number of words in the arguments: 0, 1 or 2. The value
        // 3 means that the arguments are a channel and a text. They begin with two words: the
        // channel and the length of the text.
        let count = usize::from(id >> 6).min(2);
        let mut fields = [0; 3];
        for (index, field) in fields.iter_mut().enumerate().take(1 + count) {
            let Some(value) = word(payload, index) else {
                let message = format!("expected {} fields, found {index}", 1 + count);
                return out.damage(message, (Some(1), LossCause::Damaged), record.start);
            };
            *field = value;
        }
        let [core, first, second] = fields;
        let core = core_of(core);
        let place = core.map_or(Place::Outside(thread), Place::Core);
        let event = Recorded { id, arguments: [first, second], place, ticks };
        let Some(row) = self.kernel.take(event, out.trace) else {
            return Flow::Continue(());
        };
        // In the payload, the text follows the field `core`.
        if id == ids::TEXT {
            out.buffer.payloads.extend_from_slice(payload.get(WORD..).unwrap_or_default());
        } else {
            let bytes = row.arguments().iter().flat_map(|argument| argument.to_le_bytes());
            out.buffer.payloads.extend(bytes);
        }
        let event = NewEvent {
            ticks,
            cpu: core.map_or(0, u16::from),
            context: row.context,
            id: BASE + row.id,
            priority: row.priority,
        };
        out.decoded(event, record.start..record.end)
    }

    /// Returns the counts that `info` shows.
    pub(super) fn facts(&self) -> impl Iterator<Item = Fact> {
        let counts = self.kernel.counts;
        let facts = [
            ("ready_again", counts.ready_again),
            ("unmatched_interrupt_exits", counts.unmatched_exits),
        ];
        let shown = self.are_recorded().then_some(facts).into_iter().flatten();
        shown.map(|(name, value)| Fact { name, value, form: FactForm::Decimal })
    }
}

/// Returns the bytes of a record after its head.
pub(super) fn payload(record: Record, window: &[u8], offset: u64) -> &[u8] {
    let start = (record.start.wrapping_sub(offset) as usize).saturating_add(HEAD as usize);
    let end = record.end.wrapping_sub(offset) as usize;
    window.get(start..end).unwrap_or_default()
}

/// Returns the entries of a definition: one for each part of the name.
fn parts(first: Definition, name: &[u8]) -> Vec<Definition> {
    let entry = Definition::new(first.kind, first.number, name);
    let mut parts = vec![Definition { name: entry.name, ..first }];
    parts.extend(name.chunks(NAME).enumerate().skip(1).map(|(part, text)| Definition {
        part: part as u8,
        ..Definition::new(first.kind, first.number, text)
    }));
    parts
}

fn apply(kernel: &mut Kernel, parts: &[Definition], trace: &mut Trace) {
    // The stream's header already contains the rate of the clock.
    kernel.names.rate = trace.clock.rate;
    parts.iter().for_each(|part| kernel.names.define(part, trace));
}
