//! The recorders of `tracewell-record` for C and C++: `include/tracewell.h`.
//!
//! `threadx` fills the ring that TraceX reads, `aix` takes AIX's trace calls, `rkh` sends RKH's stream, `shark`
//! fills the chunks of the S.Ha.R.K. kernel and sends them, `stream` is our own recorder, `log` and `flusher`
//! take its records out. What is recorded, and when, is decided in
//! `tracewell-record`; here is only what C needs: flat functions, plain structures, numbers for errors.
//!
//! # The border
//!
//! Everything that C hands over is checked in one place, `boundary`: null pointers become
//! [`TW_NULL`](code::TW_NULL), storage that was never initialised `TW_NOT_INITIALISED`, a panic `TW_PANIC`;
//! none of them goes further. References and boxes in the signatures below are C's pointers, and `None`
//! its null. What cannot be checked is the caller's promise: a pointer that is not null points at
//! what its type says, aligned, as large as said, for as long as the function's text says, and nobody
//! else uses it meanwhile.
//!
//! Without the feature `std`, which is there by default, the library has the recorders that need no operating
//! system, ThreadX, AIX, RKH and S.Ha.R.K. chunks, and nothing of Rust's standard library: for
//! firmware. `firmware` has what a program without operating system needs besides.
//!
//! The modules hold `unsafe` code because exported names and C's pointers are that by nature.
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
