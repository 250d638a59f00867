//! One record: a header word, then one word per field.
//!
//! | bits of the header | content |
//! |---|---|
//! | 0 to 31 | ticks since the packet's base, or since the last [`REBASE`] in the packet |
//! | 32 to 47 | event id; 0 is [`REBASE`] |
//! | 48 to 63 | number of words after the header |

/// Id of the record that sets a new base. The only field of this record is the base timestamp of
/// the following records. A writer stores the record when the ticks since the base exceed 32 bits.
pub const REBASE: u16 = 0;

/// The header of a record.
///
/// ```
/// use tracewell_wire::native::RecordHeader;
///
/// let head = RecordHeader { delta: 250, id: 17, words: 2 };
/// assert_eq!(RecordHeader::unpack(head.pack()), head);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RecordHeader {
    /// Ticks since the base.
    pub delta: u32,
    /// Id of the event; 0 is [`REBASE`].
    pub id: u16,
    /// Number of words after the header.
    pub words: u16,
}

impl RecordHeader {
    /// Returns the header as the first word of a record.
    #[inline]
    pub const fn pack(self) -> u64 {
        self.delta as u64 | (self.id as u64) << 32 | (self.words as u64) << 48
    }

    /// Decodes a header. Every word is a valid header.
    #[inline]
    pub const fn unpack(word: u64) -> Self {
        Self { delta: word as u32, id: (word >> 32) as u16, words: (word >> 48) as u16 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_of_a_head_lie_where_the_table_says() {
        let head = RecordHeader { delta: 0x8765_4321, id: 0xBEEF, words: 0xFACE };
        assert_eq!(head.pack(), 0xFACE_BEEF_8765_4321);
        assert_eq!(RecordHeader::unpack(head.pack()), head);
    }
}
