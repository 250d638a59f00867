//! Generates SystemView streams, and reads their packets with a plain loop.

use tracewell_wire::systemview::{Form, Packet, SYNC, TextOrder, ids, number, text};

/// Sums over the packets of a stream.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Tally {
    /// Number of packets.
    pub packets: u64,
    /// Ticks from the first packet to the last.
    pub ticks: u64,
}

/// Returns a stream of about `size` bytes, and its sums. In the stream, interrupts make a task
/// ready, and the task runs and waits.
pub fn stream(size: usize) -> (Vec<u8>, Tally) {
    let mut out = vec![0; SYNC];
    let mut tally = Tally::default();
    let mut add = |out: &mut Vec<u8>, id: u32, numbers: &[u32], name: &str, delta: u32| {
        let mut payload = [0; 64];
        let mut length = 0;
        for value in numbers {
            length += number::write(*value, &mut payload[length..]).expect("it has 64 bytes");
        }
        if !name.is_empty() {
            let text = text::write(name.as_bytes(), TextOrder::HighFirst, &mut payload[length..]);
            length += text.expect("it has 64 bytes");
        }
        let packet = Packet { core: 0, id, payload: &payload[..length], delta, length: 0 };
        let mut bytes = [0; 80];
        let length = packet.write(Form::default(), &mut bytes).expect("it has 80 bytes");
        out.extend_from_slice(&bytes[..length]);
        tally.ticks += if tally.packets > 0 { u64::from(delta) } else { 0 };
        tally.packets += 1;
    };
    add(&mut out, ids::TRACE_START, &[], "", 0);
    add(&mut out, ids::INIT, &[168_000_000, 168_000_000, 0x2000_0000, 0], "", 50);
    let tasks = [0x1060_u32, 0x1718, 0x1DD0, 0x2378];
    for (task, name) in tasks.into_iter().zip(["control", "sensor", "logger", "net"]) {
        add(&mut out, ids::TASK_INFO, &[task, 5], name, 90);
    }
    let mut turn = 0_usize;
    while out.len() < size {
        let task = tasks[turn % tasks.len()];
        let varied = (turn as u32).wrapping_mul(0x9E37_79B9) >> 20;
        add(&mut out, ids::ISR_ENTER, &[15 + (turn as u32 & 3)], "", 9000 + varied);
        add(&mut out, ids::TASK_START_READY, &[task], "", 120);
        add(&mut out, ids::ISR_TO_SCHEDULER, &[], "", 80);
        add(&mut out, ids::TASK_START_EXEC, &[task], "", 110);
        add(&mut out, ids::TASK_STOP_READY, &[task, 4], "", 2000 + varied);
        add(&mut out, ids::IDLE, &[], "", 60);
        turn += 1;
    }
    (out, tally)
}

/// Reads all packets, and adds up their times.
pub fn read_packets(stream: &[u8]) -> Tally {
    let mut tally = Tally::default();
    let mut rest = &stream[SYNC..];
    while let Ok(packet) = Packet::read(rest, Form::default()) {
        tally.ticks += if tally.packets > 0 { u64::from(packet.delta) } else { 0 };
        tally.packets += 1;
        rest = &rest[packet.length..];
    }
    tally
}
