//! One stored event: four words, then its data, padded to a whole word.
//!
//! | word | content |
//! |---|---|
//! | 0 | bits 0 to 19: length of the data in bytes; 20 to 35: event id |
//! | 0 | bits 36 to 39: flags; 40 to 63: process |
//! | 1 | nanoseconds since 1970 (`CLOCK_REALTIME`) |
//! | 2 | return address of the call that generated it; 0 for a system event |
//! | 3 | thread (`pthread_t`); 0 for a system event |
//!
//! Linux has at most 2^22 process ids, so 24 bits are enough.

/// Number of words that precede the data.
pub const RECORD_WORDS: usize = 4;

/// Flag: the data was truncated when the event was generated.
pub const FLAG_TRUNCATED: u8 = 1;
/// Flag: a system event.
pub const FLAG_SYSTEM: u8 = 2;
/// Flag: the filter excludes the event, so readers do not deliver it.
pub const FLAG_HIDDEN: u8 = 4;

/// Returns the length in words of a record with `bytes` bytes of data.
#[inline]
pub const fn record_words(bytes: usize) -> usize {
    RECORD_WORDS + bytes.div_ceil(8)
}

/// The first word of a record.
///
/// ```
/// use tracewell_wire::posix::{FLAG_TRUNCATED, RecordHeader};
///
/// let head = RecordHeader { length: 12, id: 65, flags: FLAG_TRUNCATED, process: 4711 };
/// assert_eq!(RecordHeader::unpack(head.pack()), head);
/// assert_eq!(head.words(), 6);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct RecordHeader {
    /// Length of the data in bytes, below 2^20.
    pub length: u32,
    /// Id of the event type.
    pub id: u16,
    /// Sum of `FLAG_` constants.
    pub flags: u8,
    /// Id of the process, below 2^24; 0 for a system event.
    pub process: u32,
}

impl RecordHeader {
    /// Returns the header as the first word of a record.
    #[inline]
    pub const fn pack(self) -> u64 {
        (self.length as u64 & 0xF_FFFF)
            | (self.id as u64) << 20
            | (self.flags as u64 & 0xF) << 36
            | (self.process as u64) << 40
    }

    /// Decodes a header. Every word is a valid header.
    #[inline]
    pub const fn unpack(word: u64) -> Self {
        Self {
            length: word as u32 & 0xF_FFFF,
            id: (word >> 20) as u16,
            flags: (word >> 36) as u8 & 0xF,
            process: (word >> 40) as u32,
        }
    }

    /// Returns the length of the whole record in words.
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
        let head = RecordHeader { length: 65_536, id: 1088, flags: 5, process: 4_194_304 };
        assert_eq!(RecordHeader::unpack(head.pack()), head);
        assert_eq!(RecordHeader::unpack(u64::MAX).pack(), u64::MAX);
        assert_eq!((head.words(), record_words(0), record_words(1)), (8196, 4, 5));
    }
}
