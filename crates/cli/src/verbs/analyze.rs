//! `tracewell analyze`: what the scheduler did.

use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use tracewell::analysis::machines::Machines;
use tracewell::analysis::scheduling::Scheduling;
use tracewell::model::{Batch, Flow, Loss, Sink, Trace};
use tracewell::report::{machines, scheduling};

use super::{for_each_file, read, title};
use crate::args::InputArgs;
use crate::outcome::{Failure, Outcome};
use crate::output;

/// Print what the scheduler did, and state machines, messages, queues, pools, timers
///
/// Execution, jobs, preemptions, locks, interrupts, servers; time in states, transitions, what machines did
/// not take, who sent what to whom and how long it took, how full queues and pools were, when timers ran out.
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
            let mut sink = Analyses::default();
            let trace = read(input, &mut sink)?;
            let text = if self.json {
                sink.json(&trace)
            } else {
                let title = title(&self.files, &self.input, input.path()).map(|title| title + "\n");
                title.unwrap_or_default() + &sink.text(&trace)
            };
            output::stdout()
                .write_all(text.as_bytes())
                .map_err(|error| Failure::io(output::stdout_path(), &error))?;
            Ok(trace)
        })
    }
}

/// All analyses that are printed, over one reading.
#[derive(Default)]
struct Analyses {
    scheduling: Scheduling,
    machines: Machines,
}

impl Sink for Analyses {
    fn events(&mut self, trace: &Trace, batch: &Batch<'_>) -> Flow {
        self.scheduling.events(trace, batch)?;
        self.machines.events(trace, batch)
    }

    fn loss(&mut self, trace: &Trace, loss: &Loss) -> Flow {
        self.scheduling.loss(trace, loss)?;
        self.machines.loss(trace, loss)
    }
}

impl Analyses {
    fn json(self, trace: &Trace) -> String {
        let mut json = scheduling::json(trace, &self.scheduling.figures(trace));
        if let Some(entries) = json.as_object_mut() {
            entries.extend(machines::json(trace, &self.machines.figures(trace)));
        }
        format!("{json:#}\n")
    }

    fn text(self, trace: &Trace) -> String {
        let scheduling = scheduling::text(trace, &self.scheduling.figures(trace));
        scheduling + &machines::text(trace, &self.machines.figures(trace))
    }
}
