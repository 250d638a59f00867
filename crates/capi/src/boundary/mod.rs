//! The boundary between C and Rust: panics, null pointers, arrays, strings, storage of the caller.
//! `hosted` contains the functions that need an operating system.
//!
//! Unsafe: C pointers become references here. Two other modules do this as well: `posix::reading`
//! for its arguments, and `threadx::block` for a pointer to a recorder.
#![allow(unsafe_code)]

#[cfg(feature = "std")]
mod hosted;

use core::ffi::{CStr, c_char, c_int};
use core::mem::MaybeUninit;
use core::slice;

use crate::code::{Code, TW_INVALID, TW_NOT_INITIALISED, TW_NULL, TW_OK};

#[cfg(feature = "std")]
pub(crate) use hosted::*;

/// Runs the body of a function and returns its result to C. On a hosted target, catches panics.
#[inline]
pub(crate) fn guard(work: impl FnOnce() -> Result<(), Code>) -> c_int {
    match caught(work) {
        Ok(()) => TW_OK,
        Err(Code(code)) => code,
    }
}

/// Without an operating system, a panic reaches the panic handler in `firmware`, which does not
/// return.
#[cfg(not(feature = "std"))]
#[inline]
fn caught(work: impl FnOnce() -> Result<(), Code>) -> Result<(), Code> {
    work()
}

/// Returns a pointer, or `TW_NULL` if it is null.
#[inline]
pub(crate) fn non_null<T>(pointer: Option<T>) -> Result<T, Code> {
    pointer.ok_or(Code(TW_NULL))
}

/// Stores a result at an output pointer, unless that is null.
pub(crate) fn put<T>(place: Option<&mut MaybeUninit<T>>, value: T) {
    if let Some(place) = place {
        place.write(value);
    }
}

/// Returns a C array as a slice. Null is allowed if `count` is 0.
///
/// # Safety
/// * `start` must be null, or point to `count` initialised values that do not change during `'a`.
#[inline]
pub(crate) unsafe fn array<'a, T>(start: *const T, count: usize) -> Result<&'a [T], Code> {
    if count == 0 {
        return Ok(&[]);
    }
    check::<T>(start, count)?;
    // SAFETY: not null, small enough (checked), initialised and unchanged (guaranteed by the
    // caller).
    Ok(unsafe { slice::from_raw_parts(start, count) })
}

/// Returns memory of the caller as a slice. Null is allowed if `size` is 0.
///
/// # Safety
/// * `start` must be null, or point to `size` bytes that are not used for anything else during
///   `'a`.
pub(crate) unsafe fn memory<'a>(start: *mut u8, size: usize) -> Result<&'a mut [u8], Code> {
    if size == 0 {
        return Ok(&mut []);
    }
    check::<u8>(start, size)?;
    // SAFETY: not null, small enough (checked), exclusive (guaranteed by the caller). The recorders
    // write to this memory before they read it, so its former content does not matter. Memory from
    // C is never uninitialised in the sense of Rust: static memory is zero, and other memory has
    // some value.
    Ok(unsafe { slice::from_raw_parts_mut(start, size) })
}

/// Returns the elements of a C array for output. Null is allowed if `count` is 0.
///
/// # Safety
/// * `start` must be null, or have space for `count` values that are not used for anything else
///   during `'a`.
pub(crate) unsafe fn places<'a, T>(
    start: *mut T,
    count: usize,
) -> Result<&'a mut [MaybeUninit<T>], Code> {
    if count == 0 {
        return Ok(&mut []);
    }
    check::<T>(start, count)?;
    // SAFETY: not null, small enough (checked), exclusive (guaranteed by the caller); the elements
    // may be uninitialised.
    Ok(unsafe { slice::from_raw_parts_mut(start.cast(), count) })
}

fn check<T>(start: *const T, count: usize) -> Result<(), Code> {
    if start.is_null() {
        return Err(Code(TW_NULL));
    }
    let bytes = count.checked_mul(size_of::<T>()).filter(|bytes| isize::try_from(*bytes).is_ok());
    bytes.map(|_| ()).ok_or(Code(TW_INVALID))
}

/// Returns a C string without its null byte; empty for a null pointer.
///
/// # Safety
/// * `text` must be null, or point to a null-terminated string that does not change during `'a`.
pub(crate) unsafe fn text<'a>(text: *const c_char) -> &'a [u8] {
    if text.is_null() {
        return &[];
    }
    // SAFETY: not null, null-terminated and unchanged (guaranteed by the caller).
    unsafe { CStr::from_ptr(text) }.to_bytes()
}

/// A recorder in memory that the caller provides; C sees a structure of words.
#[repr(C)]
pub(crate) struct Placed<T> {
    mark: u64,
    room: MaybeUninit<T>,
}

/// The first word of initialised storage.
const MARK: u64 = u64::from_le_bytes(*b"tracewel");

impl<T> Placed<T> {
    /// Initialises storage with a recorder.
    pub(crate) fn put<S>(storage: &mut MaybeUninit<S>, recorder: T) {
        const { Self::fits::<S>() };
        let placed = storage.as_mut_ptr().cast::<Self>();
        let value = Self { mark: MARK, room: MaybeUninit::new(recorder) };
        // SAFETY: the storage is exclusively borrowed, and large enough and aligned (checked at
        // compile time). A former recorder in the storage needs no drop, because recorders own
        // nothing.
        unsafe { placed.write(value) };
    }

    /// Returns the recorder in storage.
    ///
    /// # Safety
    /// * The storage must hold zeros, or the result of [`Placed::put`] with the same `T` and `S`.
    #[inline]
    pub(crate) unsafe fn get<S>(storage: &mut S) -> Result<&mut T, Code> {
        const { Self::fits::<S>() };
        let placed = core::ptr::from_mut(storage).cast::<Self>();
        // SAFETY: size and alignment are checked at compile time; a word may have any value.
        let mark = unsafe { (*placed).mark };
        if mark != MARK {
            return Err(Code(TW_NOT_INITIALISED));
        }
        // SAFETY: the mark shows that the storage does not hold zeros, so it holds the result of
        // `put` (guaranteed by the caller). The reference borrows the storage.
        Ok(unsafe { (*placed).room.assume_init_mut() })
    }

    const fn fits<S>() {
        assert!(size_of::<Self>() <= size_of::<S>(), "the storage is too small");
        assert!(align_of::<Self>() <= align_of::<S>(), "the storage is not aligned");
        assert!(!core::mem::needs_drop::<T>(), "a recorder must not need a drop");
    }
}
