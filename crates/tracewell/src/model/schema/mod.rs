//! Schemas, which define the names, arguments and meanings of event ids. A schema is a data file,
//! one per dialect.
//!
//! The introduction of `schemas/threadx.toml` explains the keys of the file.
//!
//! ```
//! use tracewell::model::Meaning;
//! use tracewell::model::schema::ArgumentKind;
//!
//! let schema = tracewell::format::threadx::schema();
//! let event = schema.event(52);
//! assert_eq!((event.name.as_str(), event.label.as_str()), ("TX_TRACE_MUTEX_GET", "tx_mutex_get"));
//! assert_eq!(event.means.unwrap().meaning, Meaning::Lock);
//! assert_eq!(event.args[0].name, "mutex_ptr");
//! assert!(matches!(event.args[0].kind, ArgumentKind::Object(Some(5))));
//! assert_eq!(schema.event(5000).name, "USER_EVENT");
//! ```

mod extension;
mod file;
mod parse;
mod plain;
mod site;
mod versions;

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::ops::RangeInclusive;
use std::sync::Arc;

pub use extension::{Extension, Rules};
pub use parse::SchemaError;
pub use site::{CallSite, Instrumentation, Level, SpanRole};

use super::Meaning;

/// A table of names for numbers.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct TableId(u16);

impl TableId {
    /// Returns the position of this table among the tables of its schema.
    pub(crate) const fn number(self) -> u16 {
        self.0
    }
}

/// The type of an argument.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ArgumentKind {
    /// A number, shown in decimal.
    Unsigned,
    /// A number in two's complement of the word's width.
    Signed,
    /// Bits, shown in hexadecimal.
    Hex,
    /// An address of memory.
    Address,
    /// The key of an object, with the object's type code if it is known.
    Object(Option<u32>),
    /// A number with a name in a table. Numbers without a name are shown in decimal with the
    /// table's unit.
    Enum(TableId),
    /// A set of bits with names in a table. Bits without a name are shown in hexadecimal.
    Flags(TableId),
    /// An IPv4 address in host order.
    Ipv4,
    /// True or false: 0 is false, any other number is true.
    Bool,
    /// The number of a span of an instrumented program; 0 means no span.
    Span,
    /// Text in an unspecified encoding.
    Text,
    /// Bytes, shown in hexadecimal.
    Bytes,
    /// Values with their own types.
    List,
    /// A structure or an array.
    Nested,
    /// The bits of an IEEE 754 number of 64 bits.
    Float,
    /// A recorded word without a name. Most outputs omit it. Outputs that show all words identify
    /// it by its position.
    Unnamed,
}

/// An argument of an event.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Argument {
    /// Name in `snake_case`, unique within its event.
    pub name: String,
    /// The type of the argument.
    pub kind: ArgumentKind,
    /// The encoding of the argument in a record, as the dialect names it; empty if all arguments
    /// are words.
    pub encoding: String,
    /// The replacement for a value of 0, if 0 means that another argument contains the value.
    pub zero: Option<Zero>,
}

impl Argument {
    /// Returns the number of bytes of the encoding, such as 2 for `u16`. Returns `None` if the
    /// encoding is not that of an integer of fixed length.
    pub(crate) fn encoded_bytes(&self) -> Option<usize> {
        match self.encoding.as_str() {
            "u8" | "i8" => Some(1),
            "u16" | "i16" => Some(2),
            "u32" | "i32" => Some(4),
            "u64" | "i64" => Some(8),
            _ => None,
        }
    }
}

/// The replacement for the value 0 of an argument.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Zero {
    /// The argument that contains the value.
    pub argument: usize,
    /// The note that reports show with the value.
    pub note: String,
}

/// A meaning with its participants, which are argument indices or `None`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Means {
    /// The kind of statement that the event makes about its participants.
    pub meaning: Meaning,
    /// The argument with the key of the subject; `None` if the recording context is the subject.
    pub subject: Option<usize>,
    /// The argument with the key of the object on which the event acts.
    pub object: Option<usize>,
    /// The argument with the key of the context that runs next.
    pub next: Option<usize>,
    /// The argument with the value of the meaning.
    pub value: Option<usize>,
    /// Number that is added to the argument, so that values of different kinds of events differ.
    pub offset: u64,
    /// Meanings that apply only for certain values. The first case that fits applies. After a
    /// `None`, there are no further cases.
    pub cases: [Option<Case>; MAX_CASES],
}

/// Maximum number of cases of a meaning.
pub const MAX_CASES: usize = 4;

