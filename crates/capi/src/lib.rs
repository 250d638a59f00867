//! The recorders of `tracewell-record` for C and C++. The header is `include/tracewell.h`.
//!
//! | module | contents |
//! |---|---|
//! | `threadx` | the ring that TraceX reads |
//! | `aix` | AIX's trace calls |
//! | `rkh` | RKH's byte stream |
//! | `shark` | chunks of the S.Ha.R.K. kernel, and their senders |
//! | `stream`, `log`, `flusher` | Tracewell's own recorder, and its logs |
//! | `posix` | the trace functions of POSIX: `include/trace.h` |
//!
//! `tracewell-record` implements the recorders. This crate adds functions with a C interface, plain
//! structures and error codes.
//!
//! # The boundary
//!
//! One module, `boundary`, checks everything that C passes in. It returns
//! [`TW_NULL`](code::TW_NULL) for a null pointer, `TW_NOT_INITIALISED` for storage that was never
//! initialised, and `TW_PANIC` after a panic. References and boxes in the signatures below are
//! pointers in C, and `None` is a null pointer. The caller is responsible for the rest: a pointer
//! that is not null must be aligned and must point to a value of its type. The value must have the
//! size and lifetime that the function requires, and no other code may use its memory during that
//! time.
//!
//! Without the default feature `std`, the library contains only the recorders that need no
//! operating system (ThreadX, AIX, RKH and S.Ha.R.K. chunks) and does not use Rust's standard
//! library. This is the build for firmware. Its panic handler is in `firmware`.
//!
//! Unsafe: exported symbols and C pointers.
#![cfg_attr(not(feature = "std"), no_std)]
#![deny(unsafe_code)]
#![allow(
    non_camel_case_types,
    reason = "types have the names of the header, so that one search finds both"
)]

pub mod aix;
mod boundary;
pub mod clock;
pub mod code;
#[cfg(target_os = "none")]
mod firmware;
#[cfg(feature = "std")]
pub mod flusher;
#[cfg(feature = "std")]
pub mod log;
/// cbindgen:ignore
#[cfg(feature = "std")]
pub mod posix;
pub mod rkh;
pub mod shark;
#[cfg(feature = "std")]
pub mod stream;
pub mod threadx;
