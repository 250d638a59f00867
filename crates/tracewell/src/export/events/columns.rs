//! Tables with chosen columns: fields of the event, and one column for each chosen argument.

use std::collections::HashSet;
use std::fmt;
use std::str::FromStr;

use super::EventFormat;
use super::apart::loss_text;
use super::escape::escape_from;
use super::row::put_detail;
use super::times::Times;
use super::values::{self, Prefix};
use crate::model::schema::EventType;
use crate::model::{Batch, Event, Flow, Loss, Sink, Trace};
use crate::select::{ArgumentPlace, Selection, Selector, argument_place, did_you_mean, nearest};
use crate::text::{Describer, PerEvent, TextBuffer, put_item};

/// The columns of a table, in order.
///
/// ```
/// use tracewell::export::events::Columns;
///
/// let columns: Columns = "seq,time,event,arg:length".parse()?;
/// assert!(!columns.has_all_arguments());
/// let error = "seq,tiks".parse::<Columns>().unwrap_err();
/// assert!(error.to_string().contains("did you mean 'ticks'?"));
/// # Ok::<(), tracewell::export::events::ColumnError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Columns(Vec<Column>);

/// A column.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Column {
    Field(Field),
    /// An argument as recorded.
    Argument(String),
    /// An argument as reports show it.
    Text(String),
    /// One column for each argument that a selected event has.
    AllArguments,
}

/// A field of events. If an event lacks the field, its cell is empty.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Field {
    Seq,
    Ticks,
    TimeNs,
    Time,
    Cpu,
    Context,
    ContextName,
    Priority,
    Id,
    Name,
    Event,
    Level,
    Target,
    Span,
    Args,
    Text,
}

/// The names of the fields.
const FIELDS: [(&str, Field); 16] = [
    ("seq", Field::Seq),
    ("ticks", Field::Ticks),
    ("time_ns", Field::TimeNs),
    ("time", Field::Time),
    ("cpu", Field::Cpu),
    ("context", Field::Context),
    ("context_name", Field::ContextName),
    ("priority", Field::Priority),
    ("id", Field::Id),
    ("name", Field::Name),
    ("event", Field::Event),
    ("level", Field::Level),
    ("target", Field::Target),
    ("span", Field::Span),
    ("args", Field::Args),
    ("text", Field::Text),
];

/// Error for text that is not a list of columns.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ColumnError {
    column: String,
}

impl fmt::Display for ColumnError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let fields = FIELDS.map(|(name, _)| name);
        let others = ["arg:NAME", "text:NAME", "args.*"];
        let (column, all) =
            (self.column.escape_debug(), [&fields[..], &others].concat().join(", "));
        let meant = did_you_mean(nearest(&self.column, fields));
        write!(f, "no column '{column}': expected some of {all}{meant}")
    }
}

impl std::error::Error for ColumnError {}

impl FromStr for Columns {
    type Err = ColumnError;

    /// Parses a comma-separated list of columns: fields such as `seq`, `arg:NAME` for an argument
    /// as recorded, `text:NAME` for the argument as reports show it, and `args.*` for all
    /// arguments.
    fn from_str(text: &str) -> Result<Self, ColumnError> {
        let column = |name: &str| {
            let of = |prefix| name.strip_prefix(prefix).filter(|rest: &&str| !rest.is_empty());
            let field = FIELDS.iter().find(|(known, _)| *known == name);
            match (field, of("arg:"), of("text:")) {
                (Some((_, field)), ..) => Ok(Column::Field(*field)),
                (_, Some(argument), _) => Ok(Column::Argument(argument.to_owned())),
                (.., Some(argument)) => Ok(Column::Text(argument.to_owned())),
                _ if name == "args.*" => Ok(Column::AllArguments),
                _ => Err(ColumnError { column: name.to_owned() }),
            }
        };
        text.split(',').map(|name| column(name.trim())).collect::<Result<_, _>>().map(Self)
    }
}

impl Columns {
    /// Returns true if `args.*` is one of the columns. [`Columns::expand`] is then necessary.
    pub fn has_all_arguments(&self) -> bool {
        self.0.contains(&Column::AllArguments)
    }

    /// Returns true if the name of the event is a column. Only then can readers recognise the row
    /// of a loss.
    pub fn can_show_losses(&self) -> bool {
        let is_name = |column: &Column| matches!(column, Column::Field(Field::Name | Field::Event));
        self.0.iter().any(is_name)
    }

