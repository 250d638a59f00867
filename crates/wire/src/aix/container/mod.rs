//! The container `TWX1`: our own file format for AIX entries. The layout of AIX's log is not
//! public.
//!
//! The header's endian byte sets the byte order of the numbers in header and frames. Entries are
//! always big-endian.

mod frame;
mod header;
mod texts;

use core::fmt;

pub use frame::{Frame, FrameHeader, MAX_ENTRY_LENGTH};
pub use header::{FileHeader, MAX_HEADER_LENGTH};
pub use texts::Texts;

/// Error for bytes that are not a complete header or frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ReadError {
    /// The bytes end before the end of the structure. At the end of a file this means that the file
    /// is truncated.
    Incomplete {
        /// Number of bytes that the next attempt needs, counted from the start of the structure.
        needed: usize,
    },
    /// The bytes are not a valid header or frame, regardless of the bytes after them.
    Damaged(Damage),
}

/// The part of a header or frame that is damaged.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Damage {
    /// The file does not begin with `TWX1`.
    Magic {
        /// The first four bytes.
        found: [u8; 4],
    },
    /// The endian byte is neither 1 (little) nor 2 (big).
    Endian {
        /// The endian byte of the header.
        found: u8,
    },
    /// The version is not 1.
    Version {
        /// The version byte of the header.
        found: u8,
    },
    /// The environment is neither 32 nor 64.
    Environment {
        /// The environment byte of the header.
        found: u8,
    },
    /// The header is shorter than its fixed part with six empty strings, or longer than
    /// [`MAX_HEADER_LENGTH`].
    HeaderLength {
        /// The length in the header, in bytes.
        found: u32,
    },
    /// The header contains fewer than six NUL-terminated strings.
    Texts {
        /// Number of strings in the header.
        found: usize,
    },
    /// The entry is shorter than its hook word, or longer than [`MAX_ENTRY_LENGTH`].
    EntryLength {
        /// The entry length that the frame specifies, in bytes.
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
