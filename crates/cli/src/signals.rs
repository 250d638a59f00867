//! Which signals this process may heed.

use std::ffi::c_int;
use std::fs;

/// The signals of these that whoever started this process does not ignore (`nohup` does): those stay ignored.
pub(crate) fn heeded(wanted: &[c_int]) -> Vec<c_int> {
    let ignored = ignored();
    wanted.iter().copied().filter(|signal| ignored >> (signal - 1) & 1 == 0).collect()
}

/// The signals that this process ignores, a bit each from the lowest for signal 1; none where the system
/// does not say.
fn ignored() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    line.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}
