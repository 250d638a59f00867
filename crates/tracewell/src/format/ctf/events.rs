//! Converts the event classes of a trace to event types of the model.
//!
//! Event types with the same name and arguments share one id, for example if two processes run the
//! same program.

use std::collections::HashMap;
use std::sync::Arc;

use foldhash::fast::RandomState;

use super::classes::{Class, EventClass, Integer, IntegerKind, StreamClass, Structure};
use super::field::{Field, encoding};
use super::layout::{Layout, packet_arguments};
use super::systems::System;
use super::who::{Known, Who};
use crate::model::schema::{Argument, ArgumentKind, EventType, Schema, TableId};
use crate::model::values::MAX_SLOTS;
use crate::text::shown;

/// Name of the argument that contains all fields without a slot of their own.
const OTHERS: &str = "others";

/// Maximum number of values with names in a table.
const MAX_NAMED: i128 = 1 << 12;

/// The arguments of an event.
type Arguments = Vec<Field>;

/// The numbers and names of a table, and true if the numbers have a sign.
type TableKey = (Vec<(u64, String)>, bool);

/// The event types and tables so far.
#[derive(Debug, Default)]
pub(super) struct Maker {
    system: System,
    ids: HashMap<(String, Arguments), u32, RandomState>,
    tables: HashMap<TableKey, TableId, RandomState>,
    next: u32,
}

impl Maker {
    /// Adds the event types of all layouts to a schema. Types from earlier calls keep their ids,
    /// unless later layouts show which system recorded the trace.
    pub(super) fn define(&mut self, layouts: &mut [Layout], schema: &mut Schema) {
        let streams = layouts.iter().flat_map(|layout| &layout.metadata.streams);
        let events = streams.flat_map(|stream| &stream.events);
        let system = System::of(events.filter_map(|event| event.name.as_deref()));
        if system != self.system {
            self.system = system;
            self.ids.clear();
        }
        for layout in layouts {
            for (class, compiled) in layout.metadata.streams.iter().zip(&mut layout.streams) {
                for (event, compiled) in class.events.iter().zip(&mut compiled.events) {
                    compiled.known = self.event(event, class, schema);
                    if !compiled.known.who.is_plain() {
                        compiled.plain = None;
                    }
                }
            }
        }
    }

    fn event(&mut self, event: &EventClass, stream: &StreamClass, schema: &mut Schema) -> Known {
        let name = match &event.name {
            Some(name) => shown(name).into_owned(),
            None => format!("event {}", event.id),
        };
        let args = self.arguments(event, stream, schema);
        let mut who = Who::new(&name, &args, &self.system);
        let key = (name, args);
        if let Some(id) = self.ids.get(&key) {
            who.describe(schema.event(*id));
            return Known { id: *id, who };
        }
        let id = self.next;
        self.next += 1;
        let (name, args) = key.clone();
        let args = args.into_iter().map(|Field { name, kind, encoding }| Argument {
            name,
            kind,
            encoding: encoding.to_owned(),
            zero: None,
        });
        let family = name.split_once(':').map_or("event", |(provider, _)| provider).to_owned();
        schema.define(self.system.describe(EventType {
            id,
            label: name.clone(),
            name,
            family,
            filter: 0,
            args: args.collect(),
            means: None,
            details: crate::model::schema::Details::default(),
            instrumentation: crate::model::schema::Instrumentation::default(),
        }));
        who.describe(schema.event(id));
        self.ids.insert(key, id);
        Known { id, who }
    }

