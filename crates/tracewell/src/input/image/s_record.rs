//! Motorola S-records: `S`, type digit, then length, address, data and checksum as digit pairs.
//!
//! | type | address | meaning here |
//! |---|---|---|
//! | S0 | 16 bits, unused | header text: of no use for a trace |
//! | S1, S2, S3 | 16, 24, 32 bits | image bytes at the address |
//! | S5, S6 | 16, 24 bits | number of S1, S2 and S3 records before it |
//! | S7, S8, S9 | 32, 24, 16 bits | end of the image |
//!
//! The length counts address, data and checksum. Numbers are big-endian. The checksum is the
//! complement of the sum of length, address and data. S4 is reserved. Source: Motorola, *M68000
//! Family Programmer's Reference Manual*, appendix C.

use super::Decoded;
use super::diagnostic::{report, shown};
use super::lines::{Line, Lines};
use super::memory::Builder;
use super::record::{self, Record};
use crate::model::{Diagnostics, Severity};

/// The length byte does not count itself.
const BEYOND_LENGTH: usize = 1;

/// Index of the first digit after `S` and the type digit.
const ROW: usize = 2;

struct Decoder {
    builder: Builder,
    diagnostics: Diagnostics,
    record: Record,
    data_records: u64,
    ended: bool,
}

pub(super) fn decode(text: &[u8]) -> Decoded {
    let mut decoder = Decoder {
        builder: Builder::default(),
        diagnostics: Diagnostics::default(),
        record: Record::new(),
        data_records: 0,
        ended: false,
    };
    // Damaged lines are reported and skipped, so the rest of the image is still read.
    let mut lines = Lines::new(text);
    for line in lines.by_ref() {
        if decoder.ended {
            record::report_after_end(&mut decoder.diagnostics, &line);
            break;
        }
        decoder.line(&line);
    }
    let Decoder { builder, mut diagnostics, ended, .. } = decoder;
    if !ended {
        report(&mut diagnostics, Severity::Warning, lines.end(), || {
            "expected an end record (S7, S8 or S9) before the end of the text; \
             the text may be cut"
                .to_owned()
        });
    }
    let image = builder.finish(text.len(), &mut diagnostics);
    Decoded { image, diagnostics }
}

/// Returns true if the line is a whole record of a known type, whatever its checksum.
pub(super) fn is_record(line: &[u8]) -> bool {
    let mut record = Record::new();
    match line {
        [b'S' | b's', kind, row @ ..] => address_size(*kind).is_some_and(|size| {
            record.read(row, BEYOND_LENGTH) == Ok(row.len()) && record.bytes().len() >= size + 2
        }),
        _ => false,
    }
}

/// Returns the number of bytes that an address has in a record of this type, or `None` if there is
/// no such type.
const fn address_size(kind: u8) -> Option<usize> {
    match kind {
        b'0' | b'1' | b'5' | b'9' => Some(2),
        b'2' | b'6' | b'8' => Some(3),
        b'3' | b'7' => Some(4),
        _ => None,
    }
}

impl Decoder {
    fn line(&mut self, line: &Line<'_>) {
        let Some((b'S' | b's', rest)) = line.text.split_first() else {
            report(&mut self.diagnostics, Severity::Damage, line.place(0), || {
                let found = shown(line.text[0]);
                format!(
                    "expected 'S' at the start of a record, found {found}; the line is not used"
                )
            });
            return;
        };
        let Some((&kind, row)) = rest.split_first() else {
            report(&mut self.diagnostics, Severity::Damage, line.place(1), || {
                "expected a record type after 'S', found the end of the line".to_owned()
            });
            return;
        };
        let Some(address_size) = address_size(kind) else {
            report(&mut self.diagnostics, Severity::Damage, line.place(1), || {
                let found = shown(kind);
                format!(
                    "expected a record type from 0 to 9 but not 4, found {found}; \
                     the record is not used"
                )
            });
            return;
        };
        match self.record.read(row, BEYOND_LENGTH) {
            Ok(length) => self.apply(line, kind, address_size, ROW + length),
            Err(damage) => record::report_damage(&mut self.diagnostics, line, ROW, damage),
        }
    }

