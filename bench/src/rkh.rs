//! Streams of RKH's trace facility of any size, and the plain way to read and write them.
//!
//! The stream is what a target records that posts one event after the other to its active objects:
//! clusters of seventeen records from the pool's block taken to the block given back, with
//! increasing stamps and as many escapes as those bring along.

use std::collections::HashMap;

use tracewell_wire::rkh::{Configuration, Form, Settings, encode, ids, switches};

/// The settings of the stream: those of RKH's demos.
pub const SETTINGS: Settings = Settings {
    id: 1,
    sequence: true,
    stamp: 4,
    checksum: true,
    pointer: 4,
    function: 4,
    signal: 1,
    event_size: 2,
    block_count: 1,
    block_size: 1,
    queue_count: 1,
    timer_ticks: 2,
    sender: false,
    queue_low_water: true,
    pool_low_water: true,
};

/// Ids of a cluster with the sizes of their arguments; addresses come first where there are any.
const CLUSTER: [(u8, &[u8]); 17] = [
    (0x01, &[4, 1, 1]),
    (0xA3, &[2, 1, 1, 1, 1, 1, 4]),
    (0x22, &[4, 1, 1]),
    (0x43, &[4, 1, 1, 1, 1, 1]),
    (0x26, &[4]),
    (0x42, &[4, 1, 1, 1, 1, 1]),
    (0x71, &[4, 1, 4]),
    (0x62, &[4, 4, 4]),
    (0x68, &[4, 4]),
    (0x65, &[4, 4]),
    (0x70, &[1, 4, 4, 4]),
    (0x64, &[4, 4]),
    (0x66, &[4, 1, 1]),
    (0x63, &[4, 4]),
    (0x69, &[4]),
    (0xA5, &[1, 1, 1, 1, 1, 4]),
    (0x02, &[4, 1]),
];

/// A stream of about so many bytes, and the number of its frames.
pub fn stream(bytes: usize) -> (Vec<u8>, u64) {
    let mut out = vec![0x7E];
    let mut frames = 1;
    add(&mut out, &configuration());
    let (mut number, mut stamp) = (0_u8, 1_000_000_u32);
    let mut seed = 1_u32;
    'clusters: loop {
        let object = 0x2000_1000 + (seed >> 29) * 0x40;
        for (id, sizes) in CLUSTER {
            if out.len() >= bytes {
                break 'clusters;
            }
            let mut frame = vec![id, number];
            number = number.wrapping_add(1);
            stamp = stamp.wrapping_add(3 + (seed >> 28));
            frame.extend(stamp.to_le_bytes());
            for (index, size) in sizes.iter().enumerate() {
                seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                let value = match size {
                    // A cluster is about one active object; a behaviour's type comes before it.
                    4 if index == usize::from(id == 0x70) => object,
                    4 => 0x0800_1000 + ((seed >> 24) & 0x1F) * 0x40,
                    _ => seed >> 29,
                };
                frame.extend(&value.to_le_bytes()[..usize::from(*size)]);
            }
            add(&mut out, &frame);
            frames += 1;
        }
    }
    (out, frames)
}

fn configuration() -> Vec<u8> {
    let flags = switches::QUEUE_LOW_WATER
        | switches::POOL_LOW_WATER
        | switches::SEQUENCE
        | switches::STAMP
        | switches::CHECKSUM;
    let record = Configuration {
        form: Form::Thirteen,
        version: 0x3400,
        flags,
        settings: SETTINGS,
        stamp_size: 4,
        most_pools: 4,
        stamps_per_second: 1000,
    };
    let mut frame = vec![ids::TCFG; 14];
    let written = record.write_payload(&mut frame[1..]);
    assert_eq!(written, Some(13));
    frame
}

fn add(out: &mut Vec<u8>, frame: &[u8]) {
    let mut room = [0; 128];
    let length = encode(frame, true, &mut room).expect("a frame has fewer than 60 bytes");
    out.extend(&room[..length]);
}

/// What a reader got out of a stream, to see that both got the same.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Tally {
    /// Frames with good checksums.
    pub frames: u64,
    /// Sum of all arguments but the configuration record's.
    pub arguments: u64,
    /// Frames missing by their numbers.
    pub lost: u64,
}

/// Reads a stream a byte at a time: every byte goes through a state machine into a frame; at its
/// flag the frame is summed up, its event looked up, and its arguments read one by one into a list.
pub fn read_byte_by_byte(stream: &[u8]) -> Tally {
    let table: HashMap<u8, &[u8]> = CLUSTER.into_iter().collect();
    let (mut tally, mut frame, mut arguments) = (Tally::default(), Vec::new(), Vec::new());
    let (mut collecting, mut escaped, mut last) = (false, false, None::<u8>);
    for &byte in stream {
        match byte {
            0x7E if escaped => {
                frame.clear();
                escaped = false;
            }
            0x7E => {
                if collecting && !frame.is_empty() {
                    read_frame(&frame, &table, &mut arguments, &mut last, &mut tally);
                }
                collecting = true;
                frame.clear();
            }
            _ if !collecting => {}
            _ if escaped => {
                frame.push(byte ^ 0x20);
                escaped = false;
            }
            0x7D => escaped = true,
            _ => frame.push(byte),
        }
    }
    tally
}

fn read_frame(
    frame: &[u8],
    table: &HashMap<u8, &[u8]>,
    arguments: &mut Vec<u64>,
    last: &mut Option<u8>,
    tally: &mut Tally,
) {
    let mut sum = 0_u8;
    for byte in frame {
        sum = sum.wrapping_add(*byte);
    }
    if sum != 0 {
        return;
    }
    tally.frames += 1;
    let Some(sizes) = table.get(&frame[0]) else { return };
    if let Some(last) = *last {
        tally.lost += u64::from(frame[1].wrapping_sub(last).wrapping_sub(1));
    }
    *last = Some(frame[1]);
    arguments.clear();
    let mut at = 6;
    for size in *sizes {
        let mut value = 0;
        for index in (0..usize::from(*size)).rev() {
            value = value << 8 | u64::from(frame[at + index]);
        }
        at += usize::from(*size);
        arguments.push(value);
    }
    tally.arguments = tally.arguments.wrapping_add(arguments.iter().sum());
}
