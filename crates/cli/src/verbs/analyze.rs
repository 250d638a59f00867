//! `tracewell analyze`: what the scheduler did.

use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use tracewell::analysis::scheduling::Scheduling;
use tracewell::report::scheduling;

use super::{for_each_file, read, title};
use crate::args::InputArgs;
use crate::outcome::{Failure, Outcome};
use crate::output;

/// Print what the scheduler did: execution, jobs, preemptions, locks, interrupts, servers
///
/// A task's figures go as far as its system records what they need: jobs need releases and
/// completions, waits for mutexes the scheduler's choices. Where events are missing, what happened
/// is in no figure.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  tracewell analyze --names tasks.txt 0trace.dat
  tracewell analyze --join 0trace.dat 1trace.dat 2trace.dat
  tracewell analyze --json trace.dat | jq '.tasks[] | {name, response_max_ns}'")]
pub(crate) struct Analyze {
    /// Traces; - is standard input
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,

    /// For programs: one JSON object a file
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    input: InputArgs,
}

impl Analyze {
    pub(crate) fn run(&self) -> Outcome {
        for_each_file(&self.files, &self.input, |input| {
            let mut sink = Scheduling::default();
            let trace = read(input, &mut sink)?;
            let figures = sink.figures(&trace);
            let text = if self.json {
                format!("{:#}\n", scheduling::json(&trace, &figures))
            } else {
                let title = title(&self.files, &self.input, input.path()).map(|title| title + "\n");
                title.unwrap_or_default() + &scheduling::text(&trace, &figures)
            };
            output::stdout()
                .write_all(text.as_bytes())
                .map_err(|error| Failure::io(output::stdout_path(), &error))?;
            Ok(trace)
        })
    }
}
