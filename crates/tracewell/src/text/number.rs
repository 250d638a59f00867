//! Numbers and padded fields, appended to a byte buffer.

/// Two hexadecimal digits for each byte.
static HEX: [[u8; 2]; 256] = {
    let digits = *b"0123456789ABCDEF";
    let mut table = [[0; 2]; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = [digits[byte >> 4], digits[byte & 15]];
        byte += 1;
    }
    table
};

/// Appends a number in decimal.
#[inline]
pub fn put_decimal(out: &mut Vec<u8>, value: u64) {
    out.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
}

/// Appends a number in upper-case hexadecimal with so many digits (8 or 16), without `0x`.
#[inline]
pub fn put_hex(out: &mut Vec<u8>, value: u64, digits: usize) {
    let bytes = value.to_be_bytes();
    if digits > 8 {
        let high: [[u8; 2]; 4] = [0, 1, 2, 3].map(|i: usize| HEX[usize::from(bytes[i])]);
        out.extend_from_slice(high.as_flattened());
    }
    let low: [[u8; 2]; 4] = [4, 5, 6, 7].map(|i: usize| HEX[usize::from(bytes[i])]);
    out.extend_from_slice(low.as_flattened());
}

/// Appends a number in decimal, right-aligned in a field.
#[inline]
pub fn put_right(out: &mut Vec<u8>, value: u64, width: usize) {
    let mut buffer = itoa::Buffer::new();
    let digits = buffer.format(value).as_bytes();
    put_blanks(out, width.saturating_sub(digits.len()));
    out.extend_from_slice(digits);
}

/// Appends text, left-aligned in a field whose width counts characters; `characters` is how many
/// the text has.
#[inline]
pub fn put_left(out: &mut Vec<u8>, text: &[u8], characters: usize, width: usize) {
    out.extend_from_slice(text);
    put_blanks(out, width.saturating_sub(characters));
}

/// Appends nanoseconds as seconds with nine decimals, right-aligned in a field.
#[inline]
pub fn put_seconds(out: &mut Vec<u8>, nanoseconds: u64, width: usize) {
    let (seconds, fraction) = (nanoseconds / 1_000_000_000, nanoseconds % 1_000_000_000);
    put_right(out, seconds, width.saturating_sub(10));
    out.push(b'.');
    let mut digits = [b'0'; 9];
    let mut buffer = itoa::Buffer::new();
    let shown = buffer.format(fraction).as_bytes();
    digits[9 - shown.len()..].copy_from_slice(shown);
    out.extend_from_slice(&digits);
}

#[inline]
fn put_blanks(out: &mut Vec<u8>, count: usize) {
    const BLANKS: [u8; 32] = [b' '; 32];
    match BLANKS.get(..count) {
        Some(blanks) => out.extend_from_slice(blanks),
        None => out.resize(out.len() + count, b' '),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(put: impl Fn(&mut Vec<u8>)) -> String {
        let mut out = Vec::new();
        put(&mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn fields_are_as_wide_as_asked_and_never_cut() {
        assert_eq!(text(|out| put_right(out, 42, 5)), "   42");
        assert_eq!(text(|out| put_right(out, 123_456, 3)), "123456");
        assert_eq!(text(|out| put_left(out, b"ab", 2, 4)), "ab  ");
        assert_eq!(text(|out| put_left(out, b"", 0, 40)), " ".repeat(40));
    }

    #[test]
    fn hexadecimal_has_the_digits_of_the_word() {
        assert_eq!(text(|out| put_hex(out, 0xBEEF, 8)), "0000BEEF");
        assert_eq!(text(|out| put_hex(out, 0xBEEF, 16)), "000000000000BEEF");
    }

    #[test]
    fn seconds_have_nine_decimals() {
        assert_eq!(text(|out| put_seconds(out, 1_000_000_042, 14)), "   1.000000042");
        assert_eq!(text(|out| put_seconds(out, 0, 0)), "0.000000000");
    }
}
