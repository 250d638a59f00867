//! How the cost of a command grows with its input.
//!
//! Each [`Series`] makes one input at 1, 2, 4 and 8 times its size and names the command that reads it. Every part of the
//! input grows together, so a command whose cost is linear takes 8 times as long at size 8, and a quadratic one 64 times.
//! The figure of a series is the cost per unit at size 8 divided by that at size 1: 1.0 is linear, 8 is quadratic.
//! This module times whole commands and takes the fastest of several rounds; the inputs are made in `inputs`.

mod inputs;

use std::error::Error;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// The sizes at which a series is measured.
pub const SIZES: [u32; 4] = [1, 2, 4, 8];

/// The highest cost per unit at size 8, relative to size 1, that counts as near-linear.
///
/// Larger inputs miss the caches more often, which costs up to a factor of two; a quadratic command reaches 8.
pub const MAX_GROWTH: f64 = 2.5;

/// One kind of growth: what grows, and the command that is measured.
pub struct Series {
    /// What grows, as the table shows it.
    pub name: &'static str,
    /// Units at size 1 in a full measurement.
    pub units: u32,
    /// Writes the input of this many units to a folder and returns the arguments of the command.
    pub make: fn(&Path, u32) -> std::io::Result<Vec<OsString>>,
}

/// The result of a series.
pub struct Growth {
    /// Milliseconds at each of [`SIZES`], the fastest round.
    pub milliseconds: [f64; SIZES.len()],
    /// Cost per unit at the largest size, relative to the smallest; start-up is taken off both.
    pub growth: f64,
}

/// All series, in the order of the table.
pub fn all() -> &'static [Series] {
    &inputs::SERIES
}

impl Series {
    /// Runs the command at every size, `rounds` times interleaved.
    ///
    /// # Errors
    /// An input that cannot be written, or a command that fails.
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

/// Milliseconds of a whole command that writes to nowhere.
///
/// Statuses up to 3 are results: a broken rule is 1, a damaged input is 3.
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

/// The arguments of a command on one file.
fn on(arguments: &[&str], file: PathBuf) -> Vec<OsString> {
    arguments.iter().map(OsString::from).chain([file.into_os_string()]).collect()
}
