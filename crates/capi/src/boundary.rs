//! The one border between C and Rust: panics, null pointers, arrays, texts, storage of the caller.
//!
//! The module holds `unsafe` code because C's pointers have to become references somewhere; nowhere
//! else are they followed.
#![allow(unsafe_code)]

use std::ffi::{CStr, OsStr, c_char, c_int};
use std::mem::MaybeUninit;
use std::os::unix::ffi::OsStrExt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::slice;

use crate::code::{Code, TW_INVALID, TW_NOT_INITIALISED, TW_NULL, TW_OK, TW_PANIC};

/// Runs what a function does; what it returns to C. A panic ends here.
#[inline]
pub(crate) fn guard(work: impl FnOnce() -> Result<(), Code>) -> c_int {
    // What the panic left half done is not used again: the text of `TW_PANIC` says so.
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(Ok(())) => TW_OK,
        Ok(Err(Code(code))) => code,
        Err(_) => TW_PANIC,
    }
}

/// A pointer that must not be null, which Rust sees as an option.
#[inline]
pub(crate) fn some<T>(pointer: Option<T>) -> Result<T, Code> {
    pointer.ok_or(Code(TW_NULL))
}

/// Stores a result where C wants it; not where it gave no place.
pub(crate) fn put<T>(place: Option<&mut MaybeUninit<T>>, value: T) {
    if let Some(place) = place {
        place.write(value);
    }
}

/// An array of C. Null is allowed for none.
///
/// # Safety
/// * `start` is null, or the start of `count` initialised values that stay and do not change for `'a`.
#[inline]
pub(crate) unsafe fn array<'a, T>(start: *const T, count: usize) -> Result<&'a [T], Code> {
    if count == 0 {
        return Ok(&[]);
    }
    check::<T>(start, count)?;
    // SAFETY: not null, small enough (checked), initialised and unchanged (the caller's bullet).
    Ok(unsafe { slice::from_raw_parts(start, count) })
}

/// Memory that C lends. Null is allowed for none.
///
/// # Safety
/// * `start` is null, or the start of `size` bytes that nobody else uses for `'a`.
pub(crate) unsafe fn memory<'a>(start: *mut u8, size: usize) -> Result<&'a mut [u8], Code> {
    if size == 0 {
        return Ok(&mut []);
    }
    check::<u8>(start, size)?;
    // SAFETY: as above; and the recorders write before they read, so that what was in the memory
    // does not matter. C has no uninitialised memory that it could lend by this pointer: static
    // memory is zero, and what comes from elsewhere has some value.
    Ok(unsafe { slice::from_raw_parts_mut(start, size) })
}

/// Places of C to put values into. Null is allowed for none.
///
/// # Safety
/// * `start` is null, or the start of room for `count` values that nobody else uses for `'a`.
pub(crate) unsafe fn places<'a, T>(
    start: *mut T,
    count: usize,
) -> Result<&'a mut [MaybeUninit<T>], Code> {
    if count == 0 {
        return Ok(&mut []);
    }
    check::<T>(start, count)?;
    // SAFETY: not null, small enough (checked), nobody else's (the caller's bullet); what was never
    // initialised is allowed in them.
    Ok(unsafe { slice::from_raw_parts_mut(start.cast(), count) })
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

fn check<T>(start: *const T, count: usize) -> Result<(), Code> {
    if start.is_null() {
        return Err(Code(TW_NULL));
    }
    let bytes = count.checked_mul(size_of::<T>()).filter(|bytes| isize::try_from(*bytes).is_ok());
    bytes.map(|_| ()).ok_or(Code(TW_INVALID))
}

/// A text of C without its NUL; empty for null.
///
/// # Safety
/// * `text` is null, or the start of a text with a NUL behind it that stays for `'a`.
pub(crate) unsafe fn text<'a>(text: *const c_char) -> &'a [u8] {
    if text.is_null() {
        return &[];
    }
    // SAFETY: not null, ends with a NUL and stays (the caller's bullet).
    unsafe { CStr::from_ptr(text) }.to_bytes()
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

/// A recorder in storage of the caller, which C knows as a structure of words.
#[repr(C)]
pub(crate) struct Placed<T> {
    mark: u64,
    room: MaybeUninit<T>,
}

/// What the storage of a recorder begins with.
const MARK: u64 = u64::from_le_bytes(*b"tracewel");

impl<T> Placed<T> {
    /// Puts a recorder into storage.
    pub(crate) fn put<S>(storage: &mut MaybeUninit<S>, recorder: T) {
        const { Self::fits::<S>() };
        let placed = storage.as_mut_ptr().cast::<Self>();
        let value = Self { mark: MARK, room: MaybeUninit::new(recorder) };
        // SAFETY: the storage is exclusively borrowed, and large enough and aligned (checked when
        // compiled). What was there before needs no dropping: recorders own nothing.
        unsafe { placed.write(value) };
    }

    /// The recorder in storage.
    ///
    /// # Safety
    /// * the storage holds words: zeros, or what [`Placed::put`] of the same `T` and `S` left.
    #[inline]
    pub(crate) unsafe fn get<S>(storage: &mut S) -> Result<&mut T, Code> {
        const { Self::fits::<S>() };
        let placed = std::ptr::from_mut(storage).cast::<Self>();
        // SAFETY: room and alignment are checked when compiled; a word may have any value.
        let mark = unsafe { (*placed).mark };
        if mark != MARK {
            return Err(Code(TW_NOT_INITIALISED));
        }
        // SAFETY: with the mark there, `put` made the value (the caller's bullet); the reference
        // borrows the storage.
        Ok(unsafe { (*placed).room.assume_init_mut() })
    }

    const fn fits<S>() {
        assert!(size_of::<Self>() <= size_of::<S>(), "the storage is too small");
        assert!(align_of::<Self>() <= align_of::<S>(), "the storage is not aligned");
        assert!(!std::mem::needs_drop::<T>(), "storage is left without a word");
    }
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
