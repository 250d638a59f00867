//! The compiled layout of a trace: a program for each scope of packets and events.

use std::collections::HashMap;
use std::sync::Arc;

use foldhash::fast::RandomState;

use super::classes::{Class, EventClass, Length, Metadata, Role, Scope, StreamClass, Structure};
use super::compile::{Compiler, MAX_OPS, MAX_SIZE, Registers, Shared, Visited};
use super::direct::DirectEvent;
use super::header::{FixedHeader, QuickHeader};
use super::position::{Fault, FaultKind};
use super::program::{Place, Program};
use super::slots::{self, PlainEvent};
use super::who::Known;
use crate::model::values::MAX_SLOTS;

/// Event classes with ids below this number are found without hashing.
const MAX_DENSE: u64 = 1 << 12;

/// The programs of an event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Programs {
    /// One program for all scopes: the fastest choice.
    One,
    /// One program for each scope, for outputs that separate the scopes.
    ByScope,
}

/// The compiled layout of a trace.
#[derive(Debug)]
pub(super) struct Layout {
    pub(super) metadata: Metadata,
    /// Number of registers of a stream.
    pub(super) registers: usize,
    pub(super) header: Program,
    /// The UUID of the trace and its offset in packets. `None` if packets contain no UUID, or if
    /// the UUID has no fixed offset.
    pub(super) uuid: Option<([u8; 16], usize)>,
    pub(super) streams: Vec<StreamLayout>,
}

/// The compiled layout of a stream class.
#[derive(Debug)]
pub(super) struct StreamLayout {
    pub(super) context: Program,
    pub(super) event_header: Program,
    /// The layout of the event header, if its fields have fixed offsets.
    pub(super) fixed_header: Option<FixedHeader>,
    /// The layout of the most frequent headers, if they have fixed offsets.
    pub(super) quick_header: Option<QuickHeader>,
    /// The id of events whose header contains no id: the id of the only event class, or 0 if there
    /// are several classes.
    pub(super) default_event: u64,
    pub(super) events: Vec<EventLayout>,
    /// Number of registers that its events need.
    registers: usize,
    /// Element `n` is 1 plus the index in `events` of the class with id `n`, or 0 if there is no
    /// such class.
    dense: Vec<u32>,
    others: HashMap<u64, usize, RandomState>,
}

/// The compiled layout of an event class.
#[derive(Debug)]
pub(super) struct EventLayout {
    /// One program each for the common context, the specific context and the payload, or one for
    /// all three. If there are no programs, the fault is the reason.
    pub(super) programs: Result<Vec<Program>, Fault>,
    /// Number of slots in a row.
    pub(super) slots: u8,
    /// True if the last slot contains all fields without a slot of their own.
    pub(super) has_rest: bool,
    /// The plain form of the event; `None` if the event has no plain form or has arguments from the
    /// packet.
    pub(super) plain: Option<PlainEvent>,
    /// The steps that replace the event's only program; `None` if the event needs the program.
    pub(super) direct: Option<DirectEvent>,
    /// The places in the row for the arguments from the packet's context.
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

/// Returns true if a field contains the processor's number.
pub(super) fn is_processor(class: &Class) -> bool {
    roles(class).contains(&Role::Processor)
}

impl Layout {
    /// Compiles the layout of a trace.
    ///
    /// # Errors
    /// Returns an error if the layout of packets or of event headers is too large.
    pub(super) fn new(metadata: Metadata, programs: Programs) -> Result<Self, Fault> {
        let (mut registers, mut visited) = (Registers::default(), Visited::default());
        let structures =
            metadata.packet_header.iter().chain(metadata.streams.iter().flat_map(|stream| {
                let own = [&stream.packet_context, &stream.event_header, &stream.common_context];
                let events = stream.events.iter();
                let events = events.flat_map(|event| [&event.specific_context, &event.payload]);
                own.into_iter().chain(events).flatten()
            }));
        structures.for_each(|structure| registers.add(structure, &mut visited));
        let mut header = Compiler::new(&registers, None).begin_at(1, Shared::BYTE);
        hidden(&mut header, Scope::PacketHeader, metadata.packet_header.as_ref())?;
        header.keep_order();
        let header = header.finish();
        let mut budget = MAX_SIZE;
        let streams = metadata.streams.iter();
        let streams =
            streams.map(|stream| StreamLayout::new(stream, programs, &registers, &mut budget));
        let streams = streams.collect::<Result<Vec<_>, _>>()?;
        let of_events = streams.iter().map(|stream: &StreamLayout| stream.registers).max();
        let registers = of_events.unwrap_or(0).max(registers.len());
        let uuid = metadata.uuid.zip(metadata.packet_header.as_deref().and_then(uuid_offset));
        Ok(Self { metadata, registers, header, uuid, streams })
    }

