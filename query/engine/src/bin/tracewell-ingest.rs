//! The program `tracewell-ingest`, which `tracewell ingest` starts.
#![forbid(unsafe_code)]

use std::process::ExitCode;

use clap::Parser;
use tracewell_query::{IngestArgs, ingest};

fn main() -> ExitCode {
    ExitCode::from(ingest(&IngestArgs::parse()).status())
}