/// A meaning that applies if certain bits of the value are set.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Case {
    /// The case applies if any of these bits is set.
    pub bits: u64,
    /// The meaning in this case.
    pub meaning: Meaning,
}

impl Means {
    /// Returns a meaning without arguments.
    pub const fn of(meaning: Meaning) -> Self {
        let cases = [None; MAX_CASES];
        Self { meaning, subject: None, object: None, next: None, value: None, offset: 0, cases }
    }

    /// Returns true if the event can have this meaning.
    pub fn can_be(&self, meaning: Meaning) -> bool {
        let mut cases = self.cases.iter().flatten();
        self.meaning == meaning || cases.any(|case| case.meaning == meaning)
    }

    /// Returns the meaning for a value: the meaning of the first case that applies, or the usual
    /// meaning if no case applies.
    pub(crate) fn for_value(mut self, value: Option<u64>) -> Self {
        let case =
            value.and_then(|value| self.cases.iter().flatten().find(|case| value & case.bits != 0));
        self.meaning = case.map_or(self.meaning, |case| case.meaning);
        self
    }
}

/// Further roles of an event's arguments, by argument index.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Details {
    /// Argument that names a context. The event belongs to a step of this context.
    pub context: Option<usize>,
    /// The state that a state machine is in.
    pub state: Option<usize>,
    /// The period of a timer, in the timer's own ticks; 0 if it expires only once.
    pub period: Option<usize>,
    /// The owner of the object.
    pub owner: Option<usize>,
    /// The capacity of the object.
    pub capacity: Option<usize>,
    /// The smallest amount that has ever been free in the object.
    pub least_free: Option<usize>,
    /// The amount that the object holds.
    pub used: Option<usize>,
    /// The amount that is free in the object.
    pub free: Option<usize>,
    /// True if `used` and `free` were counted before the effect of the event.
    pub before: bool,
    /// True if the object is empty after the event.
    pub empties: bool,
    /// If a context that blocks before the call returns waits in the call: the number of bytes of
    /// the event's name before the name of the call.
    pub waits_in: Option<usize>,
}

/// The type of an event: names, arguments and meaning of an id.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct EventType {
    /// The id, or the first id of the range for which this type stands.
    pub id: u32,
    /// The name that the dialect itself uses.
    pub name: String,
    /// Name that reports show, such as `tx_mutex_get`.
    pub label: String,
    /// Group of events that belong together.
    pub family: String,
    /// Bits of the dialect's event filter that select the event; 0 if no bit does.
    pub filter: u32,
    /// Arguments in recorded order.
    pub args: Vec<Argument>,
    /// The meaning for scheduling, if the event has one.
    pub means: Option<Means>,
    /// Further roles of the event's arguments.
    pub details: Details,
    /// Call site and span, for events of instrumented programs.
    pub instrumentation: Instrumentation,
}

/// A type of objects.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ObjectKind {
    /// Type code as recorded.
    pub code: u32,
    /// The name that the dialect itself uses.
    pub symbol: String,
    /// Noun that reports show, such as `mutex`.
    pub label: String,
    /// Names of the parameters that are recorded at creation.
    pub parameters: Vec<String>,
    /// Number that is added to an argument to get the object's key. The number is 0 if arguments
    /// for objects of different kinds are never equal.
    pub keys: u64,
    /// True if arguments are object numbers, which are shown in decimal, and not addresses.
    pub numbered: bool,
    /// The parameters that determine the capacity.
    pub capacity: Option<Capacity>,
    /// Index of the parameter with the process number, if the system has processes.
    pub process: Option<usize>,
}

impl ObjectKind {
    /// Returns the capacity of an object of this type, computed from its parameters. `word` is the
    /// word size of its system in bytes.
    pub fn capacity(&self, parameters: &[u64], word: u64) -> Option<u64> {
        let capacity = self.capacity.as_ref()?;
        let each = match capacity.words {
            Some(words) => parameters.get(words)?.checked_mul(word)?,
            None => 1,
        };
        parameters.get(capacity.bytes)?.checked_div(each)
    }
}

/// The definition of an object's capacity: its size in bytes, divided by the size of one element.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Capacity {
    /// Index of the parameter with the size in bytes.
    pub bytes: usize,
    /// Index of the parameter with the element size in words; `None` if the elements are bytes.
    pub words: Option<usize>,
}

/// A table of names for numbers.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Table {
    name: String,
    is_flags: bool,
    /// Numbers and names in the order of their definitions.
    names: Vec<(u64, String)>,
    /// Positions in `names`, by number.
    positions: BTreeMap<u64, usize>,
    unit: String,
}

