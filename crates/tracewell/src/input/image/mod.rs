//! Memory images that a debugger or boot loader saved as text.
//!
//! | encoding | looks like | addresses |
//! |---|---|---|
//! | Intel HEX | `:1051A00042545854…49` | 32 bits, by record |
//! | Motorola S-record | `S31557DC51A04254…10` | 16, 24 or 32 bits, by record |
//! | bare hex | `42 54 58 54 …` | none: the first byte is at address 0 |
//!
//! Ask [`recognise()`] which one it is and let [`Encoding::decode`] read it. Damage never stops the
//! reading: each fault becomes a [`TextDiagnostic`] that names line and column, and what is whole
//! is kept. Memory stays within a small multiple of the text's size whatever the addresses say.
//!
//! Not here: opening files, and what the bytes mean. Where in an image a trace begins is the
//! business of its format, see [`crate::format::threadx::locate`].
//!
//! ```
//! use tracewell::input::image::{Encoding, recognise};
//!
//! let text = b":0410000042545854AA\n:00000001FF\n";
//! assert_eq!(recognise(text), Some(Encoding::IntelHex));
//! let decoded = Encoding::IntelHex.decode(text);
//! let segment = &decoded.image.segments()[0];
//! assert_eq!((segment.address(), segment.bytes()), (0x1000, &b"BTXT"[..]));
//! assert!(decoded.diagnostics.is_empty());
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

pub use diagnostic::{Cause, Diagnostics, Severity, TextDiagnostic};
pub use memory::{MemoryImage, Segment};
pub use recognise::recognise;

/// How a memory image is written down as text.
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
    /// The name by which people know it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::IntelHex => "Intel HEX",
            Self::SRecord => "S-record",
            Self::AsciiHex => "bare hex",
        }
    }

    /// Reads a complete text. Never fails: what could not be read is told in the diagnostics, and
    /// the image is empty where nothing could be.
    pub fn decode(self, text: &[u8]) -> Decoded {
        match self {
            Self::IntelHex => intel_hex::decode(text),
            Self::SRecord => s_record::decode(text),
            Self::AsciiHex => ascii_hex::decode(text),
        }
    }
}

/// What a text held, and what was wrong with it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Decoded {
    /// The bytes, by address.
    pub image: MemoryImage,
    /// Faults in the order in which they were found; those about addresses come last.
    pub diagnostics: Diagnostics,
}
