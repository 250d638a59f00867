//! Numbers of at most 32 bits in the form of [`crate::number`], so 1 to 5 bytes. A negative number
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

fn read_long(bytes: &[u8]) -> Result<(u32, usize), Fault> {
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
