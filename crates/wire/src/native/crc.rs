//! CRC-32C (Castagnoli), eight bytes per step. Polynomial 0x1EDC6F41, reflected; initial value and
//! final exclusive-or are all ones, as in RFC 3720, section 12.1.

/// The polynomial with its bits reversed.
const POLYNOMIAL: u32 = 0x82F6_3B78;

/// `TABLES[n][b]` is the effect of byte `b` on the checksum if `n` more bytes follow it.
static TABLES: [[u32; 256]; 8] = tables();

const fn tables() -> [[u32; 256]; 8] {
    let mut tables = [[0; 256]; 8];
    let mut byte = 0;
    // The table for one byte, computed bit by bit.
    while byte < 256 {
        let mut sum = byte as u32;
        let mut bit = 0;
        while bit < 8 {
            sum = if sum & 1 == 1 { sum >> 1 ^ POLYNOMIAL } else { sum >> 1 };
            bit += 1;
        }
        tables[0][byte] = sum;
        byte += 1;
    }
    // The effect of a byte depends on the number of bytes after it, but not on their values. So
    // compute the effect with zero bytes after it.
    let mut after = 1;
    while after < 8 {
        let mut byte = 0;
        while byte < 256 {
            let before = tables[after - 1][byte];
            tables[after][byte] = before >> 8 ^ tables[0][(before & 0xFF) as usize];
            byte += 1;
        }
        after += 1;
    }
    tables
}

/// A checksum over bytes that the caller adds in parts.
///
/// ```
/// use tracewell_wire::native::{Crc32c, crc32c};
///
/// let sum = Crc32c::default().with(b"1234").with(b"56789").value();
/// assert_eq!(sum, crc32c(b"123456789"));
/// assert_eq!(sum, 0xE306_9283);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Crc32c(u32);

impl Default for Crc32c {
    fn default() -> Self {
        Self(u32::MAX)
    }
}

impl Crc32c {
    /// Returns the checksum of the earlier bytes followed by `bytes`.
    #[must_use]
    pub fn with(self, bytes: &[u8]) -> Self {
        let (words, rest) = bytes.as_chunks::<8>();
        let mut sum = self.0;
        for word in words {
            // The checksum of the earlier bytes has 32 bits, so it changes only the first four
            // bytes of the word. Each of the eight bytes has its own table, so the eight look-ups
            // are independent.
            let word = u64::from_le_bytes(*word) ^ u64::from(sum);
            let octets = word.to_le_bytes();
            sum = 0;
            for (octet, table) in octets.iter().zip(TABLES.iter().rev()) {
                sum ^= table[usize::from(*octet)];
            }
        }
        // At most seven bytes are left.
        for byte in rest {
            sum = sum >> 8 ^ TABLES[0][usize::from(sum as u8 ^ byte)];
        }
        Self(sum)
    }

    /// Returns the checksum of the bytes so far.
    pub const fn value(self) -> u32 {
        !self.0
    }
}

/// Returns the checksum of `bytes`.
pub fn crc32c(bytes: &[u8]) -> u32 {
    Crc32c::default().with(bytes).value()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_examples_of_rfc_3720_come_out() {
        assert_eq!(crc32c(&[0; 32]), 0x8A91_36AA);
        assert_eq!(crc32c(&[0xFF; 32]), 0x62A8_AB43);
        let ascending: [u8; 32] = core::array::from_fn(|index| index as u8);
        assert_eq!(crc32c(&ascending), 0x46DD_794E);
        assert_eq!(crc32c(b"123456789"), 0xE306_9283);
    }

    #[test]
    fn pieces_sum_up_to_the_whole() {
        let bytes: [u8; 61] = core::array::from_fn(|index| (index * 7) as u8);
        for cut in 0..bytes.len() {
            let (first, second) = bytes.split_at(cut);
            assert_eq!(Crc32c::default().with(first).with(second).value(), crc32c(&bytes));
        }
    }
}
