//! One entry: hook word and data, big-endian, without what AIX adds to each (stamp, thread, CPU).
//!
//! | 32-bit | 64-bit | content |
//! |---|---|---|
//! | 0 | 0 | hook word, see `hook.rs` |
//! | 4 | 8 | data words 1 to 0, 1 or 5 (32-bit: by type), to 0..=5 (64-bit: by length) |
//! | 8 | 16 | generic entries: variable data, zero-padded to a word |
//!
//! Documented: the types and what follows them, the flags, what the lengths count, the limit of
//! 4096 data bytes. Our decision: the padding and its size; that a 64-bit length counts the data
//! word of a generic entry; that the length of a plain one is a multiple of 8 up to 40.

use core::fmt;

use super::hook::{Env, HookId, HookType, HookWord, HookWord32, HookWord64};

/// The most variable data that the trace calls take, in bytes. Documented.
pub const MAX_DATA_LENGTH: usize = 4096;

/// Why bytes are no entry, or an entry cannot be written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EntryError {
    /// The bytes, or the room for them, end before the entry does.
    TooShort {
        /// Bytes that the hook word asks for.
        needed: usize,
        /// Bytes that are there.
        found: usize,
    },
    /// A 32-bit hook word with type bits that AIX does not have.
    UnknownType {
        /// The four bits.
        found: u8,
    },
    /// A 64-bit hook word with a length that no such entry has: a plain one 0, 8, .. 40, a generic
    /// one 8 at least.
    Length {
        /// The length field.
        found: u16,
        /// Whether the flags say generic.
        generic: bool,
    },
    /// A generic hook word for an entry without variable data. When reading this does not happen.
    Generic,
    /// More variable data than [`MAX_DATA_LENGTH`]. When reading this does not happen.
    DataTooLong {
        /// Bytes of data.
        found: usize,
    },
}

impl fmt::Display for EntryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooShort { needed, found } => {
                write!(f, "the hook word asks for an entry of {needed} bytes, found {found}")
            }
            Self::UnknownType { found } => {
                write!(f, "expected a hook type of 0, 1, 2, 6, 8, 9, A or E, found {found:X}")
            }
            Self::Length { found, generic: true } => {
                write!(f, "a generic 64-bit entry has 8 bytes at least, found {found}")
            }
            Self::Length { found, generic: false } => {
                write!(f, "a plain 64-bit entry has 0, 8, .. 40 bytes, found {found}")
            }
            Self::Generic => f.write_str("a generic hook word needs variable data"),
            Self::DataTooLong { found } => {
                write!(f, "at most {MAX_DATA_LENGTH} bytes of variable data, found {found}")
            }
        }
    }
}

impl core::error::Error for EntryError {}

/// What a hook word says about the bytes behind it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Shape {
    /// Data words, that of a generic entry included.
    words: usize,
    /// Bytes of variable data; `None` in plain entries.
    data: Option<usize>,
}

impl Shape {
    const fn of(hook: HookWord) -> Result<Self, EntryError> {
        match hook {
            HookWord::Bits32(word) => Self::of_32(word),
            HookWord::Bits64(word) => Self::of_64(word),
        }
    }

    const fn of_32(word: HookWord32) -> Result<Self, EntryError> {
        let Some(hook_type) = word.hook_type() else {
            return Err(EntryError::UnknownType { found: word.type_nibble() });
        };
        let data = if hook_type.is_generic() { Some(word.data() as usize) } else { None };
        Ok(Self { words: hook_type.words(), data })
    }

    const fn of_64(word: HookWord64) -> Result<Self, EntryError> {
        let length = word.length() as usize;
        match word.is_generic() {
            true if length >= 8 => Ok(Self { words: 1, data: Some(length - 8) }),
            false if length <= 40 && length.is_multiple_of(8) => {
                Ok(Self { words: length / 8, data: None })
            }
            generic => Err(EntryError::Length { found: word.length(), generic }),
        }
    }

    /// Offset of the variable data, or of the end in a plain entry.
    const fn data_at(self, env: Env) -> usize {
        (1 + self.words) * env.word_bytes()
    }

    /// Bytes up to the end of the data, without padding.
    const fn unpadded(self, env: Env) -> usize {
        self.data_at(env) + if let Some(data) = self.data { data } else { 0 }
    }

    /// Bytes of the entry, padding included.
    const fn length(self, env: Env) -> usize {
        self.unpadded(env).next_multiple_of(env.word_bytes())
    }
}

