//! The heading of a report: the facts of the trace, and the names of the columns.
//!
//! With `exec` and `pid` on the columns are where published reports of AIX 4 have them: ID 0, name 4, PID 19, elapsed time
//! 33, delta 51, kernel text 78. With `tid` on they are where a public script that reads reports has them, the one that
//! sums traces of IBM's GPFS: TID 4, elapsed time 16, delta 34, kernel text 61. It also says that times end in one column,
//! so that longer ones begin up to three columns before their heading. The other widths are ours.

use super::options::{Options, Timestamp};
use crate::model::Trace;
use crate::template::syntax::Level;
use crate::text::calendar::DateAndTime;

/// Of AIX's hooks, most of which have three digits.
const HOOK_ID: usize = 4;
/// Of the events of other systems, which have four.
const EVENT_ID: usize = 5;
pub(super) const PROCESS_NAME: usize = 15;
pub(super) const CPU: usize = 4;
pub(super) const PID: usize = 14;
pub(super) const TID: usize = 12;
pub(super) const MARKER: usize = 2;
pub(super) const SYSTEM_CALL: usize = 13;
pub(super) const ELAPSED: usize = 18;
pub(super) const DELTA: usize = 11;
/// Between the left margins of the four columns of text.
pub(super) const LEVEL: usize = 8;

/// The width of the column ID.
pub(super) fn id_width(trace: &Trace) -> usize {
    if trace.format == crate::format::aix::FORMAT.name { HOOK_ID } else { EVENT_ID }
}

/// The lines before the names of the columns.
pub(super) fn facts(trace: &Trace, options: &Options) -> Vec<String> {
    let mut lines = vec![String::new()];
    if let Some(ns) = trace.fact("wall_clock_ns").filter(|ns| *ns > 0) {
        lines.push(DateAndTime(ns / 1_000_000_000).to_string());
    }
    let text = |name| Some(trace.text(name)).filter(|text: &&str| !text.is_empty());
    if let Some(system) = text("system") {
        lines.push(format!("System: {system} Node: {}", trace.text("node")));
    }
    if let Some(machine) = text("machine") {
        lines.push(format!("Machine: {machine}"));
    }
    if let Some(address) = text("address") {
        lines.push(format!("Internet Protocol Address: {address}"));
    }
    if lines.len() == 1 {
        // A system that does not say what it is.
        lines.push(super::super::heading(trace));
    }
    if let (Some(cpus), true) = (trace.fact("cpus"), options.reported_cpus) {
        let traced = trace.fact("cpus_traced").unwrap_or(cpus);
        lines.push(format!("The system contains {cpus} cpus, of which {traced} were traced."));
    }
    if let Some(buffering) = text("buffering") {
        lines.push(format!("Buffering: {buffering}"));
    }
    lines.push(String::new());
    if let Some(command) = text("command") {
        lines.push(command.to_owned());
        lines.push(String::new());
    }
    lines
}

/// The names of the columns.
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
    // A name that is as wide as its column needs a blank behind it.
    for (level, name) in Level::ALL.iter().zip(["APPL", "SYSCALL", "KERNEL", "INTERRUPT"]) {
        let width = if *level == Level::Int { 0 } else { LEVEL };
        line.push_str(&format!("{name:<width$}"));
    }
    line
}

/// The names of the columns of times.
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

/// Where the text of the first column begins.
pub(super) fn margin(trace: &Trace, options: &Options) -> usize {
    let names = columns(trace, options);
    names.len() - (3 * LEVEL + "INTERRUPT".len())
}

/// Where the times of an event begin, in their line.
pub(super) fn times_at(trace: &Trace, options: &Options) -> usize {
    if options.two_lines {
        return id_width(trace);
    }
    margin(trace, options) - times(trace, options).len()
}
