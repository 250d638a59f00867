//! The byte layouts of every trace dialect, for reading and writing.
//!
//! Each layout is defined once, here. The recorder and the decoder of a dialect share this
//! definition. The decoders in the crate `tracewell` interpret the bytes (names, clocks, gaps,
//! order of events). The recorders in `tracewell-record` decide when to write which bytes.
//!
//! The crate has no dependencies. The crate uses neither the standard library nor an allocator, and
//! has no `unsafe` code. Functions that read bytes return `None` or an error if the bytes are
//! invalid. These functions never panic.
//!
//! ```
//! use tracewell_wire::ByteOrder;
//! use tracewell_wire::threadx::{Event, Layout, Width};
//!
//! let layout = Layout { order: ByteOrder::Big, width: Width::Bits32, name_size: 32 };
//! let event = Event { context: 0x2000_1000, id_word: 4096, stamp: 77, ..Event::UNUSED };
//! let mut bytes = [0; 32];
//! event.write(layout, &mut bytes).unwrap();
//! assert_eq!(Event::read(layout, &bytes), Some(event));
//! ```
#![no_std]
#![forbid(unsafe_code)]

pub mod aix;
pub mod arrivals;
pub mod frame;
pub mod native;
pub mod number;
mod order;
pub mod posix;
mod program_end;
pub mod rkh;
pub mod shark;
pub mod systemview;
pub mod target;
pub mod threadx;

pub use order::ByteOrder;
pub use program_end::ProgramEnd;

/// The example of the README, as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
