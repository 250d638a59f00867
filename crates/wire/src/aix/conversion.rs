//! How ticks become nanoseconds: the buffer of hook 00A, sub-hook 25C.
//!
//! | offset | content |
//! |---|---|
//! | 0 | u64 multiplier |
//! | 8 | u64 divisor |
//! | 16 | u64, 2 where the first two count; else both are 1 |
//!
//! The words are documented; that nanoseconds are ticks times multiplier over divisor is our
//! reading of them. A 32-bit generic entry has no place for a sub-hook beside its length, so data
//! word 1 has it there (our decision).

use super::hook::{Env, HookWord, HookWord32, HookWord64};
use super::{Entry, EntryError, HookType, ids};

/// Multiplier and divisor of the clock.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TimeConversion {
    /// What ticks are multiplied by.
    pub multiplier: u64,
    /// What the product is divided by. Bytes may say 0, which is no divisor: [`Self::nanoseconds`]
    /// takes it for 1.
    pub divisor: u64,
}

impl TimeConversion {
    /// A tick is a nanosecond.
    pub const NANOSECONDS: Self = Self { multiplier: 1, divisor: 1 };

    /// The third word of a conversion that counts.
    const COUNTS: u64 = 2;

    /// Bytes of the buffer.
    pub const BYTES: usize = 24;

    /// Nanoseconds of so many ticks, rounded down; no multiplication overflows.
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

    /// Reads the buffer; `None` where it is too short. Both numbers are 1 where the third word says
    /// that they do not count.
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

    /// The buffer.
    pub fn bytes(self) -> [u8; Self::BYTES] {
        let mut buffer = [0; Self::BYTES];
        let words = [self.multiplier, self.divisor, Self::COUNTS];
        for (place, word) in buffer.as_chunks_mut().0.iter_mut().zip(words) {
            *place = word.to_be_bytes();
        }
        buffer
    }

    /// The conversion in an entry; `None` where the entry is another.
    pub fn of_entry(entry: &Entry<'_>) -> Option<Self> {
        let sub_hook = match entry.env() {
            Env::Bits32 => entry.word(1)?,
            Env::Bits64 => u64::from(entry.hook_data()),
        };
        let it = entry.id() == ids::TRACE_UTILITY && sub_hook == u64::from(ids::TIME_CONVERSION);
        // A plain entry has no variable data, which is too short.
        it.then(|| Self::read(entry.variable_data()))?
    }

    /// Hook word and data word of the entry that carries it as variable data.
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

    /// Writes the entry at the start of `bytes`; its length.
    ///
    /// # Errors
    /// [`EntryError::TooShort`] where there is no room.
    pub fn write_entry(self, env: Env, bytes: &mut [u8]) -> Result<usize, EntryError> {
        let (hook, word) = Self::hook_and_word(env);
        Entry::write_generic(hook, word, &self.bytes(), bytes)
    }
}
