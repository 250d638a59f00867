//! Decodes the part that Intel HEX and S-records share: a row of digit pairs that begins with a
//! length byte and ends with a checksum.
//!
//! The two encodings define start characters, record types and addresses.

use super::diagnostic::{report, shown};
use super::digits;
use super::lines::Line;
use crate::model::{Diagnostics, Severity};

/// Length in bytes of the longest record: an Intel HEX record with 255 data bytes and five other
/// bytes.
const CAPACITY: usize = 255 + 5;

/// The bytes of one record, from the length byte to the checksum.
pub(super) struct Record {
    buffer: [u8; CAPACITY],
    length: usize,
}

/// The reason why a row of digits is not a record.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Damage {
    /// The character at this index is not a hexadecimal digit.
    Character { index: usize },
    /// The row is shorter than the record.
    Short { expected: usize, found: usize },
}

impl Record {
    pub(super) const fn new() -> Self {
        Self { buffer: [0; CAPACITY], length: 0 }
    }

    /// Reads a row of digits. A record has `beyond` more bytes than its length byte counts. Returns
    /// the number of characters of the record; more may follow.
    pub(super) fn read(&mut self, row: &[u8], beyond: usize) -> Result<usize, Damage> {
        // A character that is not a digit gives a wrong length here. The code below finds and
        // reports this character.
        let announced = match row.first_chunk() {
            Some([high, low]) => digits::value(*high) << 4 | digits::value(*low) & 0x0F,
            None => 0,
        };
        self.length = usize::from(announced) + beyond;
        let expected = 2 * self.length;
        // Further characters are allowed here, because the caller reports them.
        let record = row.get(..expected).ok_or_else(|| damage_of(row, expected))?;
        if digits::decode_pairs(record, &mut self.buffer[..self.length]) {
            Ok(expected)
        } else {
            Err(damage_of(record, expected))
        }
    }

    /// Returns the bytes from the length to the checksum.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.buffer[..self.length]
    }

    /// Returns the last byte.
    pub(super) fn checksum(&self) -> u8 {
        self.bytes().last().copied().unwrap_or(0)
    }

    /// Returns the sum of all bytes except the last.
    pub(super) fn sum(&self) -> u8 {
        let summed = self.bytes().split_last().map_or(&[][..], |(_, summed)| summed);
        summed.iter().fold(0, |sum, &byte| sum.wrapping_add(byte))
    }
}

fn damage_of(row: &[u8], expected: usize) -> Damage {
    // A wrong character in the length byte also changes the expected length, so report the
    // character.
    match digits::first_other(row) {
        Some(index) => Damage::Character { index },
        None => Damage::Short { expected, found: row.len() },
    }
}

/// Reports a damaged record whose row of digits begins at index `start` of the line.
pub(super) fn report_damage(
    diagnostics: &mut Diagnostics,
    line: &Line<'_>,
    start: usize,
    damage: Damage,
) {
    match damage {
        Damage::Character { index } => {
            let index = start + index;
            report(diagnostics, Severity::Damage, line.place(index), || {
                let found = shown(line.text[index]);
                format!("expected a hexadecimal digit, found {found}; the record is not used")
            });
        }
        Damage::Short { expected, found } => {
            report(diagnostics, Severity::Damage, line.place(start + found), || {
                format!(
                    "expected {expected} digits in this record, found {found}; \
                     the record is not used"
                )
            });
        }
    }
}

/// Reports text after a whole record.
pub(super) fn report_trailing(diagnostics: &mut Diagnostics, line: &Line<'_>, end: usize) {
    let Some(&character) = line.text.get(end) else { return };
    report(diagnostics, Severity::Warning, line.place(end), || {
        let found = shown(character);
        format!("expected the end of the line after the checksum, found {found}; it is ignored")
    });
}

/// Reports a checksum that differs from the expected checksum.
pub(super) fn report_checksum(
    diagnostics: &mut Diagnostics,
    line: &Line<'_>,
    end: usize,
    expected: u8,
    found: u8,
) {
    if expected != found {
        report(diagnostics, Severity::Warning, line.place(end - 2), || {
            format!("expected checksum {expected:02X}, found {found:02X}; the record is used")
        });
    }
}

/// Reports a line of text after the end record.
pub(super) fn report_after_end(diagnostics: &mut Diagnostics, line: &Line<'_>) {
    report(diagnostics, Severity::Warning, line.place(0), || {
        "expected nothing after the end record; this and all later lines are not read".to_owned()
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_read_up_to_its_announced_length() {
        let mut record = Record::new();
        assert_eq!(record.read(b"02AABB99tail", 2), Ok(8));
        assert_eq!(record.bytes(), [0x02, 0xAA, 0xBB, 0x99]);
        assert_eq!((record.sum(), record.checksum()), (0x67, 0x99));
    }

    #[test]
    fn a_short_row_tells_how_much_is_missing() {
        let mut record = Record::new();
        assert_eq!(record.read(b"02AABB9", 2), Err(Damage::Short { expected: 8, found: 7 }));
        assert_eq!(record.read(b"", 5), Err(Damage::Short { expected: 10, found: 0 }));
    }

    #[test]
    fn the_first_character_that_is_no_digit_is_named_first() {
        let mut record = Record::new();
        assert_eq!(record.read(b"02AxB", 2), Err(Damage::Character { index: 3 }));
        assert_eq!(record.read(b"Z2AABB99", 2), Err(Damage::Character { index: 0 }));
    }
}
