//! Files beside each other in a directory, and memory that has no name.
//!
//! The module holds `unsafe` code because system calls are foreign functions. What says so may be
//! called by a signal handler: it allocates nothing and takes no lock.
#![allow(unsafe_code)]

use std::ffi::CStr;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

use super::{Errno, checked, errno};

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

/// Owner, mode, size and inode number of an open file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Facts {
    pub(crate) owner: u32,
    pub(crate) mode: u32,
    pub(crate) size: u64,
    pub(crate) inode: u64,
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

/// What is known of an open file. For signal handlers.
pub(crate) fn facts(file: BorrowedFd<'_>) -> Result<Facts, Errno> {
    // SAFETY: a structure of numbers, all zero, that the call fills.
    unsafe {
        let mut stat: libc::stat = std::mem::zeroed();
        checked(libc::fstat(file.as_raw_fd(), &mut stat))?;
        // Numbers of inodes have the machine's width.
        #[allow(clippy::unnecessary_cast)]
        let (owner, mode, inode) = (stat.st_uid, stat.st_mode, stat.st_ino as u64);
        Ok(Facts { owner, mode, size: stat.st_size as u64, inode })
    }
}

/// EFBIG if a file of this process may not reach so far (`RLIMIT_FSIZE`): the kernel would send SIGXFSZ, which
/// ends the program. For signal handlers.
pub(crate) fn within_limit(bytes: u64) -> Result<(), Errno> {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the call stores one structure at the given place.
    let known = unsafe { libc::getrlimit(libc::RLIMIT_FSIZE, &mut limit) } == 0;
    // `rlim_cur` has the machine's width; no limit is its largest number.
    #[allow(clippy::unnecessary_cast)]
    let within = !known || limit.rlim_cur == libc::RLIM_INFINITY || bytes <= limit.rlim_cur as u64;
    if within { Ok(()) } else { Err(libc::EFBIG) }
}

/// Sets the size of a file, which is filled up with zeros. For signal handlers.
pub(crate) fn resize(file: BorrowedFd<'_>, bytes: u64) -> Result<(), Errno> {
    within_limit(bytes)?;
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
    within_limit((at * 8 + size_of_val(words)) as u64)?;
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

/// What may be done with a descriptor, with a copy of it.
pub(crate) fn duplicate(file: libc::c_int) -> Result<(OwnedFd, libc::c_int), Errno> {
    // SAFETY: takes numbers only; the descriptor that comes back is nobody else's.
    unsafe {
        let flags = checked(libc::fcntl(file, libc::F_GETFL))?;
        let copy = checked(libc::fcntl(file, libc::F_DUPFD_CLOEXEC, 3))?;
        Ok((OwnedFd::from_raw_fd(copy), flags))
    }
}
