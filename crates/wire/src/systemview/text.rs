//! A text is a count of bytes, followed by these bytes in the program's encoding, without a
//! terminator.
//!
//! | count | layout |
//! |---|---|
//! | 0 to 254 | one byte |
//! | any, recorder 3.x | 0xFF, high byte, low byte |
//! | 255 and above, recorder 2.x | 0xFF, low byte, high byte |
//!
//! No packet contains the recorder's version, so a reader must infer the order of the two bytes.

use super::Fault;

/// The first byte of a count that has three bytes.
pub const LONG: u8 = 0xFF;

/// The order of the two bytes of a long count.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum TextOrder {
    /// The high byte first, as recorders 3.x write it.
    #[default]
    HighFirst,
    /// The low byte first, as recorders 2.x write it.
    LowFirst,
}

/// Reads the text at the start of `bytes`. Returns the text and its length in bytes, including the
/// count.
///
/// ```
/// use tracewell_wire::systemview::{TextOrder, text};
///
/// let bytes = [0xFF, 0, 2, b'h', b'i', 7];
/// assert_eq!(text::read(&bytes, TextOrder::HighFirst), Ok((&b"hi"[..], 5)));
/// ```
///
/// # Errors
/// Returns [`Fault::Incomplete`] if the bytes end within the text.
#[inline]
pub fn read(bytes: &[u8], order: TextOrder) -> Result<(&[u8], usize), Fault> {
    let (count, start) = match (bytes, order) {
        ([LONG, high, low, ..], TextOrder::HighFirst)
        | ([LONG, low, high, ..], TextOrder::LowFirst) => {
            (usize::from(u16::from_be_bytes([*high, *low])), 3)
        }
        ([LONG, ..] | [], _) => return Err(Fault::Incomplete),
        ([count, ..], _) => (usize::from(*count), 1),
    };
    let text = bytes.get(start..start + count).ok_or(Fault::Incomplete)?;
    Ok((text, start + count))
}

/// Writes a text at the start of `out` and returns its length in bytes, including the count.
/// Returns `None` if the text does not fit, or has more than 65535 bytes.
///
/// ```
/// use tracewell_wire::systemview::{TextOrder, text};
///
/// let mut out = [0; 3];
/// assert_eq!(text::write(b"hi", TextOrder::HighFirst, &mut out), Some(3));
/// assert_eq!(out, [2, b'h', b'i']);
/// ```
pub fn write(text: &[u8], order: TextOrder, out: &mut [u8]) -> Option<usize> {
    let count = u16::try_from(text.len()).ok()?;
    let [high, low] = count.to_be_bytes();
    let head = match order {
        TextOrder::HighFirst => [LONG, high, low],
        TextOrder::LowFirst => [LONG, low, high],
    };
    // The count 255 marks the long form, so only smaller counts fit into one byte.
    let head = if count < u16::from(LONG) { &[low][..] } else { &head[..] };
    let (start, rest) = out.split_at_mut_checked(head.len())?;
    start.copy_from_slice(head);
    rest.get_mut(..text.len())?.copy_from_slice(text);
    Some(head.len() + text.len())
}
