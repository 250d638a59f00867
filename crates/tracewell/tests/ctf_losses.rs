//! Tests how a CTF stream shows losses: by the sequence numbers of its packets, and by the packets'
//! counts of discarded events.

mod support;

use std::fs;

use serde_json::{Value, json};
use support::ctf::{structure, text};
use support::{EventLog, settings};
use tracewell::input::Input;
use tracewell::model::{LossCause, Trace};

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

fn read(packets: &[Packet<'_>]) -> (Trace, EventLog) {
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
    let mut bytes = Vec::new();
    for Packet { number, discarded, events } in packets {
        let bits = 8 * (4 + events.len()) as u8;
        bytes.extend([bits, bits, *number, *discarded]);
        bytes.extend(*events);
    }
    fs::write(folder.path().join("stream"), bytes).unwrap();
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
