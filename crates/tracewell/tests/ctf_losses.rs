//! Tests how a CTF stream shows losses: by the sequence numbers of its packets, and by the packets'
//! counts of discarded events.

mod support;

use std::fs;

use serde_json::{Value, json};
use support::ctf::{structure, text};
use support::{EventLog, settings};
use tracewell::input::Input;
use tracewell::model::{LossCause, Severity, Trace};

/// A packet with a header of four bytes: the size of the packet in bits, the size of its content,
/// its sequence number, and the count of discarded events. Each event is a byte.
struct Packet<'a> {
    number: u8,
    discarded: u8,
    events: &'a [u8],
}

fn byte(role: &str) -> Value {
    json!({
        "type": "fixed-length-unsigned-integer", "length": 8, "byte-order": "little-endian",
        "roles": if role.is_empty() { json!([]) } else { json!([role]) },
    })
}

impl Packet<'_> {
    fn bytes(&self) -> Vec<u8> {
        let bits = 8 * (4 + self.events.len()) as u8;
        [&[bits, bits, self.number, self.discarded], self.events].concat()
    }
}

fn read(packets: &[Packet<'_>]) -> (Trace, EventLog) {
    let packets: Vec<_> = packets.iter().map(Packet::bytes).collect();
    read_files(&packets.concat(), None)
}

/// Reads a stream file and, if there is one, its index.
fn read_files(stream: &[u8], index: Option<&[u8]>) -> (Trace, EventLog) {
    let context = structure(&[
        ("total", byte("packet-total-length")),
        ("content", byte("packet-content-length")),
        ("number", byte("packet-sequence-number")),
        ("discarded", byte("discarded-event-record-counter-snapshot")),
    ]);
    let payload = structure(&[("f", byte(""))]);
    let fragments = [
        json!({ "type": "data-stream-class", "packet-context-field-class": context }),
        json!({ "type": "event-record-class", "payload-field-class": payload }),
    ];
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("metadata"), text(&fragments)).unwrap();
    fs::write(folder.path().join("stream"), stream).unwrap();
    if let Some(index) = index {
        fs::create_dir(folder.path().join("index")).unwrap();
        fs::write(folder.path().join("index/stream.idx"), index).unwrap();
    }
    let mut log = EventLog::default();
    let trace = Input::open(folder.path(), settings(&[])).unwrap().read(&mut log).unwrap();
    (trace, log)
}

/// Returns the cause, the number of events and the position of each loss.
fn losses(packets: &[(u8, u8)]) -> Vec<(LossCause, Option<u64>, u64)> {
    let packets: Vec<_> = packets
        .iter()
        .map(|&(number, discarded)| Packet { number, discarded, events: &[1, 2] })
        .collect();
    let (trace, log) = read(&packets);
    assert_eq!(trace.events, 2 * packets.len() as u64);
    log.losses.iter().map(|loss| (loss.cause, loss.events, loss.before)).collect()
}

/// Packet numbers have 8 bits here. An increase of 128 or more counts as a step back.
#[test]
fn numbers_of_packets_show_missing_packets() {
    let missing = |before| (LossCause::Missing, None, before);
    assert_eq!(losses(&[(0, 0), (1, 0), (2, 0)]), []);
    assert_eq!(losses(&[(0, 0), (1, 0), (4, 0)]), [missing(4)]);
    assert_eq!(losses(&[(0, 0), (127, 0)]), [missing(2)]);
    assert_eq!(losses(&[(0, 0), (128, 0)]), []);
    assert_eq!(losses(&[(3, 0), (2, 0)]), []);
    assert_eq!(losses(&[(254, 0), (255, 0), (0, 0), (2, 0)]), [missing(6)]);
}

#[test]
fn counts_of_discarded_events_show_full_buffers() {
    let full = |events, before| (LossCause::BufferFull, events, before);
    assert_eq!(losses(&[(0, 0), (1, 0)]), []);
    assert_eq!(losses(&[(0, 5)]), [full(Some(5), 0)]);
    // Packet 0 is not in the stream, and it may have counted some of these five events.
    assert_eq!(losses(&[(1, 5)]), [full(None, 0)]);
    assert_eq!(losses(&[(1, 5), (2, 5), (3, 6)]), [full(None, 0), full(Some(1), 4)]);
    assert_eq!(losses(&[(0, 250), (1, 2)]), [full(Some(250), 0), full(Some(8), 2)]);
    // An increase of 128 or more counts as a step back.
    assert_eq!(losses(&[(0, 0), (1, 127)]), [full(Some(127), 2)]);
    assert_eq!(losses(&[(0, 0), (1, 128)]), [full(None, 2)]);
    assert_eq!(losses(&[(0, 2), (1, 1)]), [full(Some(2), 0), full(None, 2)]);
    let both = [full(Some(9), 2), full(Some(1), 6), (LossCause::Missing, None, 6)];
    assert_eq!(losses(&[(0, 0), (1, 9), (2, 9), (4, 10)]), both);
}

/// Returns the damage that is reported in a stream of packets with an index.
fn damage(packets: &[Vec<u8>], entries: u64) -> Vec<String> {
    let mut index = [0xC1F1_DCC1_u32, 1, 1, 48].map(u32::to_be_bytes).concat();
    for number in 0..entries {
        index.extend([6 * number, 48, 48, 0, 0, 0].map(u64::to_be_bytes).concat());
    }
    let (trace, log) = read_files(&packets.concat(), Some(&index));
    let severe = trace.diagnostics.iter().filter(|found| found.severity == Severity::Damage);
    let messages: Vec<_> =
        severe.map(|found| found.message.split_once(": at byte ").unwrap().1.to_owned()).collect();
    let causes = [LossCause::Damaged, LossCause::Truncated];
    let losses = log.losses.iter().filter(|loss| causes.contains(&loss.cause));
    assert_eq!(losses.count(), messages.len());
    messages
}

#[test]
fn the_index_does_not_report_a_damaged_packet_again() {
    let packet = |number| Packet { number, discarded: 0, events: &[1, 2] }.bytes();
    let whole = [0, 1, 2].map(packet);
    let listed = |at: u64, packets: &str| {
        format!("{at}: the index lists {packets} after the end of the file")
    };
    assert_eq!(damage(&whole, 3), [] as [String; 0]);
    assert_eq!(damage(&whole, 5), [listed(18, "2 packets")]);
    for place in 0..3 {
        // The content is longer than the packet.
        let mut packets = whole.clone();
        packets[place][1] = 255;
        let message =
            format!("{}: expected a packet with 32 to 48 bits of content, found 255", 6 * place);
        assert_eq!(damage(&packets, 3).concat(), message);
        assert_eq!(damage(&packets, 4), [message, listed(18, "1 packet")]);
    }
    // The end of the last packet is missing.
    let mut packets = whole.clone();
    packets[2].pop();
    let message = "12: expected a packet of 6 bytes, found the end of the file after 5".to_owned();
    assert_eq!(damage(&packets, 3).concat(), message);
    assert_eq!(damage(&packets, 4), [message, listed(17, "1 packet")]);
    // There are zeros instead of the last packet, and the packet before it is whole or damaged.
    let mut packets = whole;
    packets[2].fill(0);
    assert_eq!(damage(&packets, 3), [listed(18, "1 packet")]);
    packets[1][1] = 255;
    let message = "6: expected a packet with 32 to 48 bits of content, found 255".to_owned();
    assert_eq!(damage(&packets, 3), [message, listed(18, "1 packet")]);
}
