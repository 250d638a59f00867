//! Writes the trace of a small simulated real-time system, recorded with `tracewell-record`.
//!
//! ```text
//! cargo run -p tracewell-record --example scheduling -- examples/scheduling.trx
//! ```
//!
//! The simulation is deterministic: it writes the same bytes on every machine.

mod simulation;

use std::process::ExitCode;

fn main() -> ExitCode {
    let Some(path) = std::env::args_os().nth(1) else {
        eprintln!("scheduling: name the file to write");
        return ExitCode::from(2);
    };
    match std::fs::write(&path, simulation::image()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("scheduling: {}: {error}", path.display());
            ExitCode::FAILURE
        }
    }
}
