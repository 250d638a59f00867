//! One entry: hook word and data, big-endian. AIX also adds a timestamp, the thread and the CPU to
//! each entry; this layout excludes them.
//!
//! | 32-bit | 64-bit | content |
//! |---|---|---|
//! | 0 | 0 | hook word, see `hook.rs` |
//! | 4 | | data words of a 32-bit entry: 0, 1 or 5, depending on the type |
//! | | 8 | data words of a 64-bit entry: 0 to 5, depending on the length |
//! | 8 | 16 | in a generic entry: variable data, padded with 0 to a whole word |
//!
//! IBM documents the types and their data, the flags, the meaning of the lengths, and the limit of
//! 4096 data bytes. We decided on the padding and its size. We also decided that the length of a
//! 64-bit generic entry includes its data word, and that the length of a 64-bit plain entry is a
//! multiple of 8, at most 40.

use core::fmt;

use super::hook::{Env, HookId, HookType, HookWord, HookWord32, HookWord64};

/// Maximum length in bytes of the variable data that the trace calls accept. IBM documents this
/// limit.
pub const MAX_DATA_LENGTH: usize = 4096;

/// Error for bytes that are not an entry, or for an entry that cannot be written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EntryError {
    /// There are fewer bytes than the entry needs.
    TooShort {
        /// Number of bytes that the hook word requires.
        needed: usize,
        /// Number of bytes given.
        found: usize,
    },
    /// AIX does not define the type in the 32-bit hook word.
    UnknownType {
        /// The four bits of the type.
        found: u8,
    },
    /// The 64-bit hook word specifies an invalid length of the data. A plain entry has 0, 8, .. 40
    /// bytes of data, and a generic entry has at least 8.
    Length {
        /// The length in the hook word, in bytes.
        found: u16,
        /// True if the flags mark the entry as generic.
        generic: bool,
    },
    /// The caller passed a generic hook word for an entry without variable data. [`Entry::read`]
    /// never returns this error.
    Generic,
    /// The caller passed more variable data than [`MAX_DATA_LENGTH`]. [`Entry::read`] never returns
    /// this error.
    DataTooLong {
        /// Length of the data in bytes.
        found: usize,
    },
}

impl fmt::Display for EntryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooShort { needed, found } => {
                write!(f, "the hook word requires an entry of {needed} bytes, found {found}")
            }
            Self::UnknownType { found } => {
                write!(f, "expected a hook type of 0, 1, 2, 6, 8, 9, A or E, found {found:X}")
            }
            Self::Length { found, generic: true } => {
                write!(f, "expected at least 8 bytes in a generic 64-bit entry, found {found}")
            }
            Self::Length { found, generic: false } => {
                write!(f, "expected 0, 8, .. 40 bytes in a plain 64-bit entry, found {found}")
            }
            Self::Generic => f.write_str("a generic hook word needs variable data"),
            Self::DataTooLong { found } => {
                write!(f, "expected at most {MAX_DATA_LENGTH} data bytes, found {found}")
            }
        }
    }
}

impl core::error::Error for EntryError {}

/// The layout of an entry, as its hook word defines it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Shape {
    /// Number of data words, including the data word of a generic entry.
    words: usize,
    /// Length of the variable data in bytes; `None` in plain entries.
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
        // The length counts all bytes after the hook word. In a generic entry, these are the 8
        // bytes of data word 1, and the variable data.
        match word.is_generic() {
            true if length >= 8 => Ok(Self { words: 1, data: Some(length - 8) }),
            false if length <= 40 && length.is_multiple_of(8) => {
                Ok(Self { words: length / 8, data: None })
            }
            generic => Err(EntryError::Length { found: word.length(), generic }),
        }
    }

    /// Offset of the variable data, or offset of the end of a plain entry.
    const fn data_at(self, env: Env) -> usize {
        (1 + self.words) * env.word_bytes()
    }

    /// Length of the entry in bytes, without padding.
    const fn unpadded(self, env: Env) -> usize {
        self.data_at(env) + if let Some(data) = self.data { data } else { 0 }
    }

    /// Length of the entry in bytes, with padding.
    const fn length(self, env: Env) -> usize {
        self.unpadded(env).next_multiple_of(env.word_bytes())
    }
}

