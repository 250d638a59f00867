//! `tracewell analyze`: what the scheduler did.

use std::collections::HashMap;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use tracewell::analysis::machines::Machines;
use tracewell::analysis::scheduling::{Expected, Mark, Scheduling, Wanted};
use tracewell::collect::Follow;
use tracewell::model::{Batch, Flow, Loss, Sink, Trace};
use tracewell::report::{machines, scheduling};
use tracewell::select::Bound;
use tracewell::text::shown_path;

use super::follow::{StreamEnd, follow};
use super::{for_each_file, read, title};
use crate::args::InputArgs;
use crate::outcome::{Failure, Outcome, tell};
use crate::output;

/// Print what the scheduler did, and state machines, messages, queues, pools, timers
///
/// Execution, jobs, preemptions, locks, interrupts, servers; time in states, transitions, what machines did
/// not take, who sent what to whom and how long it took, how full queues and pools were, when timers ran out.
///
/// A task's figures go as far as its system records what they need: jobs need releases and
/// completions, waits for mutexes the scheduler's choices. Where events are missing, what happened
/// is in no figure. Every figure is defined in docs/analysis.md.
///
/// Ctrl-C or TERM ends the reading of a stream, and the figures are of what came until then.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  tracewell analyze --names tasks.txt 0trace.dat
  tracewell analyze --join 0trace.dat 1trace.dat 2trace.dat
  tracewell analyze --jobs --period tau1=10ms --deadline tau1=8ms trace.dat
  tracewell analyze --ipoints 1,2 --waits trace.dat
  tracewell analyze --follow run.twl
  tracewell analyze --json trace.dat | jq '.tasks[] | {name, response_max_ns}'")]
pub(crate) struct Analyze {
    /// Traces; - is standard input
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,

    /// For programs: one JSON object a file
    #[arg(long)]
    json: bool,

    /// List each job: release, start, completion, and what its response was spent on
    #[arg(long)]
    jobs: bool,

    /// List each wait for a mutex or a semaphore, and what it was spent on
    #[arg(long)]
    waits: bool,

    /// With --json: how much of each server's budget was used, and when it had none
    #[arg(long, requires = "json")]
    budgets: bool,

    /// How long tasks take from one mark to another: numbers of marks, or names of events
    #[arg(long, value_name = "A,B", value_parser = pair)]
    ipoints: Vec<(Mark, Mark)>,

    /// A task's period, for its jitter, such as tau1=10ms
    #[arg(long, value_name = "TASK=TIME", value_parser = task_time)]
    period: Vec<(String, u64)>,

    /// A task's deadline, counted from release, such as tau1=8ms
    #[arg(long, value_name = "TASK=TIME", value_parser = task_time)]
    deadline: Vec<(String, u64)>,

    /// Nothing is known of times in which tracing was stopped or needed events were filtered
    #[arg(long)]
    holes: bool,

    /// Go on while the file grows, or standard input brings more, until Ctrl-C; then print the figures
    #[arg(short, long)]
    follow: bool,

    #[command(flatten)]
    input: InputArgs,
}

impl Analyze {
    pub(crate) fn run(&self) -> Outcome {
        let wanted = self.wanted();
        match self.follow {
            true => self.followed(&wanted).unwrap_or_else(Failure::tell),
            false => self.read(&wanted),
        }
    }

    /// Prints the figures of each trace, read to its end.
    fn read(&self, wanted: &Wanted) -> Outcome {
        let end = StreamEnd::default();
        for_each_file(&self.files, &self.input, |input| {
            let title = title(&self.files, &self.input, input.path());
            let mut sink = Analyses::new(wanted, input.path(), self.json, title);
            let trace = end.by_signal(input, |input| read(input, &mut sink))?;
            sink.print(&trace).map_err(|error| Failure::io(output::stdout_path(), &error))?;
            Ok(trace)
        })
        .outcome
    }

    /// Prints the figures of a trace that is read while it is written, until a signal comes.
    fn followed(&self, wanted: &Wanted) -> Result<Outcome, Failure> {
        let path = self.files.first().map(PathBuf::as_path).unwrap_or(Path::new("-"));
        let sink = || Box::new(Analyses::new(wanted, path, self.json, None)) as Box<dyn Follow>;
        Ok(follow(&self.files, &self.input, sink)?.outcome)
    }

