//! Reads the values at the data pointer, and the values of macros.

use crate::template::entry::{Entry, EventContext};
use crate::template::program::Quantity;
use crate::template::syntax::{Code, Field, Move, Size};

/// A value: a number, and also a string if the value was read from text.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Value {
    pub(super) number: i64,
    /// Number of bits that were read. Switches compare only these bits.
    pub(super) bits: u8,
    pub(super) text: Option<Text>,
}

/// The source of a text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Text {
    /// Bytes of the entry, up to a NUL.
    Entry {
        start: u32,
        length: u32,
    },
    Executable,
    SystemCall,
    Log,
}

impl Value {
    pub(super) const fn of(number: i64) -> Self {
        Self { number, bits: 64, text: None }
    }

    pub(super) const fn unsigned(number: u64, bits: u8) -> Self {
        Self { number: number as i64, bits, text: None }
    }

    const fn of_text(text: Text) -> Self {
        Self { number: 0, bits: 64, text: Some(text) }
    }

    /// Returns the mask of the value's bits.
    #[inline]
    pub(super) const fn mask(self) -> u64 {
        if self.bits >= 64 { u64::MAX } else { (1 << self.bits) - 1 }
    }
}

/// A position in the data, in bits.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pointer {
    /// Number of bits after the base.
    pub(super) at: i64,
    /// The base pointer, in bytes.
    pub(super) base: i64,
}

impl Pointer {
    /// Rounds the position up to a whole byte. Returns the offset of this byte in the entry.
    #[inline]
    pub(super) fn byte(&mut self) -> i64 {
        self.at = self.at.saturating_add(7) & !7;
        (self.at >> 3).saturating_add(self.base)
    }

    /// Returns the result of [`Pointer::byte`] as an index, but does not move the pointer. If the
    /// position is before the first byte of the entry, the index is past all data.
    #[inline]
    pub(super) fn place(mut self) -> usize {
        usize::try_from(self.byte()).unwrap_or(usize::MAX)
    }

    /// Moves to [`Pointer::place`] and then forward by a number of bytes. Does nothing if this
    /// number is 0.
    #[inline]
    pub(super) fn go_on(&mut self, bytes: usize) {
        if bytes > 0 {
            self.byte();
            self.skip(bytes);
        }
    }

    #[inline]
    pub(super) fn skip(&mut self, bytes: usize) {
        self.at = self.at.saturating_add(8 * bytes as i64);
    }

    /// Moves the pointer according to a code.
    pub(super) fn go(&mut self, code: Move, word: usize) {
        self.at = match code {
            Move::Go(field) => field.total() as i64,
            Move::Omit(field) => self.at.saturating_add(field.total() as i64),
            // The pointer counts bits. Before it moves back, it is rounded down to a whole byte.
            Move::Back(bytes) => (self.at & !7).saturating_sub(8 * i64::from(bytes)),
            Move::Word(number) => 8 * i64::from(number) * word as i64,
        };
    }
}

/// Returns a size in bytes.
#[inline]
pub(super) fn bytes(size: Size, entry: &Entry<'_>) -> usize {
    match size {
        Size::Bytes(bytes) => usize::from(bytes),
        Size::Word => entry.environment.word(),
    }
}

/// Returns the size in bytes of the number that a code reads, or `None` if the code reads no number
/// of a fixed size.
pub(super) fn number_size(code: Code, entry: &Entry<'_>) -> Option<usize> {
    Some(match code {
        Code::Hex(size) | Code::Signed(size) | Code::Unsigned(size) => bytes(size, entry),
        Code::HexByte => 1,
        Code::Octal(bytes) | Code::Errno(bytes) => usize::from(bytes),
        Code::Float | Code::Time | Code::Process => 4,
        Code::Double => 8,
        _ => return None,
    })
}

/// Interprets a number according to its code. With the code `D`, the number is signed.
pub(super) fn as_coded(code: Code, number: u64, size: usize) -> Value {
    let size = size.min(8);
    let bits = 8 * size as u8;
    match code {
        Code::Signed(_) => {
            // The two shifts copy the sign bit to all higher bits.
            let shift = 64 - u32::from(bits);
            Value { number: (number as i64) << shift >> shift, bits, text: None }
        }
        _ => Value::unsigned(number, bits),
    }
}

/// Reads the value at the pointer, and advances the pointer. Returns `None` if data is missing.
pub(super) fn read(code: Code, entry: &Entry<'_>, pointer: &mut Pointer) -> Option<Value> {
    if let Some(size) = number_size(code, entry) {
        let at = pointer.byte();
        // If there are more than 8 bytes, the last 8 are the number.
        let skipped = size.saturating_sub(8);
        entry.slice(at, size)?;
        let number = entry.number(at.saturating_add(skipped as i64), size - skipped)?;
        pointer.skip(size);
        return Some(as_coded(code, number, size));
    }
    match code {
        Code::Bits(field) => read_bits(field, entry, pointer),
        Code::BufferBytes => Some(Value::unsigned(u64::from(entry.buffer_length()), 32)),
        Code::HookType => Some(Value::unsigned(u64::from(entry.hook_type), 16)),
        _ => read_text(code, entry, pointer),
    }
}

