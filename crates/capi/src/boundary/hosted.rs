//! The part of the boundary that needs an operating system: panics, boxes, paths, errno, sleeping.
//!
//! Unsafe: as in the parent module.
#![allow(unsafe_code)]

use std::ffi::{OsStr, c_char, c_int};
use std::mem::MaybeUninit;
use std::os::unix::ffi::OsStrExt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::slice;

use super::{non_null, text};
use crate::code::{Code, TW_INVALID, TW_NULL, TW_PANIC};

/// Runs the body of a function. A panic becomes `TW_PANIC`.
#[inline]
pub(super) fn caught(work: impl FnOnce() -> Result<(), Code>) -> Result<(), Code> {
    // The object may be inconsistent after a panic, so the documentation of `TW_PANIC` forbids
    // using it again.
    catch_unwind(AssertUnwindSafe(work)).unwrap_or(Err(Code(TW_PANIC)))
}

/// Passes ownership of a value to C; stores null if it could not be created.
pub(crate) fn hand_over<T>(
    place: Option<&mut MaybeUninit<*mut T>>,
    made: impl FnOnce() -> Result<T, Code>,
) -> Result<(), Code> {
    let place = non_null(place)?;
    place.write(std::ptr::null_mut());
    place.write(Box::into_raw(Box::new(made()?)));
    Ok(())
}

/// Returns the path in a C string.
///
/// # Safety
/// * `name` must be null, or null-terminated and unchanged during `'a`.
pub(crate) unsafe fn path<'a>(name: *const c_char) -> Result<&'a Path, Code> {
    if name.is_null() {
        return Err(Code(TW_NULL));
    }
    // SAFETY: guaranteed by the caller (see `# Safety`).
    Ok(Path::new(OsStr::from_bytes(unsafe { text(name) })))
}

/// Returns a C string that must be UTF-8.
///
/// # Safety
/// * `name` must be null, or null-terminated and unchanged during `'a`.
pub(crate) unsafe fn utf8<'a>(name: *const c_char) -> Result<&'a str, Code> {
    if name.is_null() {
        return Err(Code(TW_NULL));
    }
    // SAFETY: guaranteed by the caller (see `# Safety`).
    str::from_utf8(unsafe { text(name) }).map_err(|_| Code(TW_INVALID))
}

/// Runs `work` and restores errno.
#[inline]
pub(crate) fn keeping_errno<R>(work: impl FnOnce() -> R) -> R {
    // SAFETY: the location of errno is valid as long as the thread lives.
    let before = unsafe { *libc::__errno_location() };
    let result = work();
    // SAFETY: as above.
    unsafe { *libc::__errno_location() = before };
    result
}

/// Returns bytes in memory of C as a slice, which is empty for a null pointer.
///
/// # Safety
/// * `start` must be null, or point to `count` bytes that do not change during `'a`.
#[inline]
pub(crate) unsafe fn bytes<'a>(start: *const u8, count: usize) -> &'a [u8] {
    if start.is_null() {
        return &[];
    }
    // SAFETY: not null; guaranteed by the caller (see `# Safety`).
    unsafe { slice::from_raw_parts(start, count) }
}

/// Stores a string with a null byte. Returns `None` if `to` is null.
///
/// # Safety
/// * `to` must be null, or have space for the string and a null byte.
pub(crate) unsafe fn put_text(to: *mut c_char, text: &[u8]) -> Option<()> {
    if to.is_null() {
        return None;
    }
    // SAFETY: not null, and large enough (guaranteed by the caller); the memory does not overlap.
    unsafe {
        to.copy_from_nonoverlapping(text.as_ptr().cast(), text.len());
        to.add(text.len()).write(0);
    }
    Some(())
}

/// Returns the content of a leaked box, or `None` for a null pointer.
pub(crate) fn leaked<T>(place: *mut T) -> Option<&'static T> {
    // SAFETY: callers pass leaked boxes only, and those are never freed.
    unsafe { place.as_ref() }
}

/// Registers a function to run when the program ends.
pub(crate) fn at_exit(function: extern "C" fn()) {
    // SAFETY: the function is part of this library and takes no arguments.
    unsafe { libc::atexit(function) };
}

// Declared here as `C-unwind`, because a cancelled thread unwinds out of these functions.
/// cbindgen:ignore
#[expect(unused_doc_comments, reason = "read by cbindgen, which generates the header")]
unsafe extern "C-unwind" {
    fn syscall(number: libc::c_long, ...) -> libc::c_long;
    fn pthread_setcanceltype(kind: c_int, before: *mut c_int) -> c_int;
}

const CANCEL_ASYNCHRONOUS: c_int = 1;

/// A sleep in which the thread may be cancelled.
#[derive(Clone, Copy)]
pub(crate) struct CancellableSleep {
    /// The futex to sleep on.
    pub(crate) word: *const u32,
    /// The thread sleeps while the word has this value.
    pub(crate) seen: u32,
    /// The object that owns the word's memory. Only the creator of the sleep uses it.
    pub(crate) owner: *const std::ffi::c_void,
}

impl CancellableSleep {
    /// Sleeps until another thread wakes it, a signal handler runs, or `until` (`CLOCK_REALTIME`;
    /// null for no limit) is reached. Returns 0 or an error number. A cancelled thread unwinds from
    /// here, so this function owns no value with a destructor.
    ///
    /// # Safety
    /// * The word's memory must stay valid. `until` must be null or point to a time.
    #[inline(never)]
    pub(crate) unsafe fn until(self, until: *const libc::timespec) -> c_int {
        let kind = libc::FUTEX_WAIT_BITSET | libc::FUTEX_CLOCK_REALTIME;
        let mut before = 0;
        // SAFETY: the kernel only reads the word and the time. Between the two calls that set the
        // cancellation type, the thread makes only one system call, which may be cancelled at any
        // point.
        unsafe {
            let saved = *libc::__errno_location();
            pthread_setcanceltype(CANCEL_ASYNCHRONOUS, &mut before);
            let none = std::ptr::null::<u32>();
            let result =
                syscall(libc::SYS_futex, self.word, kind, self.seen, until, none, u32::MAX);
            pthread_setcanceltype(before, &mut before);
            let error = if result == 0 { 0 } else { *libc::__errno_location() };
            *libc::__errno_location() = saved;
            error
        }
    }
}
