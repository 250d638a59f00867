//! `tracewell collect`: what targets send, into files and onto the terminal.
//!
//! This file has the arguments and says what became of the sources; `files` says where their bytes are kept,
//! `follow` how they are shown.

mod files;
mod follow;

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use clap::{ArgGroup, Args, ValueEnum};
use tracewell::collect::{
    self, Collected, Datagrams, Notice, Options, Reader, SharedOutput, Source, Stream, Until,
};
use tracewell::model::Severity;

use crate::args::{InputArgs, SelectionArgs, tell_ineffective};
use crate::outcome::{Failure, Outcome, tell, tell_remarks};
use crate::output;

/// Receive traces while targets send them
///
/// Keeps the bytes exactly as they come, with their times of arrival in a file beside them (FILE.arrivals), shows
/// what they mean with --follow, or both. Each source is a stream of its own. Connections that end are made
/// again. Ends with the first of --seconds, --bytes, --packets and --idle, with the end of all sources, or by Ctrl-C;
/// then says what came, and what is missing.
///
/// Where writing is slower than a source, bytes are dropped and counted; memory does not grow. Files and standard
/// input are left waiting instead.
#[derive(Debug, Args)]
#[command(override_usage = "tracewell collect [OPTIONS] SOURCE...\n       \
    SOURCE: --serial DEVICE, --tcp HOST:PORT, --tcp-listen ADDRESS:PORT, --udp ADDRESS:PORT, --file FILE, -")]
#[command(group(ArgGroup::new("purpose").args(["output", "follow"]).required(true).multiple(true)))]
#[command(after_help = "Examples:
  tracewell collect --serial /dev/ttyUSB0@921600 -o run.rkh --follow
  tracewell collect --tcp-listen 0.0.0.0:6602 -o run.rkh
  tracewell collect --tcp board:6602 --serial /dev/ttyS1@115200,8E1 -o runs --follow --format jsonl
  tracewell collect --udp 0.0.0.0:20000 --idle 5 -o run.udpcap && tracewell report run.udpcap
  ./target | tracewell collect - --follow

Exit status: 3 if nothing came from a source, bytes were dropped or left out, packets are missing, or what was
shown is damaged.")]
pub(crate) struct Collect {
    #[command(flatten)]
    sources: SourceArgs,

    /// Where to keep the bytes, at once; of several sources a folder, with a file for each; - is standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Print the events as they arrive
    #[arg(short, long)]
    follow: bool,

    /// Form of what is printed
    #[arg(long, value_enum, default_value_t = Form::Report, requires = "follow")]
    format: Form,

    #[command(flatten)]
    until: UntilArgs,

    /// Size of a buffer between a source and its file, and of one between that and what is shown
    #[arg(long, value_name = "MIB", default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..=1024))]
    buffer: u32,

    /// For programs: what became of each source as a JSON object
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    selection: SelectionArgs,

    #[command(flatten)]
    input: InputArgs,
}

#[derive(Debug, Args)]
#[group(id = "sources", required = true, multiple = true)]
struct SourceArgs {
    /// A serial line; 115200,8N1 without more; any rate, 5 to 8 data bits, parity N, E or O, 1 or 2 stop bits, then
    /// ,rtscts or ,xonxoff
    #[cfg(unix)]
    #[arg(long, value_name = "DEVICE[@BAUD[,8N1]]")]
    serial: Vec<collect::Serial>,

    /// A target that listens: connect to it, again and again
    #[arg(long, value_name = "HOST:PORT")]
    tcp: Vec<String>,

    /// Targets that connect to this address, one at a time; port 0 takes any free one
    #[arg(long, value_name = "ADDRESS:PORT")]
    tcp_listen: Vec<String>,

    /// Datagrams: pieces of a stream, or packets of S.Ha.R.K.'s tracer, whose port is 20000
    #[arg(long, value_name = "ADDRESS:PORT")]
    udp: Vec<String>,

    /// A file that grows, from its beginning; it may be cut, replaced, or not there yet
    #[arg(long, value_name = "FILE")]
    file: Vec<PathBuf>,

