//! Fuzz targets for two parts of the collector: the code that counts datagrams, and the code that
//! writes the lines of several sources. `fuzz_targets` and `crates/collect/tests/corpus.rs` include
//! this file and `packets`.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::net::SocketAddr;

use tracewell_collect::{Account, SharedOutput, Tag};
use tracewell_wire::shark::DatagramHeader;

/// Passes datagrams of two senders to the collector's counter, and compares the counter's report
/// with counts computed from all packets. Four bytes define a datagram: its sender and kind, its
/// packet number, its number of records, and the content of the records.
pub(crate) fn datagrams(data: &[u8]) {
    let (mut account, mut counts) = (Account::default(), Counts::default());
    for &[kind, number, records, content] in data.as_chunks::<4>().0 {
        let from = SocketAddr::from(([10, 0, 0, 1], 20_000 + u16::from(kind % 2)));
        let datagram = datagram(kind / 2 % 8, number, records % 61, content);
        assert_eq!(account.is_foreign(from, &datagram), counts.is_foreign(from, &datagram));
        if counts.is_foreign(from, &datagram) {
            account.leave_out();
            counts.foreign += 1;
        } else {
            assert_eq!(account.take(from, &datagram), counts.take(from, &datagram));
        }
    }
    let report = account.report();
    let (sender, foreign, empty) = (counts.sender, counts.foreign, counts.empty);
    assert_eq!((report.sender, report.foreign, report.empty), (sender, foreign, empty));
    assert_eq!((report.packets, report.records), (counts.packets, counts.records));
    assert_eq!((report.damaged, report.restarts), (counts.damaged, counts.restarts));
    assert_eq!(report.duplicates.count, counts.again);
    assert_eq!(report.reordered.count, counts.late);
    let came = &counts.came;
    assert_eq!(report.numbers, came.first().copied().zip(came.last().copied()));
    assert_eq!(report.missing_packets, counts.missing_before + counts.missing());
    assert_eq!(report.is_lossy(), report.missing_packets > 0 || counts.damaged > 0);
    assert!(report.to_string().lines().count() <= 8);
}

/// Creates a datagram: in most cases a valid packet, otherwise an empty datagram, a truncated
/// packet, or a datagram of another protocol.
fn datagram(kind: u8, number: u8, records: u8, content: u8) -> Vec<u8> {
    let header = DatagramHeader::new(number.into(), records.into());
    let mut datagram = vec![content; header.size as usize];
    header.write(&mut datagram).expect("there is room for a header");
    match kind {
        0 => datagram.clear(),
        1 => datagram.truncate(usize::from(content)),
        2 => datagram.fill(content),
        _ => {}
    }
    datagram
}

/// The expected counts of datagrams, computed from all packets.
#[derive(Default)]
struct Counts {
    sender: Option<SocketAddr>,
    packets: u64,
    records: u64,
    empty: u64,
    damaged: u64,
    foreign: u64,
    again: u64,
    late: u64,
    restarts: u64,
    /// The numbers of the packets since the last restart.
    came: BTreeSet<u32>,
    /// Number of packets that were missing before the last restart.
    missing_before: u64,
    /// For each of the first 64 numbers: the last packet with this number since the last restart.
    first: BTreeMap<u32, Vec<u8>>,
}

impl Counts {
    fn is_foreign(&self, from: SocketAddr, datagram: &[u8]) -> bool {
        self.sender.is_some_and(|sender| sender != from)
            || !datagram.is_empty() && !datagram.starts_with(b"TRACER-V1.0\0")
    }

    /// Returns true if the datagram is a packet with a new number.
    fn take(&mut self, from: SocketAddr, datagram: &[u8]) -> bool {
        if datagram.is_empty() {
            self.empty += 1;
            return false;
        }
        let Some(words) = datagram.get(12..24) else {
            self.damaged += 1;
            return false;
        };
        let word = |at: usize| {
            u32::from_le_bytes([words[at], words[at + 1], words[at + 2], words[at + 3]])
        };
        let (number, records) = (word(0), word(4));
        if datagram.len() != 24 + 16 * records as usize {
            self.damaged += 1;
            return false;
        }
        self.sender = Some(from);
        if self.first.get(&number).is_some_and(|packet| packet != datagram) {
            self.missing_before += self.missing();
            self.restarts += 1;
            self.came.clear();
            self.first.clear();
        }
        if (1..=64).contains(&number) {
            self.first.insert(number, datagram.to_vec());
        }
        self.late += u64::from(
            self.came.last().is_some_and(|last| number < *last) && !self.came.contains(&number),
        );
        let is_new = self.came.insert(number);
        self.again += u64::from(!is_new);
        self.packets += u64::from(is_new);
        self.records += if is_new { u64::from(records) } else { 0 };
        is_new
    }

    /// Returns the number of packets that are missing since the last restart.
    fn missing(&self) -> u64 {
        let bounds = self.came.first().zip(self.came.last());
        bounds.map_or(0, |(first, last)| u64::from(last - first) + 1 - self.came.len() as u64)
    }
}

/// Writes the lines of four sources to one output: the first source has no tag, the tag of the
/// second source replaces the start of each line, and two sources have a heading. The first byte of
/// each write selects its source. The first line of a source with a heading contains column names.
/// Checks each line of the output.
pub(crate) fn tagged_lines(data: &[u8]) {
    let tag = |before: &str, instead_of, heading: Option<&str>| Tag {
        before: before.to_owned(),
        instead_of,
        heading: heading.map(str::to_owned),
    };
    let tags = [
        None,
        Some(tag("{\"source\":1,", 1, None)),
        Some(tag("two\t", 0, Some("source\t"))),
        Some(tag("three\t", 0, Some("source\t"))),
    ];
    let shared = SharedOutput::new(Vec::new());
    let mut writers = tags.clone().map(|tag| shared.writer(tag));
    let (mut expected, mut begun, mut headed) = (Vec::new(), [false; 4], false);
    // In the data, an empty line ends a write. A write can have several lines, all from one source.
    for part in data.split(|byte| *byte == b'\n').collect::<Vec<_>>().split(|line| line.is_empty())
    {
        let Some(source) = part.first().map(|line| usize::from(line[0] % 4)) else { continue };
        let mut lines = Vec::new();
        for line in part {
            lines.extend_from_slice(line);
            lines.push(b'\n');
            let is_heading = !std::mem::replace(&mut begun[source], true);
            let tag = tags[source].as_ref();
            match tag.and_then(|tag| tag.heading.as_ref()).filter(|_| is_heading) {
                Some(_) if headed => continue,
                Some(heading) => {
                    headed = true;
                    expected.extend_from_slice(heading.as_bytes());
                    expected.extend_from_slice(line);
                }
                None => {
                    expected.extend_from_slice(tag.map_or(b"", |tag| tag.before.as_bytes()));
                    expected.extend_from_slice(&line[tag.map_or(0, |tag| tag.instead_of)..]);
                }
            }
            expected.push(b'\n');
        }
        writers[source].write_all(&lines).expect("a vector takes all bytes");
    }
    drop(writers);
    assert_eq!(shared.into_inner(), expected);
}