    /// Returns the index of the stream class with this id. A packet without an id belongs to the
    /// only class or, if there are several, to the class with id 0.
    pub(super) fn stream_class(&self, id: Option<u64>) -> Option<usize> {
        let streams = &self.metadata.streams;
        match (id, streams.len()) {
            (None, 1) => Some(0),
            (id, _) => streams.iter().position(|stream| stream.id == id.unwrap_or(0)),
        }
    }
}

/// Returns the offset in bytes of the UUID in a packet header, if the offset is fixed.
fn uuid_offset(header: &Structure) -> Option<usize> {
    let mut at = 0_u64;
    for member in &header.members {
        if matches!(member.class, Class::Blob { is_uuid: true, .. }) {
            return usize::try_from(at.div_ceil(8)).ok();
        }
        at = after(&member.class, at)?;
    }
    None
}

/// Returns the position after a field that begins at the position `at`, both in bits. Returns
/// `None` if the field has no fixed size.
fn after(class: &Class, at: u64) -> Option<u64> {
    let aligned = |at: u64, alignment: u32| at.checked_next_multiple_of(alignment.max(1).into());
    match class {
        Class::Integer(integer) => {
            aligned(at, integer.alignment)?.checked_add(u64::from(integer.bits))
        }
        Class::Float(float) => aligned(at, float.alignment)?.checked_add(u64::from(float.bits)),
        Class::SizedText { length: Length::Fixed(bytes), .. }
        | Class::Blob { length: Length::Fixed(bytes), .. } => {
            aligned(at, 8)?.checked_add(bytes.checked_mul(8)?)
        }
        Class::Structure(structure) => {
            let at = aligned(at, structure.alignment)?;
            structure.members.iter().try_fold(at, |at, member| after(&member.class, at))
        }
        Class::Array(array) => {
            let Length::Fixed(length) = array.length else { return None };
            let at = aligned(at, array.alignment)?;
            let size = after(&array.element, 0)?;
            // With other sizes, there can be gaps between elements.
            let has_gaps = length > 1 && !size.is_multiple_of(array.alignment.max(1).into());
            if has_gaps { None } else { at.checked_add(size.checked_mul(length)?) }
        }
        _ => None,
    }
}

/// Compiles a scope without arguments.
fn hidden(
    compiler: &mut Compiler<'_>,
    scope: Scope,
    structure: Option<&Arc<Structure>>,
) -> Result<(), Fault> {
    match structure {
        Some(structure) => compiler.scope(scope, structure, |_| Place::Hidden),
        None => Ok(()),
    }
}

impl StreamLayout {
    fn new(
        class: &StreamClass,
        programs: Programs,
        registers: &Registers,
        budget: &mut usize,
    ) -> Result<Self, Fault> {
        let mut context = Compiler::new(registers, None);
        if let Some(structure) = &class.packet_context {
            context.scope(Scope::PacketContext, structure, |index| {
                match structure.members.get(index) {
                    Some(member) if !describes_packet(&member.class) => Place::Member,
                    _ => Place::Hidden,
                }
            })?;
        }
        context.keep_order();
        let mut event_header = Compiler::new(registers, None);
        hidden(&mut event_header, Scope::EventHeader, class.event_header.as_ref())?;
        let (aligned, shared) = (event_header.aligned(), event_header.shared());
        let event_header = event_header.finish();
        let fixed_header = FixedHeader::new(&event_header);
        let mut make = Make { stream: class, programs, aligned, shared, registers, needed: 0 };
        let packet = packet_arguments(class).count();
        let events: Vec<_> =
            class.events.iter().map(|event| make.event(event, packet, budget)).collect();
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
        let default_event = match class.events.as_slice() {
            [event] => event.id,
            _ => 0,
        };
        let context = context.finish();
        let registers = make.needed;
        let mut quick_header = fixed_header.as_ref().and_then(FixedHeader::quick);
        if let Some(header) = &mut quick_header {
            let programs = events.iter().filter_map(|event| event.programs.as_ref().ok());
            let programs = || programs.clone().flatten();
            header.forget_register(|register| programs().any(|program| program.reads(register)));
        }
        Ok(Self {
            context,
            event_header,
            fixed_header,
            quick_header,
            default_event,
            events,
            registers,
            dense,
            others,
        })
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

/// Compiles the events of a stream class.
struct Make<'l> {
    stream: &'l StreamClass,
    programs: Programs,
    /// Alignment of the position after the header of an event.
    aligned: u64,
    /// The known facts about the byte at this position.
    shared: Shared,
    /// The registers that all events share.
    registers: &'l Registers,
    /// Number of registers that the events so far need.
    needed: usize,
}

impl Make<'_> {
    /// Compiles the layout of an event. `packet` is the number of arguments from the packet's
    /// context.
    fn event(&mut self, event: &EventClass, packet: usize, budget: &mut usize) -> EventLayout {
        let count = |structure: &Option<Arc<Structure>>| members(structure.as_ref()).count();
        let common = &self.stream.common_context;
        let (payload, specific) = (count(&event.payload), count(&event.specific_context));
        let own = payload + specific + count(common);
        let all = own + packet;
        let has_rest = all > MAX_SLOTS;
        let place = |position: usize| match u8::try_from(position) {
            Ok(slot) if !has_rest || usize::from(slot) < MAX_SLOTS - 1 => Place::Slot(slot),
            _ => Place::Rest,
        };
        let scopes = [
            (Scope::CommonContext, common, payload + specific),
            (Scope::SpecificContext, &event.specific_context, payload),
            (Scope::Payload, &event.payload, 0),
        ];
        let (mut own_registers, mut visited) = (self.registers.of_event(), Visited::default());
        if *budget > 0 {
            let structures = scopes.iter().filter_map(|(_, structure, _)| structure.as_ref());
            structures.for_each(|structure| own_registers.add(structure, &mut visited));
        }
        self.needed = self.needed.max(own_registers.len());
        // The header of the next event can begin in the byte in which this event ends.
        let header = self.stream.event_header.as_ref();
        let shares_byte = header.is_none_or(|header| header.alignment < 8);
        let programs = || {
            let mut programs = Vec::new();
            let new = || Compiler::new(self.registers, Some(&own_registers));
            let mut compiler = new().begin_at(self.aligned, self.shared);
            for (scope, structure, first) in scopes {
                if let Some(structure) = structure {
                    compiler.scope(scope, structure, |index| place(first + index))?;
                }
                if self.programs == Programs::ByScope {
                    if scope == Scope::Payload && shares_byte {
                        compiler.keep_order();
                    }
                    let next = new().begin_at(1, compiler.shared());
                    programs.push(std::mem::replace(&mut compiler, next).finish());
                }
            }
            if self.programs == Programs::One {
                if shares_byte {
                    compiler.keep_order();
                }
                programs.push(slots::of_events(compiler.finish()));
            }
            Ok(programs)
        };
        // Each event includes the contexts of its stream, so compiling takes time even if the event
        // is too large. Therefore, an event that is too large also uses up the budget.
        let fault = Fault { at: 0, kind: FaultKind::Layout };
        let programs: Result<Vec<Program>, Fault> =
            if *budget > 0 { programs() } else { Err(fault) };
        let size = match &programs {
            Ok(programs) => packet + programs.iter().map(Program::size).sum::<usize>(),
            Err(_) => MAX_OPS,
        };
        let programs =
            programs.and_then(|programs| if size <= *budget { Ok(programs) } else { Err(fault) });
        *budget = budget.saturating_sub(size);
        let plain = match programs.as_deref() {
            Ok([program]) => PlainEvent::new(program, all.min(MAX_SLOTS) as u8),
            _ => None,
        };
        let direct = match programs.as_deref() {
            Ok([program]) if self.programs == Programs::One => DirectEvent::new(program),
            _ => None,
        };
        // The decoder reads only events that have programs.
        let packet = if programs.is_ok() { packet } else { 0 };
        EventLayout {
            programs,
            slots: all.min(MAX_SLOTS) as u8,
            has_rest,
            plain,
            direct,
            packet: (0..packet).map(|index| place(own + index)).collect(),
            known: Known::default(),
        }
    }
}
