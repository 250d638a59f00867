//! Adds the stream's properties to the facts of the trace, with the names that the standard uses.

use tracewell_wire::native::word;
use tracewell_wire::posix::log::{LogHeader, LogStatus};
use tracewell_wire::posix::object::{ObjectHeader, State, at};
use tracewell_wire::posix::{LogPolicy, StreamPolicy};

use crate::model::{Fact, FactForm, Rate, Trace, WallClock};
use crate::text::shown;

fn text(name: &'static str, value: u64, text: &'static str) -> Fact {
    Fact { name, value, form: FactForm::Text(text) }
}

fn decimal(name: &'static str, value: u64) -> Fact {
    Fact { name, value, form: FactForm::Decimal }
}

/// Adds the facts that logs and streams in memory have in common.
fn common(trace: &mut Trace, created: u64, policy: StreamPolicy, inherited: bool, max_data: u64) {
    trace.clock.rate = Rate::new(1_000_000_000, 1);
    let policy_text = match policy {
        StreamPolicy::Loop => "POSIX_TRACE_LOOP",
        StreamPolicy::UntilFull => "POSIX_TRACE_UNTIL_FULL",
        StreamPolicy::Flush => "POSIX_TRACE_FLUSH",
    };
    let inheritance = match inherited {
        true => "POSIX_TRACE_INHERITED",
        false => "POSIX_TRACE_CLOSE_FOR_CHILD",
    };
    // Ticks are wall-clock times, so the tick of the start and the time of the start are the same
    // number.
    trace.wall_clock = WallClock::at_start(created, created);
    trace.facts.extend([decimal("wall_clock_ns", created), decimal("start_tick", created)]);
    trace.facts.extend([
        text("stream_full_policy", u64::from(policy.code()), policy_text),
        text("inheritance", u64::from(inherited), inheritance),
        decimal("max_data_size", max_data),
    ]);
}

/// Adds the facts from a log's header.
pub(super) fn of_log(trace: &mut Trace, header: &LogHeader) {
    trace.facts = vec![text("container", 2, "log")];
    common(trace, header.created, header.stream_policy, header.inherited, header.max_data);
    let policy = match header.log_policy {
        LogPolicy::Loop => "POSIX_TRACE_LOOP",
        LogPolicy::UntilFull => "POSIX_TRACE_UNTIL_FULL",
        LogPolicy::Append => "POSIX_TRACE_APPEND",
    };
    trace.facts.extend([
        decimal("stream_min_size", header.stream_size),
        text("log_full_policy", u64::from(header.log_policy.code()), policy),
        decimal("log_max_size", header.log_size),
        decimal("clock_resolution_ns", header.resolution),
        decimal("traced_process", header.process),
    ]);
    for (name, bytes) in [("trace_name", &header.name), ("generation_version", &header.version)] {
        let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
        trace.texts.push((name, shown(&bytes[..end]).into_owned()));
    }
}

/// Adds the status that the stream had when its log was closed.
pub(super) fn of_status(trace: &mut Trace, status: &LogStatus) {
    let flag =
        |name, value: u64, set, unset| text(name, value, if value == 0 { unset } else { set });
    trace.facts.extend([
        flag("stream_full_status", status.full, "POSIX_TRACE_FULL", "POSIX_TRACE_NOT_FULL"),
        overrun("stream_overrun_status", status.overrun),
        decimal("stream_flush_error", status.flush_error),
        overrun("log_overrun_status", status.log_overrun),
        flag("log_full_status", status.log_full, "POSIX_TRACE_FULL", "POSIX_TRACE_NOT_FULL"),
    ]);
}

/// Adds the status that `posix_trace_get_status` returns for a log that was not closed.
pub(super) fn of_unclosed_log(trace: &mut Trace) {
    let names = ["stream_overrun_status", "log_overrun_status"];
    trace.facts.extend(names.map(|name| overrun(name, 1)));
}

fn overrun(name: &'static str, value: u64) -> Fact {
    let set = if value == 0 { "POSIX_TRACE_NO_OVERRUN" } else { "POSIX_TRACE_OVERRUN" };
    text(name, value, set)
}

/// Returns the id of a process without the bits of its PID namespace.
const fn process_id(process: u64) -> u64 {
    process & 0xFFFF_FFFF
}

/// Adds the facts from a stream's memory.
pub(super) fn of_memory(trace: &mut Trace, header: &ObjectHeader, bytes: &[u8]) {
    let at = |index| word(bytes, index).unwrap_or(0);
    trace.facts = vec![text("container", 1, "stream in memory")];
    let max_data = u64::from(header.max_data);
    common(trace, header.created, header.policy, header.inherited, max_data);
    let state = State::of_code(at(at::STATE));
    let status =
        if state == State::Running { "POSIX_TRACE_RUNNING" } else { "POSIX_TRACE_SUSPENDED" };
    // A full stream that loops stays in the state `Running` and sets this word instead.
    let full = state == State::Full || at(at::LOOP_FULL) != 0;
    let full_status = if full { "POSIX_TRACE_FULL" } else { "POSIX_TRACE_NOT_FULL" };
    trace.facts.extend([
        text("stream_status", state as u64, status),
        text("stream_full_status", u64::from(full), full_status),
        decimal("events_lost", at(at::LOST)),
        decimal("packets_displaced", at(at::DISPLACED)),
        decimal("controller", process_id(header.controller.0)),
    ]);
    let members = (0..tracewell_wire::posix::object::MEMBERS).map(|n| at(at::MEMBERS + 2 * n));
    let members = members.filter(|process| *process != 0);
    let members = members.map(|process| decimal("traced_process", process_id(process)));
    trace.facts.extend(members);
    // The name occupies 64 bytes and ends at the first zero byte.
    let name: Vec<u8> =
        bytes.get(at::NAME * 8..).unwrap_or_default().iter().copied().take(64).collect();
    let end = name.iter().position(|byte| *byte == 0).unwrap_or(name.len());
    trace.texts.push(("trace_name", shown(&name[..end]).into_owned()));
}
