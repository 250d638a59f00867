//! Intel HEX: `:` length, 16-bit offset, type, data, checksum, all as digit pairs.
//!
//! | type | data | meaning here |
//! |---|---|---|
//! | 00 | 0-255 bytes | image bytes at the offset from the current base |
//! | 01 | - | end of the image |
//! | 02 | u16 | base = 16 × value; offsets wrap at 64 KiB |
//! | 03, 05 | u32 | start address of the program, not needed for a trace |
//! | 04 | u16 | base = 65536 × value; addresses wrap at 4 GiB |
//!
//! Numbers are big-endian. The sum of all bytes of a record, including the checksum, is 0. Source:
//! Intel, *Hexadecimal Object File Format Specification*, revision A, 1988.

use super::Decoded;
use super::diagnostic::{report, shown};
use super::lines::{Line, Lines};
use super::memory::Builder;
use super::record::{self, Record};
use crate::model::{Diagnostics, Severity};

/// Bytes of a record besides its data: length, offset (two bytes), type and checksum.
const AROUND_DATA: usize = 5;

mod kind {
    pub(super) const DATA: u8 = 0;
    pub(super) const END: u8 = 1;
    pub(super) const SEGMENT_BASE: u8 = 2;
    pub(super) const SEGMENT_START: u8 = 3;
    pub(super) const LINEAR_BASE: u8 = 4;
    pub(super) const LINEAR_START: u8 = 5;
}

/// The base that is added to offsets, and the size at which the sum wraps.
#[derive(Clone, Copy)]
enum Base {
    Segment(u32),
    Linear(u32),
}

struct Decoder {
    builder: Builder,
    diagnostics: Diagnostics,
    record: Record,
    base: Base,
    ended: bool,
}

pub(super) fn decode(text: &[u8]) -> Decoded {
    let mut decoder = Decoder {
        builder: Builder::default(),
        diagnostics: Diagnostics::default(),
        record: Record::new(),
        base: Base::Linear(0),
        ended: false,
    };
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
            "expected an end record (type 01) before the end of the text; the text may be cut"
                .to_owned()
        });
    }
    let image = builder.finish(text.len(), &mut diagnostics);
    Decoded { image, diagnostics }
}

/// Returns true if the line is a whole record of a known type, regardless of its checksum.
pub(super) fn is_record(line: &[u8]) -> bool {
    let mut record = Record::new();
    match line.split_first() {
        Some((b':', row)) => {
            // The checksum may be damaged. The checks of length and type make it unlikely that
            // other text passes.
            record.read(row, AROUND_DATA) == Ok(row.len())
                && record.bytes()[3] <= kind::LINEAR_START
        }
        _ => false,
    }
}

impl Decoder {
    fn line(&mut self, line: &Line<'_>) {
        let Some((b':', row)) = line.text.split_first() else {
            report(&mut self.diagnostics, Severity::Damage, line.place(0), || {
                let found = shown(line.text[0]);
                format!(
                    "expected ':' at the start of a record, found {found}; the line is not used"
                )
            });
            return;
        };
        match self.record.read(row, AROUND_DATA) {
            Ok(length) => {
                let end = 1 + length;
                let expected = self.record.sum().wrapping_neg();
                let found = self.record.checksum();
                record::report_checksum(&mut self.diagnostics, line, end, expected, found);
                record::report_trailing(&mut self.diagnostics, line, end);
                // Apply the record even if the checksum is wrong, because one wrong digit is better
                // than missing bytes.
                self.apply(line);
            }
            Err(damage) => record::report_damage(&mut self.diagnostics, line, 1, damage),
        }
    }

