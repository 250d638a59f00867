//! The hook word, which opens every entry: who recorded what, and how much follows.
//!
//! 32-bit, documented:
//!
//! | bits | content |
//! |---|---|
//! | 31-20 | hook id, 12 bits |
//! | 19-16 | [`HookType`] |
//! | 15-0 | hook data; in generic entries the length of the variable data in bytes |
//!
//! 64-bit, documented as hexadecimal `ffffllllhhhhssss`:
//!
//! | bits | content |
//! |---|---|
//! | 63-48 | flags: 0x8000 time-stamped, 0x4000 generic, the others internal |
//! | 47-32 | length of the data behind the hook word in bytes, padding not counted |
//! | 31-16 | hook id, 16 bits |
//! | 15-0 | sub-hook |

use core::fmt;

/// The word size of the program that recorded an entry, or of a whole traced system.
///
/// Documented: one trace may hold both, since a 32-bit program may run on a 64-bit kernel.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Env {
    /// Words of four bytes.
    Bits32,
    /// Words of eight bytes.
    Bits64,
}

impl Env {
    /// Bytes of the hook word and of each data word: 4 or 8.
    #[inline]
    pub const fn word_bytes(self) -> usize {
        match self {
            Self::Bits32 => 4,
            Self::Bits64 => 8,
        }
    }

    /// The number that names it, 32 or 64.
    #[inline]
    pub const fn bits(self) -> u8 {
        match self {
            Self::Bits32 => 32,
            Self::Bits64 => 64,
        }
    }

    /// The environment of a number; `None` unless it is 32 or 64.
    #[inline]
    pub const fn from_bits(bits: u8) -> Option<Self> {
        match bits {
            32 => Some(Self::Bits32),
            64 => Some(Self::Bits64),
            _ => None,
        }
    }
}

/// What an event is, as a 16-bit number.
///
/// Documented: a 12-bit id `hhh` is the same as the 16-bit id `hhh0`, and is shown with three
/// digits. Ids whose fourth digit is not 0 exist from AIX 6.1 on, in 64-bit entries only, and not
/// below 0x1000.
///
/// ```
/// use tracewell_wire::aix::HookId;
///
/// assert_eq!(HookId::short(0x134), HookId(0x1340));
/// assert_eq!(format!("{} {}", HookId(0x1340), HookId(0x1347)), "134 1347");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(transparent)]
pub struct HookId(
    /// All four hexadecimal digits.
    pub u16,
);

impl HookId {
    /// The id of three hexadecimal digits; the upper four bits of `hhh` do not count.
    #[inline]
    pub const fn short(hhh: u16) -> Self {
        Self(hhh << 4)
    }

    /// Whether three digits say it all, so that a 32-bit hook word can hold it.
    #[inline]
    pub const fn is_short(self) -> bool {
        self.0 & 0xF == 0
    }

    /// Whether the id may exist: below 0x1000 the last digit must be 0 (documented).
    #[inline]
    pub const fn is_allowed(self) -> bool {
        self.0 >= 0x1000 || self.is_short()
    }
}

impl fmt::Display for HookId {
    /// Three upper-case hexadecimal digits, or four where the last is not 0.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_short() { write!(f, "{:03X}", self.0 >> 4) } else { write!(f, "{:04X}", self.0) }
    }
}

/// Which call recorded a 32-bit entry, and so what follows its hook word. Documented.
///
/// Types of 8 and above were recorded by a call that asked for a time stamp. Since AIX 5.3 TL5
/// every event has one, whatever its type says.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum HookType {
    /// One data word and variable data.
    Trcgen = 0x0,
    /// Nothing.
    Trchk = 0x1,
    /// One data word.
    Trchkl = 0x2,
    /// Up to five data words. The record has no count, so it always holds five (our decision).
    Trchkg = 0x6,
    /// As [`HookType::Trcgen`], stamp asked for.
    Trcgent = 0x8,
    /// As [`HookType::Trchk`], stamp asked for.
    Trchkt = 0x9,
    /// As [`HookType::Trchkl`], stamp asked for.
    Trchklt = 0xA,
    /// As [`HookType::Trchkg`], stamp asked for.
    Trchkgt = 0xE,
}

impl HookType {
    const STAMP: u8 = 0x8;

    /// The type of the low four bits; `None` where AIX has none.
    #[inline]
    pub const fn from_nibble(nibble: u8) -> Option<Self> {
        Some(match nibble & 0xF {
            0x0 => Self::Trcgen,
            0x1 => Self::Trchk,
            0x2 => Self::Trchkl,
            0x6 => Self::Trchkg,
            0x8 => Self::Trcgent,
            0x9 => Self::Trchkt,
            0xA => Self::Trchklt,
            0xE => Self::Trchkgt,
            _ => return None,
        })
    }

    /// The least type that holds so many data words: 0, 1, or up to 5.
    #[inline]
    pub const fn for_words(words: usize) -> Self {
        match words {
            0 => Self::Trchk,
            1 => Self::Trchkl,
            _ => Self::Trchkg,
        }
    }

    /// The four bits.
    #[inline]
    pub const fn nibble(self) -> u8 {
        self as u8
    }

    /// Whether variable data follows the data word.
    #[inline]
    pub const fn is_generic(self) -> bool {
        matches!(self, Self::Trcgen | Self::Trcgent)
    }

    /// Whether the call asked for a time stamp: bit 3.
    #[inline]
    pub const fn is_stamped(self) -> bool {
        self.nibble() & Self::STAMP != 0
    }

