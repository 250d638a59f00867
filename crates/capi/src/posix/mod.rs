//! The trace functions of IEEE Std 1003.1 (options TRC, TEF, TRI, TRL) for C: `include/trace.h`.
//!
//! `tracewell-posix` implements them. This module checks pointers, checks the marks of objects,
//! looks up stream identifiers, and converts errors to numbers. The functions return 0 or an error
//! number, except for two that the standard defines differently. No function changes errno.
//!
//! | module | functions |
//! |---|---|
//! | `attributes` | `posix_trace_attr_*` |
//! | `sets` | `posix_trace_eventset_*` |
//! | `streams` | creation, control, status and shutdown of streams |
//! | `types` | `posix_trace_event`, event types |
//! | `reading` | functions that read events, and functions for logs |
//! | `handles` | identifiers of streams |

pub mod attributes;
mod handles;
pub mod reading;
pub mod sets;
pub mod streams;
pub mod types;

use std::ffi::c_int;
use std::panic::{AssertUnwindSafe, catch_unwind};

use tracewell_posix::Error;

/// An error number of the standard.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Number(c_int);

impl From<Error> for Number {
    fn from(error: Error) -> Self {
        Self(error.number())
    }
}

const INVALID: Number = Number(libc::EINVAL);

/// Runs the body of a function and returns its result to C. Catches panics and preserves errno.
#[inline]
fn guard(work: impl FnOnce() -> Result<(), Number>) -> c_int {
    crate::boundary::keeping_errno(|| match catch_unwind(AssertUnwindSafe(work)) {
        Ok(Ok(())) => 0,
        Ok(Err(Number(number))) => number,
        Err(_) => libc::EINVAL,
    })
}

/// Returns a pointer, or EINVAL if it is null.
#[inline]
fn non_null<T>(pointer: Option<T>) -> Result<T, Number> {
    pointer.ok_or(INVALID)
}

/// Converts nanoseconds since 1970 to C's structure.
fn timespec(nanoseconds: u64) -> libc::timespec {
    libc::timespec {
        tv_sec: (nanoseconds / 1_000_000_000) as libc::time_t,
        tv_nsec: (nanoseconds % 1_000_000_000) as libc::c_long,
    }
}
