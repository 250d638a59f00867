//! One record: a head word, then its fields, a word each.
//!
//! | bits of the head | content |
//! |---|---|
//! | 0 to 31 | ticks since the base of the packet, or since the last [`REBASE`] in it |
//! | 32 to 47 | event id; 0 is [`REBASE`] |
//! | 48 to 63 | number of words that follow |

/// The id of the record that gives the packet a new base: its one field is the stamp from which
/// the records behind it count. It is written where 32 bits of ticks are too few.
pub const REBASE: u16 = 0;

/// The head of a record.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RecordHead {
    /// Ticks since the base.
    pub delta: u32,
    /// Event id.
    pub id: u16,
    /// Words that follow.
    pub words: u16,
}

impl RecordHead {
    /// As a word.
    #[inline]
    pub const fn pack(self) -> u64 {
        self.delta as u64 | (self.id as u64) << 32 | (self.words as u64) << 48
    }

    /// From a word.
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
        let head = RecordHead { delta: 0x8765_4321, id: 0xBEEF, words: 0xFACE };
        assert_eq!(head.pack(), 0xFACE_BEEF_8765_4321);
        assert_eq!(RecordHead::unpack(head.pack()), head);
    }
}
