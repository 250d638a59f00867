//! Writes tables of Arrow columns as Parquet files.
//!
//! Files contain row groups, pages, statistics of both, and an index of the pages, as the crate
//! `parquet` writes them. Any reader of Parquet can read them.
//!
//! ```
//! use std::sync::Arc;
//!
//! use arrow_array::{ArrayRef, RecordBatch, UInt64Array};
//! use tracewell_parquet::Writer;
//!
//! let seq: ArrayRef = Arc::new(UInt64Array::from_iter_values(0..100));
//! let rows = RecordBatch::try_from_iter([("seq", seq)])?;
//! let mut file = Vec::new();
//! let mut writer = Writer::new(&mut file, rows.schema())?;
//! writer.write(&rows)?;
//! writer.finish()?;
//! assert_eq!(&file[..4], b"PAR1");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The crate `parquet` writes the file, its metadata and the columns of texts, bytes, flags,
//! floating-point numbers and decimal numbers. This crate encodes the columns of whole numbers and
//! of words, which are most columns of the table `events`. The crate `parquet` hashes each value of
//! a dictionary, although words are already numbers, and handles each null separately, although
//! most columns of arguments have a value in a few rows. `examples/speed.rs` compares both; the
//! figures are in `bench/README.md`.
//!
//! | file | content |
//! |---|---|
//! | `writer` | row groups, and the choice of who encodes each column |
//! | `column` | the pages and the description of a column |
//! | `number`, `words` | the values of columns, and their dictionaries |
//! | `hybrid`, `delta`, `bits` | the encodings |
//! | `bounds` | the least and the greatest values of pages and columns |
#![forbid(unsafe_code)]

mod bits;
mod bounds;
mod column;
mod delta;
mod hybrid;
mod number;
mod words;
mod writer;

pub use parquet::errors::ParquetError as Error;
pub use writer::Writer;
