//! The trace functions of IEEE Std 1003.1 (options TRC, TEF, TRI, TRL) for C: `include/trace.h`.
//!
//! What the functions do is in `tracewell-posix`; here C's pointers and marks are checked, stream
//! identifiers are found, and errors become numbers. Every function returns 0 or an error number and
//! leaves errno alone, but for the two that the standard has otherwise.
//!
//! | module | functions |
//! |---|---|
//! | `attributes` | `posix_trace_attr_*` |
//! | `sets` | `posix_trace_eventset_*` |
//! | `streams` | create to shutdown, status, filter |
//! | `types` | `posix_trace_event`, event types |
//! | `reading` | the three readers, logs |
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

/// Runs what a function does; what it returns to C. A panic ends here, errno stays as it was.
#[inline]
fn guard(work: impl FnOnce() -> Result<(), Number>) -> c_int {
    crate::boundary::keeping_errno(|| match catch_unwind(AssertUnwindSafe(work)) {
        Ok(Ok(())) => 0,
        Ok(Err(Number(number))) => number,
        Err(_) => libc::EINVAL,
    })
}

/// A pointer that must not be null.
#[inline]
fn some<T>(pointer: Option<T>) -> Result<T, Number> {
    pointer.ok_or(INVALID)
}

/// Nanoseconds since 1970 as C has them.
fn timespec(nanoseconds: u64) -> libc::timespec {
    libc::timespec {
        tv_sec: (nanoseconds / 1_000_000_000) as libc::time_t,
        tv_nsec: (nanoseconds % 1_000_000_000) as libc::c_long,
    }
}
