//! Interprets blocks of CTF 1.8: the trace, its environment, clocks, streams and events.
//!
//! The byte order, the clocks and the environment are read first, because the text may use each of
//! these before its declaration. The other declarations are read in the order of the text.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use tracewell_wire::ByteOrder;

use super::attributes::check_names;
use super::resolve::Resolver;
use super::tree::{Attribute, Block, BlockKind, Entry, Part, Value as Written};
use super::words::byte_order;
use crate::format::ctf::classes::{Clock, LogLevel, Value, Version};
use crate::format::ctf::declared::fault::{Fault, Log, fault};
use crate::format::ctf::declared::trace::{Declared, DeclaredEvent, DeclaredStream};
use crate::format::ctf::declared::types::{StructureType, Type};

/// Returns the declarations of a syntax tree.
///
/// # Errors
/// Returns the position of the first error, what was expected and what was found.
pub(super) fn declared(parts: &[Part<'_>], log: &mut Log) -> Result<Declared, Fault> {
    let blocks = |kind| {
        parts.iter().filter_map(move |part| match part {
            Part::Block(block) if block.kind == kind => Some(block),
            _ => None,
        })
    };
    let mut traces = blocks(BlockKind::Trace);
    let trace = traces.next().ok_or_else(|| fault(0, "expected a block 'trace', found none"))?;
    if let Some(second) = traces.next() {
        return Err(fault(second.at, "expected one block 'trace', found another"));
    }
    let (byte_order, uuid) = trace_attributes(trace, log)?;
    let environment = environment(blocks(BlockKind::Environment), log);
    let clocks = clocks(blocks(BlockKind::Clock), &environment, log)?;
    let mut reader = Reader {
        resolver: Resolver::new(byte_order, clocks, environment, log),
        packet_header: None,
        streams: Vec::new(),
        events: Vec::new(),
    };
    for part in parts {
        reader.part(part)?;
    }
    let Reader { resolver, packet_header, streams, events } = reader;
    let Resolver { clocks, environment, log, .. } = resolver;
    let streams = joined(streams, events, log)?;
    let has_ids = packet_header
        .as_ref()
        .is_some_and(|header: &Arc<StructureType>| header.index_of("stream_id").is_some());
    if streams.len() > 1 && !has_ids {
        log.warn(trace.at, || {
            "several streams, but no 'stream_id' in the packet header: all packets are of stream 0"
                .to_owned()
        });
    }
    Ok(Declared {
        version: Version::Ctf1,
        byte_order,
        uuid,
        name: None,
        environment,
        clocks,
        packet_header,
        streams,
    })
}

/// Returns the attributes of a block.
fn attributes<'t>(block: &'t Block<'t>) -> impl Iterator<Item = &'t Attribute<'t>> + Clone {
    block.entries.iter().filter_map(|entry| match entry {
        Entry::Attribute(attribute) => Some(attribute),
        _ => None,
    })
}

/// Returns the byte order and the UUID of a trace block.
fn trace_attributes(
    trace: &Block<'_>,
    log: &mut Log,
) -> Result<(ByteOrder, Option<[u8; 16]>), Fault> {
    check_names(attributes(trace))?;
    let (mut order, mut uuid, mut versions) = (None, None, [None, None]);
    for attribute in attributes(trace) {
        match &*attribute.name {
            "major" => versions[0] = Some(version(attribute, 1)?),
            "minor" => versions[1] = Some(version(attribute, 8)?),
            "byte_order" => order = Some(byte_order(attribute)?),
            "uuid" => uuid = Some(attribute.uuid()?),
            _ => attribute.warn_unknown(log),
        }
    }
    let missing = |name| fault(trace.at, format!("expected the attribute '{name}' of the trace"));
    versions[0].ok_or_else(|| missing("major"))?;
    versions[1].ok_or_else(|| missing("minor"))?;
    Ok((order.ok_or_else(|| missing("byte_order"))?, uuid))
}

fn version(attribute: &Attribute<'_>, expected: u64) -> Result<(), Fault> {
    match attribute.unsigned()? == expected {
        true => Ok(()),
        false => Err(attribute.expected(&expected.to_string())),
    }
}

