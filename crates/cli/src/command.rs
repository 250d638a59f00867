//! The command line as a whole. Help texts, completions and manual pages are made from it.

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};
use tracewell::text::shown_lines;

use crate::outcome::{Outcome, tell};
use crate::verbs;
use crate::verbs::template::Template;

/// Reads, explains and converts the event traces of real-time and embedded software.
#[derive(Debug, Parser)]
#[command(name = "tracewell", version, arg_required_else_help = true, propagate_version = true)]
#[command(after_help = "Examples:
  tracewell record -- ./program                  save what it records
  tracewell report trace.trx                     what happened, for people
  tracewell events trace.trx | jq .name          every event, for programs
  tracewell analyze trace.dat                    what the scheduler did
  tracewell collect --tcp board:6602 --follow    what a target sends, as it comes
  tracewell check expected.rules trace.trx       whether it is as it should be
  tracewell convert trace.trx -o be.trx -T order=big
  tracewell info --json trace.trx

Exit status: 0 done, 1 a check failed, 2 bad usage, 3 unreadable or damaged input (what could be
read was still printed), 4 other input or output error; record passes on its program's.")]
pub(crate) struct Cli {
    #[command(subcommand)]
    verb: Verb,
}

/// What the program is asked to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    #[cfg(target_os = "linux")]
    Record(verbs::record::Record),
    Formats(verbs::formats::Formats),
    Info(verbs::info::Info),
    Events(verbs::events::Events),
    Report(verbs::report::Report),
    Analyze(verbs::analyze::Analyze),
    Check(verbs::check::Check),
    Convert(verbs::convert::Convert),
    Collect(verbs::collect::Collect),
    Template(verbs::template::Template),
    Trcrpt(verbs::trcrpt::Trcrpt),
    Completions(verbs::completions::Completions),
    Man(verbs::man::Man),
}

impl Verb {
    /// Runs the verb.
    pub(crate) fn run(&self) -> Outcome {
        match self {
            #[cfg(target_os = "linux")]
            Self::Record(verb) => verb.run(),
            Self::Formats(verb) => verb.run(),
            Self::Info(verb) => verb.run(),
            Self::Events(verb) => verb.run(),
            Self::Report(verb) => verb.run(),
            Self::Analyze(verb) => verb.run(),
            Self::Check(verb) => verb.run(),
            Self::Convert(verb) => verb.run(),
            Self::Collect(verb) => verb.run(),
            Self::Template(verb) => verb.run(),
            Self::Trcrpt(verb) => verb.run(),
            Self::Completions(verb) => verb.run(Cli::command()),
            Self::Man(verb) => verb.run(Cli::command()),
        }
    }
}

/// Reads the arguments, the name of the program first: a link `trcrpt` is `tracewell trcrpt`, a link `trcupdate` is
/// `tracewell template update`. Help and errors call the program what the user called it.
pub(crate) fn parse(arguments: &[OsString]) -> Result<Verb, clap::Error> {
    match link(arguments) {
        Some("trcrpt") => alone("trcrpt", arguments).map(Verb::Trcrpt),
        Some("trcupdate") => {
            alone("trcupdate", arguments).map(|update| Verb::Template(Template::updating(update)))
        }
        _ => Cli::try_parse_from(arguments).map(|cli| cli.verb),
    }
}

/// The name that the program was called by.
fn link(arguments: &[OsString]) -> Option<&str> {
    arguments.first().map(Path::new).and_then(Path::file_stem).and_then(OsStr::to_str)
}

/// Reads the arguments of a verb that is a program by itself.
fn alone<T: clap::Args>(name: &'static str, arguments: &[OsString]) -> Result<T, clap::Error> {
    let command = clap::Command::new(name).version(env!("CARGO_PKG_VERSION"));
    let matches = T::augment_args(command).try_get_matches_from(arguments)?;
    T::from_arg_matches(&matches)
}

/// Prints what is wrong with the arguments, or the help that they ask for. A message that repeats an argument shows it as
/// other messages do.
pub(crate) fn tell_usage(error: &clap::Error) {
    let plain = error.to_string();
    let shown = shown_lines(&plain);
    if shown == plain {
        // Where even this cannot be told there is nobody to tell.
        let _ = error.print();
    } else {
        tell!("{}", shown.trim_end());
    }
}

/// The exit status of arguments that cannot be used, or of help: trcrpt has its own.
pub(crate) fn usage_status(arguments: &[OsString], error: &clap::Error) -> ExitCode {
    let is_trcrpt =
        link(arguments) == Some("trcrpt") || arguments.get(1).is_some_and(|verb| verb == "trcrpt");
    match is_trcrpt {
        _ if !error.use_stderr() => ExitCode::SUCCESS,
        true => Outcome::Wrong.exit_code(),
        false => Outcome::Usage.exit_code(),
    }
}
