//! Starts `tracewell-query` for the verb `query`, and `tracewell-ingest` for the verb `ingest`.
//! They are separate programs, because the query engine would make `tracewell` many times larger.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::outcome::{Failure, Outcome};

/// Runs a program with these arguments, and returns its status.
pub(crate) fn run(name: &str, arguments: &[OsString]) -> Result<Outcome, Failure> {
    let program = beside(name).unwrap_or_else(|| PathBuf::from(name));
    match Command::new(&program).args(arguments).status() {
        Ok(status) => Ok(Outcome::of_program(status)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Err(missing(name)),
        Err(error) => Err(Failure::io(&program, &error)),
    }
}

/// Returns the path of the program if it is in the folder of this program.
fn beside(name: &str) -> Option<PathBuf> {
    let folder = std::env::current_exe().ok()?.parent()?.to_owned();
    let name = format!("{name}{}", std::env::consts::EXE_SUFFIX);
    Some(folder.join(name)).filter(|path| path.is_file())
}

fn missing(name: &str) -> Failure {
    let message = "not found beside tracewell or in PATH; build it with `cargo install --path \
                   query/engine` in the sources of tracewell";
    Failure::io(Path::new(name), &io::Error::new(io::ErrorKind::NotFound, message))
}
