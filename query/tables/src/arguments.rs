//! The argument columns of the table `events`: one for each argument name in a trace.

use std::collections::HashMap;

use tracewell::model::schema::{ArgumentKind, EventType};
use tracewell::model::{Event, EventIds, Trace};
use tracewell::text::{Describer, PerEvent, TextBuffer, shown};

use crate::column::Kind;
use crate::values::{Cell, Values};

/// Maximum number of columns of arguments. The schemas of known systems have some hundreds of
/// argument names.
pub(crate) const MAX_ARGUMENTS: usize = 4096;

/// The prefix of the names of these columns.
const PREFIX: &str = "arg_";

/// A column of arguments with one name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct ArgumentColumn {
    /// Name of the column.
    pub(crate) name: String,
    pub(crate) kind: Kind,
}

/// All columns of arguments of a trace.
#[derive(Clone, Debug, Default)]
pub(crate) struct ArgumentColumns {
    pub(crate) list: Vec<ArgumentColumn>,
    by_name: HashMap<String, usize>,
    /// Number of names beyond [`MAX_ARGUMENTS`]. A name counts once for each event type that has
    /// it.
    pub(crate) left_out: u64,
}

impl ArgumentColumns {
    /// Returns the argument columns of all events that occurred in a trace. The columns are in the
    /// order of the event ids.
    pub(crate) fn of(trace: &Trace, ids: &EventIds) -> Self {
        let mut columns = Self::default();
        ids.iter().for_each(|id| columns.add(trace.schema.event(id)));
        if ids.has_larger() {
            trace.schema.ranges().for_each(|event| columns.add(event));
        }
        columns
    }

    fn add(&mut self, event: &EventType) {
        for (index, argument) in event.args.iter().enumerate() {
            let kind = kind_of(argument.kind);
            let name = column_name(index, argument.kind, &argument.name);
            if let Some(known) = self.by_name.get(&name) {
                let column = &mut self.list[*known];
                column.kind = joined(column.kind, kind);
            } else if self.list.len() < MAX_ARGUMENTS {
                self.by_name.insert(name.clone(), self.list.len());
                self.list.push(ArgumentColumn { name, kind });
            } else {
                self.left_out += 1;
            }
        }
    }
}

/// Returns the name of the column for an argument. Words that the schema does not name are `arg1`,
/// `arg2` and so on, as in the export of events.
fn column_name(index: usize, kind: ArgumentKind, name: &str) -> String {
    match kind {
        ArgumentKind::Unnamed => format!("{PREFIX}arg{}", index + 1),
        _ => format!("{PREFIX}{name}"),
    }
}

/// Returns the type of a column for arguments of one kind.
fn kind_of(kind: ArgumentKind) -> Kind {
    use ArgumentKind::{
        Address, Bool, Bytes, Enum, Flags, Float, Hex, Ipv4, List, Nested, Object, Signed, Span,
        Text, Unnamed, Unsigned,
    };
    match kind {
        Unsigned | Hex | Address | Object(_) | Enum(_) | Flags(_) | Ipv4 | Span | Unnamed => {
            Kind::U64
        }
        Signed => Kind::I64,
        Bool => Kind::Bool,
        Float => Kind::F64,
        Bytes => Kind::Bytes,
        Text | List | Nested => Kind::Text,
    }
}

/// Returns a type that can hold the values of both types without loss.
fn joined(one: Kind, other: Kind) -> Kind {
    let is_whole = |kind| matches!(kind, Kind::U64 | Kind::I64 | Kind::Decimal);
    match (one, other) {
        _ if one == other => one,
        _ if is_whole(one) && is_whole(other) => Kind::Decimal,
        _ => Kind::Text,
    }
}

/// An argument of an event type, if its column is wanted.
#[derive(Clone, Copy, Debug)]
struct Wanted {
    /// Position among the values of the wanted columns.
    column: usize,
    /// Index of the argument.
    index: usize,
    kind: ArgumentKind,
    /// True if the column contains arguments of several kinds as text.
    as_text: bool,
}

