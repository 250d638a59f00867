//! What is asked of Linux: files beside each other in a directory, shared memory, time, waiting,
//! whether somebody lives.
//!
//! The module holds `unsafe` code because system calls are foreign functions. What says so may be
//! called by a signal handler: it allocates nothing and takes no lock.
#![allow(unsafe_code)]

use std::ffi::CStr;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering};

/// An error number of the system.
pub(crate) type Errno = i32;

/// Bytes of a page at least.
pub(crate) const PAGE: usize = 4096;

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

/// Its parent. For signal handlers.
pub(crate) fn parent() -> u32 {
    // SAFETY: as above.
    unsafe { libc::getppid() as u32 }
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

/// Whether a process lives, as far as this one may know. For signal handlers.
pub(crate) fn process_lives(process: u32) -> bool {
    keeping_errno(|| {
        // SAFETY: signal 0 is not delivered; the call only looks.
        let result = unsafe { libc::kill(process as libc::pid_t, 0) };
        result == 0 || errno() != libc::ESRCH
    })
}

/// Nanoseconds since 1970. For signal handlers.
#[inline]
pub(crate) fn realtime() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the call stores one `timespec` at the given place.
    unsafe { libc::clock_gettime(libc::CLOCK_REALTIME, &mut time) };
    (time.tv_sec as u64).wrapping_mul(1_000_000_000).wrapping_add(time.tv_nsec as u64)
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
        info.totalram.saturating_mul(u64::from(info.mem_unit))
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

/// Opens a directory that is no symbolic link. For signal handlers.
pub(crate) fn open_directory(path: &CStr) -> Result<OwnedFd, Errno> {
    let flags = libc::O_RDONLY | libc::O_DIRECTORY | libc::O_NOFOLLOW | libc::O_CLOEXEC;
    // SAFETY: the path ends with a null; the descriptor that comes back is nobody else's.
    unsafe { checked(libc::open(path.as_ptr(), flags)).map(|fd| OwnedFd::from_raw_fd(fd)) }
}

/// Makes a directory for its owner alone. For signal handlers.
pub(crate) fn make_directory(path: &CStr) -> Result<(), Errno> {
    // SAFETY: the path ends with a null.
    unsafe { checked(libc::mkdir(path.as_ptr(), 0o700)).map(|_| ()) }
}

/// Opens a file of a directory, or makes a new one with `O_CREAT | O_EXCL`. For signal handlers.
pub(crate) fn open_at(
    directory: BorrowedFd<'_>,
    name: &CStr,
    flags: libc::c_int,
) -> Result<OwnedFd, Errno> {
    let flags = flags | libc::O_NOFOLLOW | libc::O_CLOEXEC | libc::O_NONBLOCK;
    // SAFETY: the name ends with a null; the descriptor that comes back is nobody else's.
    unsafe {
        let fd = libc::openat(directory.as_raw_fd(), name.as_ptr(), flags, 0o600);
        checked(fd).map(|fd| OwnedFd::from_raw_fd(fd))
    }
}

/// Opens what a path leads to, through `/proc` too. For signal handlers.
pub(crate) fn open(path: &CStr, flags: libc::c_int) -> Result<OwnedFd, Errno> {
    // SAFETY: the path ends with a null; the descriptor that comes back is nobody else's.
    unsafe {
        let fd = libc::open(path.as_ptr(), flags | libc::O_CLOEXEC | libc::O_NONBLOCK);
        checked(fd).map(|fd| OwnedFd::from_raw_fd(fd))
    }
}

/// Gives a file another name in the same directory, if that is free. For signal handlers.
pub(crate) fn link_at(directory: BorrowedFd<'_>, from: &CStr, to: &CStr) -> Result<(), Errno> {
    let fd = directory.as_raw_fd();
    // SAFETY: both names end with a null.
    unsafe { checked(libc::linkat(fd, from.as_ptr(), fd, to.as_ptr(), 0)).map(|_| ()) }
}

/// Removes a file. For signal handlers.
pub(crate) fn unlink_at(directory: BorrowedFd<'_>, name: &CStr) {
    // SAFETY: the name ends with a null. A file that is gone already is as good.
    unsafe { libc::unlinkat(directory.as_raw_fd(), name.as_ptr(), 0) };
}

/// What is known of an open file. For signal handlers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Facts {
    pub(crate) owner: u32,
    pub(crate) mode: u32,
    pub(crate) size: u64,
}

impl Facts {
    pub(crate) fn is_regular(&self) -> bool {
        self.mode & libc::S_IFMT == libc::S_IFREG
    }

    pub(crate) fn is_directory(&self) -> bool {
        self.mode & libc::S_IFMT == libc::S_IFDIR
    }

    pub(crate) fn is_private(&self) -> bool {
        self.mode & 0o077 == 0
    }
}

/// Owner, mode and size of an open file. For signal handlers.
pub(crate) fn facts(file: BorrowedFd<'_>) -> Result<Facts, Errno> {
    // SAFETY: a structure of numbers, all zero, that the call fills.
    unsafe {
        let mut stat: libc::stat = std::mem::zeroed();
        checked(libc::fstat(file.as_raw_fd(), &mut stat))?;
        Ok(Facts { owner: stat.st_uid, mode: stat.st_mode, size: stat.st_size as u64 })
    }
}

