//! Numbers: 7 bits per byte, the least significant first. The top bit of a byte is set if another
//! byte follows. A number has at most 32 bits, so it has 1 to 5 bytes. Negative numbers are written
//! in two's complement, with 5 bytes.

use super::Fault;

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

fn read_long(bytes: &[u8]) -> Result<(u32, usize), Fault> {
    let mut number = 0_u64;
    for (index, byte) in bytes.iter().take(MAX_BYTES).enumerate() {
        number |= u64::from(byte & 0x7F) << (7 * index);
        if *byte < 0x80 {
            return match u32::try_from(number) {
                Ok(number) => Ok((number, index + 1)),
                Err(_) => Err(Fault::LongNumber),
            };
        }
    }
    Err(if bytes.len() < MAX_BYTES { Fault::Incomplete } else { Fault::LongNumber })
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
    let mut rest = number;
    let mut length = 0;
    loop {
        let more = rest > 0x7F;
        *out.get_mut(length)? = (rest & 0x7F) as u8 | u8::from(more) << 7;
        length += 1;
        rest >>= 7;
        if !more {
            return Some(length);
        }
    }
}
