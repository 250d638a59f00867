//! Runs Babeltrace 2 on a CTF folder, and parses the events and the remarks about losses that it
//! prints.

use std::io::Write;
use std::path::Path;
use std::process::Command;

use serde_json::Value as Json;

/// The content of a folder.
#[derive(Default, Debug)]
pub(crate) struct Read {
    pub(crate) events: Vec<Event>,
    pub(crate) losses: Vec<Lost>,
    /// Other lines of standard error.
    pub(crate) remarks: Vec<String>,
}

/// A remark about lost events or packets.
#[derive(Debug)]
pub(crate) struct Lost {
    pub(crate) number: u64,
    /// True for packets, false for events.
    pub(crate) packets: bool,
    /// The beginning and the end in nanoseconds.
    pub(crate) between: (u64, u64),
}

/// An event.
#[derive(Debug)]
pub(crate) struct Event {
    pub(crate) cycles: u64,
    pub(crate) name: String,
    pub(crate) packet: Value,
    pub(crate) context: Value,
    pub(crate) fields: Value,
}

/// The value of a field.
#[derive(Debug, PartialEq)]
pub(crate) enum Value {
    Number(u64),
    Negative(i64),
    Float(f64),
    Text(String),
    /// The label and the number.
    Enum(Option<String>, Box<Self>),
    /// Names are empty in a variant.
    Fields(Vec<(String, Self)>),
    List(Vec<Self>),
}

/// Reads a folder. Returns `None` if Babeltrace is not installed. CI has it.
pub(crate) fn read(folder: &Path) -> Option<Read> {
    let mut command = Command::new("babeltrace2");
    command.args(["--clock-cycles", "--no-delta"]).arg(folder);
    command.env("BABELTRACE_TERM_COLOR", "NEVER").env("TZ", "UTC");
    let Ok(output) = command.output() else {
        assert!(std::env::var_os("CI").is_none(), "CI has babeltrace2");
        // Bypass the test runner's capture, which hides the output of passing tests.
        let _ = writeln!(std::io::stderr(), "skipped: babeltrace2 is not installed");
        return None;
    };
    let mut read = Read::default();
    for line in output.stderr.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
        let line = String::from_utf8_lossy(line);
        match lost(&line) {
            Some(lost) => read.losses.push(lost),
            None => read.remarks.push(line.into_owned()),
        }
    }
    assert!(output.status.success(), "{:?}", read.remarks);
    let text = shown(&output.stdout);
    let mut rest = text.as_str();
    while !rest.is_empty() {
        let mut parser = Parser { rest };
        let event = parser.event().unwrap_or_else(|| {
            panic!("cannot read {:?} of {:?}", parser.rest.lines().next(), rest.lines().next())
        });
        read.events.push(event);
        rest = parser.rest;
    }
    Some(read)
}

/// Returns the text, in which bytes that are not UTF-8 become `\xff`.
fn shown(bytes: &[u8]) -> String {
    let mut text = String::new();
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        chunk.invalid().iter().for_each(|byte| text.push_str(&format!("\\\\x{byte:02x}")));
    }
    text
}

fn lost(line: &str) -> Option<Lost> {
    let rest = line.strip_prefix("WARNING: Tracer discarded ")?;
    let (number, rest) = rest.split_once(' ')?;
    let (what, rest) = rest.split_once(" between [")?;
    let (from, rest) = rest.split_once("] and [")?;
    let (until, _) = rest.split_once(']')?;
    Some(Lost {
        number: number.parse().ok()?,
        packets: what.starts_with("packet"),
        between: (nanoseconds(from)?, nanoseconds(until)?),
    })
}

/// Returns the nanoseconds of `HH:MM:SS.nnnnnnnnn`.
fn nanoseconds(time: &str) -> Option<u64> {
    let (seconds, nanoseconds) = time.split_once('.')?;
    let mut seconds = seconds.split(':').map(|part| part.parse::<u64>().ok());
    let seconds = seconds.try_fold(0, |seconds, part| Some(seconds * 60 + part?))?;
    Some(seconds * 1_000_000_000 + nanoseconds.parse::<u64>().ok()?)
}

