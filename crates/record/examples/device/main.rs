//! Three dialects from one program: the device of `device.rs` records as a ThreadX kernel, an AIX
//! driver and a S.Ha.R.K. application. `examples/c/firmware.c` is the same program in C and records
//! the same bytes.
//!
//! ```text
//! cargo run -p tracewell-record --example device -- FOLDER
//! # writes device.trx, device.twx, device.chunk
//! ```

mod device;

use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let Some(folder) = std::env::args_os().nth(1) else {
        eprintln!("device: name the folder to write to");
        return ExitCode::from(2);
    };
    let device::Recorded { ring, log, chunk } = device::record();
    let written = [("device.trx", ring), ("device.twx", log), ("device.chunk", chunk)]
        .into_iter()
        .try_for_each(|(name, bytes)| std::fs::write(Path::new(&folder).join(name), bytes));
    match written {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("device: {}: {error}", Path::new(&folder).display());
            ExitCode::FAILURE
        }
    }
}
