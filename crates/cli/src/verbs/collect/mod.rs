//! `tracewell collect`: receives traces while targets send them.
//!
//! This file contains the arguments and the reports about sources. `files` stores the bytes,
//! `follow` shows the events, and `live` shows the progress.

mod files;
mod follow;
mod live;

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use clap::{ArgGroup, Args, ValueEnum};
use tracewell::format::{self, FORMATS};
use tracewell::input::{InputError, Settings};
use tracewell::model::Severity;
use tracewell::select::{Selection, did_you_mean, nearest};
use tracewell_collect::{
    CollectReport, Collected, Datagrams, Options, SCHEMA, SharedOutput, Source, Stream, Until,
};

use super::follow as following;
use super::sources::{open, print_notice, stop_signal};
use crate::args::{InputArgs, SelectionArgs, warn_ineffective};
use crate::config::Configs;
use crate::outcome::{Failure, Outcome, print_message, report_diagnostics, warn};
use crate::{output, progress};

/// Receive traces while targets send them
///
/// Stores the bytes exactly as they arrive, with arrival times in FILE.arrivals, or shows the
/// events with --follow, or both. Each source is a separate stream. If a connection ends, it is
/// opened again. Stops when the limit of --seconds, --bytes, --packets or --idle is reached, when
/// all sources have ended, or on Ctrl-C; then reports the received and the missing data.
///
/// If bytes arrive faster than they can be written, some are dropped and counted; memory does not
/// grow. Data from files and standard input is never dropped: the program reads more only when it
/// has room for it.
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

Exit status: 3 if a source sent nothing, bytes were dropped or not shown, packets are missing, or the data is
damaged.")]
pub(crate) struct Collect {
    #[command(flatten)]
    sources: SourceArgs,

    /// Store the bytes in this file, or in this folder for several sources; - is standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Print the events as they arrive
    #[arg(short, long)]
    follow: bool,

    /// Set the form of the printed events
    #[arg(long, value_enum, default_value_t = Form::Report, requires = "follow")]
    format: Form,

    #[command(flatten)]
    until: UntilArgs,

    /// Set the size of the buffers between source, file and display
    #[arg(long, value_name = "MIB", default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..=1024))]
    buffer: u32,

    /// Print the report on all sources as a JSON document, for programs
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
    /// Read a serial line, by default with 115200,8N1: any rate, 5 to 8 data bits, parity N, E or
    /// O, 1 or 2 stop bits, then optionally ,rtscts or ,xonxoff
    #[cfg(unix)]
    #[arg(long, value_name = "DEVICE[@BAUD[,8N1]]")]
    serial: Vec<tracewell_collect::Serial>,

    /// Connect to a listening target, and reconnect when the connection ends
    #[arg(long, value_name = "HOST:PORT")]
    tcp: Vec<String>,

    /// Accept targets at this address, one at a time; port 0 chooses a free port
    #[arg(long, value_name = "ADDRESS:PORT")]
    tcp_listen: Vec<String>,

    /// Receive datagrams: pieces of a stream, or packets of S.Ha.R.K.'s tracer (port 20000)
    #[arg(long, value_name = "ADDRESS:PORT")]
    udp: Vec<String>,

    /// Follow a file from its start; it may be truncated, replaced, or created later. With a
    /// folder, show the trace in it
    #[arg(long, value_name = "FILE")]
    file: Vec<PathBuf>,

    /// Read the bytes from standard input
    #[arg(value_name = "-", value_parser = ["-"], hide_possible_values = true)]
    stdin: Option<String>,
}

#[derive(Debug, Args)]
struct UntilArgs {
    /// Stop after N seconds
    #[arg(long, value_name = "N", value_parser = seconds)]
    seconds: Option<Duration>,

    /// Stop after N bytes
    #[arg(long, value_name = "N")]
    bytes: Option<u64>,

    /// Stop after N packets of S.Ha.R.K.'s tracer, not counting duplicates
    #[arg(long, value_name = "N")]
    packets: Option<u64>,

    /// Stop after N seconds of silence, counted from the first byte
    #[arg(long, value_name = "N", value_parser = seconds)]
    idle: Option<Duration>,

    /// End a source when its first connection closes, or, for a file, at its end
    #[arg(long)]
    once: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum Form {
    /// Text for people, as `report` prints it
    Report,
    /// JSON lines, as `events` prints them
    Jsonl,
    /// Tab-separated values, one line per event
    Tsv,
    /// Comma-separated values, one line per event
    Csv,
}

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    seconds.ok_or_else(|| "expected a number of seconds such as 10 or 0.5".to_owned())
}

