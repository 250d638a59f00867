//! Generates RKH streams of any size, and contains a plain decoder as a baseline.
//!
//! The simulated target has eight active objects with ten states each. It posts events to them,
//! each with one of eight signals. In each state, an event causes one of three transitions. Each
//! event produces a cluster of seventeen records, from the allocation of a pool block to its
//! release.

use std::collections::HashMap;

use tracewell_wire::rkh::{Configuration, Form, Settings, encode, ids, switches};

/// The settings of the stream, as in RKH's demos.
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

/// The ids of the records in a cluster, each with the sizes of its arguments in bytes.
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

/// Number of active objects, and number of states per object.
const OBJECTS: u32 = 8;
const STATES: u32 = 10;

/// Addresses of the pool, of the first active object, of the first state and of the first action.
/// The others follow at intervals of 64 bytes.
const POOL: u32 = 0x2000_0800;
const FIRST_OBJECT: u32 = 0x2000_1000;
const FIRST_STATE: u32 = 0x0800_1000;
const FIRST_ACTION: u32 = 0x0801_0000;

/// The processing of one event by an active object.
struct Step {
    object: u32,
    signal: u32,
    from: u32,
    to: u32,
    action: u32,
}

impl Step {
    /// Draws the next step. `states` contains the state of each active object.
    fn next(states: &mut [u32; OBJECTS as usize], draw: u32) -> Self {
        let (number, signal) = (draw % OBJECTS, draw / OBJECTS % 8);
        let state = &mut states[number as usize];
        let before = *state;
        *state = (before + 1 + signal % 3) % STATES;
        let address = |state| FIRST_STATE + 64 * (STATES * number + state);
        Self {
            object: FIRST_OBJECT + 64 * number,
            signal,
            from: address(before),
            to: address(*state),
            action: FIRST_ACTION + 64 * signal,
        }
    }

    /// Returns an argument of a record of this step, or `None` if the argument is a count.
    fn argument(&self, id: u8, index: usize) -> Option<u32> {
        Some(match (id, index) {
            (0x01 | 0x02, 0) => POOL,
            // Each active object contains its queue.
            (0x22 | 0x26, 0) => self.object + 32,
            (0x42 | 0x43 | 0x62..=0x69 | 0x71, 0) | (0x70, 1) | (0xA3, 6) | (0xA5, 5) => {
                self.object
            }
            (0x42 | 0x43 | 0x71 | 0xA3, 1) | (0xA5, 0) => self.signal,
            // The event is from pool 1.
            (0x42 | 0x43 | 0xA3, 2) | (0xA5, 1) => 1,
            (0x62 | 0x65, 1) | (0x71, 2) => self.from,
            (0x63 | 0x64 | 0x68, 1) | (0x62 | 0x70, 2) => self.to,
            (0x70, 3) => self.action,
            _ => return None,
        })
    }
}

/// Returns a stream of about `bytes` bytes, and the number of its frames.
pub fn stream(bytes: usize) -> (Vec<u8>, u64) {
    let mut out = vec![0x7E];
    let mut frames = 1;
    add(&mut out, &configuration());
    let (mut number, mut stamp) = (0_u8, 1_000_000_u32);
    let (mut seed, mut states) = (1_u32, [0; OBJECTS as usize]);
    'clusters: loop {
        let step = Step::next(&mut states, seed >> 20);
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
                let value = step.argument(id, index).unwrap_or(seed >> 29);
                frame.extend(&value.to_le_bytes()[..usize::from(*size)]);
            }
            add(&mut out, &frame);
            frames += 1;
        }
    }
    (out, frames)
}

/// Returns the configuration record of [`SETTINGS`], without its checksum.
pub(crate) fn configuration() -> Vec<u8> {
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
        max_pools: 4,
        stamps_per_second: 1000,
    };
    let mut frame = vec![ids::TCFG; 14];
    let written = record.write_payload(&mut frame[1..]);
    assert_eq!(written, Some(13));
    frame
}

/// Appends a frame with its checksum, its escapes and its closing flag.
pub(crate) fn add(out: &mut Vec<u8>, frame: &[u8]) {
    let mut room = [0; 128];
    let length = encode(frame, true, &mut room).expect("a frame has fewer than 60 bytes");
    out.extend(&room[..length]);
}

/// The result of a decoder, used to verify that both decoders agree.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Tally {
    /// Frames with valid checksums.
    pub frames: u64,
    /// Sum of all arguments except the arguments of the configuration record.
    pub arguments: u64,
    /// Frames missing according to the sequence numbers.
    pub lost: u64,
}

