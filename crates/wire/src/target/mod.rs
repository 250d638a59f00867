//! The compact stream of small targets: packets of packed events, on a line or in a ring in RAM.
//!
//! A recorder on a microcontroller writes this stream, in C (`firmware/tracewell_target.c`) or in
//! Rust (`tracewell_record::target`). All numbers of fixed size are little-endian.
//!
//! | module | content |
//! |---|---|
//! | [`packet`] | the header, the checksum, and the search for packets in any bytes |
//! | [`event`] | the events in the payload of a packet |
//! | [`ids`] | the ids of events |
//! | [`vocabulary`] | the names and arguments of events |
//! | [`definition`] | names of tasks, objects and events |
//! | [`ring`] | the ring in RAM, found by its control block in a dump of the memory |
//!
//! A stream on a line consists of packets without any bytes between them. A reader can decode each
//! packet alone: its header contains the full time of its first event. The numbers in the header
//! show how many packets and events are missing before the packet. A packet of core 255 contains
//! definitions instead of events.

pub mod definition;
pub mod event;
pub mod ids;
pub mod packet;
pub mod ring;
pub mod vocabulary;

pub use definition::{Definition, DefinitionKind};
pub use event::{Form, RecordedEvent, events};
pub use packet::{Header, Lookup, Packet, crc16};
pub use ring::Control;
pub use vocabulary::Described;

/// The version of the stream that this module describes.
pub const VERSION: u8 = 1;

/// Maximum number of cores; cores have the numbers 0 to 31.
pub const MAX_CORES: u8 = 32;

/// The core number of packets that contain definitions.
pub const DEFINITIONS: u8 = 255;

/// Returns a little-endian number of 16 bits at an offset.
fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

/// Returns a little-endian number of 32 bits at an offset.
fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}
