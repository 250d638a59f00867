//! Writes the types of a CTF trace as text, in the form of Babeltrace's sink `text.details`, or
//! with all facts that are necessary to read packets. Also makes metadata for tests.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tracewell::format::ctf::classes::{
    Choice, Class, Clock, EventClass, Integer, IntegerKind, Length, Location, LogLevel, Mapping,
    Metadata, Role, Scope, StreamClass, Structure,
};
use tracewell::format::ctf::metadata::{self, Parsed};

/// The start of most metadata texts in tests.
pub const TRACE: &str = "trace { major = 1; minor = 8; byte_order = le; };
typealias integer { size = 8; } := u8;
typealias integer { size = 16; } := u16;
typealias integer { size = 8; signed = true; } := i8;
typealias integer { size = 8; encoding = UTF8; } := letter;
";

/// Reads a text after [`TRACE`]. Lines in errors count from the start of `text`.
pub fn read_tsdl(text: &str) -> Result<Parsed, String> {
    metadata::read(format!("{TRACE}{text}").as_bytes())
        .map_err(|error| format!("{}:{}: {}", error.line - 5, error.column, error.message))
}

/// Returns all files named `metadata` below a folder.
pub fn metadata_files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(metadata_files(&path));
        } else if path.file_name().is_some_and(|name| name == "metadata") {
            files.push(path);
        }
    }
    files.sort();
    files
}

/// The types of a trace as text.
pub struct Types {
    /// True if the text contains all facts: headers, alignments, byte orders and roles. False if it
    /// contains only the facts that Babeltrace prints.
    pub is_full: bool,
    text: String,
}

impl Types {
    /// Returns the text of a trace.
    pub fn of(metadata: &Metadata, is_full: bool) -> String {
        let mut types = Self { is_full, text: "Trace class:\n".to_owned() };
        if is_full {
            types.scope(1, "Packet header", metadata.packet_header.as_deref());
        }
        for stream in &metadata.streams {
            types.stream(metadata, stream);
        }
        types.text
    }

    fn line(&mut self, depth: usize, line: impl AsRef<str>) {
        let _ = writeln!(self.text, "{:1$}{2}", "", depth * 2, line.as_ref());
    }

    fn stream(&mut self, metadata: &Metadata, stream: &StreamClass) {
        let context = stream.packet_context.as_deref();
        let has = |role| {
            let mut members = context.iter().flat_map(|context| &context.members);
            members.any(|member| roles(&member.class).contains(&role))
        };
        let yes = |is_true| if is_true { "Yes" } else { "No" };
        let clocked = stream.clock.is_some();
        self.line(1, format!("Stream class (ID {}):", stream.id));
        self.line(2, "Supports packets: Yes");
        for (role, name) in [(Role::Time, "beginning"), (Role::EndTime, "end")] {
            let has = yes(has(role));
            self.line(2, format!("Packets have {name} default clock snapshot: {has}"));
        }
        for (role, name) in [(Role::Discarded, "events"), (Role::PacketNumber, "packets")] {
            self.line(2, format!("Supports discarded {name}: {}", yes(has(role))));
            if has(role) {
                let clocked = yes(clocked && has(Role::Time) && has(Role::EndTime));
                self.line(2, format!("Discarded {name} have default clock snapshots: {clocked}"));
            }
        }
        if let Some(clock) = stream.clock {
            self.clock(&metadata.clocks[clock]);
        }
        self.scope(2, "Packet context", context);
        if self.is_full {
            self.scope(2, "Event header", stream.event_header.as_deref());
        }
        self.scope(2, "Event common context", stream.common_context.as_deref());
        for event in &stream.events {
            self.event(event);
        }
    }

    fn clock(&mut self, clock: &Clock) {
        // If the offset in cycles exceeds a second, Babeltrace moves the whole seconds to the
        // offset in seconds.
        let frequency = i128::from(clock.frequency);
        let cycles = i128::from(clock.offset_cycles);
        let seconds = i128::from(clock.offset_seconds) + cycles.div_euclid(frequency);
        self.line(2, "Default clock class:");
        self.line(3, format!("Name: {}", clock.name));
        if !clock.description.is_empty() {
            self.line(3, format!("Description: {}", clock.description));
        }
        self.line(3, format!("Frequency (Hz): {}", grouped(frequency)));
        let precision = i128::from(clock.precision.unwrap_or(0));
        self.line(3, format!("Precision (cycles): {}", grouped(precision)));
        self.line(3, format!("Offset (s): {}", grouped(seconds)));
        self.line(3, format!("Offset (cycles): {}", grouped(cycles.rem_euclid(frequency))));
        let is_unix = if clock.is_unix { "Yes" } else { "No" };
        self.line(3, format!("Origin is Unix epoch: {is_unix}"));
        if let Some(uid) = &clock.uid {
            self.line(3, format!("UUID: {uid}"));
        }
    }

