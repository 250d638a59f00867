//! Searches bytes for packets at every position, in linear time.
//!
//! Damaged bytes can contain many headers, each with a checksum over up to 4 KiB. Computing all
//! these checksums separately would take much longer than reading the bytes once. A CRC is linear,
//! so the checksum of a part follows from the checksums of two prefixes: one ends before the part,
//! the other ends with the part. The formula is:
//! `sum(part) = sum(prefix with part) ^ sum(prefix before part) * x^(8 * length)`.

use tracewell_wire::target::Lookup;
use tracewell_wire::target::packet::{MAX_PACKET, crc16};

/// Maximum number of stored checksums. If a search needs more, it discards the stored checksums and
/// begins again, so its memory does not grow with the number of damaged bytes.
const MAX_STORED: usize = 16 * MAX_PACKET;

/// The polynomial of the checksum, without the term `x^16`.
const POLYNOMIAL: u16 = 0x1021;

/// Entry `k` is `x^(8 * 2^k)` modulo the polynomial. There is one entry for each bit of a payload's
/// length.
const POWERS: [u16; 12] = {
    let mut powers = [1 << 8; 12];
    let mut k = 1;
    while k < powers.len() {
        powers[k] = product(powers[k - 1], powers[k - 1]);
        k += 1;
    }
    powers
};

/// Returns the product of two polynomials modulo the polynomial of the checksum.
const fn product(mut a: u16, mut b: u16) -> u16 {
    let mut sum = 0;
    while b > 0 {
        if b & 1 == 1 {
            sum ^= a;
        }
        let carry = if a >> 15 == 1 { POLYNOMIAL } else { 0 };
        a = a << 1 ^ carry;
        b >>= 1;
    }
    sum
}

/// Returns the contribution of a checksum to a later checksum that covers `length` further bytes.
fn shifted(sum: u16, length: usize) -> u16 {
    let powers = POWERS.iter().enumerate().filter(|(bit, _)| length >> bit & 1 == 1);
    powers.fold(sum, |sum, (_, power)| product(sum, *power))
}

/// The checksums of prefixes. Positions must not decrease from call to call.
#[derive(Debug)]
pub(super) struct Sums<'a> {
    bytes: &'a [u8],
    /// The position at which all prefixes begin.
    from: usize,
    /// The checksum, with initial value 0, of the first `i` bytes after `from`.
    prefixes: Vec<u16>,
    /// Number of bytes that were added to a checksum. Only a test uses this number.
    #[cfg(test)]
    summed: usize,
}

impl<'a> Sums<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self {
            bytes,
            from: 0,
            prefixes: Vec::new(),
            #[cfg(test)]
            summed: 0,
        }
    }

    /// Returns the result of [`Lookup::at`] for the bytes from position `at` on.
    pub(super) fn lookup(&mut self, at: usize) -> Lookup<'a> {
        let rest = self.bytes.get(at..).unwrap_or_default();
        Lookup::with_sum(rest, |sum, payload| {
            // The payload is a part of `rest`, so this is the payload's position.
            let start = payload.as_ptr().addr() - self.bytes.as_ptr().addr();
            let end = start + payload.len();
            self.cover(start, end);
            let [before, with] = [start, end].map(|end| self.prefix(end));
            with ^ shifted(before ^ sum, payload.len())
        })
    }

    /// Stores the checksums of the prefixes that end at `start`, at `end` or between them. No later
    /// call needs a prefix that ends before `start`.
    fn cover(&mut self, start: usize, end: usize) {
        // If the stored prefixes do not reach this part, begin with an empty prefix at its start.
        let is_in_reach = (self.from..self.from + MAX_STORED).contains(&end);
        if self.prefixes.is_empty() || !is_in_reach {
            self.from = start;
            self.prefixes.clear();
            self.prefixes.push(0);
        }
        let stored = self.prefixes.len() - 1;
        let new = self.bytes.get(self.from + stored..end).unwrap_or_default();
        #[cfg(test)]
        {
            self.summed += new.len();
        }
        let mut sum = self.prefixes.last().copied().unwrap_or(0);
        self.prefixes.extend(new.iter().map(|byte| {
            sum = crc16(sum, &[*byte]);
            sum
        }));
    }

    /// Returns the checksum of the stored prefix that ends at a position.
    fn prefix(&self, end: usize) -> u16 {
        let index = end.checked_sub(self.from);
        index.and_then(|index| self.prefixes.get(index)).copied().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use tracewell_wire::target::packet::{CHECKED, Header};

    use super::*;

    fn packet(payload: &[u8]) -> Vec<u8> {
        let mut bytes = Header { cores: 1, ..Header::default() }.to_bytes();
        let sum = crc16(crc16(u16::MAX, &bytes[..CHECKED]), payload);
        bytes[24..26].copy_from_slice(&(payload.len() as u16).to_le_bytes());
        bytes[26..28].copy_from_slice(&sum.to_le_bytes());
        [&bytes[..], payload].concat()
    }

    /// Returns bytes with a header of a long packet at every 28th position, and valid packets
    /// between them.
    fn headers(count: usize) -> Vec<u8> {
        let mut bytes = Vec::new();
        for number in 0..count {
            let mut header = packet(&[]);
            header[24..26].copy_from_slice(&4068_u16.to_le_bytes());
            bytes.extend(header);
            if number % 100 == 0 {
                bytes.extend(packet(&vec![number as u8; number % 4068]));
            }
            // Add valid packets near the position at which the search discards the checksums.
            if number > 2000 && number < 2600 {
                bytes.extend(packet(&[1, 2, 3]));
            }
        }
        bytes
    }

    #[test]
    fn each_position_has_the_same_result_as_without_prefixes() {
        let bytes = headers(5000);
        let mut sums = Sums::new(&bytes);
        let mut found = 0;
        for at in 0..bytes.len() {
            let expected = Lookup::at(&bytes[at..]);
            assert_eq!(sums.lookup(at), expected, "{at}");
            found += u32::from(matches!(expected, Lookup::Packet(_)));
        }
        assert_eq!(found, 50 + 599);
    }

    #[test]
    fn each_byte_is_summed_up_about_once() {
        let bytes = headers(5000);
        let mut sums = Sums::new(&bytes);
        (0..bytes.len()).for_each(|at| _ = sums.lookup(at));
        assert!(sums.summed < bytes.len() * 9 / 8, "{} of {}", sums.summed, bytes.len());
        assert!(sums.prefixes.len() <= MAX_STORED + MAX_PACKET);
    }
}
