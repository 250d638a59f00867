//! Traces as sources of tables.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_schema::{Schema, SchemaRef};
use tracewell::input::{Input, Settings};
use tracewell::model::{Batch, Flow, Sink, Trace};

use crate::arguments::{ArgumentColumns, ArgumentReader};
use crate::column::Kind;
use crate::columns::EVENTS;
use crate::error::Error;
use crate::events::{EventWords, Events};
use crate::output::{Output, Rows};
use crate::request::{Emit, Request, Summary};
use crate::table::Table;
use crate::values::Values;
use crate::{facts, figures, hash, scheduling, tracks};

/// A trace in a file or a folder, as a source of tables. Copies share the facts about the trace.
///
/// ```
/// use std::ops::ControlFlow::Continue;
///
/// use tracewell_tables::{Request, Settings, Source, Table};
///
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"),
/// #     "/../../crates/tracewell/tests/fixtures/threadx/tiny.trx");
/// let source = Source::open(path, Settings::default(), Vec::new())?;
/// let mut rows = 0;
/// source.read(Table::Events, &Request::default(), &mut |batch| {
///     rows += batch.num_rows();
///     Continue(())
/// })?;
/// assert_eq!(rows, 197);
/// # Ok::<(), tracewell_tables::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Source {
    path: PathBuf,
    settings: Settings,
    labels: Vec<(String, String)>,
    known: Arc<Known>,
}

/// The results of the first reading of a trace.
#[derive(Debug)]
pub(crate) struct Known {
    /// The trace after its last event.
    pub(crate) trace: Trace,
    /// True if the ticks of events never decrease.
    pub(crate) ordered: bool,
    /// The files of the trace.
    pub(crate) files: Vec<PathBuf>,
    pub(crate) arguments: ArgumentColumns,
}

impl Source {
    /// Opens a trace and reads it once, so that all its names and columns are known. `settings`
    /// contains the options of its format, such as `rate`. `labels` are names and values that the
    /// user gives to the trace, such as the version of the firmware; only the table `traces`
    /// contains them.
    ///
    /// # Errors
    /// Returns an error if the trace cannot be opened or read, or if it is a stream. Damage is not
    /// an error.
    pub fn open(
        path: impl AsRef<Path>,
        settings: Settings,
        labels: Vec<(String, String)>,
    ) -> Result<Self, Error> {
        let path = path.as_ref().to_owned();
        let mut input = Input::open(&path, settings.clone())?;
        if input.is_stream() {
            return Err(Error::Stream(path));
        }
        input.note_ids();
        let mut order = Order { last: 0, ordered: true };
        let trace = input.read(&mut order)?;
        let files = match input.files() {
            [] => vec![path.clone()],
            files => files.iter().map(|file| file.path().to_owned()).collect(),
        };
        let known =
            Known { ordered: order.ordered, files, arguments: ArgumentColumns::of(&trace), trace };
        Ok(Self { path, settings, labels, known: Arc::new(known) })
    }

    /// Returns the path as given.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the labels of the trace, in the order in which they were given.
    pub fn labels(&self) -> &[(String, String)] {
        &self.labels
    }

    /// Returns the trace after its last event, with its losses and diagnostics.
    pub fn trace(&self) -> &Trace {
        &self.known.trace
    }

    /// Returns the files of the trace: one, or all files of its folder.
    pub fn files(&self) -> &[PathBuf] {
        &self.known.files
    }

    /// Returns true if the ticks of events never decrease.
    pub fn is_ordered(&self) -> bool {
        self.known.ordered
    }

    /// Returns the number of argument columns that were left out of the table `events`, because
    /// there are too many names.
    pub fn arguments_left_out(&self) -> u64 {
        self.known.arguments.left_out
    }

    /// Returns the SHA-256 of the trace's file in hexadecimal. If the trace is a folder, this is
    /// the SHA-256 of the list that the command `sha256sum` would print for its files, in the order
    /// of their names.
    ///
    /// # Errors
    /// Returns an error if a file cannot be read.
    pub fn hash(&self) -> Result<String, Error> {
        hash::of_files(&self.known.files)
    }

