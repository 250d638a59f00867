//! `tracewell query`: starts the program `tracewell-query`.

use std::ffi::OsString;

use clap::Args;

use super::companion;
use crate::outcome::{Failure, Outcome};

/// Answer SQL queries over one or many traces
///
/// Starts the program tracewell-query with all arguments. That program is a separate package,
/// because it contains a query engine. It must be in the folder of this program, or in a folder of
/// PATH. `tracewell query --help` lists its options.
#[derive(Debug, Args)]
#[command(disable_help_flag = true, disable_version_flag = true)]
#[command(after_help = "Examples:
  tracewell query \"SELECT name, count(*) FROM 'trace.trx' GROUP BY name\"
  tracewell query --run worst-responses runs/")]
pub(crate) struct Query {
    /// The arguments of tracewell-query
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGUMENT")]
    arguments: Vec<OsString>,
}

impl Query {
    /// Returns the verb with its unparsed arguments.
    pub(crate) fn new(arguments: &[OsString]) -> Self {
        Self { arguments: arguments.to_owned() }
    }

    pub(crate) fn run(&self) -> Result<Outcome, Failure> {
        companion::run("tracewell-query", &self.arguments)
    }
}
