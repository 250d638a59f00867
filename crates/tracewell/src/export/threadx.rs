//! Writes a ThreadX dump (`.trx`).
//!
//! The input is read twice, because the registry is at the start of a dump but is complete only
//! after the last event. Events are written oldest first. If events of the source were overwritten,
//! the writer puts the newest event into slot 0, which shows that the ring wrapped. Otherwise the
//! writer leaves the last slot unused, which shows that no event was overwritten.
//!
//! The words of a ThreadX source stay the same, except for their byte order and width. For other
//! dialects, the context word contains a thread address, or stands for an interrupt or for
//! initialization. The first four arguments become the information words, and ticks become
//! timestamps of the source's counter, truncated to 32 bits.

use std::io::{self, Write};

use tracewell_wire::ByteOrder;
use tracewell_wire::threadx::{
    Event, Header, Layout, PriorityWord, RegistrySlot, Width, context, ids,
};

use super::{Export, ExportError, ExportNames, Output};
use crate::format::{OptionError, OptionHelp, Options, threadx};
use crate::input::Input;
use crate::model::{
    self, Batch, ContextKind, Counter, Flow, Loss, LossCause, Object, Sink, SinkError, Stop, Trace,
};

/// The export `threadx`, for traces of every dialect whose events fit into ThreadX's slots.
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
            help: "bits of a word (as in the source, or 32); TraceX reads 32 only",
        },
    ],
    output: Output::File(write),
};

/// Address of the dump in target memory, for sources that state no address.
const BASE: u64 = 0x2000_0000;

fn write(
    input: &mut Input,
    options: &Options,
    _: &ExportNames,
    out: &mut dyn Write,
) -> Result<Trace, ExportError> {
    options.check(EXPORT.options)?;
    // The input is read twice, so a stream must be held in memory.
    input.load()?;
    let mut survey = Survey::default();
    let trace = input.read(&mut survey)?;
    let target = Target::new(&trace, options)?;
    let slots = target.registry(&trace)?;
    let mut writer = EventSlots { target, out, skip: None, written: 0 };
    let head = writer.target.head(&trace, &survey, &slots);
    let written = writer.out.write_all(&head);
    written.map_err(ExportError::Write)?;
    if survey.wrapped()
        && let Some(newest) = survey.newest
    {
        writer.put(&newest).map_err(ExportError::Write)?;
        // The newest event is already in slot 0, so the second pass omits it.
        writer.skip = survey.newest_seq;
    }
    input.read(&mut writer)?;
    if !survey.wrapped() {
        // An unused slot, with context 0, shows that the ring has not wrapped.
        writer.put(&Event::UNUSED).map_err(ExportError::Write)?;
    }
    Ok(trace)
}

/// The facts that must be known before the first byte is written.
#[derive(Debug, Default)]
struct Survey {
    events: u64,
    newest: Option<Event>,
    /// Number of the newest event.
    newest_seq: Option<u64>,
    overwritten: bool,
}

impl Survey {
    /// Returns true if the dump must show that older events were overwritten.
    fn wrapped(&self) -> bool {
        self.overwritten && self.events > 0
    }
}

