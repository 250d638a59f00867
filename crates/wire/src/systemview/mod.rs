//! The byte layout of SEGGER SystemView streams, as recorders 2.x and 3.x write it.
//!
//! A stream is a sequence of packets without index, checksum or packet count:
//!
//! | event ids | layout |
//! |---|---|
//! | 0 to 23 | id, parameters, time since the previous packet |
//! | 24 to 30 | id, length of the parameters in bytes, parameters, time |
//! | 31 | id, length of the rest, a second id ([`ids::extended`]), parameters, time |
//! | 32 and above | id, length of the parameters in bytes, parameters, time |
//!
//! Ids, lengths, times and parameters are little-endian numbers of 7 bits per byte ([`number`]),
//! or texts ([`text`]). Times are ticks since the previous packet that the recorder stored. A
//! **sync** is [`SYNC`] zero bytes. Zero bytes can also be read as packets with the id 0.
//!
//! | file | content |
//! |---|---|
//! | `ids` | event ids, and the parameters of the events without a length |
//! | `number` | numbers |
//! | `text` | texts |
//! | `packet` | packets |
//! | `short` | the most frequent packets |
//!
//! The decoder handles the meanings of events, the texts in which a target describes itself, and
//! the head of files. The facts come from the public recorders; `docs/systemview.md` lists the
//! sources.

pub mod ids;
pub mod number;
pub mod packet;
mod short;
pub mod text;

pub use packet::{Form, Packet};
pub use short::ShortPacket;
pub use text::TextOrder;

/// Number of zero bytes of a sync.
pub const SYNC: usize = 10;

/// Maximum length of the parameters of a packet in bytes. Recorders write much shorter packets.
pub const MAX_PAYLOAD: usize = 1 << 16;

/// Number of bytes of the greeting that a target sends over a serial line: `SV` and two bytes.
pub const SERIAL_GREETING: usize = 4;

/// Number of bytes of the greeting that a target sends over TCP: `SEGGER SystemView V`, a version
/// and zero bytes.
pub const TCP_GREETING: usize = 32;

/// The reason why bytes are not a packet.
///
/// ```
/// use tracewell_wire::systemview::Fault;
///
/// assert_eq!(Fault::LongNumber.to_string(), "a number of more than 32 bits");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fault {
    /// The bytes end within the packet.
    Incomplete,
    /// A number has more than 32 bits.
    LongNumber,
    /// The length exceeds [`MAX_PAYLOAD`].
    LongPayload,
    /// The parameters of a known event do not fit into the length of its packet.
    ShortPayload,
}

impl core::fmt::Display for Fault {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(match self {
            Self::Incomplete => "an incomplete packet",
            Self::LongNumber => "a number of more than 32 bits",
            Self::LongPayload => "a length of more than 65536 bytes",
            Self::ShortPayload => "parameters that exceed the length of their packet",
        })
    }
}

impl core::error::Error for Fault {}
