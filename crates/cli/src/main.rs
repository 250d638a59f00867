//! The program `tracewell`: reads the command line, runs one verb, turns its outcome into an exit
//! status. What a verb does is in `verbs/`, one file each; what several share is beside this file.
#![forbid(unsafe_code)]

mod args;
mod command;
mod outcome;
mod output;
mod progress;
mod templates;
mod trace_report;
mod verbs;

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    command::Cli::parse_from(command::arguments(std::env::args_os())).run().exit_code()
}
