//! Fields at fixed offsets from the start of a byte. A program reads several such fields after one
//! check of the bounds.
//!
//! This module does not check bounds; the function that reads a run of fields does this (see
//! `program`).

use tracewell_wire::ByteOrder;

use super::bits::{Form, ones};
use super::classes::Encoding;

/// A number of 1 to 64 bits at a fixed offset. It lies within eight bytes.
///
/// Its form is stored as operands for the instructions that read the number, so that no form needs
/// a branch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct FixedNumber {
    /// Offset of its first byte.
    offset: u32,
    /// Number of bits by which a word of these eight bytes is shifted to the right.
    shift: u8,
    order: ByteOrder,
    /// Its bits in the shifted word.
    mask: u64,
    /// The bit of its sign, or 0 if it has none.
    sign: u64,
}

impl FixedNumber {
    /// Returns the number that begins `at` bits after the start of a byte, or `None` if the number
    /// extends over nine bytes or its bits are reversed.
    pub(super) fn new(form: Form, at: u32, is_signed: bool) -> Option<Self> {
        let Form { bits, order, reversed } = form;
        let before = (at % 8) as u8;
        let after = 64_u8.checked_sub(bits)?.checked_sub(before).filter(|_| !reversed)?;
        let shift = match order {
            ByteOrder::Little => before,
            ByteOrder::Big => after,
        };
        let sign = if is_signed { 1 << (bits.max(1) - 1) } else { 0 };
        Some(Self { offset: at / 8, shift, order, mask: ones(bits), sign })
    }

    /// Returns the offset of the first byte.
    pub(super) const fn offset(&self) -> u32 {
        self.offset
    }

    /// Returns the number of bits by which the word is shifted to the right.
    pub(super) const fn shift(&self) -> u8 {
        self.shift
    }

    /// Returns the mask that selects the bits of the number in the shifted word.
    pub(super) const fn mask(&self) -> u64 {
        self.mask
    }

    pub(super) const fn order(&self) -> ByteOrder {
        self.order
    }

    /// Returns the bit of the sign, or 0 if the number has none.
    pub(super) const fn sign(&self) -> u64 {
        self.sign
    }

    pub(super) const fn is_unsigned(&self) -> bool {
        self.sign == 0
    }

    /// Returns the number. Bits beyond the end of `bytes` are 0.
    #[inline]
    pub(super) fn read(&self, bytes: &[u8]) -> u64 {
        let from = self.offset as usize;
        let word = match bytes.get(from..from + 8).and_then(|word| word.first_chunk()) {
            Some(word) => *word,
            None => padded(bytes.get(from..).unwrap_or_default()),
        };
        let word = match self.order {
            ByteOrder::Little => u64::from_le_bytes(word),
            ByteOrder::Big => u64::from_be_bytes(word),
        };
        // The subtraction extends the sign.
        ((word >> (self.shift & 63) & self.mask) ^ self.sign).wrapping_sub(self.sign)
    }
}

#[cold]
fn padded(bytes: &[u8]) -> [u8; 8] {
    let mut word = [0; 8];
    word.iter_mut().zip(bytes).for_each(|(to, from)| *to = *from);
    word
}

/// A field among several fields that are read together.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct FixedField {
    /// Index of the field.
    pub(super) field: u32,
    pub(super) kind: FixedKind,
}

/// The kind of a field at a fixed offset.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum FixedKind {
    Number(FixedNumber),
    /// A string of `length` bytes that begins at `offset`.
    Text {
        offset: u32,
        length: u32,
        encoding: Encoding,
    },
}

/// A number at a fixed offset. The number has its own slot.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct SlotNumber {
    pub(super) number: FixedNumber,
    pub(super) slot: u8,
    /// Index of the field.
    pub(super) field: u32,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8], bits: u8, order: ByteOrder, at: u32, is_signed: bool) -> Option<u64> {
        let form = Form { bits, order, reversed: false };
        FixedNumber::new(form, at, is_signed).map(|number| number.read(bytes))
    }

    #[test]
    fn numbers_have_the_same_value_as_at_any_offset() {
        let bytes = [0x9A, 0x78, 0x56, 0x34, 0x12, 0xF0, 0xDE, 0xBC, 0x0E, 0x81];
        for order in [ByteOrder::Little, ByteOrder::Big] {
            for at in 0..16_u32 {
                for bits in 1..=64_u8 {
                    let form = Form { bits, order, reversed: false };
                    let expected = form.read(&bytes, u64::from(at));
                    let fits = at % 8 + u32::from(bits) <= 64;
                    let found = read(&bytes, bits, order, at, false);
                    assert_eq!(found.is_some(), fits, "{bits} bits at {at}");
                    if let (Some(expected), Some(found)) = (expected, found) {
                        assert_eq!(found, expected, "{bits} bits at {at}, {order:?}");
                        let found = read(&bytes, bits, order, at, true);
                        let expected = super::super::bits::signed(expected, bits);
                        assert_eq!(found, Some(expected), "{bits} signed bits at {at}");
                    }
                }
            }
        }
    }

    #[test]
    fn reversed_bits_have_no_fixed_form() {
        let form = Form { bits: 8, order: ByteOrder::Little, reversed: true };
        assert_eq!(FixedNumber::new(form, 0, false), None);
    }
}
