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
mod small_file;
mod templates;
mod trace_report;
mod verbs;

use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args_os().collect();
    match command::parse(&arguments) {
        Ok(verb) => verb.run().exit_code(),
        Err(error) => {
            command::tell_usage(&error);
            command::usage_status(&arguments, &error)
        }
    }
}
