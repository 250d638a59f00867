//! Fragments of CTF 2: the preamble, field class aliases, clocks, the trace, streams and events.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use tracewell_wire::ByteOrder;

use super::classes::Classes;
use super::object::Object;
use super::value::{Kind, Value as Json};
use crate::format::ctf::classes::{Clock, LogLevel, Role, Value, Version};
use crate::format::ctf::declared::fault::{Fault, Log, fault};
use crate::format::ctf::declared::trace::{Declared, DeclaredEvent, DeclaredStream};
use crate::format::ctf::declared::types::{StructureType, Type};

/// Reads fragments in order.
pub(super) struct Reader<'l> {
    log: &'l mut Log,
    classes: Classes,
    declared: Declared,
    has_preamble: bool,
    has_trace: bool,
    /// Index of each stream class, by its id.
    streams: HashMap<u64, usize>,
    /// The ids of each event class: the id of its stream, and its own id.
    events: HashSet<(u64, u64)>,
    /// Index of each clock, by its id.
    clocks: HashMap<String, usize>,
}

/// Properties that identify a part of a trace.
const IDENTITY: &[&str] = &["namespace", "name", "uid"];

/// Namespaces of attributes that can contain a log level: those of LTTng and Babeltrace.
const NAMESPACES: [&str; 2] = ["lttng.org,2009", "babeltrace.org,2020"];

impl<'l> Reader<'l> {
    /// Creates a reader for a trace that has no declarations yet.
    pub(super) fn new(log: &'l mut Log) -> Self {
        let declared = Declared {
            version: Version::Ctf2,
            byte_order: ByteOrder::Little,
            uuid: None,
            name: None,
            environment: Vec::new(),
            clocks: Vec::new(),
            packet_header: None,
            streams: Vec::new(),
        };
        Self {
            log,
            classes: Classes::default(),
            declared,
            has_preamble: false,
            has_trace: false,
            streams: HashMap::new(),
            events: HashSet::new(),
            clocks: HashMap::new(),
        }
    }

    /// Reads the next fragment.
    pub(super) fn fragment(&mut self, value: &Json) -> Result<(), Fault> {
        let kind = Object::of(value)?.need("type")?;
        let name = kind.text()?;
        if self.has_preamble == (name == "preamble") {
            let expected =
                if self.has_preamble { "another fragment" } else { "\"preamble\" first" };
            return Err(kind.expected(expected));
        }
        match name {
            "preamble" => self.preamble(value),
            "field-class-alias" => {
                let alias = Object::part(value, &[&["name", "field-class"]], self.log)?;
                self.classes.alias(alias.need("name")?, alias.need("field-class")?, self.log)
            }
            "clock-class" => self.clock(value),
            "trace-class" => self.trace(value),
            "data-stream-class" => self.stream(value),
            "event-record-class" => self.event(value),
            _ => Err(kind.expected("the type of a fragment")),
        }
    }

    /// Adds a warning that the last fragment is unfinished.
    ///
    /// # Errors
    /// Returns the error of the fragment if no stream precedes it.
    pub(super) fn unfinished(&mut self, error: Fault) -> Result<(), Fault> {
        if self.declared.streams.is_empty() {
            return Err(error);
        }
        self.log.warn(error.at, || {
            "unfinished fragment at the end of the metadata, ignored".to_owned()
        });
        Ok(())
    }

    /// Returns the declarations of all fragments.
    pub(super) fn finish(self) -> Result<Declared, Fault> {
        match self.has_preamble {
            true => Ok(self.declared),
            false => Err(fault(0, "expected the fragment \"preamble\", found none")),
        }
    }

    fn preamble(&mut self, value: &Json) -> Result<(), Fault> {
        let preamble = Object::part(value, &[&["version", "uuid"]], self.log)?;
        let version = preamble.need("version")?;
        if version.unsigned()? != 2 {
            return Err(version.expected("version 2"));
        }
        self.declared.uuid = preamble.get("uuid").map(uuid).transpose()?;
        self.has_preamble = true;
        Ok(())
    }