impl Table {
    fn add_names(&mut self, names: impl Iterator<Item = (u64, String)>) {
        for (number, name) in names {
            match self.positions.entry(number) {
                Entry::Occupied(known) => self.names[*known.get()].1 = name,
                Entry::Vacant(new) => {
                    new.insert(self.names.len());
                    self.names.push((number, name));
                }
            }
        }
    }
}

/// Maximum number of ids of a range that are compared with a name.
const MAX_TRIED_IDS: usize = 1 << 16;

/// The events, objects and tables of a dialect.
///
/// ```
/// use tracewell::model::schema::Schema;
///
/// let text = r#"
///     [[event]]
///     id = 7
///     name = "SEND"
///     label = "send"
///     family = "queue"
///     args = ["length"]
/// "#;
/// let schema = Schema::parse(text, "mine.toml").unwrap();
/// assert_eq!(schema.event(7).args[0].name, "length");
/// assert!(!schema.defines(8));
/// ```
#[derive(Clone, Debug)]
pub struct Schema {
    events: Vec<EventType>,
    /// Index in `events`, plus one, by id. Ids beyond the end of the list are only in ranges.
    by_id: Vec<u16>,
    ranges: Vec<(RangeInclusive<u32>, EventType)>,
    unknown: EventType,
    kinds: Vec<ObjectKind>,
    tables: Vec<Table>,
    /// Events that change a filter: their ids, and the bits of the filter.
    hides: Vec<(u32, u32)>,
    hooks: bool,
    /// True if an event type has a call site.
    has_call_sites: bool,
    /// Entries for events that the trace defines, found by name, in order.
    by_name: BTreeMap<String, Vec<extension::Entry>>,
    /// Errors about entries of users that do not fit the trace.
    faults: Vec<SchemaError>,
}

impl Schema {
    /// Parses a schema that is part of the program.
    ///
    /// # Panics
    /// Panics if the text is invalid. Use this function only for schemas that a test parses.
    pub fn built_in(text: &str, file: &str) -> Arc<Self> {
        Self::built_in_version(text, file, None)
    }

    /// Parses one version of a schema that is part of the program; see [`Schema::parse_version`].
    ///
    /// # Panics
    /// Panics if the text is invalid. Use this function only for schemas that a test parses.
    pub fn built_in_version(text: &str, file: &str, version: Option<&str>) -> Arc<Self> {
        let schema = parse::quickly(text, version);
        match schema.map_or_else(|| Self::parse_version(text, file, version), Ok) {
            Ok(schema) => Arc::new(schema),
            Err(error) => unreachable!("{error}"),
        }
    }

    /// Returns a schema without events.
    pub fn empty() -> Arc<Self> {
        Self::built_in("", "empty")
    }

    /// Returns true if event ids are the hook ids of AIX trace, which reports show in hexadecimal.
    pub const fn ids_are_hooks(&self) -> bool {
        self.hooks
    }

    /// Returns true if the events of call sites of an instrumented program have levels and targets.
    pub const fn has_call_sites(&self) -> bool {
        self.has_call_sites
    }

    /// Returns the type of an event id: its own entry, the entry of its range, or the entry for
    /// unknown ids.
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

    /// Returns the label of an id, with the number if its entry covers several ids.
    ///
    /// ```
    /// let schema = tracewell::format::threadx::schema();
    /// assert_eq!(schema.label(52), "tx_mutex_get");
    /// assert_eq!(schema.label(5000), "user event 5000");
    /// assert!(schema.is_called(5000, "user event 5000"));
    /// ```
    pub fn label(&self, id: u32) -> String {
        let label = &self.event(id).label;
        if self.defines(id) { label.clone() } else { format!("{label} {}", self.shown_id(id)) }
    }

    /// Returns an id as reports show it: in decimal, or for hook ids of AIX trace in hexadecimal
    /// with three or four digits.
    ///
    /// ```
    /// assert_eq!(tracewell::format::threadx::schema().shown_id(52), "52");
    /// assert_eq!(tracewell::format::aix::schema().shown_id(0x1340), "134");
    /// assert_eq!(tracewell::format::aix::schema().shown_id(0x0102), "0102");
    /// ```
    pub fn shown_id(&self, id: u32) -> String {
        match self.hooks {
            false => id.to_string(),
            // The last digit is 0 except in long ids.
            true if id & 0xF == 0 => format!("{:03X}", id >> 4),
            true => format!("{id:04X}"),
        }
    }

    /// Returns true if `name` is the label of an id. If the entry covers several ids, `name` can
    /// also be the label, a space and this id.
    pub fn is_called(&self, id: u32, name: &str) -> bool {
        let label = &self.event(id).label;
        let number = || name.strip_prefix(label.as_str())?.strip_prefix(' ');
        name == label || (!self.defines(id) && number().is_some_and(|n| n == self.shown_id(id)))
    }

