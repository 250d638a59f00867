//! Generates the traces of a fleet of simulated devices. `make-fleet DEVICES FOLDER [MS]` writes a
//! ThreadX dump of MS milliseconds (40 by default) for each device, in folders whose names are
//! labels: `firmware=1.0/device=00000/run=1/trace.trx`. One version of the firmware has a fault;
//! docs/query.md shows how to find it. Two runs write the same bytes.
#![forbid(unsafe_code)]

use std::path::Path;
use std::process::ExitCode;

use tracewell_bench::fleet;

/// Duration of a trace in milliseconds.
const MS: u32 = 40;

/// Maximum duration of a trace in milliseconds. Such a trace needs 40 MB.
const MAX_MS: u32 = 60_000;

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let (devices, folder, ms) = match arguments.as_slice() {
        [devices, folder] => (devices.parse(), folder, Ok(MS)),
        [devices, folder, ms] => (devices.parse(), folder, ms.parse()),
        _ => return usage(),
    };
    let (Ok(devices), Ok(ms @ 1..=MAX_MS)) = (devices, ms) else { return usage() };
    match fleet::write(Path::new(folder), devices, ms) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("make-fleet: {folder}: {error}");
            ExitCode::from(4)
        }
    }
}

fn usage() -> ExitCode {
    eprintln!("usage: make-fleet DEVICES FOLDER [MS]   (MS from 1 to {MAX_MS})");
    ExitCode::from(2)
}
