//! Memory: shared with other processes, private behind a page, wiped in the child of a fork.
//!
//! The module holds `unsafe` code because system calls are foreign functions. What says so may be
//! called by a signal handler: it allocates nothing and takes no lock.
#![allow(unsafe_code)]

use std::os::fd::{AsRawFd, BorrowedFd};
use std::ptr::NonNull;
use std::sync::atomic::AtomicU64;

use super::Errno;

/// Bytes of a page at least.
pub(crate) const PAGE: usize = 4096;

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
