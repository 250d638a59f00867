//! Reads the bytes before the first packet: the lines that host programs write before a stream, and
//! the greeting of a target.
//!
//! Head lines begin with `;`. The head ends at the first line that does not begin with `;`. Only
//! `ESP_Extension` and `Offset CoreN BYTES` change how the decoder reads the stream. All other
//! lines are texts.

use tracewell_wire::systemview::{SERIAL_GREETING, TCP_GREETING};

use crate::text::shown;

/// Maximum length of the head in bytes.
const MAX_HEAD: usize = 1 << 16;

/// Maximum number of streams in a file.
const MAX_STREAMS: usize = 256;

/// First bytes of a greeting over TCP.
const TCP_START: &[u8] = b"SEGGER SystemView V";

/// First bytes of a greeting over a serial line.
const SERIAL_START: &[u8] = b"SV";

/// Each pair consists of the key of a head line and the name that the trace gives to the text of
/// this line.
const TEXTS: [(&str, &str); 6] = [
    ("Version", "version"),
    ("RecordTime", "record_time"),
    ("Author", "author"),
    ("Title", "title"),
    ("Description", "description"),
    ("TargetName", "target"),
];

/// The content of a head.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Head {
    /// Length in bytes.
    pub(super) length: usize,
    /// Texts with their names.
    pub(super) texts: Vec<(&'static str, String)>,
    /// True if the ids of the stream contain the number of the core.
    pub(super) core_in_id: bool,
    /// Core number and beginning of each stream. Beginnings are offsets in bytes from the end of
    /// the head, in ascending order.
    pub(super) streams: Vec<(u16, u64)>,
    /// Offsets, in bytes, of the `Offset` lines that were ignored.
    pub(super) ignored: Vec<u64>,
}

/// Reads the head at the start of `bytes`. Returns `None` if the head may continue after these
/// bytes; `last` is true if nothing follows them.
pub(super) fn read(bytes: &[u8], last: bool) -> Option<Head> {
    let mut head = Head::default();
    for (start, length) in [(TCP_START, TCP_GREETING), (SERIAL_START, SERIAL_GREETING)] {
        let is_part = !bytes.is_empty() && start.starts_with(bytes) && !last;
        if is_part || (bytes.starts_with(start) && bytes.len() < length && !last) {
            return None;
        }
        if bytes.starts_with(start) && bytes.len() >= length {
            head.length = length;
            let text = bytes.get(..length).filter(|_| length == TCP_GREETING).unwrap_or_default();
            let text = text.split(|byte| *byte == 0).next().unwrap_or_default();
            if !text.is_empty() {
                head.texts.push(("version", shown(text).into_owned()));
            }
            return Some(head);
        }
    }
    loop {
        let rest = bytes.get(head.length..).unwrap_or_default();
        match rest.first() {
            Some(b';') if head.length < MAX_HEAD => {}
            None if !last => return None,
            _ => break,
        }
        let end = rest.iter().position(|byte| *byte == b'\n');
        let Some(end) = end.or(last.then_some(rest.len())) else {
            // An unterminated line is not part of a head.
            if rest.len() < MAX_HEAD {
                return None;
            }
            break;
        };
        head.line(rest.get(1..end).unwrap_or_default());
        head.length += (end + 1).min(rest.len());
    }
    head.streams.sort_by_key(|(_, begin)| *begin);
    Some(head)
}

/// Returns true if these lines are from a program that records SystemView streams.
pub(super) fn is_head(bytes: &[u8]) -> bool {
    let lines = bytes.split(|byte| *byte == b'\n').take_while(|line| line.starts_with(b";"));
    let keys = ["Version", "RecordTime", "Author", "Offset"];
    lines.take(64).any(|line| {
        let line = line.get(1..).unwrap_or_default().trim_ascii();
        keys.iter().any(|key| line.starts_with(key.as_bytes()))
    })
}

impl Head {
    fn line(&mut self, line: &[u8]) {
        let line = String::from_utf8_lossy(line.trim_ascii());
        let (key, value) = line.split_once([' ', '\t']).unwrap_or((&line, ""));
        let value = value.trim();
        if key == "ESP_Extension" {
            self.core_in_id = true;
        } else if key == "Offset" {
            let core = value.strip_prefix("Core").and_then(|rest| rest.split_once([' ', '\t']));
            let stream = core.and_then(|(core, begin)| {
                Some((u16::from(core.parse::<u8>().ok()?), begin.trim().parse().ok()?))
            });
            match stream {
                Some(stream) if self.streams.len() < MAX_STREAMS => self.streams.push(stream),
                _ => self.ignored.push(self.length as u64),
            }
        } else if let Some((_, name)) = TEXTS.iter().find(|(known, _)| *known == key) {
            self.texts.push((name, shown(value.as_bytes()).into_owned()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_of_a_recording_program_shows_a_head() {
        let heads: [&[u8]; 3] = [b";Version 3\n", b";\n; Author me\n", b"; Offset Core0 0"];
        assert!(heads.iter().all(|head| is_head(head)));
        let others: [&[u8]; 3] = [b"Version 3\n", b"; Comment\n", b"; Comment\n\n; Version 3\n"];
        assert!(!others.iter().any(|other| is_head(other)));
    }

    #[test]
    fn a_head_ends_at_the_first_line_without_a_semicolon() {
        let bytes =
            b";\r\n; Version \tSEGGER SystemView V2.52d\r\n; ESP_Extension\n; Offset Core1 90\n\
                      ; Offset Core0 0\n;\n\0\0";
        let head = read(bytes, false).unwrap();
        assert_eq!(head.length, bytes.len() - 2);
        assert_eq!(head.texts, [("version", "SEGGER SystemView V2.52d".to_owned())]);
        assert_eq!((head.core_in_id, head.streams), (true, vec![(0, 0), (1, 90)]));
        for cut in 1..bytes.len() - 2 {
            assert_eq!(read(&bytes[..cut], false), None, "{cut}");
            assert!(read(&bytes[..cut], true).unwrap().length <= cut);
        }
    }

    #[test]
    fn streams_of_too_many_or_impossible_cores_are_ignored() {
        let bytes = b";\n; Offset Core256 0\n; Offset Core255 7\n; Offset Core1 -1\n; Offset\n";
        let head = read(bytes, true).unwrap();
        assert_eq!((head.streams, head.ignored), (vec![(255, 7)], vec![2, 40, 58]));
        let head = read("; Offset Core0 0\n".repeat(258).as_bytes(), true).unwrap();
        assert_eq!((head.streams.len(), head.ignored), (256, vec![256 * 17, 257 * 17]));
    }

    #[test]
    fn greetings_are_skipped() {
        let mut tcp = [0; 40];
        tcp[..25].copy_from_slice(b"SEGGER SystemView V3.60.0");
        assert_eq!(read(&tcp, false).unwrap().length, 32);
        assert_eq!(read(&tcp[..31], false), None);
        assert_eq!(read(b"SV\x06\x07\0\0", false).unwrap().length, 4);
        assert_eq!(read(b"\0\0\0", false).unwrap().length, 0);
    }
}
