//! Describes the end of the recorded program, in the file and on standard error.

use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::ExitStatus;

use signal_hook::low_level::signal_name;
use tracewell::text::{counted, shown_path};
use tracewell_record::stream::ProgramEnd;

use crate::outcome::note;

/// Converts the exit status of a program to the form that a recording stores.
pub(super) fn of_program(process: u32, status: ExitStatus) -> ProgramEnd {
    let number = |number: Option<i32>| number.map_or(0, i32::cast_unsigned);
    ProgramEnd { process, status: number(status.code()), signal: number(status.signal()) }
}

/// Prints how the program ended, unless it succeeded, and how many events are in the file.
pub(super) fn print(program: &Path, end: Option<ProgramEnd>, recorded: Option<(u64, &Path)>) {
    let ended = end.and_then(|end| ended(program, end));
    let recorded = recorded
        .map(|(events, file)| format!("{} in {}", counted(events, "event"), shown_path(file)));
    let parts: Vec<String> = ended.into_iter().chain(recorded).collect();
    if !parts.is_empty() {
        note!("{}", parts.join("; "));
    }
}

/// Describes the end of a program. Returns `None` if the program succeeded.
fn ended(program: &Path, end: ProgramEnd) -> Option<String> {
    let program = shown_path(program);
    match end {
        ProgramEnd { status: 0, signal: 0, .. } => None,
        ProgramEnd { status, signal: 0, .. } => {
            Some(format!("{program} ended with status {status}"))
        }
        ProgramEnd { signal, .. } => {
            let name = signal_name(signal.cast_signed());
            let name = name.map_or(String::new(), |name| format!(" ({name})"));
            Some(format!("signal {signal}{name} ended {program}"))
        }
    }
}
