//! Event types of a program: name, family and typed fields, known at compile time.

use core::marker::PhantomData;

use tracewell_wire::native::image::TYPE_TEXT;
use tracewell_wire::native::{FAMILIES, FieldKind};

use super::control::DefineError;
use super::image::Image;
#[cfg(all(feature = "std", target_os = "linux", not(loom)))]
use super::numbers::Number;

/// A group of events that can be switched on and off together.
///
/// ```
/// use tracewell_record::stream::{Family, Stream, StreamOptions};
///
/// const NET: Family = Family::new(3, "net");
///
/// let stream = Stream::anonymous(&StreamOptions::default()).unwrap();
/// stream.image().set_family_filter(NET.bit()); // events of NET are not recorded
/// assert_eq!(stream.image().family_filter(), 1 << 3);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Family {
    number: u16,
    name: &'static str,
}

impl Family {
    /// Creates an event family. `number`, 0 to 62, is the index of the family's bit in a stream's
    /// family filter. Two families with the same number can be switched only together.
    ///
    /// # Panics
    /// Panics if the number is 63 or more. In a constant this is a compile-time error.
    pub const fn new(number: u16, name: &'static str) -> Self {
        assert!((number as u32) < FAMILIES, "families are numbered from 0 to 62");
        Self { number, name }
    }

    /// Returns the family's bit in a stream's family filter.
    pub const fn bit(self) -> u64 {
        1 << self.number
    }

    /// Returns the name of the family.
    pub const fn name(self) -> &'static str {
        self.name
    }

    /// Returns the family's number, 0 to 62.
    pub const fn number(self) -> u16 {
        self.number
    }
}

/// A value that is stored as one word of a record: integers, floats, `bool` and [`Hex`].
///
/// ```
/// use tracewell_record::stream::Value;
/// use tracewell_wire::native::FieldKind;
///
/// assert_eq!((-1_i32).word(), u64::MAX);
/// assert_eq!(<f32 as Value>::KIND, FieldKind::Float);
/// ```
pub trait Value: Copy {
    /// The form in which readers show the word.
    const KIND: FieldKind;

    /// Returns the value as the word that is recorded.
    fn word(self) -> u64;
}

/// A number that is displayed in hexadecimal: an address, a register, flags.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Hex(pub u64);

macro_rules! values {
    ($($type:ty: $kind:ident, |$value:ident| $word:expr;)*) => {$(
        impl Value for $type {
            const KIND: FieldKind = FieldKind::$kind;
            #[inline]
            fn word(self) -> u64 {
                let $value = self;
                $word
            }
        }
    )*};
}

values! {
    u8: Unsigned, |v| u64::from(v);
    u16: Unsigned, |v| u64::from(v);
    u32: Unsigned, |v| u64::from(v);
    u64: Unsigned, |v| v;
    usize: Unsigned, |v| v as u64;
    i8: Signed, |v| i64::from(v) as u64;
    i16: Signed, |v| i64::from(v) as u64;
    i32: Signed, |v| i64::from(v) as u64;
    i64: Signed, |v| v as u64;
    isize: Signed, |v| v as u64;
    bool: Bool, |v| u64::from(v);
    f32: Float, |v| f64::from(v).to_bits();
    f64: Float, |v| v.to_bits();
    Hex: Hex, |v| v.0;
}

/// The fields of an event: a tuple of up to eight values.
///
/// ```
/// use tracewell_record::stream::{Fields, Hex};
///
/// assert_eq!((7_u8, true, Hex(0x40)).words(), [7, 1, 0x40]);
/// ```
pub trait Fields: Copy {
    /// The array type that holds the words.
    type Words: AsRef<[u64]>;
    /// The form in which readers show each word.
    const KINDS: &'static [FieldKind];

    /// Returns the words, one per field.
    fn words(self) -> Self::Words;
}

macro_rules! fields {
    ($($count:literal: $($name:ident)*;)*) => {$(
        impl<$($name: Value),*> Fields for ($($name,)*) {
            type Words = [u64; $count];
            const KINDS: &'static [FieldKind] = &[$($name::KIND),*];
            #[inline]
            #[expect(non_snake_case, reason = "the type names are also the names of variables")]
            #[allow(clippy::unused_unit, reason = "for the empty tuple")]
            fn words(self) -> [u64; $count] {
                let ($($name,)*) = self;
                [$($name.word()),*]
            }
        }
    )*};
}

