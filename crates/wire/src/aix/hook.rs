//! The hook word, the first word of every entry: event id, type, and length of the data.
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
//! | 63-48 | flags: 0x8000 time-stamped, 0x4000 generic, others internal to AIX |
//! | 47-32 | length of the data after the hook word in bytes, without padding |
//! | 31-16 | hook id, 16 bits |
//! | 15-0 | sub-hook |

use core::fmt;

/// The word size of the program that recorded an entry, or of a whole traced system.
///
/// One trace can contain entries of both word sizes, because a 32-bit program can run on a 64-bit
/// kernel (documented).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Env {
    /// Words of four bytes.
    Bits32,
    /// Words of eight bytes.
    Bits64,
}

impl Env {
    /// Returns the length of the hook word and of each data word in bytes: 4 or 8.
    #[inline]
    pub const fn word_bytes(self) -> usize {
        match self {
            Self::Bits32 => 4,
            Self::Bits64 => 8,
        }
    }

    /// Returns the word size in bits: 32 or 64.
    #[inline]
    pub const fn bits(self) -> u8 {
        match self {
            Self::Bits32 => 32,
            Self::Bits64 => 64,
        }
    }

    /// Returns the environment whose words have `bits` bits, or `None` if `bits` is neither 32 nor
    /// 64.
    #[inline]
    pub const fn from_bits(bits: u8) -> Option<Self> {
        match bits {
            32 => Some(Self::Bits32),
            64 => Some(Self::Bits64),
            _ => None,
        }
    }
}

/// An event id of 16 bits.
///
/// According to the AIX documentation, a 12-bit id `hhh` equals the 16-bit id `hhh0` and is shown
/// with three digits. AIX 6.1 introduced ids whose fourth digit is not 0. Such ids occur only in
/// 64-bit entries and start at 0x1000.
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
    /// Returns the id with three hexadecimal digits. Ignores the upper four bits of `hhh`.
    #[inline]
    pub const fn short(hhh: u16) -> Self {
        Self(hhh << 4)
    }

    /// Returns true if three digits are enough, so that a 32-bit hook word can hold the id.
    #[inline]
    pub const fn is_short(self) -> bool {
        self.0 & 0xF == 0
    }

    /// Returns true if AIX allows the id: below 0x1000 the last digit must be 0 (documented).
    #[inline]
    pub const fn is_allowed(self) -> bool {
        self.0 >= 0x1000 || self.is_short()
    }
}

impl fmt::Display for HookId {
    /// Writes three upper-case hexadecimal digits, or four if the last is not 0.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_short() { write!(f, "{:03X}", self.0 >> 4) } else { write!(f, "{:04X}", self.0) }
    }
}

/// The call that recorded a 32-bit entry. The call determines the data after the hook word
/// (documented).
///
/// Types of 8 and above mean that the call requested a timestamp. Since AIX 5.3 TL5 every event has
/// a timestamp, regardless of its type.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum HookType {
    /// One data word, then variable data.
    Trcgen = 0x0,
    /// The hook word alone, without data.
    Trchk = 0x1,
    /// The hook word and one data word.
    Trchkl = 0x2,
    /// Up to five data words. The entry does not contain a count, so we decided that an entry of
    /// this type always holds five words.
    Trchkg = 0x6,
    /// Like [`HookType::Trcgen`], with a timestamp.
    Trcgent = 0x8,
    /// Like [`HookType::Trchk`], with a timestamp.
    Trchkt = 0x9,
    /// Like [`HookType::Trchkl`], with a timestamp.
    Trchklt = 0xA,
    /// Like [`HookType::Trchkg`], with a timestamp.
    Trchkgt = 0xE,
}

impl HookType {
    const STAMP: u8 = 0x8;

    /// Returns the type that the low four bits of `nibble` encode, or `None` if AIX does not define
    /// this type.
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

    /// Returns the smallest type that can hold this number of data words. The three types hold no
    /// word, one word, or up to five words.
    #[inline]
    pub const fn for_words(words: usize) -> Self {
        match words {
            0 => Self::Trchk,
            1 => Self::Trchkl,
            _ => Self::Trchkg,
        }
    }

    /// Returns the type's four bits.
    #[inline]
    pub const fn nibble(self) -> u8 {
        self as u8
    }

    /// Returns true if variable data follows the data word.
    #[inline]
    pub const fn is_generic(self) -> bool {
        matches!(self, Self::Trcgen | Self::Trcgent)
    }

    /// Returns true if the call requested a timestamp (bit 3).
    #[inline]
    pub const fn is_stamped(self) -> bool {
        self.nibble() & Self::STAMP != 0
    }

    /// Returns the same type with bit 3 set.
    #[inline]
    pub const fn stamped(self) -> Self {
        match self {
            Self::Trcgen | Self::Trcgent => Self::Trcgent,
            Self::Trchk | Self::Trchkt => Self::Trchkt,
            Self::Trchkl | Self::Trchklt => Self::Trchklt,
            Self::Trchkg | Self::Trchkgt => Self::Trchkgt,
        }
    }

    /// Returns the number of data words after the hook word: 0, 1 or 5.
    #[inline]
    pub const fn words(self) -> usize {
        match self {
            Self::Trchk | Self::Trchkt => 0,
            Self::Trcgen | Self::Trcgent | Self::Trchkl | Self::Trchklt => 1,
            Self::Trchkg | Self::Trchkgt => 5,
        }
    }
}