/// Sets the size of a file, which is filled up with zeros. For signal handlers.
pub(crate) fn resize(file: BorrowedFd<'_>, bytes: u64) -> Result<(), Errno> {
    let bytes = libc::off_t::try_from(bytes).map_err(|_| libc::EFBIG)?;
    // SAFETY: takes numbers only.
    unsafe { checked(libc::ftruncate(file.as_raw_fd(), bytes)).map(|_| ()) }
}

/// Gives a file to another user.
pub(crate) fn give(file: BorrowedFd<'_>, user: u32) -> Result<(), Errno> {
    // SAFETY: takes numbers only; the group stays as it is.
    unsafe { checked(libc::fchown(file.as_raw_fd(), user, u32::MAX)).map(|_| ()) }
}

/// Memory without a name, of a size that nobody can change afterwards.
pub(crate) fn sealed_memory(bytes: u64) -> Result<OwnedFd, Errno> {
    let flags = libc::MFD_CLOEXEC | libc::MFD_ALLOW_SEALING;
    // SAFETY: the name ends with a null; the descriptor that comes back is nobody else's.
    let file =
        unsafe { OwnedFd::from_raw_fd(checked(libc::memfd_create(c"tracewell".as_ptr(), flags))?) };
    use std::os::fd::AsFd;
    resize(file.as_fd(), bytes)?;
    let seals = libc::F_SEAL_SHRINK | libc::F_SEAL_GROW | libc::F_SEAL_SEAL;
    // SAFETY: takes numbers only.
    unsafe { checked(libc::fcntl(file.as_raw_fd(), libc::F_ADD_SEALS, seals))? };
    Ok(file)
}

/// Sees to it that the first bytes of a file have memory behind them.
pub(crate) fn reserve(file: BorrowedFd<'_>, bytes: u64) -> Result<(), Errno> {
    let bytes = libc::off_t::try_from(bytes).map_err(|_| libc::EFBIG)?;
    // SAFETY: takes numbers only.
    match unsafe { libc::posix_fallocate(file.as_raw_fd(), 0, bytes) } {
        0 | libc::EOPNOTSUPP => Ok(()),
        error => Err(error),
    }
}

/// Reads words at a place of a file; how many were whole. For signal handlers.
pub(crate) fn read_words(file: BorrowedFd<'_>, at: usize, words: &mut [u64]) -> usize {
    let (fd, bytes, offset) = (file.as_raw_fd(), size_of_val(words), (at * 8) as libc::off_t);
    // SAFETY: the call stores at most as many bytes as the words have; any bytes are words.
    let read = unsafe { libc::pread(fd, words.as_mut_ptr().cast(), bytes, offset) };
    usize::try_from(read).unwrap_or(0) / 8
}

/// Stores words at a place of a file. For signal handlers.
pub(crate) fn write_words(file: BorrowedFd<'_>, at: usize, words: &[u64]) -> Result<(), Errno> {
    let (fd, bytes, offset) = (file.as_raw_fd(), size_of_val(words), (at * 8) as libc::off_t);
    // SAFETY: the call reads as many bytes as the words have.
    let written = unsafe { libc::pwrite(fd, words.as_ptr().cast(), bytes, offset) };
    if written == bytes as isize { Ok(()) } else { Err(errno()) }
}

/// Reads bytes from where an open file stands; how many. For signal handlers.
pub(crate) fn read(file: BorrowedFd<'_>, to: &mut [u8]) -> usize {
    // SAFETY: the call stores at most as many bytes as there are.
    let read = unsafe { libc::read(file.as_raw_fd(), to.as_mut_ptr().cast(), to.len()) };
    usize::try_from(read).unwrap_or(0)
}

/// Takes the lock of an open file, which ends with it; whether that worked at once.
pub(crate) fn try_lock(file: BorrowedFd<'_>) -> bool {
    // SAFETY: takes numbers only.
    unsafe { libc::flock(file.as_raw_fd(), libc::LOCK_EX | libc::LOCK_NB) == 0 }
}

/// Gives it back.
pub(crate) fn unlock(file: BorrowedFd<'_>) {
    // SAFETY: takes numbers only.
    unsafe { libc::flock(file.as_raw_fd(), libc::LOCK_UN) };
}

