//! `tracewell analyze`: prints figures about scheduling and state machines.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};

use clap::Args;
use clap::builder::PossibleValuesParser;
use tracewell::analysis::critical_path::Question;
use tracewell::analysis::scheduling::{Expected, Mark, Wanted};
use tracewell::model::{Batch, Flow, Loss, Sink, SinkError, Trace};
use tracewell::report::analyses::{self, Analyses, Section};
use tracewell::select::{Bound, CountsInRange, Covered, Ranged, Selection, did_you_mean, nearest};
use tracewell::text::shown_path;

use super::follow::{StreamEnd, follow};
use super::{for_each_file, read_selected, title};
use crate::args::{InputArgs, SelectionArgs};
use crate::document::Document;
use crate::outcome::{Failure, Outcome, warn};
use crate::{output, screen};

/// Print figures about tasks, state machines, messages, queues, pools and timers
///
/// Without --show, prints a summary that fits on a screen; its last line names the sections with
/// more figures.
///
/// The figures cover execution, jobs, preemptions, locks, interrupts and servers; states,
/// transitions and ignored events of state machines; latency of messages, fill levels of queues and
/// pools, and expiry of timers.
///
/// Figures depend on what the system records: figures of jobs need releases and completions, and
/// figures of waits for mutexes need the scheduler's choices. The figures do not include times in
/// which events are missing. docs/analysis.md defines every figure.
///
/// SIGINT (Ctrl-C) or SIGTERM ends the reading of a stream; the figures then cover the data read
/// until then.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  tracewell analyze --names tasks.txt 0trace.dat
  tracewell analyze --show locks,stacks trace.trx
  tracewell analyze --join 0trace.dat 1trace.dat 2trace.dat
  tracewell analyze --jobs --period tau1=10ms --deadline tau1=8ms trace.dat
  tracewell analyze --ipoints 1,2 --waits trace.dat
  tracewell analyze --show distributions --histogram trace.dat
  tracewell analyze --why worst:tau1 trace.dat
  tracewell analyze --from 100ms --to 200ms trace.dat
  tracewell analyze --follow run.twl
  tracewell analyze --json trace.dat | jq '.traces[].tasks[] | {name, response_max_ns}'")]
pub(crate) struct Analyze {
    /// Traces; - is standard input
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,

    /// Print all figures of these sections instead of the summary; with --json: only these sections
    #[arg(
        long,
        value_name = "SECTION,…",
        value_delimiter = ',',
        value_parser = PossibleValuesParser::new(section_names())
    )]
    show: Vec<String>,

    /// Print one JSON document about all files, for programs
    #[arg(long)]
    json: bool,

    /// List each job: release, start, completion, and the parts of its response time
    #[arg(long)]
    jobs: bool,

    /// List each wait for a mutex or semaphore, and the parts of the waiting time
    #[arg(long)]
    waits: bool,

    /// With --json: print the used budget of each server, and when it was exhausted
    #[arg(long, requires = "json")]
    budgets: bool,

    /// Draw a histogram of each distribution of times; with --json: print its buckets
    #[arg(long)]
    histogram: bool,

    /// Explain a response or wait: which contexts ran, held an object, or woke another context
    ///
    /// Write an event as its number, and a time as 1.5ms or tick:12345. worst:TASK is the longest
    /// response or wait of a task.
    #[arg(long, value_name = "EVENT|TIME|worst:TASK")]
    why: Option<Question>,

    /// Measure the time from mark A to mark B; a mark is a number or the name of an event
    #[arg(long, value_name = "A,B", value_parser = pair)]
    ipoints: Vec<(Mark, Mark)>,

    /// Set the period of a task, from which its jitter is computed, for example tau1=10ms
    #[arg(long, value_name = "TASK=TIME", value_parser = task_period)]
    period: Vec<(String, u64)>,

    /// Set the deadline of a task, counted from its release, for example tau1=8ms
    #[arg(long, value_name = "TASK=TIME", value_parser = task_time)]
    deadline: Vec<(String, u64)>,

    /// Treat the time during which tracing was stopped or filtered as unknown
    #[arg(long)]
    holes: bool,

    /// Follow a growing file or standard input until Ctrl-C, then print the figures
    #[arg(short, long)]
    follow: bool,

    #[command(flatten)]
    selection: SelectionArgs,

    #[command(flatten)]
    input: InputArgs,
}

