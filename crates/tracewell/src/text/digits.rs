//! Converts numbers and bytes to digits. [`super::Reservation`] has faster functions for common
//! values.

use super::TextBuffer;

/// Appends a number with decimals: `whole`, a point, and the last `decimals` digits of `part`.
#[inline]
pub(crate) fn put_fraction(out: &mut TextBuffer, whole: u64, part: u64, decimals: u32) {
    out.decimal(whole);
    out.byte(b'.');
    put_digits(out, part, decimals);
}

/// Appends the last `count` digits of a number, at most nine, with leading zeros.
#[inline]
pub(crate) fn put_digits(out: &mut TextBuffer, number: u64, count: u32) {
    let mut text = [b'0'; 9];
    let mut rest = number;
    for digit in text[..count as usize].iter_mut().rev() {
        *digit = b'0' + (rest % 10) as u8;
        rest /= 10;
    }
    out.text(&text[..count as usize]);
}

/// Appends bytes as pairs of hexadecimal digits.
pub(crate) fn put_bytes(out: &mut TextBuffer, bytes: &[u8]) {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    for byte in bytes {
        out.byte(DIGITS[usize::from(byte >> 4)]);
        out.byte(DIGITS[usize::from(byte & 15)]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_keep_their_leading_zeros() {
        let mut out = TextBuffer::default();
        put_fraction(&mut out, 12, 34, 6);
        put_bytes(&mut out, &[0x0A, 0xFF]);
        assert_eq!(out.as_bytes(), b"12.0000340AFF");
    }
}
