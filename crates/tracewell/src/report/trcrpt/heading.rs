//! The heading of a report: the facts of the trace, and the names of the columns.
//!
//! With `exec` and `pid` on, the columns begin where they do in published reports of AIX 4: ID at
//! 0, name at 4, PID at 19, elapsed time at 33, delta at 51, kernel text at 78. With `tid` on, they
//! begin where a public script for GPFS traces expects them: TID at 4, elapsed time at 16, delta at
//! 34, kernel text at 61. That script also shows that times are right-aligned: longer times begin
//! up to three columns before their heading. The other widths are our choice.

use super::options::{Options, Timestamp};
use crate::format::aix::Header;
use crate::model::Trace;
use crate::template::syntax::Level;
use crate::text::calendar::DateAndTime;

/// Width of AIX's hook ids. Most of these ids have three digits.
const HOOK_ID: usize = 4;
/// Width of the ids of other systems; these ids have four digits.
const EVENT_ID: usize = 5;
pub(super) const PROCESS_NAME: usize = 15;
pub(super) const CPU: usize = 4;
pub(super) const PID: usize = 14;
pub(super) const TID: usize = 12;
pub(super) const MARKER: usize = 2;
pub(super) const SYSTEM_CALL: usize = 13;
pub(super) const ELAPSED: usize = 18;
pub(super) const DELTA: usize = 11;
/// Distance between the left margins of the four columns of text.
pub(super) const LEVEL: usize = 8;

/// Returns the width of the column ID.
pub(super) fn id_width(trace: &Trace) -> usize {
    if trace.schema.ids_are_hooks() { HOOK_ID } else { EVENT_ID }
}

/// Returns the lines before the column names.
pub(super) fn facts(trace: &Trace, options: &Options) -> Vec<String> {
    let mut lines = vec![String::new()];
    if let Some(start) = trace.wall_clock.filter(|moment| moment.is_start) {
        lines.push(DateAndTime(start.ns / 1_000_000_000).to_string());
    }
    let header = Header::of(trace);
    let text = |of: fn(&Header) -> &str| header.map(of).filter(|text| !text.is_empty());
    if let Some(system) = text(|header| &header.system) {
        let node = text(|header| &header.node).unwrap_or_default();
        lines.push(format!("System: {system} Node: {node}"));
    }
    if let Some(machine) = text(|header| &header.machine) {
        lines.push(format!("Machine: {machine}"));
    }
    if let Some(address) = text(|header| &header.address) {
        lines.push(format!("Internet Protocol Address: {address}"));
    }
    if lines.len() == 1 {
        // The trace does not name its system.
        lines.push(super::super::heading(trace));
    }
    if let (Some(header), true) = (header, options.reported_cpus) {
        let (cpus, traced) = (header.numbers.cpus, header.numbers.cpus_traced);
        lines.push(format!("The system contains {cpus} cpus, of which {traced} were traced."));
    }
    if let Some(buffering) = text(|header| &header.buffering) {
        lines.push(format!("Buffering: {buffering}"));
    }
    lines.push(String::new());
    if let Some(command) = text(|header| &header.command) {
        lines.push(command.to_owned());
        lines.push(String::new());
    }
    lines
}

/// Returns the line of column names.
pub(super) fn columns(trace: &Trace, options: &Options) -> String {
    let mut line = String::new();
    let mut column = |shown: bool, name: &str, width: usize| {
        if shown {
            line.push_str(&format!("{name:<width$}"));
        }
    };
    column(options.ids, "ID", id_width(trace));
    column(options.exec, "PROCESS NAME", PROCESS_NAME);
    column(options.cpu, "CPU", CPU);
    column(options.pid, "PID", PID);
    column(options.tid, "TID", TID);
    column(options.svc, "I", MARKER);
    column(options.svc, "SYSTEM CALL", SYSTEM_CALL);
    if !options.two_lines {
        line.push_str(&times(trace, options));
    }
    // If a name is as wide as its column, a space must follow it.
    for (level, name) in Level::ALL.iter().zip(["APPL", "SYSCALL", "KERNEL", "INTERRUPT"]) {
        let width = if *level == Level::Int { 0 } else { LEVEL };
        line.push_str(&format!("{name:<width$}"));
    }
    line
}

/// Returns the names of the time columns.
fn times(trace: &Trace, options: &Options) -> String {
    if trace.clock.rate.is_none() && options.timestamp != Timestamp::None {
        return format!("{:<ELAPSED$}{:<DELTA$}", "TICKS", "DELTA");
    }
    match options.timestamp {
        Timestamp::Elapsed => format!("{:<ELAPSED$}{:<DELTA$}", "ELAPSED_SEC", "DELTA_MSEC"),
        Timestamp::Short => format!("{:<ELAPSED$}", "ELAPSED_SEC"),
        Timestamp::Microseconds => format!("{:<ELAPSED$}", "ELAPSED_USEC"),
        Timestamp::WallClock => format!("{:<ELAPSED$} ", "TIME"),
        Timestamp::None => String::new(),
    }
}

/// Returns the column in which the text begins.
pub(super) fn margin(trace: &Trace, options: &Options) -> usize {
    let names = columns(trace, options);
    // The line of column names ends with the names of the four text columns.
    names.len() - (3 * LEVEL + "INTERRUPT".len())
}

/// Returns the column in which times begin.
pub(super) fn times_at(trace: &Trace, options: &Options) -> usize {
    if options.two_lines {
        return id_width(trace);
    }
    margin(trace, options) - times(trace, options).len()
}