/// A view of an entry whose hook word makes sense and whose data is all there.
///
/// ```
/// use tracewell_wire::aix::{Entry, Env};
///
/// let bytes = [0x13, 0x40, 0, 3, 0, 0, 0, 42, b'a', b'b', b'c', 0];
/// let entry = Entry::read(Env::Bits32, &bytes).unwrap();
/// assert_eq!((entry.id().to_string(), entry.word(1)), ("134".to_owned(), Some(42)));
/// assert_eq!(entry.variable_data(), b"abc");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Entry<'a> {
    hook: HookWord,
    shape: Shape,
    /// Up to the end of the data at least; padding and more may follow.
    bytes: &'a [u8],
}

impl<'a> Entry<'a> {
    /// Reads the entry at the start of `bytes`. Its padding may be missing, and bytes behind it are
    /// kept in [`Entry::bytes`] but belong to nothing.
    ///
    /// # Errors
    /// [`EntryError::TooShort`], [`EntryError::UnknownType`] and [`EntryError::Length`].
    #[inline]
    pub fn read(env: Env, bytes: &'a [u8]) -> Result<Self, EntryError> {
        let found = bytes.len();
        let too_short = |needed| EntryError::TooShort { needed, found };
        let word = big_endian_word(env, bytes, 0).ok_or(too_short(env.word_bytes()))?;
        let hook = match env {
            Env::Bits32 => HookWord::Bits32(HookWord32(word as u32)),
            Env::Bits64 => HookWord::Bits64(HookWord64(word)),
        };
        let shape = Shape::of(hook)?;
        if shape.unpadded(env) > found {
            return Err(too_short(shape.length(env)));
        }
        Ok(Self { hook, shape, bytes })
    }

    /// The environment of the program that recorded it.
    pub const fn env(&self) -> Env {
        self.hook.env()
    }

    /// The hook word.
    pub const fn hook(&self) -> HookWord {
        self.hook
    }

    /// The id.
    pub const fn id(&self) -> HookId {
        self.hook.id()
    }

    /// Whether there is variable data (recorded by a `trcgen` call), if only of length 0.
    pub const fn is_generic(&self) -> bool {
        self.shape.data.is_some()
    }

    /// Whether the hook word has the mark of a time stamp. The stamp itself is not in these bytes.
    pub const fn is_stamped(&self) -> bool {
        match self.hook {
            HookWord::Bits32(word) => word.type_nibble() & 8 != 0,
            HookWord::Bits64(word) => word.is_stamped(),
        }
    }

    /// The low 16 bits of the hook word: hook data, which in a generic 32-bit entry is the length
    /// of the variable data, or the sub-hook of a 64-bit one.
    pub const fn hook_data(&self) -> u16 {
        match self.hook {
            HookWord::Bits32(word) => word.data(),
            HookWord::Bits64(word) => word.sub_hook(),
        }
    }

    /// The type as it stands: four bits in a 32-bit entry, the 16 flags in a 64-bit one.
    pub const fn type_bits(&self) -> u16 {
        match self.hook {
            HookWord::Bits32(word) => word.type_nibble() as u16,
            HookWord::Bits64(word) => word.flags(),
        }
    }

    /// Number of data words, that of a generic entry included: 0 to 5.
    pub const fn word_count(&self) -> usize {
        self.shape.words
    }

    /// Data word 1 to 5; `None` where the entry has fewer. Which of the five words of a 32-bit
    /// [`HookType::Trchkg`] were passed is not recorded.
    #[inline]
    pub fn word(&self, number: usize) -> Option<u64> {
        let there = number >= 1 && number <= self.shape.words;
        there.then(|| big_endian_word(self.env(), self.bytes, number * self.env().word_bytes()))?
    }

