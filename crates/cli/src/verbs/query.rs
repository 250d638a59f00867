//! `tracewell query`: starts the program `tracewell-query`, which contains a query engine. This
//! program would be many times larger with it.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use clap::Args;

use crate::outcome::{Failure, Outcome};

/// Answer questions in SQL over one or many traces
///
/// Starts the program tracewell-query with all arguments. It is a package of its own, because it
/// contains a query engine. It is found beside this program, or in a folder of PATH. `tracewell
/// query --help` lists its options.
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

/// Name of the program.
const PROGRAM: &str = "tracewell-query";

impl Query {
    /// Returns the verb with arguments that are not parsed.
    pub(crate) fn new(arguments: &[OsString]) -> Self {
        Self { arguments: arguments.to_owned() }
    }

    pub(crate) fn run(&self) -> Result<Outcome, Failure> {
        let program = beside().unwrap_or_else(|| PathBuf::from(PROGRAM));
        match Command::new(&program).args(&self.arguments).status() {
            Ok(status) => Ok(Outcome::of_program(status)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Err(missing()),
            Err(error) => Err(Failure::io(&program, &error)),
        }
    }
}

/// Returns the program in the folder of this program, if it is there.
fn beside() -> Option<PathBuf> {
    let folder = std::env::current_exe().ok()?.parent()?.to_owned();
    let name = format!("{PROGRAM}{}", std::env::consts::EXE_SUFFIX);
    Some(folder.join(name)).filter(|path| path.is_file())
}

fn missing() -> Failure {
    let message = "not found beside tracewell or in PATH; build it with `cargo install --path \
                   query/engine` in the sources of tracewell";
    Failure::io(Path::new(PROGRAM), &io::Error::new(io::ErrorKind::NotFound, message))
}
