//! Answers SQL questions over traces.
//!
//! `tracewell_tables` defines the tables of traces; a query engine plans and runs the SQL. The
//! program `tracewell-query` is in `main.rs`, `tracewell-ingest` is in `bin/`, and `docs/query.md`
//! is their guide.
//!
//! | file | content |
//! |---|---|
//! | `args` | the command line |
//! | `files`, `labels` | the traces of a query, and labels from their paths |
//! | `session`, `sql`, `functions` | the engine with the tables and functions of traces |
//! | `grouping` | a rule of the planner: groups by numbers of words |
//! | `provider`, `columns`, `pushdown`, `scan` | a table of several traces: columns, conditions, rows |
//! | `lake` | traces as Parquet files in a folder or in object storage |
//! | `ingest` | adds traces to a lake |
//! | `sources`, `findings` | opens traces, and collects their failures, damage and warnings |
//! | `output` | rows as text, Arrow and Parquet |
//! | `remote` | the interface to a cluster that answers instead of this program |
//! | `ready` | predefined queries, from the files in `queries/` |
//! | `prompt` | the interactive prompt |
//! | `run` | runs a command line |
//! | `failure` | failures and exit statuses |
#![forbid(unsafe_code)]

mod args;
mod columns;
mod failure;
mod files;
mod findings;
mod functions;
mod grouping;
mod ingest;
pub mod labels;
mod lake;
mod output;
mod prompt;
mod provider;
mod pushdown;
mod ready;
mod remote;
mod run;
mod scan;
mod session;
mod sources;
mod sql;

pub use args::Args;
pub use failure::{Failure, Outcome};
pub use files::{TraceFile, find};
pub use findings::Findings;
pub use functions::functions;
pub use ingest::{IngestArgs, ingest};
pub use lake::{Stores, decode_table, encode_table};
pub use output::{Form, Output};
pub use ready::{READY, ReadyQuery};
pub use remote::Remote;
pub use run::{report, run, run_on};
pub use session::{DEFAULT_MEMORY, Session};