impl Sink for Survey {
    fn events(&mut self, trace: &Trace, batch: &Batch<'_>) -> Flow {
        let source = Source::of(trace);
        for row in batch.events() {
            self.newest_seq = Some(row.seq);
            match source.event(model::Event::new(trace, &row)) {
                Ok(event) => self.newest = Some(event),
                Err(message) => {
                    let message = format!("event {}: {message}", row.seq);
                    return Flow::Break(SinkError::not_possible(message).into());
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

/// The conversion of records to event slots.
#[derive(Clone, Copy, Debug)]
enum Source {
    /// The records are event slots of this layout.
    Threadx(Layout),
    /// The records have another format; their ticks are converted to timestamps of this counter.
    Other(Counter),
}

impl Source {
    fn of(trace: &Trace) -> Self {
        if trace.format != threadx::FORMAT.name {
            // ThreadX timestamps have 32 bits. A wider counter is truncated, and a narrower counter
            // is kept.
            let mask = trace.clock.counter.mask & u64::from(u32::MAX);
            return Self::Other(Counter::of_mask(mask, trace.clock.counter.direction));
        }
        Self::Threadx(threadx::layout(trace))
    }

    fn event(self, event: model::Event<'_>) -> Result<Event, String> {
        match self {
            Self::Threadx(layout) => Event::read(layout, event.row.record)
                .ok_or_else(|| "the record is not a whole event slot".to_owned()),
            Self::Other(counter) => other_event(event, counter),
        }
    }
}

/// Returns the event slot for an event of another dialect.
fn other_event(event: model::Event<'_>, counter: Counter) -> Result<Event, String> {
    let model::Event { trace, row } = event;
    let id = u16::try_from(row.id)
        .map_err(|_| format!("a ThreadX event id has 16 bits, found {}", row.id))?;
    let core = u8::try_from(row.cpu)
        .map_err(|_| format!("a ThreadX core number has 8 bits, found {}", row.cpu))?;
    let found = trace.contexts.get(row.context);
    let (context, priority_word) = match found.map(|context| (context.kind, context.key)) {
        None => return Err("the event has no context".to_owned()),
        // The priority word of an interrupt is the interrupted thread, which other dialects do not
        // record.
        Some((ContextKind::Interrupt, _)) => (context::INTERRUPT, 0),
        Some((ContextKind::Initialization | ContextKind::Unknown | ContextKind::System, _)) => {
            (context::INITIALIZATION, 0)
        }
        Some((ContextKind::Thread, context::UNUSED)) => {
            return Err("a thread with key 0 would mark its slot as unused".to_owned());
        }
        Some((ContextKind::Thread, key)) => {
            // The priority word has 10 bits for the priority.
            let priority = row.priority.get().unwrap_or(0).min(0x3FF);
            (key, PriorityWord::of_thread(priority, priority))
        }
    };
    let argument = |index| event.argument(index).unwrap_or(0);
    Ok(Event {
        context,
        priority_word,
        // ThreadX SMP records the core in the upper byte.
        id_word: (u64::from(core) << 24) | u64::from(id),
        stamp: counter.stamp_after(trace.clock.first_stamp, row.ticks),
        info: [0, 1, 2, 3].map(argument),
    })
}

/// The layout of the dump.
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
        // TraceX rejects name fields of 64 bytes and more.
        let name_size = from.name_size;
        Ok(Self { layout: Layout { order, width, name_size }, source })
    }

    /// Returns the registry: all objects of a ThreadX source, or all threads of another source.
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
                // Cannot fail: the slice has the length of the layout.
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
            // Omit threads that the decoder added for unregistered contexts.
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

    /// Returns header and registry.
    fn head(&self, trace: &Trace, survey: &Survey, registry: &[u8]) -> Vec<u8> {
        let dump = threadx::DumpHeader::of(trace).map(|dump| dump.header);
        let base = dump.map_or(BASE, |header| header.trace_base_address);
        let mask = match self.source {
            Source::Threadx(_) => {
                dump.map_or(u64::from(u32::MAX), |header| header.timer_valid_mask)
            }
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
        // Cannot fail: the slice has the length of the layout.
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
    OptionError::new(key, format!("expected {expected}, found '{found}'")).into()
}

/// A sink that writes event slots.
struct EventSlots<'a> {
    target: Target,
    out: &'a mut dyn Write,
    /// Sequence number of the event that is already in slot 0.
    skip: Option<u64>,
    written: u64,
}

impl EventSlots<'_> {
    fn put(&mut self, event: &Event) -> io::Result<()> {
        let mut bytes = [0; 64];
        let slot = &mut bytes[..self.target.layout.event_size()];
        // Cannot fail: the slice has the length of the layout.
        let _ = event.write(self.target.layout, slot);
        self.written += 1;
        self.out.write_all(slot)
    }
}

impl Sink for EventSlots<'_> {
    fn events(&mut self, trace: &Trace, batch: &Batch<'_>) -> Flow {
        for row in batch.events() {
            if self.skip != Some(row.seq)
                && let Ok(slot) = self.target.source.event(model::Event::new(trace, &row))
            {
                Stop::on_error(self.put(&slot))?;
            }
        }
        Flow::Continue(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Clock, Direction, PayloadLayout};

    #[test]
    fn every_type_of_objects_of_the_kernel_has_its_code() {
        let schema = crate::format::threadx::schema();
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
            let trace = Trace::new("other", crate::format::shark::schema(), payload, clock);
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
