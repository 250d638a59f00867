//! The compiled layout of a trace: a program for each scope of packets and events.

use std::collections::HashMap;
use std::sync::Arc;

use foldhash::fast::RandomState;

use super::classes::{Class, EventClass, Metadata, Role, Scope, StreamClass, Structure};
use super::compile::{Compiler, MAX_OPS, MAX_SIZE, Registers, Visited};
use super::position::{Fault, FaultKind};
use super::program::{Place, Program};
use super::who::Known;
use crate::model::values::MAX_SLOTS;

/// Event ids below this number are found without hashing.
const MAX_DENSE: u64 = 1 << 12;

/// The compiled layout of a trace.
#[derive(Debug)]
pub(super) struct Layout {
    pub(super) metadata: Metadata,
    /// Number of registers of a stream.
    pub(super) registers: usize,
    pub(super) header: Program,
    pub(super) streams: Vec<StreamLayout>,
}

/// The compiled layout of a stream class.
#[derive(Debug)]
pub(super) struct StreamLayout {
    pub(super) context: Program,
    pub(super) event_header: Program,
    pub(super) events: Vec<EventLayout>,
    /// Index in `events`, plus one, by event id.
    dense: Vec<u32>,
    others: HashMap<u64, usize, RandomState>,
}

/// The compiled layout of an event class.
#[derive(Debug)]
pub(super) struct EventLayout {
    /// The programs of common context, specific context and payload, or the reason why there are
    /// none.
    pub(super) programs: Result<[Program; 3], Fault>,
    /// Number of slots in a row.
    pub(super) slots: u8,
    /// True if the last slot contains the fields without a slot of their own.
    pub(super) has_rest: bool,
    /// The places in the row of the arguments from the packet's context.
    pub(super) packet: Vec<Place>,
    /// The event type of the model.
    pub(super) known: Known,
}

/// Returns the fields of a packet context that are arguments of events, each with its index. Fields
/// that describe the packet are not arguments.
pub(super) fn packet_arguments(
    class: &StreamClass,
) -> impl Iterator<Item = (usize, &Arc<str>, &Class)> {
    members(class.packet_context.as_ref())
        .enumerate()
        .filter(|(_, (_, class))| !describes_packet(class) && !is_processor(class))
        .map(|(index, (name, class))| (index, name, class))
}

fn members(structure: Option<&Arc<Structure>>) -> impl Iterator<Item = (&Arc<str>, &Class)> {
    let members = structure.into_iter().flat_map(|structure| &structure.members);
    members.map(|member| (&member.name, &member.class))
}

fn roles(class: &Class) -> &[Role] {
    match class {
        Class::Integer(integer) | Class::Variable(integer) => &integer.roles,
        _ => &[],
    }
}

/// Returns true if a field of a packet context describes the packet itself.
fn describes_packet(class: &Class) -> bool {
    roles(class).iter().any(|role| *role != Role::Processor)
}

/// Returns true if a field is the number of the processor.
pub(super) fn is_processor(class: &Class) -> bool {
    roles(class).contains(&Role::Processor)
}

impl Layout {
    /// Compiles the layout of a trace.
    ///
    /// # Errors
    /// Returns an error if the layout of packets or of event headers is too large.
    pub(super) fn new(metadata: Metadata) -> Result<Self, Fault> {
        let (mut registers, mut visited) = (Registers::default(), Visited::default());
        let structures =
            metadata.packet_header.iter().chain(metadata.streams.iter().flat_map(|stream| {
                let own = [&stream.packet_context, &stream.event_header, &stream.common_context];
                let events = stream.events.iter();
                let events = events.flat_map(|event| [&event.specific_context, &event.payload]);
                own.into_iter().chain(events).flatten()
            }));
        structures.for_each(|structure| registers.add(structure, &mut visited));
        let header = hidden(&registers, Scope::PacketHeader, metadata.packet_header.as_ref())?;
        let mut budget = MAX_SIZE;
        let streams = metadata.streams.iter();
        let streams = streams.map(|stream| StreamLayout::new(stream, &registers, &mut budget));
        let streams = streams.collect::<Result<_, _>>()?;
        let registers = registers.len();
        Ok(Self { metadata, registers, header, streams })
    }

