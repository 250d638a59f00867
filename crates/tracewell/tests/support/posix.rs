//! Constructs logs and memories of POSIX trace streams word by word.
#![allow(dead_code, unreachable_pub, reason = "each test crate uses a part of this")]

use tracewell_wire::frame::HEAD;
use tracewell_wire::native::{WORD, join, put_words};
use tracewell_wire::posix::log::{Kind, LogHeader, LogStatus, seal};
use tracewell_wire::posix::object::{Geometry, ObjectHeader, at, head};
use tracewell_wire::posix::{FLAG_SYSTEM, LogPolicy, NAME_MAX, RecordHeader, StreamPolicy};

pub const EPOCH: u64 = 1_700_000_000_000_000_000;

#[derive(Clone, Debug)]
pub struct Event {
    pub id: u32,
    pub flags: u8,
    pub process: u32,
    pub stamp: u64,
    pub data: Vec<u8>,
}

impl Event {
    pub fn user(id: u32, stamp: u64, data: &[u8]) -> Self {
        Self { id, flags: 0, process: 4711, stamp, data: data.to_vec() }
    }

    pub fn system(id: u32, stamp: u64, data: &[u8]) -> Self {
        Self { id, flags: FLAG_SYSTEM, process: 0, stamp, data: data.to_vec() }
    }

    pub fn bytes(&self) -> Vec<u8> {
        let &Self { id, flags, process, stamp, .. } = self;
        let length = self.data.len() as u32;
        let head = RecordHeader { length, id: id as u16, flags, process };
        let of_user = |word| if flags & FLAG_SYSTEM == 0 { word } else { 0 };
        let words = [head.pack(), EPOCH + stamp, of_user(0x40_1234), of_user(0x7F00_0000_0700)];
        let mut bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        bytes.extend(&self.data);
        bytes.resize(head.words() * WORD, 0);
        bytes
    }
}

pub fn block(kind: Kind, number: u64, body: &[u8]) -> Vec<u8> {
    let mut block = [&[0; HEAD], body].concat();
    block.resize(block.len().next_multiple_of(WORD), 0);
    seal(&mut block, kind, number).unwrap();
    block
}

pub fn words_block<const N: usize>(kind: Kind, words: [u64; N]) -> Vec<u8> {
    block(kind, 0, &words.map(u64::to_le_bytes).concat())
}

pub fn header(stream_policy: StreamPolicy, log_policy: LogPolicy, slots: (u32, u32)) -> LogHeader {
    let mut name = [0; NAME_MAX];
    name[..5].copy_from_slice(b"motor");
    LogHeader {
        stream_policy,
        log_policy,
        inherited: false,
        max_data: 4096,
        stream_size: 65_536,
        log_size: 1 << 20,
        created: EPOCH,
        resolution: 1,
        process: 4711,
        slot_bytes: slots.0,
        slots: slots.1,
        tail: LogHeader::BLOCK as u64 + u64::from(slots.0) * u64::from(slots.1),
        name,
        version: [0; NAME_MAX],
    }
}

pub fn name(id: u32, name: &[u8]) -> Vec<u8> {
    let head = [u64::from(id), name.len() as u64].map(u64::to_le_bytes).concat();
    block(Kind::Name, 0, &[&head, name].concat())
}

pub fn records(number: u64, events: &[Event]) -> Vec<u8> {
    block(Kind::Records, number, &events.iter().flat_map(Event::bytes).collect::<Vec<_>>())
}

/// A log with consecutive blocks.
pub fn log(blocks: &[Vec<u8>], status: Option<LogStatus>) -> Vec<u8> {
    let header = header(StreamPolicy::UntilFull, LogPolicy::Append, (0, 0));
    let mut bytes = words_block(Kind::Header, header.words());
    bytes.extend(blocks.concat());
    bytes.extend(status.map_or_else(Vec::new, |status| words_block(Kind::End, status.words())));
    bytes
}

/// Returns a log with this number of slots. Blocks with one event each were written to the slots in
/// turn. `written` is the number of these blocks.
pub fn ring(slots: u32, written: u64) -> Vec<u8> {
    let event = |number: u64| Event::user(65, number, &number.to_le_bytes());
    let size = records(0, &[event(0)]).len();
    let header = header(StreamPolicy::Flush, LogPolicy::Loop, (size as u32, slots));
    let mut bytes = words_block(Kind::Header, header.words());
    bytes.resize(bytes.len() + slots as usize * size, 0);
    for number in 0..written {
        let at = LogHeader::BLOCK + (number % u64::from(slots)) as usize * size;
        bytes[at..at + size].copy_from_slice(&records(number, &[event(number)]));
    }
    bytes.extend(name(65, b"step"));
    bytes.extend(words_block(
        Kind::End,
        LogStatus { log_overrun: 1, ..LogStatus::default() }.words(),
    ));
    bytes
}

pub fn geometry(packets: usize) -> Geometry {
    geometry_of(1024, packets)
}

fn geometry_of(packet_words: u32, packets: usize) -> Geometry {
    Geometry { packet_words, packets: packets as u32 + 2, closed: 2 }
}

/// A stream's memory with one packet for each of these lists of events. All packets except the last
/// are closed.
pub fn memory(packets: &[Vec<Event>]) -> Vec<u8> {
    memory_of(1024, packets)
}

/// Like [`memory`], with packets of this length.
pub fn memory_of(packet_words: u32, packets: &[Vec<Event>]) -> Vec<u8> {
    let geometry = geometry_of(packet_words, packets.len());
    let header = ObjectHeader {
        nonce: 7,
        geometry,
        policy: StreamPolicy::Loop,
        inherited: false,
        max_data: 4 * packet_words,
        created: EPOCH,
        controller: (17, 4),
        tick: 0,
        names: 9,
    };
    let mut words = vec![0_u64; geometry.total()];
    words[..ObjectHeader::WORDS].copy_from_slice(&header.words());
    words[at::STATE] = 1;
    for (number, events) in packets.iter().enumerate() {
        let bytes: Vec<u8> = events.iter().flat_map(Event::bytes).collect();
        let (place, opened) = (geometry.head(number), number as u64 + 5);
        let tag = if number + 1 == packets.len() { 1 } else { 2 };
        words[place + head::STATE] = opened << 2 | tag;
        words[place + head::COMMITTED] = join((bytes.len() / WORD) as u32, opened as u32);
        for (to, word) in words[geometry.packet(number)..].iter_mut().zip(bytes.as_chunks().0) {
            *to = u64::from_le_bytes(*word);
        }
    }
    let mut bytes = vec![0; words.len() * WORD];
    put_words(&mut bytes, &words).unwrap();
    bytes
}