    /// Returns true if a column shows the time in seconds or as a date.
    pub fn has_time(&self) -> bool {
        self.0.contains(&Column::Field(Field::Time))
    }

    /// Replaces `args.*` by one column `arg:NAME` for each name that does not have a column yet.
    pub fn expand(&mut self, names: &[String]) {
        let mut others: Vec<_> = names.iter().cloned().map(Column::Argument).collect();
        others.retain(|column| !self.0.contains(column));
        let expanded = self.0.drain(..).flat_map(|column| match column {
            // A second `args.*` adds no columns.
            Column::AllArguments => std::mem::take(&mut others),
            column => vec![column],
        });
        self.0 = expanded.collect();
    }
}

/// A sink that collects the argument names of the selected events, in the order in which they first
/// appear. An argument that the schema does not name is called `argN`. `N` is its position, counted
/// from 1.
#[derive(Debug)]
pub struct ArgumentNames {
    selector: Selector,
    names: Vec<String>,
    known: HashSet<String>,
    /// For each event id, the number of arguments that have been collected.
    collected: PerEvent<usize>,
}

impl ArgumentNames {
    /// Collects the names of the arguments in selected events.
    pub fn new(selection: Selection) -> Self {
        // Ignore the limit to the last events, because they are known only after reading.
        let selector = Selector::new(Selection { tail: None, ..selection });
        let (names, known) = (Vec::new(), HashSet::new());
        Self { selector, names, known, collected: PerEvent::default() }
    }

    /// Returns the names of the arguments, in the order in which the trace first uses them.
    pub fn into_names(self) -> Vec<String> {
        self.names
    }

    fn collect(&mut self, event: Event<'_>) {
        let kind = event.kind();
        let words = values::count(event);
        let collected = self.collected.get(event.id(), || 0);
        for index in std::mem::replace(collected, words.max(*collected))..words {
            let name = kind
                .args
                .get(index)
                .map_or_else(|| format!("arg{}", index + 1), |argument| argument.name.clone());
            if self.known.insert(name.clone()) {
                self.names.push(name);
            }
        }
    }
}

impl Sink for ArgumentNames {
    fn events(&mut self, trace: &Trace, batch: &Batch<'_>) -> Flow {
        for row in batch.events() {
            let event = Event::new(trace, &row);
            if self.selector.takes(event)? {
                self.collect(event);
            }
        }
        Flow::Continue(())
    }
}

/// Writes the cells of a table with chosen columns.
#[derive(Debug)]
pub(super) struct Cells {
    columns: Vec<Column>,
    /// For each event id and column, the index of the argument.
    places: PerEvent<Vec<Option<ArgumentPlace>>>,
    /// For each column, true if it shows an argument that occurs in a written event.
    found: Vec<bool>,
    describer: Describer,
}

impl Cells {
    pub(super) fn new(Columns(columns): Columns) -> Self {
        let found = vec![false; columns.len()];
        Self { columns, places: PerEvent::default(), found, describer: Describer::default() }
    }

    /// Appends the line of column names.
    pub(super) fn put_heading(&self, out: &mut TextBuffer, format: EventFormat) {
        for (index, column) in self.columns.iter().enumerate() {
            let start = begin(out, format, index);
            match column {
                Column::Field(field) => {
                    let name = FIELDS.iter().find(|(_, known)| known == field);
                    out.text(name.map_or("", |(name, _)| name));
                }
                Column::Argument(name) => out.text(format!("arg:{name}")),
                Column::Text(name) => out.text(format!("text:{name}")),
                Column::AllArguments => out.text("args.*"),
            }
            escape_from(format, out, start);
        }
    }

