//! What event ids mean: names, arguments, meanings. A schema is a data file, one a dialect.
//!
//! The keys of the file are explained at the head of `schemas/threadx.toml`.
//!
//! ```
//! use tracewell::model::Meaning;
//! use tracewell::model::schema::{ArgumentKind, Schema};
//!
//! let schema = Schema::threadx();
//! let event = schema.event(52);
//! assert_eq!((event.name.as_str(), event.label.as_str()), ("TX_TRACE_MUTEX_GET", "tx_mutex_get"));
//! assert_eq!(event.means.unwrap().meaning, Meaning::Lock);
//! assert_eq!(event.args[0].name, "mutex_ptr");
//! assert!(matches!(event.args[0].kind, ArgumentKind::Object(Some(5))));
//! assert_eq!(schema.event(5000).name, "USER_EVENT");
//! ```

mod parse;

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::sync::{Arc, OnceLock};

pub use parse::SchemaError;

use super::Meaning;

/// A table of names for numbers.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct TableId(u16);

impl TableId {
    /// Its number among the tables of a schema.
    pub(crate) const fn number(self) -> u16 {
        self.0
    }
}

/// How an argument is read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ArgumentKind {
    /// A number, shown in decimal.
    Unsigned,
    /// A number in two's complement of the word's width.
    Signed,
    /// Bits, shown in hexadecimal.
    Hex,
    /// An address of memory.
    Address,
    /// The key of an object, of this type code where it is known.
    Object(Option<u32>),
    /// One of the numbers of a table; others are shown in decimal with the table's unit.
    Enum(TableId),
    /// A set of the bits of a table; others are shown in hexadecimal.
    Flags(TableId),
    /// An IPv4 address in host order.
    Ipv4,
    /// Text of no declared encoding.
    Text,
    /// Bytes, shown in hexadecimal.
    Bytes,
    /// Values that say themselves what they are.
    List,
    /// The bits of an IEEE 754 number of 64 bits.
    Float,
    /// Recorded and named by nobody: shown by its position where all words are shown.
    Unnamed,
}

/// An argument of an event.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Argument {
    /// Name in `snake_case`, unique within its event.
    pub name: String,
    /// How it is read.
    pub kind: ArgumentKind,
    /// How it is written in a record, in the dialect's own words; empty where all are words.
    pub encoding: String,
    /// What 0 stands for, where it is no value.
    pub zero: Option<Zero>,
}

/// What 0 stands for in an argument.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Zero {
    /// The argument that has the value.
    pub argument: usize,
    /// What is said of it.
    pub note: String,
}

/// A meaning with its participants: positions of arguments, `None` where the event has none.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Means {
    /// What is asserted.
    pub meaning: Meaning,
    /// Argument that names the context it is about; the recording one where there is none.
    pub subject: Option<usize>,
    /// Argument that names the object it acts on.
    pub object: Option<usize>,
    /// Argument that names the context that runs next.
    pub next: Option<usize>,
    /// Argument with the number that the meaning speaks of.
    pub value: Option<usize>,
}

/// What else arguments of an event tell, by their positions.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Details {
    /// The state that a state machine is in.
    pub state: Option<usize>,
    /// The period of a timer, in its own ticks; 0 where it expires once.
    pub period: Option<usize>,
    /// Whom the object belongs to.
    pub owner: Option<usize>,
    /// How much the object can hold.
    pub capacity: Option<usize>,
    /// The least that was ever free in the object.
    pub least_free: Option<usize>,
    /// How much the object holds.
    pub used: Option<usize>,
    /// How much is free in the object.
    pub free: Option<usize>,
    /// Whether `used` and `free` were counted before what the event tells of.
    pub before: bool,
    /// Whether the object holds nothing any more.
    pub empties: bool,
}

/// What an event id means.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct EventType {
    /// The id, or the first id of the range that this type stands for.
    pub id: u32,
    /// Name in the dialect's own words.
    pub name: String,
    /// Name for people.
    pub label: String,
    /// Group of events that belong together.
    pub family: String,
    /// Bits of the dialect's event filter that select it; 0 where it has none.
    pub filter: u32,
    /// Arguments in the order recorded.
    pub args: Vec<Argument>,
    /// What it asserts about scheduling.
    pub means: Option<Means>,
    /// What else its arguments tell.
    pub details: Details,
}

/// A type of objects.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ObjectKind {
    /// Type code as recorded.
    pub code: u32,
    /// Name in the dialect's own words.
    pub symbol: String,
    /// Noun for people.
    pub label: String,
    /// Names of its parameters as recorded at creation.
    pub parameters: Vec<String>,
    /// What is added to an argument to get the object's key: something else than 0 where equal
    /// arguments of another kind name something else.
    pub keys: u64,
    /// Whether arguments give its numbers, to be shown in decimal, instead of its addresses.
    pub numbered: bool,
    /// The parameters that say how much it holds.
    pub capacity: Option<Capacity>,
}

