//! Writes batches of rows to a file: collects row groups, and chooses who encodes each column.

use std::io::{self, Write};
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{DataType, FieldRef, SchemaRef};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_writer::{ArrowColumnWriter, ArrowRowGroupWriterFactory, compute_leaves};
use parquet::basic::{Compression, ZstdLevel};
use parquet::errors::{ParquetError, Result};
use parquet::file::properties::{WriterProperties, WriterVersion};
use parquet::file::writer::SerializedFileWriter;
use zstd::bulk::Compressor;

use crate::column::Column;
use crate::words::is_word;

/// Columns whose values mostly grow, so that their differences are small. Dates grow, too.
const GROWING: [&str; 5] = ["seq", "ticks", "time_ns", "end_seq", "end_ticks"];

/// Level of zstd for the pages that this crate encodes. For events of the benchmark, level 3 saves
/// less than 0.1 % and needs a tenth more time in all.
const LEVEL: i32 = 1;
/// Level of zstd for the columns that the library encodes, such as texts.
const LEVEL_OF_LIBRARY: i32 = 3;

/// Number of rows that are enough for a page.
const PAGE_ROWS: usize = 32_768;
/// Number of rows that are enough for a row group.
const GROUP_ROWS: usize = 1 << 20;
/// Number of bytes of a dictionary that are enough for a row group.
const MAX_DICTIONARY: usize = 64 << 20;

/// Writes rows to a Parquet file.
pub struct Writer<W: Write + Send> {
    file: SerializedFileWriter<W>,
    library: ArrowRowGroupWriterFactory,
    schema: SchemaRef,
    compressor: Compressor<'static>,
    /// A page before its compression.
    page: Vec<u8>,
    /// The columns of the current row group; empty if it has no rows.
    columns: Vec<ColumnWriter>,
    rows_of_page: usize,
    rows_of_group: usize,
    groups: usize,
}

enum ColumnWriter {
    Own(Box<Column>),
    Library(Box<ArrowColumnWriter>),
}

impl<W: Write + Send> Writer<W> {
    /// Begins a file with these columns.
    ///
    /// # Errors
    /// Returns an error if a type of column cannot be written, or if `out` returns an error.
    pub fn new(out: W, schema: SchemaRef) -> Result<Self> {
        let properties = Some(properties());
        let writer = ArrowWriter::try_new(out, Arc::clone(&schema), properties)?;
        let (file, library) = writer.into_serialized_writer()?;
        let compressor = Compressor::new(LEVEL).map_err(failed)?;
        Ok(Self {
            file,
            library,
            schema,
            compressor,
            page: Vec::new(),
            columns: Vec::new(),
            rows_of_page: 0,
            rows_of_group: 0,
            groups: 0,
        })
    }

    /// Appends rows. Columns of texts can be dictionaries.
    ///
    /// # Errors
    /// Returns an error if the rows have other columns than the file, or if `out` returns an error.
    pub fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        if batch.num_rows() == 0 {
            return Ok(());
        }
        self.check(batch)?;
        if self.columns.is_empty() {
            self.begin_group(batch)?;
        }
        let fields = self.schema.fields().iter().zip(batch.columns());
        for (column, (field, array)) in self.columns.iter_mut().zip(fields) {
            match column {
                ColumnWriter::Own(column) => column.append(array.as_ref())?,
                ColumnWriter::Library(writer) => {
                    for leaf in compute_leaves(field, array)? {
                        writer.write(&leaf)?;
                    }
                }
            }
        }
        self.rows_of_page += batch.num_rows();
        self.rows_of_group += batch.num_rows();
        if self.rows_of_page >= PAGE_ROWS {
            self.end_page()?;
        }
        let dictionary = |column: &ColumnWriter| match column {
            ColumnWriter::Own(column) => column.dictionary_bytes(),
            ColumnWriter::Library(_) => 0,
        };
        let is_large = self.columns.iter().any(|column| dictionary(column) >= MAX_DICTIONARY);
        if self.rows_of_group >= GROUP_ROWS || is_large {
            self.end_group()?;
        }
        Ok(())
    }

    /// Completes the file.
    ///
    /// # Errors
    /// Returns the errors of `out`.
    pub fn finish(mut self) -> Result<()> {
        self.end_group()?;
        self.file.close().map(|_| ())
    }

    /// Checks that a batch has the columns of the file.
    fn check(&self, batch: &RecordBatch) -> Result<()> {
        let fits = |(field, array): (&FieldRef, &ArrayRef)| {
            let (expected, found) = (field.data_type(), array.data_type());
            expected == found || *expected == DataType::Utf8 && is_word(found)
        };
        let fields = self.schema.fields().iter();
        match fields.len() == batch.num_columns() && fields.zip(batch.columns()).all(fits) {
            true => Ok(()),
            false => {
                let (expected, found) = (&self.schema, batch.schema());
                Err(ParquetError::General(format!("expected rows of {expected}, found {found}")))
            }
        }
    }

    fn begin_group(&mut self, batch: &RecordBatch) -> Result<()> {
        let writers = self.library.create_column_writers(self.groups)?;
        let descriptors = self.file.schema_descr().columns().iter();
        let fields = self.schema.fields().iter().zip(batch.columns());
        for ((writer, descriptor), (field, array)) in
            writers.into_iter().zip(descriptors).zip(fields)
        {
            let is_growing = GROWING.contains(&field.name().as_str())
                || matches!(field.data_type(), DataType::Timestamp(..));
            let column = Column::new(Arc::clone(descriptor), array.data_type(), is_growing);
            self.columns.push(match column {
                Some(column) => ColumnWriter::Own(Box::new(column)),
                None => ColumnWriter::Library(Box::new(writer)),
            });
        }
        Ok(())
    }

    fn end_page(&mut self) -> Result<()> {
        if self.rows_of_page > 0 {
            for column in &mut self.columns {
                if let ColumnWriter::Own(column) = column {
                    column.end_page(&mut self.page, &mut self.compressor)?;
                }
            }
            self.rows_of_page = 0;
        }
        Ok(())
    }

    fn end_group(&mut self) -> Result<()> {
        if self.columns.is_empty() {
            return Ok(());
        }
        self.end_page()?;
        let mut group = self.file.next_row_group()?;
        for column in self.columns.drain(..) {
            match column {
                ColumnWriter::Own(column) => {
                    let (bytes, close) = column.finish(&mut self.compressor)?;
                    group.append_column(&bytes, close)?;
                }
                ColumnWriter::Library(writer) => writer.close()?.append_to_row_group(&mut group)?,
            }
        }
        group.close()?;
        self.groups += 1;
        self.rows_of_group = 0;
        Ok(())
    }
}

fn failed(error: io::Error) -> ParquetError {
    ParquetError::External(error.into())
}

/// Returns the compression and the encodings of the columns that the library encodes.
fn properties() -> WriterProperties {
    let level = ZstdLevel::try_new(LEVEL_OF_LIBRARY).unwrap_or_default();
    WriterProperties::builder()
        .set_writer_version(WriterVersion::PARQUET_2_0)
        .set_compression(Compression::ZSTD(level))
        .build()
}