    /// Appends the row of an event.
    pub(super) fn put(
        &mut self,
        out: &mut TextBuffer,
        format: EventFormat,
        (details, times): (&[Prefix; 2], &mut Times),
        event: Event<'_>,
    ) {
        let columns = &self.columns;
        let places = self.places.get(event.id(), || places(columns, event.kind()));
        for (index, column) in columns.iter().enumerate() {
            let start = begin(out, format, index);
            match column {
                Column::Field(Field::Args) => {
                    values::put_arguments(out, format, event);
                    put_detail(out, format, details, event);
                }
                Column::Field(Field::Time) => {
                    times.put(out, event);
                }
                Column::Field(field) => put_field(out, *field, event, &mut self.describer),
                Column::AllArguments => {}
                Column::Argument(_) | Column::Text(_) => {
                    let is_text = matches!(column, Column::Text(_));
                    let is_present = match places.get(index).and_then(Option::as_ref) {
                        None => continue,
                        Some(ArgumentPlace::Argument(place)) if is_text => {
                            self.describer.put_value(out, event, *place)
                        }
                        Some(ArgumentPlace::Argument(place)) => {
                            values::put_cell(out, format, event, *place)
                        }
                        Some(ArgumentPlace::Within(place, path)) if is_text => {
                            put_item(out, event, *place, path)
                        }
                        Some(ArgumentPlace::Within(place, path)) => {
                            values::put_cell_within(out, format, event, *place, path)
                        }
                    };
                    self.found[index] |= is_present;
                }
            }
            escape_from(format, out, start);
        }
    }

    /// Appends the row of a loss. Its name is `lost`.
    pub(super) fn put_loss(&self, out: &mut TextBuffer, format: EventFormat, loss: &Loss) {
        for (index, column) in self.columns.iter().enumerate() {
            begin(out, format, index);
            match column {
                Column::Field(Field::Name | Field::Event) => out.text("lost"),
                Column::Field(Field::Args | Field::Text) => out.text(loss_text(loss)),
                _ => {}
            }
        }
    }

    /// Returns a warning for each chosen argument that occurs in no written event.
    pub(super) fn unknown(&self, trace: &Trace) -> Vec<String> {
        let unknown = self.columns.iter().zip(&self.found).filter(|(_, found)| !**found);
        let warning = |(column, _): (&Column, &bool)| {
            let (Column::Argument(name) | Column::Text(name)) = column else { return None };
            let all = trace.schema.events().flat_map(|event| &event.args);
            // The argument may belong to an event of the schema that did not occur.
            let near = nearest(name, all.map(|argument| argument.name.as_str()));
            let meant = did_you_mean(near.filter(|near| near != name));
            let name = name.escape_debug();
            Some(format!("--columns: no event here has an argument '{name}'{meant}"))
        };
        unknown.filter_map(warning).collect()
    }
}

/// Appends the separator before a column. Returns the start of the cell.
fn begin(out: &mut TextBuffer, format: EventFormat, index: usize) -> usize {
    if index > 0 {
        out.byte(if format == EventFormat::Csv { b',' } else { b'\t' });
    }
    out.len()
}

/// For each column, returns the index of its argument.
fn places(columns: &[Column], event: &EventType) -> Vec<Option<ArgumentPlace>> {
    let place = |column: &Column| match column {
        Column::Argument(name) | Column::Text(name) => {
            argument_place(name, &event.args).or_else(|| {
                let number: usize = name.strip_prefix("arg")?.parse().ok()?;
                let index = number.checked_sub(1).filter(|index| *index >= event.args.len());
                index.map(ArgumentPlace::Argument)
            })
        }
        _ => None,
    };
    columns.iter().map(place).collect()
}

fn put_field(out: &mut TextBuffer, field: Field, event: Event<'_>, describer: &mut Describer) {
    match field {
        Field::Seq => out.decimal(event.seq()),
        Field::Ticks => out.decimal(event.ticks()),
        Field::TimeNs => event.nanoseconds().into_iter().for_each(|time| out.decimal(time)),
        Field::Cpu => out.decimal(u64::from(event.cpu())),
        Field::Context => {
            out.text(event.context().map_or("", |context| context.key_text.as_str()));
        }
        Field::ContextName => out.text(event.context_name()),
        Field::Priority => {
            event.priority().into_iter().for_each(|priority| out.decimal(u64::from(priority)));
        }
        Field::Id => out.decimal(u64::from(event.id())),
        Field::Name => out.text(event.name()),
        Field::Event => out.text(event.label().to_string()),
        Field::Level => event.level().into_iter().for_each(|level| out.text(level.as_str())),
        Field::Target => event.target().into_iter().for_each(|target| out.text(target.as_bytes())),
        Field::Span => {
            // `?` stands for a span whose beginning is not in the trace.
            let name = event.span().map(|number| event.span_name(number).unwrap_or("?"));
            out.text(name.unwrap_or_default());
        }
        // The caller writes the arguments and the times, because arguments depend on the format,
        // and times on the previous event.
        Field::Args | Field::Time => {}
        Field::Text => describer.put(out, event),
    }
}
