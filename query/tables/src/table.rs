//! The tables of a trace.

use std::fmt;
use std::str::FromStr;

use crate::column::Column;
use crate::columns;

/// The version of the tables. It increases if the name, type or meaning of a column changes, or if
/// a column is removed. A new column does not change it.
pub const SCHEMA: u32 = 1;

/// A table of a trace.
///
/// ```
/// use tracewell_tables::Table;
///
/// assert_eq!("events".parse(), Ok(Table::Events));
/// assert_eq!(Table::Events.columns()[0].name, "seq");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Table {
    /// One row per event. This table has further columns for arguments, which depend on the trace.
    Events,
    /// One row per state of a core, a context, a mutex or a state machine.
    Spans,
    /// One row per event that the timeline shows as a single point.
    Marks,
    /// One row per change of the level of a queue, a pool or a semaphore.
    Counters,
    /// One row per pair of a cause and its effect.
    Arrows,
    /// One row per completed job.
    Jobs,
    /// One row per wait for an object.
    Waits,
    /// One row per gap in which events are missing.
    Losses,
    /// One row per context.
    Contexts,
    /// One row per object.
    Objects,
    /// One row per figure.
    Figures,
    /// One row: the trace itself.
    Traces,
}

impl Table {
    /// All tables, in the order of the documentation.
    pub const ALL: [Self; 12] = [
        Self::Events,
        Self::Spans,
        Self::Marks,
        Self::Counters,
        Self::Arrows,
        Self::Jobs,
        Self::Waits,
        Self::Losses,
        Self::Contexts,
        Self::Objects,
        Self::Figures,
        Self::Traces,
    ];

    /// Returns the name of the table in SQL, in folders of Parquet files, and in Python.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Events => "events",
            Self::Spans => "spans",
            Self::Marks => "marks",
            Self::Counters => "counters",
            Self::Arrows => "arrows",
            Self::Jobs => "jobs",
            Self::Waits => "waits",
            Self::Losses => "losses",
            Self::Contexts => "contexts",
            Self::Objects => "objects",
            Self::Figures => "figures",
            Self::Traces => "traces",
        }
    }

    /// Returns the columns that the table has for every trace.
    pub const fn columns(self) -> &'static [Column] {
        match self {
            Self::Events => columns::EVENTS,
            Self::Spans => columns::SPANS,
            Self::Marks => columns::MARKS,
            Self::Counters => columns::COUNTERS,
            Self::Arrows => columns::ARROWS,
            Self::Jobs => columns::JOBS,
            Self::Waits => columns::WAITS,
            Self::Losses => columns::LOSSES,
            Self::Contexts => columns::CONTEXTS,
            Self::Objects => columns::OBJECTS,
            Self::Figures => columns::FIGURES,
            Self::Traces => columns::TRACES,
        }
    }

    /// Returns the position of a column that the first reading of a trace can make; see
    /// [`Source::open_and_read`](crate::Source::open_and_read). Only `events` has such columns.
    ///
    /// ```
    /// use tracewell_tables::Table;
    ///
    /// assert_eq!(Table::Events.early_position("ticks"), Some(1));
    /// // A trace may contain names after its events.
    /// assert_eq!(Table::Events.early_position("name"), None);
    /// ```
    pub fn early_position(self, name: &str) -> Option<usize> {
        let is_early = self == Self::Events && columns::WITHOUT_NAMES.contains(&name);
        self.position(name).filter(|_| is_early)
    }

    /// Returns the position of a column that the table has for every trace.
    pub(crate) fn position(self, name: &str) -> Option<usize> {
        self.columns().iter().position(|column| column.name == name)
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Error for a name that is not the name of a table.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("no table named '{0}'; there are {known}", known = Table::ALL.map(Table::name).join(", "))]
pub struct UnknownTable(String);

impl FromStr for Table {
    type Err = UnknownTable;

    fn from_str(text: &str) -> Result<Self, UnknownTable> {
        let found = Self::ALL.into_iter().find(|table| table.name() == text);
        found.ok_or_else(|| UnknownTable(text.to_owned()))
    }
}
