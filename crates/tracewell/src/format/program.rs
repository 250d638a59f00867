//! Reports how a recorded program ended. Logs of native and POSIX streams may contain this
//! information.

use tracewell_wire::ProgramEnd;

use crate::model::{Fact, FactForm, Severity, Trace};

/// Adds the end of the recorded program to the facts of a trace. Adds a note if a signal ended the
/// program.
pub(super) fn ended(end: ProgramEnd, at: u64, trace: &mut Trace) {
    let ProgramEnd { process, status, signal } = end;
    let decimal =
        |name, value: u32| Fact { name, value: u64::from(value), form: FactForm::Decimal };
    trace.facts.push(decimal("program", process));
    trace.facts.push(match signal {
        0 => decimal("exit_status", status),
        signal => decimal("ended_by_signal", signal),
    });
    if signal != 0 {
        let message = format!("signal {signal} ended the program, process {process}");
        trace.diagnostics.add(Severity::Note, at, message);
    }
}