/// A view of an entry with a valid hook word and complete data.
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
    /// The bytes of the entry up to the end of its data. Padding and further bytes can follow.
    bytes: &'a [u8],
}

impl<'a> Entry<'a> {
    /// Decodes the entry at the start of `bytes`, with or without its padding. Ignores bytes after
    /// the entry, but [`Entry::bytes`] returns them.
    ///
    /// # Errors
    /// Returns [`EntryError::TooShort`] if `bytes` ends before the end of the data. Returns
    /// [`EntryError::UnknownType`] or [`EntryError::Length`] if the hook word is invalid.
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
            // The number of needed bytes includes the padding, because the next entry begins after
            // the padding.
            return Err(too_short(shape.length(env)));
        }
        Ok(Self { hook, shape, bytes })
    }

    /// Returns the environment of the program that recorded the entry.
    pub const fn env(&self) -> Env {
        self.hook.env()
    }

    /// Returns the hook word.
    pub const fn hook(&self) -> HookWord {
        self.hook
    }

    /// Returns the event id.
    pub const fn id(&self) -> HookId {
        self.hook.id()
    }

    /// Returns true if the entry has variable data. The variable data can have length 0.
    pub const fn is_generic(&self) -> bool {
        self.shape.data.is_some()
    }

    /// Returns true if the hook word is marked as time-stamped. The timestamp is not in these
    /// bytes.
    pub const fn is_stamped(&self) -> bool {
        match self.hook {
            HookWord::Bits32(word) => word.type_nibble() & 8 != 0,
            HookWord::Bits64(word) => word.is_stamped(),
        }
    }

    /// Returns the low 16 bits of the hook word. In a 64-bit entry, these bits hold the sub-hook.
    /// In a plain 32-bit entry, they hold the hook data. In a generic 32-bit entry, they hold the
    /// length of the variable data in bytes.
    pub const fn hook_data(&self) -> u16 {
        match self.hook {
            HookWord::Bits32(word) => word.data(),
            HookWord::Bits64(word) => word.sub_hook(),
        }
    }

    /// Returns the number of data words, including the data word of a generic entry: 0 to 5.
    pub const fn word_count(&self) -> usize {
        self.shape.words
    }

    /// Returns data word `number`, counted from 1, or `None` if the entry does not have this word.
    /// A 32-bit [`HookType::Trchkg`] always has five words; the entry does not record how many of
    /// them the program passed.
    #[inline]
    pub fn word(&self, number: usize) -> Option<u64> {
        let there = number >= 1 && number <= self.shape.words;
        there.then(|| big_endian_word(self.env(), self.bytes, number * self.env().word_bytes()))?
    }

    /// Returns the variable data without padding. Returns an empty slice for a plain entry.
    #[inline]
    pub fn variable_data(&self) -> &'a [u8] {
        let at = self.shape.data_at(self.env());
        self.bytes.get(at..at + self.shape.data.unwrap_or(0)).unwrap_or_default()
    }

    /// Returns the length in bytes that the hook word requires, with padding: 4 to 65544.
    pub const fn length(&self) -> usize {
        self.shape.length(self.env())
    }

    /// Returns all bytes that were passed to [`Entry::read`], including any after the entry.
    pub const fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Returns the length in bytes of the plain entry that a hook word describes.
    ///
    /// # Errors
    /// The errors of [`Entry::write_plain`], except [`EntryError::TooShort`].
    pub const fn plain_length(hook: HookWord) -> Result<usize, EntryError> {
        match Shape::of(hook) {
            Ok(Shape { data: Some(_), .. }) | Err(EntryError::Length { generic: true, .. }) => {
                Err(EntryError::Generic)
            }
            Ok(shape) => Ok(shape.length(hook.env())),
            Err(error) => Err(error),
        }
    }

    /// Returns the length in bytes of a generic entry with `data` bytes of variable data.
    ///
    /// # Errors
    /// Returns [`EntryError::DataTooLong`] if `data` exceeds [`MAX_DATA_LENGTH`].
    pub const fn generic_length(env: Env, data: usize) -> Result<usize, EntryError> {
        if data > MAX_DATA_LENGTH {
            return Err(EntryError::DataTooLong { found: data });
        }
        Ok(Shape { words: 1, data: Some(data) }.length(env))
    }

    /// Writes an entry without variable data at the start of `bytes` and returns its length.
    ///
    /// Stores the hook word unchanged. The hook word determines how many of the five data words in
    /// `words` are stored. A 32-bit entry contains only the lower half of each word.
    ///
    /// # Errors
    /// Returns [`EntryError::UnknownType`], [`EntryError::Length`] or [`EntryError::Generic`] if
    /// the hook word is not that of a plain entry. Returns [`EntryError::TooShort`] if `bytes` is
    /// too short. In all these cases, writes nothing.
    ///
    /// ```
    /// use tracewell_wire::aix::{Entry, Env, HookId, HookType, HookWord, HookWord32};
    ///
    /// let hook = HookWord32::new(HookId::short(0x106), HookType::Trchklt, 0);
    /// let mut bytes = [0; 8];
    /// let length = Entry::write_plain(HookWord::Bits32(hook), &[77, 0, 0, 0, 0], &mut bytes);
    /// assert_eq!(length, Ok(8));
    /// assert_eq!(Entry::read(Env::Bits32, &bytes).unwrap().word(1), Some(77));
    /// ```
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
        // The first word is the hook word.
        for (place, &word) in bytes.chunks_exact_mut(env.word_bytes()).skip(1).zip(words) {
            put_word(env, place, word);
        }
        Ok(length)
    }

    /// Writes an entry with variable data at the start of `bytes` and returns its length.
    ///
    /// Inserts the generic type and the length into the hook word. A 32-bit hook word keeps the
    /// timestamp bit of the caller's type, and a 64-bit hook word keeps all its flags.
    ///
    /// # Errors
    /// Returns [`EntryError::DataTooLong`] if `data` is longer than [`MAX_DATA_LENGTH`]. Returns
    /// [`EntryError::TooShort`] if `bytes` is too short. In both cases, writes nothing.
    ///
    /// ```
    /// use tracewell_wire::aix::{Entry, Env, HookId, HookWord, HookWord64};
    ///
    /// let hook = HookWord::Bits64(HookWord64::generic(HookId::short(0x134), 0));
    /// let mut bytes = [0; 24];
    /// assert_eq!(Entry::write_generic(hook, 42, b"/bin/ls", &mut bytes), Ok(24));
    ///
    /// let entry = Entry::read(Env::Bits64, &bytes).unwrap();
    /// assert_eq!((entry.word(1), entry.variable_data()), (Some(42), &b"/bin/ls"[..]));
    /// ```
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

    /// Writes an entry as [`Entry::write_generic`] does, but without the variable data. Returns the
    /// part of `bytes` that the caller must fill with the variable data. Its length is `data`.
    ///
    /// # Errors
    /// As [`Entry::write_generic`].
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
        // The memory may hold stale bytes, which must not leak into a log.
        padding.fill(0);
        Ok(place)
    }
}

