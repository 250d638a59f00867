//! The memory image of a ThreadX event trace (`.trx`), which the target writes and TraceX reads.
//!
//! ```text
//! control header | registry slot 0 .. R-1 | event slot 0 .. E-1 | slack
//! ```
//!
//! The image has no version, checksum or length. All words have the target's byte order and the
//! size of its `ULONG`: 32 bits on almost every port, 64 bits on a few. A [`Layout`] holds both.
//! This module returns all words as `u64`. Source: `tx_trace.h` and the kernel's `tx_trace_*.c` in
//! the public Eclipse ThreadX repository.
//!
//! The decoder (`tracewell::format::threadx`) finds the oldest slot, converts timestamps to time
//! and detects damaged slots. The recorder (`tracewell_record::threadx`) chooses the slot to write
//! next.
//!
//! ```
//! use tracewell_wire::ByteOrder;
//! use tracewell_wire::threadx::{Event, Header, Layout, PriorityWord, Width};
//!
//! let layout = Layout { order: ByteOrder::Little, width: Width::Bits32, name_size: 32 };
//! let header = Header {
//!     timer_valid_mask: 0xFFFF_FFFF,
//!     trace_base_address: 0x2000_0000,
//!     registry_start: 0x2000_0030,
//!     registry_end: 0x2000_0030,
//!     buffer_start: 0x2000_0030,
//!     buffer_end: 0x2000_0050,
//!     buffer_current: 0x2000_0030,
//!     reserved1: 0,
//!     reserved: Header::RESERVED,
//! };
//! let event = Event {
//!     context: 0x2000_1000,
//!     priority_word: PriorityWord::of_thread(5, 5),
//!     id_word: 83,
//!     stamp: 1000,
//!     info: [1, 2, 3, 4],
//! };
//!
//! let mut image = [0; 80];
//! header.write(layout, &mut image).unwrap();
//! event.write(layout, &mut image[layout.header_size()..]).unwrap();
//! assert_eq!(&image[..4], b"BTXT");
//! assert_eq!(Header::read(&image), Ok((layout, header)));
//! assert_eq!(Event::read(layout, &image[48..]), Some(event));
//! ```

mod event;
mod header;
pub mod ids;
mod layout;
mod registry;

pub use event::{Event, PriorityWord, context};
pub use header::{Header, HeaderError};
pub use layout::{Layout, Width};
pub use registry::RegistrySlot;