/// The hook word of a 32-bit entry. A `HookWord32` can hold any 32-bit number.
/// [`HookWord32::hook_type`] checks the type.
///
/// Constants in C programs, such as `0x15B00000`, have the id in the top bits and type 0
/// (documented). AIX's macros insert the type, as [`HookWord32::with_type`] does.
///
/// ```
/// use tracewell_wire::aix::{HookId, HookType, HookWord32};
///
/// let word = HookWord32(0x15B0_0000).with_type(HookType::Trchkl);
/// assert_eq!(word, HookWord32::new(HookId::short(0x15B), HookType::Trchkl, 0));
/// assert_eq!(word.hook_type().map(HookType::words), Some(1));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct HookWord32(
    /// The word as a number.
    pub u32,
);

impl HookWord32 {
    /// Creates a hook word from id, type and hook data. Drops the last digit of the id, because the
    /// hook word has no room for this digit.
    #[inline]
    pub const fn new(id: HookId, hook_type: HookType, data: u16) -> Self {
        let id = (id.0 as u32 & 0xFFF0) << 16;
        Self(id | (hook_type.nibble() as u32) << 16 | data as u32)
    }

    /// Returns the event id.
    #[inline]
    pub const fn id(self) -> HookId {
        HookId((self.0 >> 16) as u16 & 0xFFF0)
    }

    /// Returns the four bits of the type, even if AIX does not define it.
    #[inline]
    pub const fn type_nibble(self) -> u8 {
        (self.0 >> 16) as u8 & 0xF
    }

    /// Returns the type, or `None` if AIX does not define it.
    #[inline]
    pub const fn hook_type(self) -> Option<HookType> {
        HookType::from_nibble(self.type_nibble())
    }

    /// Returns the hook data; in a generic entry, the length of the variable data in bytes.
    #[inline]
    pub const fn data(self) -> u16 {
        self.0 as u16
    }

    /// Returns the same id and hook data with another type.
    #[inline]
    #[must_use]
    pub const fn with_type(self, hook_type: HookType) -> Self {
        Self::new(self.id(), hook_type, self.data())
    }
}

/// The hook word of a 64-bit entry.
///
/// ```
/// use tracewell_wire::aix::{HookId, HookWord64};
///
/// let word = HookWord64::plain(HookId(0x1347), 2, 3);
/// assert_eq!(word, HookWord64(0x8000_0018_1347_0002));
/// assert_eq!((word.length(), word.sub_hook(), word.is_generic()), (24, 2, false));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct HookWord64(
    /// The word as a number.
    pub u64,
);

impl HookWord64 {
    /// Flag of a time-stamped entry.
    pub const STAMPED: u16 = 0x8000;
    /// Flag of a generic entry.
    pub const GENERIC: u16 = 0x4000;

    /// Creates a hook word from its four fields.
    #[inline]
    pub const fn new(flags: u16, length: u16, id: HookId, sub_hook: u16) -> Self {
        let [flags, length] = [flags as u64, length as u64];
        Self(flags << 48 | length << 32 | (id.0 as u64) << 16 | sub_hook as u64)
    }

    /// Creates the hook word of a time-stamped plain entry with `words` data words. Writing an
    /// entry with more than five words fails.
    #[inline]
    pub const fn plain(id: HookId, sub_hook: u16, words: u16) -> Self {
        Self::new(Self::STAMPED, words.saturating_mul(8), id, sub_hook)
    }

    /// Creates the hook word of a time-stamped generic entry. Writing the entry inserts the length.
    #[inline]
    pub const fn generic(id: HookId, sub_hook: u16) -> Self {
        Self::new(Self::STAMPED | Self::GENERIC, 0, id, sub_hook)
    }

    /// Returns the flags, including those internal to AIX.
    #[inline]
    pub const fn flags(self) -> u16 {
        (self.0 >> 48) as u16
    }

    /// Returns the length of the data after the hook word in bytes, without padding.
    #[inline]
    pub const fn length(self) -> u16 {
        (self.0 >> 32) as u16
    }

    /// Returns the event id.
    #[inline]
    pub const fn id(self) -> HookId {
        HookId((self.0 >> 16) as u16)
    }

    /// Returns the sub-hook id, the low 16 bits.
    #[inline]
    pub const fn sub_hook(self) -> u16 {
        self.0 as u16
    }

    /// Returns true if variable data follows the first data word.
    #[inline]
    pub const fn is_generic(self) -> bool {
        self.flags() & Self::GENERIC != 0
    }

    /// Returns true if the entry is time-stamped.
    #[inline]
    pub const fn is_stamped(self) -> bool {
        self.flags() & Self::STAMPED != 0
    }
}

/// A hook word of either environment. The environment determines the word size of the entry.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum HookWord {
    /// Hook word of an entry with words of four bytes.
    Bits32(HookWord32),
    /// Hook word of an entry with words of eight bytes.
    Bits64(HookWord64),
}

impl HookWord {
    /// Returns the environment of the program that wrote the entry. It determines the word size.
    #[inline]
    pub const fn env(self) -> Env {
        match self {
            Self::Bits32(_) => Env::Bits32,
            Self::Bits64(_) => Env::Bits64,
        }
    }

    /// Returns the event id.
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
