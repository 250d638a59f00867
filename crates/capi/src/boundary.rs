//! The one border between C and Rust: panics, null pointers, arrays, texts, storage of the caller.
//! `hosted` has the part that needs an operating system.
//!
//! The module holds `unsafe` code because C's pointers have to become references somewhere; nowhere
//! else are they followed.
#![allow(unsafe_code)]

#[cfg(feature = "std")]
mod hosted;

use core::ffi::{CStr, c_char, c_int};
use core::mem::MaybeUninit;
use core::slice;

use crate::code::{Code, TW_INVALID, TW_NOT_INITIALISED, TW_NULL, TW_OK};

#[cfg(feature = "std")]
pub(crate) use hosted::*;

/// Runs what a function does; what it returns to C. A panic ends here, on a hosted target.
#[inline]
pub(crate) fn guard(work: impl FnOnce() -> Result<(), Code>) -> c_int {
    match caught(work) {
        Ok(()) => TW_OK,
        Err(Code(code)) => code,
    }
}

/// Without an operating system a panic goes to the panic handler in `firmware`, which does not return.
#[cfg(not(feature = "std"))]
#[inline]
fn caught(work: impl FnOnce() -> Result<(), Code>) -> Result<(), Code> {
    work()
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
        let placed = core::ptr::from_mut(storage).cast::<Self>();
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
        assert!(!core::mem::needs_drop::<T>(), "storage is left without a word");
    }
}
