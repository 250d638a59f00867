//! Maps memory: shared memory, with or without a private page before it, and private memory that
//! the kernel wipes in the child of a fork.
//!
//! Unsafe: system calls are foreign functions. A function marked async-signal-safe allocates
//! nothing and takes no lock.
#![allow(unsafe_code)]

use std::os::fd::{AsRawFd, BorrowedFd};
use std::ptr::NonNull;
use std::sync::atomic::AtomicU64;

use super::Errno;
use super::guard::Guard;

/// Minimum size of a page in bytes.
pub(crate) const PAGE: usize = 4096;

/// Maps a file as shared memory for the lifetime of the process. Async-signal-safe.
pub(crate) fn map_for_ever(file: BorrowedFd<'_>, words: usize) -> Option<&'static [AtomicU64]> {
    let start = map(Some(file), words * 8, None)?;
    // SAFETY: that many words are mapped there, page-aligned, and never unmapped. Any value is a
    // valid `AtomicU64`, and other processes change the words only in ways that atomics allow.
    Some(unsafe { std::slice::from_raw_parts(start.as_ptr().cast(), words) })
}

/// Maps a file as shared memory, or private zeros if there is no file. If `over` is given, the
/// mapping replaces pages that are already mapped.
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
    // SAFETY: without `over` the kernel chooses a free range. With `over`, the pages belong to the
    // caller and contain only words, which can have any value.
    let start = unsafe { libc::mmap(place, bytes, access, kind | fixed, fd, 0) };
    if start == libc::MAP_FAILED { None } else { NonNull::new(start.cast()) }
}

/// Maps a private zeroed page, followed by words of a file, for the lifetime of the process.
/// Async-signal-safe.
pub(crate) fn map_after_page(file: BorrowedFd<'_>, words: usize) -> Option<NonNull<u8>> {
    let start = map(None, PAGE + words * 8, None)?;
    // SAFETY: the page is within the mapping.
    let after = unsafe { start.add(PAGE) };
    map(Some(file), words * 8, Some(after))?;
    Some(start)
}

/// Replaces the words after a page with private memory that contains only zeros. A thread can
/// still store words there: no other process sees them. Async-signal-safe.
pub(crate) fn replace_after_page(start: NonNull<u8>, words: usize) {
    // SAFETY: see `map_after_page`.
    let after = unsafe { start.add(PAGE) };
    map(None, words * 8, Some(after));
}

/// Unmaps a page and the words after it. Async-signal-safe.
///
/// # Safety
/// * Nothing may use the page or the words afterwards, so no other thread may have their address.
pub(crate) unsafe fn unmap_after_page(start: NonNull<u8>, words: usize) {
    // SAFETY: the memory was mapped with this size, and the caller guarantees that it is no longer
    // used.
    unsafe { libc::munmap(start.as_ptr().cast(), PAGE + words * 8) };
}

/// Maps private zeros. Kernels that support `MADV_WIPEONFORK` set the words to zero again in the
/// child of a fork. Async-signal-safe.
pub(crate) fn wiped_on_fork(bytes: usize) -> Option<NonNull<u8>> {
    let start = map(None, bytes, None)?;
    // SAFETY: the call only gives advice about pages that were just mapped.
    unsafe { libc::madvise(start.as_ptr().cast(), bytes, libc::MADV_WIPEONFORK) };
    Some(start)
}

/// The mapping of a stream's shared memory in its controller.
#[derive(Debug)]
pub(crate) struct Mapping {
    start: NonNull<AtomicU64>,
    words: usize,
    guard: Option<Guard>,
}

// SAFETY: the pages are accessed only as atomics, and remain mapped as long as this value lives.
unsafe impl Send for Mapping {}
// SAFETY: as above.
unsafe impl Sync for Mapping {}

impl Mapping {
    /// Maps the first words of a file.
    pub(crate) fn new(file: BorrowedFd<'_>, words: usize) -> Result<Self, Errno> {
        let start = map(Some(file), words * 8, None).ok_or(libc::ENOMEM)?;
        Ok(Self { start: start.cast(), words, guard: None })
    }

    /// Maps the first words of a file that another process may truncate.
    pub(crate) fn guarded(file: BorrowedFd<'_>, words: usize) -> Result<Self, Errno> {
        let mut mapping = Self::new(file, words)?;
        let guard = Guard::new(mapping.start.addr().get(), words * 8);
        mapping.guard = Some(guard.ok_or(libc::ENOMEM)?);
        Ok(mapping)
    }

    /// Returns true if the mapping is guarded and the process accessed a word that is no longer in
    /// the file.
    pub(crate) fn was_cut(&self) -> bool {
        self.guard.as_ref().is_some_and(Guard::was_cut)
    }

    /// Returns the words of the mapping.
    pub(crate) fn words(&self) -> &[AtomicU64] {
        // SAFETY: that many words are mapped there until `drop`, and any value is a valid
        // `AtomicU64`. Sealed memory cannot be truncated, and a guard replaces truncated pages.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.words) }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // The guard must not outlive the pages.
        self.guard = None;
        // SAFETY: `new` mapped the memory with this size, and no reference to it outlives this
        // value.
        unsafe { libc::munmap(self.start.as_ptr().cast(), self.words * 8) };
    }
}
