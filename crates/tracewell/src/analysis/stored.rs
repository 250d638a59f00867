//! Values as bytes, for a cache that the same program reads again. The bytes have no version and no
//! checksum of their own, so they are not suitable for exchange with other programs.
//!
//! Reading returns `None` if the bytes are not a valid value of the type. Reading never allocates
//! more elements than there are bytes left.

use serde_json::Value;
use tracewell_wire::number;

use super::machines::Named;
use super::tracks::{
    Arrow, ArrowKind, Budget, Change, Gap, Holder, Job, LockTrack, Mark, Occupant, Position, Row,
    ServerState, State, StepSpan, WaitSpan,
};
use crate::model::{ContextId, LossCause, MaybeContext};

/// A value that can be written as bytes.
pub(crate) trait Stored: Sized {
    /// Appends the bytes of the value.
    fn put(&self, out: &mut Vec<u8>);

    /// Reads the value at the beginning of `input`, and removes its bytes from `input`.
    fn take(input: &mut &[u8]) -> Option<Self>;
}

impl Stored for u64 {
    fn put(&self, out: &mut Vec<u8>) {
        put_number(*self, out);
    }

    #[inline]
    fn take(input: &mut &[u8]) -> Option<Self> {
        // Most numbers are short.
        if let [byte @ ..0x80, rest @ ..] = *input {
            *input = rest;
            return Some(u64::from(*byte));
        }
        if let Some((value, length)) = input.first_chunk().and_then(|eight| read_short(*eight)) {
            *input = &input[length..];
            return Some(value);
        }
        let (value, rest) = number::read(input)?;
        *input = rest;
        Some(value)
    }
}

/// Returns the number at the beginning of eight bytes, and its length. Returns `None` if the number
/// is longer. The function has no branch for each byte, because such branches would often be
/// mispredicted.
#[inline(always)]
fn read_short(bytes: [u8; 8]) -> Option<(u64, usize)> {
    let word = u64::from_le_bytes(bytes);
    let ends = !word & 0x8080_8080_8080_8080;
    if ends == 0 {
        return None;
    }
    // Select all bits up to the end of the number, and then join groups of 7, 14 and 28 bits.
    let within = ends ^ (ends - 1);
    let sevens = word & within & 0x7F7F_7F7F_7F7F_7F7F;
    let pairs = sevens & 0x007F_007F_007F_007F | (sevens & 0x7F00_7F00_7F00_7F00) >> 1;
    let fours = pairs & 0x0000_3FFF_0000_3FFF | (pairs & 0x3FFF_0000_3FFF_0000) >> 2;
    let value = fours & 0x0FFF_FFFF | (fours & 0x0FFF_FFFF_0000_0000) >> 4;
    Some((value, ends.trailing_zeros() as usize / 8 + 1))
}

/// Implements [`Stored`] for types with a conversion to `u64` and a fallible conversion from `u64`.
macro_rules! stored_numbers {
    ($($type:ty),*) => {$(
        impl Stored for $type {
            fn put(&self, out: &mut Vec<u8>) {
                (*self as u64).put(out);
            }

            fn take(input: &mut &[u8]) -> Option<Self> {
                Self::try_from(u64::take(input)?).ok()
            }
        }
    )*};
}

stored_numbers!(u16, u32, usize);

/// Implements [`Stored`] for structs by storing each field.
macro_rules! stored_structs {
    ($($type:ty { $($field:ident),* })*) => {$(
        impl $crate::analysis::stored::Stored for $type {
            fn put(&self, out: &mut Vec<u8>) {
                $(self.$field.put(out);)*
            }

            fn take(input: &mut &[u8]) -> Option<Self> {
                $(let $field = $crate::analysis::stored::Stored::take(input)?;)*
                Some(Self { $($field),* })
            }
        }
    )*};
}

pub(crate) use stored_structs;

stored_structs! {
    Position { ticks, seq }
    Mark { at, context, id }
    Arrow { kind, from, from_context, to, to_context }
    Gap { from, until, events, cause }
    Job { context, from, until, missed }
    StepSpan { from, until }
    WaitSpan { context, from, until, owner }
    LockTrack { key, kind, is_mutex, holder, waits }
    Named { argument, key, kind, ticks, renamed }
    ServerState { budget, serving }
}

impl Stored for i64 {
    fn put(&self, out: &mut Vec<u8>) {
        self.cast_unsigned().put(out);
    }

    fn take(input: &mut &[u8]) -> Option<Self> {
        u64::take(input).map(u64::cast_signed)
    }
}

impl Stored for bool {
    fn put(&self, out: &mut Vec<u8>) {
        out.push(u8::from(*self));
    }

    fn take(input: &mut &[u8]) -> Option<Self> {
        match u64::take(input)? {
            0 => Some(false),
            1 => Some(true),
            _ => None,
        }
    }
}

impl<T: Stored> Stored for Option<T> {
    fn put(&self, out: &mut Vec<u8>) {
        self.is_some().put(out);
        self.iter().for_each(|value| value.put(out));
    }

