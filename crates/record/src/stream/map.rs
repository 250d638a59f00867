//! Memory for streams: anonymous pages or a file, shared with every process that maps it.
//!
//! This module uses unsafe code because `mmap` is a foreign function that returns a raw pointer.
#![allow(unsafe_code)]

use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;
use std::ptr::NonNull;
use std::slice;
use std::sync::atomic::AtomicU64;

use super::sys;

/// The shared pages of a stream.
#[derive(Debug)]
pub(super) struct Mapping {
    start: NonNull<AtomicU64>,
    words: usize,
    file: Option<File>,
}

// SAFETY: the pages are accessed only as atomics, and remain mapped as long as this value lives.
unsafe impl Send for Mapping {}
// SAFETY: as above.
unsafe impl Sync for Mapping {}

impl Mapping {
    /// Maps zeroed memory that has no file. Child processes created by `fork` share this memory.
    pub(super) fn anonymous(words: usize) -> io::Result<Self> {
        Self::map(words, None)
    }

    /// Creates a file of zeros that only its owner may open, and maps it. Its pages are not
    /// reserved yet. As long as the file is mapped here, other processes can see that it is in use.
    pub(super) fn create(path: &Path, words: usize) -> io::Result<Self> {
        let mut options = OpenOptions::new();
        let options = options.read(true).write(true).create_new(true).mode(0o600);
        let file = options.custom_flags(libc::O_NOFOLLOW).open(path)?;
        sys::lock_for_recorder(&file);
        file.set_len(words as u64 * 8)?;
        Self::map(words, Some(file))
    }

    /// Maps the whole words of an existing file. The file is marked as in use as long as it is
    /// mapped here.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let file = OpenOptions::new().read(true).write(true).open(path)?;
        sys::lock_for_recorder(&file);
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
        // SAFETY: the kernel chooses the address, so the call replaces no existing mapping.
        let start =
            unsafe { libc::mmap(std::ptr::null_mut(), bytes, access, flags, descriptor, 0) };
        if start == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let start = NonNull::new(start.cast()).ok_or(io::ErrorKind::OutOfMemory)?;
        Ok(Self { start, words, file })
    }

    /// Returns the memory as words.
    #[inline]
    pub(super) fn words(&self) -> &[AtomicU64] {
        // SAFETY: `start` is the page-aligned start of `words` readable and writable words, which
        // remain mapped until `drop`. Every value is a valid `AtomicU64`. Other processes may
        // change the words at any time; the words are atomics, so this is allowed. If a process
        // truncates the file, later accesses end this process with SIGBUS; they do not reach memory
        // outside the mapping.
        unsafe { slice::from_raw_parts(self.start.as_ptr(), self.words) }
    }

    /// Reserves file blocks for a range of words, so that a store there cannot fail on a full disk.
    /// Returns false if the disk is full. Makes only system calls, so it is safe to call from a
    /// signal handler.
    pub(super) fn reserve(&self, start: usize, words: usize) -> bool {
        let Some(file) = &self.file else { return true };
        let (start, length) = ((start * 8) as libc::off_t, (words * 8) as libc::off_t);
        // SAFETY: the call takes only numbers; the descriptor is open as long as this value lives.
        let result = unsafe { libc::posix_fallocate(file.as_raw_fd(), start, length) };
        // A file system that cannot reserve blocks allocates them on the first access.
        result == 0 || result == libc::EOPNOTSUPP || result == libc::EINVAL
    }

    /// Returns true if the file still has its full size.
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
        // SAFETY: `map` mapped the pages with this length, and no reference to them outlives this
        // value.
        unsafe { libc::munmap(self.start.as_ptr().cast(), self.words * 8) };
    }
}
