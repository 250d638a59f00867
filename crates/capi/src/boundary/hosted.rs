//! The part of the border that needs an operating system: caught panics, boxes, paths, errno, sleeping.
//!
//! The module holds `unsafe` code for the same reason as the module above it.
#![allow(unsafe_code)]

use std::ffi::{OsStr, c_char, c_int};
use std::mem::MaybeUninit;
use std::os::unix::ffi::OsStrExt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::slice;

use super::{some, text};
use crate::code::{Code, TW_INVALID, TW_NULL, TW_PANIC};

/// Runs what a function does. A panic becomes `TW_PANIC`.
#[inline]
pub(super) fn caught(work: impl FnOnce() -> Result<(), Code>) -> Result<(), Code> {
    // What the panic left half done is not used again: the text of `TW_PANIC` says so.
    catch_unwind(AssertUnwindSafe(work)).unwrap_or(Err(Code(TW_PANIC)))
}

/// Gives C something that it owns; null where it could not be made.
pub(crate) fn hand_over<T>(
    place: Option<&mut MaybeUninit<*mut T>>,
    made: impl FnOnce() -> Result<T, Code>,
) -> Result<(), Code> {
    let place = some(place)?;
    place.write(std::ptr::null_mut());
    place.write(Box::into_raw(Box::new(made()?)));
    Ok(())
}

/// The path that a text of C names.
///
/// # Safety
/// * `name` is null, or ends with a NUL and stays for `'a`.
pub(crate) unsafe fn path<'a>(name: *const c_char) -> Result<&'a Path, Code> {
    if name.is_null() {
        return Err(Code(TW_NULL));
    }
    // SAFETY: the bullet above.
    Ok(Path::new(OsStr::from_bytes(unsafe { text(name) })))
}

/// A text of C that is UTF-8.
///
/// # Safety
/// * `name` is null, or ends with a NUL and stays for `'a`.
pub(crate) unsafe fn utf8<'a>(name: *const c_char) -> Result<&'a str, Code> {
    if name.is_null() {
        return Err(Code(TW_NULL));
    }
    // SAFETY: the bullet above.
    str::from_utf8(unsafe { text(name) }).map_err(|_| Code(TW_INVALID))
}

/// Runs something that leaves errno as it was.
#[inline]
pub(crate) fn keeping_errno<R>(work: impl FnOnce() -> R) -> R {
    // SAFETY: the place of errno is there as long as the thread is.
    let before = unsafe { *libc::__errno_location() };
    let result = work();
    // SAFETY: as above.
    unsafe { *libc::__errno_location() = before };
    result
}

/// Bytes of C; none for null.
///
/// # Safety
/// * `start` is null, or the start of `count` bytes that stay for `'a`.
#[inline]
pub(crate) unsafe fn bytes<'a>(start: *const u8, count: usize) -> &'a [u8] {
    if start.is_null() {
        return &[];
    }
    // SAFETY: not null; the caller's bullet.
    unsafe { slice::from_raw_parts(start, count) }
}

/// Stores a text and a null; `None` where there is no place.
///
/// # Safety
/// * `to` is null, or has room for the text and a null.
pub(crate) unsafe fn put_text(to: *mut c_char, text: &[u8]) -> Option<()> {
    if to.is_null() {
        return None;
    }
    // SAFETY: not null, and large enough (the caller's bullet); both are different memory.
    unsafe {
        to.copy_from_nonoverlapping(text.as_ptr().cast(), text.len());
        to.add(text.len()).write(0);
    }
    Some(())
}

/// What a leaked box holds; `None` for null.
pub(crate) fn leaked<T>(place: *mut T) -> Option<&'static T> {
    // SAFETY: only leaked boxes are handed in here, and they are never taken back.
    unsafe { place.as_ref() }
}

/// Has a function called when the program ends.
pub(crate) fn at_exit(function: extern "C" fn()) {
    // SAFETY: the function takes nothing and is of this library.
    unsafe { libc::atexit(function) };
}

// Not as `libc` has them: a cancelled thread unwinds out of these.
/// cbindgen:ignore
#[expect(unused_doc_comments, reason = "for the program that makes the header")]
unsafe extern "C-unwind" {
    fn syscall(number: libc::c_long, ...) -> libc::c_long;
    fn pthread_setcanceltype(kind: c_int, before: *mut c_int) -> c_int;
}

const CANCEL_ASYNCHRONOUS: c_int = 1;

/// A sleep at a word in which a thread may be cancelled.
#[derive(Clone, Copy)]
pub(crate) struct CancellableSleep {
    /// A futex.
    pub(crate) word: *const u32,
    /// It sleeps while the word is this.
    pub(crate) seen: u32,
    /// What keeps the word's memory, for whoever made this.
    pub(crate) owner: *const std::ffi::c_void,
}

impl CancellableSleep {
    /// Sleeps until somebody wakes it, a signal handler runs, or a time of `CLOCK_REALTIME` comes, if that
    /// is not null; the error number, or 0. It has nothing to drop: a cancelled thread unwinds from here.
    ///
    /// # Safety
    /// * the word's memory stays; `until` is null or points to a time.
    #[inline(never)]
    pub(crate) unsafe fn until(self, until: *const libc::timespec) -> c_int {
        let kind = libc::FUTEX_WAIT_BITSET | libc::FUTEX_CLOCK_REALTIME;
        let mut before = 0;
        // SAFETY: the kernel only reads the word and the time. Between the two calls that set the kind of
        // cancellation there is only a system call, which may be left at any point.
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
