//! Writes a ThreadX dump (`.trx`) from any trace that has what one needs.
//!
//! The input is read twice: its registry, which comes first in a dump, is complete only after the
//! last event. Events lie oldest first; where the source had overwritten older ones, its newest
//! event is put into slot 0, so that the dump still says that it wrapped. Otherwise the last slot is unused, which says
//! that nothing was overwritten.
//!
//! A ThreadX source keeps its words: only byte order and width change. From another dialect, a
//! context becomes a thread address, an interrupt or initialization; the first four arguments
//! become the information words; ticks become stamps of the source's counter, cut to 32 bits.

use std::io::{self, Write};

use tracewell_wire::ByteOrder;
use tracewell_wire::threadx::{
    Event, Header, Layout, PriorityWord, RegistrySlot, Width, context, ids,
};

use super::{Export, ExportError, ExportNames};
use crate::format::{OptionError, OptionHelp, Options, threadx};
use crate::input::Input;
use crate::model::{
    Batch, ContextKind, Counter, EventRef, Flow, Loss, LossCause, Object, Sink, Trace,
};

/// The export's entry in the list.
pub static EXPORT: Export = Export {
    name: "threadx",
    description: "ThreadX event trace buffer, as TraceX reads it",
    extension: Some("trx"),
    options: &[
        OptionHelp {
            key: "order",
            value: "little|big",
            help: "byte order (that of the source, or little)",
        },
        OptionHelp {
            key: "ulong",
            value: "32|64",
            help: "bits of a word (those of the source, or 32); TraceX reads 32 only",
        },
    ],
    write,
};

/// Where a dump claims to have lain when its source says nothing.
const BASE: u64 = 0x2000_0000;

fn write(
    input: &mut Input,
    options: &Options,
    _: &ExportNames,
    out: &mut dyn Write,
) -> Result<Trace, ExportError> {
    options.check(EXPORT.options)?;
    input.load()?;
    let mut survey = Survey::default();
    let trace = input.read(&mut survey)?;
    if let Some(message) = survey.refused {
        return Err(ExportError::NotPossible(message));
    }
    let target = Target::new(&trace, options)?;
    let slots = target.registry(&trace)?;
    let mut writer = EventSlots { target, out, error: None, skip: None, written: 0 };
    let head = writer.target.head(&trace, &survey, &slots);
    let written = writer.out.write_all(&head);
    written.map_err(ExportError::Write)?;
    if survey.wrapped()
        && let Some(newest) = survey.newest
    {
        writer.put(&newest);
        writer.skip = Some(survey.events - 1);
    }
    input.read(&mut writer)?;
    if !survey.wrapped() {
        writer.put(&Event::UNUSED);
    }
    match writer.error {
        Some(error) => Err(ExportError::Write(error)),
        None => Ok(trace),
    }
}

/// What has to be known before the first byte.
#[derive(Debug, Default)]
struct Survey {
    events: u64,
    newest: Option<Event>,
    overwritten: bool,
    refused: Option<String>,
}

impl Survey {
    /// Whether the dump has to say that older events were overwritten.
    fn wrapped(&self) -> bool {
        self.overwritten && self.events > 0
    }
}

impl Sink for Survey {
    fn events(&mut self, trace: &Trace, batch: &Batch<'_>) -> Flow {
        let source = Source::of(trace);
        for event in batch.events() {
            match source.event(trace, &event) {
                Ok(event) => self.newest = Some(event),
                Err(message) => {
                    self.refused = Some(format!("event {}: {message}", event.seq));
                    return Flow::Break(());
                }
            }
        }
        self.events += batch.len() as u64;
        Flow::Continue(())
    }

    fn loss(&mut self, _: &Trace, loss: &Loss) -> Flow {
        self.overwritten |= loss.cause == LossCause::Overwritten;
        Flow::Continue(())
    }
}

/// How the words of the source are read.
#[derive(Clone, Copy, Debug)]
enum Source {
    /// The records are event slots of this layout.
    Threadx(Layout),
    /// Another dialect: stamps are made with this counter.
    Other(Counter),
}

impl Source {
    fn of(trace: &Trace) -> Self {
        if trace.format != threadx::FORMAT.name {
            let mask = trace.clock.counter.mask & u64::from(u32::MAX);
            return Self::Other(Counter::of_mask(mask, trace.clock.counter.direction));
        }
        Self::Threadx(threadx::layout(trace))
    }

    fn event(self, trace: &Trace, event: &EventRef<'_>) -> Result<Event, String> {
        match self {
            Self::Threadx(layout) => Event::read(layout, event.record)
                .ok_or_else(|| "the record is not a whole event slot".to_owned()),
            Self::Other(counter) => other_event(trace, event, counter),
        }
    }
}

