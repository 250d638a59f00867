//! Files in a directory, and anonymous memory.
//!
//! Unsafe: system calls are foreign functions. A function marked async-signal-safe allocates
//! nothing and takes no lock.
#![allow(unsafe_code)]

use std::ffi::CStr;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

use super::{Errno, checked, errno};

/// Opens a directory, which must not be a symbolic link. Async-signal-safe.
pub(crate) fn open_directory(path: &CStr) -> Result<OwnedFd, Errno> {
    let flags = libc::O_RDONLY | libc::O_DIRECTORY | libc::O_NOFOLLOW | libc::O_CLOEXEC;
    // SAFETY: the path ends with a NUL; nothing else owns the new descriptor.
    unsafe { checked(libc::open(path.as_ptr(), flags)).map(|fd| OwnedFd::from_raw_fd(fd)) }
}

/// Creates a directory that only its owner can access. Async-signal-safe.
pub(crate) fn make_directory(path: &CStr) -> Result<(), Errno> {
    // SAFETY: the path ends with a NUL.
    unsafe { checked(libc::mkdir(path.as_ptr(), 0o700)).map(|_| ()) }
}

/// Opens a file in a directory, or creates it if `flags` contain `O_CREAT | O_EXCL`.
/// Async-signal-safe.
pub(crate) fn open_at(
    directory: BorrowedFd<'_>,
    name: &CStr,
    flags: libc::c_int,
) -> Result<OwnedFd, Errno> {
    let flags = flags | libc::O_NOFOLLOW | libc::O_CLOEXEC | libc::O_NONBLOCK;
    // SAFETY: the name ends with a NUL; nothing else owns the new descriptor.
    unsafe {
        let fd = libc::openat(directory.as_raw_fd(), name.as_ptr(), flags, 0o600);
        checked(fd).map(|fd| OwnedFd::from_raw_fd(fd))
    }
}

/// Opens a path, following symbolic links in `/proc`. Async-signal-safe.
pub(crate) fn open(path: &CStr, flags: libc::c_int) -> Result<OwnedFd, Errno> {
    // SAFETY: the path ends with a NUL; nothing else owns the new descriptor.
    unsafe {
        let fd = libc::open(path.as_ptr(), flags | libc::O_CLOEXEC | libc::O_NONBLOCK);
        checked(fd).map(|fd| OwnedFd::from_raw_fd(fd))
    }
}

/// Creates a hard link to a file in the same directory, unless the name is taken.
/// Async-signal-safe.
pub(crate) fn link_at(directory: BorrowedFd<'_>, from: &CStr, to: &CStr) -> Result<(), Errno> {
    let fd = directory.as_raw_fd();
    // SAFETY: both names end with a NUL.
    unsafe { checked(libc::linkat(fd, from.as_ptr(), fd, to.as_ptr(), 0)).map(|_| ()) }
}