impl Analyze {
    /// Returns true if the traces grow while they are read.
    pub(crate) fn follows(&self) -> bool {
        self.follow
    }

    pub(crate) fn run(&self) -> Result<Outcome, Failure> {
        let wanted = self.wanted();
        let selection = self.selection.selection();
        let document = self.json.then(|| Document::new(analyses::SCHEMA));
        let done = selection.and_then(|selection| match self.follow {
            true => self.followed(&wanted, &selection, document.as_ref()),
            false => Ok(self.read(&wanted, &selection, document.as_ref())),
        });
        // The document is also written after a failure.
        let outcome = done.unwrap_or_else(Failure::report);
        Ok(document.map_or(outcome, |document| document.end(outcome)))
    }

    /// Prints the figures of each trace.
    fn read(&self, wanted: &Wanted, selection: &Selection, document: Option<&Document>) -> Outcome {
        let end = StreamEnd::default();
        for_each_file(&self.files, &self.input, |input| {
            let title = title(&self.files, &self.input, input.path());
            let mut sink = self.printer(wanted, input.path(), document, title);
            end.by_signal(input, |input| {
                if selection.is_all() {
                    return Ok(input.read(&mut sink)?);
                }
                let selection = input.without_tail(selection.clone())?;
                let mut ranged = Ranged::new(sink, selection.clone());
                let mut trace = read_selected(input, &mut ranged, &selection)?;
                selection.remark(&mut trace);
                Ok(trace)
            })
        })
        .outcome
    }

    /// Reads a trace while another program writes it, until a signal arrives, and prints its
    /// figures.
    fn followed(
        &self,
        wanted: &Wanted,
        selection: &Selection,
        document: Option<&Document>,
    ) -> Result<Outcome, Failure> {
        let path = self.files.first().map(PathBuf::as_path).unwrap_or(Path::new("-"));
        let sink = || {
            let printer = self.printer(wanted, path, document, None);
            if selection.is_all() {
                return Box::new(printer) as Box<dyn Sink + Send>;
            }
            Box::new(Ranged::new(printer, selection.clone()))
        };
        follow(&self.files, &self.input, selection, sink)
    }

    fn printer<'w>(
        &self,
        wanted: &'w Wanted,
        path: &Path,
        document: Option<&'w Document>,
        title: Option<String>,
    ) -> Printer<'w> {
        Printer {
            analyses: analyses(wanted, self.histogram, self.why.as_ref()),
            why: self.why.clone(),
            wanted,
            histogram: self.histogram,
            sections: self.sections(),
            path: path.to_owned(),
            document,
            title,
        }
    }

    /// Returns the sections to print, or `None` for the summary.
    fn sections(&self) -> Option<Vec<Section>> {
        if self.show.iter().any(|name| name == ALL) {
            return Some(Section::ALL.to_vec());
        }
        let named = self.show.iter().filter_map(|name| Section::named(name));
        (!self.show.is_empty()).then(|| named.collect())
    }

    /// Returns true if an option shows distributions of times.
    fn wants_distributions(&self) -> bool {
        let sections = self.sections().unwrap_or_default();
        let all = self.json && self.show.is_empty();
        self.histogram || all || sections.contains(&Section::Distributions)
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
            only_inverted: false,
            worst_waits: None,
            worst_misses: None,
            budgets: self.budgets,
            distributions: self.wants_distributions(),
            places: false,
            uses: false,
            pairs: self.ipoints.clone(),
            expected,
            holes: self.holes,
        }
    }
}

/// Warns of tasks that have a period or deadline but do not occur in the trace.
fn warn_unknown_tasks(path: &Path, trace: &Trace, wanted: &Wanted) {
    let is_there = |task: &str| {
        let mut contexts = trace.contexts.iter();
        contexts.any(|(_, context)| context.name == task || context.key_text == task)
    };
    let mut unknown: Vec<_> = wanted.expected.keys().filter(|task| !is_there(task)).collect();
    unknown.sort_unstable();
    for task in unknown {
        let names = trace.contexts.iter().map(|(_, context)| context.name.as_str());
        let meant = did_you_mean(nearest(task, names));
        warn!("{}: no task '{task}'{meant}", shown_path(path));
    }
}

