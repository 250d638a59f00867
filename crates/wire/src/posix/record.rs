//! One stored event: four words, then its data filled up to a whole word.
//!
//! | word | content |
//! |---|---|
//! | 0 | bytes of data (bits 0 to 19), event id (20 to 35), flags (36 to 39), process (40 to 63) |
//! | 1 | nanoseconds since 1970 (`CLOCK_REALTIME`) |
//! | 2 | address behind the call that generated it; 0 for a system event |
//! | 3 | thread (`pthread_t`); 0 for a system event |
//!
//! Linux has at most 2^22 processes, so that 24 bits hold one.

/// Words before the data.
pub const RECORD_WORDS: usize = 4;

/// The data was cut when the event was generated.
pub const FLAG_TRUNCATED: u8 = 1;
/// A system event.
pub const FLAG_SYSTEM: u8 = 2;
/// Is not given out: the filter left it out.
pub const FLAG_HIDDEN: u8 = 4;

/// Words of a record with so many bytes of data.
#[inline]
pub const fn record_words(bytes: usize) -> usize {
    RECORD_WORDS + bytes.div_ceil(8)
}

/// The first word of a record.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct RecordHead {
    /// Bytes of data, below 2^20.
    pub length: u32,
    /// Event id.
    pub id: u16,
    /// `FLAG_` bits.
    pub flags: u8,
    /// Process, below 2^24; 0 for a system event.
    pub process: u32,
}

impl RecordHead {
    /// As a word.
    #[inline]
    pub const fn pack(self) -> u64 {
        (self.length as u64 & 0xF_FFFF)
            | (self.id as u64) << 20
            | (self.flags as u64 & 0xF) << 36
            | (self.process as u64) << 40
    }

    /// From a word; every word is one.
    #[inline]
    pub const fn unpack(word: u64) -> Self {
        Self {
            length: word as u32 & 0xF_FFFF,
            id: (word >> 20) as u16,
            flags: (word >> 36) as u8 & 0xF,
            process: (word >> 40) as u32,
        }
    }

    /// Words of the whole record.
    #[inline]
    pub const fn words(self) -> usize {
        record_words(self.length as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_survives_its_word() {
        let head = RecordHead { length: 65_536, id: 1088, flags: 5, process: 4_194_304 };
        assert_eq!(RecordHead::unpack(head.pack()), head);
        assert_eq!(RecordHead::unpack(u64::MAX).pack(), u64::MAX);
        assert_eq!((head.words(), record_words(0), record_words(1)), (8196, 4, 5));
    }
}
