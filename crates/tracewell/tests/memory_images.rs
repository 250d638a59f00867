//! Tests memory images in text form through the public interface. The inputs are real dumps and
//! arbitrary text.

mod support;

use proptest::prelude::*;
use support::{EventLog, settings};
use tracewell::compressed::lzw::compress;
use tracewell::format::threadx::locate::{DEFAULT_SEARCH_LIMIT, locate};
use tracewell::input::Input;
use tracewell::input::image::{Decoded, Encoding, recognise};
use tracewell::model::Diagnostics;

const RAW: &[u8] = include_bytes!("fixtures/threadx/tiny.trx");
const RAW_BIG_ENDIAN: &[u8] = include_bytes!("fixtures/threadx/tiny_be.trx");
const INTEL_HEX: &[u8] = include_bytes!("fixtures/threadx/tiny.hex");
const S_RECORD: &[u8] = include_bytes!("fixtures/threadx/tiny.srec");
const ASCII_HEX: &[u8] = include_bytes!("fixtures/threadx/tiny.txt");

/// Address of the dump in the target's memory.
const BASE: u64 = 0x57DC_51A0;

const ENCODINGS: [Encoding; 3] = [Encoding::IntelHex, Encoding::SRecord, Encoding::AsciiHex];

#[test]
fn the_same_dump_in_every_encoding_is_the_same_bytes() {
    for (text, encoding, base) in [
        (INTEL_HEX, Encoding::IntelHex, BASE),
        (S_RECORD, Encoding::SRecord, BASE),
        (ASCII_HEX, Encoding::AsciiHex, 0),
    ] {
        assert_eq!(recognise(text), Some(encoding));
        let Decoded { image, diagnostics } = encoding.decode(text);
        assert_eq!(diagnostics, Diagnostics::default());
        let [segment] = image.segments() else { panic!("one segment in {}", encoding.name()) };
        assert_eq!(segment.address(), base);
        assert!(segment.bytes() == RAW, "{}", encoding.name());
        let found = locate(segment.bytes(), DEFAULT_SEARCH_LIMIT).expect("it is a trace");
        assert_eq!((found.offset, found.header.trace_base_address), (0, BASE));
    }
}

#[test]
fn a_raw_dump_is_no_text() {
    assert_eq!(recognise(RAW), None);
    assert_eq!(recognise(RAW_BIG_ENDIAN), None);
}

/// Returns the number of diagnostics that contain the text `expected`.
fn count(diagnostics: &Diagnostics, expected: &str) -> usize {
    diagnostics.iter().filter(|diagnostic| diagnostic.message.contains(expected)).count()
}

#[test]
fn a_truncated_text_is_reported_and_keeps_its_complete_records() {
    // The last record ends the image. The last record needs no line end, so `whole` is the length
    // without the final line end.
    let whole = INTEL_HEX.trim_ascii_end().len();
    let line_ends: Vec<usize> =
        (0..whole).filter(|&index| INTEL_HEX[index] == b'\n').map(|index| index + 1).collect();
    // Truncate only near the start and near the end. The records in between are similar, and
    // truncating those too would take seconds.
    for cut in (0..3000).chain(whole - 1000..whole) {
        let Decoded { image, diagnostics } = Encoding::IntelHex.decode(&INTEL_HEX[..cut]);
        assert_eq!(count(&diagnostics, "an end record"), 1, "cut at {cut}");
        // A record is complete even without its line end. The first record has no data.
        let records = line_ends.iter().filter(|&&end| end - 2 <= cut).count();
        let expected = (records.saturating_sub(1) * 16).min(RAW.len());
        let kept = image.segments().first().map_or(&[][..], |segment| segment.bytes());
        assert!(kept == &RAW[..expected], "cut at {cut}");
        let in_a_record = cut > 0 && !line_ends.iter().any(|&end| (end - 2..=end).contains(&cut));
        assert_eq!(
            count(&diagnostics, "digits in this record"),
            usize::from(in_a_record),
            "cut at {cut}"
        );
    }
}

/// Writes the simplest records that contain the chunks.
fn encode_intel_hex(chunks: &[(u32, Vec<u8>)]) -> String {
    let mut text = String::new();
    let mut record = |kind: u8, offset: u16, data: &[u8]| {
        let mut bytes = vec![data.len() as u8];
        bytes.extend(offset.to_be_bytes());
        bytes.push(kind);
        bytes.extend(data);
        let sum = bytes.iter().fold(0u8, |sum, &byte| sum.wrapping_add(byte));
        bytes.push(sum.wrapping_neg());
        text += &format!(":{}\n", digits(&bytes));
    };
    for (address, data) in chunks {
        record(4, 0, &((address >> 16) as u16).to_be_bytes());
        record(0, *address as u16, data);
    }
    record(1, 0, &[]);
    text
}

/// Writes each chunk with the shortest sufficient address field.
fn encode_s_records(chunks: &[(u32, Vec<u8>)]) -> String {
    let mut text = String::new();
    let mut record = |kind: u8, address: &[u8], data: &[u8]| {
        let mut bytes = vec![(address.len() + data.len() + 1) as u8];
        bytes.extend(address);
        bytes.extend(data);
        let sum = bytes.iter().fold(0u8, |sum, &byte| sum.wrapping_add(byte));
        bytes.push(!sum);
        text += &format!("S{kind}{}\r\n", digits(&bytes).to_lowercase());
    };
    record(0, &[0, 0], b"header");
    for (address, data) in chunks {
        let bytes = address.to_be_bytes();
        match address {
            0..=0xFFFF => record(1, &bytes[2..], data),
            0x1_0000..=0xFF_FFFF => record(2, &bytes[1..], data),
            _ => record(3, &bytes, data),
        }
    }
    record(5, &(chunks.len() as u16).to_be_bytes(), &[]);
    record(9, &[0, 0], &[]);
    text
}

