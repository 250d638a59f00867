//! The argument columns of the table `events`: one for each argument name in a trace.

use std::collections::HashMap;

use tracewell::model::schema::{ArgumentKind, EventType};
use tracewell::model::{Batch, Event, EventIds, Trace};
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
    form: Form,
}

/// The form of an argument in its column.
#[derive(Clone, Copy, Debug)]
enum Form {
    Number,
    Signed,
    Flag,
    Float,
    Bytes,
    Text,
    /// The column contains arguments of several kinds as text.
    AsText,
}

/// Sets the wanted arguments of events in columns.
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

    /// Appends rows to the wanted columns of arguments, which already have `before` rows. Each
    /// of `rows` is a row of the batch.
    pub(crate) fn append(
        &mut self,
        trace: &Trace,
        batch: &Batch<'_>,
        rows: &[usize],
        (values, before): (&mut [Values], usize),
    ) {
        for (position, _) in self.wanted.values() {
            values[*position].begin_rows(rows.len());
        }
        for (to, row) in (before..).zip(rows) {
            self.set(trace, batch, *row, (values, to));
        }
        for (position, _) in self.wanted.values() {
            values[*position].end_rows(before + rows.len());
        }
    }

    /// Sets the wanted arguments of the event in row `row` of a batch, as row `to` of the values.
    #[inline]
    fn set(
        &mut self,
        trace: &Trace,
        batch: &Batch<'_>,
        row: usize,
        (values, to): (&mut [Values], usize),
    ) {
        let Some(id) = batch.columns.id.get(row) else { return };
        let known = &self.wanted;
        let wanted = self.events.get(*id, || wanted(trace.schema.event(*id), known));
        let (layout, payload) = (trace.payload, batch.records.payload(row));
        for Wanted { column, index, form } in wanted.iter().copied() {
            let Some(number) = layout.argument(payload, index) else { continue };
            let Some(values) = values.get_mut(column) else { continue };
            let cell = match form {
                Form::Number => Cell::Number(number),
                Form::Signed => Cell::Signed(layout.signed(number)),
                Form::Flag => Cell::Flag(number != 0),
                Form::Float => Cell::Float(f64::from_bits(number)),
                Form::Bytes | Form::Text | Form::AsText => {
                    let Some(row) = batch.event(row) else { continue };
                    let event = Event::new(trace, &row);
                    match form {
                        Form::Bytes => values.set(to, Cell::Bytes(event.bytes(index))),
                        Form::Text => values.set(to, Cell::Text(&shown(event.bytes(index)))),
                        _ => {
                            self.text.truncate(0);
                            self.describer.put_value(&mut self.text, event, index);
                            values.set(to, Cell::Text(&self.text.as_text()));
                        }
                    }
                    continue;
                }
            };
            values.set(to, cell);
        }
    }
}

fn wanted(event: &EventType, columns: &HashMap<String, (usize, Kind)>) -> Vec<Wanted> {
    let mut wanted: Vec<Wanted> = Vec::new();
    for (index, argument) in event.args.iter().enumerate() {
        let name = column_name(index, argument.kind, &argument.name);
        let Some((column, kind)) = columns.get(&name).copied() else { continue };
        // Of several arguments with one name, a row contains the first.
        if wanted.iter().any(|wanted| wanted.column == column) {
            continue;
        }
        let form = match argument.kind {
            ArgumentKind::Text => Form::Text,
            _ if kind == Kind::Text => Form::AsText,
            ArgumentKind::Bytes => Form::Bytes,
            ArgumentKind::Signed => Form::Signed,
            ArgumentKind::Bool => Form::Flag,
            ArgumentKind::Float => Form::Float,
            _ => Form::Number,
        };
        wanted.push(Wanted { column, index, form });
    }
    wanted
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