    fn take(input: &mut &[u8]) -> Option<Self> {
        if bool::take(input)? { T::take(input).map(Some) } else { Some(None) }
    }
}

impl<T: Stored> Stored for Vec<T> {
    fn put(&self, out: &mut Vec<u8>) {
        self.len().put(out);
        self.iter().for_each(|value| value.put(out));
    }

    fn take(input: &mut &[u8]) -> Option<Self> {
        let count = usize::take(input)?;
        // Each element has at least one byte.
        if count > input.len() {
            return None;
        }
        let mut list = Vec::with_capacity(count);
        for _ in 0..count {
            list.push(T::take(input)?);
        }
        Some(list)
    }
}

impl<T: Stored, U: Stored> Stored for (T, U) {
    fn put(&self, out: &mut Vec<u8>) {
        self.0.put(out);
        self.1.put(out);
    }

    fn take(input: &mut &[u8]) -> Option<Self> {
        Some((T::take(input)?, U::take(input)?))
    }
}

impl Stored for Value {
    fn put(&self, out: &mut Vec<u8>) {
        put_bytes(self.to_string().as_bytes(), out);
    }

    fn take(input: &mut &[u8]) -> Option<Self> {
        serde_json::from_slice(take_bytes(input)?).ok()
    }
}

/// Appends a number in groups of 7 bits.
#[inline]
pub(crate) fn put_number(value: u64, out: &mut Vec<u8>) {
    if value < 0x80 {
        return out.push(value as u8);
    }
    let number = number::encode(value);
    let end = out.len() + number.len();
    out.extend_from_slice(number.padded());
    out.truncate(end);
}

/// Appends the number of bytes, and then the bytes.
pub(crate) fn put_bytes(bytes: &[u8], out: &mut Vec<u8>) {
    bytes.len().put(out);
    out.extend_from_slice(bytes);
}

/// Reads bytes that [`put_bytes`] appended, and removes them from the input.
pub(crate) fn take_bytes<'a>(input: &mut &'a [u8]) -> Option<&'a [u8]> {
    let length = usize::take(input)?;
    let (bytes, rest) = input.split_at_checked(length)?;
    *input = rest;
    Some(bytes)
}

impl Stored for ContextId {
    fn put(&self, out: &mut Vec<u8>) {
        self.0.put(out);
    }

    fn take(input: &mut &[u8]) -> Option<Self> {
        Stored::take(input).map(Self)
    }
}

impl Stored for MaybeContext {
    fn put(&self, out: &mut Vec<u8>) {
        self.get().put(out);
    }

    fn take(input: &mut &[u8]) -> Option<Self> {
        let context: Option<ContextId> = Stored::take(input)?;
        Some(context.map_or(Self::NONE, Self::from))
    }
}

impl Stored for ArrowKind {
    fn put(&self, out: &mut Vec<u8>) {
        let number: u64 = match self {
            Self::WakeUp => 0,
            Self::WaitsFor => 1,
            Self::Message => 2,
        };
        number.put(out);
    }

    fn take(input: &mut &[u8]) -> Option<Self> {
        [Self::WakeUp, Self::WaitsFor, Self::Message].get(usize::take(input)?).copied()
    }
}

impl Stored for LossCause {
    fn put(&self, out: &mut Vec<u8>) {
        (*self as u64).put(out);
    }

    fn take(input: &mut &[u8]) -> Option<Self> {
        Self::ALL.get(usize::take(input)?).copied()
    }
}

impl Stored for Holder {
    fn put(&self, out: &mut Vec<u8>) {
        match self {
            Self::Unknown => 0_u64.put(out),
            Self::Free => 1_u64.put(out),
            Self::Context(context) => (2_u64, *context).put(out),
        }
    }

    fn take(input: &mut &[u8]) -> Option<Self> {
        Some(match u64::take(input)? {
            0 => Self::Unknown,
            1 => Self::Free,
            2 => Self::Context(Stored::take(input)?),
            _ => return None,
        })
    }
}

impl Stored for Budget {
    fn put(&self, out: &mut Vec<u8>) {
        match self {
            Self::Unknown => 0_u64.put(out),
            Self::Used(used) => (1_u64, *used).put(out),
            Self::Exhausted => 2_u64.put(out),
        }
    }

    fn take(input: &mut &[u8]) -> Option<Self> {
        Some(match u64::take(input)? {
            0 => Self::Unknown,
            1 => Self::Used(Stored::take(input)?),
            2 => Self::Exhausted,
            _ => return None,
        })
    }
}

impl Stored for Occupant {
    fn put(&self, out: &mut Vec<u8>) {
        match self {
            Self::Unknown => 0_u64.put(out),
            Self::Idle => 1_u64.put(out),
            Self::Task { runs, of } => (2_u64, (*runs, *of)).put(out),
            Self::Interrupt { number, depth } => (3_u64, (*number, *depth)).put(out),
        }
    }

