//! Packs numbers into bits, as all encodings of this crate do: the first number occupies the lowest
//! bits.

/// Appends the lowest `width` bits (at most 64) of each number. The other bits must be 0. Pads the
/// last byte with zeros.
pub(crate) fn put_packed(numbers: impl Iterator<Item = u64>, width: u32, out: &mut Vec<u8>) {
    if width == 0 {
        return;
    }
    let (mut word, mut used) = (0, 0);
    for number in numbers {
        word |= number << used;
        used += width;
        if used >= u64::BITS {
            out.extend_from_slice(&word.to_le_bytes());
            used -= u64::BITS;
            // The bits of this number that did not fit.
            word = number.checked_shr(width - used).unwrap_or(0);
        }
    }
    out.extend_from_slice(&word.to_le_bytes()[..used.div_ceil(8) as usize]);
}

/// Returns the number of bits that a number needs; 0 for 0.
pub(crate) const fn width_of(number: u64) -> u32 {
    u64::BITS - number.leading_zeros()
}

/// Appends a number as ULEB128: seven bits per byte, lowest first.
pub(crate) fn put_varint(mut number: u64, out: &mut Vec<u8>) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Appends a signed number as ULEB128, in zigzag order: 0, -1, 1, -2, …
pub(crate) fn put_zigzag(number: i64, out: &mut Vec<u8>) {
    put_varint(((number << 1) ^ (number >> 63)) as u64, out);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packed(numbers: &[u64], width: u32) -> Vec<u8> {
        let mut out = Vec::new();
        put_packed(numbers.iter().copied(), width, &mut out);
        out
    }

    #[test]
    fn numbers_are_packed_from_the_lowest_bit() {
        // The example of Encodings.md.
        assert_eq!(packed(&[0, 1, 2, 3, 4, 5, 6, 7], 3), [0x88, 0xC6, 0xFA]);
        assert!(packed(&[], 3).is_empty());
        assert!(packed(&[0, 0], 0).is_empty());
        for width in 1..=u64::BITS {
            let largest = u64::MAX >> (u64::BITS - width);
            let numbers: Vec<u64> = (0..70).map(|number| largest - (number & largest)).collect();
            let bytes = packed(&numbers, width);
            assert_eq!(bytes.len(), (70 * width as usize).div_ceil(8));
            for (at, number) in numbers.iter().enumerate() {
                let bit = |bit: usize| u64::from(bytes[bit / 8] >> (bit % 8) & 1);
                let first = at * width as usize;
                let found = (0..width as usize).map(|place| bit(first + place) << place);
                assert_eq!(found.sum::<u64>(), *number, "{width}");
            }
        }
    }

    #[test]
    fn numbers_of_variable_length_are_those_of_thrift() {
        let mut out = Vec::new();
        put_varint(300, &mut out);
        put_zigzag(-1, &mut out);
        put_zigzag(64, &mut out);
        assert_eq!(out, [0xAC, 0x02, 0x01, 0x80, 0x01]);
        out.clear();
        put_zigzag(i64::MIN, &mut out);
        assert_eq!(out, [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x01]);
        assert_eq!([0, 1, 255, u64::MAX].map(width_of), [0, 1, 8, 64]);
    }
}
