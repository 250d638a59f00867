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
//!
//! | file | purpose |
//! |---|---|
//! | `types`, `site` | the type of an event |
//! | `objects`, `tables` | types of objects; names for numbers |
//! | `entries` | the entries for event ids, which are parsed when they are needed |
//! | `combined` | adds entries and other schemas |
//! | `file` | the keys of a schema file |
//! | `parse`, `plain` | parse a schema file; `plain` is the fast way for the program's own files |
//! | `versions` | selects the entries for one version of a system |
//! | `extension` | schema files of users |

mod combined;
mod entries;
mod extension;
mod file;
mod objects;
mod parse;
mod plain;
mod site;
mod tables;
mod types;
mod versions;

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::sync::Arc;

pub use extension::{Extension, Rules};
pub use objects::{Capacity, ObjectKind};
pub use parse::SchemaError;
pub use site::{CallSite, Instrumentation, Level, SpanRole};
pub use tables::TableId;
pub use types::{Argument, ArgumentKind, Case, Details, EventType, MAX_CASES, Means, Zero};

use self::entries::Entries;
use self::tables::Table;
use super::Meaning;

/// Maximum number of ids that [`Schema::entries_of`] tries in each range.
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
    /// The entries for single ids. All other known ids are in `ranges`.
    entries: Entries,
    ranges: Vec<(RangeInclusive<u32>, EventType)>,
    unknown: EventType,
    kinds: Vec<ObjectKind>,
    tables: Vec<Table>,
    /// Events that change a filter: their ids, and the bits of the filter.
    hides: Vec<(u32, u32)>,
    hooks: bool,
    /// True if an event type has a call site.
    has_call_sites: bool,
    /// Entries for events that the trace defines, by the event's name. Entries for the same name
    /// are in the order in which they were added.
    by_name: BTreeMap<String, Vec<extension::Entry>>,
    /// Errors about entries of users that do not fit the trace.
    faults: Vec<SchemaError>,
}

impl Schema {
    /// Returns a schema that is part of the program. Each of its events is parsed when the event is
    /// needed for the first time.
    ///
    /// # Panics
    /// This function or the first access to an event panics if the text is invalid. They also panic
    /// if a string in an event contains escapes, or is in single or triple quotes. Use this
    /// function only if a test parses all events of the schema, for example with
    /// [`Schema::events`].
    pub fn built_in(text: &'static str, file: &str) -> Arc<Self> {
        Self::built_in_version(text, file, None)
    }

    /// Returns one version of a schema that is part of the program; see [`Schema::parse_version`].
    ///
    /// # Panics
    /// See [`Schema::built_in`].
    pub fn built_in_version(text: &'static str, file: &str, version: Option<&str>) -> Arc<Self> {
        let schema = entries::quickly(text, version);
        match schema.map_or_else(|| Self::parse_version(text, file, version), Ok) {
            Ok(schema) => Arc::new(schema),
            Err(error) => unreachable!("{error}"),
        }
    }

    /// Returns a schema without events.
    pub fn empty() -> Arc<Self> {
        Self::built_in("", "empty")
    }

    /// Returns true if event ids are the hook ids of AIX trace, which are shown in hexadecimal.
    pub const fn ids_are_hooks(&self) -> bool {
        self.hooks
    }

    /// Returns true if event types describe the call sites of an instrumented program, with levels
    /// and targets.
    pub const fn has_call_sites(&self) -> bool {
        self.has_call_sites
    }

    /// Returns the type of an event id: its own entry, the entry of its range, or the entry for
    /// unknown ids.
    #[inline]
    pub fn event(&self, id: u32) -> &EventType {
        self.entries.get(id).unwrap_or_else(|| self.event_of_range(id))
    }

    fn event_of_range(&self, id: u32) -> &EventType {
        let range = self.ranges.iter().find(|(range, _)| range.contains(&id));
        range.map_or(&self.unknown, |(_, event)| event)
    }

    /// Returns the label of an id. If the id has no entry of its own, the id follows the label.
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

    /// Returns an id as it is shown in reports. Hook ids of AIX trace are shown in hexadecimal with
    /// three or four digits, all other ids in decimal.
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
        self.entries.has(id)
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
        let mut events = self.events_that_mean(&[meaning]).chain(self.ranges());
        events.any(|event| event.means.as_ref().is_some_and(|means| means.can_be(meaning)))
    }

    /// Returns true if an event type shows which context runs next.
    pub(crate) fn shows_switches(&self) -> bool {
        let shows = |means: &Means| {
            let names_next = means.next.is_some() && !means.can_be(Meaning::InterruptExit);
            names_next || means.can_be(Meaning::Runs) || means.can_be(Meaning::Schedule)
        };
        self.events().any(|event| event.means.as_ref().is_some_and(shows))
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
    pub fn events(
        &self,
    ) -> impl ExactSizeIterator<Item = &EventType> + DoubleEndedIterator + Clone {
        self.entries.iter()
    }

    /// Returns the ids that can have one of these meanings, in no particular order. To be fast,
    /// this function parses no entry, so some of the ids may not have such a meaning. Does not
    /// return ids of ranges.
    pub(crate) fn ids_that_may_mean<'s>(
        &'s self,
        meanings: &[Meaning],
    ) -> impl Iterator<Item = u32> + use<'s> {
        self.entries.that_may_mean(meanings)
    }

    /// Returns the events that can have one of these meanings, and some others. Does not return
    /// ranges of ids.
    pub(crate) fn events_that_mean<'s>(
        &'s self,
        meanings: &[Meaning],
    ) -> impl Iterator<Item = &'s EventType> + use<'s> {
        self.ids_that_may_mean(meanings).map(|id| self.event(id))
    }

    /// Returns each entry that applies to at least one id for which `is_wanted` returns true. For a
    /// range of ids, tries only the first id and the ids in `tried`. If `tried` is `None`, tries
    /// the first 65536 ids of the range.
    pub(crate) fn entries_of(
        &self,
        tried: Option<&[u32]>,
        is_wanted: impl Fn(u32) -> bool,
    ) -> Vec<&EventType> {
        let events = self.events().filter(|event| is_wanted(event.id));
        let ranges = self.ranges.iter().filter(|(range, entry)| {
            // Another entry may apply to an id within the range.
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

    /// Returns the type of the plain number in an argument: `Signed` or `Unsigned` for an
    /// enumeration, and the given type for any other argument.
    pub fn number_kind(&self, kind: ArgumentKind) -> ArgumentKind {
        match kind {
            ArgumentKind::Enum(table) if self.is_signed(table) => ArgumentKind::Signed,
            ArgumentKind::Enum(_) => ArgumentKind::Unsigned,
            kind => kind,
        }
    }
}