/// Warns of marks that are neither numbers nor names of events in the trace's format.
fn warn_unknown_marks(path: &Path, trace: &Trace, wanted: &Wanted) {
    let marks = wanted.pairs.iter().flat_map(|(from, to)| [from, to]);
    let labels = marks.filter_map(|mark| match mark {
        Mark::Label(name) => Some(name.clone()),
        Mark::Number(_) => None,
    });
    let events: Vec<_> = labels.collect();
    for warning in (Selection { events, ..Selection::default() }).unknown_names(trace) {
        warn!("{}: --ipoints: {warning}", shown_path(path));
    }
}

/// The name that stands for all sections together.
const ALL: &str = "all";

/// Returns the names that `--show` accepts.
fn section_names() -> impl Iterator<Item = &'static str> {
    Section::ALL.into_iter().map(Section::name).chain([ALL])
}

fn pair(text: &str) -> Result<(Mark, Mark), String> {
    let mark = |text: &str| match text.parse() {
        Ok(number) => Mark::Number(number),
        Err(_) => Mark::Label(text.to_owned()),
    };
    let (from, to) = text.split_once(',').ok_or("expected two marks such as 1,2")?;
    Ok((mark(from), mark(to)))
}

/// Parses a task and a time in nanoseconds.
fn task_time(text: &str) -> Result<(String, u64), String> {
    let wrong = || "expected a task and a time such as tau1=10ms (s, ms, us, ns)".to_owned();
    let (task, time) = text.rsplit_once('=').ok_or_else(wrong)?;
    match time.parse() {
        Ok(Bound::Nanoseconds(time)) => Ok((task.to_owned(), time)),
        _ => Err(wrong()),
    }
}

/// Parses a task and its period in nanoseconds.
fn task_period(text: &str) -> Result<(String, u64), String> {
    match task_time(text)? {
        (_, 0) => Err("expected a period longer than 0".to_owned()),
        period => Ok(period),
    }
}

/// All analyses of a trace. They are printed when the trace ends.
struct Printer<'w> {
    analyses: Analyses,
    wanted: &'w Wanted,
    histogram: bool,
    why: Option<Question>,
    sections: Option<Vec<Section>>,
    path: PathBuf,
    document: Option<&'w Document>,
    title: Option<String>,
}

/// Creates the analyses before the first event.
fn analyses(wanted: &Wanted, histogram: bool, why: Option<&Question>) -> Analyses {
    let analyses = Analyses::new(wanted.clone());
    let analyses = if histogram { analyses.with_histograms() } else { analyses };
    match why {
        Some(question) => analyses.with_explanation(question.clone()),
        None => analyses,
    }
}

impl CountsInRange for Printer<'_> {
    fn begin(&mut self, trace: &Trace, from: u64) {
        self.analyses.begin(trace, from);
    }

    fn end(&mut self, covered: Covered) {
        self.analyses.end(covered);
    }
}

impl Sink for Printer<'_> {
    fn events(&mut self, trace: &Trace, batch: &Batch<'_>) -> Flow {
        self.analyses.events(trace, batch)
    }

    fn loss(&mut self, trace: &Trace, loss: &Loss) -> Flow {
        self.analyses.loss(trace, loss)
    }

    fn finish(&mut self, trace: &Trace) -> Result<(), SinkError> {
        let is_known = self.analyses.check(trace);
        is_known.map_err(|error| SinkError::not_possible(format!("--why: {error}")))?;
        Ok(self.print(trace)?)
    }
}

impl Printer<'_> {
    /// Prints the figures, as text with a title.
    fn print(&mut self, trace: &Trace) -> io::Result<()> {
        warn_unknown_tasks(&self.path, trace, self.wanted);
        warn_unknown_marks(&self.path, trace, self.wanted);
        let empty = analyses(self.wanted, self.histogram, self.why.as_ref());
        let analyses = std::mem::replace(&mut self.analyses, empty);
        if let Some(document) = self.document {
            let file = shown_path(&self.path).to_string();
            let sections = self.sections.as_deref();
            return analyses.write_json(trace, &file, sections, &mut document.writer());
        }
        let title = self.title.as_ref().map(|title| format!("{title}\n"));
        let text = title.unwrap_or_default()
            + &analyses.text(trace, self.sections.as_deref(), screen::layout());
        output::write(&text)
    }
}
