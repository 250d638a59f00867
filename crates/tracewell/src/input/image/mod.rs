//! Memory images that a debugger or boot loader saved as text.
//!
//! | encoding | example | addresses |
//! |---|---|---|
//! | Intel HEX | `:1051A00042545854…49` | 32 bits, by record |
//! | Motorola S-record | `S31557DC51A04254…10` | 16, 24 or 32 bits, by record |
//! | bare hex | `42 54 58 54 …` | none; the first byte is at address 0 |
//!
//! [`recognise()`] detects the encoding and [`Encoding::decode`] decodes it. Damage never ends the
//! decoding: each fault becomes a diagnostic with line and column, and the undamaged bytes are
//! kept. The memory used is at most a small multiple of the text's size, regardless of the
//! addresses.
//!
//! The decoder of the format finds the start of the trace in an image; see
//! [`crate::format::threadx::locate`].
//!
//! ```
//! use tracewell::input::image::{Encoding, recognise};
//!
//! let text = b":0410000042545854AA\n:00000001FF\n";
//! assert_eq!(recognise(text), Some(Encoding::IntelHex));
//! let decoded = Encoding::IntelHex.decode(text);
//! let segment = &decoded.image.segments()[0];
//! assert_eq!((segment.address(), segment.bytes()), (0x1000, &b"BTXT"[..]));
//! assert_eq!(decoded.diagnostics.worst(), None);
//! ```

mod ascii_hex;
mod diagnostic;
mod digits;
mod intel_hex;
mod lines;
mod memory;
mod recognise;
mod record;
mod s_record;

pub use memory::{MemoryImage, Segment};
pub use recognise::recognise;

use crate::model::Diagnostics;

/// Encoding of a memory image as text.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Encoding {
    /// Intel HEX with record types 00 to 05.
    IntelHex,
    /// Motorola S-records S0 to S9.
    SRecord,
    /// Pairs of hexadecimal digits, also as a list `0x42, 0x54`.
    AsciiHex,
}

impl Encoding {
    /// Returns the common name of the encoding.
    pub const fn name(self) -> &'static str {
        match self {
            Self::IntelHex => "Intel HEX",
            Self::SRecord => "S-record",
            Self::AsciiHex => "bare hex",
        }
    }

    /// Decodes a whole text. This never fails. Faults are in the diagnostics, and the image may be
    /// empty.
    pub fn decode(self, text: &[u8]) -> Decoded {
        match self {
            Self::IntelHex => intel_hex::decode(text),
            Self::SRecord => s_record::decode(text),
            Self::AsciiHex => ascii_hex::decode(text),
        }
    }
}

/// The content of a text, and its faults.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Decoded {
    /// The bytes, by address.
    pub image: MemoryImage,
    /// Faults in the order in which they were found. Contradictions between records are found last.
    /// Each message begins with line and column.
    pub diagnostics: Diagnostics,
}
