//! Reads rings in dumps of a target's memory. The tests build the rings from the tables in
//! `docs/target.md`.

#[path = "support/target.rs"]
mod packets;
mod support;

use packets::packet;
use support::{EventLog, in_pieces};
use tracewell::format::{Confidence, Settings, recognise, recognise_with};
use tracewell::model::{LossCause, Trace};
use tracewell_wire::target::packet::MAX_PACKET;
use tracewell_wire::target::ring::CONTROL;
use tracewell_wire::target::{Control, Header, ids};

const SLOT: usize = 64;

/// Offset of the ring in each dump.
const START: usize = 100;

/// Returns a dump with a ring of two cores that have the same number of slots.
fn dump(slots: &[Vec<u8>]) -> Vec<u8> {
    let control = Control {
        cores: 2,
        slot: SLOT as u16,
        slots: slots.len() as u16 / 2,
        entries: 1,
        session: 1,
        dropped: 0,
    };
    let mut bytes = vec![0x55; START];
    bytes.extend(control.to_bytes());
    bytes.resize(START + control.slots_at(0), 0);
    for slot in slots {
        let mut slot = slot.clone();
        slot.resize(SLOT, 0);
        bytes.extend(slot);
    }
    bytes
}

fn read(slots: &[Vec<u8>]) -> (Trace, EventLog) {
    let bytes = dump(slots);
    in_pieces("target", &Settings::default(), &bytes, bytes.len()).unwrap()
}

/// Returns a packet with a mark, whose argument is the number of the packet's first event.
fn of(core: u8, number: u32, first: u8, time: u64) -> Vec<u8> {
    let first_event = first.into();
    let header =
        Header { core, number, first: first_event, time, session: 1, cores: 2, refused: 0 };
    packet(header, &[ids::MARK, 0, first])
}

#[test]
fn losses_are_at_the_packets_that_show_them() {
    // The second core has overwritten its first packet with its third one.
    let slots = [of(0, 0, 2, 10), of(0, 1, 5, 30), of(1, 2, 4, 40), of(1, 1, 1, 20)];
    let (trace, log) = read(&slots);
    let place = |slot: usize| (START + 64 + slot * SLOT) as u64;
    let losses: Vec<_> =
        log.losses.iter().map(|loss| (loss.before, loss.offset, loss.events, loss.cause)).collect();
    let expected = [
        (0, place(0), Some(2), LossCause::Overwritten),
        (1, place(3), Some(1), LossCause::Overwritten),
        (2, place(1), Some(2), LossCause::Missing),
        (3, place(2), Some(2), LossCause::Missing),
    ];
    assert_eq!(losses, expected);
    let rows: Vec<_> = log.rows.iter().map(|row| (row.cpu, row.ticks)).collect();
    assert_eq!(rows, [(0, 0), (1, 10), (0, 20), (1, 30)]);
    assert_eq!((trace.fact("packets"), trace.diagnostics.iter().len()), (Some(4), 0));
}

#[test]
fn numbers_of_packets_wrap() {
    let number = |packet: u8| (u32::MAX - 1).wrapping_add(packet.into());
    let of_packet = |packet: u8| of(0, number(packet), packet, 10 * u64::from(packet));
    let packets = [2, 3, 0, 1].map(of_packet);
    let unused = vec![Vec::new(); 4];
    let (trace, log) = read(&[&packets[..], &unused].concat());
    let marks: Vec<_> =
        log.rows.iter().map(|row| trace.payload.argument(&row.payload, 0)).collect();
    assert_eq!(marks, [0, 1, 2, 3].map(Some));
    assert!(log.losses.is_empty() && trace.diagnostics.iter().len() == 0);
}

#[test]
fn a_slot_without_a_packet_of_its_core_is_damaged_unless_it_contains_only_zeros() {
    let mut last_byte = vec![0; SLOT];
    last_byte[SLOT - 1] = 1;
    for (slot, damaged) in [(vec![], 0), (of(1, 1, 1, 20), 0), (of(0, 1, 1, 20), 1), (last_byte, 1)]
    {
        let (trace, log) = read(&[of(0, 0, 0, 10), vec![], of(1, 0, 0, 10), slot]);
        let found: Vec<_> = trace.diagnostics.iter().map(ToString::to_string).collect();
        let message = "damaged: at byte 100: 1 slots contain no packet with a valid checksum";
        assert_eq!(found, vec![message; damaged]);
        let losses: Vec<_> = log.losses.iter().map(|l| (l.events, l.cause, l.offset)).collect();
        assert_eq!(losses, vec![(None, LossCause::Damaged, START as u64); damaged]);
    }
}

#[test]
fn a_dump_is_recognised_by_its_ring_wherever_the_ring_is() {
    let ring = &dump(&[of(0, 0, 0, 10), vec![], vec![], vec![]])[START..];
    for before in [0, 1, 2 * MAX_PACKET, 20_000] {
        let dump = [&vec![0x55; before], ring].concat();
        let found = recognise_with(&dump, Confidence::Certain).map(|format| format.name);
        assert_eq!(found, Some("target"), "{before}");
        assert!(recognise(&dump[..before + CONTROL - 15]).is_none(), "{before}");
    }
}
