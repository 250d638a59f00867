//! The kinds of damage. Each edit changes bytes, and its text says what it changes, so that a
//! reader of the table can make the same change.

use std::fmt;

/// A change of an input. Positions are byte offsets.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Edit {
    /// Keeps only this many bytes.
    Cut(usize),
    /// Removes this many bytes at the start.
    Skip(usize),
    /// Inverts a bit.
    Flip { at: usize, bit: u8 },
    /// Adds a number to a byte. A sum above 255 wraps.
    Add { at: usize, number: u8 },
    /// Replaces a byte.
    Set { at: usize, value: u8 },
    /// Replaces a stretch of bytes by one value.
    Fill { at: usize, length: usize, value: u8 },
    /// Removes a stretch.
    Remove { at: usize, length: usize },
    /// Repeats a stretch.
    Repeat { at: usize, length: usize },
    /// Exchanges two stretches that do not overlap.
    Swap { at: usize, with: usize, length: usize },
}

impl fmt::Display for Edit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Cut(length) => write!(f, "cut {length}"),
            Self::Skip(length) => write!(f, "skip {length}"),
            Self::Flip { at, bit } => write!(f, "flip {at}.{bit}"),
            Self::Add { at, number } => write!(f, "add {at}+{number}"),
            Self::Set { at, value } => write!(f, "set {at}={value}"),
            Self::Fill { at, length, value } => write!(f, "fill {at}..{}={value}", at + length),
            Self::Remove { at, length } => write!(f, "remove {at}..{}", at + length),
            Self::Repeat { at, length } => write!(f, "repeat {at}..{}", at + length),
            Self::Swap { at, with, length } => write!(f, "swap {at},{with}+{length}"),
        }
    }
}

impl Edit {
    /// Applies the edit. Does nothing at positions after the end.
    pub(crate) fn apply(self, bytes: &mut Vec<u8>) {
        let end = bytes.len();
        match self {
            Self::Cut(length) => bytes.truncate(length),
            Self::Skip(length) => drop(bytes.drain(..length.min(end))),
            Self::Flip { at, bit } => change(bytes, at, |byte| byte ^ 1 << bit),
            Self::Add { at, number } => change(bytes, at, |byte| byte.wrapping_add(number)),
            Self::Set { at, value } => change(bytes, at, |_| value),
            Self::Fill { at, length, value } => {
                bytes[at.min(end)..(at + length).min(end)].fill(value);
            }
            Self::Remove { at, length } => drop(bytes.drain(at.min(end)..(at + length).min(end))),
            Self::Repeat { at, length } => {
                let range = at.min(end)..(at + length).min(end);
                let again = bytes[range.clone()].to_vec();
                bytes.splice(range.end..range.end, again);
            }
            Self::Swap { at, with, length } if at + length <= with && with + length <= end => {
                let (first, second) = bytes.split_at_mut(with);
                first[at..at + length].swap_with_slice(&mut second[..length]);
            }
            Self::Swap { .. } => {}
        }
    }

    /// Returns true if the edit keeps the position of every byte.
    pub(crate) fn keeps_positions(self) -> bool {
        matches!(self, Self::Flip { .. } | Self::Add { .. } | Self::Set { .. } | Self::Fill { .. })
    }
}

fn change(bytes: &mut [u8], at: usize, change: impl Fn(u8) -> u8) {
    if let Some(byte) = bytes.get_mut(at) {
        *byte = change(*byte);
    }
}

/// A generator of pseudo-random numbers (SplitMix64), which is the same on every machine.
pub(crate) struct Random(u64);

impl Random {
    /// Creates a generator whose numbers depend on a text.
    pub(crate) fn of(text: &str) -> Self {
        let start = text.bytes().fold(0, |sum: u64, byte| sum.wrapping_mul(31) + u64::from(byte));
        Self(start)
    }

    /// Returns a number below `limit`, or 0 if `limit` is 0.
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((mixed ^ mixed >> 31) % limit.max(1) as u64) as usize
    }

    /// Returns one of these values.
    pub(crate) fn one_of<T: Copy>(&mut self, values: &[T]) -> T {
        values[self.below(values.len())]
    }

    /// Returns an edit at one of these positions. Stretches often have the length of a word or of a
    /// record.
    pub(crate) fn edit(&mut self, positions: &[usize]) -> Edit {
        let at = self.one_of(positions);
        let length = match self.below(3) {
            0 => self.one_of(&[4, 8, 16, 24, 32, 48, 64]),
            _ => 1 + self.below(20),
        };
        match self.below(12) {
            0 => Edit::Cut(at),
            1 => Edit::Skip(1 + at / 2),
            2..5 => Edit::Flip { at, bit: self.below(8) as u8 },
            5 => Edit::Add { at, number: self.one_of(&[1, 255, 2, 8, 16]) },
            6 => Edit::Set { at, value: self.one_of(&[0, 1, 0x7F, 0x80, 0xFF]) },
            7 => Edit::Fill { at, length, value: self.one_of(&[0, 0xFF]) },
            8 => Edit::Remove { at, length },
            9 | 10 => Edit::Repeat { at, length },
            _ => Edit::Swap { at, with: at + length + self.below(3) * 8, length },
        }
    }
}
