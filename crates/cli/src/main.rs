//! The program `tracewell`: parses the command line, runs one verb, and turns its outcome into an
//! exit status. Verbs are in `verbs/`, one file each; code that several verbs share is next to this
//! file.
#![forbid(unsafe_code)]

mod args;
mod command;
mod config;
mod dates;
mod document;
mod draft;
mod elf;
mod file_options;
mod hook_selection;
mod inputs;
mod junit;
mod outcome;
mod output;
mod pager;
mod progress;
mod screen;
mod shipped;
#[cfg(unix)]
mod signals;
mod small_file;
mod sources;
mod trace_report;
mod verbs;

use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args_os().collect();
    match command::parse(&arguments) {
        Ok(verb) => {
            pager::allow(verb.is_paged());
            let outcome = verb.run();
            pager::finish();
            outcome.exit_code()
        }
        Err(error) => {
            command::print_usage_error(&error);
            command::usage_status(&arguments, &error)
        }
    }
}
