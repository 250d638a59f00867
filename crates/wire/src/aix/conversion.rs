//! The factor from ticks to nanoseconds, which is in the buffer of hook 00A, sub-hook 25C.
//!
//! | offset | content |
//! |---|---|
//! | 0 | multiplier, 64 bits |
//! | 8 | divisor, 64 bits |
//! | 16 | 64 bits: 2 if multiplier and divisor are valid; otherwise readers use 1 for both |
//!
//! IBM documents these three numbers. We interpret them as nanoseconds = ticks × multiplier /
//! divisor. A 32-bit generic entry has no room for a sub-hook next to its length, so we store the
//! sub-hook in data word 1.

use super::hook::{Env, HookWord, HookWord32, HookWord64};
use super::{Entry, EntryError, HookType, ids};

/// Multiplier and divisor of a clock.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TimeConversion {
    /// Number by which the ticks are multiplied.
    pub multiplier: u64,
    /// Number by which the product is divided. A file can contain 0, which [`Self::nanoseconds`]
    /// treats as 1.
    pub divisor: u64,
}

impl TimeConversion {
    /// The conversion of a clock whose ticks are nanoseconds.
    pub const NANOSECONDS: Self = Self { multiplier: 1, divisor: 1 };

    /// Value of the third word if the conversion is valid.
    const COUNTS: u64 = 2;

    /// Length of the buffer in bytes.
    pub const BYTES: usize = 24;

    /// Converts ticks to nanoseconds, rounded down, without overflow.
    ///
    /// ```
    /// use tracewell_wire::aix::TimeConversion;
    ///
    /// let timebase_512_mhz = TimeConversion { multiplier: 1000, divisor: 512 };
    /// assert_eq!(timebase_512_mhz.nanoseconds(512_000_000), 1_000_000_000);
    /// ```
    pub const fn nanoseconds(self, ticks: u64) -> u128 {
        let divisor = if self.divisor == 0 { 1 } else { self.divisor };
        ticks as u128 * self.multiplier as u128 / divisor as u128
    }

    /// Decodes the buffer. Returns `None` if the buffer is too short. Multiplier and divisor are 1
    /// if the third word marks them as invalid.
    pub fn read(buffer: &[u8]) -> Option<Self> {
        let (words, _) = buffer.get(..Self::BYTES)?.as_chunks::<8>();
        let [multiplier, divisor, third] = *words.first_chunk()?;
        match u64::from_be_bytes(third) {
            Self::COUNTS => Some(Self {
                multiplier: u64::from_be_bytes(multiplier),
                divisor: u64::from_be_bytes(divisor),
            }),
            _ => Some(Self::NANOSECONDS),
        }
    }

    /// Returns the buffer that contains this conversion, as big-endian words.
    pub fn bytes(self) -> [u8; Self::BYTES] {
        let mut buffer = [0; Self::BYTES];
        let words = [self.multiplier, self.divisor, Self::COUNTS];
        for (place, word) in buffer.as_chunks_mut().0.iter_mut().zip(words) {
            *place = word.to_be_bytes();
        }
        buffer
    }

    /// Returns the conversion in an entry, or `None` if the entry is of another kind.
    pub fn of_entry(entry: &Entry<'_>) -> Option<Self> {
        // A 32-bit entry has no sub-hook field, so the writer puts the sub-hook into data word 1.
        let sub_hook = match entry.env() {
            Env::Bits32 => entry.word(1)?,
            Env::Bits64 => u64::from(entry.hook_data()),
        };
        let it = entry.id() == ids::TRACE_UTILITY && sub_hook == u64::from(ids::TIME_CONVERSION);
        // A plain entry has no variable data, and `read` returns `None` for an empty buffer.
        it.then(|| Self::read(entry.variable_data()))?
    }

    /// Returns the hook word and the data word of an entry that contains a conversion.
    const fn hook_and_word(env: Env) -> (HookWord, u64) {
        let sub_hook = ids::TIME_CONVERSION;
        let hook = match env {
            Env::Bits32 => {
                HookWord::Bits32(HookWord32::new(ids::TRACE_UTILITY, HookType::Trcgent, 0))
            }
            Env::Bits64 => HookWord::Bits64(HookWord64::generic(ids::TRACE_UTILITY, sub_hook)),
        };
        (hook, sub_hook as u64)
    }

    /// Writes the entry at the start of `bytes` and returns its length in bytes.
    ///
    /// # Errors
    /// Returns [`EntryError::TooShort`] if `bytes` is too short.
    pub fn write_entry(self, env: Env, bytes: &mut [u8]) -> Result<usize, EntryError> {
        let (hook, word) = Self::hook_and_word(env);
        Entry::write_generic(hook, word, &self.bytes(), bytes)
    }
}