    /// Returns the arguments of an event: payload, specific context, common context, packet
    /// context.
    fn arguments(
        &mut self,
        event: &EventClass,
        stream: &StreamClass,
        schema: &mut Schema,
    ) -> Arguments {
        fn of(structure: &Option<Arc<Structure>>) -> impl Iterator<Item = (&str, &Class)> {
            let members = structure.iter().flat_map(|structure| &structure.members);
            members.map(|member| (&*member.name, &member.class))
        }
        let payload = of(&event.payload).map(|field| ("payload", field));
        let specific = of(&event.specific_context).map(|field| ("event_context", field));
        let common = of(&stream.common_context).map(|field| ("context", field));
        let packet = packet_arguments(stream);
        let packet = packet.map(|(_, name, class)| ("packet", (&**name, class)));
        let all = payload.chain(specific).chain(common).chain(packet);
        let mut args = Arguments::new();
        // One field more than the maximum is enough to show that there are too many.
        for (scope, (name, class)) in all.take(MAX_SLOTS + 1) {
            let name = unique(&args, scope, &shown(name));
            let kind = self.kind(class, schema);
            args.push(Field { name, kind, encoding: encoding(class) });
        }
        if args.len() > MAX_SLOTS {
            args.truncate(MAX_SLOTS - 1);
            let name = unique(&args, "all", OTHERS);
            args.push(Field { name, kind: ArgumentKind::Nested, encoding: "" });
        }
        args
    }

    fn kind(&mut self, class: &Class, schema: &mut Schema) -> ArgumentKind {
        match class {
            Class::Integer(integer) | Class::Variable(integer) => self.number(integer, schema),
            Class::Float(_) => ArgumentKind::Float,
            Class::Text(_) | Class::SizedText { .. } => ArgumentKind::Text,
            Class::Blob { .. } => ArgumentKind::Bytes,
            Class::Structure(_) | Class::Array(_) | Class::Optional(_) | Class::Variant(_) => {
                ArgumentKind::Nested
            }
        }
    }

    fn number(&mut self, integer: &Integer, schema: &mut Schema) -> ArgumentKind {
        if let Some(table) = self.table(integer, schema) {
            return ArgumentKind::Enum(table);
        }
        match integer.kind {
            IntegerKind::Boolean => ArgumentKind::Bool,
            IntegerKind::Signed => ArgumentKind::Signed,
            IntegerKind::BitArray | IntegerKind::BitMap => ArgumentKind::Hex,
            IntegerKind::Unsigned if integer.base == 16 => ArgumentKind::Hex,
            IntegerKind::Unsigned => ArgumentKind::Unsigned,
        }
    }

    /// Returns the table of names for an enumeration. Returns `None` if the enumeration names no
    /// values, or more than [`MAX_NAMED`].
    fn table(&mut self, integer: &Integer, schema: &mut Schema) -> Option<TableId> {
        let is_number = matches!(integer.kind, IntegerKind::Unsigned | IntegerKind::Signed);
        let values = |sum: i128, (low, high): (i128, i128)| sum.checked_add(high - low + 1);
        let ranges = integer.mappings.iter().map(|mapping| (mapping.low, mapping.high));
        let count = ranges.clone().try_fold(0, values)?;
        if !is_number || count == 0 || count > MAX_NAMED {
            return None;
        }
        let names = integer.mappings.iter().flat_map(|mapping| {
            let label = shown(&*mapping.label).into_owned();
            (mapping.low..=mapping.high).map(move |value| (value as u64, label.clone()))
        });
        let names: Vec<_> = names.collect();
        let key = (names, integer.kind == IntegerKind::Signed);
        if let Some(table) = self.tables.get(&key) {
            return Some(*table);
        }
        let names = key.0.iter().cloned();
        let table = match key.1 {
            true => schema.add_signed_table("enumeration", names)?,
            false => schema.add_table("enumeration", names)?,
        };
        self.tables.insert(key, table);
        Some(table)
    }
}

/// Returns a name that no other argument has: the name itself, the name with its scope, or the name
/// with a number.
fn unique(args: &[Field], scope: &str, name: &str) -> String {
    let is_taken = |name: &str| args.iter().any(|known| known.name == name);
    if !is_taken(name) {
        return name.to_owned();
    }
    let scoped = format!("{scope}_{name}");
    if !is_taken(&scoped) {
        return scoped;
    }
    format!("{scoped}_{}", args.len() + 1)
}
