//! Waiting and waking: at words of shared memory, for the end of processes, between threads.
//!
//! The module holds `unsafe` code because system calls are foreign functions. What says so may be
//! called by a signal handler: it allocates nothing and takes no lock.
#![allow(unsafe_code)]

use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::sync::atomic::{AtomicU64, Ordering};

use super::{Errno, checked, errno, keeping_errno};

/// Wakes all who sleep at the low half of a word. For signal handlers.
pub(crate) fn wake(word: &AtomicU64) {
    word.fetch_add(1, Ordering::SeqCst);
    keeping_errno(|| {
        let all = i32::MAX;
        // SAFETY: the kernel uses the address of the word only to find who sleeps there.
        unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), libc::FUTEX_WAKE, all) };
    });
}

/// Sleeps while the low half of a word is `seen`, until somebody wakes it, a handler runs, or a time of
/// `CLOCK_REALTIME` is reached.
pub(crate) fn wait(word: &AtomicU64, seen: u32, until: Option<u64>) -> Result<(), Errno> {
    let time = until.map(|until| libc::timespec {
        tv_sec: (until / 1_000_000_000) as _,
        tv_nsec: (until % 1_000_000_000) as libc::c_long,
    });
    let time = time.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
    let (kind, all) = (libc::FUTEX_WAIT_BITSET | libc::FUTEX_CLOCK_REALTIME, u32::MAX);
    let none = std::ptr::null::<u32>();
    // SAFETY: the word outlives the call, and the kernel only reads it and the time.
    let result =
        unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), kind, seen, time, none, all) };
    if result == 0 { Ok(()) } else { Err(errno()) }
}

const MEMBARRIER_GLOBAL_EXPEDITED: libc::c_int = 1 << 1;

const MEMBARRIER_REGISTER_GLOBAL_EXPEDITED: libc::c_int = 1 << 2;

/// Lets [`order_recorders`] reach this process; returns false if the kernel refuses that. For signal handlers.
pub(crate) fn register_recorder() -> bool {
    // SAFETY: takes numbers only.
    unsafe { libc::syscall(libc::SYS_membarrier, MEMBARRIER_REGISTER_GLOBAL_EXPEDITED, 0, 0) == 0 }
}

/// What recording threads of processes that registered have stored is seen afterwards, and they see what was
/// stored before; returns false if the kernel refuses that.
pub(crate) fn order_recorders() -> bool {
    // SAFETY: as above.
    unsafe { libc::syscall(libc::SYS_membarrier, MEMBARRIER_GLOBAL_EXPEDITED, 0, 0) == 0 }
}

/// Longer than any processor keeps a store to itself.
const GRACE: std::time::Duration = std::time::Duration::from_millis(10);

/// Waits until what threads stored is seen, and what was stored before is seen by them.
pub(crate) fn outwait_stores() {
    std::thread::sleep(GRACE);
}

/// Runs something in a thread that gets no signals: they are the program's.
pub(crate) fn without_signals<R>(work: impl FnOnce() -> R) -> R {
    // SAFETY: sets of signals are plain memory that the calls fill and read.
    unsafe {
        let (mut all, mut before): (libc::sigset_t, libc::sigset_t) =
            (std::mem::zeroed(), std::mem::zeroed());
        libc::sigfillset(&mut all);
        libc::pthread_sigmask(libc::SIG_SETMASK, &all, &mut before);
        let result = work();
        libc::pthread_sigmask(libc::SIG_SETMASK, &before, std::ptr::null_mut());
        result
    }
}

/// What one thread tells another through a descriptor: nothing, or that it is to stop. Unlike a pipe it
/// sends no signal when nobody listens.
pub(crate) fn new_signpost() -> Result<OwnedFd, Errno> {
    // SAFETY: takes numbers only; the descriptor that comes back is nobody else's.
    unsafe { checked(libc::eventfd(0, libc::EFD_CLOEXEC)).map(|fd| OwnedFd::from_raw_fd(fd)) }
}

/// Tells it.
pub(crate) fn raise(signpost: BorrowedFd<'_>) {
    // SAFETY: takes numbers only.
    unsafe { libc::eventfd_write(signpost.as_raw_fd(), 1) };
}

/// Waits until a process ends, or `stop` is raised; whether it ended. `None` where the kernel
/// does not tell.
pub(crate) fn wait_for_end(process: u32, stop: BorrowedFd<'_>) -> Option<bool> {
    // SAFETY: takes numbers, and an array of two entries that live long enough.
    unsafe {
        let pid = libc::syscall(libc::SYS_pidfd_open, process, 0);
        let pid = OwnedFd::from_raw_fd(checked(pid as libc::c_int).ok()?);
        let entry = |fd: libc::c_int| libc::pollfd { fd, events: libc::POLLIN, revents: 0 };
        let mut entries = [entry(pid.as_raw_fd()), entry(stop.as_raw_fd())];
        while libc::poll(entries.as_mut_ptr(), 2, -1) < 0 && errno() == libc::EINTR {}
        Some(entries[1].revents == 0)
    }
}
