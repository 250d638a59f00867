//! The memory image of a ThreadX event trace (`.trx`), as the target writes it and TraceX reads it.
//!
//! ```text
//! control header | registry slot 0 .. R-1 | event slot 0 .. E-1 | slack
//! ```
//!
//! The image has no version, checksum or length. Everything is in the target's byte order and in
//! units of its `ULONG`, which has 32 bits on nearly every port and 64 bits on a few; a
//! [`Layout`] holds what those choices make of the sizes. Numbers are handed out as `u64` in both
//! cases. Source of the facts: `tx_trace.h` and the kernel's `tx_trace_*.c`, public Eclipse
//! ThreadX repository.
//!
//! Not here: which slot is the oldest, what a stamp is worth in time, which slots to believe
//! (the reader, `tracewell::format::threadx`), and which slot is taken next (the recorder).

mod event;
mod header;
pub mod ids;
mod layout;
mod registry;

pub use event::{Event, PriorityWord, context};
pub use header::{Header, HeaderError};
pub use layout::{Layout, Width};
pub use registry::RegistrySlot;