/// Removes a file. Async-signal-safe.
pub(crate) fn unlink_at(directory: BorrowedFd<'_>, name: &CStr) {
    // SAFETY: the name ends with a NUL. If the file is already gone, nothing needs to be done.
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

/// Returns the metadata of an open file. Async-signal-safe.
pub(crate) fn facts(file: BorrowedFd<'_>) -> Result<Facts, Errno> {
    // SAFETY: the structure contains only integers, for which zero is valid, and the call fills it.
    unsafe {
        let mut stat: libc::stat = std::mem::zeroed();
        checked(libc::fstat(file.as_raw_fd(), &mut stat))?;
        #[allow(clippy::unnecessary_cast, reason = "inode numbers have the machine's word size")]
        let (owner, mode, inode) = (stat.st_uid, stat.st_mode, stat.st_ino as u64);
        Ok(Facts { owner, mode, size: stat.st_size as u64, inode })
    }
}

/// Returns EFBIG if this process may not create files of `bytes` bytes (`RLIMIT_FSIZE`). Exceeding
/// the limit would raise SIGXFSZ, which terminates the program. Async-signal-safe.
pub(crate) fn within_limit(bytes: u64) -> Result<(), Errno> {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the call stores one structure at the given address.
    let known = unsafe { libc::getrlimit(libc::RLIMIT_FSIZE, &mut limit) } == 0;
    #[allow(clippy::unnecessary_cast, reason = "`rlim_cur` has the machine's word size")]
    let within = !known || limit.rlim_cur == libc::RLIM_INFINITY || bytes <= limit.rlim_cur as u64;
    if within { Ok(()) } else { Err(libc::EFBIG) }
}

/// Sets the size of a file. New bytes are zero. Async-signal-safe.
pub(crate) fn resize(file: BorrowedFd<'_>, bytes: u64) -> Result<(), Errno> {
    within_limit(bytes)?;
    let bytes = libc::off_t::try_from(bytes).map_err(|_| libc::EFBIG)?;
    // SAFETY: the call takes only numbers.
    unsafe { checked(libc::ftruncate(file.as_raw_fd(), bytes)).map(|_| ()) }
}

/// Changes the owner of a file.
pub(crate) fn give(file: BorrowedFd<'_>, user: u32) -> Result<(), Errno> {
    // SAFETY: the call takes only numbers; the group does not change.
    unsafe { checked(libc::fchown(file.as_raw_fd(), user, u32::MAX)).map(|_| ()) }
}

/// Creates anonymous memory whose size no process can change afterwards.
pub(crate) fn sealed_memory(bytes: u64) -> Result<OwnedFd, Errno> {
    let flags = libc::MFD_CLOEXEC | libc::MFD_ALLOW_SEALING;
    // SAFETY: the name ends with a NUL; nothing else owns the new descriptor.
    let file =
        unsafe { OwnedFd::from_raw_fd(checked(libc::memfd_create(c"tracewell".as_ptr(), flags))?) };
    resize(file.as_fd(), bytes)?;
    let seals = libc::F_SEAL_SHRINK | libc::F_SEAL_GROW | libc::F_SEAL_SEAL;
    // SAFETY: the call takes only numbers.
    unsafe { checked(libc::fcntl(file.as_raw_fd(), libc::F_ADD_SEALS, seals))? };
    Ok(file)
}

/// Reserves memory for the first `bytes` bytes of a file.
pub(crate) fn reserve(file: BorrowedFd<'_>, bytes: u64) -> Result<(), Errno> {
    let bytes = libc::off_t::try_from(bytes).map_err(|_| libc::EFBIG)?;
    // SAFETY: the call takes only numbers.
    match unsafe { libc::posix_fallocate(file.as_raw_fd(), 0, bytes) } {
        0 | libc::EOPNOTSUPP => Ok(()),
        error => Err(error),
    }
}

/// Reads words at a word offset of a file, and returns the number of complete words.
/// Async-signal-safe.
pub(crate) fn read_words(file: BorrowedFd<'_>, at: usize, words: &mut [u64]) -> usize {
    let (fd, bytes, offset) = (file.as_raw_fd(), size_of_val(words), (at * 8) as libc::off_t);
    // SAFETY: the call stores at most as many bytes as `words` contains, and any bytes form valid
    // words.
    let read = unsafe { libc::pread(fd, words.as_mut_ptr().cast(), bytes, offset) };
    usize::try_from(read).unwrap_or(0) / 8
}

/// Writes words at a word offset of a file. Async-signal-safe.
pub(crate) fn write_words(file: BorrowedFd<'_>, at: usize, words: &[u64]) -> Result<(), Errno> {
    within_limit((at * 8 + size_of_val(words)) as u64)?;
    let (fd, bytes, offset) = (file.as_raw_fd(), size_of_val(words), (at * 8) as libc::off_t);
    // SAFETY: the call reads exactly the bytes of `words`.
    let written = unsafe { libc::pwrite(fd, words.as_ptr().cast(), bytes, offset) };
    if written == bytes as isize { Ok(()) } else { Err(errno()) }
}

/// Reads bytes at the current position of an open file, and returns the number of bytes.
/// Async-signal-safe.
pub(crate) fn read(file: BorrowedFd<'_>, to: &mut [u8]) -> usize {
    // SAFETY: the call stores at most as many bytes as `to` contains.
    let read = unsafe { libc::read(file.as_raw_fd(), to.as_mut_ptr().cast(), to.len()) };
    usize::try_from(read).unwrap_or(0)
}

/// Tries to lock an open file without blocking. Returns true on success. Closing the file releases
/// the lock.
pub(crate) fn try_lock(file: BorrowedFd<'_>) -> bool {
    // SAFETY: the call takes only numbers.
    unsafe { libc::flock(file.as_raw_fd(), libc::LOCK_EX | libc::LOCK_NB) == 0 }
}

/// Releases the lock on an open file.
pub(crate) fn unlock(file: BorrowedFd<'_>) {
    // SAFETY: the call takes only numbers.
    unsafe { libc::flock(file.as_raw_fd(), libc::LOCK_UN) };
}

/// Duplicates a descriptor. Returns the duplicate and the flags with which the file was opened.
pub(crate) fn duplicate(file: libc::c_int) -> Result<(OwnedFd, libc::c_int), Errno> {
    // SAFETY: the calls take only numbers; nothing else owns the new descriptor.
    unsafe {
        let flags = checked(libc::fcntl(file, libc::F_GETFL))?;
        let copy = checked(libc::fcntl(file, libc::F_DUPFD_CLOEXEC, 3))?;
        Ok((OwnedFd::from_raw_fd(copy), flags))
    }
}
