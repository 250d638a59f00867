//! Numbers of 1 to 10 bytes (LEB128). Each byte has seven bits of the number, the lowest bits
//! first. Bit 7 is set in all bytes but the last. The stored form of a signed number is
//! `n << 1 ^ n >> 63` (zigzag), so small negative numbers are short, too.
//!
//! The dialects `target`, `systemview` and `shark` and some exports use these numbers.

/// Maximum length of a number in bytes.
pub const MAX_NUMBER: usize = 10;

/// Returns the number at the start of `bytes` and the bytes after it, or `None` if the number is
/// incomplete or has more than 64 bits.
///
/// ```
/// use tracewell_wire::number;
///
/// assert_eq!(number::read(&[0xAC, 0x02, 7]), Some((300, &[7][..])));
/// assert_eq!(number::read(&[0x80]), None);
/// ```
#[inline]
pub fn read(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let mut value = 0_u64;
    for (index, byte) in bytes.iter().take(MAX_NUMBER).enumerate() {
        value |= u64::from(byte & 0x7F) << (7 * index);
        if *byte < 0x80 {
            // The tenth byte has room for one bit.
            let is_long = index + 1 == MAX_NUMBER && *byte > 1;
            return if is_long { None } else { Some((value, bytes.get(index + 1..)?)) };
        }
    }
    None
}

/// The encoded bytes of a number; dereferences to a slice.
#[derive(Clone, Copy, Debug)]
pub struct Encoded {
    bytes: [u8; MAX_NUMBER],
    length: usize,
}

/// Encodes a number.
///
/// ```
/// assert_eq!(*tracewell_wire::number::encode(300), [0xAC, 0x02]);
/// ```
#[inline]
pub fn encode(mut value: u64) -> Encoded {
    let mut bytes = [0; MAX_NUMBER];
    let mut length = 0;
    for byte in &mut bytes {
        length += 1;
        *byte = value as u8 & 0x7F;
        value >>= 7;
        if value == 0 {
            break;
        }
        *byte |= 0x80;
    }
    Encoded { bytes, length }
}

impl Encoded {
    /// Returns the bytes of the number, and zeros after them. Copying this fixed number of bytes is
    /// faster than copying exactly the bytes of the number.
    ///
    /// ```
    /// assert_eq!(tracewell_wire::number::encode(300).padded()[..3], [0xAC, 0x02, 0]);
    /// ```
    #[inline]
    pub const fn padded(&self) -> &[u8; MAX_NUMBER] {
        &self.bytes
    }
}

impl core::ops::Deref for Encoded {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        self.bytes.get(..self.length).unwrap_or_default()
    }
}

/// Returns the stored (zigzag) form of a signed number.
///
/// ```
/// assert_eq!(tracewell_wire::number::unsigned(-1), 1);
/// ```
#[inline]
pub const fn unsigned(value: i64) -> u64 {
    (value << 1 ^ value >> 63).cast_unsigned()
}

/// Returns the signed number that has this stored (zigzag) form.
///
/// ```
/// assert_eq!(tracewell_wire::number::signed(1), -1);
/// ```
#[inline]
pub const fn signed(stored: u64) -> i64 {
    (stored >> 1).cast_signed() ^ -((stored & 1).cast_signed())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_back_and_no_byte_is_wasted() {
        for shift in 0..64 {
            for value in [1 << shift, (1_u64 << shift) - 1, u64::MAX >> shift] {
                let bytes = encode(value);
                assert_eq!(read(&bytes), Some((value, &[][..])));
                assert_eq!(read(&bytes[..bytes.len() - 1]), None);
                let bits = 64 - value.leading_zeros() as usize;
                assert_eq!(bytes.len(), bits.div_ceil(7).max(1));
                assert_eq!(unsigned(signed(value)), value);
            }
        }
        assert_eq!(read(&[0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 2]), None);
        assert_eq!(read(&[0xFF; 11]), None);
        assert_eq!((unsigned(i64::MIN), signed(u64::MAX)), (u64::MAX, i64::MIN));
    }
}
