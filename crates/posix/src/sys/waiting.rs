//! Lets threads wait for a change of a word in shared memory, for the end of a process, or for a
//! request from another thread. Also executes memory barriers and blocks signals.
//!
//! Unsafe: system calls are foreign functions. A function marked async-signal-safe allocates
//! nothing and takes no lock.
#![allow(unsafe_code)]

use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::sync::atomic::{AtomicU64, Ordering};

use super::{Errno, checked, errno, keeping_errno};

/// Wakes all threads that are sleeping on the low half of a word. Async-signal-safe.
pub(crate) fn wake(word: &AtomicU64) {
    word.fetch_add(1, Ordering::SeqCst);
    keeping_errno(|| {
        let all = i32::MAX;
        // SAFETY: the kernel uses the word's address only to find sleeping threads.
        unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), libc::FUTEX_WAKE, all) };
    });
}

/// Sleeps if the low half of a word equals `seen`. The sleep ends when another thread calls
/// [`wake`], when a signal handler runs, or at the time `until` (nanoseconds of `CLOCK_REALTIME`).
pub(crate) fn wait(word: &AtomicU64, seen: u32, until: Option<u64>) -> Result<(), Errno> {
    let time = until.map(|until| libc::timespec {
        tv_sec: (until / 1_000_000_000) as _,
        tv_nsec: (until % 1_000_000_000) as libc::c_long,
    });
    let time = time.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
    let (kind, all) = (libc::FUTEX_WAIT_BITSET | libc::FUTEX_CLOCK_REALTIME, u32::MAX);
    let none = std::ptr::null::<u32>();
    // SAFETY: the word outlives the call, and the kernel only reads the word and the time.
    let result =
        unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), kind, seen, time, none, all) };
    if result == 0 { Ok(()) } else { Err(errno()) }
}

const MEMBARRIER_GLOBAL_EXPEDITED: libc::c_int = 1 << 1;

const MEMBARRIER_REGISTER_GLOBAL_EXPEDITED: libc::c_int = 1 << 2;

/// Registers this process for [`order_recorders`]. Returns false if the kernel does not support
/// this. Async-signal-safe.
pub(crate) fn register_recorder() -> bool {
    // SAFETY: the call takes only numbers.
    unsafe { libc::syscall(libc::SYS_membarrier, MEMBARRIER_REGISTER_GLOBAL_EXPEDITED, 0, 0) == 0 }
}

/// Executes a memory barrier in the recording threads of all registered processes. Returns false if
/// the kernel does not support this.
pub(crate) fn order_recorders() -> bool {
    // SAFETY: the call takes only numbers.
    unsafe { libc::syscall(libc::SYS_membarrier, MEMBARRIER_GLOBAL_EXPEDITED, 0, 0) == 0 }
}

/// A time that exceeds the longest delay of a store in any processor.
const STORE_DELAY: std::time::Duration = std::time::Duration::from_millis(10);

/// Waits until earlier stores are visible to all threads, as a substitute for a barrier.
pub(crate) fn outwait_stores() {
    std::thread::sleep(STORE_DELAY);
}

/// Runs `work` with all signals blocked except SIGBUS, which the handler of guarded mappings needs.
/// The same signals are blocked in threads that `work` creates.
pub(crate) fn without_signals<R>(work: impl FnOnce() -> R) -> R {
    // SAFETY: signal sets are plain memory, which the calls fill and read.
    unsafe {
        let (mut all, mut before): (libc::sigset_t, libc::sigset_t) =
            (std::mem::zeroed(), std::mem::zeroed());
        libc::sigfillset(&mut all);
        libc::sigdelset(&mut all, libc::SIGBUS);
        libc::pthread_sigmask(libc::SIG_SETMASK, &all, &mut before);
        let result = work();
        libc::pthread_sigmask(libc::SIG_SETMASK, &before, std::ptr::null_mut());
        result
    }
}

/// Creates a descriptor with which one thread can send a stop request to another. Unlike a write to
/// a pipe, the request raises no signal if the other thread has ended.
pub(crate) fn new_event_fd() -> Result<OwnedFd, Errno> {
    // SAFETY: the call takes only numbers; nothing else owns the new descriptor.
    unsafe { checked(libc::eventfd(0, libc::EFD_CLOEXEC)).map(|fd| OwnedFd::from_raw_fd(fd)) }
}

/// Sends the stop request to the other thread.
pub(crate) fn raise(event_fd: BorrowedFd<'_>) {
    // SAFETY: the call takes only numbers.
    unsafe { libc::eventfd_write(event_fd.as_raw_fd(), 1) };
}

/// Waits until a process ends or `stop` is raised. Returns true if the process has ended, or `None`
/// if the kernel cannot wait for it.
pub(crate) fn wait_for_end(process: u32, stop: BorrowedFd<'_>) -> Option<bool> {
    // SAFETY: the calls take numbers, and an array of two entries that outlives the call.
    unsafe {
        let pid = libc::syscall(libc::SYS_pidfd_open, process, 0);
        let pid = OwnedFd::from_raw_fd(checked(pid as libc::c_int).ok()?);
        let entry = |fd: libc::c_int| libc::pollfd { fd, events: libc::POLLIN, revents: 0 };
        let mut entries = [entry(pid.as_raw_fd()), entry(stop.as_raw_fd())];
        while libc::poll(entries.as_mut_ptr(), 2, -1) < 0 && errno() == libc::EINTR {}
        Some(entries[1].revents == 0)
    }
}
