//! Places the declared types in the scopes of a trace. To place a type is to convert it to a class
//! and to resolve its references and roles.
//!
//! A type without references and clocks is placed once and shared. Any other type is placed
//! separately for each use, because each use can refer to different fields. The number of fields of
//! all scopes is limited, because short metadata can declare very large types.

use std::collections::HashMap;
use std::sync::Arc;

use super::empty;
use super::lookup::{self, Found, Frame, Roots};
use super::roles::{self, Place};
use crate::format::ctf::classes::{
    Array, Choice, ChoiceOption, Class, Clock, EventClass, IntegerKind, Length, Member, Metadata,
    Role, Scope, StreamClass, Structure, Version,
};
use crate::format::ctf::declared::fault::{Fault, Log, fault};
use crate::format::ctf::declared::limits::MAX_FIELDS;
use crate::format::ctf::declared::ranges;
use crate::format::ctf::declared::trace::{Declared, DeclaredEvent, DeclaredStream};
use crate::format::ctf::declared::types::{
    ArrayType, ChoiceType, IntegerType, LengthType, MemberType, OptionType, Reference,
    StructureType, Type,
};

/// Returns the metadata with all types placed.
///
/// # Errors
/// Returns an error for a reference without a target, for an unsupported type, for a stream with
/// two clocks, or for too many fields.
pub(super) fn metadata(declared: Declared, log: &mut Log) -> Result<Metadata, Fault> {
    let Declared { version, byte_order, uuid, name, environment, clocks, packet_header, streams } =
        declared;
    let mut placer = Placer {
        version,
        clocks,
        log,
        roots: Roots::default(),
        scope: Scope::PacketHeader,
        frames: Vec::new(),
        is_in_array: false,
        shared: HashMap::new(),
        fields: 0,
        clock: None,
        default_clock: None,
        at: 0,
    };
    let packet_header = placer.root(Scope::PacketHeader, packet_header)?;
    let header_clock = placer.clock;
    let mut placed = Vec::with_capacity(streams.len());
    for stream in streams {
        placer.clock = header_clock;
        placed.push(placer.stream(stream)?);
    }
    let clocks = placer.clocks;
    Ok(Metadata {
        version,
        byte_order,
        uuid,
        name,
        environment,
        clocks,
        packet_header,
        streams: placed,
    })
}

/// Returns the clock for CTF 1.8 timestamps in metadata that declares no clock.
fn implied_clock() -> Clock {
    Clock {
        name: "default".to_owned(),
        uid: None,
        description: String::new(),
        frequency: 1_000_000_000,
        offset_seconds: 0,
        offset_cycles: 0,
        precision: None,
        is_unix: false,
    }
}

/// Places the types of a trace.
struct Placer<'a> {
    version: Version,
    clocks: Vec<Clock>,
    log: &'a mut Log,
    /// The root structures of the scopes of the current stream and event.
    roots: Roots,
    scope: Scope,
    /// The types that contain the current field.
    frames: Vec<Frame>,
    is_in_array: bool,
    /// Shared structures, by the number of their body. These structures are in contexts and
    /// payloads of events, so they have no roles.
    shared: HashMap<u32, Arc<Structure>>,
    /// Number of fields placed so far, in all scopes.
    fields: u64,
    /// The clock of the current stream, which the stream's fields determine.
    clock: Option<usize>,
    /// The clock that the current stream specifies (CTF 2).
    default_clock: Option<usize>,
    /// Offset of the current declaration in the text.
    at: u32,
}

