//! Writes a table of several traces to a Parquet file.

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
    let provider = TraceTable::new(table, traces.to_vec(), Arc::clone(sources))?;
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
    let temporary = |error: &std::io::Error| Failure::io(&std::env::temp_dir(), error);
    let file = tempfile::tempfile().map_err(|error| temporary(&error))?;
    let failed = |error: ParquetError| Failure::storage(format!("{table}: {error}"));
    let properties = Some(properties(&schema));
    let mut writer =
        ArrowWriter::try_new(&file, Arc::clone(&schema), properties).map_err(failed)?;
    let mut rows = 0;
    for trace in traces {
        let mut result = Ok(());
        let _ = scan.read(trace, &mut |batch: RecordBatch| {
            rows += batch.num_rows() as u64;
            result = writer.write(&batch);
            match result {
                Ok(()) => ControlFlow::Continue(()),
                Err(_) => ControlFlow::Break(()),
            }
        })?;
        result.map_err(failed)?;
    }
    writer.close().map_err(failed)?;
    if rows == 0 {
        return Ok(None);
    }
    let mut file = file;
    let bytes = file.seek(SeekFrom::End(0)).map_err(|error| temporary(&error))?;
    file.rewind().map_err(|error| temporary(&error))?;
    Ok(Some(Written { table, file, rows, bytes, schema }))
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