/// A decoded event, with the same content as an event of a Tracewell batch.
#[derive(Clone, Debug, Default)]
struct Event {
    ticks: u64,
    id: u32,
    context: u32,
    arguments: Vec<u64>,
}

/// The state of the plain decoder between two frames.
struct Reader {
    /// Sizes of arguments by id.
    table: [Option<&'static [u8]>; 256],
    /// The number of each active object, by its address. The objects are numbered in the order of
    /// their first records.
    objects: HashMap<u64, u32>,
    last: Option<(u8, u32)>,
    ticks: u64,
    /// The active object whose step is in progress; 0 for none.
    running: u32,
    /// The events of a batch. The first `count` of them are in use. Their argument lists are
    /// allocated once.
    events: Vec<Event>,
    count: usize,
    tally: Tally,
}

/// Number of events that are processed together, like a batch of Tracewell.
const BATCH: usize = 1024;

/// Decodes a stream in a plain but efficient way, one byte and one frame at a time:
///
/// * a state machine removes the escapes and appends each byte to a frame;
/// * at the flag, a loop sums the frame's bytes;
/// * an array finds the event by its id, sequence numbers are compared, timestamps are unwrapped to
///   64 bits, and a hash map finds the active object of a step by its address;
/// * loops assemble the arguments byte by byte, in a list that is allocated once.
///
/// Text, symbols, changes of settings and damage are not handled.
pub fn read_byte_by_byte(stream: &[u8]) -> Tally {
    let mut reader = Reader::new();
    let mut frame = Vec::new();
    let (mut collecting, mut escaped) = (false, false);
    for &byte in stream {
        match byte {
            0x7E if escaped => {
                frame.clear();
                escaped = false;
            }
            0x7E => {
                if collecting && !frame.is_empty() {
                    reader.frame(&frame);
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
    reader.use_events();
    reader.tally
}

impl Reader {
    fn new() -> Self {
        let mut table: [Option<&'static [u8]>; 256] = [None; 256];
        for (id, sizes) in CLUSTER {
            table[usize::from(id)] = Some(sizes);
        }
        Self {
            table,
            objects: HashMap::new(),
            last: None,
            ticks: 0,
            running: 0,
            events: vec![Event::default(); BATCH],
            count: 0,
            tally: Tally::default(),
        }
    }

    fn frame(&mut self, frame: &[u8]) {
        let mut sum = 0_u8;
        for byte in frame {
            sum = sum.wrapping_add(*byte);
        }
        if sum != 0 {
            return;
        }
        self.tally.frames += 1;
        let Some(sizes) = self.table[usize::from(frame[0])] else { return };
        let stamp = u32::from_le_bytes([frame[2], frame[3], frame[4], frame[5]]);
        if let Some((number, earlier)) = self.last {
            self.tally.lost += u64::from(frame[1].wrapping_sub(number).wrapping_sub(1));
            self.ticks += u64::from(stamp.wrapping_sub(earlier));
        }
        self.last = Some((frame[1], stamp));
        let event = &mut self.events[self.count];
        event.arguments.clear();
        let mut at = 6;
        for size in sizes {
            let mut value = 0;
            for index in (0..usize::from(*size)).rev() {
                value = value << 8 | u64::from(frame[at + index]);
            }
            at += usize::from(*size);
            event.arguments.push(value);
        }
        event.ticks = self.ticks;
        event.id = u32::from(frame[0]);
        event.context = self.running;
        // A step starts when an active object removes an event from its queue (0x42), and ends with
        // 0x69.
        let object = match frame[0] {
            0x70 => event.arguments.get(1),
            0x42 | 0x60..0x80 => event.arguments.first(),
            _ => None,
        };
        if let Some(object) = object {
            let next = self.objects.len() as u32 + 1;
            event.context = *self.objects.entry(*object).or_insert(next);
            self.running = if frame[0] == 0x69 { 0 } else { event.context };
        }
        self.count += 1;
        if self.count == BATCH {
            self.use_events();
        }
    }

    /// Sums the arguments of the events, as the benchmark's sink does.
    fn use_events(&mut self) {
        for event in std::hint::black_box(&self.events[..self.count]) {
            self.tally.arguments = self.tally.arguments.wrapping_add(event.arguments.iter().sum());
        }
        self.count = 0;
    }
}
