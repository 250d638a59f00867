//! A position in the bits of a packet, and the functions that read fields there.

use tracewell_wire::ByteOrder;

use super::bits::Form;
use super::classes::Encoding;

/// Maximum number of bytes of a variable-length number.
const MAX_LEB_BYTES: usize = 10;

/// The bytes from the beginning of a packet, the current position, and the end of the fields to
/// read. Positions are in bits from the beginning of the packet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bits<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) at: u64,
    pub(super) end: u64,
}

/// The reason why a field cannot be read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum FaultKind {
    /// The field extends beyond the end of the content.
    Beyond,
    /// A string has no NUL before the end of the content.
    Unterminated,
    /// The selector has this value, which selects no option.
    NoOption(i128),
    /// A length or a choice refers to a field that was not read.
    NoReference,
    /// The value of a variable-length number has more than 64 bits.
    TooLong,
    /// An array has too many elements of zero bits.
    TooMany,
    /// The compiled layout is too large.
    Layout,
    /// One byte contains bits of two numbers with different byte orders.
    Orders,
}

/// The error for a field that cannot be read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Fault {
    /// Position in bits from the beginning of the packet.
    pub(super) at: u64,
    pub(super) kind: FaultKind,
}

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.kind {
            FaultKind::Beyond => {
                f.write_str("found a field beyond the end of the packet's content")
            }
            FaultKind::Unterminated => f.write_str("found a text without an end"),
            FaultKind::NoOption(value) => {
                write!(f, "found {value}, which selects no option of a variant")
            }
            FaultKind::NoReference => {
                f.write_str("found a field that refers to a field that was not recorded")
            }
            FaultKind::TooLong => f.write_str("found a number of more than 64 bits"),
            FaultKind::TooMany => f.write_str("found an array with too many empty elements"),
            FaultKind::Layout => f.write_str("found an event whose layout is too large"),
            FaultKind::Orders => f.write_str("found numbers of different byte orders in one byte"),
        }
    }
}

impl<'a> Bits<'a> {
    pub(super) const fn fault(&self, kind: FaultKind) -> Fault {
        Fault { at: self.at, kind }
    }

    #[inline]
    pub(super) fn align(&mut self, mask: u64) -> Result<(), Fault> {
        let at = self.at.wrapping_add(mask) & !mask;
        if at > self.end {
            return Err(self.fault(FaultKind::Beyond));
        }
        self.at = at;
        Ok(())
    }

    /// Returns the position after a field of this number of bits.
    #[inline]
    pub(super) fn after(&self, bits: u64) -> Result<u64, Fault> {
        match self.at.checked_add(bits) {
            Some(after) if after <= self.end => Ok(after),
            _ => Err(self.fault(FaultKind::Beyond)),
        }
    }

    /// Rounds the position up, and then moves it past the next fields, which have `bits` bits
    /// together. `mask` is the alignment in bits minus 1. Returns the bytes from the first of these
    /// fields on; they extend beyond the fields.
    #[inline]
    pub(super) fn run(&mut self, mask: u64, bits: u64) -> Result<&'a [u8], Fault> {
        self.align(mask)?;
        let after = self.after(bits)?;
        let bytes = self.bytes.get((self.at / 8) as usize..).unwrap_or_default();
        self.at = after;
        Ok(bytes)
    }

    #[inline]
    pub(super) fn bytes(&mut self, bits: u8, order: ByteOrder) -> Result<u64, Fault> {
        let after = self.after(u64::from(bits))?;
        let rest = self.bytes.get((self.at / 8) as usize..).unwrap_or_default();
        let value = number_at(rest, bits, order).ok_or_else(|| self.fault(FaultKind::Beyond))?;
        self.at = after;
        Ok(value)
    }

    #[inline]
    pub(super) fn number(&mut self, form: Form) -> Result<u64, Fault> {
        let after = self.after(u64::from(form.bits))?;
        let value = form.read(self.bytes, self.at);
        let value = value.ok_or_else(|| self.fault(FaultKind::Beyond))?;
        self.at = after;
        Ok(value)
    }

    /// Returns the bytes up to the end of the content.
    pub(super) fn rest(&self) -> &'a [u8] {
        let (from, to) = ((self.at / 8) as usize, (self.end / 8) as usize);
        self.bytes.get(from..to.min(self.bytes.len())).unwrap_or_default()
    }

    pub(super) fn take(&mut self, bytes: u64) -> Result<&'a [u8], Fault> {
        let taken = usize::try_from(bytes).ok().and_then(|bytes| self.rest().get(..bytes));
        let taken = taken.ok_or_else(|| self.fault(FaultKind::Beyond))?;
        self.at += 8 * bytes;
        Ok(taken)
    }

    pub(super) fn text(&mut self, encoding: Encoding) -> Result<&'a [u8], Fault> {
        let rest = self.rest();
        let end = end_of_text(rest, encoding);
        let Some(text) = rest.get(..end).filter(|_| end + unit(encoding) <= rest.len()) else {
            return Err(self.fault(FaultKind::Unterminated));
        };
        self.at += 8 * (end + unit(encoding)) as u64;
        Ok(text)
    }

    pub(super) fn variable(&mut self, is_signed: bool) -> Result<u64, Fault> {
        let rest = self.rest();
        let mut value = 0_u128;
        for (index, byte) in rest.iter().enumerate().take(MAX_LEB_BYTES) {
            value |= u128::from(byte & 0x7F) << (7 * index);
            if byte & 0x80 != 0 {
                continue;
            }
            let bits = 7 * (index + 1);
            let value = if is_signed {
                let unused = 128 - bits;
                let value = (value << unused).cast_signed() >> unused;
                i64::try_from(value).ok().map(i64::cast_unsigned)
            } else {
                u64::try_from(value).ok()
            };
            let value = value.ok_or_else(|| self.fault(FaultKind::TooLong))?;
            self.at += 8 * (index + 1) as u64;
            return Ok(value);
        }
        let is_long = rest.len() >= MAX_LEB_BYTES;
        Err(self.fault(if is_long { FaultKind::TooLong } else { FaultKind::Beyond }))
    }
}

