//! The definition of the command line. Help, completions and manual pages are generated from it.

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::ExitCode;

use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand};
use tracewell::text::shown_lines;

use crate::outcome::{Failure, Outcome, print_message};
use crate::screen::{self, ScreenArgs};
use crate::verbs;
use crate::verbs::template::Template;

/// Reads, explains and converts the event traces of real-time and embedded software.
#[derive(Debug, Parser)]
#[command(name = "tracewell", version, arg_required_else_help = true, propagate_version = true)]
#[command(after_help = "Examples:
  tracewell record -- ./program                  run a program and save its events
  tracewell report trace.trx                     print events for people
  tracewell events trace.trx | jq .name          print events for programs
  tracewell analyze trace.dat                    show what the scheduler did
  tracewell view trace.trx                       draw which context ran when
  tracewell serve --open trace.trx               show the timeline in a browser
  tracewell collect --tcp board:6602 --follow    show events while a target sends them
  tracewell check expected.rules trace.trx       check rules
  tracewell diff old.trx new.trx                 show what changed between runs
  tracewell query --run worst-responses runs/    run an SQL query over many traces
  tracewell ingest runs/ -o lake                 store many traces for queries
  tracewell convert trace.trx -o be.trx -T order=big
  tracewell info --json trace.trx

Exit status: 0 success, 1 a check failed, 2 wrong usage, 3 unreadable or damaged
input (the readable part was still printed), 4 other input or output error;
record returns the status of its program.")]
pub(crate) struct Cli {
    #[command(flatten)]
    screen: ScreenArgs,

    #[command(subcommand)]
    verb: Verb,
}

/// The verbs, in the order of the help.
#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    #[cfg(target_os = "linux")]
    Record(verbs::record::Record),
    Formats(verbs::formats::Formats),
    Info(verbs::info::Info),
    Events(verbs::events::Events),
    Report(verbs::report::Report),
    Analyze(verbs::analyze::Analyze),
    View(verbs::view::View),
    Serve(verbs::serve::Serve),
    Check(verbs::check::Check),
    Diff(verbs::diff::Diff),
    Query(verbs::query::Query),
    Ingest(verbs::ingest::Ingest),
    Convert(verbs::convert::Convert),
    Collect(verbs::collect::Collect),
    Template(verbs::template::Template),
    Trcrpt(verbs::trcrpt::Trcrpt),
    Completions(verbs::completions::Completions),
    Man(verbs::man::Man),
}

impl Verb {
    /// Runs the verb. If it fails, prints the failure.
    pub(crate) fn run(&self) -> Outcome {
        let done = match self {
            #[cfg(target_os = "linux")]
            Self::Record(verb) => verb.run(),
            Self::Formats(verb) => verb.run(),
            Self::Info(verb) => verb.run(),
            Self::Events(verb) => verb.run(),
            Self::Report(verb) => verb.run(),
            Self::Analyze(verb) => verb.run(),
            Self::View(verb) => verb.run(),
            Self::Serve(verb) => verb.run(),
            Self::Check(verb) => verb.run(),
            Self::Diff(verb) => verb.run(),
            Self::Query(verb) => verb.run(),
            Self::Ingest(verb) => verb.run(),
            Self::Convert(verb) => verb.run(),
            Self::Collect(verb) => verb.run(),
            Self::Template(verb) => verb.run(),
            Self::Trcrpt(verb) => verb.run(),
            Self::Completions(verb) => verb.run(Cli::command()),
            Self::Man(verb) => verb.run(Cli::command()),
        };
        done.unwrap_or_else(Failure::report)
    }

    /// Returns true if the output can be long and the verb ends by itself.
    pub(crate) fn is_paged(&self) -> bool {
        match self {
            #[cfg(target_os = "linux")]
            Self::Record(_) => false,
            Self::Formats(_) | Self::Info(_) | Self::Events(_) | Self::Report(_) => true,
            Self::Diff(_) | Self::View(_) | Self::Template(_) | Self::Trcrpt(_) => true,
            Self::Analyze(verb) => !verb.follows(),
            Self::Check(verb) => !verb.follows(),
            Self::Serve(_) | Self::Convert(_) | Self::Collect(_) => false,
            Self::Query(_) | Self::Ingest(_) => false,
            Self::Completions(_) | Self::Man(_) => false,
        }
    }
}

/// Parses the arguments, beginning with the name of the program. A link named `trcrpt` runs
/// `tracewell trcrpt`, and a link named `trcupdate` runs `tracewell template update`. Help and
/// errors use the name that the user typed.
pub(crate) fn parse(arguments: &[OsString]) -> Result<Verb, clap::Error> {
    match link(arguments) {
        Some("trcrpt") => alone("trcrpt", arguments).map(Verb::Trcrpt),
        Some("trcupdate") => {
            alone("trcupdate", arguments).map(|update| Verb::Template(Template::updating(update)))
        }
        // All options after `query` and `ingest` belong to another program.
        _ if arguments.get(1).is_some_and(|verb| verb == "query") => {
            Ok(Verb::Query(verbs::query::Query::new(&arguments[2..])))
        }
        _ if arguments.get(1).is_some_and(|verb| verb == "ingest") => {
            Ok(Verb::Ingest(verbs::ingest::Ingest::new(&arguments[2..])))
        }
        _ => {
            if let Some(version) = version(arguments) {
                return Err(version);
            }
            let cli = quickly(arguments).map_or_else(|| Cli::try_parse_from(arguments), Ok)?;
            screen::set(&cli.screen);
            Ok(cli.verb)
        }
    }
}

