//! Numbers of at most 32 bits, encoded as in [`crate::number`] in 1 to 5 bytes. A negative number
//! is stored in two's complement, and needs 5 bytes.

use super::Fault;
use crate::number;

/// Maximum length of a number in bytes.
pub const MAX_BYTES: usize = 5;

/// Reads the number at the start of `bytes`. Returns the number and its length.
///
/// ```
/// use tracewell_wire::systemview::number;
///
/// assert_eq!(number::read(&[0xE8, 0x07, 9]), Ok((1000, 2)));
/// ```
///
/// # Errors
/// Returns an error if the bytes end within the number, or if it has more than 32 bits.
#[inline]
pub fn read(bytes: &[u8]) -> Result<(u32, usize), Fault> {
    match bytes.first() {
        Some(byte) if *byte < 0x80 => Ok((u32::from(*byte), 1)),
        _ => read_long(bytes),
    }
}

/// Reads a number that is incomplete or has several bytes. If eight bytes are available, they
/// contain the whole number.
#[inline]
fn read_long(bytes: &[u8]) -> Result<(u32, usize), Fault> {
    match bytes.first_chunk() {
        Some(word) => of_word(u64::from_le_bytes(*word)),
        None => read_last(bytes),
    }
}

/// Reads the number at the start of eight bytes. The first byte is the lowest. The most frequent
/// numbers have one or two bytes, and need no branch that depends on their length.
#[inline]
pub(super) const fn of_word(word: u64) -> Result<(u32, usize), Fault> {
    if word & 0x8080 == 0x8080 {
        return of_long(word);
    }
    let second = (word >> 7 & 1) as u32;
    let number = word as u32 & 0x7F | (word >> 1) as u32 & 0x3F80 & second.wrapping_neg();
    Ok((number, 1 + second as usize))
}

/// Reads a number of any length, without a branch for each byte.
const fn of_long(word: u64) -> Result<(u32, usize), Fault> {
    // Bit 7 of a byte is set if another byte follows. After the inversion, the lowest set bit is
    // bit 7 of the number's last byte.
    let last = (!word & 0x80_8080_8080).trailing_zeros();
    if last == u64::BITS {
        return Err(Fault::LongNumber);
    }
    let bytes = word & u64::MAX >> (u64::BITS - 1 - last);
    let number = bytes & 0x7F
        | bytes >> 1 & 0x7F << 7
        | bytes >> 2 & 0x7F << 14
        | bytes >> 3 & 0x7F << 21
        | bytes >> 4 & 0x7F << 28;
    if number > u32::MAX as u64 {
        return Err(Fault::LongNumber);
    }
    Ok((number as u32, last as usize / 8 + 1))
}

/// Reads a number near the end of the bytes.
#[cold]
fn read_last(bytes: &[u8]) -> Result<(u32, usize), Fault> {
    let bytes = bytes.get(..MAX_BYTES).unwrap_or(bytes);
    match number::read(bytes) {
        Some((number, rest)) => match u32::try_from(number) {
            Ok(number) => Ok((number, bytes.len() - rest.len())),
            Err(_) => Err(Fault::LongNumber),
        },
        None if bytes.len() < MAX_BYTES => Err(Fault::Incomplete),
        None => Err(Fault::LongNumber),
    }
}

/// Writes a number at the start of `out` and returns its length, or `None` if it does not fit.
///
/// ```
/// use tracewell_wire::systemview::number;
///
/// let mut out = [0; number::MAX_BYTES];
/// assert_eq!(number::write(1000, &mut out), Some(2));
/// assert_eq!(out[..2], [0xE8, 0x07]);
/// ```
pub fn write(number: u32, out: &mut [u8]) -> Option<usize> {
    let bytes = number::encode(u64::from(number));
    out.get_mut(..bytes.len())?.copy_from_slice(&bytes);
    Some(bytes.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_within_a_word_are_those_that_are_read_byte_by_byte() {
        // Pseudo-random bytes that often contain numbers of every length, including numbers that
        // are too long.
        let mut seed = 1_u64;
        let mut seen = [0; MAX_BYTES + 2];
        for _ in 0..100_000 {
            seed = seed
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            let continued = (1_u32 << ((seed >> 33) % 7)) - 1;
            let mut bytes = (seed ^ seed >> 29).to_be_bytes();
            for (index, byte) in bytes.iter_mut().enumerate() {
                *byte = *byte & 0x7F | (((continued >> index) & 1) as u8) << 7;
            }
            let expected = read_last(&bytes);
            assert_eq!(read(&bytes), expected, "{bytes:X?}");
            seen[expected.map_or(0, |(_, length)| length)] += 1;
        }
        assert!(seen[..=MAX_BYTES].iter().all(|count| *count > 1000), "{seen:?}");
    }
}