    /// Returns the index of the stream class with this id. A packet without an id has the only
    /// class or, if there are several, the class with id 0.
    pub(super) fn stream_class(&self, id: Option<u64>) -> Option<usize> {
        let streams = &self.metadata.streams;
        match (id, streams.len()) {
            (None, 1) => Some(0),
            (id, _) => streams.iter().position(|stream| stream.id == id.unwrap_or(0)),
        }
    }
}

/// Compiles a scope without arguments.
fn hidden(
    registers: &Registers,
    scope: Scope,
    structure: Option<&Arc<Structure>>,
) -> Result<Program, Fault> {
    let mut compiler = Compiler::new(registers);
    if let Some(structure) = structure {
        compiler.scope(scope, structure, |_| Place::Hidden)?;
    }
    Ok(compiler.finish())
}

impl StreamLayout {
    fn new(class: &StreamClass, registers: &Registers, budget: &mut usize) -> Result<Self, Fault> {
        let mut context = Compiler::new(registers);
        if let Some(structure) = &class.packet_context {
            context.scope(Scope::PacketContext, structure, |index| {
                match structure.members.get(index) {
                    Some(member) if !describes_packet(&member.class) => Place::Member,
                    _ => Place::Hidden,
                }
            })?;
        }
        let event_header = hidden(registers, Scope::EventHeader, class.event_header.as_ref())?;
        let packet = packet_arguments(class).count();
        let events: Vec<_> = class
            .events
            .iter()
            .map(|event| EventLayout::new(event, class, packet, registers, budget))
            .collect();
        let (mut dense, mut others) = (Vec::new(), HashMap::default());
        for (index, event) in class.events.iter().enumerate() {
            if event.id < MAX_DENSE {
                let at = event.id as usize;
                dense.resize(dense.len().max(at + 1), 0);
                dense[at] = index as u32 + 1;
            } else {
                others.insert(event.id, index);
            }
        }
        Ok(Self { context: context.finish(), event_header, events, dense, others })
    }

    /// Returns the index of the event class with this id.
    #[inline]
    pub(super) fn event(&self, id: u64) -> Option<usize> {
        if id < MAX_DENSE {
            return self
                .dense
                .get(id as usize)
                .and_then(|index| index.checked_sub(1))
                .map(|i| i as usize);
        }
        self.others.get(&id).copied()
    }
}

impl EventLayout {
    /// Compiles the layout of an event. `packet` is the number of arguments from the packet's
    /// context.
    fn new(
        event: &EventClass,
        stream: &StreamClass,
        packet: usize,
        registers: &Registers,
        budget: &mut usize,
    ) -> Self {
        let count = |structure: &Option<Arc<Structure>>| members(structure.as_ref()).count();
        let (payload, specific, common) =
            (count(&event.payload), count(&event.specific_context), count(&stream.common_context));
        let all = payload + specific + common + packet;
        let has_rest = all > MAX_SLOTS;
        let place = |position: usize| match u8::try_from(position) {
            Ok(slot) if !has_rest || usize::from(slot) < MAX_SLOTS - 1 => Place::Slot(slot),
            _ => Place::Rest,
        };
        let compile = |scope, structure: &Option<Arc<Structure>>, first: usize| {
            let mut compiler = Compiler::new(registers);
            if let Some(structure) = structure {
                compiler.scope(scope, structure, |index| place(first + index))?;
            }
            Ok(compiler.finish())
        };
        let programs = || {
            Ok([
                compile(Scope::CommonContext, &stream.common_context, payload + specific)?,
                compile(Scope::SpecificContext, &event.specific_context, payload)?,
                compile(Scope::Payload, &event.payload, 0)?,
            ])
        };
        // The contexts of a stream belong to each event. So even events that are too large count.
        let fault = Fault { at: 0, kind: FaultKind::Layout };
        let programs: Result<[Program; 3], Fault> =
            if *budget > 0 { programs() } else { Err(fault) };
        let size = programs
            .as_ref()
            .map_or(MAX_OPS, |programs| packet + programs.iter().map(Program::size).sum::<usize>());
        let programs =
            programs.and_then(|programs| if size <= *budget { Ok(programs) } else { Err(fault) });
        *budget = budget.saturating_sub(size);
        // Only events with programs are read.
        let packet = if programs.is_ok() { packet } else { 0 };
        Self {
            programs,
            slots: all.min(MAX_SLOTS) as u8,
            has_rest,
            packet: (0..packet).map(|index| place(payload + specific + common + index)).collect(),
            known: Known::default(),
        }
    }
}
