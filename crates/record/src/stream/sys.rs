//! What the engine asks of Linux: who runs, whether somebody lives, time, waiting and waking.
//!
//! The module holds `unsafe` code because system calls are foreign functions. Every function here
//! may be called by a signal handler unless it says otherwise.
#![allow(unsafe_code)]

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Whether the program has more rights than its caller, whose environment it cannot trust then.
pub(super) fn is_privileged_program() -> bool {
    // SAFETY: takes a number, reads what the kernel left at start.
    unsafe { libc::getauxval(libc::AT_SECURE) != 0 }
}

/// The calling thread's process and thread ids.
pub(super) fn ids() -> (u32, u32) {
    // SAFETY: neither call has arguments or touches memory.
    let (process, thread) = unsafe { (libc::getpid(), libc::syscall(libc::SYS_gettid)) };
    (process as u32, thread as u32)
}

/// The name of the calling thread, the rest 0.
pub(super) fn thread_name() -> [u8; 16] {
    let mut name = [0_u8; 16];
    // SAFETY: the call stores at most 16 bytes, the last of them 0, at the given place.
    unsafe { libc::prctl(libc::PR_GET_NAME, name.as_mut_ptr()) };
    name
}

/// Whether a thread still lives, as far as this process may know.
pub(super) fn lives(process: u32, thread: u32) -> bool {
    let (own, _) = ids();
    let (process, thread) = (process as libc::pid_t, thread as libc::pid_t);
    let none: libc::c_int = 0;
    // SAFETY: signal 0 is not delivered; the calls only look.
    let result = unsafe {
        let saved = *libc::__errno_location();
        let result = if process as u32 == own {
            libc::syscall(libc::SYS_tgkill, process, thread, none)
        } else {
            libc::c_long::from(libc::kill(process, none))
        };
        let gone = result != 0 && *libc::__errno_location() == libc::ESRCH;
        *libc::__errno_location() = saved;
        gone
    };
    !result
}

/// Whether the calling thread runs on its signal stack.
pub(super) fn on_signal_stack() -> bool {
    // SAFETY: the call fills the structure, which is plain memory; errno's place is there as long as the thread.
    unsafe {
        let saved = *libc::__errno_location();
        let mut stack: libc::stack_t = std::mem::zeroed();
        let asked = libc::sigaltstack(std::ptr::null(), &raw mut stack) == 0;
        *libc::__errno_location() = saved;
        asked && stack.ss_flags & libc::SS_ONSTACK != 0
    }
}

/// Nanoseconds of one of the system's clocks.
fn clock(id: libc::clockid_t) -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the call stores one `timespec` at the given place.
    unsafe { libc::clock_gettime(id, &mut time) };
    (time.tv_sec as u64).wrapping_mul(1_000_000_000).wrapping_add(time.tv_nsec as u64)
}

/// Nanoseconds of the monotonic clock.
#[inline]
pub(super) fn monotonic() -> u64 {
    clock(libc::CLOCK_MONOTONIC)
}

/// Nanoseconds since 1970.
pub(super) fn realtime() -> u64 {
    clock(libc::CLOCK_REALTIME)
}

/// The low half of a word, where a futex lies on a little-endian machine.
fn futex_of(word: &AtomicU64) -> *mut u32 {
    word.as_ptr().cast()
}

/// Sleeps while the low half of a word is `seen`, until somebody wakes it or the time is over. Not
/// for signal handlers.
pub(super) fn wait(word: &AtomicU64, seen: u32, time: Duration) {
    let time = libc::timespec {
        tv_sec: time.as_secs().min(3600) as _,
        // Below 2^30, so that a `c_long` of 32 bits holds it.
        tv_nsec: time.subsec_nanos() as libc::c_long,
    };
    // SAFETY: the word outlives the call, the kernel only reads it, and `time` is a `timespec`.
    unsafe {
        libc::syscall(libc::SYS_futex, futex_of(word), libc::FUTEX_WAIT, seen, &raw const time)
    };
}

/// Wakes all who sleep at a word.
pub(super) fn wake(word: &AtomicU64) {
    // Relaxed: the futex call orders it for those who sleep.
    word.fetch_add(1, Ordering::Relaxed);
    // SAFETY: the kernel uses the address of the word only to find who sleeps there.
    unsafe { libc::syscall(libc::SYS_futex, futex_of(word), libc::FUTEX_WAKE, i32::MAX) };
}

/// Runs a function in the child of every later fork, in the thread that forked. Not for signal
/// handlers.
pub(super) fn at_fork_in_child(function: extern "C" fn()) {
    // SAFETY: the function is one of this program and takes nothing.
    unsafe { libc::pthread_atfork(None, None, Some(function)) };
}