/// Returns the environment. A later value replaces an earlier one.
fn environment<'t>(
    blocks: impl Iterator<Item = &'t Block<'t>>,
    log: &mut Log,
) -> Vec<(String, Value)> {
    let mut environment: Vec<(String, Value)> = Vec::new();
    let mut indices: HashMap<&str, usize> = HashMap::new();
    for attribute in blocks.flat_map(attributes) {
        let value = match &attribute.value {
            Written::Number(number) => i64::try_from(*number).ok().map(Value::Number),
            Written::Text(text) => Some(Value::Text(text.clone())),
            Written::Path(_) => None,
        };
        let Some(value) = value else {
            log.warn(attribute.value_at, || {
                attribute.expected("a string or a number below 2^63").message + ", ignored"
            });
            continue;
        };
        match indices.get(&*attribute.name) {
            Some(index) => environment[*index].1 = value,
            None => {
                indices.insert(&*attribute.name, environment.len());
                environment.push((attribute.name.clone(), value));
            }
        }
    }
    environment
}

/// Returns the clocks.
fn clocks<'t>(
    blocks: impl Iterator<Item = &'t Block<'t>>,
    environment: &[(String, Value)],
    log: &mut Log,
) -> Result<Vec<Clock>, Fault> {
    let is_lttng = environment.iter().any(|(name, value)| {
        name == "tracer_name" && matches!(value, Value::Text(text) if text.starts_with("lttng"))
    });
    let mut clocks: Vec<Clock> = Vec::new();
    let mut names = HashSet::new();
    for block in blocks {
        let mut clock = clock(block, log)?;
        // LTTng's clock counts from 1970, although LTTng's metadata does not say so.
        clock.is_unix |= is_lttng && clock.name == "monotonic";
        if !names.insert(clock.name.clone()) {
            let message = format!("expected a new name of a clock, found '{}' again", clock.name);
            return Err(fault(block.at, message));
        }
        clocks.push(clock);
    }
    Ok(clocks)
}

fn clock(block: &Block<'_>, log: &mut Log) -> Result<Clock, Fault> {
    check_names(attributes(block))?;
    let mut name = None;
    let mut offset = 0;
    let mut clock = Clock {
        name: String::new(),
        uid: None,
        description: String::new(),
        frequency: 1_000_000_000,
        offset_seconds: 0,
        offset_cycles: 0,
        precision: None,
        is_unix: false,
    };
    for attribute in attributes(block) {
        match &*attribute.name {
            "name" => name = Some(attribute.name()?),
            "uuid" => {
                attribute.uuid()?;
                clock.uid = Some(attribute.text()?);
            }
            "description" => clock.description = attribute.text()?,
            "freq" => clock.frequency = attribute.unsigned()?,
            "precision" => clock.precision = Some(attribute.unsigned()?),
            "offset_s" => clock.offset_seconds = attribute.signed()?,
            "offset" => match attribute.value {
                Written::Number(number) => offset = number,
                _ => return Err(attribute.expected("a number")),
            },
            "absolute" => clock.is_unix = attribute.boolean()?,
            _ => attribute.warn_unknown(log),
        }
        if clock.frequency == 0 {
            return Err(attribute.expected("a number from 1"));
        }
    }
    clock.name = name.ok_or_else(|| fault(block.at, "expected the attribute 'name' of a clock"))?;
    // An offset in cycles can be larger than an `i64`. Its whole seconds are then added to the
    // offset in seconds.
    clock.offset_cycles = i64::try_from(offset).unwrap_or_else(|_| {
        let frequency = i128::from(clock.frequency);
        let seconds = i128::from(clock.offset_seconds) + offset.div_euclid(frequency);
        clock.offset_seconds = seconds.clamp(i64::MIN.into(), i64::MAX.into()) as i64;
        offset.rem_euclid(frequency) as i64
    });
    Ok(clock)
}

/// Reads the declarations of a text in order.
struct Reader<'l> {
    resolver: Resolver<'l>,
    packet_header: Option<Arc<StructureType>>,
    streams: Vec<DeclaredStream>,
    /// The events, each with the id of its stream.
    events: Vec<(Option<u64>, DeclaredEvent)>,
}

