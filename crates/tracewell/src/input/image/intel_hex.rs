//! Intel HEX: `:` length, 16-bit offset, type, data, checksum, all as digit pairs.
//!
//! | type | data | meaning here |
//! |---|---|---|
//! | 00 | 0-255 bytes | image bytes at the offset from the current base |
//! | 01 | - | end of the image |
//! | 02 | u16 | base = 16 × value; offsets wrap at 64 KiB |
//! | 03, 05 | u32 | where to start the program: of no use for a trace |
//! | 04 | u16 | base = 65536 × value; addresses wrap at 4 GiB |
//!
//! Numbers are big-endian. The sum of all bytes of a record, checksum included, is 0. Source:
//! Intel, *Hexadecimal Object File Format Specification*, revision A, 1988.

use super::Decoded;
use super::diagnostic::{Cause, Diagnostics, shown};
use super::lines::{Line, Lines};
use super::memory::Builder;
use super::record::{self, Record};

/// Length, offset (two bytes), type and checksum: what a record has around its data.
const AROUND_DATA: usize = 5;

mod kind {
    pub(super) const DATA: u8 = 0;
    pub(super) const END: u8 = 1;
    pub(super) const SEGMENT_BASE: u8 = 2;
    pub(super) const SEGMENT_START: u8 = 3;
    pub(super) const LINEAR_BASE: u8 = 4;
    pub(super) const LINEAR_START: u8 = 5;
}

/// What offsets are counted from, and where they wrap.
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
        diagnostics.report(Cause::MissingEnd, lines.end(), || {
            "expected an end record (type 01) before the end of the text; the text may be cut"
                .to_owned()
        });
    }
    let image = builder.finish(text.len(), &mut diagnostics);
    Decoded { image, diagnostics }
}

/// Whether the line is a whole record of a known type, whatever its checksum.
pub(super) fn is_record(line: &[u8]) -> bool {
    let mut record = Record::new();
    match line.split_first() {
        Some((b':', row)) => {
            record.read(row, AROUND_DATA) == Ok(row.len())
                && record.bytes()[3] <= kind::LINEAR_START
        }
        _ => false,
    }
}

impl Decoder {
    fn line(&mut self, line: &Line<'_>) {
        let Some((b':', row)) = line.text.split_first() else {
            self.diagnostics.report(Cause::Character, line.place(0), || {
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
                self.record(line);
            }
            Err(damage) => record::report_damage(&mut self.diagnostics, line, 1, damage),
        }
    }

    /// Does what the record that was just read asks for.
    fn record(&mut self, line: &Line<'_>) {
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
            (kind::SEGMENT_START | kind::LINEAR_START, _) => {}
            (kind @ (kind::SEGMENT_BASE | kind::LINEAR_BASE), data) => {
                self.diagnostics.report(Cause::Length, line.place(1), || {
                    format!(
                        "expected 2 data bytes in a record of type {kind:02X}, found {}; \
                         the record is not used",
                        data.len()
                    )
                });
            }
            (kind, _) => self.diagnostics.report(Cause::RecordType, line.place(7), || {
                format!(
                    "expected a record type from 00 to 05, found {kind:02X}; the record is not used"
                )
            }),
        }
    }
}

/// Hands data to the image, in two parts where the addresses wrap between them.
fn place(builder: &mut Builder, base: Base, offset: u16, data: &[u8], line: &Line<'_>) {
    let offset = u64::from(offset);
    let (base, size, wrapped) = match base {
        Base::Segment(base) => (u64::from(base), 0x1_0000, u64::from(base)),
        Base::Linear(base) => (u64::from(base), 0x1_0000_0000 - u64::from(base), 0),
    };
    // The first part is cut at a record's length, so that the cast cannot lose anything.
    let room = (size - offset).min(data.len() as u64) as usize;
    let (before, after) = data.split_at(room);
    builder.push(base + offset, before, line.place(0));
    builder.push(wrapped, after, line.place(0));
}
