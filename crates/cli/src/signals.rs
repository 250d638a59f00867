//! Selects the signals that this process may handle.

use std::ffi::c_int;
use std::fs;

/// Returns the signals in `wanted` that are not ignored. If a parent such as `nohup` ignores
/// a signal, this process must ignore the signal too.
pub(crate) fn not_ignored(wanted: &[c_int]) -> Vec<c_int> {
    let ignored = ignored();
    wanted.iter().copied().filter(|signal| ignored >> (signal - 1) & 1 == 0).collect()
}

/// Returns the ignored signals as a bit set, with signal 1 in the lowest bit; 0 if the system does
/// not report them.
fn ignored() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    line.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}