struct Parser<'a> {
    rest: &'a str,
}

impl Parser<'_> {
    /// Reads `[CYCLES] NAME: {PACKET}, {CONTEXT}, {FIELDS}` and the end of the line.
    fn event(&mut self) -> Option<Event> {
        self.take("[")?;
        let (cycles, rest) = self.rest.split_once("] ")?;
        let (name, _) = rest.split_once(": { cpu_id = ")?;
        self.rest = rest.get(name.len() + 2..)?;
        let packet = self.value()?;
        self.take(", ")?;
        let context = self.value()?;
        self.take(", ")?;
        let fields = self.value()?;
        self.take("\n")?;
        Some(Event { cycles: cycles.parse().ok()?, name: name.to_owned(), packet, context, fields })
    }

    fn take(&mut self, text: &str) -> Option<()> {
        self.rest = self.rest.strip_prefix(text)?;
        Some(())
    }

    fn value(&mut self) -> Option<Value> {
        match self.rest.chars().next()? {
            '{' => self
                .between("{ ", "}", |parser| {
                    let name = parser.name().unwrap_or_default();
                    Some((name, parser.value()?))
                })
                .map(Value::Fields),
            '[' => self
                .between("[ ", "]", |parser| {
                    parser.take("[")?;
                    parser.rest = parser.rest.split_once("] = ")?.1;
                    parser.value()
                })
                .map(Value::List),
            '(' => {
                self.take("( ")?;
                let label = if self.rest.starts_with('"') { self.text() } else { None };
                let (_, rest) = self.rest.split_once(": container = ")?;
                self.rest = rest;
                let number = self.value()?;
                self.take(" )")?;
                Some(Value::Enum(label, Box::new(number)))
            }
            '"' => self.text().map(Value::Text),
            _ => {
                let end = self.rest.find([',', ' ', '\n'])?;
                let (number, rest) = self.rest.split_at(end);
                self.rest = rest;
                if let Some(digits) = number.strip_prefix("0x") {
                    return u64::from_str_radix(digits, 16).ok().map(Value::Number);
                }
                let number = number
                    .parse()
                    .map(Value::Number)
                    .or_else(|_| number.parse().map(Value::Negative))
                    .or_else(|_| number.parse().map(Value::Float));
                number.ok()
            }
        }
    }

    fn name(&mut self) -> Option<String> {
        let (name, rest) = self.rest.split_once(" = ")?;
        let is_name = name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
        (is_name && !name.bytes().next()?.is_ascii_digit()).then(|| self.rest = rest)?;
        Some(name.to_owned())
    }

    fn between<T>(
        &mut self,
        open: &str,
        close: &str,
        mut item: impl FnMut(&mut Self) -> Option<T>,
    ) -> Option<Vec<T>> {
        self.take(open)?;
        let mut items = Vec::new();
        while self.take(close).is_none() {
            items.push(item(self)?);
            let _ = self.take(",");
            self.take(" ")?;
        }
        Some(items)
    }

    fn text(&mut self) -> Option<String> {
        self.take("\"")?;
        let mut text = String::new();
        loop {
            let mut chars = self.rest.chars();
            match chars.next()? {
                '"' => {
                    self.rest = chars.as_str();
                    return Some(text);
                }
                '\\' => {
                    let escaped = chars.next()?;
                    text.push(match escaped {
                        'a' => '\u{7}',
                        'b' => '\u{8}',
                        'e' => '\u{1b}',
                        'f' => '\u{c}',
                        'n' => '\n',
                        'r' => '\r',
                        't' => '\t',
                        'v' => '\u{b}',
                        'x' => {
                            let digits: String = chars.by_ref().take(2).collect();
                            char::from(u8::from_str_radix(&digits, 16).ok()?)
                        }
                        other => other,
                    });
                }
                other => text.push(other),
            }
            self.rest = chars.as_str();
        }
    }
}

impl Event {
    /// Returns a number from the packet's context.
    pub(crate) fn number(&self, name: &str) -> Option<u64> {
        self.packet.number(name)
    }

    /// Returns the arguments: all fields except the lengths of sequences.
    pub(crate) fn arguments(&self) -> Vec<(&str, &Value)> {
        self.fields.members()
    }
}

