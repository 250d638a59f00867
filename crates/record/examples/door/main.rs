//! A state machine that records its events as RKH does. `examples/c/door.c` is the same program in
//! C and records the same bytes.
//!
//! ```text
//! cargo run -p tracewell-record --example door -- door.rkh && tracewell report door.rkh
//! cargo run -p tracewell-record --example door | tracewell report -
//! ```

mod door;

use std::fs::File;
use std::io::{self, Write};
use std::process::ExitCode;

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("door: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> io::Result<()> {
    let mut link: Box<dyn Write> = match std::env::args_os().nth(1) {
        Some(path) => Box::new(File::create(path)?),
        None => Box::new(io::stdout().lock()),
    };
    // If the link fails, the program continues and reports the first error at its end.
    let mut sent = Ok(());
    door::run(|block| {
        if sent.is_ok() {
            sent = link.write_all(block);
        }
    });
    sent.and_then(|()| link.flush())
}
