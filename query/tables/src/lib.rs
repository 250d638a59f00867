//! Traces as tables of Arrow columns, for query engines, Parquet files and Python.
//!
//! A [`Source`] is a trace in a file. [`Source::read`] makes the rows of a [`Table`] in batches. A
//! [`Request`] limits columns and rows. The reader skips events whose times or ids are not
//! requested, and creates values only for the requested columns. docs/tables.md lists all columns.
//!
//! | file | content |
//! |---|---|
//! | `table`, `column`, `columns` | the tables, and the lists of their columns |
//! | `source`, `request`, `error` | opening traces, requests for rows, errors |
//! | `progress` | the progress of a reading |
//! | `events`, `arguments`, `slices` | the table `events` with its columns of arguments, on several threads |
//! | `facts`, `tracks`, `scheduling`, `figures` | the other tables |
//! | `output`, `values`, `fixed` | batches of rows, and the values of their columns |
//! | `hash` | the hash that identifies a trace |
//!
//! SQL, storage and the interface to Python are in other crates.
#![forbid(unsafe_code)]

mod arguments;
mod column;
mod columns;
mod error;
mod events;
mod facts;
mod figures;
mod fixed;
mod hash;
mod output;
mod progress;
mod request;
mod scheduling;
mod slices;
mod source;
mod table;
mod tracks;
mod values;

pub use column::{Column, Kind};
pub use error::Error;
pub use progress::Progress;
pub use request::{Emit, Request, Summary};
pub use source::Source;
pub use table::{SCHEMA, Table, UnknownTable};
pub use tracewell::input::Settings;
