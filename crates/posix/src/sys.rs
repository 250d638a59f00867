//! What is asked of Linux: who runs, whether somebody lives, time; `files`, `memory`, `waiting` hold the rest.
//!
//! The module holds `unsafe` code because system calls are foreign functions. What says so may be
//! called by a signal handler: it allocates nothing and takes no lock.
#![allow(unsafe_code)]

mod files;
mod memory;
mod waiting;

pub(crate) use files::*;
pub(crate) use memory::*;
pub(crate) use waiting::*;

/// An error number of the system.
pub(crate) type Errno = i32;

/// The error number of the call that failed last.
pub(crate) fn errno() -> Errno {
    // SAFETY: the place of errno is there as long as the thread is.
    unsafe { *libc::__errno_location() }
}

/// Runs something that leaves errno as it was. For signal handlers, if that is.
pub(crate) fn keeping_errno<R>(work: impl FnOnce() -> R) -> R {
    let before = errno();
    let result = work();
    // SAFETY: as above.
    unsafe { *libc::__errno_location() = before };
    result
}

fn checked(result: libc::c_int) -> Result<libc::c_int, Errno> {
    if result < 0 { Err(errno()) } else { Ok(result) }
}

/// This process. For signal handlers.
pub(crate) fn process() -> u32 {
    // SAFETY: takes nothing, touches nothing.
    unsafe { libc::getpid() as u32 }
}

/// The kernel's number of the calling thread. For signal handlers.
pub(crate) fn thread() -> u32 {
    // SAFETY: as above.
    unsafe { libc::syscall(libc::SYS_gettid) as u32 }
}

/// The calling thread as `pthread_t`. For signal handlers.
#[inline]
pub(crate) fn pthread() -> u64 {
    // SAFETY: as above.
    unsafe { libc::pthread_self() as u64 }
}

/// The effective user. For signal handlers.
pub(crate) fn user() -> u32 {
    // SAFETY: as above.
    unsafe { libc::geteuid() }
}

/// Whether the program has more rights than who started it, so that its environment is not trusted.
pub(crate) fn is_privileged_program() -> bool {
    // SAFETY: takes a number, reads what the kernel left at start.
    unsafe { libc::getauxval(libc::AT_SECURE) != 0 }
}

/// Whether a thread lives, as far as this process may know. For signal handlers.
pub(crate) fn lives(process: u32, thread: u32) -> bool {
    keeping_errno(|| {
        // SAFETY: signal 0 is not delivered; the call only looks.
        let result = unsafe { libc::syscall(libc::SYS_tgkill, process, thread, 0) };
        result == 0 || errno() != libc::ESRCH
    })
}

/// Whether the calling thread runs on its signal stack. For signal handlers.
pub(crate) fn on_signal_stack() -> bool {
    // SAFETY: the call fills the structure, which is plain memory.
    unsafe {
        let mut stack: libc::stack_t = std::mem::zeroed();
        libc::sigaltstack(std::ptr::null(), &raw mut stack) == 0
            && stack.ss_flags & libc::SS_ONSTACK != 0
    }
}

/// Nanoseconds since 1970. For signal handlers.
#[inline]
pub(crate) fn realtime() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the call stores one `timespec` at the given place.
    unsafe { libc::clock_gettime(libc::CLOCK_REALTIME, &mut time) };
    (time.tv_sec as u64).wrapping_mul(1_000_000_000).wrapping_add(time.tv_nsec as u64)
}

/// Nanoseconds since the machine started, and ticks of a process's start in a second.
pub(crate) fn since_boot() -> (u64, u64) {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the calls store one `timespec` at the given place, and take a number.
    let ticks = unsafe {
        libc::clock_gettime(libc::CLOCK_BOOTTIME, &mut time);
        libc::sysconf(libc::_SC_CLK_TCK)
    };
    let since = time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64;
    (since, u64::try_from(ticks).unwrap_or(100).max(1))
}

/// Resolution of that clock in nanoseconds.
pub(crate) fn resolution() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 1 };
    // SAFETY: as above.
    unsafe { libc::clock_getres(libc::CLOCK_REALTIME, &mut time) };
    (time.tv_sec as u64).wrapping_mul(1_000_000_000).wrapping_add(time.tv_nsec as u64)
}

/// Bytes of memory of the machine.
pub(crate) fn memory() -> u64 {
    // SAFETY: a structure of numbers, all zero, that the call fills.
    unsafe {
        let mut info: libc::sysinfo = std::mem::zeroed();
        libc::sysinfo(&mut info);
        // `totalram` has the machine's width.
        #[allow(clippy::unnecessary_cast)]
        (info.totalram as u64).saturating_mul(u64::from(info.mem_unit))
    }
}

/// A number that nobody else has, not 0. For signal handlers.
pub(crate) fn nonce() -> u64 {
    let mut bytes = [0_u8; 8];
    // SAFETY: the call stores at most 8 bytes at the given place.
    let got = unsafe { libc::syscall(libc::SYS_getrandom, bytes.as_mut_ptr(), 8, 0) };
    let drawn =
        if got == 8 { u64::from_le_bytes(bytes) } else { realtime() ^ u64::from(thread()) << 40 };
    drawn | 1
}

/// Runs functions around every later fork: before it, and in the child.
pub(crate) fn at_fork(before: extern "C" fn(), child: extern "C" fn()) {
    // SAFETY: the functions are of this program and take nothing.
    unsafe { libc::pthread_atfork(Some(before), None, Some(child)) };
}