impl SourceArgs {
    /// Returns the sources, in the order of the help text.
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
    pub(crate) fn run(&self) -> Result<Outcome, Failure> {
        self.check()?;
        let selection = self.selection.selection()?;
        self.warn_ineffective();
        // Sources have no folder, so the configuration of the current folder applies.
        let here = [PathBuf::from("-")];
        let settings = self.input.settings(&here)?;
        let settings = self.input.configured(settings, &here, &here, &mut Configs::default())?;
        check_options(&settings)?;
        let sources = self.sources.sources(self.datagrams());
        let stop = stop_signal().map_err(|e| Failure::io(Path::new("signals"), &e))?;
        let shared = SharedOutput::new(io::stdout());
        if let Some(outcome) = self.folder(&sources, &settings, &selection, &stop, &shared)? {
            return Ok(outcome);
        }
        let mut inputs = self.input.inputs(&self.sources.file);
        inputs.add(&self.sources.stdin);
        let files = files::Files::new(self.output.as_deref(), &sources, &inputs)?;
        // Sources of the same kind get distinct names, for their files and the tags of their lines.
        let names = files::names(&sources);
        let (mut streams, mut places, mut gauges) = (Vec::new(), Vec::new(), Vec::new());
        for (source, name) in sources.iter().zip(&names) {
            let reader = open(source)?.named(name.clone());
            let (raw, place) =
                files.of(&reader, name, &inputs)?.map(|kept| (kept.raw, kept.place)).unzip();
            places.push(place.unwrap_or_default());
            gauges.push(reader.gauge());
            let view = self.follow.then(|| {
                // A single source needs no tag: the output is then the same as the output of
                // `report`.
                let tag = (names.len() > 1).then(|| follow::tag(self.format, name, &names));
                self.view(settings.clone(), selection.clone(), &shared, tag)
            });
            streams.push(Stream { reader, raw, view });
        }
        let options = Options { until: self.until.until(), buffer: (self.buffer as usize) << 20 };
        let mut lines = live::Lines::new(&names, gauges);
        let collected = progress::during(
            self.shows_progress(),
            |elapsed| lines.at(elapsed),
            || tracewell_collect::collect(streams, options, &stop, &print_notice),
        );
        // Rename all files before printing, so that a closed pipe does not lose data.
        let settled = places.iter().zip(&collected);
        let settled = settled.map(|(place, collected)| place.settle(collected));
        let outcome = settled.fold(Outcome::Done, Outcome::max);
        let printed = self.print_reports(&collected)?;
        // Take the worst outcome of all sources. Each source reports its own failure, and the worst
        // becomes the exit status.
        let shown = collected.iter().map(|collected| self.outcome(collected, &selection));
        Ok(shown.fold(outcome.max(printed), Outcome::max))
    }

    /// Shows the events of a trace in a folder while another program writes the trace. Returns
    /// `None` if no source is a folder.
    fn folder(
        &self,
        sources: &[Source],
        settings: &Settings,
        selection: &Selection,
        stop: &AtomicBool,
        shared: &SharedOutput<io::Stdout>,
    ) -> Result<Option<Outcome>, Failure> {
        let is_folder = |source: &Source| matches!(source, Source::File(path) if path.is_dir());
        let Some(folder) = sources.iter().find(|source| is_folder(source)) else { return Ok(None) };
        let Source::File(path) = folder else { return Ok(None) };
        // `None` means that the path is no longer a folder.
        let Some(growing) = following::folder(path, settings)? else { return Ok(None) };
        let refused = |message| Err(Failure::usage(format!("--file {folder}: {message}")));
        if sources.len() > 1 {
            return refused("a folder must be the only source");
        }
        if self.output.is_some() {
            return refused("a folder is not stored: copy it, and omit -o");
        }
        if self.until.is_any() || self.json {
            return refused("a folder is followed until a signal, without a report on bytes");
        }
        let mut view = self.view(settings.clone(), selection.clone(), shared, None);
        let mut sink = (view.sink)();
        let args = &self.input;
        let sink = sink.as_mut();
        following::follow_folder(path, growing, args, selection, stop, sink).map(Some)
    }

    /// Returns true if progress lines can be shown, and no events or bytes appear on the same
    /// terminal.
    fn shows_progress(&self) -> bool {
        let prints = self.follow || self.is_stdout();
        progress::is_possible() && (!prints || progress::has_separate_output())
    }

    fn check(&self) -> Result<(), Failure> {
        if self.input.join {
            return Err(Failure::usage(
                "--join cannot be used with collect: its sources are separate streams",
            ));
        }
        if self.follow && self.is_stdout() {
            return Err(Failure::usage(
                "-o - conflicts with --follow: both write to standard output",
            ));
        }
        Ok(())
    }

