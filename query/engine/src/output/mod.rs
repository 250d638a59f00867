//! Writes the rows of a query: as an aligned table, as text for programs, or as Arrow and Parquet.
//! `file` gives a file its final name only when the file is complete. `table` aligns columns.

mod file;
mod table;

use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use arrow::array::RecordBatch;
use arrow::csv;
use arrow::datatypes::SchemaRef;
use arrow::error::ArrowError;
use arrow::ipc::writer::StreamWriter;
use arrow::json::LineDelimitedWriter;
use clap::ValueEnum;
use datafusion::execution::SendableRecordBatchStream;
use futures::StreamExt;
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;

use crate::failure::Failure;

use file::OutputFile;
use table::TableWriter;

/// The form of the rows.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Form {
    /// Aligned columns, for people
    Table,
    /// Comma-separated values with a line of column names
    Csv,
    /// One JSON object per line; nulls are left out
    Jsonl,
    /// A Parquet file
    Parquet,
    /// A stream of Arrow batches (IPC)
    Arrow,
}

impl Form {
    /// Returns the form that the extension of a path selects, if there is one.
    pub fn of_path(path: &Path) -> Option<Self> {
        match path.extension()?.to_str()? {
            "csv" => Some(Self::Csv),
            "jsonl" | "ndjson" => Some(Self::Jsonl),
            "parquet" => Some(Self::Parquet),
            "arrow" | "arrows" => Some(Self::Arrow),
            "txt" => Some(Self::Table),
            _ => None,
        }
    }
}

/// The destination and the form of the rows.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Output {
    /// The form of the rows.
    pub form: Form,
    /// The file; `None` is standard output.
    pub path: Option<PathBuf>,
    /// True if an existing file may be replaced.
    pub replaces: bool,
}

impl Output {
    /// Writes the rows of a query. `is_input` returns true for a file that the query has read.
    ///
    /// # Errors
    ///
    /// Fails if the query fails, if the output cannot be written, or if it would replace an input.
    /// After a failure, an existing file is kept.
    pub async fn write(
        &self,
        rows: SendableRecordBatchStream,
        is_input: impl Fn(&Path) -> bool,
    ) -> Result<(), Failure> {
        match &self.path {
            None => {
                let standard = Path::new("standard output");
                let mut out = BufWriter::with_capacity(1 << 16, std::io::stdout());
                self.write_to(&mut out, standard, rows).await
            }
            Some(path) => {
                let mut file = OutputFile::create(path, self.replaces)?;
                self.write_to(file.writer(), path, rows).await?;
                if is_input(path) {
                    let path = tracewell::text::shown_path(path);
                    let message = format!("{path}: is also an input and would be overwritten");
                    return Err(Failure::usage(message));
                }
                file.commit()
            }
        }
    }

    async fn write_to(
        &self,
        out: &mut (dyn Write + Send),
        path: &Path,
        mut rows: SendableRecordBatchStream,
    ) -> Result<(), Failure> {
        let mut writer = Writer::new(self.form, out, rows.schema()).map_err(|e| e.at(path))?;
        while let Some(batch) = rows.next().await {
            writer.write(&batch?).map_err(|error| error.at(path))?;
        }
        writer.finish().map_err(|error| error.at(path))?;
        out.flush().map_err(|error| Failure::io(path, &error))
    }
}

/// Error for rows that cannot be written.
#[derive(Debug)]
enum WriteError {
    Io(std::io::Error),
    /// The form cannot contain these rows.
    Form(String),
}

impl WriteError {
    fn at(self, path: &Path) -> Failure {
        match self {
            Self::Io(error) => Failure::io(path, &error),
            Self::Form(message) => {
                Failure::usage(format!("{}: {message}", tracewell::text::shown_path(path)))
            }
        }
    }
}

impl From<std::io::Error> for WriteError {
    fn from(error: std::io::Error) -> Self {
        Self::Io(error)
    }
}

impl From<ArrowError> for WriteError {
    fn from(error: ArrowError) -> Self {
        match error {
            ArrowError::IoError(_, error) => Self::Io(error),
            error => Self::Form(error.to_string()),
        }
    }
}

impl From<ParquetError> for WriteError {
    fn from(error: ParquetError) -> Self {
        match error {
            ParquetError::External(error) => match error.downcast() {
                Ok(error) => Self::Io(*error),
                Err(error) => Self::Form(error.to_string()),
            },
            error => Self::Form(error.to_string()),
        }
    }
}

type Out<'a> = &'a mut (dyn Write + Send);

/// A writer of rows in one form.
enum Writer<'a> {
    Table(TableWriter<Out<'a>>),
    Csv(Box<csv::Writer<Out<'a>>>),
    Jsonl(LineDelimitedWriter<Out<'a>>),
    Parquet(Box<ArrowWriter<Out<'a>>>),
    Arrow(Box<StreamWriter<Out<'a>>>),
}

impl<'a> Writer<'a> {
    fn new(form: Form, out: Out<'a>, schema: SchemaRef) -> Result<Self, WriteError> {
        Ok(match form {
            Form::Table => Self::Table(TableWriter::new(out, &schema)),
            Form::Csv => {
                let mut writer = csv::Writer::new(out);
                // Print the names even if there are no rows.
                writer.write(&RecordBatch::new_empty(schema))?;
                Self::Csv(Box::new(writer))
            }
            Form::Jsonl => Self::Jsonl(LineDelimitedWriter::new(out)),
            Form::Parquet => {
                let compression = Compression::ZSTD(ZstdLevel::default());
                let properties = WriterProperties::builder().set_compression(compression).build();
                Self::Parquet(Box::new(ArrowWriter::try_new(out, schema, Some(properties))?))
            }
            Form::Arrow => Self::Arrow(Box::new(StreamWriter::try_new(out, &schema)?)),
        })
    }

    fn write(&mut self, batch: &RecordBatch) -> Result<(), WriteError> {
        match self {
            Self::Table(writer) => writer.write(batch)?,
            Self::Csv(writer) => writer.write(batch)?,
            Self::Jsonl(writer) => writer.write(batch)?,
            Self::Parquet(writer) => writer.write(batch)?,
            Self::Arrow(writer) => writer.write(batch)?,
        }
        Ok(())
    }

    fn finish(self) -> Result<(), WriteError> {
        match self {
            Self::Table(writer) => writer.finish()?,
            Self::Csv(_) => {}
            Self::Jsonl(mut writer) => writer.finish()?,
            Self::Parquet(writer) => {
                writer.close()?;
            }
            Self::Arrow(mut writer) => writer.finish()?,
        }
        Ok(())
    }
}