impl Placer<'_> {
    fn stream(&mut self, stream: DeclaredStream) -> Result<StreamClass, Fault> {
        self.default_clock = stream.clock;
        self.at = stream.at;
        self.roots[Scope::EventHeader as usize..].fill(None);
        let packet_context = self.root(Scope::PacketContext, stream.packet_context)?;
        let event_header = self.root(Scope::EventHeader, stream.event_header)?;
        let common_context = self.root(Scope::CommonContext, stream.common_context)?;
        let mut events = Vec::with_capacity(stream.events.len());
        for event in stream.events {
            events.push(self.event(event)?);
        }
        Ok(StreamClass {
            id: stream.id,
            name: stream.name,
            clock: self.clock.or(stream.clock),
            packet_context,
            event_header,
            common_context,
            events,
        })
    }

    fn event(&mut self, event: DeclaredEvent) -> Result<EventClass, Fault> {
        self.at = event.at;
        self.roots[Scope::SpecificContext as usize..].fill(None);
        let specific_context = self.root(Scope::SpecificContext, event.specific_context)?;
        let payload = self.root(Scope::Payload, event.payload)?;
        if empty::are_empty(&self.roots[Scope::EventHeader as usize..]) {
            let message = "expected events with at least one bit, found events without any";
            return Err(fault(event.at, message));
        }
        let DeclaredEvent { id, name, log_level, uri, .. } = event;
        Ok(EventClass { id, name, log_level, uri, specific_context, payload })
    }

    /// Places the root structure of a scope.
    fn root(
        &mut self,
        scope: Scope,
        structure: Option<Arc<StructureType>>,
    ) -> Result<Option<Arc<Structure>>, Fault> {
        self.scope = scope;
        self.roots[scope as usize] = structure.clone();
        let Some(structure) = structure else { return Ok(None) };
        self.fields = self.fields.saturating_add(structure.shape.fields);
        if self.fields > MAX_FIELDS {
            let message = format!("expected at most {MAX_FIELDS} fields in all scopes, found more");
            return Err(fault(self.at, message));
        }
        self.structure(&structure).map(Some)
    }

    fn structure(&mut self, structure: &Arc<StructureType>) -> Result<Arc<Structure>, Fault> {
        let is_shared = structure.shape.is_closed && self.scope >= Scope::CommonContext;
        if let Some(placed) = self.shared.get(&structure.body).filter(|_| is_shared) {
            return Ok(Arc::clone(placed));
        }
        let depth = self.frames.len();
        let mut members = Vec::with_capacity(structure.members.len());
        for (index, member) in structure.members.iter().enumerate() {
            self.at = member.at;
            self.frames.push(Frame::Structure(Arc::clone(structure), index));
            let class = self.member(member, index == 0)?;
            members.push(Member { name: Arc::clone(&member.shown), class });
            self.frames.truncate(depth);
        }
        let placed = Arc::new(Structure { alignment: structure.shape.alignment, members });
        if is_shared {
            self.shared.insert(structure.body, Arc::clone(&placed));
        }
        Ok(placed)
    }

    fn member(&mut self, member: &MemberType, is_first: bool) -> Result<Class, Fault> {
        let place = Place {
            scope: self.scope,
            name: &member.name,
            is_root: self.frames.len() == 1,
            is_first,
            is_in_array: self.is_in_array,
        };
        let is_named = place.is_root && place.scope == Scope::PacketHeader && place.name == "uuid";
        if self.version == Version::Ctf1 && is_named && is_uuid(&member.class) {
            return Ok(Class::Blob { length: Length::Fixed(16), is_uuid: true });
        }
        self.class(&member.class, place)
    }

    fn class(&mut self, class: &Type, place: Place<'_>) -> Result<Class, Fault> {
        Ok(match class {
            Type::Integer(integer) => self.integer(integer, place)?,
            Type::Float(float) => Class::Float(*float),
            Type::Text(encoding) => Class::Text(*encoding),
            Type::SizedText { length, encoding } => {
                Class::SizedText { length: self.length(length)?, encoding: *encoding }
            }
            Type::Blob { length, is_uuid } => {
                let is_uuid = *is_uuid && self.scope == Scope::PacketHeader;
                Class::Blob { length: self.length(length)?, is_uuid }
            }
            Type::Structure(structure) => Class::Structure(self.structure(structure)?),
            Type::Array(array) => self.array(array, place)?,
            Type::Choice(choice) => self.choice(choice, place)?,
            Type::Unsupported(reason) => return Err(fault(self.at, &**reason)),
        })
    }

    fn array(&mut self, array: &ArrayType, place: Place<'_>) -> Result<Class, Fault> {
        let length = self.length(&array.length)?;
        let was_in_array = std::mem::replace(&mut self.is_in_array, true);
        self.frames.push(Frame::Array);
        let place = Place { is_root: false, is_in_array: true, ..place };
        let element = self.class(&array.element, place)?;
        self.frames.pop();
        self.is_in_array = was_in_array;
        Ok(Class::Array(Arc::new(Array { length, alignment: array.shape.alignment, element })))
    }

    fn choice(&mut self, choice: &ChoiceType, place: Place<'_>) -> Result<Class, Fault> {
        let at = self.at;
        let Some(reference) = &choice.selector else {
            return Err(fault(
                at,
                "expected a tag of the variant, as in 'variant <tag>', found none",
            ));
        };
        let found = self.find(reference)?;
        let values = selecting(choice, reference, &found)?;
        let mut options = Vec::with_capacity(choice.options.len());
        for (index, (option, values)) in choice.options.iter().zip(values).enumerate() {
            self.at = option.at;
            self.frames.push(Frame::Choice(index));
            let place = Place { name: &option.name, is_root: false, ..place };
            let class = self.class(&option.class, place)?;
            self.frames.pop();
            options.push(ChoiceOption { name: Arc::clone(&option.shown), values, class });
        }
        let placed = Arc::new(Choice { selector: found.location, options });
        Ok(match choice.is_optional {
            true => Class::Optional(placed),
            false => Class::Variant(placed),
        })
    }

    fn length(&mut self, length: &LengthType) -> Result<Length, Fault> {
        let reference = match length {
            LengthType::Fixed(length) => return Ok(Length::Fixed(*length)),
            LengthType::Field(reference) => reference,
        };
        let found = self.find(reference)?;
        let is_length = |integer: &Arc<IntegerType>| integer.class.kind == IntegerKind::Unsigned;
        match found.integers.iter().find(|integer| !is_length(integer)) {
            Some(other) => {
                let found = Type::Integer(Arc::clone(other)).described();
                let message = format!("expected an unsigned integer as length, found {found}");
                Err(fault(reference.at, message))
            }
            None => Ok(Length::Field(found.location)),
        }
    }

    fn find(&self, reference: &Reference) -> Result<Found, Fault> {
        lookup::find(reference, self.scope, &self.roots, &self.frames)
    }

    fn integer(&mut self, integer: &IntegerType, place: Place<'_>) -> Result<Class, Fault> {
        let roles = match self.version {
            Version::Ctf1 => self.roles_by_name(integer, place),
            Version::Ctf2 => self.declared_roles(integer, place),
        };
        if let Some(clock) = integer.clock {
            if integer.class.kind != IntegerKind::Unsigned {
                let message = "expected an unsigned integer with a clock, found a signed one";
                return Err(fault(self.at, message));
            }
            self.set_clock(clock)?;
        } else if roles.iter().any(|role| matches!(role, Role::Time | Role::EndTime)) {
            self.set_clock(self.default_clock.unwrap_or(0))?;
        }
        if roles.contains(&Role::Magic) && (integer.class.bits != 32 || integer.is_variable) {
            let bits = integer.class.bits;
            return Err(fault(
                self.at,
                format!("expected a magic number of 32 bits, found {bits}"),
            ));
        }
        let class = roles::with(&integer.class, roles);
        Ok(match integer.is_variable {
            true => Class::Variable(class),
            false => Class::Integer(class),
        })
    }

    /// Returns the roles in CTF 1.8. If a timestamp has no clock, adds the implied clock.
    fn roles_by_name(&mut self, integer: &IntegerType, place: Place<'_>) -> Vec<Role> {
        let is_stamp = roles::is_stamp(integer, place);
        if is_stamp && self.clocks.is_empty() {
            self.clocks.push(implied_clock());
        }
        if is_stamp && self.clocks.len() > 1 && integer.clock.is_none() {
            self.log.warn(self.at, || {
                let name = place.name;
                format!("'{name}' is not a timestamp: it has no 'map' and there are several clocks")
            });
        }
        roles::by_name(integer, place, self.clocks.len() == 1)
    }

    /// Returns the number's declared roles (CTF 2) that are possible in this place.
    fn declared_roles(&mut self, integer: &IntegerType, place: Place<'_>) -> Vec<Role> {
        let mut roles = integer.class.roles.clone();
        roles.retain(|role| {
            let is_time = matches!(role, Role::Time | Role::EndTime);
            let reason = if !roles::is_possible(*role, place.scope) {
                "fields of this scope do not have it"
            } else if is_time && self.default_clock.is_none() {
                "the stream has no default clock"
            } else if *role == Role::Magic && !(place.is_root && place.is_first) {
                "only the first member of the packet header is the magic number"
            } else {
                return true;
            };
            self.log.warn(self.at, || format!("role {role:?} ignored: {reason}"));
            false
        });
        // CTF 2 defines no role for the processor. Recorders use the same name as in CTF 1.8.
        if roles.is_empty() && roles::is_processor(integer, place) {
            roles.push(Role::Processor);
        }
        roles
    }

    /// Sets the clock of the stream.
    fn set_clock(&mut self, clock: usize) -> Result<(), Fault> {
        match self.clock.replace(clock) {
            Some(other) if other != clock => {
                let [first, second] = [other, clock].map(|index| &self.clocks[index].name);
                let message =
                    format!("expected one clock in a stream, found '{first}' and '{second}'");
                Err(fault(self.at, message))
            }
            _ => Ok(()),
        }
    }
}

