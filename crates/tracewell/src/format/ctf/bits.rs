//! Reads numbers of 1 to 64 bits at any bit offset.
//!
//! In little-endian order, a number begins with its lowest bit, and bit 0 is the lowest bit of a
//! byte. In big-endian order, a number begins with its highest bit, and bit 0 is the highest bit of
//! a byte.

use tracewell_wire::ByteOrder;

/// The layout of a number of fixed length.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Form {
    /// Number of bits, 1 to 64.
    pub(super) bits: u8,
    pub(super) order: ByteOrder,
    /// True if the order of the bits is the reverse of the usual order for the byte order.
    pub(super) reversed: bool,
}

impl Form {
    /// Returns the number at a bit offset, or `None` if `bytes` are too short.
    #[inline]
    pub(super) fn read(self, bytes: &[u8], at: u64) -> Option<u64> {
        let rest = bytes.get(usize::try_from(at / 8).ok()?..)?;
        let shift = (at % 8) as usize;
        let bits = usize::from(self.bits);
        // A number of 64 bits extends over nine bytes if it begins within a byte.
        let word = match rest.first_chunk::<16>() {
            Some(word) => *word,
            None => {
                let bytes = rest.get(..(shift + bits).div_ceil(8))?;
                let mut word = [0; 16];
                word.iter_mut().zip(bytes).for_each(|(to, from)| *to = *from);
                word
            }
        };
        let value = match self.order {
            ByteOrder::Little => (u128::from_le_bytes(word) >> shift) as u64 & ones(self.bits),
            ByteOrder::Big => (u128::from_be_bytes(word) << shift >> (128 - bits)) as u64,
        };
        Some(if self.reversed { value.reverse_bits() >> (64 - bits) } else { value })
    }
}

/// Returns a number whose lowest `bits` bits are set.
#[inline]
pub(super) const fn ones(bits: u8) -> u64 {
    if bits >= 64 { u64::MAX } else { (1 << bits) - 1 }
}

/// Extends the sign of a number of `bits` bits, 1 to 64, to 64 bits.
#[inline]
pub(super) const fn signed(value: u64, bits: u8) -> u64 {
    let unused = 64 - bits as u32;
    ((value << unused).cast_signed() >> unused).cast_unsigned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form(bits: u8, order: ByteOrder) -> Form {
        Form { bits, order, reversed: false }
    }

    #[test]
    fn neighbouring_bit_fields_share_bytes() {
        // u3 = 5, u3 = 2, i13 = -513 from bit 0, in little-endian order.
        let bytes = [0xD5, 0x7F, 0x07];
        let read = |at, bits| form(bits, ByteOrder::Little).read(&bytes, at);
        assert_eq!((read(0, 3), read(3, 3)), (Some(5), Some(2)));
        assert_eq!(read(6, 13).map(|value| signed(value, 13).cast_signed()), Some(-513));
        // The same numbers in big-endian order: 101 010 1110111111111.
        let bytes = [0b1010_1011, 0b1011_1111, 0b1110_0000];
        let read = |at, bits| form(bits, ByteOrder::Big).read(&bytes, at);
        assert_eq!((read(0, 3), read(3, 3)), (Some(5), Some(2)));
        assert_eq!(read(6, 13).map(|value| signed(value, 13).cast_signed()), Some(-513));
    }

    #[test]
    fn a_number_of_64_bits_can_extend_over_nine_bytes() {
        let mut bytes = [0; 24];
        bytes[..9].copy_from_slice(&[0xF0, 0xDE, 0xBC, 0x9A, 0x78, 0x56, 0x34, 0x12, 0x0E]);
        for length in [9, 24] {
            let bytes = &bytes[..length];
            let value = form(64, ByteOrder::Little).read(bytes, 4);
            assert_eq!(value, Some(0xE123_4567_89AB_CDEF));
        }
        assert_eq!(form(64, ByteOrder::Little).read(&bytes[..8], 4), None);
        let big = [0x01, 0x23, 0x45, 0x67, 0x89, 0xAB, 0xCD, 0xEF, 0x50];
        assert_eq!(form(64, ByteOrder::Big).read(&big, 4), Some(0x1234_5678_9ABC_DEF5));
    }

    #[test]
    fn reversed_bits_are_those_of_the_same_bytes() {
        let form = Form { bits: 4, order: ByteOrder::Little, reversed: true };
        assert_eq!(form.read(&[0b0001_0000], 4), Some(0b1000));
    }
}
