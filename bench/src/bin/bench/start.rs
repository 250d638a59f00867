//! Measures the time of short runs of the program, from the start of the process to its end.

use std::fs::File;
use std::path::Path;
use std::process::Command;

use tracewell_bench::{median, trace};

use super::plan::{Plan, Result, program, timed};

/// Size of the dump in bytes.
const SIZE: u64 = 40 << 10;
/// Number of runs of each command, for each of the rounds that `--rounds` sets.
const RUNS: usize = 30;

/// Prints the elapsed times of `--version` and of `info`. The floor is a program that does nothing:
/// its time is that of starting a process, loading the C library, and waiting for the end.
pub(crate) fn start(plan: &Plan, folder: &Path) -> Result<()> {
    let dump = folder.join("small.trx");
    trace::write(&mut File::create(&dump)?, trace::USUAL, trace::events_in(SIZE, trace::USUAL))?;
    let program = program()?;
    let mut version = Command::new(&program);
    version.arg("--version");
    let mut info = Command::new(&program);
    info.arg("info").arg(&dump);
    let mut commands = [
        ("`true`, the floor", Command::new("true")),
        ("`tracewell --version`", version),
        ("`tracewell info` of a dump of 40 KiB", info),
    ];
    let runs = RUNS * plan.rounds;
    let mut times = [const { Vec::new() }; 3];
    for _ in 0..runs {
        for ((_, command), times) in commands.iter_mut().zip(&mut times) {
            times.push(timed(command)? / 1e6);
        }
    }
    println!("\n| start of a process, {runs} runs | median | fastest tenth |\n|---|---|---|");
    for ((name, _), times) in commands.iter().zip(&mut times) {
        // The median sorts the times.
        let middle = median(times);
        println!("| {name} | {middle:.2} ms | {:.2} ms |", times[runs / 10]);
    }
    Ok(())
}
