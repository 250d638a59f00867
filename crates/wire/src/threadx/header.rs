//! The control header.
//!
//! | 32-bit | 64-bit | name | content |
//! |---|---|---|---|
//! | 0 | 0 | id | 0x54585442 |
//! | 4 | 8 | timer_valid_mask | valid bits of a timestamp |
//! | 8 | 16 | trace_base_address | target address of byte 0 of the image |
//! | 12 | 24 | registry_start | address of registry slot 0 |
//! | 16 | 32 | reserved1 | u16, 0 |
//! | 18 | 34 | object_name_size | u16, bytes of a name field |
//! | 20 | 40 | registry_end | address past the last registry slot |
//! | 24 | 48 | buffer_start | address of event slot 0 |
//! | 28 | 56 | buffer_end | address past the last event slot |
//! | 32 | 64 | buffer_current | address of the slot that is written next |
//! | 36.. | 72.. | reserved2..4 | 0xAAAAAAAA, 0xBBBBBBBB, 0xCCCCCCCC |

use core::fmt;

use super::{Layout, Width};
use crate::ByteOrder;

/// The fields of a control header, in integers wide enough for every port.
///
/// ```
/// use tracewell_wire::threadx::{Header, HeaderError};
///
/// assert_eq!(Header::read(b"BTXT"), Err(HeaderError::TooShort { needed: 8 }));
/// assert_eq!(Header::read(b"JUNK"), Err(HeaderError::NotThreadX { found: *b"JUNK" }));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Header {
    /// The valid bits of a timestamp (`TX_TRACE_TIME_MASK`).
    pub timer_valid_mask: u64,
    /// Target address of the first byte of the image.
    pub trace_base_address: u64,
    /// Target address of registry slot 0.
    pub registry_start: u64,
    /// Target address just past the last registry slot.
    pub registry_end: u64,
    /// Target address of event slot 0.
    pub buffer_start: u64,
    /// Target address just past the last event slot.
    pub buffer_end: u64,
    /// Target address of the slot to be written next. In a full ring that slot holds the oldest
    /// event.
    pub buffer_current: u64,
    /// The second half of the word after `registry_start`. Kernels write 0.
    pub reserved1: u16,
    /// The last three words. Kernels write [`Header::RESERVED`].
    pub reserved: [u64; 3],
}

/// Error for bytes that are not a control header.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum HeaderError {
    /// The bytes end inside the header.
    TooShort {
        /// Number of bytes that [`Header::read`] needs to continue, counted from the start of the
        /// header.
        needed: usize,
    },
    /// The bytes do not begin with the id of a ThreadX trace in any byte order or width.
    NotThreadX {
        /// The first four bytes.
        found: [u8; 4],
    },
}

impl fmt::Display for HeaderError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooShort { needed } => {
                write!(f, "a ThreadX trace header needs at least {needed} bytes")
            }
            Self::NotThreadX { found: [a, b, c, d] } => write!(
                f,
                "expected the ThreadX trace id 0x54585442 in either byte order, \
                 found bytes {a:02X} {b:02X} {c:02X} {d:02X}"
            ),
        }
    }
}

impl core::error::Error for HeaderError {}

impl Header {
    /// The first word of every image: the bytes `TXTB` on a *big*-endian target, `BTXT` on a
    /// little-endian target.
    pub const ID: u32 = 0x5458_5442;

    /// The values that kernels write to the three reserved words at the end.
    pub const RESERVED: [u64; 3] = [0xAAAA_AAAA, 0xBBBB_BBBB, 0xCCCC_CCCC];

