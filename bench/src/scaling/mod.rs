//! Measures the growth of a command's cost with its input.
//!
//! Each [`Series`] creates an input in four sizes, which are 1, 2, 4 and 8 times the smallest size,
//! and specifies the command that reads it. All parts of the input grow together. A command of
//! linear cost takes 8 times as long at size 8, and a command of quadratic cost takes 64 times as
//! long. The result of a series is the cost per unit at size 8 divided by the cost per unit at size
//! 1: 1.0 is linear, 8 is quadratic. This module measures whole commands and uses the fastest of
//! several rounds. `inputs` creates the inputs.

mod inputs;

use std::error::Error;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// The sizes at which a series is measured.
pub const SIZES: [u32; 4] = [1, 2, 4, 8];

/// A command is near-linear if its cost per unit at size 8 is at most this many times the cost per
/// unit at size 1.
///
/// Cache misses increase the cost of larger inputs by up to a factor of two. A quadratic command
/// reaches 8.
pub const MAX_GROWTH: f64 = 2.5;

/// One kind of growth: the quantity that grows, and the command that is measured.
pub struct Series {
    /// The name of the quantity in the table.
    pub name: &'static str,
    /// Number of units at size 1 in a full measurement.
    pub units: u32,
    /// Writes an input with this number of units to a folder, and returns the arguments of the
    /// command.
    pub make: fn(&Path, u32) -> std::io::Result<Vec<OsString>>,
}

/// The result of a series.
pub struct Growth {
    /// Time of the fastest round at each of [`SIZES`], in milliseconds.
    pub milliseconds: [f64; SIZES.len()],
    /// Cost per unit at the largest size, divided by the cost per unit at the smallest size.
    /// Neither cost includes the start-up of the program.
    pub growth: f64,
}

/// All series, in the order of the table.
pub fn all() -> &'static [Series] {
    &inputs::SERIES
}

impl Series {
    /// Runs the command `rounds` times at every size. The sizes are interleaved.
    ///
    /// # Errors
    /// Returns an error if an input cannot be written, or if a command fails.
    pub fn measure(&self, program: &Path, units: u32, rounds: usize) -> Result<Growth> {
        let folder = tempfile::tempdir()?;
        let mut commands = Vec::new();
        for size in SIZES {
            let place = folder.path().join(size.to_string());
            std::fs::create_dir(&place)?;
            commands.push((self.make)(&place, units * size)?);
        }
        let mut milliseconds = [f64::INFINITY; SIZES.len()];
        let mut start_up = f64::INFINITY;
        for _ in 0..rounds {
            start_up = start_up.min(run(program, &[OsString::from("formats")])?);
            for (fastest, arguments) in milliseconds.iter_mut().zip(&commands) {
                *fastest = fastest.min(run(program, arguments)?);
            }
        }
        let [first, .., last] = milliseconds.map(|time| (time - start_up).max(0.1));
        let [smallest, .., largest] = SIZES.map(f64::from);
        Ok(Growth { milliseconds, growth: last / first / (largest / smallest) })
    }
}

/// Runs a command with its output discarded. Returns the time in milliseconds.
///
/// Exit statuses 1 (a broken rule) and 3 (a damaged input) are results, not errors.
fn run(program: &Path, arguments: &[OsString]) -> Result<f64> {
    let start = Instant::now();
    let mut command = Command::new(program);
    let status = command.args(arguments).stdout(Stdio::null()).stderr(Stdio::null()).status()?;
    let spent = start.elapsed();
    match status.code() {
        Some(0 | 1 | 3) => Ok(spent.as_secs_f64() * 1e3),
        _ => Err(format!("{command:?}: {status}").into()),
    }
}

/// Returns the arguments, followed by the path of the file.
fn on(arguments: &[&str], file: PathBuf) -> Vec<OsString> {
    arguments.iter().map(OsString::from).chain([file.into_os_string()]).collect()
}