impl Reader<'_> {
    fn part(&mut self, part: &Part<'_>) -> Result<(), Fault> {
        let block = match part {
            Part::Declaration(declaration) => return self.resolver.declare(declaration),
            Part::Block(block) => block,
        };
        self.resolver.scopes.open();
        match block.kind {
            BlockKind::Trace => {
                let [header] = self.structures(block, ["packet.header"])?;
                self.packet_header = header;
            }
            BlockKind::Stream => self.stream(block)?,
            BlockKind::Event => self.event(block)?,
            BlockKind::Environment | BlockKind::Clock | BlockKind::CallSite => {}
        }
        self.resolver.scopes.close();
        Ok(())
    }

    /// Returns the root structures of a block's scopes, and declares its types.
    fn structures<const N: usize>(
        &mut self,
        block: &Block<'_>,
        names: [&str; N],
    ) -> Result<[Option<Arc<StructureType>>; N], Fault> {
        let mut structures = [const { None }; N];
        for entry in &block.entries {
            let (at, path, class) = match entry {
                Entry::Attribute(_) => continue,
                Entry::Declaration(declaration) => {
                    self.resolver.declare(declaration)?;
                    continue;
                }
                Entry::Scope { at, path, class } => (*at, path, class),
            };
            let Some(index) = names.iter().position(|name| name == path) else {
                self.resolver.log.warn(at, || format!("unknown scope '{path}', ignored"));
                continue;
            };
            if structures[index].is_some() {
                return Err(fault(at, format!("expected each scope once, found '{path}' again")));
            }
            structures[index] = match self.resolver.class(class)? {
                Type::Structure(structure) => Some(structure),
                other => {
                    let found = other.described();
                    let message = format!("expected a structure for '{path}', found {found}");
                    return Err(fault(class.at, message));
                }
            };
        }
        Ok(structures)
    }

    fn stream(&mut self, block: &Block<'_>) -> Result<(), Fault> {
        check_names(attributes(block))?;
        let mut id = 0;
        for attribute in attributes(block) {
            match &*attribute.name {
                "id" => id = attribute.unsigned()?,
                _ => attribute.warn_unknown(self.resolver.log),
            }
        }
        let [packet_context, event_header, common_context] =
            self.structures(block, ["packet.context", "event.header", "event.context"])?;
        self.streams.push(DeclaredStream {
            at: block.at,
            id,
            name: None,
            clock: None,
            packet_context,
            event_header,
            common_context,
            events: Vec::new(),
        });
        Ok(())
    }

    fn event(&mut self, block: &Block<'_>) -> Result<(), Fault> {
        check_names(attributes(block))?;
        let mut stream = None;
        let mut event = DeclaredEvent {
            at: block.at,
            id: 0,
            name: None,
            log_level: None,
            uri: None,
            specific_context: None,
            payload: None,
        };
        for attribute in attributes(block) {
            match &*attribute.name {
                "name" => event.name = Some(attribute.name()?),
                "id" => event.id = attribute.unsigned()?,
                "stream_id" => stream = Some(attribute.unsigned()?),
                "loglevel" => event.log_level = Some(LogLevel::Number(attribute.signed()?)),
                "model.emf.uri" => event.uri = Some(attribute.text()?),
                _ => attribute.warn_unknown(self.resolver.log),
            }
        }
        [event.specific_context, event.payload] = self.structures(block, ["context", "fields"])?;
        self.events.push((stream, event));
        Ok(())
    }
}

/// Returns the streams with their events. If the metadata declares no stream, one stream is
/// implied.
fn joined(
    mut streams: Vec<DeclaredStream>,
    events: Vec<(Option<u64>, DeclaredEvent)>,
    log: &mut Log,
) -> Result<Vec<DeclaredStream>, Fault> {
    if let (true, Some((id, event))) = (streams.is_empty(), events.first()) {
        streams.push(DeclaredStream {
            at: event.at,
            id: id.unwrap_or(0),
            name: None,
            clock: None,
            packet_context: None,
            event_header: None,
            common_context: None,
            events: Vec::new(),
        });
    }
    let mut indices = HashMap::new();
    for (index, stream) in streams.iter().enumerate() {
        if indices.insert(stream.id, index).is_some() {
            let message = format!("expected a new id of a stream, found {} again", stream.id);
            return Err(fault(stream.at, message));
        }
    }
    let mut ids = HashSet::new();
    for (stream, event) in events {
        let stream = match (stream, &streams[..]) {
            (Some(id), _) => id,
            (None, [only]) => only.id,
            (None, _) => {
                log.warn(event.at, || "event without 'stream_id', assumed 0".to_owned());
                0
            }
        };
        let Some(index) = indices.get(&stream) else {
            log.warn(event.at, || format!("event of the undeclared stream {stream}, ignored"));
            continue;
        };
        if !ids.insert((stream, event.id)) {
            let id = event.id;
            return Err(fault(
                event.at,
                format!("expected a new id of an event, found {id} again"),
            ));
        }
        streams[*index].events.push(event);
    }
    Ok(streams)
}
