//! Reads traces that the programs `gzip` and `zstd` compressed. The files are complete, truncated
//! at many offsets, or damaged.

mod support;

use std::io::Read;

use support::{EventLog, fixture, settings};
use tracewell::compressed::Compression;
use tracewell::compressed::reader::Decompressor;
use tracewell::input::{Input, InputError};
use tracewell::model::{LossCause, Trace};

const PLAIN: &[u8] = include_bytes!("fixtures/rkh/ahsm-a.bin");
const GZIP: &[u8] = include_bytes!("fixtures/compressed/ahsm-a.bin.gz");
const ZSTD: &[u8] = include_bytes!("fixtures/compressed/ahsm-a.bin.zst");
const BOTH: [(&str, &[u8], Compression); 2] =
    [("gzip", GZIP, Compression::Gzip), ("zstd", ZSTD, Compression::Zstd)];

/// Length of the first part of the trace, which is compressed on its own.
const FIRST: usize = 3000;

fn read(bytes: &[u8]) -> Result<(EventLog, Trace), InputError> {
    let mut log = EventLog::default();
    let trace = Input::from_bytes("trace", bytes.to_vec(), settings(&[]))?.read(&mut log)?;
    Ok((log, trace))
}

fn messages(trace: &Trace) -> Vec<&str> {
    trace.diagnostics.iter().map(|diagnostic| diagnostic.message.as_str()).collect()
}

fn decompressed(compression: Compression, bytes: &[u8]) -> Vec<u8> {
    let mut all = Vec::new();
    Decompressor::new(compression, bytes).read_to_end(&mut all).unwrap();
    all
}

#[test]
fn members_and_frames_are_read_as_one_trace_and_again() {
    let (plain, _) = read(PLAIN).unwrap();
    for (name, bytes, compression) in BOTH {
        assert!(decompressed(compression, bytes) == PLAIN, "{name}");
        let path = fixture(if name == "gzip" {
            "compressed/ahsm-a.bin.gz"
        } else {
            "compressed/ahsm-a.bin.zst"
        });
        let mut input = Input::open(&path, settings(&[])).unwrap();
        assert_eq!((input.size(), input.is_stream()), (None, false), "{name}");
        for _ in 0..2 {
            let mut log = EventLog::default();
            let trace = input.read_named(&mut log).unwrap();
            assert_eq!(log.rows, plain.rows, "{name}");
            let note = format!(
                "decompressed ({name}): byte offsets count from the first decompressed byte"
            );
            assert_eq!(messages(&trace)[0], note);
        }
    }
}

#[test]
fn a_compressed_file_cut_in_many_places_delivers_its_start_and_counts_the_loss() {
    for (name, bytes, compression) in BOTH {
        // Zeros after the last member are padding.
        let used = bytes.iter().rposition(|byte| *byte != 0).unwrap() + 1;
        let mut longest = 0;
        for cut in (4..used).step_by(13).chain([used - 1]) {
            let part = &bytes[..cut];
            let all = decompressed(compression, part);
            assert!(PLAIN.starts_with(&all), "{name} cut at {cut}");
            assert!(all.len() >= longest, "{name} cut at {cut}");
            longest = all.len();
            // Read only one in eight truncated files as a trace. Skip files that decompress to
            // nothing, or to exactly the first member or frame.
            if cut % 8 != 0 || longest == 0 || longest == FIRST {
                continue;
            }
            let (log, trace) = read(part).unwrap();
            assert_eq!(log.rows.len() as u64, trace.events, "{name} cut at {cut}");
            let truncated = trace.losses.iter().find(|(cause, _)| *cause == LossCause::Truncated);
            assert!(truncated.is_some_and(|(_, count)| count.unknown >= 1), "{name} cut at {cut}");
            let said = format!(
                "{name} data at byte {cut} of the file: the file ends in the middle of its data"
            );
            assert!(messages(&trace).iter().any(|it| it.starts_with(&said)), "{name} cut at {cut}");
        }
        // At least one of the cut files yields all data of the first member or frame.
        assert!(longest >= FIRST, "{name}: {longest}");
    }
}

#[test]
fn damage_ends_a_compressed_file_after_the_bytes_before_it() {
    // Give the first block of the second member or frame a type that does not exist.
    for ((name, bytes, compression), block) in BOTH.into_iter().zip([1830, 1823]) {
        let mut damaged = bytes.to_vec();
        damaged[block] |= 6;
        let mut reader = Decompressor::new(compression, damaged.as_slice());
        let mut all = Vec::new();
        reader.read_to_end(&mut all).unwrap();
        assert!(all == PLAIN[..FIRST], "{name}: {}", all.len());
        let [fault] = &reader.faults()[..] else { panic!("{name}: one fault") };
        assert_eq!(fault.offset + fault.unread, bytes.len() as u64, "{name}");
        let (_, trace) = read(&damaged).unwrap();
        let found = messages(&trace).iter().filter(|it| **it == fault.to_string()).count();
        assert_eq!(found, 1, "{name}: {fault}: {:?}", messages(&trace));
    }
}

