//! Writes Parquet files, for example with a table of several traces.

use std::fs::File;
use std::io::{Seek, SeekFrom};
use std::ops::ControlFlow;
use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::{DataType, Schema, SchemaRef};
use datafusion::catalog::TableProvider;
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::properties::{WriterProperties, WriterVersion};
use parquet::schema::types::ColumnPath;
use tracewell_tables::Table;

use crate::columns::TEXT;
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
        schema: Arc::clone(&schema),
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
    writer: ArrowWriter<File>,
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
        let properties = Some(properties(&schema));
        let writer = ArrowWriter::try_new(out, Arc::clone(&schema), properties)
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
        writer.close().map_err(|error| failed(table, &error))?;
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

/// Columns whose values mostly grow, so that their differences are small.
const GROWING: [&str; 5] = ["seq", "ticks", "time_ns", "end_seq", "end_ticks"];

/// Level of zstd. Higher levels of compression save a few per cent and need much more time.
const LEVEL: i32 = 3;

/// Returns the compression and the encodings. Columns whose values grow, and columns of dates, are
/// encoded as differences. All others have dictionaries.
fn properties(schema: &Schema) -> WriterProperties {
    let level = ZstdLevel::try_new(LEVEL).unwrap_or_default();
    let mut builder = WriterProperties::builder()
        .set_writer_version(WriterVersion::PARQUET_2_0)
        .set_compression(Compression::ZSTD(level));
    for field in schema.fields() {
        let column = ColumnPath::from(field.name().as_str());
        let is_growing = GROWING.contains(&field.name().as_str());
        if is_growing || matches!(field.data_type(), DataType::Timestamp(..)) {
            builder = builder
                .set_column_dictionary_enabled(column.clone(), false)
                .set_column_encoding(column, Encoding::DELTA_BINARY_PACKED);
        }
    }
    builder.build()
}
