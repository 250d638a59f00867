//! The program `tracewell`: reads the command line, runs one verb, turns its outcome into an exit
//! status. What a verb does is in `verbs/`, one file each; what several share is beside this file.
#![forbid(unsafe_code)]

mod args;
mod command;
mod draft;
mod inputs;
mod outcome;
mod output;
mod progress;
#[cfg(unix)]
mod signals;
mod templates;
mod trace_report;
mod verbs;

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    let arguments = command::arguments(std::env::args_os());
    match command::Cli::try_parse_from(&arguments) {
        Ok(cli) => cli.run().exit_code(),
        Err(error) => {
            // Where even this cannot be told there is nobody to tell.
            let _ = error.print();
            command::usage_status(&arguments, &error)
        }
    }
}