fn digits(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02X}")).collect()
}

/// Generates chunks that do not overlap: each begins at or after the end of the previous one. The
/// result contains the chunks in any order.
fn sparse_memory() -> impl Strategy<Value = Vec<(u32, Vec<u8>)>> {
    let gap = prop_oneof![Just(0u32), 0..100u32, 0..200_000u32, 0..0x0400_0000u32];
    let chunk = (gap, prop::collection::vec(any::<u8>(), 1..200));
    prop::collection::vec(chunk, 1..20)
        .prop_map(|chunks| {
            let mut next = 0;
            let place = |(gap, data): (u32, Vec<u8>)| {
                let address = next + gap;
                next = address + data.len() as u32;
                (address, data)
            };
            chunks.into_iter().map(place).collect::<Vec<_>>()
        })
        .prop_shuffle()
}

/// Asserts that each chunk is at its address, and that all other bytes are marked as padding.
fn check_memory(decoded: &Decoded, chunks: &[(u32, Vec<u8>)]) {
    assert_eq!(decoded.diagnostics, Diagnostics::default());
    let segments = decoded.image.segments();
    for (address, data) in chunks {
        let address = u64::from(*address);
        let home = segments.iter().rfind(|segment| segment.address() <= address);
        let home = home.expect("a segment begins at or before each chunk");
        let at = (address - home.address()) as usize;
        assert_eq!(&home.bytes()[at..at + data.len()], &data[..]);
    }
    let bytes: usize = segments.iter().map(|segment| segment.bytes().len()).sum();
    let filled: usize = segments.iter().flat_map(|s| s.filled()).map(|gap| gap.len()).sum();
    assert_eq!(bytes - filled, chunks.iter().map(|(_, data)| data.len()).sum::<usize>());
}

proptest! {
    #[test]
    fn intel_hex_there_and_back(chunks in sparse_memory()) {
        let text = encode_intel_hex(&chunks);
        prop_assert_eq!(recognise(text.as_bytes()), Some(Encoding::IntelHex));
        check_memory(&Encoding::IntelHex.decode(text.as_bytes()), &chunks);
    }

    #[test]
    fn s_records_there_and_back(chunks in sparse_memory()) {
        let text = encode_s_records(&chunks);
        prop_assert_eq!(recognise(text.as_bytes()), Some(Encoding::SRecord));
        check_memory(&Encoding::SRecord.decode(text.as_bytes()), &chunks);
    }

    #[test]
    fn bare_hex_there_and_back(
        bytes in prop::collection::vec(any::<u8>(), 16..500),
        width in 1..40usize,
    ) {
        let lines: Vec<String> = bytes.chunks(width).map(digits).collect();
        let text = lines.join("\r\n");
        prop_assert_eq!(recognise(text.as_bytes()), Some(Encoding::AsciiHex));
        let decoded = Encoding::AsciiHex.decode(text.as_bytes());
        prop_assert_eq!(decoded.diagnostics, Diagnostics::default());
        prop_assert_eq!(decoded.image.segments()[0].bytes(), &bytes[..]);
    }

    #[test]
    fn a_changed_text_is_read_without_panic(
        which in 0..3usize,
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..30),
    ) {
        let mut text = [INTEL_HEX, S_RECORD, ASCII_HEX][which].to_vec();
        for (index, byte) in changes {
            let at = index.index(text.len());
            text[at] = byte;
        }
        for encoding in ENCODINGS {
            let decoded = encoding.decode(&text);
            let bytes: usize = decoded.image.segments().iter().map(|s| s.bytes().len()).sum();
            prop_assert!(bytes <= 2 * text.len() + 64 * 1024);
        }
    }
}

#[test]
fn a_compressed_dump_or_text_is_decompressed_first() {
    let read = |bytes: &[u8]| {
        let mut input = Input::from_bytes("dump.Z", bytes.to_vec(), settings(&[])).unwrap();
        let mut log = EventLog::default();
        let trace = input.read(&mut log).unwrap();
        (log, trace.diagnostics.iter().map(|it| it.message.clone()).collect::<Vec<_>>())
    };
    let (plain, remarks) = read(RAW);
    assert_eq!((plain.rows.len(), remarks), (197, Vec::new()));
    let note = "decompressed (.Z): byte offsets count from the first decompressed byte";
    assert_eq!(read(&compress(RAW)), (plain.clone(), vec![note.to_owned()]));
    let (of_text, remarks) = read(&compress(INTEL_HEX));
    assert_eq!((of_text, remarks.first().map(String::as_str)), (plain, Some(note)));
}

#[test]
fn damage_of_a_compressed_dump_is_an_error_with_its_place() {
    let mut damaged = compress(RAW);
    damaged.truncate(3);
    damaged.extend([0xFF; 8]);
    let error = Input::from_bytes("dump.Z", damaged, settings(&[])).unwrap_err().to_string();
    assert_eq!(error, "dump.Z: at byte 3: expected a code below 257, found 511");
}