/// Returns the first `needed` bytes.
fn room(bytes: &mut [u8], needed: usize) -> Result<&mut [u8], EntryError> {
    let found = bytes.len();
    bytes.get_mut(..needed).ok_or(EntryError::TooShort { needed, found })
}

/// Returns the hook word of a generic entry with `data` bytes of variable data. The caller ensures
/// that `data` does not exceed [`MAX_DATA_LENGTH`].
const fn generic_hook(hook: HookWord, data: u16) -> HookWord {
    match hook {
        HookWord::Bits32(word) => {
            let stamped = word.type_nibble() & 8 != 0;
            let hook_type = if stamped { HookType::Trcgent } else { HookType::Trcgen };
            HookWord::Bits32(HookWord32::new(word.id(), hook_type, data))
        }
        HookWord::Bits64(word) => {
            // The length of a 64-bit entry includes data word 1.
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

/// Stores a word at the start of `place`, which must be long enough.
fn put_word(env: Env, place: &mut [u8], value: u64) {
    let big = value.to_be_bytes();
    let w = env.word_bytes();
    // A 32-bit word stores the low half of the value: the last four of the big-endian bytes.
    place[..w].copy_from_slice(&big[8 - w..]);
}

fn big_endian_word(env: Env, bytes: &[u8], at: usize) -> Option<u64> {
    let rest = bytes.get(at..)?;
    Some(match env {
        Env::Bits32 => u64::from(u32::from_be_bytes(*rest.first_chunk()?)),
        Env::Bits64 => u64::from_be_bytes(*rest.first_chunk()?),
    })
}