impl ObjectKind {
    /// Returns how much an object of this type holds, by its parameters; `word`: bytes of a word of its system.
    pub fn capacity(&self, parameters: &[u64], word: u64) -> Option<u64> {
        let capacity = self.capacity.as_ref()?;
        let each = match capacity.words {
            Some(words) => parameters.get(words)?.checked_mul(word)?,
            None => 1,
        };
        parameters.get(capacity.bytes)?.checked_div(each)
    }
}

/// The capacity of an object: its bytes, divided by the words of each thing in it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Capacity {
    /// Position of the parameter with its bytes.
    pub bytes: usize,
    /// Position of the parameter with the words of each thing; `None` if it holds bytes.
    pub words: Option<usize>,
}

/// Names for numbers.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Table {
    names: Vec<(u64, String)>,
    unit: String,
    /// Whether the names are in the order of their numbers.
    sorted: bool,
}

/// The events, objects and tables of a dialect.
#[derive(Clone, Debug)]
pub struct Schema {
    events: Vec<EventType>,
    /// Position in `events`, plus one, by id; ids beyond are only in ranges.
    by_id: Vec<u16>,
    ranges: Vec<(RangeInclusive<u32>, EventType)>,
    unknown: EventType,
    kinds: Vec<ObjectKind>,
    tables: Vec<Table>,
    /// For events that tell of a filter: their ids, and the bits of it.
    hides: Vec<(u32, u32)>,
}

/// The dialects of RKH with their schemas, oldest first.
const RKH: [(&str, &str); 8] = [
    ("2.0-pre", include_str!("../../../../../schemas/rkh-2.0-pre.toml")),
    ("2.0", include_str!("../../../../../schemas/rkh-2.0.toml")),
    ("2.2", include_str!("../../../../../schemas/rkh-2.2.toml")),
    ("2.3", include_str!("../../../../../schemas/rkh-2.3.toml")),
    ("2.4.3", include_str!("../../../../../schemas/rkh-2.4.3.toml")),
    ("2.4.4", include_str!("../../../../../schemas/rkh-2.4.4.toml")),
    ("2.4.5", include_str!("../../../../../schemas/rkh-2.4.5.toml")),
    ("3.4", include_str!("../../../../../schemas/rkh-3.4.toml")),
];

impl Schema {
    /// The schema of ThreadX, FileX, NetX and USBX.
    pub fn threadx() -> Arc<Self> {
        static SCHEMA: OnceLock<Arc<Schema>> = OnceLock::new();
        let text = include_str!("../../../../../schemas/threadx.toml");
        Self::built_in(&SCHEMA, text, "schemas/threadx.toml")
    }

    /// The schema of the S.Ha.R.K. kernel's new tracer.
    pub fn shark() -> Arc<Self> {
        static SCHEMA: OnceLock<Arc<Schema>> = OnceLock::new();
        let text = include_str!("../../../../../schemas/shark.toml");
        Self::built_in(&SCHEMA, text, "schemas/shark.toml")
    }

    /// The schema of the arrivals of what is collected.
    pub fn arrivals() -> Arc<Self> {
        static SCHEMA: OnceLock<Arc<Schema>> = OnceLock::new();
        let text = include_str!("../../../../../schemas/arrivals.toml");
        Self::built_in(&SCHEMA, text, "schemas/arrivals.toml")
    }

    /// The schema of the hooks of AIX trace.
    pub fn aix() -> Arc<Self> {
        static SCHEMA: OnceLock<Arc<Schema>> = OnceLock::new();
        let text = include_str!("../../../../../schemas/aix.toml");
        Self::built_in(&SCHEMA, text, "schemas/aix.toml")
    }

    /// The schema of the system events of POSIX trace streams.
    pub fn posix() -> Arc<Self> {
        static SCHEMA: OnceLock<Arc<Schema>> = OnceLock::new();
        let text = include_str!("../../../../../schemas/posix.toml");
        Self::built_in(&SCHEMA, text, "schemas/posix.toml")
    }

    fn built_in(schema: &OnceLock<Arc<Self>>, text: &str, file: &str) -> Arc<Self> {
        let parse = || match Self::parse(text, file) {
            Ok(schema) => Arc::new(schema),
            // The text is part of the program, and a test reads it.
            Err(error) => unreachable!("{error}"),
        };
        schema.get_or_init(parse).clone()
    }

    /// The schema of the RKH versions of a dialect's name: `3.4`, `2.4.5`, and so on.
    pub fn rkh(dialect: &str) -> Option<Arc<Self>> {
        static SCHEMAS: [OnceLock<Arc<Schema>>; RKH.len()] = [const { OnceLock::new() }; RKH.len()];
        let index = RKH.iter().position(|(name, _)| *name == dialect)?;
        let (name, text) = RKH[index];
        let parse = || match Self::parse(text, &format!("schemas/rkh-{name}.toml")) {
            Ok(schema) => Arc::new(schema),
            // The text is part of the program, and a test reads it.
            Err(error) => unreachable!("{error}"),
        };
        Some(SCHEMAS[index].get_or_init(parse).clone())
    }

    /// What an id means: its own entry, that of a range it lies in, or that of unknown ids.
    #[inline]
    pub fn event(&self, id: u32) -> &EventType {
        let position = self.by_id.get(id as usize).copied().unwrap_or(0);
        match usize::from(position).checked_sub(1).and_then(|index| self.events.get(index)) {
            Some(event) => event,
            None => self.event_of_range(id),
        }
    }