    /// Returns true if an id has an entry of its own.
    pub fn defines(&self, id: u32) -> bool {
        self.by_id.get(id as usize).is_some_and(|position| *position != 0)
    }

    /// Returns true if some event has this meaning.
    ///
    /// ```
    /// use tracewell::model::Meaning;
    ///
    /// assert!(tracewell::format::threadx::schema().has_meaning(Meaning::Lock));
    /// assert!(!tracewell::format::arrivals::schema().has_meaning(Meaning::Lock));
    /// ```
    pub fn has_meaning(&self, meaning: Meaning) -> bool {
        let mut events = self.events.iter().chain(self.ranges());
        events.any(|event| event.means.as_ref().is_some_and(|means| means.can_be(meaning)))
    }

    /// Returns true if an event type shows which context runs next.
    pub(crate) fn shows_switches(&self) -> bool {
        let shows = |means: &Means| {
            let names_next = means.next.is_some() && !means.can_be(Meaning::InterruptExit);
            names_next || means.can_be(Meaning::Runs) || means.can_be(Meaning::Schedule)
        };
        self.events.iter().any(|event| event.means.as_ref().is_some_and(shows))
    }

    /// Returns true if an id has an entry of its own or is in the range of an entry.
    ///
    /// ```
    /// // Ids without an entry in the schema of ThreadX are in the range of unknown events.
    /// assert!(tracewell::format::threadx::schema().covers(3000));
    /// assert!(!tracewell::format::arrivals::schema().covers(3000));
    /// ```
    pub fn covers(&self, id: u32) -> bool {
        self.defines(id) || self.ranges.iter().any(|(range, _)| range.contains(&id))
    }

    /// Returns the bits of the filter that an event sets or clears; 0 if the event does not concern
    /// a filter.
    pub fn hides(&self, id: u32) -> u32 {
        self.hides.iter().find(|(event, _)| *event == id).map_or(0, |(_, bits)| *bits)
    }

    /// Returns all events with entries of their own.
    pub fn events(&self) -> &[EventType] {
        &self.events
    }

    /// Returns each entry that applies to at least one id for which `is_wanted` returns true. In a
    /// range, tries the first id and the ids in `tried`. If `tried` is `None`, tries the first
    /// 65536 ids of the range.
    pub(crate) fn entries_of(
        &self,
        tried: Option<&[u32]>,
        is_wanted: impl Fn(u32) -> bool,
    ) -> Vec<&EventType> {
        let events = self.events.iter().filter(|event| is_wanted(event.id));
        let ranges = self.ranges.iter().filter(|(range, entry)| {
            // A different entry may apply to this id of the range.
            let is = |id: u32| std::ptr::eq(self.event(id), entry) && is_wanted(id);
            let some = tried.into_iter().flatten().copied().filter(|id| range.contains(id));
            let first = if tried.is_some() { 1 } else { MAX_TRIED_IDS };
            some.chain(range.clone().take(first)).any(is)
        });
        events.chain(ranges.map(|(_, entry)| entry)).collect()
    }

    /// Returns the entries for ranges of ids.
    pub fn ranges(&self) -> impl Iterator<Item = &EventType> {
        self.ranges.iter().map(|(_, event)| event)
    }

    /// Adds an entry, for example for an event of the application. If a user's [`Extension`] has an
    /// entry for the event's name, that entry applies as well. Returns false if the id already has
    /// an entry or is above 65535.
    pub fn define(&mut self, event: EventType) -> bool {
        let event = if self.by_name.is_empty() { event } else { self.extended_by_name(event) };
        let id = event.id as usize;
        if self.defines(event.id) || id > usize::from(u16::MAX) {
            return false;
        }
        if id >= self.by_id.len() {
            self.by_id.resize(id + 1, 0);
        }
        // The position fits, because there are fewer entries than ids.
        let Ok(position) = u16::try_from(self.events.len() + 1) else { return false };
        self.by_id[id] = position;
        self.has_call_sites |= event.instrumentation.site.is_some();
        self.events.push(event);
        true
    }

    /// Adds the events of another schema with `base` added to their ids. Both schemas must have the
    /// same tables and types of objects. The dialects of one system meet this condition.
    pub fn adopt(&mut self, other: &Self, base: u32) {
        for event in &other.events {
            self.define(EventType { id: event.id + base, ..event.clone() });
        }
        for (range, event) in &other.ranges {
            // A user's schema file may define ids up to the highest possible id, so the sum may
            // overflow.
            let Some(first) = range.start().checked_add(base) else { continue };
            let moved = EventType { id: event.id.saturating_add(base), ..event.clone() };
            self.ranges.push((first..=range.end().saturating_add(base), moved));
        }
    }