    fn clock(&mut self, value: &Json) -> Result<(), Fault> {
        let known = &[
            "id",
            "frequency",
            "description",
            "origin",
            "offset-from-origin",
            "precision",
            "accuracy",
            "uuid",
        ];
        let clock = Object::part(value, &[known, IDENTITY], self.log)?;
        // The draft identifies clocks by name.
        let id = clock.get("id").or_else(|| clock.get("name"));
        let id = id.map_or_else(|| clock.need("id"), Ok)?;
        let frequency = clock.need("frequency")?;
        if frequency.unsigned()? == 0 {
            return Err(frequency.expected("a frequency of at least 1 Hz"));
        }
        let frequency = frequency.unsigned()?;
        let is_unix = clock.get("origin").map_or(Ok(false), |origin| self.is_unix(origin))?;
        let mut offset_seconds = 0;
        let mut offset_cycles = 0;
        if let Some(offset) = clock.get("offset-from-origin") {
            let offset = Object::part(offset, &[&["seconds", "cycles"]], self.log)?;
            offset_seconds = offset.get("seconds").map_or(Ok(0), Json::signed)?;
            if let Some(cycles) = offset.get("cycles") {
                let less = Some(cycles.unsigned()?).filter(|cycles| *cycles < frequency);
                offset_cycles = less
                    .and_then(|cycles| i64::try_from(cycles).ok())
                    .ok_or_else(|| cycles.expected("less cycles than a second has"))?;
            }
        }
        clock.get("accuracy").map(Json::unsigned).transpose()?;
        let uid = match clock.get("uuid") {
            Some(value) => Some(uuid_text(uuid(value)?)),
            None => clock.text("uid")?.map(str::to_owned),
        };
        let index = self.declared.clocks.len();
        if self.clocks.insert(id.text()?.to_owned(), index).is_some() {
            return Err(id.expected("a new id of a clock"));
        }
        self.declared.clocks.push(Clock {
            name: id.text()?.to_owned(),
            uid,
            description: clock.text("description")?.unwrap_or_default().to_owned(),
            frequency,
            offset_seconds,
            offset_cycles,
            precision: clock.get("precision").map(Json::unsigned).transpose()?,
            is_unix,
        });
        Ok(())
    }

    /// Returns true if the origin of a clock is the Unix epoch.
    fn is_unix(&mut self, origin: &Json) -> Result<bool, Fault> {
        match &origin.kind {
            Kind::Text(text) if text == "unix-epoch" => Ok(true),
            Kind::Object(_) => {
                Object::part(origin, &[IDENTITY], self.log)?.need("name")?.text()?;
                Ok(false)
            }
            _ => Err(origin.expected("\"unix-epoch\" or an object")),
        }
    }

    fn trace(&mut self, value: &Json) -> Result<(), Fault> {
        let known = &["environment", "packet-header-field-class", "uuid"];
        let trace = Object::part(value, &[known, IDENTITY], self.log)?;
        if self.has_trace || !self.declared.streams.is_empty() {
            return Err(fault(value.at, "expected one trace class before the stream classes"));
        }
        self.has_trace = true;
        self.declared.name = trace.text("name")?.filter(|name| !name.is_empty()).map(str::to_owned);
        // In the draft, the UUID is a property of the trace class.
        if let (None, Some(value)) = (self.declared.uuid, trace.get("uuid")) {
            self.declared.uuid = Some(uuid(value)?);
        }
        if let Some(environment) = trace.get("environment") {
            for (name, value) in Object::of(environment)?.properties() {
                let value = match &value.kind {
                    Kind::Text(text) => Value::Text(text.clone()),
                    _ => Value::Number(value.signed()?),
                };
                self.declared.environment.push((name.clone(), value));
            }
        }
        let header = self.root(trace, "packet-header-field-class")?;
        let first = header.as_ref().and_then(|header| header.members.first());
        if let Some(Type::Integer(magic)) = first.map(|member| &member.class)
            && magic.class.roles.contains(&Role::Magic)
        {
            self.declared.byte_order = magic.class.order;
        }
        self.declared.packet_header = header;
        Ok(())
    }

