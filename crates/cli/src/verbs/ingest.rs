//! `tracewell ingest`: starts the program `tracewell-ingest`.

use std::ffi::OsString;

use clap::Args;

use super::companion;
use crate::outcome::{Failure, Outcome};

/// Add traces to a lake of Parquet files, for queries over the traces of many devices
///
/// Starts the program tracewell-ingest with all arguments. It comes with tracewell-query. It must
/// be in the folder of this program, or in a folder of PATH. `tracewell ingest --help`
/// lists its options.
#[derive(Debug, Args)]
#[command(disable_help_flag = true, disable_version_flag = true)]
#[command(after_help = "Examples:
  tracewell ingest runs/ -o lake -O rate=100MHz
  tracewell query --run worst-responses lake")]
pub(crate) struct Ingest {
    /// The arguments of tracewell-ingest
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGUMENT")]
    arguments: Vec<OsString>,
}

impl Ingest {
    /// Returns the verb with its unparsed arguments.
    pub(crate) fn new(arguments: &[OsString]) -> Self {
        Self { arguments: arguments.to_owned() }
    }

    pub(crate) fn run(&self) -> Result<Outcome, Failure> {
        companion::run("tracewell-ingest", &self.arguments)
    }
}
