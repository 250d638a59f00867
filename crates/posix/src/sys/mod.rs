//! Linux system calls: identity, liveness, time. `files`, `memory` and `waiting` contain the other
//! calls. `guard` contains a signal handler.
//!
//! Unsafe: system calls are foreign functions. A function marked async-signal-safe allocates
//! nothing and takes no lock.
#![allow(unsafe_code)]

mod files;
mod guard;
mod memory;
mod waiting;

pub(crate) use files::*;
pub(crate) use memory::*;
pub(crate) use waiting::*;

/// A system error number.
pub(crate) type Errno = i32;

/// Returns the error number of the last failed call.
pub(crate) fn errno() -> Errno {
    // SAFETY: the address of errno is valid as long as the thread lives.
    unsafe { *libc::__errno_location() }
}

/// Runs `work`, then restores errno. Async-signal-safe if `work` is.
pub(crate) fn keeping_errno<R>(work: impl FnOnce() -> R) -> R {
    let before = errno();
    let result = work();
    // SAFETY: the address of errno is valid as long as the thread lives.
    unsafe { *libc::__errno_location() = before };
    result
}

fn checked(result: libc::c_int) -> Result<libc::c_int, Errno> {
    if result < 0 { Err(errno()) } else { Ok(result) }
}

/// Returns true if `error` means that this process or the machine has too many open files. The
/// process may close some of them later.
pub(crate) fn lacks_descriptors(error: Errno) -> bool {
    matches!(error, libc::EMFILE | libc::ENFILE)
}

/// Returns the id of this process. Async-signal-safe.
pub(crate) fn process() -> u32 {
    // SAFETY: the call takes no arguments and accesses no memory.
    unsafe { libc::getpid() as u32 }
}

/// Returns the id of the calling thread in the kernel. Async-signal-safe.
pub(crate) fn thread() -> u32 {
    // SAFETY: as above.
    unsafe { libc::syscall(libc::SYS_gettid) as u32 }
}

/// Returns the calling thread as `pthread_t`. Async-signal-safe.
#[inline]
pub(crate) fn pthread() -> u64 {
    // SAFETY: as above.
    unsafe { libc::pthread_self() as u64 }
}

/// Returns the effective user id. Async-signal-safe.
pub(crate) fn user() -> u32 {
    // SAFETY: as above.
    unsafe { libc::geteuid() }
}

/// Returns true if the program has more privileges than the user who started it; in that case the
/// environment must not be trusted.
pub(crate) fn is_privileged_program() -> bool {
    // SAFETY: the call takes a number and returns a value that the kernel stored at program start.
    unsafe { libc::getauxval(libc::AT_SECURE) != 0 }
}

/// Returns false if a thread is known to have ended, otherwise true. Async-signal-safe.
pub(crate) fn is_alive(process: u32, thread: u32) -> bool {
    keeping_errno(|| {
        // SAFETY: signal 0 is never delivered; the call only checks for existence.
        let result = unsafe { libc::syscall(libc::SYS_tgkill, process, thread, 0) };
        result == 0 || errno() != libc::ESRCH
    })
}

/// Returns the current time in nanoseconds since 1970-01-01 UTC. Async-signal-safe.
#[inline]
pub(crate) fn realtime() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the call stores one `timespec` at the given address.
    unsafe { libc::clock_gettime(libc::CLOCK_REALTIME, &mut time) };
    (time.tv_sec as u64).wrapping_mul(1_000_000_000).wrapping_add(time.tv_nsec as u64)
}

/// Returns the time since boot in nanoseconds, and the number of clock ticks per second. `/proc`
/// shows the start times of processes in clock ticks.
pub(crate) fn since_boot() -> (u64, u64) {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: one call stores a `timespec` at the given address, and the other takes only a number.
    let ticks = unsafe {
        libc::clock_gettime(libc::CLOCK_BOOTTIME, &mut time);
        libc::sysconf(libc::_SC_CLK_TCK)
    };
    let since = time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64;
    (since, u64::try_from(ticks).unwrap_or(100).max(1))
}

/// Returns the resolution of `CLOCK_REALTIME` in nanoseconds.
pub(crate) fn resolution() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 1 };
    // SAFETY: as above.
    unsafe { libc::clock_getres(libc::CLOCK_REALTIME, &mut time) };
    (time.tv_sec as u64).wrapping_mul(1_000_000_000).wrapping_add(time.tv_nsec as u64)
}

/// Returns the machine's memory in bytes.
pub(crate) fn memory() -> u64 {
    // SAFETY: the structure contains only integers, for which zero is valid, and the call fills it.
    unsafe {
        let mut info: libc::sysinfo = std::mem::zeroed();
        libc::sysinfo(&mut info);
        #[allow(clippy::unnecessary_cast, reason = "`totalram` has the machine's word size")]
        (info.totalram as u64).saturating_mul(u64::from(info.mem_unit))
    }
}

/// Returns a random non-zero number. Async-signal-safe.
pub(crate) fn nonce() -> u64 {
    let mut bytes = [0_u8; 8];
    // SAFETY: the call stores at most 8 bytes at the given address.
    let got = unsafe { libc::syscall(libc::SYS_getrandom, bytes.as_mut_ptr(), 8, 0) };
    let drawn =
        if got == 8 { u64::from_le_bytes(bytes) } else { realtime() ^ u64::from(thread()) << 40 };
    drawn | 1
}

/// Registers two functions: `before` runs before every later fork, and `child` runs in the child
/// process after the fork.
pub(crate) fn at_fork(before: extern "C" fn(), child: extern "C" fn()) {
    // SAFETY: the functions are part of this program and take no arguments.
    unsafe { libc::pthread_atfork(Some(before), None, Some(child)) };
}
