//! The container `TWX1`: our own file for AIX entries, since the native log's layout is not public.
//!
//! Everything in it is our decision. Numbers of header and frames are in the byte order that the
//! header's endian byte says; the bytes of entries are big-endian always.

mod frame;
mod header;
mod texts;

use core::fmt;

pub use frame::{Frame, FrameHead, MAX_ENTRY_LENGTH};
pub use header::{FileHeader, MAX_HEADER_LENGTH};
pub use texts::Texts;

/// Why no header or frame could be read from bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ReadError {
    /// Nothing wrong so far, but the bytes end before the structure does. At the end of a file that
    /// means that it was cut.
    Incomplete {
        /// Bytes needed before more can be said, counted from the start of the structure.
        needed: usize,
    },
    /// These bytes are no such structure, whatever follows.
    Damaged(Damage),
}

/// What is wrong with damaged bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Damage {
    /// The file does not begin with `TWX1`.
    Magic {
        /// The first four bytes.
        found: [u8; 4],
    },
    /// The endian byte is neither 1 (little) nor 2 (big).
    Endian {
        /// The byte.
        found: u8,
    },
    /// A version other than 1.
    Version {
        /// The byte.
        found: u8,
    },
    /// An environment that is neither 32 nor 64.
    Environment {
        /// The byte.
        found: u8,
    },
    /// A header shorter than its fixed part and six empty texts, or longer than
    /// [`MAX_HEADER_LENGTH`].
    HeaderLength {
        /// The length field.
        found: u32,
    },
    /// Fewer than six NUL-terminated texts before the header's end.
    Texts {
        /// Texts that were found.
        found: usize,
    },
    /// An entry shorter than its hook word, or longer than [`MAX_ENTRY_LENGTH`].
    EntryLength {
        /// The length field.
        found: u32,
    },
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Incomplete { needed } => write!(f, "at least {needed} bytes are needed"),
            Self::Damaged(damage) => damage.fmt(f),
        }
    }
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Magic { found: [a, b, c, d] } => {
                write!(f, "expected TWX1, found bytes {a:02X} {b:02X} {c:02X} {d:02X}")
            }
            Self::Endian { found } => write!(f, "expected endian byte 1 or 2, found {found}"),
            Self::Version { found } => write!(f, "expected version 1, found {found}"),
            Self::Environment { found } => {
                write!(f, "expected environment 32 or 64, found {found}")
            }
            Self::HeaderLength { found } => write!(
                f,
                "expected a header of {} to {MAX_HEADER_LENGTH} bytes, found {found}",
                FileHeader::MIN_LENGTH
            ),
            Self::Texts { found } => write!(f, "expected 6 texts in the header, found {found}"),
            Self::EntryLength { found } => write!(
                f,
                "expected an entry of one hook word to {MAX_ENTRY_LENGTH} bytes, found {found}"
            ),
        }
    }
}

impl core::error::Error for ReadError {}
