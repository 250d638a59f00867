//! The command line of `bench`, and helpers for all rows.

use std::error::Error;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Instant;

use tracewell::model::{Batch, Flow, Sink, Trace};
use tracewell_bench::size;

pub(crate) type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// The parsed command line.
pub(crate) struct Plan {
    /// Size of the ThreadX and S.Ha.R.K. traces in bytes. Other inputs can be smaller.
    pub(crate) size: u64,
    /// Number of measurements of each row. The table shows their median.
    pub(crate) rounds: usize,
    /// The only part to run, or `None` for all.
    pub(crate) only: Option<Part>,
}

/// A part of the benchmarks that an option selects.
pub(crate) enum Part {
    /// `--analysis`: analyses of ThreadX dumps.
    Analysis,
    /// `--live`: collection from a live source.
    Live,
    /// `--scaling`: growth of the cost with the inputs.
    Scaling,
    /// `--start`: short runs of the program.
    Start,
    /// `--tracing`: events of the crate `tracing`.
    Tracing,
    /// `--decode`: decoding of ThreadX dumps and S.Ha.R.K. files.
    Decode,
    /// `--ctf`: decoding of CTF traces.
    Ctf,
    /// `--systemview`: decoding of SystemView streams.
    SystemView,
    /// `--timeline`: the server of the timeline.
    Timeline,
}

const USAGE: &str = "usage: bench [--size 256MiB] [--rounds 7] [--check] \
                     [--analysis | --ctf | --decode | --live | --scaling | --start | --systemview | \
                     --timeline | --tracing]";

impl Plan {
    /// Parses the arguments of this process. `--help` prints the usage and exits.
    pub(crate) fn from_arguments() -> Result<Self> {
        let mut plan = Self { size: 256 << 20, rounds: 7, only: None };
        let mut arguments = std::env::args().skip(1);
        while let Some(argument) = arguments.next() {
            let mut value = || arguments.next().unwrap_or_default();
            match argument.as_str() {
                "--analysis" => plan.only = Some(Part::Analysis),
                "--ctf" => plan.only = Some(Part::Ctf),
                "--start" => plan.only = Some(Part::Start),
                "--systemview" => plan.only = Some(Part::SystemView),
                "--timeline" => plan.only = Some(Part::Timeline),
                "--tracing" => plan.only = Some(Part::Tracing),
                "--check" => plan = Self { size: 1 << 20, rounds: 1, ..plan },
                "--decode" => plan.only = Some(Part::Decode),
                "--live" => plan.only = Some(Part::Live),
                "--scaling" => plan.only = Some(Part::Scaling),
                "--rounds" => plan.rounds = value().parse()?,
                "--size" => plan.size = size(&value()).ok_or("a size such as 256MiB")?,
                "-h" | "--help" => {
                    println!("{USAGE}");
                    std::process::exit(0);
                }
                other => return Err(format!("no option '{other}'; {USAGE}").into()),
            }
        }
        Ok(plan)
    }
}

/// Prints a row of the table: nanoseconds per event of the baseline and of Tracewell, and the
/// speed-up over the baseline.
pub(crate) fn row(work: &str, baseline: &str, ours: f64, theirs: f64) {
    println!("| {work} | {baseline}: {theirs:.1} ns | {ours:.1} ns | {:.2} × |", theirs / ours);
}

/// A sink that computes the baseline's counts from batches.
pub(crate) struct Counts {
    /// Number of events.
    pub(crate) events: u64,
    id: u32,
    /// Number of events with the chosen id.
    pub(crate) of_id: u64,
}

impl Counts {
    /// Returns counts of zero. `of_id` will count the events that have this id.
    pub(crate) fn of(id: u32) -> Self {
        Self { events: 0, id, of_id: 0 }
    }
}

impl Sink for Counts {
    fn events(&mut self, _: &Trace, batch: &Batch<'_>) -> Flow {
        self.events += batch.len() as u64;
        self.of_id += batch.columns.id.iter().filter(|id| **id == self.id).count() as u64;
        Flow::Continue(())
    }
}

/// Runs a command with its output discarded. Returns the time in nanoseconds.
pub(crate) fn timed(command: &mut Command) -> Result<f64> {
    let start = Instant::now();
    let status = command.stdout(Stdio::null()).status()?;
    if !status.success() {
        return Err(format!("{command:?} failed").into());
    }
    Ok(start.elapsed().as_nanos() as f64)
}

/// Returns the path of the program `tracewell`, which must be in the same folder as this program.
pub(crate) fn program() -> Result<PathBuf> {
    sibling("tracewell")
}

/// Returns the path of another program, which must be in the same folder as this program.
pub(crate) fn sibling(name: &str) -> Result<PathBuf> {
    let program = std::env::current_exe()?.with_file_name(name);
    if program.exists() {
        return Ok(program);
    }
    let advice = "build tracewell-cli and tracewell-bench with the same profile first";
    Err(format!("no {}: {advice}", program.display()).into())
}