    fn event(&mut self, event: &EventClass) {
        let name = event.name.as_ref().map_or(String::new(), |name| format!("`{name}` "));
        self.line(2, format!("Event class {name}(ID {}):", event.id));
        if let Some(level) = event.log_level.as_ref().and_then(level) {
            self.line(3, format!("Log level: {level}"));
        }
        if let Some(uri) = &event.uri {
            self.line(3, format!("EMF URI: {uri}"));
        }
        self.scope(3, "Specific context", event.specific_context.as_deref());
        self.scope(3, "Payload", event.payload.as_deref());
    }

    fn scope(&mut self, depth: usize, name: &str, structure: Option<&Structure>) {
        let Some(structure) = structure else { return };
        // Babeltrace does not show the members that only describe the packet.
        let hidden = |class: &Class| {
            !self.is_full
                && name == "Packet context"
                && roles(class).iter().any(|role| *role != Role::Processor)
        };
        let members = structure.members.iter().filter(|member| !hidden(&member.class));
        let members: Vec<_> = members.map(|member| (&*member.name, &member.class)).collect();
        if members.is_empty() && !structure.members.is_empty() {
            return;
        }
        self.structure(depth, &format!("{name} field class"), structure.alignment, &members);
    }

    fn structure(&mut self, depth: usize, name: &str, alignment: u32, members: &[(&str, &Class)]) {
        let count = members.len();
        let plural = if count == 1 { "" } else { "s" };
        let aligned = if self.is_full { format!(", alignment {alignment}") } else { String::new() };
        let end = if count == 0 { "" } else { ":" };
        let line = format!("{name}: Structure ({count} member{plural}{aligned}){end}");
        self.line(depth, line);
        for (name, class) in members {
            self.class(depth + 1, name, class);
        }
    }

    fn class(&mut self, depth: usize, name: &str, class: &Class) {
        match class {
            Class::Integer(integer) => self.integer(depth, name, integer, "-bit"),
            Class::Variable(integer) => self.integer(depth, name, integer, "-bit, variable"),
            Class::Float(float) => {
                let precision = if float.bits == 32 { "Single" } else { "Double" };
                let (alignment, order) = (float.alignment, float.order);
                let full = match self.is_full {
                    true => {
                        format!(" (alignment {alignment}, {order}{})", reversed(float.reversed))
                    }
                    false => String::new(),
                };
                self.line(depth, format!("{name}: {precision}-precision real{full}"));
            }
            Class::Text(encoding) if self.is_full => {
                self.line(depth, format!("{name}: String ({encoding:?})"));
            }
            Class::SizedText { length, encoding } if self.is_full => {
                let length = length_of(length);
                self.line(depth, format!("{name}: String ({encoding:?}, {length})"));
            }
            Class::Text(_) | Class::SizedText { .. } => self.line(depth, format!("{name}: String")),
            Class::Blob { length, is_uuid } => {
                let uuid = if *is_uuid { ", UUID" } else { "" };
                self.line(depth, format!("{name}: Blob ({}{uuid})", length_of(length)));
            }
            Class::Structure(structure) => {
                let members = structure.members.iter().map(|m| (&*m.name, &m.class));
                let members: Vec<_> = members.collect();
                self.structure(depth, name, structure.alignment, &members);
            }
            Class::Array(array) => {
                let kind = match &array.length {
                    Length::Fixed(_) => "Static array",
                    Length::Field(_) => "Dynamic array (with length field)",
                };
                let length = length_of(&array.length);
                let full = match self.is_full {
                    true => format!(", alignment {}", array.alignment),
                    false => String::new(),
                };
                self.line(depth, format!("{name}: {kind} ({length}{full}):"));
                self.class(depth + 1, "Element", &array.element);
            }
            Class::Optional(choice) => self.choice(depth, name, "Optional", choice),
            Class::Variant(choice) => {
                self.choice(depth, name, "Variant (unsigned integer selector)", choice);
            }
        }
    }

    fn choice(&mut self, depth: usize, name: &str, kind: &str, choice: &Choice) {
        let (count, path) = (choice.options.len(), place(&choice.selector));
        let plural = if count == 1 { "" } else { "s" };
        let line = format!("{name}: {kind} ({count} option{plural}, Selector field path {path}):");
        self.line(depth, line);
        for option in &choice.options {
            let ranges: Vec<_> = option.values.iter().map(|(a, b)| range(*a, *b)).collect();
            self.class(depth + 1, &format!("{}: {}", option.name, ranges.join(" ")), &option.class);
        }
    }