    /// Warns of options that have no effect.
    fn warn_ineffective(&self) {
        let shows = "without --follow, no events are shown";
        let input = &self.input;
        let only_stdin = self
            .sources
            .sources(Datagrams::Any)
            .iter()
            .all(|source| matches!(source, Source::Stdin));
        warn_ineffective(&[
            (!self.follow && self.selection.is_any(), "a selection of events", shows),
            (!self.follow && !input.options.is_empty(), "-O", shows),
            (!self.follow && !input.custom_events.is_empty(), "--custom-events", shows),
            (!self.follow && input.names.is_some(), "--names", shows),
            (!self.follow && !input.schema.is_empty(), "--schema", shows),
            (!self.follow && input.elf.is_some(), "--elf", shows),
            (
                self.until.packets.is_some() && self.sources.udp.is_empty(),
                "--packets",
                "only --udp receives packets",
            ),
            (
                self.until.once && only_stdin,
                "--once",
                "standard input is read up to its end in any case",
            ),
        ]);
    }

    /// Returns the kind of content that datagrams have; it depends on --format-in.
    fn datagrams(&self) -> Datagrams {
        let Some(name) = &self.input.format_in else { return Datagrams::Any };
        match format::by_name(name).is_some_and(|format| format.orders_datagrams) {
            true => Datagrams::Shark,
            false => Datagrams::Stream,
        }
    }

    fn is_stdout(&self) -> bool {
        self.output.as_deref() == Some(Path::new("-"))
    }

    /// Prints the reports about the sources. Uses standard output, or standard error if standard
    /// output contains bytes or events.
    fn print_reports(&self, collected: &[Collected]) -> Result<Outcome, Failure> {
        let reports = collected.iter().map(|collected| &collected.report);
        let text = match self.json {
            true => {
                let document = CollectReport { schema: SCHEMA, sources: reports.collect() };
                serde_json::to_string_pretty(&document).map_err(Failure::usage)? + "\n"
            }
            false => reports.map(|report| format!("{report}\n")).collect(),
        };
        // Standard output contains bytes or events, and a report would corrupt them.
        if self.is_stdout() || self.follow {
            print_message(text.trim_end());
            return Ok(Outcome::Done);
        }
        let written = output::stdout().write_all(text.as_bytes());
        written.map_err(|error| Failure::io(output::stdout_path(), &error))?;
        Ok(Outcome::Done)
    }

    fn outcome(&self, collected: &Collected, selection: &Selection) -> Outcome {
        let Collected { report, shown, unreadable, .. } = collected;
        let name = Path::new(&report.source);
        // If a target sent nothing, the outcome is damage, so that a script notices a broken
        // connection.
        let incomplete = report.is_lossy() || report.is_empty();
        let mut outcome = if incomplete { Outcome::Damaged } else { Outcome::Done };
        if let Some(shown) = shown {
            let refused = shown.refused || shown.worst == Some(Severity::Damage);
            outcome = outcome.max(if refused { Outcome::Damaged } else { Outcome::Done });
            if let Some(trace) = &shown.trace {
                outcome =
                    outcome.max(report_diagnostics(name, &trace.diagnostics, self.input.verbose));
                for warning in selection.unknown_names(trace) {
                    warn!("{}: {warning}", name.display());
                }
            }
            if let Some(error) = &shown.error {
                outcome = outcome.max(Failure::sink(output::stdout_path(), error).report());
            }
        }
        if let Some(error) = unreadable {
            outcome = outcome.max(Failure::io(name, error).report());
        }
        outcome
    }
}

/// Checks the options of the format before any source is opened. Each option must belong to the
/// format that the user names. If the user names no format, each option must belong to at least one
/// format.
fn check_options(settings: &Settings) -> Result<(), Failure> {
    if let Some(name) = &settings.format {
        let format = format::by_name(name)
            .ok_or_else(|| Failure::from(InputError::NoSuchFormat(name.clone())))?;
        // The decoder checks the values, too.
        return match format.decoder(settings) {
            Ok(_) => Ok(()),
            Err(error) => Err(Failure::usage(error)),
        };
    }
    let all = || FORMATS.iter().flat_map(|format| format.options).map(|option| option.key);
    match settings.options.keys().find(|key| all().all(|known| known != *key)) {
        Some(key) => {
            let hint = did_you_mean(nearest(key, all()));
            Err(Failure::usage(format!("-O {key}: no format has this option{hint}")))
        }
        None => Ok(()),
    }
}

impl UntilArgs {
    /// Returns true if the user gave any of these options.
    fn is_any(&self) -> bool {
        let Self { seconds, bytes, packets, idle, once } = self;
        let numbers = bytes.is_some() || packets.is_some();
        numbers || seconds.is_some() || idle.is_some() || *once
    }

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
