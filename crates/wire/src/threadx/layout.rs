//! The target's byte order and word size, the sizes that follow from them, and access to words.

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
    /// Returns the size of one word in bytes: 4 or 8.
    #[inline]
    pub const fn bytes(self) -> usize {
        match self {
            Self::Bits32 => 4,
            Self::Bits64 => 8,
        }
    }

    /// Returns the largest value of one word.
    #[inline]
    pub const fn max(self) -> u64 {
        match self {
            Self::Bits32 => u32::MAX as u64,
            Self::Bits64 => u64::MAX,
        }
    }
}

/// The properties of an image that a reader needs for the parts after the header. [`Header::read`]
/// returns them.
///
/// ```
/// use tracewell_wire::ByteOrder;
/// use tracewell_wire::threadx::{Layout, Width};
///
/// let layout = Layout { order: ByteOrder::Big, width: Width::Bits32, name_size: 32 };
/// assert_eq!((layout.header_size(), layout.event_size()), (48, 32));
/// assert_eq!(layout.word(&[0, 0, 1, 2], 0), Some(0x102));
/// ```
///
/// [`Header::read`]: super::Header::read
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Layout {
    /// Byte order of the target.
    pub order: ByteOrder,
    /// Size of the target's `ULONG`.
    pub width: Width,
    /// Size of the name in a registry slot, in bytes (`TX_TRACE_OBJECT_REGISTRY_NAME`, normally
    /// 32).
    pub name_size: u16,
}

impl Layout {
    /// Returns the size of the control header in bytes: 48 or 96.
    #[inline]
    pub const fn header_size(self) -> usize {
        match self.width {
            Width::Bits32 => 48,
            Width::Bits64 => 96,
        }
    }

    /// Returns the size of a registry slot in bytes: 16 + name, or 32 + name rounded up to a
    /// multiple of 8.
    #[inline]
    pub const fn registry_slot_size(self) -> usize {
        match self.width {
            Width::Bits32 => 16 + self.name_size as usize,
            Width::Bits64 => (32 + self.name_size as usize).next_multiple_of(8),
        }
    }

    /// Returns the size of an event slot in bytes: 32 or 64.
    #[inline]
    pub const fn event_size(self) -> usize {
        8 * self.width.bytes()
    }

    /// Returns the word at offset `at`, or `None` if `bytes` does not contain the whole word.
    #[inline]
    pub fn word(self, bytes: &[u8], at: usize) -> Option<u64> {
        let rest = bytes.get(at..)?;
        Some(match self.width {
            Width::Bits32 => u64::from(self.order.u32(*rest.first_chunk()?)),
            Width::Bits64 => self.order.u64(*rest.first_chunk()?),
        })
    }

    /// Stores a word at offset `at`. Stores only the lower half of `value` if words have 32 bits.
    ///
    /// Returns `None` and stores nothing if `bytes` has no room for the whole word.
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