    /// Returns the columns of a table. The columns of `events` end with a column `arg_NAME` for
    /// each argument name of its events.
    pub fn schema(&self, table: Table) -> SchemaRef {
        let columns = table.columns().iter().map(|column| column.kind.field(column.name));
        let arguments = match table {
            Table::Events => &self.known.arguments.list[..],
            _ => &[],
        };
        let arguments = arguments.iter().map(|column| column.kind.field(&column.name));
        Arc::new(Schema::new(columns.chain(arguments).collect::<Vec<_>>()))
    }

    /// Reads a table and passes its rows to `emit`, in batches of some thousands of rows. Rows of
    /// `events` are in the order of the trace.
    ///
    /// # Errors
    /// Returns an error if the trace cannot be read, or if the request has a column that the table
    /// does not have.
    pub fn read<'a>(
        &'a self,
        table: Table,
        request: &'a Request,
        emit: &'a mut Emit<'a>,
    ) -> Result<Summary, Error> {
        let schema = self.schema(table);
        let all = || (0..schema.fields().len()).collect();
        let columns: Vec<usize> = request.columns.clone().unwrap_or_else(all);
        if let Some(column) = columns.iter().find(|column| **column >= schema.fields().len()) {
            let (table, column, columns) = (table.name(), *column, schema.fields().len());
            return Err(Error::NoColumn { table, column, columns });
        }
        let values: Result<_, _> =
            columns.iter().map(|column| Values::new(self.kind(table, *column))).collect();
        let output = Output::new(schema.project(&columns)?.into(), values?, request.limit, emit);
        if table == Table::Events {
            return self.read_events(request, columns, output);
        }
        let mut rows = Rows::new(table, columns, request, &self.known.trace.clock, output);
        // For a small table, reading breaks off only if the receiver needs no more rows.
        match table {
            Table::Events => {}
            Table::Spans | Table::Marks | Table::Counters | Table::Arrows => {
                tracks::read(self, table, &mut rows)?;
            }
            Table::Jobs | Table::Waits => scheduling::read(self, table, &mut rows)?,
            Table::Figures => figures::read(self, &mut rows)?,
            Table::Losses => facts::losses(self, &mut rows)?,
            Table::Contexts => facts::contexts(self, &mut rows),
            Table::Objects => facts::objects(self, &mut rows),
            Table::Traces => facts::traces(self, &mut rows)?,
        }
        Ok(rows.finish()?)
    }

    fn kind(&self, table: Table, column: usize) -> Kind {
        let fixed = table.columns().get(column).map(|column| column.kind);
        let argument = || self.known.arguments.list.get(column - table.columns().len());
        fixed.or_else(|| Some(argument()?.kind)).unwrap_or(Kind::Text)
    }

    fn read_events<'a>(
        &'a self,
        request: &'a Request,
        columns: Vec<usize>,
        output: Output<'a>,
    ) -> Result<Summary, Error> {
        let mut arguments = ArgumentReader::default();
        for (position, column) in columns.iter().enumerate() {
            let argument = column.checked_sub(EVENTS.len());
            if let Some(column) = argument.and_then(|at| self.known.arguments.list.get(at)) {
                arguments.want(column, position);
            }
        }
        let (known, words, rows) = (&*self.known, EventWords::default(), Vec::new());
        let mut events = Events { known, request, output, columns, arguments, words, rows };
        self.read_all(&mut events)?;
        Ok(events.output.summary)
    }

    /// Opens the trace again.
    pub(crate) fn input(&self) -> Result<Input, Error> {
        Ok(Input::open(&self.path, self.settings.clone())?)
    }

    /// Reads all events into a sink, with all names known.
    ///
    /// # Errors
    /// Returns an error if the trace cannot be read.
    pub fn read_all(&self, sink: &mut dyn Sink) -> Result<Trace, Error> {
        Ok(self.input()?.read_named(sink)?)
    }
}

/// A sink that checks the order of ticks.
struct Order {
    last: u64,
    ordered: bool,
}

impl Sink for Order {
    fn events(&mut self, _: &Trace, batch: &Batch<'_>) -> Flow {
        let ticks = &batch.columns.ticks;
        let follows = ticks.first().is_none_or(|first| *first >= self.last);
        self.ordered &= follows && ticks.is_sorted();
        self.last = ticks.last().copied().unwrap_or(self.last);
        Flow::Continue(())
    }
}