    /// Adds the events, tables and types of objects of another schema, with `base` added to the ids
    /// of events. The types of objects of this schema stay as they are. Does not add ranges of ids.
    pub fn include(&mut self, other: &Self, base: u32) {
        let first = self.tables.len();
        let moved = |table: TableId| {
            TableId(u16::try_from(first + usize::from(table.0)).unwrap_or(u16::MAX))
        };
        self.tables.extend(other.tables.iter().cloned());
        for kind in &other.kinds {
            if self.object_kind(kind.code).is_none() {
                self.kinds.push(kind.clone());
            }
        }
        for event in &other.events {
            let mut event = EventType { id: event.id + base, ..event.clone() };
            for argument in &mut event.args {
                argument.kind = match argument.kind {
                    ArgumentKind::Enum(table) => ArgumentKind::Enum(moved(table)),
                    ArgumentKind::Flags(table) => ArgumentKind::Flags(moved(table)),
                    kind => kind,
                };
            }
            self.define(event);
        }
    }

    /// Returns the first type of objects that has this symbol.
    pub fn object_kind_by_symbol(&self, symbol: &str) -> Option<&ObjectKind> {
        self.kinds.iter().find(|kind| kind.symbol == symbol)
    }

    /// Returns the type of objects that has this code.
    pub fn object_kind(&self, code: u32) -> Option<&ObjectKind> {
        self.kinds.iter().find(|kind| kind.code == code)
    }

    /// Returns the key of the object that an argument of this kind names.
    #[inline]
    pub fn key(&self, kind: Option<u32>, argument: u64) -> u64 {
        let keys = kind.and_then(|code| self.object_kind(code)).map_or(0, |kind| kind.keys);
        argument.wrapping_add(keys)
    }

    /// Returns the name of a number in a table.
    pub fn enum_name(&self, table: TableId, value: u64) -> Option<&str> {
        let Table { names, positions, .. } = self.tables.get(usize::from(table.0))?;
        names.get(*positions.get(&value)?).map(|(_, name)| name.as_str())
    }

    /// Returns the names of numbered objects: the code of the type, the number and the name. They
    /// come from tables named after a type.
    pub(crate) fn object_names(&self) -> impl Iterator<Item = (u32, u64, &str)> {
        let tables = self.tables.iter().filter(|table| !table.is_flags);
        tables.flat_map(|table| {
            let kinds = self.kinds.iter().filter(|kind| kind.numbered && kind.label == table.name);
            kinds.flat_map(|kind| {
                table.names.iter().map(|(number, name)| (kind.code, *number, name.as_str()))
            })
        })
    }

    /// Sets the names of numbers in a table, and replaces existing names.
    pub fn name_values(&mut self, table: TableId, names: impl Iterator<Item = (u64, String)>) {
        if let Some(table) = self.tables.get_mut(usize::from(table.0)) {
            table.add_names(names);
        }
    }

    /// Adds a table of names for numbers. If a number has several names, the first one applies.
    ///
    /// Returns `None` if the schema already has 65 536 tables.
    ///
    /// ```
    /// use tracewell::model::schema::Schema;
    ///
    /// let mut schema = Schema::parse("", "mine.toml").unwrap();
    /// let names = [(0, "off".to_owned()), (1, "on".to_owned())];
    /// let table = schema.add_table("state", names).unwrap();
    /// assert_eq!(schema.enum_name(table, 1), Some("on"));
    /// ```
    pub fn add_table(
        &mut self,
        name: &str,
        names: impl IntoIterator<Item = (u64, String)>,
    ) -> Option<TableId> {
        let id = TableId(u16::try_from(self.tables.len()).ok()?);
        let names = file::Names { names: names.into_iter().collect(), unit: String::new() };
        self.tables.push(Table::new(name.to_owned(), false, names));
        Some(id)
    }

    /// For a number that has no name in the table, returns the text to print after it, such as `
    /// ticks`.
    pub fn unit(&self, table: TableId) -> &str {
        self.tables.get(usize::from(table.0)).map_or("", |table| &table.unit)
    }

    /// Returns the bits of a table with their names.
    pub fn flags(&self, table: TableId) -> impl Iterator<Item = (u64, &str)> {
        let names = self.tables.get(usize::from(table.0)).map(|table| &table.names);
        names.into_iter().flatten().map(|(bits, name)| (*bits, name.as_str()))
    }
}