/// Shared memory that stays mapped as long as the process lives. For signal handlers.
pub(crate) fn map_for_ever(file: BorrowedFd<'_>, words: usize) -> Option<&'static [AtomicU64]> {
    let start = map(Some(file), words * 8, None)?;
    // SAFETY: so many words are mapped there, page-aligned, and nobody unmaps them. Any value is an
    // `AtomicU64`, and others change them as atomics allow.
    Some(unsafe { std::slice::from_raw_parts(start.as_ptr().cast(), words) })
}

/// Maps a file shared, or private zeros without one; over pages that are mapped already, or anywhere.
fn map(
    file: Option<BorrowedFd<'_>>,
    bytes: usize,
    over: Option<NonNull<u8>>,
) -> Option<NonNull<u8>> {
    let (fd, kind) = match file {
        Some(file) => (file.as_raw_fd(), libc::MAP_SHARED),
        None => (-1, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE),
    };
    let (place, fixed) = match over {
        Some(place) => (place.as_ptr().cast(), libc::MAP_FIXED),
        None => (std::ptr::null_mut(), 0),
    };
    let access = libc::PROT_READ | libc::PROT_WRITE;
    // SAFETY: without `over` the kernel chooses a free place; with it the pages are ones that the
    // caller mapped before and that hold only words, of which any value is one.
    let start = unsafe { libc::mmap(place, bytes, access, kind | fixed, fd, 0) };
    if start == libc::MAP_FAILED { None } else { NonNull::new(start.cast()) }
}

/// A private page of zeros and behind it so many words of a file, all of which stay mapped as long as
/// the process lives. For signal handlers.
pub(crate) fn map_behind_page(file: BorrowedFd<'_>, words: usize) -> Option<NonNull<u8>> {
    let start = map(None, PAGE + words * 8, None)?;
    // SAFETY: the page is within what was mapped.
    let behind = unsafe { start.add(PAGE) };
    map(Some(file), words * 8, Some(behind))?;
    Some(start)
}

/// Puts private zeros in the place of the words behind a page; who still stores there harms nobody.
/// For signal handlers.
pub(crate) fn replace_behind_page(start: NonNull<u8>, words: usize) {
    // SAFETY: as in `map_behind_page`.
    let behind = unsafe { start.add(PAGE) };
    map(None, words * 8, Some(behind));
}

/// Takes back what [`map_behind_page`] gave and nobody has seen. For signal handlers.
///
/// # Safety
/// * Nothing in it is used afterwards.
pub(crate) unsafe fn unmap_behind_page(start: NonNull<u8>, words: usize) {
    // SAFETY: mapped with this size (caller's bullet: and not used any more).
    unsafe { libc::munmap(start.as_ptr().cast(), PAGE + words * 8) };
}

/// Private zeros that are zeros again in the child of a fork, where the kernel can do that.
/// For signal handlers.
pub(crate) fn wiped_on_fork(bytes: usize) -> Option<NonNull<u8>> {
    let start = map(None, bytes, None)?;
    // SAFETY: advice about pages that were just mapped.
    unsafe { libc::madvise(start.as_ptr().cast(), bytes, libc::MADV_WIPEONFORK) };
    Some(start)
}

/// Shared memory of a stream in its controller.
#[derive(Debug)]
pub(crate) struct Mapping {
    start: NonNull<AtomicU64>,
    words: usize,
}

// SAFETY: the pages are reached only as atomics, and they stay mapped as long as the value lives.
unsafe impl Send for Mapping {}
// SAFETY: as above.
unsafe impl Sync for Mapping {}

impl Mapping {
    /// So many words of a file.
    pub(crate) fn new(file: BorrowedFd<'_>, words: usize) -> Result<Self, Errno> {
        let start = map(Some(file), words * 8, None).ok_or(libc::ENOMEM)?;
        Ok(Self { start: start.cast(), words })
    }

    /// The words.
    pub(crate) fn words(&self) -> &[AtomicU64] {
        // SAFETY: so many words are mapped there until `drop`; any value is an `AtomicU64`. Sealed
        // memory cannot be cut off; who traces other users' processes has its word for files.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.words) }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: mapped by `new` with this size, and no reference outlives the value.
        unsafe { libc::munmap(self.start.as_ptr().cast(), self.words * 8) };
    }
}

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
        tv_sec: (until / 1_000_000_000) as libc::time_t,
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

/// Lets [`order_recorders`] reach this process. For signal handlers.
pub(crate) fn register_recorder() {
    // SAFETY: takes numbers only. Where the kernel cannot, waiting readers look by themselves.
    unsafe { libc::syscall(libc::SYS_membarrier, MEMBARRIER_REGISTER_GLOBAL_EXPEDITED, 0, 0) };
}

/// What recording threads have stored is seen afterwards, and they see what was stored before.
pub(crate) fn order_recorders() {
    // SAFETY: as above.
    unsafe { libc::syscall(libc::SYS_membarrier, MEMBARRIER_GLOBAL_EXPEDITED, 0, 0) };
}

/// Runs functions around every later fork: before it, and in the child.
pub(crate) fn at_fork(before: extern "C" fn(), child: extern "C" fn()) {
    // SAFETY: the functions are of this program and take nothing.
    unsafe { libc::pthread_atfork(Some(before), None, Some(child)) };
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

/// What may be done with a descriptor, with a copy of it.
pub(crate) fn duplicate(file: libc::c_int) -> Result<(OwnedFd, libc::c_int), Errno> {
    // SAFETY: takes numbers only; the descriptor that comes back is nobody else's.
    unsafe {
        let flags = checked(libc::fcntl(file, libc::F_GETFL))?;
        let copy = checked(libc::fcntl(file, libc::F_DUPFD_CLOEXEC, 3))?;
        Ok((OwnedFd::from_raw_fd(copy), flags))
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