    /// Detects byte order and width.
    ///
    /// A 64-bit little-endian image starts with the same four bytes as a 32-bit image. In a 64-bit
    /// image, the next four bytes are the upper half of the id word, which is 0. In a 32-bit image,
    /// they are the timer mask. If these four bytes are 0, the name size and the first reserved
    /// word distinguish the two layouts.
    fn recognise(bytes: &[u8]) -> Result<(ByteOrder, Width), HeaderError> {
        let too_short = |needed| HeaderError::TooShort { needed };
        let first: [u8; 4] = *bytes.first_chunk().ok_or(too_short(4))?;
        let id = |order: ByteOrder| order.u32(first) == Self::ID;
        if id(ByteOrder::Big) {
            return Ok((ByteOrder::Big, Width::Bits32));
        }
        if id(ByteOrder::Little) {
            let second: [u8; 4] = *bytes[4..].first_chunk().ok_or(too_short(8))?;
            let wide = second == [0; 4] && Self::plausible_when_wide(bytes, ByteOrder::Little);
            return Ok((ByteOrder::Little, if wide { Width::Bits64 } else { Width::Bits32 }));
        }
        // The id is in the low half of its word. In big-endian order, the low half is second.
        if first == [0; 4] {
            let second: [u8; 4] = *bytes[4..].first_chunk().ok_or(too_short(8))?;
            if ByteOrder::Big.u32(second) == Self::ID {
                return Ok((ByteOrder::Big, Width::Bits64));
            }
        }
        Err(HeaderError::NotThreadX { found: first })
    }

    fn plausible_when_wide(bytes: &[u8], order: ByteOrder) -> bool {
        // Offsets of the wide layout: the second half of word 4, and word 9.
        let name_size = bytes.get(34..36).and_then(|b| b.first_chunk()).map(|b| order.u16(*b));
        let reserved = bytes.get(72..80).and_then(|b| b.first_chunk()).map(|b| order.u64(*b));
        name_size.is_some_and(|n| (1..=4096).contains(&n))
            && reserved.is_some_and(|r| r == Self::RESERVED[0] || (r >> 32) == 0)
    }

    /// Reads the header at the start of `bytes`. Returns the header and its layout.
    ///
    /// Checks only the id. The caller must check that the addresses are plausible.
    ///
    /// # Errors
    /// Returns an error if there are too few bytes, or if they do not begin with the id.
    pub fn read(bytes: &[u8]) -> Result<(Layout, Self), HeaderError> {
        let (order, width) = Self::recognise(bytes)?;
        let mut layout = Layout { order, width, name_size: 0 };
        let w = width.bytes();
        let needed = layout.header_size();
        let bytes = bytes.get(..needed).ok_or(HeaderError::TooShort { needed })?;
        // Word 4 holds two half words, which the wide layout pads to a whole word. So word n has
        // the same meaning in both layouts.
        let word =
            |index: usize| layout.word(bytes, index * w).ok_or(HeaderError::TooShort { needed });
        let half = |at: usize| {
            let half = bytes.get(at..).and_then(|b| b.first_chunk());
            half.map(|b| order.u16(*b)).ok_or(HeaderError::TooShort { needed })
        };
        let header = Self {
            timer_valid_mask: word(1)?,
            trace_base_address: word(2)?,
            registry_start: word(3)?,
            reserved1: half(4 * w)?,
            registry_end: word(5)?,
            buffer_start: word(6)?,
            buffer_end: word(7)?,
            buffer_current: word(8)?,
            reserved: [word(9)?, word(10)?, word(11)?],
        };
        layout.name_size = half(4 * w + 2)?;
        Ok((layout, header))
    }

    /// Writes the header at the start of `bytes`. Returns `None` if the bytes are too few.
    pub fn write(&self, layout: Layout, bytes: &mut [u8]) -> Option<()> {
        let w = layout.width.bytes();
        let bytes = bytes.get_mut(..layout.header_size())?;
        bytes.fill(0);
        let words = [
            (0, u64::from(Self::ID)),
            (1, self.timer_valid_mask),
            (2, self.trace_base_address),
            (3, self.registry_start),
            (5, self.registry_end),
            (6, self.buffer_start),
            (7, self.buffer_end),
            (8, self.buffer_current),
            (9, self.reserved[0]),
            (10, self.reserved[1]),
            (11, self.reserved[2]),
        ];
        // Word 4 contains two numbers of 16 bits, so the list leaves it out.
        for (index, value) in words {
            layout.put_word(bytes, index * w, value)?;
        }
        *bytes.get_mut(4 * w..)?.first_chunk_mut()? = layout.order.bytes_of_u16(self.reserved1);
        *bytes.get_mut(4 * w + 2..)?.first_chunk_mut()? =
            layout.order.bytes_of_u16(layout.name_size);
        Some(())
    }

    /// Returns the offset of `buffer_current`, the only word that changes while events are
    /// recorded.
    pub const fn buffer_current_offset(layout: Layout) -> usize {
        8 * layout.width.bytes()
    }
}
