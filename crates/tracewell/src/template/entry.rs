//! The event that a template formats: its bytes, the content of its hook word, and other facts
//! about the event.

use tracewell_wire::ByteOrder;

/// Word size of a program or kernel.
///
/// # Examples
///
/// ```
/// use tracewell::template::Environment;
///
/// assert_eq!(Environment::Bits32.word(), 4);
/// assert_eq!(Environment::Bits64.bits(), 64);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Environment {
    /// Words of 4 bytes.
    #[default]
    Bits32,
    /// Words of 8 bytes.
    Bits64,
}

impl Environment {
    /// Returns the number of bytes in a word. A hook word has the same size.
    pub const fn word(self) -> usize {
        match self {
            Self::Bits32 => 4,
            Self::Bits64 => 8,
        }
    }

    /// Returns the word size in bits; this is the value of `$HOOKENV`.
    pub const fn bits(self) -> u8 {
        8 * self.word() as u8
    }
}

/// The bytes of one event, and the content of its hook word.
///
/// The bytes are the *format buffer*: hook word and data, without timestamp, processor and thread.
/// For events of systems without hook words, [`Entry::of_event`] expects a placeholder word.
///
/// # Examples
///
/// ```
/// use tracewell::template::Entry;
///
/// let entry = Entry::hook32(&[0x0A, 0xA1, 0x00, 0x0F])?;
/// assert_eq!(entry.id(), 0x0AA0);
/// # Ok::<(), tracewell::template::EntryError>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Entry<'a> {
    pub(super) bytes: &'a [u8],
    /// The entry and the bytes after it. If at least eight bytes follow, any number can be read
    /// with one load.
    padded: &'a [u8],
    /// The words `$D1`, `$D2`, ...
    words: &'a [u8],
    pub(super) order: ByteOrder,
    pub(super) environment: Environment,
    pub(super) id: u16,
    pub(super) generic: bool,
    pub(super) hook_type: u16,
    pub(super) hook_data: u16,
    /// `$HL`: number of bytes in the variable data, or in the data words.
    pub(super) data_length: u32,
    /// Initial byte offset of the data pointer.
    pub(super) start: u8,
    /// True if the id has three digits, so that `$TRACEID` omits the fourth.
    pub(super) has_short_id: bool,
}

/// Error for bytes that are too short for a hook word.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("expected a hook word of {expected} bytes, found {found} bytes")]
pub struct EntryError {
    /// Length of a hook word in bytes.
    pub expected: usize,
    /// Length of the given bytes.
    pub found: usize,
}

/// Flag of a 64-bit hook word: the entry is generic.
const GENERIC_64: u16 = 0x4000;
/// Bit in the type of a 32-bit hook word: a timestamp follows.
const STAMPED_32: u16 = 8;