    /// Standard input
    #[arg(value_name = "-", value_parser = ["-"], hide_possible_values = true)]
    stdin: Option<String>,
}

#[derive(Debug, Args)]
struct UntilArgs {
    /// End after so many seconds
    #[arg(long, value_name = "N", value_parser = seconds)]
    seconds: Option<Duration>,

    /// End when so many bytes came
    #[arg(long, value_name = "N")]
    bytes: Option<u64>,

    /// End when so many of S.Ha.R.K.'s packets came, of different numbers
    #[arg(long, value_name = "N")]
    packets: Option<u64>,

    /// End when nothing came for so many seconds after the first byte
    #[arg(long, value_name = "N", value_parser = seconds)]
    idle: Option<Duration>,

    /// Let a source end with its first connection, and a file at its end
    #[arg(long)]
    once: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum Form {
    /// Text for people, as `report` prints it
    Report,
    /// JSON lines, as `events` prints them
    Jsonl,
    /// Tab-separated values
    Tsv,
    /// Comma-separated values
    Csv,
}

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    seconds.ok_or_else(|| "expected a number of seconds such as 10 or 0.5".to_owned())
}

impl SourceArgs {
    /// The sources, in the order of the help text.
    fn sources(&self, datagrams: Datagrams) -> Vec<Source> {
        let mut sources = Vec::new();
        #[cfg(unix)]
        sources.extend(self.serial.iter().cloned().map(Source::Serial));
        sources.extend(self.tcp.iter().cloned().map(Source::Tcp));
        sources.extend(self.tcp_listen.iter().cloned().map(Source::TcpListen));
        sources.extend(self.udp.iter().map(|at| Source::Udp(at.clone(), datagrams)));
        sources.extend(self.file.iter().cloned().map(Source::File));
        sources.extend(self.stdin.iter().map(|_| Source::Stdin));
        sources
    }
}

impl Collect {
    pub(crate) fn run(&self) -> Outcome {
        self.collect().unwrap_or_else(Failure::tell)
    }

    fn collect(&self) -> Result<Outcome, Failure> {
        self.check()?;
        self.tell_ineffective();
        let (settings, outcome) = self.input.settings()?;
        let sources = self.sources.sources(self.datagrams());
        let stop = stop_signal().map_err(|e| Failure::io(Path::new("signals"), &e))?;
        let shared = SharedOutput::new(io::stdout());
        let mut inputs = self.input.inputs(&self.sources.file);
        inputs.add(&self.sources.stdin);
        let files = files::Files::new(self.output.as_deref(), &sources, &inputs)?;
        let names = files::names(&sources);
        let (mut streams, mut places) = (Vec::new(), Vec::new());
        for (source, name) in sources.iter().zip(&names) {
            let reader = open(source)?.named(name.clone());
            let (raw, place) =
                files.of(&reader, name, &inputs)?.map(|kept| (kept.raw, kept.place)).unzip();
            places.push(place.unwrap_or_default());
            let view = self.follow.then(|| {
                let tag = (names.len() > 1).then(|| follow::tag(self.format, name, &names));
                self.view(settings.clone(), &shared, tag)
            });
            streams.push(Stream { reader, raw, view });
        }
        let options = Options { until: self.until.until(), buffer: (self.buffer as usize) << 20 };
        let collected = collect::collect(streams, options, &stop, &tell);
        let settled = places.iter().zip(&collected);
        let settled = settled.map(|(place, collected)| place.settle(collected));
        let outcome = settled.fold(outcome, Outcome::max);
        let told = self.tell(&collected)?;
        let shown = collected.iter().map(|collected| self.outcome(collected));
        Ok(shown.fold(outcome.max(told), Outcome::max))
    }

    fn check(&self) -> Result<(), Failure> {
        if self.input.join {
            return Err(Failure::usage("--join: each source is a stream of its own"));
        }
        if self.follow && self.is_stdout() {
            return Err(Failure::usage("-o -: standard output has the events already"));
        }
        Ok(())
    }