impl Value {
    /// Returns the fields of a structure except the lengths of sequences.
    fn members(&self) -> Vec<(&str, &Self)> {
        let Self::Fields(fields) = self else { return Vec::new() };
        let is_length = |index: usize, name: &str| {
            let of = name.strip_prefix('_').and_then(|name| name.strip_suffix("__length"));
            let next: Option<&(String, Self)> = fields.get(index + 1);
            of.is_some() && next.is_some_and(|next| Some(next.0.as_str()) == of)
        };
        let fields = fields.iter().enumerate();
        fields
            .filter(|(index, (name, _))| !is_length(*index, name))
            .map(|(_, (name, value))| (name.as_str(), value))
            .collect()
    }

    fn field(&self, name: &str) -> Option<&Self> {
        let Self::Fields(fields) = self else { return None };
        fields.iter().find(|(known, _)| known == name).map(|(_, value)| value)
    }

    pub(crate) fn number(&self, name: &str) -> Option<u64> {
        match self.field(name)? {
            Self::Number(number) => Some(*number),
            _ => None,
        }
    }

    pub(crate) fn signed(&self, name: &str) -> Option<i64> {
        match self.field(name)? {
            Self::Number(number) => i64::try_from(*number).ok(),
            Self::Negative(number) => Some(*number),
            _ => None,
        }
    }

    /// Returns true if this is the value of an argument in a JSON line.
    pub(crate) fn is(&self, json: &Json) -> bool {
        match (self, json) {
            (Self::Enum(label, number), Json::Bool(value)) => {
                label.as_deref() == Some(if *value { "true" } else { "false" })
                    && **number == Self::Number(u64::from(*value))
            }
            (Self::Enum(_, number), _) => number.is(json),
            (Self::Number(number), Json::String(text)) => {
                let digits = text.strip_prefix("0x");
                digits.is_some_and(|digits| u64::from_str_radix(digits, 16) == Ok(*number))
            }
            (Self::Number(number), Json::Number(_)) => {
                // Floats without a fraction are shown like whole numbers.
                json.as_u64() == Some(*number) || json.as_f64() == Some(*number as f64)
            }
            (Self::Negative(number), Json::Number(_)) => {
                json.as_i64() == Some(*number) || json.as_f64() == Some(*number as f64)
            }
            (Self::Float(value), Json::Number(_)) => {
                // Babeltrace shows six digits.
                let expected = json.as_f64().unwrap_or(f64::NAN);
                (value - expected).abs() <= expected.abs() * 1e-5
            }
            (Self::Float(value), Json::Null) => !value.is_finite(),
            // Babeltrace 2.0.4 shows an earlier text in place of an empty one.
            (Self::Text(_), Json::String(text)) if text.is_empty() => true,
            (Self::Text(found), Json::String(text)) => *found == text.replace('\0', "\\x00"),
            (Self::List(bytes), Json::String(text)) => {
                let digits = |byte: &Self| match byte {
                    Self::Number(number) => format!("{number:02x}"),
                    _ => String::new(),
                };
                let digits: String = bytes.iter().map(digits).collect();
                digits.eq_ignore_ascii_case(text)
            }
            (Self::List(items), Json::Array(values)) => {
                items.len() == values.len()
                    && items.iter().zip(values).all(|(item, value)| item.item().is(value))
            }
            (Self::Fields(_), Json::Object(values)) => {
                let members = self.members();
                let is = |(name, value): (&str, &Self)| {
                    values.get(name).is_some_and(|expected| value.is(expected))
                };
                members.len() == values.len() && members.into_iter().all(is)
            }
            // The value is an absent field, or the only option of a variant.
            (Self::Fields(fields), Json::Null) => fields.is_empty(),
            _ => false,
        }
    }

    /// Returns the value of an item, for lists whose items have several types.
    fn item(&self) -> &Self {
        if let Some(items) = self.field("items") {
            return items;
        }
        let Some(Self::Fields(option)) = self.field("value") else { return self };
        match option.first() {
            Some((_, chosen)) => chosen.field("data").unwrap_or(chosen),
            None => self,
        }
    }
}
