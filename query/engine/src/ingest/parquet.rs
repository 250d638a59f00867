//! Writes Parquet files, for example with a table of several traces.

use std::collections::HashSet;
use std::fs::File;
use std::io::{Seek, SeekFrom};
use std::ops::ControlFlow;
use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::{Field, Schema, SchemaRef};
use datafusion::catalog::TableProvider;
use parquet::errors::ParquetError;
use tracewell_tables::{Kind, Table};

use crate::columns::{PATH, TEXT, TRACE};
use crate::failure::Failure;
use crate::files::TraceFile;
use crate::provider::TraceTable;
use crate::pushdown::Wanted;
use crate::scan::Scan;
use crate::sources::Sources;

/// A Parquet file under a temporary name.
pub(super) struct Written {
    pub(super) table: Table,
    pub(super) file: File,
    pub(super) rows: u64,
    pub(super) bytes: u64,
    pub(super) schema: SchemaRef,
}

/// Writes the rows of traces. Returns `None` if there are none.
///
/// # Errors
///
/// Fails if a label has the name of a column, or if the temporary file cannot be written.
pub(super) fn write(
    table: Table,
    traces: &[Arc<TraceFile>],
    sources: &Arc<Sources>,
    with_text: bool,
) -> Result<Option<Written>, Failure> {
    let provider = TraceTable::new(table, traces.to_vec(), Arc::clone(sources), true)?;
    let schema = match table == Table::Events && !with_text {
        true => without_text(&provider.schema()),
        false => provider.schema(),
    };
    let scan = Scan {
        table,
        schema: with_words(table, traces, &schema),
        wanted: Wanted::default(),
        limit: None,
        // Other threads write other tables.
        threads: 1,
        sources: Arc::clone(sources),
    };
    let mut writer = Writer::new(table, schema)?;
    for trace in traces {
        let mut result = Ok(());
        let _ = scan.read(trace, &mut |batch: RecordBatch| {
            result = writer.write(&batch);
            match result {
                Ok(()) => ControlFlow::Continue(()),
                Err(_) => ControlFlow::Break(()),
            }
        })?;
        result?;
    }
    writer.finish()
}

/// Writes batches of a table to a Parquet file under a temporary name.
pub(super) struct Writer {
    table: Table,
    schema: SchemaRef,
    file: File,
    writer: tracewell_parquet::Writer<File>,
    rows: u64,
}

impl Writer {
    /// Creates the file.
    ///
    /// # Errors
    ///
    /// Fails if the temporary file cannot be written.
    pub(super) fn new(table: Table, schema: SchemaRef) -> Result<Self, Failure> {
        let file = tempfile::tempfile().map_err(|error| temporary(&error))?;
        let out = file.try_clone().map_err(|error| temporary(&error))?;
        let writer = tracewell_parquet::Writer::new(out, Arc::clone(&schema))
            .map_err(|error| failed(table, &error))?;
        Ok(Self { table, schema, file, writer, rows: 0 })
    }

    /// Appends rows.
    ///
    /// # Errors
    ///
    /// Fails if the temporary file cannot be written.
    pub(super) fn write(&mut self, batch: &RecordBatch) -> Result<(), Failure> {
        self.rows += batch.num_rows() as u64;
        self.writer.write(batch).map_err(|error| failed(self.table, &error))
    }

    /// Completes the file. Returns `None` if it has no rows.
    ///
    /// # Errors
    ///
    /// Fails if the temporary file cannot be written.
    pub(super) fn finish(self) -> Result<Option<Written>, Failure> {
        let Self { table, schema, mut file, writer, rows } = self;
        writer.finish().map_err(|error| failed(table, &error))?;
        if rows == 0 {
            return Ok(None);
        }
        let bytes = file.seek(SeekFrom::End(0)).map_err(|error| temporary(&error))?;
        file.rewind().map_err(|error| temporary(&error))?;
        Ok(Some(Written { table, file, rows, bytes, schema }))
    }
}

fn temporary(error: &std::io::Error) -> Failure {
    Failure::io(&std::env::temp_dir(), error)
}

fn failed(table: Table, error: &ParquetError) -> Failure {
    Failure::storage(format!("{table}: {error}"))
}

fn without_text(schema: &Schema) -> SchemaRef {
    let fields = schema.fields().iter().filter(|field| field.name() != TEXT);
    Arc::new(Schema::new(fields.cloned().collect::<Vec<_>>()))
}

/// Returns the types of the rows. Labels, and other columns that the table of a single trace lacks,
/// have the same value in all rows of a trace. So they are dictionaries, which cost less than
/// texts. The file contains texts.
fn with_words(table: Table, traces: &[Arc<TraceFile>], schema: &Schema) -> SchemaRef {
    let labels = traces.iter().flat_map(|trace| &trace.labels).map(|(label, _)| label.as_str());
    let names: HashSet<&str> = labels.chain([TRACE, PATH]).collect();
    let is_own = |name: &str| table.columns().iter().any(|column| column.name == name);
    let of = |field: &Arc<Field>| {
        let is_constant = names.contains(field.name().as_str()) && !is_own(field.name());
        match is_constant && *field.data_type() == Kind::Text.data_type() {
            true => Arc::new(field.as_ref().clone().with_data_type(Kind::Word.data_type())),
            false => Arc::clone(field),
        }
    };
    Arc::new(Schema::new(schema.fields().iter().map(of).collect::<Vec<_>>()))
}
