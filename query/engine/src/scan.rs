//! Reads the rows of a table from traces. Each part of a scan is a thread that reads its traces one
//! after the other and sends batches through a bounded channel, which limits the memory.

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::Arc;

use arrow::array::{
    ArrayRef, AsArray, DictionaryArray, Int32Array, RecordBatch, RecordBatchOptions, StringArray,
    new_null_array,
};
use arrow::compute::cast;
use arrow::datatypes::{DataType, SchemaRef};
use datafusion::common::{DataFusionError, Result};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_plan::stream::RecordBatchReceiverStream;
use datafusion::physical_plan::streaming::PartitionStream;
use tracewell::model::Clock;
use tracewell_tables::{Source, Table};

use crate::columns::{PATH, TRACE};
use crate::failure::Failure;
use crate::files::TraceFile;
use crate::pushdown::Wanted;
use crate::sources::Sources;

/// Maximum number of batches per part that wait for the engine.
const WAITING_BATCHES: usize = 2;

/// The columns and rows of a table that a query needs.
#[derive(Debug)]
pub(crate) struct Scan {
    pub(crate) table: Table,
    /// The wanted columns.
    pub(crate) schema: SchemaRef,
    pub(crate) wanted: Wanted,
    /// Maximum number of rows.
    pub(crate) limit: Option<usize>,
    /// Number of threads that may read each trace.
    pub(crate) threads: usize,
    pub(crate) sources: Arc<Sources>,
}

/// The traces of a scan that one thread reads.
#[derive(Debug)]
pub(crate) struct Part {
    scan: Arc<Scan>,
    files: Vec<Arc<TraceFile>>,
}

impl Part {
    pub(crate) fn new(scan: Arc<Scan>, files: Vec<Arc<TraceFile>>) -> Self {
        Self { scan, files }
    }
}

impl PartitionStream for Part {
    fn schema(&self) -> &SchemaRef {
        &self.scan.schema
    }

    fn execute(&self, _: Arc<TaskContext>) -> SendableRecordBatchStream {
        let schema = Arc::clone(&self.scan.schema);
        let mut builder = RecordBatchReceiverStream::builder(schema, WAITING_BATCHES);
        let (sender, scan, files) = (builder.tx(), Arc::clone(&self.scan), self.files.clone());
        builder.spawn_blocking(move || {
            for file in &files {
                // The engine drops the receiver when it needs no more rows.
                let mut send = |batch| match sender.blocking_send(Ok(batch)) {
                    Ok(()) => ControlFlow::Continue(()),
                    Err(_) => ControlFlow::Break(()),
                };
                if scan.read(file, &mut send)?.is_break() {
                    break;
                }
            }
            Ok(())
        });
        builder.build()
    }
}