/// If the only argument is `--version` or `-V`, returns the version, in the form of an error of
/// clap. Like [`quickly`], this function does not define the whole command line.
fn version(arguments: &[OsString]) -> Option<clap::Error> {
    let [_, only] = arguments else { return None };
    let command = clap::Command::new("tracewell").version(env!("CARGO_PKG_VERSION"));
    let is_version = only == "--version" || only == "-V";
    is_version.then(|| command.try_get_matches_from(arguments).err()).flatten()
}

/// Parses the arguments of a verb that reads traces. To save time, this function defines only the
/// requested verb: in a short run, defining the whole command line would take longer than
/// everything else. Returns `None` for other verbs. Also returns `None` for help and errors,
/// because their texts contain other verbs.
fn quickly(arguments: &[OsString]) -> Option<Cli> {
    let name = arguments.get(1)?.to_str()?;
    let (name, augment): (&'static str, fn(clap::Command) -> clap::Command) = match name {
        "info" => ("info", verbs::info::Info::augment_args),
        "events" => ("events", verbs::events::Events::augment_args),
        "report" => ("report", verbs::report::Report::augment_args),
        "analyze" => ("analyze", verbs::analyze::Analyze::augment_args),
        "view" => ("view", verbs::view::View::augment_args),
        "check" => ("check", verbs::check::Check::augment_args),
        "convert" => ("convert", verbs::convert::Convert::augment_args),
        _ => return None,
    };
    let command = clap::Command::new("tracewell").subcommand_required(true);
    let command = ScreenArgs::augment_args(command).subcommand(augment(clap::Command::new(name)));
    Cli::from_arg_matches(&command.try_get_matches_from(arguments).ok()?).ok()
}

/// Returns the name by which the program was called.
fn link(arguments: &[OsString]) -> Option<&str> {
    arguments.first().map(Path::new).and_then(Path::file_stem).and_then(OsStr::to_str)
}

/// Parses the arguments of a verb that the user called as a separate program.
fn alone<T: clap::Args>(name: &'static str, arguments: &[OsString]) -> Result<T, clap::Error> {
    let command = clap::Command::new(name).version(env!("CARGO_PKG_VERSION"));
    let matches = T::augment_args(command).try_get_matches_from(arguments)?;
    T::from_arg_matches(&matches)
}

/// Prints the help, or the error in the arguments. If the message quotes an argument, its control
/// characters are escaped.
pub(crate) fn print_usage_error(error: &clap::Error) {
    let plain = error.to_string();
    let shown = shown_lines(&plain);
    if shown == plain {
        // A closed standard error is not an error.
        let _ = error.print();
    } else {
        print_message(shown.trim_end());
    }
}

/// Returns the exit status for wrong arguments or for help. trcrpt has a status of its own for
/// wrong arguments.
pub(crate) fn usage_status(arguments: &[OsString], error: &clap::Error) -> ExitCode {
    let is_trcrpt =
        link(arguments) == Some("trcrpt") || arguments.get(1).is_some_and(|verb| verb == "trcrpt");
    match is_trcrpt {
        _ if !error.use_stderr() => ExitCode::SUCCESS,
        true => Outcome::Wrong.exit_code(),
        false => Outcome::Usage.exit_code(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arguments(line: &str) -> Vec<OsString> {
        line.split(' ').map(OsString::from).collect()
    }

    #[test]
    fn the_version_is_that_of_the_whole_command_line() {
        for line in ["tracewell --version", "tracewell -V"] {
            let arguments = arguments(line);
            let (quick, whole) = (parse(&arguments), Cli::try_parse_from(&arguments));
            let (Err(quick), Err(whole)) = (quick, whole) else { panic!("{line} is no version") };
            assert!(version(&arguments).is_some());
            assert_eq!((quick.kind(), quick.to_string()), (whole.kind(), whole.to_string()));
            assert_eq!(quick.exit_code(), whole.exit_code());
        }
        assert!(version(&arguments("tracewell info --version")).is_none());
    }

    #[test]
    fn one_verb_is_parsed_as_in_the_whole_command_line() {
        let lines = [
            "tracewell info --json a.trx",
            "tracewell info --color always -O rate=1MHz --width 90 a.trx b.trx",
            "tracewell events --format tsv --from 5 a.trx",
            "tracewell report -t a.fmt --threads 1 a.trx",
            "tracewell analyze --show distributions --no-pager a.trx",
            "tracewell view --width 100 a.trx",
            "tracewell check a.rules a.trx",
            "tracewell convert a.trx -o b.trx -T order=big",
        ];
        for line in lines {
            let parsed = |cli: Option<Cli>| cli.map(|cli| format!("{cli:?}"));
            let quick = parsed(quickly(&arguments(line)));
            assert!(quick.is_some(), "{line}");
            assert_eq!(quick, parsed(Cli::try_parse_from(arguments(line)).ok()), "{line}");
        }
        for line in [
            "tracewell",
            "tracewell info --help",
            "tracewell info --version",
            "tracewell help info",
            "tracewell info --jsno a.trx",
            "tracewell --color always info a.trx",
            "tracewell serve a.trx",
        ] {
            assert!(quickly(&arguments(line)).is_none(), "{line}");
        }
    }
}