impl<'a> Entry<'a> {
    /// Creates an entry from bytes that begin with a 32-bit hook word: 12 bits of hook id, 4 of
    /// type, 16 of data or length, big-endian.
    ///
    /// # Errors
    /// Returns an error if there are fewer than 4 bytes.
    pub fn hook32(bytes: &'a [u8]) -> Result<Self, EntryError> {
        let short = EntryError { expected: 4, found: bytes.len() };
        let (word, words) = bytes.split_first_chunk().ok_or(short)?;
        let word = u32::from_be_bytes(*word);
        let (hook_type, hook_data) = ((word >> 16) as u16 & 0xF, word as u16);
        // Type 0 is a generic entry. Its data has a variable length, which is in the hook word.
        let generic = hook_type & !STAMPED_32 == 0;
        // Type 2 has one word of data, and type 6 has five words.
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

    /// Creates an entry from bytes that begin with a 64-bit hook word: 16 bits each of flags,
    /// length, hook id and sub-hook, big-endian.
    ///
    /// # Errors
    /// Returns an error if there are fewer than 8 bytes.
    pub fn hook64(bytes: &'a [u8]) -> Result<Self, EntryError> {
        let short = EntryError { expected: 8, found: bytes.len() };
        let (word, words) = bytes.split_first_chunk().ok_or(short)?;
        let word = u64::from_be_bytes(*word);
        let (flags, length) = ((word >> 48) as u16, (word >> 32) as u16);
        let generic = flags & GENERIC_64 != 0;
        // The length of a generic entry includes the hook word.
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

    /// Creates an entry from bytes that begin with a hook word of this environment.
    ///
    /// # Errors
    /// Returns an error if the bytes are too short for a hook word.
    pub fn hook(environment: Environment, bytes: &'a [u8]) -> Result<Self, EntryError> {
        match environment {
            Environment::Bits32 => Self::hook32(bytes),
            Environment::Bits64 => Self::hook64(bytes),
        }
    }

    /// Creates an entry from an event of a system without hook words. `bytes` contains a
    /// placeholder word, and then the event's data in the byte order `order`. The data pointer
    /// starts at the first byte of the data, and `$D1` is the first word of the data.
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

    /// Replaces `$D1`, `$D2`, ... by these words. This is for systems whose arguments are shorter
    /// than a word.
    #[must_use]
    pub fn with_words(self, words: &'a [u8]) -> Self {
        Self { words, ..self }
    }

    /// Returns the same event with a longer buffer, which must begin with the bytes of the event.
    #[must_use]
    pub(crate) fn padded(self, buffer: &'a [u8]) -> Self {
        debug_assert!(buffer.starts_with(self.bytes));
        Self { padded: buffer, ..self }
    }

    /// Returns the same event with its last bytes excluded from the data, for example the NUL after
    /// a string.
    #[must_use]
    pub fn without_last(mut self, bytes: usize) -> Self {
        let data = (self.data_length as usize).saturating_sub(bytes);
        self.hook_data = u16::try_from(data).unwrap_or(u16::MAX);
        self.data_length = u32::try_from(data).unwrap_or(u32::MAX);
        self
    }

    /// Returns the same entry, treated as generic (trcgen) if `generic` is true, and as not generic
    /// otherwise. The hook word has no influence on this.
    #[must_use]
    pub fn taken_as_generic(mut self, generic: bool) -> Self {
        self.generic = generic;
        if self.environment == Environment::Bits32 {
            self.start = if generic { 4 } else { 2 };
        }
        self
    }

    /// Returns the hook id. Three digits `hhh` become `hhh0`.
    pub const fn id(&self) -> u16 {
        self.id
    }

    /// Returns the value of the hook word, and its number of hexadecimal digits.
    pub(super) fn hook_word(&self) -> (u64, usize) {
        let size = self.environment.word();
        (self.number(0, size).unwrap_or(0), 2 * size)
    }

    /// Returns `$HB`: the number of bytes in the buffer of a generic entry, or 0 for any other
    /// entry.
    pub(super) fn buffer_length(&self) -> u32 {
        if self.generic { self.data_length } else { 0 }
    }

    /// Returns `length` bytes at a byte offset, or `None` if the entry does not have all of them.
    #[inline]
    pub(super) fn slice(&self, at: i64, length: usize) -> Option<&'a [u8]> {
        let at = usize::try_from(at).ok()?;
        self.bytes.get(at..at.checked_add(length)?)
    }

    /// Returns an unsigned number of at most 8 bytes at a byte offset.
    #[inline(always)]
    pub(super) fn number(&self, at: i64, size: usize) -> Option<u64> {
        number(self.slice(at, size)?, self.order)
    }

    /// Returns a data word, or `None` if there are too few. Index 0 is `$D1`.
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

    /// Returns an unsigned number of 1 to 8 bytes at a byte offset. This version is for the hot
    /// path.
    #[inline(always)]
    pub(super) fn short_number(&self, at: usize, size: usize) -> Option<u64> {
        // The padding after the entry is readable, but not part of it.
        if at.saturating_add(size) > self.bytes.len() {
            return None;
        }
        let Some(eight) = self.padded.get(at..)?.first_chunk() else {
            return number(self.bytes.get(at..at + size)?, self.order);
        };
        // Load eight bytes at once, and shift out the bytes after the number.
        let unused = 64 - 8 * size as u32;
        Some(match self.order {
            ByteOrder::Big => u64::from_be_bytes(*eight) >> unused,
            ByteOrder::Little => u64::from_le_bytes(*eight) << unused >> unused,
        })
    }
}

/// Decodes an unsigned number of at most 8 bytes.
#[inline]
fn number(bytes: &[u8], order: ByteOrder) -> Option<u64> {
    // The branch predictor handles comparisons better than a jump table.
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

/// Resolves numbers to names.
pub trait Names {
    /// Returns the executable of a process.
    fn process(&self, _pid: u64) -> Option<&str> {
        None
    }

    /// Returns the object with this address or key.
    fn object(&self, _key: u64) -> Option<&str> {
        None
    }
}

/// A resolver without names. Processes and objects are shown as numbers.
#[derive(Debug)]
pub struct NoNames;

impl Names for NoNames {}

/// The facts about an event that are not in its bytes.
///
/// # Examples
///
/// ```
/// use tracewell::template::{Entry, EventContext, Machine, Program, Source};
///
/// let text = "0AA 1.0 \"@id\" $TID%U8 $SVC";
/// let program = Program::of(&[Source::new("id.fmt", text)]).program;
/// let context = EventContext { tid: 77, system_call: "read", ..EventContext::default() };
/// let entry = Entry::hook32(&[0x0A, 0xA1, 0x00, 0x00])?;
/// assert_eq!(Machine::default().format(&program, &entry, &context).text(), "77 read");
/// # Ok::<(), tracewell::template::EntryError>(())
/// ```
#[derive(Clone, Copy)]
pub struct EventContext<'a> {
    /// `$TID`: the running thread.
    pub tid: u64,
    /// `$PID`: the process of the running thread.
    pub pid: u64,
    /// `$CPUID`: number of the processor that recorded the event. The first processor has number 0.
    pub cpu: u32,
    /// `$EXECPATH`: path of the process's executable, or the name of the context.
    pub executable: &'a str,
    /// `$SVC`: the thread's current system call.
    pub system_call: &'a str,
    /// `$TRACEENV`: word size of the traced system.
    pub system: Environment,
    /// `$LOGFILE`: name of the trace.
    pub log: &'a str,
    /// `$LOGID0`: byte offset of the event in the trace.
    pub offset: u64,
    /// Nanoseconds since the first event, for timers.
    pub time_ns: u64,
    /// Resolves numbers to names.
    pub names: &'a dyn Names,
}

impl Default for EventContext<'_> {
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

impl std::fmt::Debug for EventContext<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { tid, pid, cpu, executable, offset, .. } = self;
        write!(f, "tid {tid} pid {pid} cpu {cpu} {executable} at byte {offset}")
    }
}