    /// Applies the record that was just read.
    fn apply(&mut self, line: &Line<'_>) {
        let [_, high, low, kind, rest @ ..] = self.record.bytes() else { return };
        let data = rest.split_last().map_or(&[][..], |(_, data)| data);
        match (*kind, data) {
            (kind::DATA, _) => {
                let offset = u16::from_be_bytes([*high, *low]);
                place(&mut self.builder, self.base, offset, data, line);
            }
            (kind::END, _) => self.ended = true,
            (kind::SEGMENT_BASE, &[high, low]) => {
                self.base = Base::Segment(u32::from(u16::from_be_bytes([high, low])) << 4);
            }
            (kind::LINEAR_BASE, &[high, low]) => {
                self.base = Base::Linear(u32::from(u16::from_be_bytes([high, low])) << 16);
            }
            // The start address of the program is not needed for a trace.
            (kind::SEGMENT_START | kind::LINEAR_START, _) => {}
            (kind @ (kind::SEGMENT_BASE | kind::LINEAR_BASE), data) => {
                report(&mut self.diagnostics, Severity::Damage, line.place(1), || {
                    format!(
                        "expected 2 data bytes in a record of type {kind:02X}, found {}; \
                         the record is not used",
                        data.len()
                    )
                });
            }
            (kind, _) => report(&mut self.diagnostics, Severity::Damage, line.place(7), || {
                format!(
                    "expected a record type from 00 to 05, found {kind:02X}; \
                     the record is not used"
                )
            }),
        }
    }
}

/// Adds data to the image, in two parts if the addresses wrap within it.
fn place(builder: &mut Builder, base: Base, offset: u16, data: &[u8], line: &Line<'_>) {
    let offset = u64::from(offset);
    let (base, size, wrapped) = match base {
        Base::Segment(base) => (u64::from(base), 0x1_0000, u64::from(base)),
        Base::Linear(base) => (u64::from(base), 0x1_0000_0000 - u64::from(base), 0),
    };
    // Cannot overflow: `data.len()` is at most 255.
    let room = (size - offset).min(data.len() as u64) as usize;
    let (before, after) = data.split_at(room);
    builder.push(base + offset, before, line.place(0));
    builder.push(wrapped, after, line.place(0));
}

#[cfg(test)]
mod tests {
    use super::*;

    const END: &str = ":00000001FF\n";

    /// A record with the right checksum.
    fn record(kind: u8, offset: u16, data: &[u8]) -> String {
        let [high, low] = offset.to_be_bytes();
        let mut bytes = vec![data.len() as u8, high, low, kind];
        bytes.extend(data);
        let sum = bytes.iter().fold(0u8, |sum, byte| sum.wrapping_add(*byte));
        bytes.push(sum.wrapping_neg());
        let digits: String = bytes.iter().map(|byte| format!("{byte:02X}")).collect();
        format!(":{digits}\n")
    }

    fn faults(decoded: &Decoded) -> Vec<String> {
        decoded.diagnostics.iter().map(|fault| fault.message.clone()).collect()
    }

    fn segments(decoded: &Decoded) -> Vec<(u64, &[u8])> {
        decoded.image.segments().iter().map(|s| (s.address(), s.bytes())).collect()
    }

    /// Decodes text that must have no faults.
    fn clean(text: &str) -> Decoded {
        let decoded = decode(text.as_bytes());
        assert_eq!(faults(&decoded), [""; 0]);
        decoded
    }

    #[test]
    fn line_ends_blanks_and_lower_case_do_not_matter() {
        let text = "\n  :02000000aBcD86 \t\r\n\r\n:00000001ff";
        assert_eq!(segments(&clean(text)), [(0, &[0xAB, 0xCD][..])]);
    }

    #[test]
    fn a_linear_base_is_the_upper_half_of_the_address() {
        let text = record(4, 0, &[0x20, 0x01]) + &record(0, 0xFFFF, b"ab") + END;
        assert_eq!(segments(&clean(&text)), [(0x2001_FFFF, &b"ab"[..])]);
    }

    #[test]
    fn a_linear_address_wraps_at_4_gib() {
        let text = record(4, 0, &[0xFF, 0xFF]) + &record(0, 0xFFFF, b"ab") + END;
        assert_eq!(segments(&clean(&text)), [(0, &b"b"[..]), (0xFFFF_FFFF, b"a")]);
    }