    /// Returns the root structure of a scope.
    fn root(
        &mut self,
        object: Object<'_>,
        name: &str,
    ) -> Result<Option<Arc<StructureType>>, Fault> {
        let Some(value) = object.get(name) else { return Ok(None) };
        match self.classes.class(value, self.log)? {
            Type::Structure(structure) => Ok(Some(structure)),
            other => {
                let found = other.described();
                Err(fault(value.at, format!("expected a structure for '{name}', found {found}")))
            }
        }
    }

    fn stream(&mut self, value: &Json) -> Result<(), Fault> {
        let known = &[
            "id",
            "default-clock-class-id",
            "default-clock-class-name",
            "packet-context-field-class",
            "event-record-header-field-class",
            "event-record-common-context-field-class",
        ];
        let stream = Object::part(value, &[known, IDENTITY], self.log)?;
        let id = stream.unsigned_or("id", 0)?;
        let clock = stream.get("default-clock-class-id");
        let clock = clock.or_else(|| stream.get("default-clock-class-name"));
        let clock = clock.map(|clock| {
            let index = self.clocks.get(clock.text()?).copied();
            index.ok_or_else(|| clock.expected("the id of a clock"))
        });
        let stream = DeclaredStream {
            at: value.at,
            id,
            name: stream.text("name")?.map(str::to_owned),
            clock: clock.transpose()?,
            packet_context: self.root(stream, "packet-context-field-class")?,
            event_header: self.root(stream, "event-record-header-field-class")?,
            common_context: self.root(stream, "event-record-common-context-field-class")?,
            events: Vec::new(),
        };
        if self.streams.insert(id, self.declared.streams.len()).is_some() {
            let message = format!("expected a new id of a stream class, found {id} again");
            return Err(fault(value.at, message));
        }
        self.declared.streams.push(stream);
        Ok(())
    }

    fn event(&mut self, value: &Json) -> Result<(), Fault> {
        let known =
            &["id", "data-stream-class-id", "specific-context-field-class", "payload-field-class"];
        let event = Object::part(value, &[known, IDENTITY], self.log)?;
        let id = event.unsigned_or("id", 0)?;
        let stream = event.unsigned_or("data-stream-class-id", 0)?;
        let Some(&index) = self.streams.get(&stream) else {
            let at = event.get("data-stream-class-id").map_or(value.at, |id| id.at);
            let message = format!("expected the id of a stream class, found {stream}");
            return Err(fault(at, message));
        };
        if !self.events.insert((stream, id)) {
            let message = format!("expected a new id of an event class, found {id} again");
            return Err(fault(value.at, message));
        }
        let attribute = |name| attribute(event, name);
        let event = DeclaredEvent {
            at: value.at,
            id,
            name: event.text("name")?.map(str::to_owned),
            log_level: attribute("log-level").map(LogLevel::Word),
            uri: attribute("emf-uri"),
            specific_context: self.root(event, "specific-context-field-class")?,
            payload: self.root(event, "payload-field-class")?,
        };
        self.declared.streams[index].events.push(event);
        Ok(())
    }
}

/// Returns an attribute of LTTng, if it is a string.
fn attribute(object: Object<'_>, name: &str) -> Option<String> {
    let attributes = object.get("attributes").or_else(|| object.get("user-attributes"))?;
    let attributes = Object::of(attributes).ok()?;
    NAMESPACES.iter().find_map(|namespace| {
        let value = Object::of(attributes.get(namespace)?).ok()?.get(name)?;
        value.text().ok().map(str::to_owned)
    })
}

/// Returns a UUID of 16 numbers.
fn uuid(value: &Json) -> Result<[u8; 16], Fault> {
    let byte = |value: &Json| u8::try_from(value.unsigned()?).map_err(|_| value.expected("a byte"));
    let bytes = value.list()?.iter().map(byte).collect::<Result<Vec<u8>, _>>()?;
    bytes.try_into().map_err(|_| value.expected("16 bytes"))
}

/// Returns a UUID as text.
fn uuid_text(uuid: [u8; 16]) -> String {
    let digits = format!("{:032x}", u128::from_be_bytes(uuid));
    let (first, rest) = digits.split_at(8);
    let (second, rest) = rest.split_at(4);
    let (third, rest) = rest.split_at(4);
    let (fourth, fifth) = rest.split_at(4);
    format!("{first}-{second}-{third}-{fourth}-{fifth}")
}
