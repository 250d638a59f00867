//! The event that a template runs over: its bytes, what its hook word says, and what is known
//! of it from elsewhere.

use tracewell_wire::ByteOrder;

/// Words of which size a program or kernel has.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Environment {
    /// 4 bytes.
    #[default]
    Bits32,
    /// 8 bytes.
    Bits64,
}

impl Environment {
    /// Bytes of a word, and of a hook word.
    pub const fn word(self) -> usize {
        match self {
            Self::Bits32 => 4,
            Self::Bits64 => 8,
        }
    }

    /// Bits of a word: what `$HOOKENV` is.
    pub const fn bits(self) -> u8 {
        8 * self.word() as u8
    }
}

/// The bytes of one event, and what its hook word says.
///
/// The bytes are the *format buffer*: hook word and data, without time stamp, processor and thread.
/// The events of systems without hook words get one: see [`Entry::of_event`].
#[derive(Clone, Copy, Debug)]
pub struct Entry<'a> {
    pub(super) bytes: &'a [u8],
    /// The same and what lies behind them: where that is eight bytes, any number is one load.
    padded: &'a [u8],
    /// What `$D1`, `$D2`, ... are, a word each.
    words: &'a [u8],
    pub(super) order: ByteOrder,
    pub(super) environment: Environment,
    pub(super) id: u16,
    pub(super) generic: bool,
    pub(super) hook_type: u16,
    pub(super) hook_data: u16,
    /// `$HL`: bytes of variable data, or of the data words.
    pub(super) data_length: u32,
    /// Where the data pointer starts.
    pub(super) start: u8,
    /// Whether the id has three digits: `$TRACEID` is without the fourth.
    pub(super) has_short_id: bool,
}

/// Bytes are too short for a hook word.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("expected a hook word of {expected} bytes, found {found} bytes")]
pub struct EntryError {
    /// Bytes of a hook word.
    pub expected: usize,
    /// Bytes that are there.
    pub found: usize,
}

/// Flags of a 64-bit hook word.
const GENERIC_64: u16 = 0x4000;
/// The type of a 32-bit hook word says that a time stamp follows.
const STAMPED_32: u16 = 8;

impl<'a> Entry<'a> {
    /// An entry that begins with a 32-bit hook word: 12 bits of hook id, 4 of type, 16 of data or
    /// length, big-endian.
    ///
    /// # Errors
    /// Where there are less than 4 bytes.
    pub fn hook32(bytes: &'a [u8]) -> Result<Self, EntryError> {
        let short = EntryError { expected: 4, found: bytes.len() };
        let (word, words) = bytes.split_first_chunk().ok_or(short)?;
        let word = u32::from_be_bytes(*word);
        let (hook_type, hook_data) = ((word >> 16) as u16 & 0xF, word as u16);
        let generic = hook_type & !STAMPED_32 == 0;
        let data_length = match hook_type & !STAMPED_32 {
            0 => u32::from(hook_data),
            2 => 4,
            6 => 20,
            _ => 0,
        };
        Ok(Self {
            bytes,
            padded: bytes,
            words,
            order: ByteOrder::Big,
            environment: Environment::Bits32,
            id: (word >> 16) as u16 & 0xFFF0,
            generic,
            hook_type,
            hook_data,
            data_length,
            start: if generic { 4 } else { 2 },
            has_short_id: true,
        })
    }

    /// An entry that begins with a 64-bit hook word: 16 bits each of flags, length, hook id and
    /// sub-hook, big-endian.
    ///
    /// # Errors
    /// Where there are less than 8 bytes.
    pub fn hook64(bytes: &'a [u8]) -> Result<Self, EntryError> {
        let short = EntryError { expected: 8, found: bytes.len() };
        let (word, words) = bytes.split_first_chunk().ok_or(short)?;
        let word = u64::from_be_bytes(*word);
        let (flags, length) = ((word >> 48) as u16, (word >> 32) as u16);
        let generic = flags & GENERIC_64 != 0;
        let data_length = if generic { length.saturating_sub(8) } else { length };
        Ok(Self {
            bytes,
            padded: bytes,
            words,
            order: ByteOrder::Big,
            environment: Environment::Bits64,
            id: (word >> 16) as u16,
            generic,
            hook_type: flags,
            hook_data: word as u16,
            data_length: u32::from(data_length),
            start: 6,
            has_short_id: false,
        })
    }

    /// An entry of this environment.
    ///
    /// # Errors
    /// Where the bytes are too short for its hook word.
    pub fn hook(environment: Environment, bytes: &'a [u8]) -> Result<Self, EntryError> {
        match environment {
            Environment::Bits32 => Self::hook32(bytes),
            Environment::Bits64 => Self::hook64(bytes),
        }
    }

    /// The event of a system without hook words: a word of the environment in front of its own
    /// bytes, in its own byte order. The data pointer starts at those bytes, and `$D1` is the first
    /// word of them.
    pub fn of_event(id: u16, environment: Environment, order: ByteOrder, bytes: &'a [u8]) -> Self {
        let words = bytes.get(environment.word()..).unwrap_or_default();
        let data = words.len();
        Self {
            bytes,
            padded: bytes,
            words,
            order,
            environment,
            id,
            generic: false,
            hook_type: 0,
            hook_data: u16::try_from(data).unwrap_or(u16::MAX),
            data_length: u32::try_from(data).unwrap_or(u32::MAX),
            start: environment.word() as u8,
            has_short_id: false,
        }
    }

    /// The same event with these words as `$D1`, `$D2`, ...: the arguments of a system that packs them
    /// into fewer bytes than a word each.
    #[must_use]
    pub fn with_words(self, words: &'a [u8]) -> Self {
        Self { words, ..self }
    }