    /// The variable data, without padding; empty in plain entries.
    #[inline]
    pub fn variable_data(&self) -> &'a [u8] {
        let at = self.shape.data_at(self.env());
        self.bytes.get(at..at + self.shape.data.unwrap_or(0)).unwrap_or_default()
    }

    /// Bytes that the hook word asks for, padding included: 4 to 65544.
    pub const fn length(&self) -> usize {
        self.shape.length(self.env())
    }

    /// The bytes that were read, whatever lies behind the entry included.
    pub const fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Bytes of the plain entry that a hook word asks for.
    ///
    /// # Errors
    /// Those of [`Entry::write_plain`] but for the room.
    pub const fn plain_length(hook: HookWord) -> Result<usize, EntryError> {
        match Shape::of(hook) {
            Ok(Shape { data: Some(_), .. }) | Err(EntryError::Length { generic: true, .. }) => {
                Err(EntryError::Generic)
            }
            Ok(shape) => Ok(shape.length(hook.env())),
            Err(error) => Err(error),
        }
    }

    /// Bytes of a generic entry with so much variable data.
    ///
    /// # Errors
    /// [`EntryError::DataTooLong`].
    pub const fn generic_length(env: Env, data: usize) -> Result<usize, EntryError> {
        if data > MAX_DATA_LENGTH {
            return Err(EntryError::DataTooLong { found: data });
        }
        Ok(Shape { words: 1, data: Some(data) }.length(env))
    }

    /// Writes an entry without variable data at the start of `bytes`; its length.
    ///
    /// The hook word is stored as it is and says how many of the five words follow it; their upper
    /// halves are cut off in a 32-bit entry.
    ///
    /// # Errors
    /// [`EntryError::UnknownType`], [`EntryError::Length`] or [`EntryError::Generic`] for a hook
    /// word that asks for anything else, [`EntryError::TooShort`] where there is no room. Nothing
    /// was written then.
    #[inline]
    pub fn write_plain(
        hook: HookWord,
        words: &[u64; 5],
        bytes: &mut [u8],
    ) -> Result<usize, EntryError> {
        let length = Self::plain_length(hook)?;
        let bytes = room(bytes, length)?;
        put_hook(hook, bytes);
        let env = hook.env();
        for (place, &word) in bytes.chunks_exact_mut(env.word_bytes()).skip(1).zip(words) {
            put_word(env, place, word);
        }
        Ok(length)
    }

    /// Writes an entry with variable data at the start of `bytes`; its length.
    ///
    /// Type and length are put into the hook word; of its type only the mark of a time stamp stays.
    ///
    /// # Errors
    /// [`EntryError::DataTooLong`], or [`EntryError::TooShort`] where there is no room. Nothing was
    /// written then.
    #[inline]
    pub fn write_generic(
        hook: HookWord,
        word: u64,
        data: &[u8],
        bytes: &mut [u8],
    ) -> Result<usize, EntryError> {
        Self::open_generic(hook, word, data.len(), bytes)?.copy_from_slice(data);
        Self::generic_length(hook.env(), data.len())
    }

    /// As [`Entry::write_generic`], all but the variable data, whose place is returned.
    ///
    /// # Errors
    /// As there.
    #[inline]
    pub fn open_generic(
        hook: HookWord,
        word: u64,
        data: usize,
        bytes: &mut [u8],
    ) -> Result<&mut [u8], EntryError> {
        let env = hook.env();
        let bytes = room(bytes, Self::generic_length(env, data)?)?;
        put_hook(generic_hook(hook, data as u16), bytes);
        let w = env.word_bytes();
        let (head, tail) = bytes.split_at_mut(2 * w);
        put_word(env, &mut head[w..], word);
        let (place, padding) = tail.split_at_mut(data);
        padding.fill(0);
        Ok(place)
    }
}

fn room(bytes: &mut [u8], needed: usize) -> Result<&mut [u8], EntryError> {
    let found = bytes.len();
    bytes.get_mut(..needed).ok_or(EntryError::TooShort { needed, found })
}

/// The hook word of a generic entry with so much data, at most [`MAX_DATA_LENGTH`].
const fn generic_hook(hook: HookWord, data: u16) -> HookWord {
    match hook {
        HookWord::Bits32(word) => {
            let stamped = word.type_nibble() & 8 != 0;
            let hook_type = if stamped { HookType::Trcgent } else { HookType::Trcgen };
            HookWord::Bits32(HookWord32::new(word.id(), hook_type, data))
        }
        HookWord::Bits64(word) => {
            let flags = word.flags() | HookWord64::GENERIC;
            HookWord::Bits64(HookWord64::new(flags, data + 8, word.id(), word.sub_hook()))
        }
    }
}

fn put_hook(hook: HookWord, bytes: &mut [u8]) {
    match hook {
        HookWord::Bits32(word) => put_word(Env::Bits32, bytes, u64::from(word.0)),
        HookWord::Bits64(word) => put_word(Env::Bits64, bytes, word.0),
    }
}

/// The word at the start of `place`, which is long enough.
fn put_word(env: Env, place: &mut [u8], value: u64) {
    let big = value.to_be_bytes();
    let w = env.word_bytes();
    place[..w].copy_from_slice(&big[8 - w..]);
}

fn big_endian_word(env: Env, bytes: &[u8], at: usize) -> Option<u64> {
    let rest = bytes.get(at..)?;
    Some(match env {
        Env::Bits32 => u64::from(u32::from_be_bytes(*rest.first_chunk()?)),
        Env::Bits64 => u64::from_be_bytes(*rest.first_chunk()?),
    })
}
