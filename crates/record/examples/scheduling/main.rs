//! Writes the trace of a small simulated real-time system, recorded with `tracewell-record`.
//!
//! ```text
//! cargo run -p tracewell-record --example scheduling -- examples/scheduling.trx
//! cargo run -p tracewell-record --example scheduling -- new.trx --seed 7 --ms 1000
//! ```
//!
//! The simulation is deterministic: it writes the same bytes on every machine. With another seed,
//! bytes from the UART come at other times. With `--keep-log-file`, the logger keeps the mutex
//! `log file` while it uses the bus.

mod simulation;

use std::env::args;
use std::process::ExitCode;

use simulation::Run;

fn main() -> ExitCode {
    let Some((path, run)) = arguments(args().skip(1)) else {
        eprintln!("scheduling: expected FILE [--seed N] [--ms N] [--keep-log-file]");
        return ExitCode::from(2);
    };
    match std::fs::write(&path, simulation::image(run)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("scheduling: {path}: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Returns the file to be written, and the run.
fn arguments(mut arguments: impl Iterator<Item = String>) -> Option<(String, Run)> {
    let path = arguments.next()?;
    let mut run = Run::EXAMPLE;
    while let Some(option) = arguments.next() {
        match option.as_str() {
            "--seed" => run.seed = arguments.next()?.parse().ok()?,
            "--ms" => run.ms = arguments.next()?.parse().ok().filter(|ms| *ms <= 600_000)?,
            "--keep-log-file" => run.keeps_log_file = true,
            _ => return None,
        }
    }
    Some((path, run))
}
