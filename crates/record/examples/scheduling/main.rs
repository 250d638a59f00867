//! Writes the trace of a small simulated real-time system, recorded with `tracewell-record`.
//!
//! ```text
//! cargo run -p tracewell-record --example scheduling -- examples/scheduling.trx
//! cargo run -p tracewell-record --example scheduling -- new.trx --seed 7 --ms 1000
//! ```
//!
//! The simulation is deterministic: it writes the same bytes on every machine. The seed determines
//! the times at which bytes from the UART arrive. With `--change long-lock`, the logger keeps the
//! mutex `log file` while it uses the bus. With `--change long-interrupt`, the interrupt of the
//! UART takes 1 µs longer.

mod simulation;

use std::env::args;
use std::process::ExitCode;

use simulation::{Change, Run};

fn main() -> ExitCode {
    let Some((path, run)) = arguments(args().skip(1)) else {
        eprintln!(
            "scheduling: expected FILE [--seed N] [--ms N] [--change long-lock|long-interrupt]"
        );
        return ExitCode::from(2);
    };
    match std::fs::write(&path, simulation::image(&run)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("scheduling: {path}: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Returns the path of the file to write, and the parameters of the run. Returns `None` if an
/// argument is not valid.
fn arguments(mut arguments: impl Iterator<Item = String>) -> Option<(String, Run)> {
    let path = arguments.next()?;
    let mut run = simulation::example();
    while let Some(option) = arguments.next() {
        match option.as_str() {
            "--seed" => run.seed = arguments.next()?.parse().ok()?,
            "--ms" => run.ms = arguments.next()?.parse().ok().filter(|ms| *ms <= 600_000)?,
            "--change" => {
                run.change = Some(match arguments.next()?.as_str() {
                    "long-lock" => Change::LongLock,
                    "long-interrupt" => Change::LongInterrupt,
                    _ => return None,
                });
            }
            _ => return None,
        }
    }
    Some((path, run))
}