    /// The same event in a buffer that it is the beginning of.
    #[must_use]
    pub(crate) fn padded(self, buffer: &'a [u8]) -> Self {
        debug_assert!(buffer.starts_with(self.bytes));
        Self { padded: buffer, ..self }
    }

    /// The same event, whose last bytes are not its data: the NUL behind a text, say.
    #[must_use]
    pub fn without_last(mut self, bytes: usize) -> Self {
        let data = (self.data_length as usize).saturating_sub(bytes);
        self.hook_data = u16::try_from(data).unwrap_or(u16::MAX);
        self.data_length = u32::try_from(data).unwrap_or(u32::MAX);
        self
    }

    /// The same entry, taken as written by trcgen or not, whatever its hook word says.
    #[must_use]
    pub fn taken_as_generic(mut self, generic: bool) -> Self {
        self.generic = generic;
        if self.environment == Environment::Bits32 {
            self.start = if generic { 4 } else { 2 };
        }
        self
    }

    /// The hook id; three digits `hhh` are `hhh0`.
    pub const fn id(&self) -> u16 {
        self.id
    }

    /// The hook word's size, its value and its digits in hexadecimal.
    pub(super) fn hook_word(&self) -> (u64, usize) {
        let size = self.environment.word();
        (self.number(0, size).unwrap_or(0), 2 * size)
    }

    /// `$HB`: bytes of the generic buffer, 0 for other entries.
    pub(super) fn buffer_length(&self) -> u32 {
        if self.generic { self.data_length } else { 0 }
    }

    /// Bytes at a place; `None` where not all of them are there.
    #[inline]
    pub(super) fn slice(&self, at: i64, length: usize) -> Option<&'a [u8]> {
        let at = usize::try_from(at).ok()?;
        self.bytes.get(at..at.checked_add(length)?)
    }

    /// An unsigned number of at most 8 bytes at a place.
    #[inline(always)]
    pub(super) fn number(&self, at: i64, size: usize) -> Option<u64> {
        number(self.slice(at, size)?, self.order)
    }

    /// `$D1`, `$D2`, ... from 0; `None` where there are fewer.
    #[inline(always)]
    pub(super) fn word(&self, index: u8) -> Option<u64> {
        let index = usize::from(index);
        match self.environment {
            Environment::Bits32 => {
                Some(u64::from(self.order.u32(*self.words.get(4 * index..)?.first_chunk()?)))
            }
            Environment::Bits64 => {
                Some(self.order.u64(*self.words.get(8 * index..)?.first_chunk()?))
            }
        }
    }

    /// An unsigned number of 1 to 8 bytes at a place, for the hot path.
    #[inline(always)]
    pub(super) fn short_number(&self, at: usize, size: usize) -> Option<u64> {
        if at.saturating_add(size) > self.bytes.len() {
            return None;
        }
        let Some(eight) = self.padded.get(at..)?.first_chunk() else {
            return number(self.bytes.get(at..at + size)?, self.order);
        };
        let unused = 64 - 8 * size as u32;
        Some(match self.order {
            ByteOrder::Big => u64::from_be_bytes(*eight) >> unused,
            ByteOrder::Little => u64::from_le_bytes(*eight) << unused >> unused,
        })
    }
}

/// An unsigned number of at most 8 bytes.
#[inline]
fn number(bytes: &[u8], order: ByteOrder) -> Option<u64> {
    // Comparisons are foreseen better than a jump through a table of sizes.
    if bytes.len() == 4 {
        return Some(u64::from(order.u32(*bytes.first_chunk()?)));
    }
    if bytes.len() == 8 {
        return Some(order.u64(*bytes.first_chunk()?));
    }
    let join = |value: u64, byte: &u8| (value << 8) | u64::from(*byte);
    Some(match order {
        ByteOrder::Big => bytes.iter().fold(0, join),
        ByteOrder::Little => bytes.iter().rev().fold(0, join),
    })
}

/// Names that numbers stand for.
pub trait Names {
    /// The executable of a process.
    fn process(&self, _pid: u64) -> Option<&str> {
        None
    }

    /// The object of this address or key.
    fn object(&self, _key: u64) -> Option<&str> {
        None
    }
}

/// No names.
#[derive(Debug)]
pub struct NoNames;

impl Names for NoNames {}

/// What is known of an event beside its bytes.
#[derive(Clone, Copy)]
pub struct Around<'a> {
    /// Thread that was running: `$TID`.
    pub tid: u64,
    /// Its process: `$PID`.
    pub pid: u64,
    /// Processor: `$CPUID`.
    pub cpu: u32,
    /// Path of the process's executable, or the name of what was running: `$EXECPATH`.
    pub executable: &'a str,
    /// System call that the thread is in: `$SVC`.
    pub system_call: &'a str,
    /// Words of the system that was traced: `$TRACEENV`.
    pub system: Environment,
    /// Name of the trace: `$LOGFILE`.
    pub log: &'a str,
    /// Where in it the event starts, in bytes: `$LOGID0`.
    pub offset: u64,
    /// Nanoseconds since the first event, for timers.
    pub time_ns: u64,
    /// What numbers stand for.
    pub names: &'a dyn Names,
}

impl Default for Around<'_> {
    fn default() -> Self {
        Self {
            tid: 0,
            pid: 0,
            cpu: 0,
            executable: "",
            system_call: "",
            system: Environment::default(),
            log: "",
            offset: 0,
            time_ns: 0,
            names: &NoNames,
        }
    }
}

impl std::fmt::Debug for Around<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { tid, pid, cpu, executable, offset, .. } = self;
        write!(f, "tid {tid} pid {pid} cpu {cpu} {executable} at byte {offset}")
    }
}
