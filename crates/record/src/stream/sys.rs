//! System calls used by streams: ids, liveness of threads, time, waiting and waking, and the locks
//! that show that a stream is in use.
//!
//! A lock belongs to the open file. The lock ends when all processes have closed this open file and
//! removed their mappings of it. Children of a fork share the lock, but programs that a process
//! executes do not.
//!
//! Unsafe: system calls are foreign functions. Every function here is safe to call from a signal
//! handler unless its comment says otherwise.
#![allow(unsafe_code)]

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Returns true if the program has more privileges than its caller; it must then not trust the
/// environment.
pub(super) fn is_privileged_program() -> bool {
    // SAFETY: the call takes a number and returns a value that the kernel stored when the program
    // started.
    unsafe { libc::getauxval(libc::AT_SECURE) != 0 }
}

/// Returns the process id and the thread id of the caller.
pub(super) fn ids() -> (u32, u32) {
    // SAFETY: neither call takes arguments or touches memory.
    let (process, thread) = unsafe { (libc::getpid(), libc::syscall(libc::SYS_gettid)) };
    (process as u32, thread as u32)
}

/// Returns the name of the calling thread, padded with 0.
pub(super) fn thread_name() -> [u8; 16] {
    let mut name = [0_u8; 16];
    // SAFETY: the call stores at most 16 bytes at the given address, the last of them 0.
    unsafe { libc::prctl(libc::PR_GET_NAME, name.as_mut_ptr()) };
    name
}

/// Returns false if the thread is known to have ended. For a thread of another process, checks only
/// whether the process exists.
pub(super) fn is_alive(process: u32, thread: u32) -> bool {
    let (own, _) = ids();
    let (process, thread) = (process as libc::pid_t, thread as libc::pid_t);
    let none: libc::c_int = 0;
    // SAFETY: signal 0 is never delivered; the calls only check for existence.
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

/// Returns the time of a system clock in nanoseconds.
fn clock(id: libc::clockid_t) -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the call stores one `timespec` at the given address.
    unsafe { libc::clock_gettime(id, &mut time) };
    (time.tv_sec as u64).wrapping_mul(1_000_000_000).wrapping_add(time.tv_nsec as u64)
}

/// Returns the time of the monotonic clock in nanoseconds.
#[inline]
pub(super) fn monotonic() -> u64 {
    clock(libc::CLOCK_MONOTONIC)
}

/// Returns the time since 1970-01-01 UTC in nanoseconds.
pub(super) fn realtime() -> u64 {
    clock(libc::CLOCK_REALTIME)
}

/// Returns the address of a word's low half, which is a futex on a little-endian machine.
fn futex_of(word: &AtomicU64) -> *mut u32 {
    word.as_ptr().cast()
}

/// Sleeps while the low half of a word equals `seen`, until a wake or a timeout. Not safe to call
/// from a signal handler.
pub(super) fn wait(word: &AtomicU64, seen: u32, time: Duration) {
    let time = libc::timespec {
        tv_sec: time.as_secs().min(3600) as _,
        // Less than 2^30, so a 32-bit `c_long` can hold it.
        tv_nsec: time.subsec_nanos() as libc::c_long,
    };
    // SAFETY: the word outlives the call, the kernel only reads it, and `time` is a valid
    // `timespec`.
    unsafe {
        libc::syscall(libc::SYS_futex, futex_of(word), libc::FUTEX_WAIT, seen, &raw const time)
    };
}

/// Wakes all threads that are sleeping on a word.
pub(super) fn wake(word: &AtomicU64) {
    // Relaxed: the futex call orders the change before the wake-up of the sleeping threads.
    word.fetch_add(1, Ordering::Relaxed);
    // SAFETY: the kernel uses the word's address only to find the threads sleeping on it.
    unsafe { libc::syscall(libc::SYS_futex, futex_of(word), libc::FUTEX_WAKE, i32::MAX) };
}

/// Registers a function that runs in the child process after every later fork. Not safe to call
/// from a signal handler.
pub(super) fn at_fork_in_child(function: extern "C" fn()) {
    // SAFETY: the function belongs to this program and takes no arguments.
    unsafe { libc::pthread_atfork(None, None, Some(function)) };
}

/// The byte of a stream's file on which each recorder holds a shared lock.
const RECORDERS: libc::off_t = 0;

/// The byte of a stream's file that a starter locks while it moves the file (see `rotate`).
const STARTERS: libc::off_t = 1;

/// Locks, unlocks or queries one byte with the `fcntl` command `call`. A query returns the kind of
/// a conflicting lock, or `F_UNLCK` if there is none. Other calls return `kind`. Not safe to call
/// from a signal handler.
fn lock(
    file: &File,
    call: libc::c_int,
    kind: libc::c_int,
    byte: libc::off_t,
) -> io::Result<libc::c_int> {
    // SAFETY: zeros are a valid `flock`, which contains only integers. Locks of open file
    // descriptions require 0 as the process id.
    let mut lock: libc::flock = unsafe { std::mem::zeroed() };
    lock.l_type = kind as libc::c_short;
    lock.l_whence = libc::SEEK_SET as libc::c_short;
    lock.l_start = byte;
    lock.l_len = 1;
    loop {
        // SAFETY: the descriptor is open, and the kernel accesses only the `flock`.
        if unsafe { libc::fcntl(file.as_raw_fd(), call, &raw mut lock) } == 0 {
            return Ok(libc::c_int::from(lock.l_type));
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
}

/// Marks a stream's file as in use until `file` and all its mappings are closed.
pub(super) fn lock_for_recorder(file: &File) {
    // On a file system without locks, `is_recorded` fails, so streams on it are never moved.
    let _ = lock(file, libc::F_OFD_SETLK, libc::F_RDLCK, RECORDERS);
}

/// Returns true if the file is marked as in use through another open file description.
///
/// # Errors
/// Returns an error if the file system has no locks.
pub(super) fn is_recorded(file: &File) -> io::Result<bool> {
    let found = lock(file, libc::F_OFD_GETLK, libc::F_WRLCK, RECORDERS)?;
    Ok(found != libc::F_UNLCK)
}

/// Waits until no other starter is moving this file, and keeps other starters out as long as `file`
/// is open.
///
/// # Errors
/// Returns an error if the file system has no locks.
pub(super) fn lock_for_starter(file: &File) -> io::Result<()> {
    lock(file, libc::F_OFD_SETLKW, libc::F_WRLCK, STARTERS).map(|_| ())
}