/// The event slot for an event of another dialect.
fn other_event(trace: &Trace, event: &EventRef<'_>, counter: Counter) -> Result<Event, String> {
    let id = u16::try_from(event.id)
        .map_err(|_| format!("a ThreadX event id has 16 bits, found {}", event.id))?;
    let core = u8::try_from(event.cpu)
        .map_err(|_| format!("a ThreadX core number has 8 bits, found {}", event.cpu))?;
    let found = trace.contexts.get(event.context);
    let (context, priority_word) = match found.map(|context| (context.kind, context.key)) {
        None => return Err("the event has no context".to_owned()),
        Some((ContextKind::Interrupt, _)) => (context::INTERRUPT, 0),
        Some((ContextKind::Initialization | ContextKind::Unknown | ContextKind::System, _)) => {
            (context::INITIALIZATION, 0)
        }
        Some((ContextKind::Thread, context::UNUSED)) => {
            return Err("a thread with key 0 would mark its slot as unused".to_owned());
        }
        Some((ContextKind::Thread, key)) => {
            let priority = event.priority.unwrap_or(0).min(0x3FF);
            (key, PriorityWord::of_thread(priority, priority))
        }
    };
    let argument = |index| trace.payload.argument(event.payload, index).unwrap_or(0);
    Ok(Event {
        context,
        priority_word,
        id_word: (u64::from(core) << 24) | u64::from(id),
        stamp: counter.stamp_after(trace.clock.first_stamp, event.ticks),
        info: [0, 1, 2, 3].map(argument),
    })
}

/// What the dump is to look like.
#[derive(Clone, Copy, Debug)]
struct Target {
    layout: Layout,
    source: Source,
}

impl Target {
    fn new(trace: &Trace, options: &Options) -> Result<Self, ExportError> {
        let source = Source::of(trace);
        let from = match source {
            Source::Threadx(layout) => layout,
            Source::Other(_) => {
                Layout { order: ByteOrder::Little, width: Width::Bits32, name_size: 32 }
            }
        };
        let order = match options.get("order") {
            None => from.order,
            Some("little") => ByteOrder::Little,
            Some("big") => ByteOrder::Big,
            Some(other) => return Err(wrong("order", "little or big", other)),
        };
        let width = match options.get("ulong") {
            None => from.width,
            Some("32") => Width::Bits32,
            Some("64") => Width::Bits64,
            Some(other) => return Err(wrong("ulong", "32 or 64", other)),
        };
        // TraceX refuses names of 64 bytes and more.
        let name_size = from.name_size;
        Ok(Self { layout: Layout { order, width, name_size }, source })
    }

    /// The registry: every object of a ThreadX source, every thread of another one.
    fn registry(&self, trace: &Trace) -> Result<Vec<u8>, ExportError> {
        let size = self.layout.registry_slot_size();
        let mut registry = Vec::new();
        let mut keys = std::collections::HashMap::new();
        for (_, object) in trace.objects.iter() {
            let short = object.key & self.layout.width.max();
            if *keys.entry(short).or_insert(object.key) != object.key {
                let message = format!("two objects would share the address 0x{short:08X}");
                return Err(ExportError::NotPossible(message));
            }
            let at = registry.len();
            if let Some(slot) = self.registry_slot(trace, object) {
                registry.resize(at + size, 0);
                // The bytes are as many as the layout says.
                let _ = slot.write(self.layout, &mut registry[at..]);
            }
        }
        if registry.is_empty() {
            // TraceX refuses a registry without slots.
            registry.resize(size, 0);
            registry[0] = 1;
        }
        Ok(registry)
    }

