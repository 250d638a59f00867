//! Two dialects from one program: the device of `device.rs` records as a ThreadX kernel and as an AIX
//! driver. `examples/c/firmware.c` is the same in C, and records the same bytes.
//!
//! ```text
//! cargo run -p tracewell-record --example device -- FOLDER      # writes device.trx and device.twx
//! ```

mod device;

use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let Some(folder) = std::env::args_os().nth(1) else {
        eprintln!("device: name the folder to write to");
        return ExitCode::from(2);
    };
    let (image, log) = device::record();
    let written = [("device.trx", image), ("device.twx", log)]
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
