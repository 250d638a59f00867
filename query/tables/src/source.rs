//! Traces as sources of tables.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use arrow_schema::{Schema, SchemaRef};
use tracewell::input::{Input, InputError, Settings};
use tracewell::model::{Batch, EventIds, Flow, Sink, SinkError, Stop, Trace};

use crate::arguments::ArgumentColumns;
use crate::column::Kind;
use crate::error::Error;
use crate::events::{Events, RowMaker};
use crate::output::{Output, Rows};
use crate::progress::{Progress, Until, Watch};
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
    watch: Option<Watch>,
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
    /// Number of bytes of the events; `None` if no function received the progress of the first
    /// reading.
    bytes: Option<u64>,
    /// Number of times that a reading reads the bytes if all names must be known before the first
    /// event.
    passes: u64,
    /// The hash of the trace, once it was needed.
    hash: OnceLock<String>,
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
        Self::open_with(path.as_ref(), settings, labels, (None, None))
    }

    /// Opens a trace, and passes rows of `events` to `emit` while it reads the trace for the first
    /// time. This takes half the time of [`Source::open`] and [`Source::read`]. `request` names
    /// columns of [`Table::early_position`]; without columns, it stands for all of these. One
    /// thread makes the rows, whatever `request.threads` is. `Break` ends the rows, but not the
    /// reading.
    ///
    /// ```
    /// use std::ops::ControlFlow::Continue;
    ///
    /// use tracewell_tables::{Request, Settings, Source, Table};
    ///
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"),
    /// #     "/../../crates/tracewell/tests/fixtures/threadx/tiny.trx");
    /// let columns = Table::Events.early_position("id").map(|column| vec![column]);
    /// let request = Request { columns, ..Request::default() };
    /// let mut rows = 0;
    /// Source::open_and_read(path, Settings::default(), Vec::new(), &request, &mut |batch| {
    ///     rows += batch.num_rows();
    ///     Continue(())
    /// })?;
    /// assert_eq!(rows, 197);
    /// # Ok::<(), tracewell_tables::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns the errors of [`Source::open`], and [`Error::NoColumn`] for any other column.
    pub fn open_and_read<'a>(
        path: impl AsRef<Path>,
        settings: Settings,
        labels: Vec<(String, String)>,
        request: &'a Request,
        emit: &'a mut Emit<'a>,
    ) -> Result<Self, Error> {
        let table = Table::Events;
        let early = |column: &usize| table.early_position(table.columns()[*column].name).is_some();
        let wanted = request.columns.clone();
        let wanted = wanted.unwrap_or_else(|| (0..table.columns().len()).filter(early).collect());
        let mut columns = Vec::new();
        for column in wanted {
            let known = table.columns().get(column);
            let known = known.filter(|known| table.early_position(known.name).is_some());
            let Some(known) = known else {
                let columns = table.columns().len();
                return Err(Error::NoColumn { table: table.name(), column, columns });
            };
            columns.push((column, known.kind));
        }
        let field = |(column, kind): &(usize, Kind)| kind.field(table.columns()[*column].name);
        let schema = Schema::new(columns.iter().map(field).collect::<Vec<_>>());
        let values = columns.iter().map(|(_, kind)| Values::new(*kind)).collect();
        let output = Output::new(schema.into(), values, request.limit, emit);
        let rows = Events::new(RowMaker::new(None, request, columns), output);
        Self::open_with(path.as_ref(), settings, labels, (None, Some(rows)))
    }

    /// Does the same as [`Source::open`], and calls `watch` after each batch of events, in this
    /// reading and in all later ones. `watch` runs in the thread that reads. `Break` ends the
    /// reading.
    ///
    /// ```
    /// use std::ops::ControlFlow::{Break, Continue};
    ///
    /// use tracewell_tables::{Error, Settings, Source};
    ///
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"),
    /// #     "/../../crates/tracewell/tests/fixtures/threadx/tiny.trx");
    /// let watch = |progress: tracewell_tables::Progress| match progress.total {
    ///     Some(total) if progress.bytes > total / 2 => Break(()),
    ///     _ => Continue(()),
    /// };
    /// let ended = Source::open_watched(path, Settings::default(), Vec::new(), watch);
    /// assert!(matches!(ended, Err(Error::Ended)));
    /// ```
    ///
    /// # Errors
    /// Returns the errors of [`Source::open`], and [`Error::Ended`] if `watch` ended the reading.
    pub fn open_watched(
        path: impl AsRef<Path>,
        settings: Settings,
        labels: Vec<(String, String)>,
        watch: impl Fn(Progress) -> ControlFlow<()> + Send + Sync + 'static,
    ) -> Result<Self, Error> {
        Self::open_with(path.as_ref(), settings, labels, (Some(Watch::new(watch)), None))
    }

    fn open_with(
        path: &Path,
        settings: Settings,
        labels: Vec<(String, String)>,
        (watch, rows): (Option<Watch>, Option<Events<'_>>),
    ) -> Result<Self, Error> {
        let path = path.to_owned();
        let mut input = Input::open(&path, settings.clone())?;
        if input.is_stream() {
            return Err(Error::Stream(path));
        }
        let mut first = First { last: 0, ordered: true, ids: EventIds::default(), rows };
        let size = input.size();
        let (trace, bytes) = read(&mut input, &mut first, (watch.as_ref(), size), Input::read)?;
        let files = match input.files() {
            [] => vec![path.clone()],
            files => files.iter().map(|file| file.path().to_owned()).collect(),
        };
        let passes = if input.format().names_follow { 2 } else { 1 };
        let known = Known {
            ordered: first.ordered,
            files,
            arguments: ArgumentColumns::of(&trace, &first.ids),
            trace,
            bytes,
            passes,
            hash: OnceLock::new(),
        };
        Ok(Self { path, settings, labels, known: Arc::new(known), watch })
    }

    /// Returns a copy of this source with another function that receives the progress of its
    /// readings; see [`Source::open_watched`].
    pub fn watched(
        &self,
        watch: impl Fn(Progress) -> ControlFlow<()> + Send + Sync + 'static,
    ) -> Self {
        Self { watch: Some(Watch::new(watch)), ..self.clone() }
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
    /// of their names. Copies of a source read the bytes only once.
    ///
    /// # Errors
    /// Returns an error if a file cannot be read.
    pub fn hash(&self) -> Result<String, Error> {
        let known = &self.known.hash;
        if let Some(hash) = known.get() {
            return Ok(hash.clone());
        }
        let hash = hash::of_files(&self.known.files)?;
        Ok(known.get_or_init(|| hash).clone())
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
        let values = columns.iter().map(|column| Values::new(self.kind(table, *column)));
        let values = values.collect();
        let output = Output::new(schema.project(&columns)?.into(), values, request.limit, emit);
        if table == Table::Events {
            return self.read_events(request, columns, output);
        }
        let mut rows = Rows::new(table, columns, request, &self.known.trace.clock, output);
        // Reading a small table ends early only if the receiver needs no more rows.
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
        mut output: Output<'a>,
    ) -> Result<Summary, Error> {
        let known = &*self.known;
        if columns.is_empty() && request.takes_all() {
            // The first reading counted the events.
            output.put_rows_without_columns(known.trace.events)?;
            return Ok(output.summary);
        }
        let columns = columns.into_iter();
        let columns = columns.map(|column| (column, self.kind(Table::Events, column))).collect();
        let mut events = Events::new(RowMaker::new(Some(known), request, columns), output);
        let mut input = self.input()?;
        input.set_threads(request.threads);
        self.read_input(&mut input, &mut events)?;
        Ok(events.output.summary)
    }

    /// Opens the trace again.
    pub(crate) fn input(&self) -> Result<Input, Error> {
        Ok(Input::open(&self.path, self.settings.clone())?)
    }

    /// Reads all events into a sink. All names of the trace are known at the first event.
    ///
    /// # Errors
    /// Returns an error if the trace cannot be read, and [`Error::Ended`] if the function that
    /// receives the progress ended the reading.
    pub fn read_all(&self, sink: &mut dyn Sink) -> Result<Trace, Error> {
        self.read_input(&mut self.input()?, sink)
    }

    fn read_input(&self, input: &mut Input, sink: &mut dyn Sink) -> Result<Trace, Error> {
        let bytes = self.known.bytes.map(|bytes| bytes * self.known.passes);
        let watch = (self.watch.as_ref(), bytes);
        read(input, sink, watch, Input::read_named).map(|(trace, _)| trace)
    }

    /// Reads all events into a sink that needs no names.
    pub(crate) fn read_without_names(&self, sink: &mut dyn Sink) -> Result<(), Error> {
        let watch = (self.watch.as_ref(), self.known.bytes);
        read(&mut self.input()?, sink, watch, Input::read).map(|_| ())
    }
}

/// Reads an input and returns its trace. If a function receives the progress, also returns the
/// number of bytes that were read. `total` is the number of bytes to read, if it is known.
fn read(
    input: &mut Input,
    sink: &mut dyn Sink,
    (watch, total): (Option<&Watch>, Option<u64>),
    reader: fn(&mut Input, &mut dyn Sink) -> Result<Trace, InputError>,
) -> Result<(Trace, Option<u64>), Error> {
    let Some(watch) = watch else { return Ok((reader(input, sink)?, None)) };
    let watched = watch.watch(input, total);
    let trace = reader(input, &mut Until { sink, watched: &watched })?;
    if watched.is_ended() || watch.end(&watched).is_break() {
        return Err(Error::Ended);
    }
    Ok((trace, Some(watched.bytes())))
}

/// The sink of the first reading: checks the order of ticks, and stores the ids of events.
struct First<'a> {
    last: u64,
    ordered: bool,
    ids: EventIds,
    /// Makes rows at the same time.
    rows: Option<Events<'a>>,
}

impl Sink for First<'_> {
    fn events(&mut self, trace: &Trace, batch: &Batch<'_>) -> Flow {
        let ticks = &batch.columns.ticks;
        let follows = ticks.first().is_none_or(|first| *first >= self.last);
        self.ordered &= follows && ticks.is_sorted();
        self.last = ticks.last().copied().unwrap_or(self.last);
        batch.columns.id.iter().for_each(|id| self.ids.insert(*id));
        match self.rows.as_mut().map(|rows| rows.events(trace, batch)) {
            // No more rows are wanted, but all facts about the trace.
            Some(Flow::Break(Stop::Complete)) => self.rows = None,
            Some(flow) => flow?,
            None => {}
        }
        Flow::Continue(())
    }

    fn finish(&mut self, trace: &Trace) -> Result<(), SinkError> {
        self.rows.as_mut().map_or(Ok(()), |rows| rows.finish(trace))
    }
}