#[test]
fn after_a_wrong_checksum_the_next_member_or_frame_is_read() {
    // Change the checksum at the end of the first member or frame.
    for ((name, bytes, _), end) in BOTH.into_iter().zip([1820 - 8, 1803 - 1]) {
        let mut damaged = bytes.to_vec();
        damaged[end] ^= 1;
        let (log, trace) = read(&damaged).unwrap();
        assert_eq!(log.rows, read(PLAIN).unwrap().0.rows, "{name}");
        let offset = if name == "gzip" { 1820 } else { 1803 };
        let said = format!(
            "{name} data at byte {offset} of the file: the checksum before this byte does not match its data"
        );
        assert!(messages(&trace).contains(&said.as_str()), "{name}: {:?}", messages(&trace));
    }
}

#[test]
fn a_file_of_which_nothing_can_be_decompressed_is_an_error_with_its_place() {
    let error = |bytes: &[u8]| read(bytes).unwrap_err().to_string();
    assert_eq!(
        error(&GZIP[..12]),
        "trace: gzip data at byte 12 of the file: the file ends in the middle of its data"
    );
    let window = b"\x28\xb5\x2f\xfd\x00\xf8\x01\0\0";
    assert_eq!(
        error(window),
        "trace: zstd data at byte 6 of the file: expected a window of at most 134217728 bytes, \
         found 2199023255552; the last 3 bytes of the file were not read"
    );
}

#[test]
fn other_compressions_are_named_with_the_program_that_reads_them() {
    let magics: [(&[u8], &str, &str); 4] = [
        (b"\xFD7zXZ\0\0\x04", "xz", "xz -dc"),
        (b"BZh91AY&SY", "bzip2", "bzip2 -dc"),
        (b"\x04\x22\x4D\x18\x64\x40", "lz4", "lz4 -dc"),
        (b"PK\x03\x04\x14\0", "zip", "unzip -p"),
    ];
    for (bytes, name, command) in magics {
        let expected = format!(
            "trace: at byte 0: expected a trace, or one compressed with gzip, zstd or compress; \
             found {name} data; try: {command} trace | tracewell info -"
        );
        assert_eq!(read(bytes).unwrap_err().to_string(), expected);
    }
}

#[test]
fn parts_of_a_run_may_be_compressed() {
    let folder = tempfile::tempdir().unwrap();
    let dump = std::fs::read(fixture("threadx/tiny.trx")).unwrap();
    let plain = folder.path().join("a.trx");
    std::fs::write(&plain, &dump).unwrap();
    let packed = folder.path().join("b.trx.Z");
    std::fs::write(&packed, tracewell::compressed::lzw::compress(&dump)).unwrap();
    let events = |files: &[std::path::PathBuf]| {
        let mut log = EventLog::default();
        Input::open_run(files, settings(&[])).unwrap().read(&mut log).unwrap();
        log.rows
    };
    assert_eq!(events(&[plain.clone(), packed]), events(&[plain.clone(), plain]));
}

#[test]
fn bytes_after_the_last_member_or_frame_are_described() {
    for (name, bytes, expected) in [
        ("gzip", GZIP, "expected a member (1F 8B 08), found [67, 61, 72]; the last 13 bytes"),
        ("zstd", ZSTD, "expected a frame (28 B5 2F FD); the last 12 bytes"),
    ] {
        let (log, trace) = read(&[bytes, b"garbage after it"].concat()).unwrap();
        assert_eq!(log.rows, read(PLAIN).unwrap().0.rows, "{name}");
        let message = messages(&trace)[1];
        let expected = format!(" of the file: {expected} of the file were not read");
        assert!(message.ends_with(&expected), "{message}");
    }
}

#[test]
fn a_window_that_is_too_large_is_refused_with_its_size() {
    let mut bytes = ZSTD.to_vec();
    // If the descriptor does not have the flag 0x20, the upper five bits of the next byte contain a
    // number n. The window then has 2^(10 + n) bytes.
    bytes[4] &= 0xDF;
    bytes[5] = 23 << 3;
    let error = read(&bytes).unwrap_err().to_string();
    let expected = "expected a window of at most 134217728 bytes, found 8589934592";
    assert!(error.contains(expected), "{error}");
}