/// Finds the string at the pointer, and advances the pointer past the string.
pub(super) fn read_text(code: Code, entry: &Entry<'_>, pointer: &mut Pointer) -> Option<Value> {
    let at = pointer.byte();
    let (before, length) = match code {
        Code::Character => (0, 1),
        Code::Ascii { bytes, .. } => (0, usize::from(bytes)),
        Code::Counted(size) => {
            let size = usize::from(size);
            (size, usize::try_from(entry.number(at, size)?).ok()?)
        }
        _ => {
            let rest =
                entry.slice(at, 0).and_then(|_| entry.bytes.get(usize::try_from(at).ok()?..))?;
            (0, rest.iter().position(|byte| *byte == 0)?)
        }
    };
    let start = at.checked_add(before as i64)?;
    let bytes = entry.slice(start, length)?;
    // `S0` also consumes the NUL that ends the string.
    let terminator = usize::from(code == Code::Terminated);
    pointer.skip(before + length + terminator);
    // A text in a field of fixed width may end early with a NUL, but the whole field is consumed.
    let text = bytes.iter().position(|byte| *byte == 0).unwrap_or(length);
    let text = Text::Entry { start: u32::try_from(start).ok()?, length: u32::try_from(text).ok()? };
    // A short string also has a number, so that a switch can compare it with numbers. Longer
    // strings have no number, and count as 0 in a comparison.
    let number = entry.number(start, length).filter(|_| length <= 8).unwrap_or(0);
    let bits = (8 * length.clamp(1, 8)) as u8;
    Some(Value { number: number as i64, bits, text: Some(text) })
}

fn read_bits(field: Field, entry: &Entry<'_>, pointer: &mut Pointer) -> Option<Value> {
    let total = field.total() as i64;
    let start = pointer.at.checked_add(pointer.base.checked_mul(8)?)?;
    let end = start.checked_add(total)?;
    // All bits must exist. The last 64 bits are the number.
    bit(entry, start)?;
    bit(entry, end - 1)?;
    let bits = total.min(64);
    let mut number = 0;
    for at in end - bits..end {
        number = (number << 1) | u64::from(bit(entry, at)?);
    }
    pointer.at = pointer.at.saturating_add(total);
    Some(Value::unsigned(number, bits as u8))
}

/// Returns a bit of the entry. Bit 0 is the most significant bit of the first byte.
pub(super) fn bit(entry: &Entry<'_>, at: i64) -> Option<bool> {
    let byte = entry.slice(at >> 3, 1)?.first()?;
    Some(byte >> (7 - (at & 7)) & 1 == 1)
}

/// Returns the value of a built-in macro, or `None` if data is missing.
pub(super) fn quantity(
    quantity: Quantity,
    entry: &Entry<'_>,
    context: &EventContext<'_>,
    pointer: Pointer,
    line: usize,
) -> Option<Value> {
    let word = entry.environment.word();
    let of = |number: Option<u64>, size: usize| Some(Value::unsigned(number?, 8 * size as u8));
    Some(match quantity {
        Quantity::User(_) => Value::default(),
        Quantity::Word(index) => return of(entry.word(index), word),
        Quantity::LongWord(index) => {
            // In both environments, `$L1` is the 8 bytes after the hook word.
            return of(entry.number((word + 8 * usize::from(index)) as i64, 8), 8);
        }
        Quantity::HookData => Value::unsigned(u64::from(entry.hook_data), 16),
        Quantity::DataLength => Value::unsigned(u64::from(entry.data_length), 32),
        Quantity::BufferLength => Value::unsigned(u64::from(entry.buffer_length()), 32),
        Quantity::HookType => Value::unsigned(u64::from(entry.hook_type), 16),
        Quantity::Generic => Value::of(i64::from(entry.generic)),
        Quantity::HookEnvironment => Value::of(i64::from(entry.environment.bits())),
        Quantity::SystemEnvironment => Value::of(i64::from(context.system.bits())),
        Quantity::DataPointer | Quantity::OffsetWithin => Value::of(pointer.at >> 3),
        Quantity::BasePointer => Value::of(pointer.base),
        Quantity::Thread => Value::unsigned(context.tid, 64),
        Quantity::Process => Value::unsigned(context.pid, 64),
        Quantity::Processor => Value::of(i64::from(context.cpu)),
        Quantity::Executable => Value::of_text(Text::Executable),
        Quantity::SystemCall => Value::of_text(Text::SystemCall),
        Quantity::Log => Value::of_text(Text::Log),
        Quantity::HookId => Value::of(i64::from(hook_id(entry))),
        Quantity::LogOffset => Value::unsigned(context.offset, 64),
        Quantity::LineNumber => Value::of(line as i64),
    })
}

/// Returns the id as templates print it. It has three digits for a 32-bit hook word.
fn hook_id(entry: &Entry<'_>) -> u16 {
    if entry.has_short_id { entry.id >> 4 } else { entry.id }
}

/// Returns the bytes of a text.
pub(super) fn text<'a>(text: Text, entry: &Entry<'a>, context: &EventContext<'a>) -> &'a [u8] {
    match text {
        Text::Entry { start, length } => {
            entry.slice(i64::from(start), length as usize).unwrap_or_default()
        }
        Text::Executable => context.executable.as_bytes(),
        Text::SystemCall => context.system_call.as_bytes(),
        Text::Log => context.log.as_bytes(),
    }
}
