//! A small AIX system of two CPUs, and the trace that its kernel and programs record.
//!
//! `script` is the sequence of events, `machine` tracks the running threads and records the
//! entries, and `log` is the trace daemon.

mod log;
mod machine;
mod script;

use std::cell::Cell;

use machine::{Memory, System};

/// Runs the system. Returns the three logs, each with the suffix of its file name.
pub(crate) fn files() -> [(&'static str, Vec<u8>); 3] {
    let now = Cell::new(0);
    let mut memory = Memory::default();
    let mut system = System::start(&now, &mut memory);
    script::run(&mut system);
    let [base, first, second] = system.stop();
    [("", base), ("-0", first), ("-1", second)]
}
