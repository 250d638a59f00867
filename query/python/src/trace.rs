//! The class `Trace`.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::Arc;

use pyo3::prelude::*;
use tracewell::analysis::scheduling::Wanted;
use tracewell::report::analyses::{self, Analyses};
use tracewell::report::document::DocumentWriter;
use tracewell::report::info::{self, Census};
use tracewell::text::shown_path;
use tracewell_tables::{Request, Settings, Source, Table};

use crate::error::{Error, exception};
use crate::progress::Reporter;
use crate::table::PyTable;

/// A trace. Its tables can be read any number of times; each time, the file is read again.
#[pyclass(name = "Trace", module = "tracewell", frozen)]
pub(crate) struct PyTrace {
    source: Source,
    reporter: Arc<Reporter>,
}

impl PyTrace {
    pub(crate) fn open(
        path: PathBuf,
        (format, options): (Option<String>, &[String]),
        labels: Vec<(String, String)>,
        reporter: Arc<Reporter>,
    ) -> PyResult<Self> {
        let mut settings = Settings { format, ..Settings::default() };
        for option in options {
            let added = settings.options.add(option);
            added.map_err(|error| Error::new_err(error.to_string()))?;
        }
        let watch = Arc::clone(&reporter);
        let watch = move |progress| watch.report(progress);
        let source = Source::open_watched(path, settings, labels, watch);
        let source = source.map_err(|error| exception_of(&reporter, &error))?;
        Ok(Self { source, reporter })
    }

    fn of(&self, table: Table) -> PyTable {
        self.of_request(table, Request::default())
    }

    fn of_request(&self, table: Table, request: Request) -> PyTable {
        PyTable::new(self.source.clone(), table, request, Arc::clone(&self.reporter))
    }

    fn path(&self) -> String {
        shown_path(self.source.path()).to_string()
    }

    /// Returns the only trace of a document as a dictionary.
    fn dictionary<'py>(py: Python<'py>, document: Vec<u8>) -> PyResult<Bound<'py, PyAny>> {
        let json = py.import("json")?;
        let document = json.call_method1("loads", (String::from_utf8_lossy(&document),))?;
        document.get_item("traces")?.get_item(0)
    }
}

/// Returns the exception that ended a reading. If there is none, returns the exception for `error`.
fn exception_of(reporter: &Reporter, error: &tracewell_tables::Error) -> PyErr {
    reporter.take_exception().unwrap_or_else(|| exception(error))
}

#[pymethods]
impl PyTrace {
    /// A dictionary of the facts that `tracewell info --json` prints about a trace.
    #[getter]
    fn info<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let document = py.detach(|| {
            let mut census = Census::default();
            let read = self.source.read_all(&mut census);
            let trace = read.map_err(|error| exception_of(&self.reporter, &error))?;
            let mut writer = DocumentWriter::new(Vec::new(), info::SCHEMA);
            writer.trace(&self.path(), &census.summary(&trace))?;
            writer.end().map_err(PyErr::from)
        })?;
        Self::dictionary(py, document)
    }

    /// Damage, warnings and notes about the trace, as texts. The first word is the severity.
    #[getter]
    fn diagnostics(&self) -> Vec<String> {
        let found = self.source.trace().diagnostics.iter();
        found.map(ToString::to_string).collect()
    }

    /// A dictionary of the scheduling figures that `tracewell analyze --json` prints for a trace.
    ///
    /// `jobs` adds a list of all jobs, and `waits` adds a list of all waits.
    #[pyo3(signature = (*, jobs=false, waits=false))]
    fn analyze<'py>(
        &self,
        py: Python<'py>,
        jobs: bool,
        waits: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        let document = py.detach(|| {
            let wanted = Wanted { jobs, waits, distributions: true, ..Wanted::default() };
            let mut analyses = Analyses::new(wanted);
            let read = self.source.read_all(&mut analyses);
            let trace = read.map_err(|error| exception_of(&self.reporter, &error))?;
            let mut writer = DocumentWriter::new(Vec::new(), analyses::SCHEMA);
            analyses.write_json(&trace, &self.path(), None, &mut writer)?;
            writer.end().map_err(PyErr::from)
        })?;
        Self::dictionary(py, document)
    }

    /// A table by its name.
    fn table(&self, name: &str) -> PyResult<PyTable> {
        let table = name.parse::<Table>();
        table.map(|table| self.of(table)).map_err(|error| Error::new_err(error.to_string()))
    }

    /// One row per event, with a column `arg_NAME` for each argument.
    ///
    /// Returns only the columns in `columns`. Returns an event only if its id is in `ids`, and if
    /// its ticks are in the range `ticks`, which includes both ends. `limit` is the maximum number
    /// of rows.
    #[pyo3(signature = (columns=None, *, ticks=None, ids=None, limit=None))]
    fn events(
        &self,
        columns: Option<Vec<String>>,
        ticks: Option<(i64, i64)>,
        ids: Option<Vec<u32>>,
        limit: Option<u64>,
    ) -> PyResult<PyTable> {
        let schema = self.source.schema(Table::Events);
        let mut positions = HashSet::new();
        let mut position = |name: String| {
            let known = || format!("no column {name}; Table.columns has the names");
            let position = schema.index_of(&name).map_err(|_| Error::new_err(known()))?;
            // Libraries find columns by their names.
            match positions.insert(position) {
                true => Ok(position),
                false => Err(Error::new_err(format!("the column {name} is named twice"))),
            }
        };
        let columns = columns.map(|columns| columns.into_iter().map(&mut position).collect());
        let (from, until) = ticks.unwrap_or((i64::MIN, i64::MAX));
        let (columns, ticks) = (columns.transpose()?, from..=until);
        let request = Request { columns, ticks, ids, limit, ..Request::default() };
        Ok(self.of_request(Table::Events, request))
    }

    /// One row per state of a core, a context, a mutex or a state machine.
    fn spans(&self) -> PyTable {
        self.of(Table::Spans)
    }

    /// One row per event that the timeline shows as a single point.
    fn marks(&self) -> PyTable {
        self.of(Table::Marks)
    }

    /// One row per change of the level of a queue, a pool or a semaphore.
    fn counters(&self) -> PyTable {
        self.of(Table::Counters)
    }

    /// One row per pair of a cause and its effect.
    fn arrows(&self) -> PyTable {
        self.of(Table::Arrows)
    }

    /// One row per completed job.
    fn jobs(&self) -> PyTable {
        self.of(Table::Jobs)
    }

    /// One row per wait for an object.
    fn waits(&self) -> PyTable {
        self.of(Table::Waits)
    }

    /// One row per gap in which events are missing.
    fn losses(&self) -> PyTable {
        self.of(Table::Losses)
    }

    /// One row per context.
    fn contexts(&self) -> PyTable {
        self.of(Table::Contexts)
    }

    /// One row per object.
    fn objects(&self) -> PyTable {
        self.of(Table::Objects)
    }

    /// One row per figure.
    fn figures(&self) -> PyTable {
        self.of(Table::Figures)
    }

    /// One row: the trace itself.
    fn traces(&self) -> PyTable {
        self.of(Table::Traces)
    }

    fn __repr__(&self) -> String {
        let trace = self.source.trace();
        format!("<tracewell.Trace {} ({}, {} events)>", self.path(), trace.format, trace.events)
    }
}
