//! The heading of a report: the facts of the trace, and the names of the columns.
//!
//! The widths are ours; with `exec` and `pid` on they put the columns where published reports of AIX 4
//! have them: ID 0, name 4, PID 19, elapsed time 33, delta 51, kernel text 78.

use super::options::{Options, Timestamp};
use crate::model::Trace;
use crate::template::syntax::Level;
use crate::text::calendar::DateAndTime;

pub(super) const ID: usize = 4;
pub(super) const PROCESS_NAME: usize = 15;
pub(super) const CPU: usize = 4;
pub(super) const PID: usize = 14;
pub(super) const TID: usize = 14;
pub(super) const MARKER: usize = 2;
pub(super) const SYSTEM_CALL: usize = 13;
pub(super) const ELAPSED: usize = 18;
pub(super) const DELTA: usize = 11;
/// Between the left margins of the four columns of text.
pub(super) const LEVEL: usize = 8;

/// The lines before the names of the columns.
pub(super) fn facts(trace: &Trace, options: &Options) -> Vec<String> {
    let mut lines = vec![String::new()];
    if let Some(ns) = trace.fact("wall_clock_ns") {
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
    column(options.ids, "ID", ID);
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