    fn registry_slot<'a>(&self, trace: &Trace, object: &'a Object) -> Option<RegistrySlot<'a>> {
        match self.source {
            // Threads that were made up for unregistered contexts stay unregistered.
            Source::Threadx(layout) => RegistrySlot::read(layout, &object.record),
            Source::Other(_) => {
                let kind = trace.schema.object_kind(object.kind)?;
                let [reserved1, reserved2] =
                    object.priority.map_or([0, 0], RegistrySlot::priority_bytes);
                let parameter = |index: usize| object.parameters.get(index).copied().unwrap_or(0);
                Some(RegistrySlot {
                    available: u8::from(object.alive == Some(false)),
                    object_type: object_type(&kind.label)?,
                    reserved1,
                    reserved2,
                    pointer: object.key,
                    parameter1: parameter(0),
                    parameter2: parameter(1),
                    name: object.label.as_bytes(),
                })
            }
        }
    }

    /// Header and registry.
    fn head(&self, trace: &Trace, survey: &Survey, registry: &[u8]) -> Vec<u8> {
        let base = trace.fact("trace_base_address").unwrap_or(BASE);
        let mask = match self.source {
            Source::Threadx(_) => trace.fact("timer_valid_mask").unwrap_or(u64::from(u32::MAX)),
            Source::Other(counter) => counter.mask,
        };
        let registry_start = base.wrapping_add(self.layout.header_size() as u64);
        let buffer_start = registry_start.wrapping_add(registry.len() as u64);
        let slot = self.layout.event_size() as u64;
        let slots = survey.events + u64::from(!survey.wrapped());
        let buffer_end = buffer_start.wrapping_add(slots.wrapping_mul(slot));
        let next = match survey.wrapped() {
            true => 1 % survey.events,
            false => survey.events,
        };
        let header = Header {
            timer_valid_mask: mask,
            trace_base_address: base,
            registry_start,
            registry_end: buffer_start,
            buffer_start,
            buffer_end,
            buffer_current: buffer_start.wrapping_add(next.wrapping_mul(slot)),
            reserved1: 0,
            reserved: Header::RESERVED,
        };
        let mut bytes = vec![0; self.layout.header_size()];
        // The bytes are as many as the layout says.
        let _ = header.write(self.layout, &mut bytes);
        bytes.extend_from_slice(registry);
        bytes
    }
}

fn object_type(label: &str) -> Option<u8> {
    use ids::object as o;
    Some(match label {
        "thread" => o::THREAD,
        "timer" => o::TIMER,
        "queue" => o::QUEUE,
        "semaphore" => o::SEMAPHORE,
        "mutex" => o::MUTEX,
        "event flags" => o::EVENT_FLAGS,
        "block pool" => o::BLOCK_POOL,
        "byte pool" => o::BYTE_POOL,
        _ => return None,
    })
}

fn wrong(key: &str, expected: &str, found: &str) -> ExportError {
    ExportError::Option(OptionError::new(key, format!("expected {expected}, found '{found}'")))
}

/// Writes event slots one after the other.
struct EventSlots<'a> {
    target: Target,
    out: &'a mut dyn Write,
    error: Option<io::Error>,
    /// Number of the event that was written already.
    skip: Option<u64>,
    written: u64,
}

impl EventSlots<'_> {
    fn put(&mut self, event: &Event) {
        let mut bytes = [0; 64];
        let slot = &mut bytes[..self.target.layout.event_size()];
        // The bytes are as many as the layout says.
        let _ = event.write(self.target.layout, slot);
        if let Err(error) = self.out.write_all(slot) {
            self.error.get_or_insert(error);
        }
        self.written += 1;
    }
}

impl Sink for EventSlots<'_> {
    fn events(&mut self, trace: &Trace, batch: &Batch<'_>) -> Flow {
        for event in batch.events() {
            if self.skip != Some(event.seq)
                && let Ok(slot) = self.target.source.event(trace, &event)
            {
                self.put(&slot);
            }
        }
        if self.error.is_some() { Flow::Break(()) } else { Flow::Continue(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::schema::Schema;
    use crate::model::{Clock, Direction, PayloadLayout};

    #[test]
    fn every_type_of_objects_of_the_kernel_has_its_code() {
        let schema = Schema::threadx();
        for code in 1..=8 {
            let kind = schema.object_kind(code).expect("the kernel has eight types");
            assert_eq!(object_type(&kind.label).map(u32::from), Some(code), "{}", kind.label);
        }
        assert_eq!(object_type("state machine"), None);
    }

    #[test]
    fn stamps_of_other_dialects_are_cut_to_the_bits_that_they_have_in_common() {
        let stamps_of = |mask: u64| {
            let counter = Counter::of_mask(mask, Direction::Down);
            let payload = PayloadLayout::Values { digits: 8 };
            let clock = Clock::new(None, counter);
            let trace = Trace::new("other", Schema::shark(), payload, clock);
            match Source::of(&trace) {
                Source::Other(counter) => (counter.mask, counter.direction),
                Source::Threadx(_) => panic!("no dump was read"),
            }
        };
        assert_eq!(stamps_of(u64::MAX), (0xFFFF_FFFF, Direction::Down));
        assert_eq!(stamps_of(0x00FF_FFFF), (0x00FF_FFFF, Direction::Down));
        assert_eq!(stamps_of(0xFF_0000_FFFF), (0xFFFF, Direction::Down));
    }
}