    /// Applies the record that was just read.
    fn apply(&mut self, line: &Line<'_>, kind: u8, address_size: usize, end: usize) {
        let body = self.record.bytes().get(1..).and_then(|rest| rest.split_last());
        let Some((address, data)) = body.and_then(|(_, body)| body.split_at_checked(address_size))
        else {
            report(&mut self.diagnostics, Severity::Damage, line.place(ROW), || {
                let (kind, least) = (char::from(kind), address_size + 1);
                let found = self.record.bytes().len() - 1;
                format!(
                    "expected a length of at least {least} in an S{kind} record, found {found}; \
                     the record is not used"
                )
            });
            return;
        };
        let (expected, found) = (!self.record.sum(), self.record.checksum());
        record::report_checksum(&mut self.diagnostics, line, end, expected, found);
        record::report_trailing(&mut self.diagnostics, line, end);
        // Addresses have 2 to 4 bytes, big-endian.
        let number = address.iter().fold(0, |number, &byte| number << 8 | u64::from(byte));
        match kind {
            b'1'..=b'3' => {
                self.data_records += 1;
                self.builder.push(number, data, line.place(0));
            }
            b'5' | b'6' => self.check_count(line, number),
            b'7'..=b'9' => self.ended = true,
            _ => {}
        }
    }

    fn check_count(&mut self, line: &Line<'_>, announced: u64) {
        let read = self.data_records;
        if announced != read {
            report(&mut self.diagnostics, Severity::Warning, line.place(ROW + 2), || {
                format!("expected {announced} data records before this one, found {read}")
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults(decoded: &Decoded) -> Vec<String> {
        decoded.diagnostics.iter().map(|fault| fault.message.clone()).collect()
    }

    fn segments(decoded: &Decoded) -> Vec<(u64, &[u8])> {
        decoded.image.segments().iter().map(|s| (s.address(), s.bytes())).collect()
    }

    #[test]
    fn addresses_of_16_24_and_32_bits_are_honoured() {
        let decoded = decode(
            b"S00600004844521B\nS104001041AA\ns205123456411d\n\
              S306FEDCBA98418C\nS5030003F9\nS70500000000FA\n",
        );
        assert_eq!(faults(&decoded), [""; 0]);
        let a = &b"A"[..];
        assert_eq!(segments(&decoded), [(0x10, a), (0x12_3456, a), (0xFEDC_BA98, a)]);
    }

    #[test]
    fn every_end_record_ends() {
        for end in ["S70500000000FA", "S804000000FB", "S9030000FC"] {
            assert_eq!(faults(&decode(end.as_bytes())), [""; 0]);
        }
    }

    #[test]
    fn a_wrong_checksum_is_a_warning_and_the_data_is_kept() {
        let decoded = decode(b"S104001041AB\nS9030000FC\n");
        assert_eq!(
            faults(&decoded),
            ["line 1, column 11: expected checksum AA, found AB; the record is used"]
        );
        assert_eq!(segments(&decoded), [(0x10, &b"A"[..])]);
    }

    #[test]
    fn a_count_that_does_not_agree_is_a_warning() {
        for (count, announced) in [("S5030002FA", 2), ("S604000003F8", 3)] {
            let decoded = decode(format!("S104001041AA\n{count}\nS9030000FC\n").as_bytes());
            assert_eq!(
                faults(&decoded),
                [format!(
                    "line 2, column 5: expected {announced} data records before this one, found 1"
                )]
            );
        }
    }

    #[test]
    fn a_bad_line_is_reported_and_decoding_continues() {
        for (bad, fault) in [
            (
                "oops",
                "line 1, column 1: expected 'S' at the start of a record, found 'o'; \
                 the line is not used",
            ),
            ("S", "line 1, column 2: expected a record type after 'S', found the end of the line"),
            (
                "S4030000FC",
                "line 1, column 2: expected a record type from 0 to 9 but not 4, found '4'; \
                 the record is not used",
            ),
            (
                "S104001\x1B41AA",
                "line 1, column 8: expected a hexadecimal digit, found byte 0x1B; \
                 the record is not used",
            ),
            (
                "S1040010",
                "line 1, column 9: expected 10 digits in this record, found 6; \
                 the record is not used",
            ),
            (
                "S30400000000",
                "line 1, column 3: expected a length of at least 5 in an S3 record, found 4; \
                 the record is not used",
            ),
            (
                "S100FF",
                "line 1, column 3: expected a length of at least 3 in an S1 record, found 0; \
                 the record is not used",
            ),
        ] {
            let decoded = decode(format!("{bad}\nS104001041AA\nS9030000FC\n").as_bytes());
            assert_eq!(segments(&decoded), [(0x10, &b"A"[..])], "{bad}");
            assert_eq!(faults(&decoded), [fault]);
        }
    }

    #[test]
    fn a_missing_end_and_text_after_the_end_are_warnings() {
        assert_eq!(
            faults(&decode(b"S104001041AA")),
            ["line 1, column 13: expected an end record (S7, S8 or S9) before the end of the \
              text; the text may be cut"]
        );
        let decoded = decode(b"S9030000FC\nS104001041AA\n");
        assert_eq!(
            faults(&decoded),
            ["line 2, column 1: expected nothing after the end record; \
              this and all later lines are not read"]
        );
        assert_eq!(segments(&decoded), []);
    }
}
