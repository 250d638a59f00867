//! What a process shares with those who trace it: its area, and the names of its event types.
//!
//! The area is one page:
//!
//! | words | content |
//! |---|---|
//! | 0 | [`AREA_MAGIC`] |
//! | 1, 2 | process; its start, as `/proc/PID/stat` has it |
//! | 3 | nonce of its name space; 0 while it has none |
//! | 8 | generation: counts up when a slot changes |
//! | 16 to 79 | slots, one for each stream that traces it: number of the stream's file (bits 0 to 5), nonce of the stream (the others); 0 free |
//!
//! A name space belongs to a process and to its children that are traced with it:
//!
//! | words | content |
//! |---|---|
//! | 0 | [`NAMES_MAGIC`] |
//! | 1 | its nonce |
//! | 2 | names lie below this slot |
//! | 3 | areas and streams that use it |
//! | 8 | slots of [`NAME_SLOT`] words: state (bits 0 to 7) and bytes (8 to 15); the name |

/// `TWPXPRO1`, read as a little-endian number.
pub const AREA_MAGIC: u64 = u64::from_le_bytes(*b"TWPXPRO1");
/// `TWPXNAM1`, read as a little-endian number.
pub const NAMES_MAGIC: u64 = u64::from_le_bytes(*b"TWPXNAM1");

/// Words of an area.
pub const AREA_WORDS: usize = 512;
/// Streams that may trace a process.
pub const SLOTS: usize = 64;

/// Places of words in an area.
pub mod at {
    /// The magic number.
    pub const MAGIC: usize = 0;
    /// Process.
    pub const PROCESS: usize = 1;
    /// Its start.
    pub const START: usize = 2;
    /// Its name space.
    pub const NAMES: usize = 3;
    /// Generation.
    pub const GENERATION: usize = 8;
    /// Slots.
    pub const SLOTS: usize = 16;
}

/// A slot that is taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Slot {
    /// Number of the stream's file, below 64.
    pub number: u32,
    /// The stream's nonce, below 2^58 and not 0.
    pub nonce: u64,
}

impl Slot {
    /// As a word.
    pub const fn pack(self) -> u64 {
        self.nonce << 6 | (self.number as u64 & 63)
    }

    /// From a word; `None` for a free one.
    pub const fn unpack(word: u64) -> Option<Self> {
        if word >> 6 == 0 { None } else { Some(Self { number: word as u32 & 63, nonce: word >> 6 }) }
    }
}

/// A nonce has this many bits, so that it fits into a slot.
pub const NONCE_BITS: u32 = 58;

/// Places of words in a name space.
pub mod names {
    /// The magic number.
    pub const MAGIC: usize = 0;
    /// Its nonce.
    pub const NONCE: usize = 1;
    /// Names lie below this slot.
    pub const COUNT: usize = 2;
    /// Who uses it.
    pub const USERS: usize = 3;
    /// Slots.
    pub const SLOTS: usize = 8;
}

/// Words of a name's slot.
pub const NAME_SLOT: usize = 9;
/// Words of a name space.
pub const NAMES_WORDS: usize = names::SLOTS + super::USER_EVENT_MAX * NAME_SLOT;

/// How a name's slot stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NameState {
    /// Nothing is there.
    Free,
    /// Somebody stores a name.
    Begun,
    /// A name of so many bytes.
    Ready(usize),
    /// Whoever began it did not end; it stays empty.
    Spoiled,
}

impl NameState {
    /// As a word.
    pub const fn pack(self) -> u64 {
        match self {
            Self::Free => 0,
            Self::Begun => 1,
            Self::Ready(bytes) => 2 | (bytes as u64) << 8,
            Self::Spoiled => 3,
        }
    }

    /// From a word that may say anything.
    pub const fn unpack(word: u64) -> Self {
        let bytes = (word >> 8) as usize;
        match word as u8 {
            0 => Self::Free,
            1 => Self::Begun,
            2 if bytes <= super::EVENT_NAME_MAX => Self::Ready(bytes),
            _ => Self::Spoiled,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_survive_their_words() {
        let slot = Slot { number: 63, nonce: (1 << NONCE_BITS) - 1 };
        assert_eq!(Slot::unpack(slot.pack()), Some(slot));
        assert_eq!(Slot::unpack(5), None);
        for state in [NameState::Free, NameState::Begun, NameState::Ready(63), NameState::Spoiled] {
            assert_eq!(NameState::unpack(state.pack()), state);
        }
        assert_eq!(NameState::unpack(2 | 64 << 8), NameState::Spoiled);
    }
}
