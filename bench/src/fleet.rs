//! Generates the traces of a fleet of simulated devices, for lakes and queries. Each device runs
//! the system of `examples/scheduling.trx` with one of several versions of its firmware. One
//! version has a fault that makes the control thread late.
//!
//! The number of a device determines its firmware, its run and its trace. So all programs that use
//! this module write the same bytes.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

// `simulation` also defines changes of the firmware that the fleet does not use.
#[allow(dead_code)]
#[path = "../../crates/record/examples/scheduling/simulation/mod.rs"]
pub(crate) mod simulation;

use simulation::{Change, Run};

/// The versions of the firmware, in the order of their release.
pub const FIRMWARE: [&str; 4] = ["1.0", "1.1", "1.2", "1.3"];

/// The version in which the logger keeps the mutex `log file` while it uses the bus. So the control
/// thread waits longer for this mutex. The next version is without this fault.
pub const FAULTY: &str = "1.2";

/// The clock rate of all traces, as a value of the option `rate`. The traces do not contain it.
pub const RATE: &str = "100MHz";

/// A device of the fleet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Device {
    /// The number of the device, from 0.
    pub number: u32,
    /// Duration of the trace in milliseconds.
    pub ms: u32,
}

impl Device {
    /// Returns the version of the device's firmware.
    pub fn firmware(&self) -> &'static str {
        FIRMWARE[self.number as usize % FIRMWARE.len()]
    }

    /// Returns the number of the run in which the trace was recorded: 1 or 2. Each run has devices
    /// with every version of the firmware.
    pub const fn run(&self) -> u32 {
        1 + self.number / FIRMWARE.len() as u32 % 2
    }

    /// Returns the path of the trace in the folder of the fleet. The names of folders are labels.
    pub fn path(&self) -> PathBuf {
        let (firmware, number, run) = (self.firmware(), self.number, self.run());
        format!("firmware={firmware}/device={number:05}/run={run}/trace.trx").into()
    }

    /// Returns the trace, a ThreadX dump.
    pub fn trace(&self) -> Vec<u8> {
        let change = (self.firmware() == FAULTY).then_some(Change::LongLock);
        // The seed must not be 0.
        let seed = 1 + self.number;
        simulation::image(&Run { seed, ms: self.ms.into(), change })
    }
}

/// Writes the traces of the first `devices` devices to a folder. Each trace lasts `ms`
/// milliseconds.
///
/// # Errors
/// Returns any error of the file system.
pub fn write(folder: &Path, devices: u32, ms: u32) -> io::Result<()> {
    for number in 0..devices {
        let device = Device { number, ms };
        let path = folder.join(device.path());
        fs::create_dir_all(path.parent().unwrap_or(folder))?;
        fs::write(path, device.trace())?;
    }
    Ok(())
}
