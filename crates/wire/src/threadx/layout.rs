//! Sizes that follow from the target's `ULONG` and its name length, and the words themselves.

use crate::ByteOrder;

/// The size of the target's `ULONG`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Width {
    /// Four bytes: every 32-bit port, and the 64-bit ports that keep `ULONG` at 32 bits.
    Bits32,
    /// Eight bytes: ports where `ULONG` is an LP64 `unsigned long`. TraceX cannot read these.
    Bits64,
}

impl Width {
    /// Bytes of one word: 4 or 8.
    #[inline]
    pub const fn bytes(self) -> usize {
        match self {
            Self::Bits32 => 4,
            Self::Bits64 => 8,
        }
    }

    /// The largest number that one word holds.
    #[inline]
    pub const fn max(self) -> u64 {
        match self {
            Self::Bits32 => u32::MAX as u64,
            Self::Bits64 => u64::MAX,
        }
    }
}

/// What has to be known before any byte of an image after the header can be read.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Layout {
    /// Byte order of the target.
    pub order: ByteOrder,
    /// Size of its `ULONG`.
    pub width: Width,
    /// Bytes of the name field of a registry slot (`TX_TRACE_OBJECT_REGISTRY_NAME`, normally 32).
    pub name_size: u16,
}

impl Layout {
    /// Bytes of the control header: 48 or 96.
    #[inline]
    pub const fn header_size(self) -> usize {
        match self.width {
            Width::Bits32 => 48,
            Width::Bits64 => 96,
        }
    }

    /// Bytes of one registry slot: 16 + name, or 32 + name rounded up to a multiple of 8.
    #[inline]
    pub const fn registry_slot_size(self) -> usize {
        match self.width {
            Width::Bits32 => 16 + self.name_size as usize,
            Width::Bits64 => (32 + self.name_size as usize).next_multiple_of(8),
        }
    }

    /// Bytes of one event slot: 32 or 64.
    #[inline]
    pub const fn event_size(self) -> usize {
        8 * self.width.bytes()
    }

    /// The word at a byte offset, or `None` where the bytes end before it does.
    #[inline]
    pub fn word(self, bytes: &[u8], at: usize) -> Option<u64> {
        let rest = bytes.get(at..)?;
        Some(match self.width {
            Width::Bits32 => u64::from(self.order.u32(*rest.first_chunk()?)),
            Width::Bits64 => self.order.u64(*rest.first_chunk()?),
        })
    }

    /// Stores a word at a byte offset; the upper half is cut off where a word has 32 bits.
    /// `None` where the bytes end before the word does; nothing is stored then.
    #[inline]
    pub fn put_word(self, bytes: &mut [u8], at: usize, value: u64) -> Option<()> {
        let rest = bytes.get_mut(at..)?;
        match self.width {
            Width::Bits32 => *rest.first_chunk_mut()? = self.order.bytes_of_u32(value as u32),
            Width::Bits64 => *rest.first_chunk_mut()? = self.order.bytes_of_u64(value),
        }
        Some(())
    }
}
