//! Reads the processor's cycle counter, checks whether it is usable as a clock, and determines its
//! rate.
//!
//! This module uses unsafe code because no safe function executes the instruction that reads the
//! counter.
#![allow(unsafe_code)]

#[cfg(not(target_arch = "aarch64"))]
use std::time::Duration;
#[cfg(any(test, not(target_arch = "aarch64")))]
use std::time::Instant;

/// Duration of the comparison of the counter with the system clock. Each reading is accurate to
/// some tens of nanoseconds, so the rate is accurate to a few parts per million.
#[cfg(not(target_arch = "aarch64"))]
const CALIBRATION: Duration = Duration::from_millis(10);

/// Reads the counter. Takes a few nanoseconds and makes no system call.
///
/// The processor can reorder instructions, so the reading can be some nanoseconds early or late.
/// Returns 0 on processors other than x86-64 and AArch64.
///
/// ```
/// use tracewell_record::clock::counter;
///
/// let start = counter::read();
/// if counter::is_invariant() {
///     assert!(counter::read() >= start);
/// }
/// ```
#[inline(always)]
pub fn read() -> u64 {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every x86-64 processor has the instruction, which touches no memory. A kernel may
    // forbid a program to execute it (PR_SET_TSC); in that case a signal ends the program.
    unsafe {
        core::arch::x86_64::_rdtsc()
    }
    #[cfg(target_arch = "aarch64")]
    {
        let counter: u64;
        // SAFETY: reading the virtual counter touches neither memory nor flags, and Linux permits
        // programs to do this.
        unsafe {
            core::arch::asm!("mrs {}, cntvct_el0", out(reg) counter, options(nomem, nostack));
        }
        counter
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    {
        0
    }
}

/// Returns true if the counter runs at a constant rate in all power states, and the counters of all
/// cores agree.
///
/// On x86-64, the processor must report an invariant TSC, and the kernel must trust the counter.
/// The kernel switches to another clock if the counters of the cores differ.
pub fn is_invariant() -> bool {
    #[cfg(target_arch = "x86_64")]
    {
        use core::arch::x86_64::__cpuid;
        #[allow(unused_unsafe, reason = "before Rust 1.94 the function is unsafe")]
        // SAFETY: each x86-64 processor has the instruction.
        let cpuid = |leaf| unsafe { __cpuid(leaf) };
        let highest = cpuid(0x8000_0000).eax;
        let invariant = highest >= 0x8000_0007 && cpuid(0x8000_0007).edx >> 8 & 1 == 1;
        invariant && trusted_by_the_kernel()
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        cfg!(target_arch = "aarch64")
    }
}

/// Returns true if Linux lists the counter among its usable clock sources. If the counter drifts,
/// the kernel removes it from this list.
#[cfg(target_arch = "x86_64")]
fn trusted_by_the_kernel() -> bool {
    let path = "/sys/devices/system/clocksource/clocksource0/available_clocksource";
    // If the list cannot be read, rely on the processor's flag alone.
    std::fs::read_to_string(path).map_or(true, |list| list.split(' ').any(|c| c.trim() == "tsc"))
}

/// Returns the rate in ticks per second. On AArch64, a register contains the rate. On other
/// processors, this function measures the rate for 10 ms.
pub fn ticks_per_second() -> u64 {
    #[cfg(target_arch = "aarch64")]
    {
        let rate: u64;
        // SAFETY: see `read`.
        unsafe { core::arch::asm!("mrs {}, cntfrq_el0", out(reg) rate, options(nomem, nostack)) };
        rate
    }
    #[cfg(not(target_arch = "aarch64"))]
    {
        measured()
    }
}

#[cfg(not(target_arch = "aarch64"))]
fn measured() -> u64 {
    let (start, first) = simultaneous();
    std::thread::sleep(CALIBRATION);
    let (end, last) = simultaneous();
    let nanoseconds = (end - start).as_nanos().max(1);
    let ticks = u128::from(last.wrapping_sub(first));
    u64::try_from((ticks * 1_000_000_000 + nanoseconds / 2) / nanoseconds).unwrap_or(0)
}

/// Reads the system clock and the counter at the same moment. Makes 16 attempts. Each attempt reads
/// the counter before and after it reads the system clock. Returns the result of the attempt with
/// the least time between the two readings of the counter, so that an interruption does not distort
/// the result.
#[cfg(any(test, not(target_arch = "aarch64")))]
fn simultaneous() -> (Instant, u64) {
    let try_once = || {
        let before = read();
        let time = Instant::now();
        let after = read();
        (after.wrapping_sub(before), time, before.wrapping_add(after.wrapping_sub(before) / 2))
    };
    let narrowest = (0..16).map(|_| try_once()).min_by_key(|(width, _, _)| *width);
    narrowest.map_or_else(|| (Instant::now(), read()), |(_, time, counter)| (time, counter))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_invariant_counter_agrees_with_the_system_clock() {
        if !is_invariant() {
            return;
        }
        let rate = ticks_per_second();
        let (start, first) = simultaneous();
        std::thread::sleep(std::time::Duration::from_millis(30));
        let (end, last) = simultaneous();
        let expected = (end - start).as_secs_f64();
        let found = (last - first) as f64 / rate as f64;
        // Linux may adjust the rate of the system clock between the readings, by at most 10 %.
        assert!((found / expected - 1.0).abs() < 0.2, "{found} s instead of {expected} s");
    }
}