    fn integer(&mut self, depth: usize, name: &str, integer: &Integer, unit: &str) {
        let kind = match (integer.kind, integer.is_enumeration) {
            (IntegerKind::Unsigned, false) => "Unsigned integer",
            (IntegerKind::Unsigned, true) => "Unsigned enumeration",
            (IntegerKind::Signed, false) => "Signed integer",
            (IntegerKind::Signed, true) => "Signed enumeration",
            (IntegerKind::BitArray, _) => "Bit array",
            (IntegerKind::BitMap, _) => "Bit map",
            (IntegerKind::Boolean, _) => "Boolean",
        };
        let mut labels: Vec<(&str, Vec<(i128, i128)>)> = Vec::new();
        for Mapping { label, low, high } in &integer.mappings {
            let index = labels.iter().position(|(other, _)| *other == &**label);
            let index = index.unwrap_or_else(|| {
                labels.push((label, Vec::new()));
                labels.len() - 1
            });
            labels[index].1.push((*low, *high));
        }
        let count = labels.len();
        let plural = if count == 1 { "" } else { "s" };
        let enumeration = if integer.is_enumeration {
            format!(", {count} mapping{plural}")
        } else {
            String::new()
        };
        let full = match self.is_full {
            true => {
                let roles: Vec<_> =
                    integer.roles.iter().map(|role| format!(", {role:?}")).collect();
                let text = if integer.is_text { ", text" } else { "" };
                let reversed = reversed(integer.reversed);
                let Integer { alignment, order, .. } = integer;
                format!(", alignment {alignment}, {order}{reversed}{text}{}", roles.concat())
            }
            false => String::new(),
        };
        let end = if labels.is_empty() { "" } else { ":" };
        let (bits, base) = (integer.bits, integer.base);
        let line = format!("{name}: {kind} ({bits}{unit}, Base {base}{enumeration}{full}){end}");
        self.line(depth, line);
        labels.sort();
        for (label, mut ranges) in labels {
            ranges.sort();
            let ranges: Vec<_> = ranges.into_iter().map(|(low, high)| range(low, high)).collect();
            self.line(depth + 1, format!("{label}: {}", ranges.join(" ")));
        }
    }
}

/// Returns the roles of a field.
fn roles(class: &Class) -> &[Role] {
    match class {
        Class::Integer(integer) | Class::Variable(integer) => &integer.roles,
        _ => &[],
    }
}

fn reversed(reversed: bool) -> &'static str {
    if reversed { ", reversed" } else { "" }
}

fn length_of(length: &Length) -> String {
    match length {
        Length::Fixed(length) => format!("Length {}", grouped((*length).into())),
        Length::Field(location) => format!("Length field path {}", place(location)),
    }
}

fn place(location: &Location) -> String {
    let scope = match location.scope {
        Scope::PacketHeader => "Packet header",
        Scope::PacketContext => "Packet context",
        Scope::EventHeader => "Event header",
        Scope::CommonContext => "Event common context",
        Scope::SpecificContext => "Event specific context",
        Scope::Payload => "Event payload",
    };
    let indices = |path: &Vec<u32>| path.iter().map(u32::to_string).collect::<Vec<_>>().join(", ");
    let paths: Vec<_> = location.paths.iter().map(indices).collect();
    format!("[{scope}: {}]", paths.join(" or "))
}

fn range(low: i128, high: i128) -> String {
    match low == high {
        true => format!("[{}]", grouped(low)),
        false => format!("[{}, {}]", grouped(low), grouped(high)),
    }
}

/// Returns a number with commas between groups of three digits.
fn grouped(number: i128) -> String {
    let digits = number.unsigned_abs().to_string();
    let mut text = if number < 0 { "-".to_owned() } else { String::new() };
    for (index, digit) in digits.char_indices() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Returns Babeltrace's words for a log level.
fn level(level: &LogLevel) -> Option<&'static str> {
    const LEVELS: [(&str, &str); 15] = [
        ("emergency", "Emergency"),
        ("alert", "Alert"),
        ("critical", "Critical"),
        ("error", "Error"),
        ("warning", "Warning"),
        ("notice", "Notice"),
        ("info", "Info"),
        ("debug:system", "Debug (system)"),
        ("debug:program", "Debug (program)"),
        ("debug:process", "Debug (process)"),
        ("debug:module", "Debug (module)"),
        ("debug:unit", "Debug (unit)"),
        ("debug:function", "Debug (function)"),
        ("debug:line", "Debug (line)"),
        ("debug", "Debug"),
    ];
    match level {
        LogLevel::Number(number) => LEVELS.get(usize::try_from(*number).ok()?),
        LogLevel::Word(word) => LEVELS.iter().find(|(other, _)| other == word),
    }
    .map(|(_, name)| *name)
}

/// Returns metadata of CTF 2 with these fragments after the preamble.
pub fn text(fragments: &[Value]) -> String {
    let preamble = json!({ "type": "preamble", "version": 2 });
    std::iter::once(&preamble)
        .chain(fragments)
        .map(|fragment| format!("\u{1e}{fragment}\n"))
        .collect()
}

/// Returns the class of a structure with these members.
pub fn structure(members: &[(&str, Value)]) -> Value {
    let members: Vec<_> =
        members.iter().map(|(name, class)| json!({ "name": name, "field-class": class })).collect();
    json!({ "type": "structure", "member-classes": members })
}