    /// Tells which options have no effect on what is asked for.
    fn tell_ineffective(&self) {
        let shows = "nothing is shown without --follow";
        let input = &self.input;
        let only_files = self
            .sources
            .sources(Datagrams::Any)
            .iter()
            .all(|source| matches!(source, Source::File(_) | Source::Stdin));
        tell_ineffective(&[
            (!self.follow && self.selection.is_any(), "what selects events", shows),
            (!self.follow && !input.options.is_empty(), "-O", shows),
            (!self.follow && !input.custom_events.is_empty(), "--custom-events", shows),
            (!self.follow && input.names.is_some(), "--names", shows),
            (
                self.until.packets.is_some() && self.sources.udp.is_empty(),
                "--packets",
                "only --udp brings packets",
            ),
            (
                self.until.once && only_files,
                "--once",
                "files and standard input have no connections",
            ),
        ]);
    }

    /// What datagrams are taken for: who says what is in them says that, too.
    fn datagrams(&self) -> Datagrams {
        match self.input.format_in.as_deref() {
            None => Datagrams::Any,
            Some("shark") => Datagrams::Shark,
            Some(_) => Datagrams::Stream,
        }
    }

    fn is_stdout(&self) -> bool {
        self.output.as_deref() == Some(Path::new("-"))
    }

    /// Prints what became of the sources: to standard output, where nothing else is there.
    fn tell(&self, collected: &[Collected]) -> Result<Outcome, Failure> {
        let mut text = String::new();
        for Collected { report, .. } in collected {
            text += &match self.json {
                true => serde_json::to_string_pretty(report).map_err(Failure::usage)?,
                false => report.to_string(),
            };
            text.push('\n');
        }
        if self.is_stdout() || self.follow {
            tell!("{}", text.trim_end());
            return Ok(Outcome::Done);
        }
        let told = output::stdout().write_all(text.as_bytes());
        told.map_err(|error| Failure::io(output::stdout_path(), &error))?;
        Ok(Outcome::Done)
    }

    fn outcome(&self, collected: &Collected) -> Outcome {
        let Collected { report, shown, unreadable, .. } = collected;
        let name = Path::new(&report.source);
        let incomplete = report.is_lossy() || report.is_empty();
        let mut outcome = if incomplete { Outcome::Damaged } else { Outcome::Done };
        if let Some(shown) = shown {
            let refused = shown.refused || shown.worst == Some(Severity::Damage);
            outcome = outcome.max(if refused { Outcome::Damaged } else { Outcome::Done });
            if let Some(trace) = &shown.trace {
                outcome = outcome.max(tell_remarks(name, trace, self.input.verbose));
                let selection = self.selection.selection();
                for doubt in selection.doubts(trace) {
                    tell!("tracewell: {}: warning: {doubt}", name.display());
                }
                if let Err(error) = selection.check(trace) {
                    outcome = outcome.max(Failure::from(error).tell());
                }
            }
            if let Some(error) = &shown.error {
                outcome = outcome.max(Failure::io(output::stdout_path(), error).tell());
            }
        }
        if let Some(error) = unreadable {
            outcome = outcome.max(Failure::io(name, error).tell());
        }
        outcome
    }
}

impl UntilArgs {
    fn until(&self) -> Until {
        Until {
            elapsed: self.seconds,
            packets: self.packets,
            bytes: self.bytes,
            idle: self.idle,
            disconnected: self.once,
        }
    }
}

pub(super) fn open(source: &Source) -> Result<Reader, Failure> {
    source.open().map_err(|error| Failure::io(Path::new(&source.to_string()), &error))
}

/// Says what happens to a source. An address that is listened on stands at the end of its line.
pub(super) fn tell(name: &str, notice: &Notice<'_>) {
    match notice {
        Notice::Listening(_) => tell!("tracewell: {notice}"),
        _ => tell!("tracewell: {name}: {notice}"),
    }
}

/// A flag that Ctrl-C and a request to terminate set; the second one of them ends the program at once.
pub(super) fn stop_signal() -> io::Result<Arc<AtomicBool>> {
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
        signal_hook::flag::register_conditional_shutdown(signal, 4, Arc::clone(&stop))?;
        signal_hook::flag::register(signal, Arc::clone(&stop))?;
    }
    Ok(stop)
}