fields! {
    1: A;
    2: A B;
    3: A B C;
    4: A B C D;
    5: A B C D E;
    6: A B C D E F;
    7: A B C D E F G;
    8: A B C D E F G H;
}

impl Fields for () {
    type Words = [u64; 0];
    const KINDS: &'static [FieldKind] = &[];
    #[inline]
    fn words(self) -> [u64; 0] {
        []
    }
}

/// Variable-length data after the fields: none, text, or bytes.
pub trait Tail {
    /// The type of the data that a program passes.
    type Value: ?Sized + AsRef<[u8]>;
    /// The form in which readers show the data; `None` if there is no data.
    const KIND: Option<FieldKind>;
}

/// No data after the fields.
#[derive(Clone, Copy, Debug)]
pub enum NoTail {}

impl Tail for NoTail {
    type Value = [u8];
    const KIND: Option<FieldKind> = None;
}

impl Tail for str {
    type Value = Self;
    const KIND: Option<FieldKind> = Some(FieldKind::Text);
}

impl Tail for [u8] {
    type Value = Self;
    const KIND: Option<FieldKind> = Some(FieldKind::Bytes);
}

/// An event type, usually a `static`: fields of type `F`, then data of type `T`.
///
/// ```
/// use tracewell_record::stream::{EventType, Family, Hex};
///
/// const NET: Family = Family::new(3, "net");
/// static SENT: EventType<(u32, Hex)> = EventType::new(NET, "sent", &["length", "queue"]);
/// static FAILED: EventType<(i32,), str> = EventType::new(NET, "failed", &["code", "why"]);
///
/// assert_eq!(SENT.family(), NET);
/// ```
#[derive(Debug)]
pub struct EventType<F, T: ?Sized = NoTail> {
    #[cfg(all(feature = "std", target_os = "linux", not(loom)))]
    number: Number,
    family: Family,
    name: &'static str,
    fields: &'static [&'static str],
    shape: PhantomData<fn(F, &T)>,
}

impl<F: Fields, T: Tail + ?Sized> EventType<F, T> {
    /// Creates an event type. `fields` contains a name for each field, and a further name if data
    /// follow the fields.
    ///
    /// # Panics
    /// Panics if the number of names is wrong. In a `static` this is a compile-time error.
    pub const fn new(family: Family, name: &'static str, fields: &'static [&'static str]) -> Self {
        let count = F::KINDS.len() + T::KIND.is_some() as usize;
        assert!(fields.len() == count, "one name for each field");
        Self {
            #[cfg(all(feature = "std", target_os = "linux", not(loom)))]
            number: Number::new(),
            family,
            name,
            fields,
            shape: PhantomData,
        }
    }

    /// Returns the family of the events.
    #[inline]
    pub const fn family(&self) -> Family {
        self.family
    }

    /// Returns the number of the type in this process.
    #[cfg(all(feature = "std", target_os = "linux", not(loom)))]
    #[inline]
    pub(super) const fn number(&self) -> &Number {
        &self.number
    }

    /// Defines the type in a stream and returns its id there. Each stream may assign a different
    /// id. Takes no lock and allocates nothing, so it is safe to call from a signal handler.
    ///
    /// # Errors
    /// Returns an error if the stream has no free id, or if the type's string is too long.
    pub fn define(&self, image: &Image<'_>) -> Result<u16, DefineError> {
        let mut buffer = [0; TYPE_TEXT];
        let text = self.text(&mut buffer).ok_or(DefineError::TooLong)?;
        image.define(self.family.number, text)
    }

    /// Writes the type's string as the wire format defines it, or returns `None` if it is too long.
    fn text<'b>(&self, buffer: &'b mut [u8; TYPE_TEXT]) -> Option<&'b [u8]> {
        let mut length = 0;
        let mut put = |text: &str| {
            let room = buffer.get_mut(length..length + text.len())?;
            room.copy_from_slice(text.as_bytes());
            length += text.len();
            Some(())
        };
        put(self.family.name)?;
        put("/")?;
        put(self.name)?;
        let kinds = F::KINDS.iter().copied().chain(T::KIND);
        let mut separator = "(";
        for (name, kind) in self.fields.iter().zip(kinds) {
            put(separator)?;
            put(name)?;
            put(":")?;
            put(kind.as_str())?;
            separator = ",";
        }
        put(if separator == "(" { "()" } else { ")" })?;
        buffer.get(..length)
    }
}
