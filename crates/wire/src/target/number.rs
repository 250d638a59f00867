//! Numbers of 1 to 10 bytes: seven bits per byte, the lowest bits first. Bit 7 is set in all bytes
//! but the last. The stored form of a signed number is `n << 1 ^ n >> 63`, so small negative
//! numbers are short, too.

/// Maximum length of a number in bytes.
pub const MAX_NUMBER: usize = 10;

/// Returns the number at the start of `bytes` and the bytes after it, or `None` if the number is
/// incomplete or has more than 64 bits.
///
/// ```
/// use tracewell_wire::target::number;
///
/// assert_eq!(number::read(&[0xAC, 0x02, 7]), Some((300, &[7][..])));
/// assert_eq!(number::read(&[0x80]), None);
/// let mut bytes = [0; number::MAX_NUMBER];
/// assert_eq!(number::write(300, &mut bytes), 2);
/// assert_eq!(number::unsigned(-1), 1);
/// assert_eq!(number::signed(1), -1);
/// ```
pub fn read(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let mut value = 0_u64;
    for (index, byte) in bytes.iter().take(MAX_NUMBER).enumerate() {
        let bits = u64::from(byte & 0x7F);
        let shift = 7 * index as u32;
        // The tenth byte has room for one bit.
        if bits << shift >> shift != bits {
            return None;
        }
        value |= bits << shift;
        if byte & 0x80 == 0 {
            return Some((value, bytes.get(index + 1..)?));
        }
    }
    None
}

/// Writes a number and returns its length in bytes.
pub fn write(mut value: u64, out: &mut [u8; MAX_NUMBER]) -> usize {
    let mut length = 0;
    for byte in out {
        length += 1;
        *byte = value as u8 & 0x7F;
        value >>= 7;
        if value == 0 {
            break;
        }
        *byte |= 0x80;
    }
    length
}

/// Returns the stored form of a signed number.
pub const fn unsigned(value: i64) -> u64 {
    (value << 1 ^ value >> 63).cast_unsigned()
}

/// Returns the signed number of a stored form.
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
                let mut bytes = [0; MAX_NUMBER];
                let length = write(value, &mut bytes);
                assert_eq!(read(&bytes[..length]), Some((value, &[][..])));
                assert_eq!(read(&bytes[..length - 1]), None);
                let bits = 64 - value.leading_zeros() as usize;
                assert_eq!(length, bits.div_ceil(7).max(1));
                assert_eq!(unsigned(signed(value)), value);
            }
        }
        assert_eq!(read(&[0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 2]), None);
        assert_eq!((unsigned(i64::MIN), signed(u64::MAX)), (u64::MAX, i64::MIN));
    }
}
