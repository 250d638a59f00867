//! The processor's own counter: whether it can be a clock, and how fast it is.
//!
//! The module holds `unsafe` code because reading the counter is an instruction that no safe function
//! offers.
#![allow(unsafe_code)]

#[cfg(not(target_arch = "aarch64"))]
use std::time::Duration;
#[cfg(any(test, not(target_arch = "aarch64")))]
use std::time::Instant;

/// How long the counter is compared with the system's clock. Both are read to within some ten
/// nanoseconds, so the rate is right to some millionths.
#[cfg(not(target_arch = "aarch64"))]
const CALIBRATION: Duration = Duration::from_millis(10);

/// Reads the counter: a few nanoseconds, no system call.
///
/// The reading is not ordered with instructions around it, which may move it by some nanoseconds.
#[inline(always)]
pub fn read() -> u64 {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: the instruction is part of every x86-64 processor and touches no memory. A kernel
    // may forbid it to programs (PR_SET_TSC); the program then ends with a signal, it does not go on
    // with wrong memory.
    unsafe {
        core::arch::x86_64::_rdtsc()
    }
    #[cfg(target_arch = "aarch64")]
    {
        let counter: u64;
        // SAFETY: reading the virtual counter touches neither memory nor flags, and Linux lets
        // programs do it.
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

/// Whether the counter runs at one rate whatever the processor does, and is the same on all cores.
///
/// On x86-64 this is the processor's invariant-TSC flag, and that the kernel trusts it as well: it
/// takes other clocks where the cores' counters differ.
pub fn is_invariant() -> bool {
    #[cfg(target_arch = "x86_64")]
    {
        use core::arch::x86_64::__cpuid;
        let highest = __cpuid(0x8000_0000).eax;
        let invariant = highest >= 0x8000_0007 && __cpuid(0x8000_0007).edx >> 8 & 1 == 1;
        invariant && trusted_by_the_kernel()
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        cfg!(target_arch = "aarch64")
    }
}

/// Linux says which clocks it finds usable; it strikes the counter off this list where it drifts.
#[cfg(target_arch = "x86_64")]
fn trusted_by_the_kernel() -> bool {
    let path = "/sys/devices/system/clocksource/clocksource0/available_clocksource";
    // Where nobody says anything, the processor's word has to do.
    std::fs::read_to_string(path).map_or(true, |list| list.split(' ').any(|c| c.trim() == "tsc"))
}

/// Ticks a second: as the processor says where it does, measured over 10 ms elsewhere.
pub fn ticks_per_second() -> u64 {
    #[cfg(target_arch = "aarch64")]
    {
        let rate: u64;
        // SAFETY: as in `read`.
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

/// Both clocks at one moment: the narrowest of some tries, so that an interruption between the two
/// readings does not count.
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
        // Somebody may adjust the clock between the two, which Linux does by a tenth at most.
        assert!((found / expected - 1.0).abs() < 0.2, "{found} s instead of {expected} s");
    }
}
