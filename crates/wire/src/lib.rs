//! The bytes of each trace dialect, both directions.
//!
//! A byte layout is defined here once and used by the recorder that writes it and by the reader
//! that decodes it. What the bytes *mean* (names, clocks, gaps, order of events) is not here: that
//! is the business of the reader in the crate `tracewell`; when to write them is the business of
//! `tracewell-record`.
//!
//! The crate takes nothing: no standard library, no allocator, no dependency, no `unsafe`.
//! Functions that read bytes return `None` or an error instead of panicking, for any input.
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
mod order;
pub mod posix;
pub mod rkh;
pub mod shark;
pub mod threadx;

pub use order::ByteOrder;