    fn take(input: &mut &[u8]) -> Option<Self> {
        Some(match u64::take(input)? {
            0 => Self::Unknown,
            1 => Self::Idle,
            2 => Self::Task { runs: Stored::take(input)?, of: Stored::take(input)? },
            3 => Self::Interrupt { number: Stored::take(input)?, depth: Stored::take(input)? },
            _ => return None,
        })
    }
}

impl Stored for State {
    fn put(&self, out: &mut Vec<u8>) {
        let number: u64 = match self {
            Self::Unknown => 0,
            Self::Running(of) => return (1_u64, *of).put(out),
            Self::Interrupted => 2,
            Self::Preempted => 3,
            Self::Ready => 4,
            Self::Blocked(reason) => return (5_u64, *reason).put(out),
            Self::Sleeping => 6,
            Self::Done => 7,
            Self::Off => 8,
            Self::Deleted => 9,
        };
        number.put(out);
    }

    fn take(input: &mut &[u8]) -> Option<Self> {
        Some(match u64::take(input)? {
            0 => Self::Unknown,
            1 => Self::Running(Stored::take(input)?),
            2 => Self::Interrupted,
            3 => Self::Preempted,
            4 => Self::Ready,
            5 => Self::Blocked(Stored::take(input)?),
            6 => Self::Sleeping,
            7 => Self::Done,
            8 => Self::Off,
            9 => Self::Deleted,
            _ => return None,
        })
    }
}

impl<S: Stored> Stored for Change<S> {
    fn put(&self, out: &mut Vec<u8>) {
        self.at.put(out);
        self.state.put(out);
    }

    fn take(input: &mut &[u8]) -> Option<Self> {
        Some(Self { at: Stored::take(input)?, state: Stored::take(input)? })
    }
}

impl<S: Stored + Copy + PartialEq> Stored for Row<S> {
    fn put(&self, out: &mut Vec<u8>) {
        self.changes().len().put(out);
        self.changes().iter().for_each(|change| change.put(out));
    }

    fn take(input: &mut &[u8]) -> Option<Self> {
        Stored::take(input).map(Self::of)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_all_lengths_are_read_as_they_were_put() {
        let around =
            |shift: u32| [(1_u64 << shift) - 1, 1 << shift, 0x5555_5555_5555_5555 >> shift];
        let numbers: Vec<u64> = (0..64).flat_map(around).chain([u64::MAX]).collect();
        let mut bytes = Vec::new();
        numbers.iter().for_each(|number| number.put(&mut bytes));
        let mut input = bytes.as_slice();
        assert!(numbers.iter().all(|number| u64::take(&mut input) == Some(*number)));
        assert!(input.is_empty());
    }

    fn again<T: Stored>(value: &T) -> T {
        let mut bytes = Vec::new();
        value.put(&mut bytes);
        // Without the last byte, the bytes are not a valid value.
        let mut cut = &bytes[..bytes.len() - 1];
        assert!(T::take(&mut cut).is_none());
        let mut all = bytes.as_slice();
        let value = T::take(&mut all);
        assert!(all.is_empty());
        value.expect("the bytes are a value")
    }

    #[test]
    fn values_are_the_same_after_reading() {
        let context = ContextId(300);
        let states = vec![
            State::Unknown,
            State::Running(MaybeContext::from(context)),
            State::Running(MaybeContext::NONE),
            State::Interrupted,
            State::Preempted,
            State::Ready,
            State::Blocked(u32::MAX),
            State::Sleeping,
            State::Done,
            State::Off,
            State::Deleted,
        ];
        assert_eq!(again(&states), states);
        let occupants = vec![
            Occupant::Unknown,
            Occupant::Idle,
            Occupant::Task { runs: context, of: MaybeContext::from(ContextId(0)) },
            Occupant::Interrupt { number: Some(7), depth: 2 },
            Occupant::Interrupt { number: None, depth: 1 },
        ];
        assert_eq!(again(&occupants), occupants);
        let holders = vec![Holder::Unknown, Holder::Free, Holder::Context(context)];
        assert_eq!(again(&holders), holders);
        assert_eq!(again(&LossCause::ALL.to_vec()), LossCause::ALL);
        let at = Position { ticks: u64::MAX, seq: 1 };
        let kinds = [ArrowKind::WakeUp, ArrowKind::WaitsFor, ArrowKind::Message];
        let arrow = |kind| Arrow {
            kind,
            from: at,
            from_context: Some(context),
            to: at,
            to_context: context,
        };
        assert_eq!(again(&kinds.map(arrow).to_vec()), kinds.map(arrow));
        let value = serde_json::json!({ "name": "a", "states": ["b", 1] });
        assert_eq!(again(&value), value);
    }

    #[test]
    fn a_count_without_its_elements_allocates_nothing() {
        let mut bytes = Vec::new();
        (u64::MAX / 2).put(&mut bytes);
        assert!(Vec::<u64>::take(&mut bytes.as_slice()).is_none());
        assert!(take_bytes(&mut bytes.as_slice()).is_none());
    }
}
