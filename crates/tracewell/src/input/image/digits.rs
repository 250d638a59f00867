//! Converts hexadecimal digits to bytes, by table.

/// Value of every character that is not a hexadecimal digit.
pub(super) const NOT_A_DIGIT: u8 = 0xFF;

static VALUES: [u8; 256] = values();

const fn values() -> [u8; 256] {
    let mut table = [NOT_A_DIGIT; 256];
    let digits = b"0123456789abcdef";
    let mut value = 0;
    while value < digits.len() {
        table[digits[value] as usize] = value as u8;
        table[digits[value].to_ascii_uppercase() as usize] = value as u8;
        value += 1;
    }
    table
}

/// Returns the value of an upper-case or lower-case digit, or [`NOT_A_DIGIT`].
#[inline]
pub(super) fn value(character: u8) -> u8 {
    VALUES[usize::from(character)]
}

/// Returns the index of the first character that is not a digit.
pub(super) fn first_other(text: &[u8]) -> Option<usize> {
    text.iter().position(|&character| value(character) == NOT_A_DIGIT)
}

/// Decodes as many pairs as fit into `bytes`. Returns false if a character is not a digit; the
/// content of `bytes` is then undefined.
#[inline]
pub(super) fn decode_pairs(text: &[u8], bytes: &mut [u8]) -> bool {
    // Test once after the loop and not for each digit: NOT_A_DIGIT has bits that no digit's value
    // has, and `all` collects them.
    let mut all = 0;
    for (pair, byte) in text.chunks_exact(2).zip(bytes) {
        let (high, low) = (value(pair[0]), value(pair[1]));
        all |= high | low;
        *byte = (high << 4) | (low & 0x0F);
    }
    all <= 0x0F
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_of_both_cases_have_values_and_nothing_else_has() {
        for character in 0..=u8::MAX {
            let expected = char::from(character).to_digit(16).map_or(NOT_A_DIGIT, |v| v as u8);
            assert_eq!(value(character), expected, "character {character}");
        }
    }

    #[test]
    fn pairs_become_bytes() {
        let mut bytes = [0; 4];
        assert!(decode_pairs(b"00fFA5", &mut bytes));
        assert_eq!(bytes, [0x00, 0xFF, 0xA5, 0]);
        assert!(!decode_pairs(b"0G", &mut bytes));
        assert!(!decode_pairs(b"G0", &mut bytes));
        assert_eq!(first_other(b"0aG"), Some(2));
    }
}