impl Scan {
    /// Reads the rows of one trace. If the trace cannot be read, adds a finding and returns no
    /// error, so the other traces are still read.
    pub(crate) fn read(
        &self,
        file: &Arc<TraceFile>,
        send: &mut dyn FnMut(RecordBatch) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>> {
        if let Some(columns) = self.early(file)
            && let Some(flow) = self.read_early(file, &columns, send)?
        {
            return Ok(flow);
        }
        let Some(source) = self.sources.open(file)? else { return Ok(ControlFlow::Continue(())) };
        let findings = &self.sources.findings;
        let columns = match Columns::new(self, file, &source) {
            Ok(columns) => columns,
            Err(failure) => {
                findings.fail(&file.path, &failure);
                return Ok(ControlFlow::Continue(()));
            }
        };
        let own = columns.own.clone();
        let most = (self.limit, self.threads);
        let request = self.wanted.request(&source.trace().clock, own, most);
        let mut sent = Sent::default();
        let read = source.read(self.table, &request, &mut |batch| {
            sent.send(columns.of(&batch, &self.schema), send)
        });
        match read {
            Ok(summary) if summary.left_out > 0 => {
                findings.left_out(&file.path, self.table.name(), summary.left_out);
            }
            Ok(_) => {}
            Err(error) => findings.fail(&file.path, &Failure::from(error)),
        }
        sent.failed.map_or(Ok(sent.flow), Err)
    }

    /// Returns the columns if the first reading of the trace can make all of them.
    fn early(&self, file: &TraceFile) -> Option<Columns> {
        let (mut own, mut from) = (Vec::new(), Vec::new());
        for field in self.schema.fields() {
            let name = field.name().as_str();
            from.push(if let Some(position) = self.table.early_position(name) {
                own.push(position);
                From::Own(own.len() - 1)
            } else if name == PATH {
                constant(&file.path.to_string_lossy())
            } else {
                constant(file.label(name)?)
            });
        }
        // Rows without columns need no reading after the first.
        let is_early = !own.is_empty() && !self.wanted.needs_clock();
        is_early.then_some(Columns { own, from })
    }

    /// Reads the rows of a trace while it is opened. Returns `None` if it is already open.
    fn read_early(
        &self,
        file: &Arc<TraceFile>,
        columns: &Columns,
        send: &mut dyn FnMut(RecordBatch) -> ControlFlow<()>,
    ) -> Result<Option<ControlFlow<()>>> {
        let clock = Clock::of_64_bits(None);
        let most = (self.limit, self.threads);
        let request = self.wanted.request(&clock, columns.own.clone(), most);
        let mut sent = Sent::default();
        let is_read = self.sources.open_and_read(file, &request, &mut |batch| {
            sent.send(columns.of(&batch, &self.schema), send)
        })?;
        sent.failed.map_or(Ok(is_read.then_some(sent.flow)), Err)
    }
}

/// The result of sending the batches of a trace.
struct Sent {
    flow: ControlFlow<()>,
    failed: Option<DataFusionError>,
}

impl Default for Sent {
    fn default() -> Self {
        Self { flow: ControlFlow::Continue(()), failed: None }
    }
}

impl Sent {
    /// Sends a batch, unless it could not be made.
    fn send(
        &mut self,
        batch: Result<RecordBatch>,
        send: &mut dyn FnMut(RecordBatch) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        match batch {
            Ok(batch) => self.flow = send(batch),
            Err(error) => {
                self.failed = Some(error);
                self.flow = ControlFlow::Break(());
            }
        }
        self.flow
    }
}

/// The wanted columns of one trace.
struct Columns {
    /// Positions of wanted columns in the source.
    own: Vec<usize>,
    from: Vec<From>,
}

/// The origin of the values in a wanted column.
enum From {
    /// The column at this position in [`Columns::own`].
    Own(usize),
    /// The same value in all rows: the only value of this array.
    Constant(ArrayRef),
    /// The trace has no such column.
    Null,
}

fn constant(value: &str) -> From {
    From::Constant(Arc::new(StringArray::from(vec![value])))
}

impl Columns {
    fn new(scan: &Scan, file: &TraceFile, source: &Source) -> Result<Self, Failure> {
        let schema = source.schema(scan.table);
        let fields = schema.fields().iter().enumerate();
        let positions: HashMap<&str, usize> =
            fields.map(|(at, field)| (field.name().as_str(), at)).collect();
        let mut own = Vec::new();
        let mut from = Vec::new();
        for field in scan.schema.fields() {
            let name = field.name().as_str();
            from.push(match positions.get(name) {
                Some(position) => {
                    own.push(*position);
                    From::Own(own.len() - 1)
                }
                None if name == PATH => constant(&file.path.to_string_lossy()),
                None if name == TRACE => constant(&source.hash()?),
                None => match file.label(name) {
                    Some(value) => constant(value),
                    None => From::Null,
                },
            });
        }
        Ok(Self { own, from })
    }

    /// Returns a batch with the wanted columns.
    fn of(&self, batch: &RecordBatch, schema: &SchemaRef) -> Result<RecordBatch> {
        let rows = batch.num_rows();
        let column = |(from, field): (&From, &Arc<arrow::datatypes::Field>)| {
            Ok(match from {
                From::Own(at) => {
                    let column = batch.column(*at);
                    match column.data_type() == field.data_type() {
                        true => Arc::clone(column),
                        false => cast(column, field.data_type())?,
                    }
                }
                From::Constant(value) if matches!(field.data_type(), DataType::Dictionary(..)) => {
                    let keys = Int32Array::from(vec![0; rows]);
                    Arc::new(DictionaryArray::try_new(keys, Arc::clone(value))?) as ArrayRef
                }
                From::Constant(value) => {
                    let value = value.as_string::<i32>().value(0);
                    let values = std::iter::repeat_n(value, rows);
                    Arc::new(StringArray::from_iter_values(values)) as ArrayRef
                }
                From::Null => new_null_array(field.data_type(), rows),
            })
        };
        let columns = self.from.iter().zip(schema.fields()).map(column);
        let columns: Result<Vec<ArrayRef>> = columns.collect();
        // A query such as `count(*)` needs rows without columns.
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        Ok(RecordBatch::try_new_with_options(Arc::clone(schema), columns?, &options)?)
    }
}