    fn event_of_range(&self, id: u32) -> &EventType {
        let range = self.ranges.iter().find(|(range, _)| range.contains(&id));
        range.map_or(&self.unknown, |(_, event)| event)
    }

    /// What a report calls an id: with the number, where its entry stands for more than one.
    pub fn label(&self, id: u32) -> String {
        let label = &self.event(id).label;
        if self.defines(id) { label.clone() } else { format!("{label} {id}") }
    }

    /// Returns true if this is the label of an id, with the number if its entry stands for several.
    pub fn is_called(&self, id: u32, name: &str) -> bool {
        let label = &self.event(id).label;
        let numbered = || name.strip_prefix(label.as_str())?.strip_prefix(' ')?.parse().ok();
        name == label || (!self.defines(id) && numbered() == Some(id))
    }

    /// Whether an id has an entry of its own.
    pub fn defines(&self, id: u32) -> bool {
        self.by_id.get(id as usize).is_some_and(|position| *position != 0)
    }

    /// Whether some event has this meaning.
    pub fn tells(&self, meaning: Meaning) -> bool {
        let mut events = self.events.iter().chain(self.ranges());
        events.any(|event| event.means.as_ref().is_some_and(|means| means.meaning == meaning))
    }

    /// The bits of the filter that an event tells of; 0 for those that tell of none.
    pub fn hides(&self, id: u32) -> u32 {
        self.hides.iter().find(|(event, _)| *event == id).map_or(0, |(_, bits)| *bits)
    }

    /// All events with entries of their own.
    pub fn events(&self) -> &[EventType] {
        &self.events
    }

    /// The entries that stand for ranges of ids.
    pub fn ranges(&self) -> impl Iterator<Item = &EventType> {
        self.ranges.iter().map(|(_, event)| event)
    }

    /// Adds an entry, for an event of the application, say. False where the id has one already or
    /// is beyond what a table can hold (65535).
    pub fn define(&mut self, event: EventType) -> bool {
        let id = event.id as usize;
        if self.defines(event.id) || id > usize::from(u16::MAX) {
            return false;
        }
        if id >= self.by_id.len() {
            self.by_id.resize(id + 1, 0);
        }
        // There are fewer entries than ids.
        let Ok(position) = u16::try_from(self.events.len() + 1) else { return false };
        self.by_id[id] = position;
        self.events.push(event);
        true
    }

    /// Adds the events of another schema with `base` added to their ids. Both must have the same
    /// tables and types of objects, as the dialects of one system do.
    pub fn adopt(&mut self, other: &Self, base: u32) {
        for event in &other.events {
            self.define(EventType { id: event.id + base, ..event.clone() });
        }
        for (range, event) in &other.ranges {
            let moved = EventType { id: event.id + base, ..event.clone() };
            self.ranges.push((range.start() + base..=range.end() + base, moved));
        }
    }

    /// The first type of objects with this symbol.
    pub fn object_kind_by_symbol(&self, symbol: &str) -> Option<&ObjectKind> {
        self.kinds.iter().find(|kind| kind.symbol == symbol)
    }

    /// The type of objects with this code.
    pub fn object_kind(&self, code: u32) -> Option<&ObjectKind> {
        self.kinds.iter().find(|kind| kind.code == code)
    }

    /// The key of the object that an argument of this kind names.
    #[inline]
    pub fn key(&self, kind: Option<u32>, argument: u64) -> u64 {
        let keys = kind.and_then(|code| self.object_kind(code)).map_or(0, |kind| kind.keys);
        argument.wrapping_add(keys)
    }

    /// The name that a table has for a number.
    pub fn enum_name(&self, table: TableId, value: u64) -> Option<&str> {
        let Table { names, sorted, .. } = self.tables.get(usize::from(table.0))?;
        let found = match sorted {
            true => names.get(names.binary_search_by_key(&value, |(number, _)| *number).ok()?),
            false => names.iter().find(|(number, _)| *number == value),
        };
        found.map(|(_, name)| name.as_str())
    }

    /// Gives numbers of a table names, in place of those that it has for them.
    pub fn name_values(&mut self, table: TableId, names: impl Iterator<Item = (u64, String)>) {
        let Some(table) = self.tables.get_mut(usize::from(table.0)) else { return };
        let mut all: BTreeMap<_, _> = table.names.drain(..).collect();
        all.extend(names);
        table.names.extend(all);
        table.sorted = true;
    }

    /// What to write behind a number that a table has no name for: ` ticks`, say.
    pub fn unit(&self, table: TableId) -> &str {
        self.tables.get(usize::from(table.0)).map_or("", |table| &table.unit)
    }

    /// The bits of a table with their names.
    pub fn flags(&self, table: TableId) -> impl Iterator<Item = (u64, &str)> {
        let names = self.tables.get(usize::from(table.0)).map(|table| &table.names);
        names.into_iter().flatten().map(|(bits, name)| (*bits, name.as_str()))
    }
}
