//! Measures the processor time of each step from a trace to a Parquet file of its events, on one
//! thread, with this crate and with the library `parquet` alone. Needs Linux.
//!
//!     cargo run --release -p tracewell-parquet --example speed -- TRACE OUT.parquet [ROUNDS]
//!
//! The steps are those of `tracewell ingest --tables events`: open the trace, which decodes it
//! once; hash it; decode it again and make its rows; write the file. The rounds of both writers
//! alternate, and the program prints the median of each step in nanoseconds per event. OUT.parquet
//! is the file of the last round.

use std::error::Error;
use std::fs::{self, File};
use std::ops::ControlFlow;
use std::sync::Arc;

use arrow_array::{ArrayRef, DictionaryArray, Int32Array, RecordBatch, StringArray};
use arrow_schema::{Field, Schema, SchemaRef};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::file::properties::{WriterProperties, WriterVersion};
use parquet::schema::types::ColumnPath;
use tracewell_parquet::Writer;
use tracewell_tables::{Kind, Request, Settings, Source, Table};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// The steps whose time is measured.
const STEPS: [&str; 4] = ["open", "hash", "rows", "write"];

fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let usage = "usage: speed TRACE OUT.parquet [ROUNDS]";
    let (trace, out) = (arguments.next().ok_or(usage)?, arguments.next().ok_or(usage)?);
    let rounds: usize = arguments.next().map_or(Ok(5), |rounds| rounds.parse())?;
    let mut of_library = Vec::new();
    let mut own = Vec::new();
    for _ in 0..rounds {
        of_library.push(Round::of(&trace, &out, File::create(&out)?, library)?);
        own.push(Round::of(&trace, &out, File::create(&out)?, Writer::new)?);
    }
    print("parquet", &of_library);
    print("tracewell-parquet", &own);
    Ok(())
}

/// Prints the medians of rounds.
fn print(writer: &str, rounds: &[Round]) {
    let median = |of: &dyn Fn(&Round) -> f64| {
        let mut values: Vec<f64> = rounds.iter().map(of).collect();
        values.sort_by(f64::total_cmp);
        values.get(values.len() / 2).copied().unwrap_or_default()
    };
    let per_event = |round: &Round, ns: f64| ns / round.rows as f64;
    print!("{writer:20}");
    for (step, name) in STEPS.iter().enumerate() {
        print!(" {name} {:.0}", median(&|round| per_event(round, round.ns[step])));
    }
    let sum = median(&|round| per_event(round, round.ns.iter().sum()));
    let bytes = median(&|round| per_event(round, round.bytes as f64));
    println!(", {sum:.0} ns per event: {:.2} million/s, {bytes:.2} bytes per event", 1e3 / sum);
}

/// The measurements of one round.
struct Round {
    rows: usize,
    bytes: u64,
    /// Processor time of each step.
    ns: [f64; STEPS.len()],
}

