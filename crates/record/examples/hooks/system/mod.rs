//! A small AIX system of two CPUs, and the trace that its kernel and programs record.
//!
//! `script` is what happens, `machine` knows who runs and records it, `log` is the trace daemon's
//! part.

mod log;
mod machine;
mod script;

use std::cell::Cell;

use machine::{Memory, System};

/// Runs the system; the three logs, each with what its name has behind that of the base.
pub(crate) fn files() -> [(&'static str, Vec<u8>); 3] {
    let now = Cell::new(0);
    let mut memory = Memory::default();
    let mut system = System::start(&now, &mut memory);
    script::run(&mut system);
    let [base, first, second] = system.stop();
    [("", base), ("-0", first), ("-1", second)]
}
