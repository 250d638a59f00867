//! The program `tracewell-query`, which `tracewell query` starts.
#![forbid(unsafe_code)]

use std::process::ExitCode;

use clap::Parser;
use tracewell_query::{Args, run};

fn main() -> ExitCode {
    ExitCode::from(run(&Args::parse()).status())
}
