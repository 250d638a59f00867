//! The class `Table`: rows that other libraries read as a stream of Arrow batches.

use std::ops::ControlFlow;
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, SchemaRef};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use tracewell_tables::{Progress, Request, Source, Table};

use crate::error::exception;
use crate::progress::{INTERVAL, Reporter};

/// Maximum number of batches that wait for the receiver.
const WAITING_BATCHES: usize = 2;

/// A table of a trace.
///
/// Libraries read its rows through the Arrow PyCapsule interface, for example with
/// pyarrow.table(table) or polars.DataFrame(table). In a DuckDB query, the name of the Python
/// variable is the name of the table.
#[pyclass(name = "Table", module = "tracewell", frozen)]
pub(crate) struct PyTable {
    source: Source,
    table: Table,
    request: Request,
    reporter: Arc<Reporter>,
}

impl PyTable {
    pub(crate) const fn new(
        source: Source,
        table: Table,
        request: Request,
        reporter: Arc<Reporter>,
    ) -> Self {
        Self { source, table, request, reporter }
    }

    fn schema(&self) -> PyResult<SchemaRef> {
        let schema = self.source.schema(self.table);
        match &self.request.columns {
            None => Ok(schema),
            Some(columns) => {
                let schema = schema.project(columns).map_err(tracewell_tables::Error::from);
                schema.map(Into::into).map_err(|error| exception(&error))
            }
        }
    }
}

#[pymethods]
impl PyTable {
    /// Name of the table.
    #[getter]
    fn name(&self) -> &'static str {
        self.table.name()
    }

    /// Names of the columns.
    #[getter]
    fn columns(&self) -> PyResult<Vec<String>> {
        let schema = self.schema()?;
        Ok(schema.fields().iter().map(|field| field.name().clone()).collect())
    }

    /// A capsule with a stream of Arrow batches. Each call reads the trace again.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // The interface permits a producer to ignore the requested schema, because the receiver
        // converts the columns.
        drop(requested_schema);
        let batches = Batches::read(self.schema()?, self);
        let stream = FFI_ArrowArrayStream::new(Box::new(batches));
        PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
    }

    fn __repr__(&self) -> String {
        format!("<tracewell.Table {} of {}>", self.table, self.source.path().display())
    }
}

/// Batches that a thread makes while the receiver uses earlier batches. The thread ends when the
/// receiver drops them.
struct Batches {
    schema: SchemaRef,
    batches: Receiver<Result<RecordBatch, ArrowError>>,
    /// The latest progress of the thread, if it has not been reported yet.
    progress: Arc<Mutex<Option<Progress>>>,
    reporter: Arc<Reporter>,
}

impl Batches {
    fn read(schema: SchemaRef, of: &PyTable) -> Self {
        let (sender, batches) = sync_channel(WAITING_BATCHES);
        let progress = Arc::new(Mutex::new(None));
        let newest = Arc::clone(&progress);
        // The receiver reports the progress. It may hold the interpreter's lock while it waits for
        // a batch, so the reading thread must not wait for this lock.
        let source = of.source.watched(move |progress| {
            *newest.lock().unwrap_or_else(PoisonError::into_inner) = Some(progress);
            ControlFlow::Continue(())
        });
        let (table, request) = (of.table, of.request.clone());
        thread::spawn(move || {
            let read = source.read(table, &request, &mut |batch| match sender.send(Ok(batch)) {
                Ok(()) => ControlFlow::Continue(()),
                Err(_) => ControlFlow::Break(()),
            });
            let failed = match read {
                Ok(summary) if summary.left_out > 0 => {
                    let rows = summary.left_out;
                    format!("{table} lacks {rows} rows: an analysis reached its limit of memory")
                }
                Ok(_) => return,
                Err(error) => error.to_string(),
            };
            // A receiver that needs no more rows does not need the error either.
            let _ = sender.send(Err(ArrowError::ExternalError(failed.into())));
        });
        Self { schema, batches, progress, reporter: Arc::clone(&of.reporter) }
    }

    /// Reports the newest progress.
    ///
    /// # Errors
    /// Returns an error if the function that receives it raised an exception.
    fn report(&self) -> Result<(), ArrowError> {
        let newest = self.progress.lock().unwrap_or_else(PoisonError::into_inner).take();
        match newest.map_or(ControlFlow::Continue(()), |newest| self.reporter.report(newest)) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => {
                let exception =
                    self.reporter.take_exception().map(|exception| exception.to_string());
                let message = format!("progress: {}", exception.unwrap_or_default());
                Err(ArrowError::ExternalError(message.into()))
            }
        }
    }
}

impl Iterator for Batches {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        if !self.reporter.has_receiver() {
            return self.batches.recv().ok();
        }
        loop {
            let batch = self.batches.recv_timeout(INTERVAL);
            if let Err(error) = self.report() {
                return Some(Err(error));
            }
            match batch {
                Ok(batch) => return Some(batch),
                Err(RecvTimeoutError::Disconnected) => return None,
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }
}

impl RecordBatchReader for Batches {
    fn schema(&self) -> SchemaRef {
        SchemaRef::clone(&self.schema)
    }
}