impl Round {
    fn of<W: Rows>(
        trace: &str,
        out: &str,
        file: File,
        begin: impl FnOnce(File, SchemaRef) -> parquet::errors::Result<W>,
    ) -> Result<Self> {
        let mut clock = Clock(processor_ns()?);
        let source = Source::open(trace, Settings::default(), Vec::new())?;
        let open = clock.lap()?;
        let hash = source.hash()?;
        let hashed = clock.lap()?;
        let whole = source.schema(Table::Events);
        // A lake does not contain the column `text`.
        let wanted = (0..whole.fields().len()).filter(|at| whole.field(*at).name() != "text");
        let wanted: Vec<usize> = wanted.collect();
        let constants = [("trace", hash.as_str()), ("path", trace)];
        let names = constants.iter().map(|(name, _)| (*name).to_owned());
        let text = |name: String| Field::new(name, Kind::Text.data_type(), true);
        let word = |name: String| Field::new(name, Kind::Word.data_type(), true);
        let own = whole.project(&wanted)?;
        let schema = |constant: fn(String) -> Field| {
            let own = own.fields().iter().map(|field| field.as_ref().clone());
            Arc::new(Schema::new(own.chain(names.clone().map(constant)).collect::<Vec<_>>()))
        };
        let of_file = schema(text);
        let of_rows = if W::TAKES_WORDS { schema(word) } else { Arc::clone(&of_file) };
        let mut writer = begin(file, of_file)?;
        let request = Request { columns: Some(wanted), threads: 1, ..Request::default() };
        let (mut rows, mut making, mut writing) = (0, 0.0, 0.0);
        let mut failed = None;
        source.read(Table::Events, &request, &mut |batch| {
            rows += batch.num_rows();
            let mut write = || -> Result<()> {
                making += clock.lap()?;
                let constants = constants
                    .iter()
                    .map(|(_, value)| constant(value, batch.num_rows(), W::TAKES_WORDS));
                let columns = batch.columns().iter().cloned().chain(constants).collect();
                writer.put(&RecordBatch::try_new(Arc::clone(&of_rows), columns)?)?;
                writing += clock.lap()?;
                Ok(())
            };
            failed = write().err();
            if failed.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })?;
        failed.map_or(Ok(()), Err)?;
        making += clock.lap()?;
        writer.end()?;
        writing += clock.lap()?;
        let bytes = fs::metadata(out)?.len();
        Ok(Self { rows, bytes, ns: [open, hashed, making, writing] })
    }
}

/// Returns a column with the same value in all rows.
fn constant(value: &str, rows: usize, is_word: bool) -> ArrayRef {
    if is_word {
        let words = Arc::new(StringArray::from(vec![value]));
        return Arc::new(DictionaryArray::new(Int32Array::from(vec![0; rows]), words));
    }
    Arc::new(StringArray::from_iter_values(std::iter::repeat_n(value, rows)))
}

/// A writer of Parquet files.
trait Rows {
    /// True if columns of texts can be dictionaries.
    const TAKES_WORDS: bool;
    fn put(&mut self, batch: &RecordBatch) -> Result<()>;
    fn end(self) -> Result<()>;
}

impl Rows for Writer<File> {
    const TAKES_WORDS: bool = true;

    fn put(&mut self, batch: &RecordBatch) -> Result<()> {
        Ok(self.write(batch)?)
    }

    fn end(self) -> Result<()> {
        Ok(self.finish()?)
    }
}

impl Rows for ArrowWriter<File> {
    const TAKES_WORDS: bool = false;

    fn put(&mut self, batch: &RecordBatch) -> Result<()> {
        Ok(self.write(batch)?)
    }

    fn end(self) -> Result<()> {
        self.close()?;
        Ok(())
    }
}

/// Returns a writer of the library with the encodings that suit events best.
fn library(file: File, schema: SchemaRef) -> parquet::errors::Result<ArrowWriter<File>> {
    let mut properties = WriterProperties::builder()
        .set_writer_version(WriterVersion::PARQUET_2_0)
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(3)?));
    for column in ["seq", "ticks", "time_ns", "time"].map(ColumnPath::from) {
        properties = properties
            .set_column_dictionary_enabled(column.clone(), false)
            .set_column_encoding(column, Encoding::DELTA_BINARY_PACKED);
    }
    ArrowWriter::try_new(file, schema, Some(properties.build()))
}

/// The processor time of this thread at the end of the last step.
struct Clock(f64);

impl Clock {
    /// Returns the nanoseconds since the end of the last step.
    fn lap(&mut self) -> Result<f64> {
        let now = processor_ns()?;
        let before = std::mem::replace(&mut self.0, now);
        Ok(now - before)
    }
}

/// Returns the processor time of this thread in nanoseconds.
fn processor_ns() -> Result<f64> {
    let times = fs::read_to_string("/proc/thread-self/schedstat")?;
    Ok(times.split(' ').next().unwrap_or_default().parse()?)
}
