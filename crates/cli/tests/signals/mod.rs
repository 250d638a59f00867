//! Makes sure that a program started by a test ends when it receives a signal. If a test runs in
//! the background or under `nohup`, it ignores some signals, and so do the programs that it starts:
//! such a signal would never end them.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Once};

use signal_hook::consts::{SIGHUP, SIGINT};
use signal_hook::flag;

/// Ensures that SIGINT and SIGHUP end the programs that this test starts from now on, even if the
/// test itself ignores these signals. A signal that the test does not ignore still has its usual
/// effect on the test.
pub(crate) fn end_programs() {
    static REGISTERED: Once = Once::new();
    REGISTERED.call_once(|| {
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
        let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
        for signal in [SIGHUP, SIGINT] {
            if ignored.unwrap_or(0) >> (signal - 1) & 1 == 1 {
                // A program inherits ignored signals, but not handlers. If this process has a
                // handler for a signal, the programs that it starts use the default action of the
                // signal.
                flag::register(signal, Arc::new(AtomicBool::new(false))).unwrap();
            }
        }
    });
}