    #[test]
    fn a_segment_base_counts_sixteens_and_its_offsets_wrap_at_64_kib() {
        let far = record(2, 0, &[0x10, 0x00]) + &record(0, 0x0010, b"ab") + END;
        assert_eq!(segments(&clean(&far)), [(0x1_0010, &b"ab"[..])]);
        let wrapping = record(2, 0, &[0x10, 0x00]) + &record(0, 0xFFFF, b"ab") + END;
        let decoded = clean(&wrapping);
        let [segment] = decoded.image.segments() else { panic!("the gap is small: one segment") };
        assert_eq!((segment.address(), segment.bytes().len()), (0x1_0000, 0x1_0000));
        assert_eq!((segment.bytes()[0], segment.bytes()[0xFFFF]), (b'b', b'a'));
    }

    #[test]
    fn start_addresses_are_passed_over() {
        let text = record(3, 0, &[0; 4]) + &record(5, 0, &[0; 4]) + &record(0, 0, b"a") + END;
        assert_eq!(segments(&clean(&text)), [(0, &b"a"[..])]);
    }

    #[test]
    fn records_in_any_order_are_sorted_by_address() {
        let text = record(0, 2, b"cd") + &record(0, 0, b"ab") + END;
        assert_eq!(segments(&clean(&text)), [(0, &b"abcd"[..])]);
    }

    #[test]
    fn a_wrong_checksum_is_a_warning_and_the_data_is_kept() {
        let decoded = decode(b":02000000ABCD87\n:00000001FF\n");
        assert_eq!(
            faults(&decoded),
            ["line 1, column 14: expected checksum 86, found 87; the record is used"]
        );
        assert_eq!(decoded.diagnostics.worst().unwrap(), Severity::Warning);
        assert_eq!(segments(&decoded), [(0, &[0xAB, 0xCD][..])]);
    }

    #[test]
    fn a_bad_line_is_reported_and_decoding_continues() {
        for (bad, fault) in [
            (
                "oops",
                "line 1, column 1: expected ':' at the start of a record, found 'o'; \
                 the line is not used",
            ),
            (
                " :0100x00041BE",
                "line 1, column 7: expected a hexadecimal digit, found 'x'; \
                 the record is not used",
            ),
            (
                ":0200000041B",
                "line 1, column 13: expected 14 digits in this record, found 11; \
                 the record is not used",
            ),
            (
                ":",
                "line 1, column 2: expected 10 digits in this record, found 0; \
                 the record is not used",
            ),
            (
                ":00000006FA",
                "line 1, column 8: expected a record type from 00 to 05, found 06; \
                 the record is not used",
            ),
            (
                ":0100000420DB",
                "line 1, column 2: expected 2 data bytes in a record of type 04, found 1; \
                 the record is not used",
            ),
        ] {
            let text = format!("{bad}\r\n{}{END}", record(0, 0x10, b"a"));
            let decoded = decode(text.as_bytes());
            assert_eq!(faults(&decoded), [fault]);
            assert_eq!(decoded.diagnostics.worst().unwrap(), Severity::Damage);
            assert_eq!(segments(&decoded), [(0x10, &b"a"[..])]);
        }
    }

    #[test]
    fn text_after_a_checksum_is_ignored() {
        let decoded = decode(b":0100000041BE ; A\n:00000001FF\n");
        assert_eq!(
            faults(&decoded),
            ["line 1, column 14: expected the end of the line after the checksum, found ' '; \
              it is ignored"]
        );
        assert_eq!(segments(&decoded), [(0, &b"A"[..])]);
    }

    #[test]
    fn a_missing_end_is_a_warning_at_the_end_of_the_text() {
        let decoded = decode(b":0100000041BE\n");
        assert_eq!(
            faults(&decoded),
            ["line 2, column 1: expected an end record (type 01) before the end of the text; \
              the text may be cut"]
        );
    }

    #[test]
    fn nothing_is_read_after_the_end() {
        let text = format!("{END}\n{}{}", record(0, 0, b"a"), record(0, 0, b"b"));
        let decoded = decode(text.as_bytes());
        assert_eq!(
            faults(&decoded),
            ["line 3, column 1: expected nothing after the end record; \
              this and all later lines are not read"]
        );
        assert_eq!(segments(&decoded), []);
    }
}
