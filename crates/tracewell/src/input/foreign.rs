//! Recognises files of other programs by their first bytes. If no format recognises an input, the
//! error names the kind of file. The module `compressed` recognises compressed files.

use std::path::Path;

use tracewell_wire::number;

use crate::format::aix;
use crate::source::check_text;

/// The first bytes of traces in formats that Tracewell does not read, with the names of these
/// formats.
const TRACES: [(&[u8], &str); 8] = [
    (b"\x17\x08\x44tracing", "a trace-cmd file"),
    (b"PERFILE2", "a perf.data file"),
    (b"2ELIFREP", "a perf.data file"),
    (b"\xD4\xC3\xB2\xA1", "a pcap file"),
    (b"\xA1\xB2\xC3\xD4", "a pcap file"),
    (b"\x0A\x0D\x0D\x0A", "a pcapng file"),
    (b"{\"traceEvents\"", "a Chrome JSON trace"),
    (b"{\"displayTimeUnit\"", "a Chrome JSON trace"),
];

/// First bytes of known files that are not traces, with the names of their formats.
const OTHERS: [(&[u8], &str); 10] = [
    (b"\x7FELF", "an ELF file"),
    (b"MZ", "a Windows program"),
    (b"\x89PNG\r\n\x1A\n", "a PNG image"),
    (b"\xFF\xD8\xFF", "a JPEG image"),
    (b"GIF8", "a GIF image"),
    (b"%PDF-", "a PDF file"),
    (b"<!doctype html", "an HTML page"),
    (b"<!DOCTYPE html", "an HTML page"),
    (b"<?xml", "an XML file"),
    (b"<svg", "an SVG image"),
];

/// Returns the kind of a file that is not a trace of a known format, such as `an ELF file, which is
/// not a trace`. Returns `None` if its first bytes do not show the kind.
pub(super) fn kind(start: &[u8]) -> Option<String> {
    match trace(start) {
        Some(name) => Some(format!("{name}, which Tracewell does not read")),
        None => Some(format!("{}, which is not a trace", other(start)?)),
    }
}

/// Returns the kind of a file that another program wrote, or of a text file.
#[cfg(feature = "elf")]
pub(super) fn name(start: &[u8]) -> Option<&'static str> {
    trace(start).or_else(|| other(start))
}

fn trace(start: &[u8]) -> Option<&'static str> {
    named(&TRACES, start).or_else(|| is_perfetto(start).then_some("a Perfetto trace"))
}

fn other(start: &[u8]) -> Option<&'static str> {
    named(&OTHERS, start).or_else(|| text(start))
}

fn named(files: &[(&[u8], &'static str)], start: &[u8]) -> Option<&'static str> {
    files.iter().find(|(magic, _)| start.starts_with(magic)).map(|(_, name)| *name)
}

/// Returns the hint that an input's file name suggests.
pub(super) fn hint(path: &Path) -> Option<&'static str> {
    let name = path.file_name()?.to_str()?;
    // The names that AIX's `trace` gives to its logs: `trcfile`, and `trcfile-0` for each
    // processor.
    let is_log = name.starts_with("trcfile") || path.extension().is_some_and(|e| e == "trc");
    is_log.then_some(aix::NOT_PUBLIC)
}

/// Maximum number of packets that are examined to recognise a Perfetto trace.
const PACKETS: usize = 4;

/// Returns true if the bytes begin with packets of a Perfetto trace: fields of a protobuf message,
/// each with the tag 0A and a length.
fn is_perfetto(start: &[u8]) -> bool {
    let mut rest = start;
    for number in 0..PACKETS {
        let [0x0A, after @ ..] = rest else { return number > 0 && rest.is_empty() };
        let Some((length, digits)) = varint(after) else { return false };
        match after.get(digits + length..) {
            Some(next) if length > 0 => rest = next,
            // The first 64 KiB may end within a packet.
            _ => return number > 1,
        }
    }
    // A text can begin with four line ends.
    check_text(start).is_err()
}

/// Decodes a length at the start of protobuf data. Returns the length, and the number of bytes that
/// encode it.
fn varint(bytes: &[u8]) -> Option<(usize, usize)> {
    let (head, _) = bytes.split_at_checked(4).unwrap_or((bytes, &[]));
    let (length, rest) = number::read(head)?;
    Some((usize::try_from(length).ok()?, head.len() - rest.len()))
}

/// Returns the kind of a text.
fn text(start: &[u8]) -> Option<&'static str> {
    let first = start.trim_ascii_start().first()?;
    check_text(start).ok()?;
    match first {
        b'{' | b'[' => Some("JSON text"),
        _ => std::str::from_utf8(start).is_ok().then_some("text"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_other_programs_are_named_by_their_first_bytes() {
        let unread = |name: &str| Some(format!("{name}, which Tracewell does not read"));
        let other = |name: &str| Some(format!("{name}, which is not a trace"));
        for (magic, name) in TRACES {
            assert_eq!(kind(&[magic, b"\0rest"].concat()), unread(name));
        }
        for (magic, name) in OTHERS {
            assert_eq!(kind(&[magic, b"\0rest"].concat()), other(name));
        }
        assert_eq!(kind(b" {\"seq\":1}\n"), other("JSON text"));
        assert_eq!(kind(b"Name:\tcat\n"), other("text"));
        assert_eq!(kind(&[1, 2, 3, 0]), None);
        assert_eq!(kind(b""), None);
    }

    #[test]
    fn a_perfetto_trace_is_named_by_its_packets() {
        let packet = |length: u8| [&[0x0A, length][..], &vec![0x18; usize::from(length)]].concat();
        let unread = Some("a Perfetto trace, which Tracewell does not read".to_owned());
        assert_eq!(kind(&[packet(3), packet(100)].concat()), unread);
        assert_eq!(kind(&[packet(3), packet(9), packet(1), packet(2), vec![0]].concat()), unread);
        // The length of the second packet has two bytes.
        let long = [&[0x0A, 0x80, 1][..], &[0; 128]].concat();
        assert_eq!(kind(&[packet(3), long].concat()), unread);
        assert_eq!(kind(&[packet(3), vec![0x12, 0]].concat()), None);
        assert_eq!(kind(&[b"\n".repeat(100), b"text\n".to_vec()].concat()).unwrap()[..4], *"text");
    }

    #[test]
    fn the_hint_about_logs_of_aix_follows_from_the_name() {
        for (name, is_log) in [
            ("/var/adm/ras/trcfile", true),
            ("trcfile-12", true),
            ("run.trc", true),
            ("run.trx", false),
            ("mytrcfile", false),
        ] {
            assert_eq!(hint(Path::new(name)).is_some(), is_log, "{name}");
        }
    }
}