    fn wanted(&self) -> Wanted {
        let mut expected: HashMap<String, Expected, _> = HashMap::default();
        for (task, period) in &self.period {
            expected.entry(task.clone()).or_default().period = Some(*period);
        }
        for (task, deadline) in &self.deadline {
            expected.entry(task.clone()).or_default().deadline = Some(*deadline);
        }
        Wanted {
            jobs: self.jobs,
            waits: self.waits,
            budgets: self.budgets,
            pairs: self.ipoints.clone(),
            expected,
            holes: self.holes,
        }
    }
}

/// Tells of which tasks a period or a deadline is given that are not in the trace.
fn tell_tasks(path: &Path, trace: &Trace, wanted: &Wanted) {
    let is_there = |task: &str| {
        let mut contexts = trace.contexts.iter();
        contexts.any(|(_, context)| context.name == task || context.key_text == task)
    };
    let mut unknown: Vec<_> = wanted.expected.keys().filter(|task| !is_there(task)).collect();
    unknown.sort_unstable();
    for task in unknown {
        tell!("tracewell: {}: there is no task '{task}'", shown_path(path));
    }
}

fn pair(text: &str) -> Result<(Mark, Mark), String> {
    let mark = |text: &str| match text.parse() {
        Ok(number) => Mark::Number(number),
        Err(_) => Mark::Label(text.to_owned()),
    };
    let (from, to) = text.split_once(',').ok_or("expected two marks such as 1,2")?;
    Ok((mark(from), mark(to)))
}

/// A task and a time in nanoseconds.
fn task_time(text: &str) -> Result<(String, u64), String> {
    let wrong = || "expected a task and a time such as tau1=10ms (s, ms, us, ns)".to_owned();
    let (task, time) = text.rsplit_once('=').ok_or_else(wrong)?;
    match time.parse() {
        Ok(Bound::Nanoseconds(time)) => Ok((task.to_owned(), time)),
        _ => Err(wrong()),
    }
}

/// All analyses that are printed, over one reading.
struct Analyses<'w> {
    scheduling: Scheduling,
    machines: Machines,
    wanted: &'w Wanted,
    path: PathBuf,
    json: bool,
    title: Option<String>,
}

impl Sink for Analyses<'_> {
    fn events(&mut self, trace: &Trace, batch: &Batch<'_>) -> Flow {
        self.scheduling.events(trace, batch)?;
        self.machines.events(trace, batch)
    }

    fn loss(&mut self, trace: &Trace, loss: &Loss) -> Flow {
        self.scheduling.loss(trace, loss)?;
        self.machines.loss(trace, loss)
    }
}

impl Follow for Analyses<'_> {
    /// The figures are known at the end.
    fn show(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn finish(self: Box<Self>, trace: &Trace) -> io::Result<()> {
        self.print(trace)
    }
}

impl<'w> Analyses<'w> {
    fn new(wanted: &'w Wanted, path: &Path, json: bool, title: Option<String>) -> Self {
        let scheduling = Scheduling::new(wanted.clone());
        let path = path.to_owned();
        Self { scheduling, machines: Machines::default(), wanted, path, json, title }
    }

    /// Prints the figures; they have a title as text.
    fn print(self, trace: &Trace) -> io::Result<()> {
        tell_tasks(&self.path, trace, self.wanted);
        if self.json {
            return self.write_json(trace);
        }
        let title = self.title.as_ref().map(|title| format!("{title}\n"));
        let text = title.unwrap_or_default() + &self.text(trace);
        output::stdout().write_all(text.as_bytes())
    }

    fn write_json(self, trace: &Trace) -> io::Result<()> {
        let figures = self.scheduling.figures(trace);
        let machines = machines::json(trace, &self.machines.figures(trace));
        let more = machines.into_iter().collect();
        let document = scheduling::Document { trace, figures: &figures, wanted: self.wanted, more };
        let mut out = BufWriter::new(output::stdout());
        document.write(&mut out)?;
        out.flush()
    }

    fn text(self, trace: &Trace) -> String {
        let figures = self.scheduling.figures(trace);
        let scheduling = scheduling::text(trace, &figures, self.wanted);
        scheduling + &machines::text(trace, &self.machines.figures(trace))
    }
}