/// Returns true if a field of this type occupies 16 bytes.
fn is_uuid(class: &Type) -> bool {
    match class {
        Type::SizedText { length: LengthType::Fixed(16), .. } => true,
        Type::Array(array) => match (&array.length, &array.element) {
            (LengthType::Fixed(16), Type::Integer(byte)) => {
                byte.class.bits == 8 && byte.class.alignment == 8
            }
            _ => false,
        },
        _ => false,
    }
}

/// Returns the values that select each option.
///
/// # Errors
/// Returns an error if a selector is of the wrong kind. Also returns an error if the reference
/// leads to several selectors that assign different values to the options.
fn selecting(
    choice: &ChoiceType,
    reference: &Reference,
    found: &Found,
) -> Result<Vec<Vec<(i128, i128)>>, Fault> {
    let mut all: Option<Vec<Vec<(i128, i128)>>> = None;
    for integer in &found.integers {
        let values = values_of(choice, integer).ok_or_else(|| {
            let expected = match choice.options.iter().any(|option| option.values.is_none()) {
                true => "an enumeration",
                false => "an integer",
            };
            let found = Type::Integer(Arc::clone(integer)).described();
            fault(reference.at, format!("expected {expected} as selector, found {found}"))
        })?;
        if all.as_ref().is_some_and(|first| *first != values) {
            let message = "expected the same labels in all selectors, found different labels";
            return Err(fault(reference.at, message));
        }
        all = Some(values);
    }
    Ok(all.unwrap_or_default())
}

/// For each option, returns the values with which the selector `integer` selects the option.
/// Returns `None` if the selector is of the wrong kind.
fn values_of(choice: &ChoiceType, integer: &IntegerType) -> Option<Vec<Vec<(i128, i128)>>> {
    let kind = integer.class.kind;
    let declared = |option: &OptionType| option.values.clone();
    match choice.options.iter().map(declared).collect::<Option<Vec<_>>>() {
        Some(values) if kind == IntegerKind::Boolean => {
            // If the selector is a Boolean, true selects the optional field.
            (choice.is_optional && values.iter().all(Vec::is_empty))
                .then(|| vec![vec![(1, i128::from(u64::MAX))]])
        }
        Some(values) => {
            let is_number = matches!(kind, IntegerKind::Unsigned | IntegerKind::Signed);
            let has_values = values.iter().all(|values| !values.is_empty());
            (is_number && has_values).then_some(values)
        }
        None => integer
            .class
            .is_enumeration
            .then(|| ranges::selecting(&integer.class.mappings, &choice.options)),
    }
}