/// Appends the wanted arguments of events to columns.
#[derive(Debug, Default)]
pub(crate) struct ArgumentReader {
    /// For each name of a column: its position among the wanted columns, and its type.
    wanted: HashMap<String, (usize, Kind)>,
    events: PerEvent<Vec<Wanted>>,
    describer: Describer,
    text: TextBuffer,
}

impl ArgumentReader {
    /// Returns a reader of the same columns, for another thread.
    pub(crate) fn for_another_thread(&self) -> Self {
        Self { wanted: self.wanted.clone(), ..Self::default() }
    }

    /// Adds a wanted column with its position among all wanted columns.
    pub(crate) fn want(&mut self, column: &ArgumentColumn, position: usize) {
        self.wanted.insert(column.name.clone(), (position, column.kind));
    }

    /// Returns true if no argument is wanted.
    pub(crate) fn is_empty(&self) -> bool {
        self.wanted.is_empty()
    }

    /// Appends the wanted arguments of an event as row `row` of the values. If the event lacks a
    /// column's argument, the cell becomes null later, when the column gets its next value.
    pub(crate) fn push(&mut self, event: Event<'_>, values: &mut [Filled<'_>], row: usize) {
        let known = &self.wanted;
        let wanted = self.events.get(event.id(), || wanted(event.kind(), known));
        for Wanted { column, index, kind, as_text } in wanted.iter().copied() {
            let Some(number) = event.argument(index) else { continue };
            let Some(filled) = values.get_mut(column) else { continue };
            filled.fill_to(row);
            filled.rows += 1;
            let cell = match kind {
                ArgumentKind::Text => {
                    filled.values.push(Cell::Text(&shown(event.bytes(index))));
                    continue;
                }
                _ if as_text => {
                    self.text.truncate(0);
                    self.describer.put_value(&mut self.text, event, index);
                    filled.values.push(Cell::Text(&self.text.as_text()));
                    continue;
                }
                ArgumentKind::Bytes => Cell::Bytes(event.bytes(index)),
                ArgumentKind::Signed => Cell::Signed(event.trace.payload.signed(number)),
                ArgumentKind::Bool => Cell::Flag(number != 0),
                ArgumentKind::Float => Cell::Float(f64::from_bits(number)),
                _ => Cell::Number(number),
            };
            filled.values.push(cell);
        }
    }
}

fn wanted(event: &EventType, columns: &HashMap<String, (usize, Kind)>) -> Vec<Wanted> {
    let arguments = event.args.iter().enumerate();
    let wanted = arguments.filter_map(|(index, argument)| {
        let name = column_name(index, argument.kind, &argument.name);
        let (column, kind) = *columns.get(&name)?;
        Some(Wanted { column, index, kind: argument.kind, as_text: kind == Kind::Text })
    });
    wanted.collect()
}

/// The values of a column; values of its last rows may still be missing.
pub(crate) struct Filled<'a> {
    pub(crate) values: &'a mut Values,
    /// Number of rows that have a value or a null.
    pub(crate) rows: usize,
}

impl Filled<'_> {
    /// Sets all missing rows before `row` to null.
    pub(crate) fn fill_to(&mut self, row: usize) {
        self.values.push_nulls(row.saturating_sub(self.rows));
        self.rows = self.rows.max(row);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_of_one_name_are_joined_without_loss() {
        assert_eq!(joined(Kind::U64, Kind::U64), Kind::U64);
        assert_eq!(joined(Kind::U64, Kind::I64), Kind::Decimal);
        assert_eq!(joined(Kind::Decimal, Kind::U64), Kind::Decimal);
        assert_eq!(joined(Kind::F64, Kind::U64), Kind::Text);
        assert_eq!(joined(Kind::Bool, Kind::Decimal), Kind::Text);
    }
}