/// Returns the number of 8, 16, 32 or 64 bits at the start of `bytes`, or `None` if they are too
/// short.
#[inline]
fn number_at(bytes: &[u8], bits: u8, order: ByteOrder) -> Option<u64> {
    match bits {
        8 => bytes.first().map(|byte| u64::from(*byte)),
        16 => bytes.first_chunk().map(|bytes| u64::from(order.u16(*bytes))),
        32 => bytes.first_chunk().map(|bytes| u64::from(order.u32(*bytes))),
        _ => bytes.first_chunk().map(|bytes| order.u64(*bytes)),
    }
}

/// Returns the number of bytes before the first NUL, or the number of all bytes if there is no NUL.
pub(super) fn end_of_text(bytes: &[u8], encoding: Encoding) -> usize {
    let unit = unit(encoding);
    if unit == 1 {
        return first_nul(bytes);
    }
    let units = bytes.chunks_exact(unit).position(|unit| unit.iter().all(|byte| *byte == 0));
    units.map_or(bytes.len(), |units| units * unit)
}

/// Returns the number of bytes before the first NUL, or the number of all bytes if there is no NUL.
/// Compares eight bytes at a time.
#[inline]
fn first_nul(bytes: &[u8]) -> usize {
    const LOW: u64 = u64::from_le_bytes([0x01; 8]);
    const HIGH: u64 = u64::from_le_bytes([0x80; 8]);
    let (words, rest) = bytes.as_chunks::<8>();
    for (index, word) in words.iter().enumerate() {
        let word = u64::from_le_bytes(*word);
        // The lowest of these bits belongs to the first byte that is 0.
        let nuls = word.wrapping_sub(LOW) & !word & HIGH;
        if nuls != 0 {
            return 8 * index + nuls.trailing_zeros() as usize / 8;
        }
    }
    let nul = rest.iter().position(|byte| *byte == 0);
    nul.map_or(bytes.len(), |nul| 8 * words.len() + nul)
}

/// Returns the number of bytes of a code unit.
const fn unit(encoding: Encoding) -> usize {
    match encoding {
        Encoding::Utf8 => 1,
        Encoding::Utf16(_) => 2,
        Encoding::Utf32(_) => 4,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_of_variable_length_has_seven_bits_a_byte_and_a_sign() {
        // The numbers 624485, -123456 and -128 are examples from the DWARF standard.
        let unsigned: [(&[u8], u64); 4] = [
            (&[0x02], 2),
            (&[0x80, 0x01], 128),
            (&[0xE5, 0x8E, 0x26], 624_485),
            (&[0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x01], u64::MAX),
        ];
        let signed: [(&[u8], i64); 6] = [
            (&[0x02], 2),
            (&[0x7E], -2),
            (&[0xFF, 0x00], 127),
            (&[0x80, 0x7F], -128),
            (&[0xC0, 0xBB, 0x78], -123_456),
            (&[0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x7F], i64::MIN),
        ];
        let read = |bytes: &[u8], is_signed| {
            let mut bits = Bits { bytes, at: 0, end: 8 * bytes.len() as u64 };
            let number = bits.variable(is_signed).unwrap();
            assert_eq!(bits.at, bits.end, "{bytes:02X?}");
            number
        };
        for (bytes, number) in unsigned {
            assert_eq!(read(bytes, false), number, "{bytes:02X?}");
        }
        for (bytes, number) in signed {
            assert_eq!(read(bytes, true).cast_signed(), number, "{bytes:02X?}");
        }
    }

    #[test]
    fn a_text_ends_before_its_first_nul() {
        for length in 0..20 {
            for nul in 0..20 {
                // Bytes with the value 1 after a NUL and bytes with the value 0x80 must not count
                // as NULs.
                let mut bytes = [[0x80, 1, 0xFF, b'a']; 5].as_flattened()[..length].to_vec();
                if let Some(byte) = bytes.get_mut(nul) {
                    *byte = 0;
                }
                assert_eq!(end_of_text(&bytes, Encoding::Utf8), nul.min(length), "{bytes:?}");
            }
        }
    }
}
