//! Memory of streams: anonymous or a file, shared with whoever maps it, too.
//!
//! The module holds `unsafe` code because mapping is a foreign function whose result is a raw pointer.
#![allow(unsafe_code)]

use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;
use std::ptr::NonNull;
use std::slice;
use std::sync::atomic::AtomicU64;

/// Pages that are mapped shared.
#[derive(Debug)]
pub(super) struct Mapping {
    start: NonNull<AtomicU64>,
    words: usize,
    file: Option<File>,
}

// SAFETY: the pages are reached only as atomics, and they stay mapped as long as the value lives.
unsafe impl Send for Mapping {}
// SAFETY: as above.
unsafe impl Sync for Mapping {}

impl Mapping {
    /// Zeroed memory without a file. Children of a fork share it.
    pub(super) fn anonymous(words: usize) -> io::Result<Self> {
        Self::map(words, None)
    }

    /// A new file of zeros, which only its owner may open. Its pages are not reserved yet.
    pub(super) fn create(path: &Path, words: usize) -> io::Result<Self> {
        let mut options = OpenOptions::new();
        let options = options.read(true).write(true).create_new(true).mode(0o600);
        let file = options.custom_flags(libc::O_NOFOLLOW).open(path)?;
        file.set_len(words as u64 * 8)?;
        Self::map(words, Some(file))
    }

    /// The whole words of a file that is there.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let file = OpenOptions::new().read(true).write(true).open(path)?;
        let metadata = file.metadata()?;
        let words = usize::try_from(metadata.len() / 8).unwrap_or(usize::MAX);
        if !metadata.is_file() || words == 0 {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "not the file of a stream"));
        }
        Self::map(words, Some(file))
    }

    fn map(words: usize, file: Option<File>) -> io::Result<Self> {
        let bytes = words.checked_mul(8).ok_or(io::ErrorKind::OutOfMemory)?;
        let (descriptor, backing) = match &file {
            Some(file) => (file.as_raw_fd(), 0),
            None => (-1, libc::MAP_ANONYMOUS | libc::MAP_NORESERVE),
        };
        let (access, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED | backing);
        // SAFETY: the kernel chooses the place, so no memory of ours is replaced.
        let start =
            unsafe { libc::mmap(std::ptr::null_mut(), bytes, access, flags, descriptor, 0) };
        if start == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let start = NonNull::new(start.cast()).ok_or(io::ErrorKind::OutOfMemory)?;
        Ok(Self { start, words, file })
    }

    /// The memory.
    #[inline]
    pub(super) fn words(&self) -> &[AtomicU64] {
        // SAFETY: `start` is the page-aligned start of that many readable and writable words, which
        // stay mapped until `drop`. Every value is a valid `AtomicU64`; other processes change them
        // at any time, as atomics allow. A process that cuts the file off makes later accesses end
        // this process with SIGBUS, which is no access to memory that is not ours.
        unsafe { slice::from_raw_parts(self.start.as_ptr(), self.words) }
    }

    /// Sees to it that some words of a file have pages, so that storing there cannot fail for want
    /// of room. Makes system calls only; a signal handler may do it.
    pub(super) fn reserve(&self, start: usize, words: usize) -> bool {
        let Some(file) = &self.file else { return true };
        let (start, length) = ((start * 8) as libc::off_t, (words * 8) as libc::off_t);
        // SAFETY: the call takes numbers only; the descriptor is open as long as the value lives.
        let result = unsafe { libc::posix_fallocate(file.as_raw_fd(), start, length) };
        // Where the file system cannot reserve, pages come when they are touched.
        result == 0 || result == libc::EOPNOTSUPP || result == libc::EINVAL
    }

    /// Whether the file still has all its words.
    pub(super) fn is_whole(&self) -> bool {
        let whole = |file: &File| {
            let last = self.words as u64 * 8 - 1;
            file.read_at(&mut [0], last).is_ok_and(|read| read == 1)
        };
        self.file.as_ref().is_none_or(whole)
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: the pages were mapped by `map` with this length, and no reference to them
        // outlives the value.
        unsafe { libc::munmap(self.start.as_ptr().cast(), self.words * 8) };
    }
}
