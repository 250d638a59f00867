//! The command line as a whole. Help texts, completions and manual pages are made from it.

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};

use crate::outcome::Outcome;
use crate::verbs;

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

#[derive(Debug, Subcommand)]
enum Verb {
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

impl Cli {
    /// Runs the verb.
    pub(crate) fn run(&self) -> Outcome {
        match &self.verb {
            #[cfg(target_os = "linux")]
            Verb::Record(verb) => verb.run(),
            Verb::Formats(verb) => verb.run(),
            Verb::Info(verb) => verb.run(),
            Verb::Events(verb) => verb.run(),
            Verb::Report(verb) => verb.run(),
            Verb::Analyze(verb) => verb.run(),
            Verb::Check(verb) => verb.run(),
            Verb::Convert(verb) => verb.run(),
            Verb::Collect(verb) => verb.run(),
            Verb::Template(verb) => verb.run(),
            Verb::Trcrpt(verb) => verb.run(),
            Verb::Completions(verb) => verb.run(Self::command()),
            Verb::Man(verb) => verb.run(Self::command()),
        }
    }
}

/// The arguments with the verb that the name of the program stands for: a link `trcrpt` is
/// `tracewell trcrpt`, a link `trcupdate` is `tracewell template update`.
pub(crate) fn arguments(given: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let mut arguments: Vec<_> = given.collect();
    let name = arguments.first().map(Path::new).and_then(Path::file_stem);
    let verbs: &[&str] = match name.and_then(OsStr::to_str) {
        Some("trcrpt") => &["trcrpt"],
        Some("trcupdate") => &["template", "update"],
        _ => &[],
    };
    let behind_name = arguments.len().min(1);
    arguments.splice(behind_name..behind_name, verbs.iter().map(OsString::from));
    arguments
}

/// The exit status of arguments that cannot be used, or of help: trcrpt has its own.
pub(crate) fn usage_status(arguments: &[OsString], error: &clap::Error) -> ExitCode {
    match arguments.get(1) {
        _ if !error.use_stderr() => ExitCode::SUCCESS,
        Some(verb) if verb == "trcrpt" => Outcome::Wrong.exit_code(),
        _ => Outcome::Usage.exit_code(),
    }
}
