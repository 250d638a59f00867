//! Lets signals end the programs that tests start. A test that runs in the background, or under
//! `nohup`, ignores some signals, and so do the programs that it starts: they would never end.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Once};

use signal_hook::consts::{SIGHUP, SIGINT};
use signal_hook::flag;

/// Makes SIGINT and SIGHUP end the programs that this test starts from now on, also if the test
/// itself ignores them. A signal that is not ignored keeps its effect on the test.
pub(crate) fn end_programs() {
    static REGISTERED: Once = Once::new();
    REGISTERED.call_once(|| {
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
        let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
        for signal in [SIGHUP, SIGINT] {
            if ignored.unwrap_or(0) >> (signal - 1) & 1 == 1 {
                // A new program starts with the default action of a signal that has a handler.
                flag::register(signal, Arc::new(AtomicBool::new(false))).unwrap();
            }
        }
    });
}