    /// The same with bit 3 set.
    #[inline]
    pub const fn stamped(self) -> Self {
        match self {
            Self::Trcgen | Self::Trcgent => Self::Trcgent,
            Self::Trchk | Self::Trchkt => Self::Trchkt,
            Self::Trchkl | Self::Trchklt => Self::Trchklt,
            Self::Trchkg | Self::Trchkgt => Self::Trchkgt,
        }
    }

    /// Data words behind the hook word: 0, 1 or 5.
    #[inline]
    pub const fn words(self) -> usize {
        match self {
            Self::Trchk | Self::Trchkt => 0,
            Self::Trcgen | Self::Trcgent | Self::Trchkl | Self::Trchklt => 1,
            Self::Trchkg | Self::Trchkgt => 5,
        }
    }
}

/// The hook word of a 32-bit entry. Any number is one; [`HookWord32::hook_type`] judges it.
///
/// Constants of C programs have the id in the top bits and the type 0, like `0x15B00000`
/// (documented); the macros put the type in, and so does [`HookWord32::with_type`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct HookWord32(
    /// The word as a number.
    pub u32,
);

impl HookWord32 {
    /// The hook word of an id, a type and hook data. The last digit of the id has no place in it.
    #[inline]
    pub const fn new(id: HookId, hook_type: HookType, data: u16) -> Self {
        let id = (id.0 as u32 & 0xFFF0) << 16;
        Self(id | (hook_type.nibble() as u32) << 16 | data as u32)
    }

    /// The id.
    #[inline]
    pub const fn id(self) -> HookId {
        HookId((self.0 >> 16) as u16 & 0xFFF0)
    }

    /// The four bits of the type, known or not.
    #[inline]
    pub const fn type_nibble(self) -> u8 {
        (self.0 >> 16) as u8 & 0xF
    }

    /// The type; `None` where AIX has none for these bits.
    #[inline]
    pub const fn hook_type(self) -> Option<HookType> {
        HookType::from_nibble(self.type_nibble())
    }

    /// Hook data; the length of the variable data where the entry is generic.
    #[inline]
    pub const fn data(self) -> u16 {
        self.0 as u16
    }

    /// The same id and hook data with another type.
    #[inline]
    #[must_use]
    pub const fn with_type(self, hook_type: HookType) -> Self {
        Self::new(self.id(), hook_type, self.data())
    }
}

/// The hook word of a 64-bit entry.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct HookWord64(
    /// The word as a number.
    pub u64,
);

impl HookWord64 {
    /// Flag: the entry is time-stamped.
    pub const STAMPED: u16 = 0x8000;
    /// Flag: the entry is generic.
    pub const GENERIC: u16 = 0x4000;

    /// The hook word of its four fields.
    #[inline]
    pub const fn new(flags: u16, length: u16, id: HookId, sub_hook: u16) -> Self {
        let [flags, length] = [flags as u64, length as u64];
        Self(flags << 48 | length << 32 | (id.0 as u64) << 16 | sub_hook as u64)
    }

    /// The hook word of a stamped plain entry with so many data words; more than five are refused
    /// where the entry is written.
    #[inline]
    pub const fn plain(id: HookId, sub_hook: u16, words: u16) -> Self {
        Self::new(Self::STAMPED, words.saturating_mul(8), id, sub_hook)
    }

    /// The hook word of a stamped generic entry; writing the entry puts the length in.
    #[inline]
    pub const fn generic(id: HookId, sub_hook: u16) -> Self {
        Self::new(Self::STAMPED | Self::GENERIC, 0, id, sub_hook)
    }

    /// The flags, those included that only AIX itself knows.
    #[inline]
    pub const fn flags(self) -> u16 {
        (self.0 >> 48) as u16
    }

    /// Bytes of data behind the hook word, padding not counted.
    #[inline]
    pub const fn length(self) -> u16 {
        (self.0 >> 32) as u16
    }

    /// The id.
    #[inline]
    pub const fn id(self) -> HookId {
        HookId((self.0 >> 16) as u16)
    }

    /// The sub-hook.
    #[inline]
    pub const fn sub_hook(self) -> u16 {
        self.0 as u16
    }

    /// Whether variable data follows the first data word.
    #[inline]
    pub const fn is_generic(self) -> bool {
        self.flags() & Self::GENERIC != 0
    }

    /// Whether the entry is time-stamped.
    #[inline]
    pub const fn is_stamped(self) -> bool {
        self.flags() & Self::STAMPED != 0
    }
}

/// A hook word of either environment; which one says what the entry's words are.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum HookWord {
    /// Four-byte words.
    Bits32(HookWord32),
    /// Eight-byte words.
    Bits64(HookWord64),
}

impl HookWord {
    /// The environment.
    #[inline]
    pub const fn env(self) -> Env {
        match self {
            Self::Bits32(_) => Env::Bits32,
            Self::Bits64(_) => Env::Bits64,
        }
    }

    /// The id.
    #[inline]
    pub const fn id(self) -> HookId {
        match self {
            Self::Bits32(word) => word.id(),
            Self::Bits64(word) => word.id(),
        }
    }
}

impl From<HookWord32> for HookWord {
    fn from(word: HookWord32) -> Self {
        Self::Bits32(word)
    }
}

impl From<HookWord64> for HookWord {
    fn from(word: HookWord64) -> Self {
        Self::Bits64(word)
    }
}
