//! Random traces with many events that matter to analyses. The events are random, but most of their
//! arguments refer to a few tasks and objects, so that waits begin and end.

use std::sync::Arc;

use tracewell::model::schema::Schema;
use tracewell_record::stream::{Identity, Log, Take};
use tracewell_wire::rkh::{Field, Settings, ids as rkh_ids};
use tracewell_wire::shark::{self, DatagramHeader, Frame, Record};
use tracewell_wire::target::{Header, crc16, packet::CHECKED};

use crate::dump::{Dump, USUAL, event, thread};
use crate::edits::Random;
use crate::native::{image, memory, writer};
use crate::rkh::Stream;

/// Number of events of a trace.
const EVENTS: usize = 250;

/// Meanings that occur often in real traces.
const COMMON: [&str; 14] = [
    "Runs",
    "Schedule",
    "Ready",
    "Blocks",
    "Lock",
    "Unlock",
    "Wait",
    "InterruptEnter",
    "InterruptExit",
    "Activate",
    "Release",
    "Complete",
    "Put",
    "Get",
];

/// Returns the ids of events with meanings. Ids of common events occur several times. In some
/// traces, rare events are nearly as frequent as common ones.
fn ids(random: &mut Random, schema: &Schema, limit: u32) -> Vec<u32> {
    let weight = random.one_of(&[2, 12, 12]);
    let events = schema.events().filter(|event| event.means.is_some() && event.id < limit);
    let often = events.flat_map(|event| {
        let meaning = event.means.map(|means| format!("{:?}", means.meaning));
        let is_common = meaning.is_some_and(|meaning| COMMON.contains(&&*meaning));
        vec![event.id; if is_common { weight } else { 1 }]
    });
    often.collect()
}

fn schema(format: &str) -> Arc<Schema> {
    (tracewell::format::by_name(format).unwrap().schema)()
}

/// A dump of three threads, two mutexes, a queue and a semaphore.
pub(crate) fn threadx(random: &mut Random) -> Vec<u8> {
    let ids = ids(random, &schema("threadx"), 4096);
    let mut objects = vec![thread(0x100, "alpha"), thread(0x200, "beta"), thread(0x300, "gamma")];
    for (object_type, key) in [(6, 0x400), (6, 0x500), (3, 0x600), (4, 0x700)] {
        objects.push(thread(key, "object"));
        objects.last_mut().unwrap().object_type = object_type;
    }
    let mut stamp = 1000;
    let events = (0..EVENTS).map(|_| {
        stamp += random.below(40) as u64;
        let context = random.one_of(&[0x100, 0x100, 0x200, 0x200, 0x300, 0xFFFF_FFFF, 0xF0F0_F0F0]);
        let mut event = event(context, random.one_of(&ids).into(), stamp);
        event.info = [0; 4].map(|_| match random.below(3) {
            0 => random.below(10) as u64,
            _ => random.one_of(&[0x100, 0x200, 0x300, 0x400, 0x400, 0x500, 0x600, 0x700]),
        });
        event
    });
    let events = events.collect();
    Dump::new(USUAL, objects, events, 0).bytes()
}

/// Records of three tasks.
pub(crate) fn shark(random: &mut Random) -> Vec<u8> {
    let records = shark_records(random);
    let mut bytes = vec![0; Record::SIZE * records.len()];
    for (record, slot) in records.iter().zip(bytes.chunks_mut(Record::SIZE)) {
        record.write(slot).unwrap();
    }
    bytes
}

/// The same records in datagrams, of which two are missing.
pub(crate) fn shark_with_losses(random: &mut Random) -> Vec<u8> {
    const RECORDS: usize = 25;
    let mut capture = Vec::new();
    for (number, records) in (1..).zip(shark_records(random).chunks(RECORDS)) {
        if number == 4 || number == 7 {
            continue;
        }
        let mut datagram = vec![0; DatagramHeader::SIZE];
        DatagramHeader::new(number, records.len() as u32).write(&mut datagram).unwrap();
        for record in records {
            let mut bytes = [0; Record::SIZE];
            record.write(&mut bytes).unwrap();
            datagram.extend(bytes);
        }
        capture.extend(Frame::prefix(datagram.len() as u32));
        capture.extend(datagram);
    }
    capture
}

fn shark_records(random: &mut Random) -> Vec<Record> {
    let ids = ids(random, &schema("shark"), 256);
    let code_word = shark::ids::TRACE_START.into();
    let mut records = vec![Record { code_word, par1: 0x100, tsc: 1000, par2: 1000 }];
    let mut tsc = 1000;
    for _ in 0..EVENTS {
        tsc += random.below(40) as u64;
        let code_word = random.one_of(&ids) as u16;
        let par1 = random.one_of(&[0x100, 0x100, 0x108, 0x110, 3, 4]);
        let par2 = random.one_of(&[0x100, 0x108, 0x108, 0x110, 0, 1, 2]);
        records.push(Record { code_word, par1, tsc, par2 });
    }
    records
}

/// A line of a target with two cores.
pub(crate) fn target(random: &mut Random) -> Vec<u8> {
    target_line(random, &[])
}

/// Such a line without two of the packets.
pub(crate) fn target_with_losses(random: &mut Random) -> Vec<u8> {
    target_line(random, &[7, 14])
}

/// Such a line without the packets with these numbers.
fn target_line(random: &mut Random, missing: &[u32]) -> Vec<u8> {
    let ids = ids(random, &schema("target"), 256);
    let (mut line, mut first, mut time) = (Vec::new(), [0_u32; 2], 1000_u64);
    for number in 0..24_u32 {
        let core = number as usize % 2;
        let mut payload = Vec::new();
        let begin = time;
        for event in 0..EVENTS / 24 {
            let id = random.one_of(&ids) as u8;
            let ticks = if event == 0 { 0 } else { random.below(40) as u8 };
            payload.extend([id, ticks]);
            let form = usize::from(id >> 6);
            payload.extend((form == 3).then_some(2));
            payload.extend((0..form.min(2)).map(|_| random.below(4) as u8));
            time += u64::from(ticks);
        }
        let header = Header {
            core: core as u8,
            number: number / 2,
            first: first[core],
            time: begin,
            refused: 0,
            session: 0,
            cores: 2,
        };
        first[core] += (EVENTS / 24) as u32;
        let mut bytes = header.to_bytes();
        let sum = crc16(crc16(u16::MAX, &bytes[..CHECKED]), &payload);
        bytes[24..26].copy_from_slice(&(payload.len() as u16).to_le_bytes());
        bytes[26..].copy_from_slice(&sum.to_le_bytes());
        if !missing.contains(&number) {
            line.extend(bytes);
            line.extend(payload);
        }
        time += random.below(50) as u64;
    }
    line
}

/// A stream of active objects, which exchange events.
pub(crate) fn rkh(random: &mut Random) -> Vec<u8> {
    rkh_stream(random, Settings::default(), EVENTS)
}

/// Such a stream without some of its frames.
pub(crate) fn rkh_with_losses(random: &mut Random) -> Vec<u8> {
    rkh_frames(random, Settings::default(), EVENTS, |number| number % 60 > 50)
}

/// A stream with these settings and this number of events. It does not contain the settings.
pub(crate) fn rkh_stream(random: &mut Random, settings: Settings, events: usize) -> Vec<u8> {
    rkh_frames(random, settings, events, |_| false)
}

/// Such a stream without the frames whose numbers are missing.
fn rkh_frames(
    random: &mut Random,
    settings: Settings,
    events: usize,
    is_missing: fn(usize) -> bool,
) -> Vec<u8> {
    let schema = schema("rkh");
    let ids = ids(random, &schema, 256);
    let mut stream = Stream::new(settings);
    let mut stamp = 0;
    for number in 0..events {
        let length = stream.bytes.len();
        stamp += random.below(9) as u32;
        let id = random.one_of(&ids);
        let mut arguments = Vec::new();
        for argument in &schema.event(id).args {
            let field: Field = argument.encoding.parse().expect("the schema has known encodings");
            let settings = stream.settings;
            if !field.condition.holds(&settings) {
                continue;
            }
            match field.field_type.bytes(&settings) {
                Some(4) => {
                    let key: u32 = random.one_of(&[0x2000_0100, 0x2000_0200, 0x2000_0300]);
                    arguments.extend(key.to_le_bytes());
                }
                Some(bytes) => {
                    let value = random.below(5) as u32;
                    arguments.extend(&value.to_le_bytes()[..usize::from(bytes)]);
                }
                None => arguments.extend([b'a' + random.below(3) as u8, 0]),
            }
        }
        let id = rkh_ids::id(id as u8, settings.id, true);
        stream.record(id, stamp, &arguments);
        if is_missing(number) {
            stream.bytes.truncate(length);
        }
    }
    stream.bytes
}

/// The log of a program with two threads, which enter spans.
pub(crate) fn spans(random: &mut Random) -> Vec<u8> {
    let words = memory();
    let image = image(&words, 7, 0, "test/step(number:u64)");
    let types = [
        "info/app:request(span:u64,parent:u64)",
        "debug/app:query(span:u64,parent:u64)",
        "span/enter(span:u64)",
        "span/exit(span:u64)",
        "span/close(span:u64)",
    ];
    for (id, text) in (65..).zip(types) {
        image.define_as(id, 2, text.as_bytes()).unwrap();
    }
    let identity = |thread| Identity { process: 7, thread, name: *b"thread\0\0\0\0\0\0\0\0\0\0" };
    let writers = [writer(&image, 0, identity(8)), writer(&image, 1, identity(9))];
    let mut log = Log::new(Vec::new(), Take::Out);
    let mut now = 0;
    for number in 0..EVENTS {
        now += 1 + random.below(30) as u64;
        let id = random.one_of(&[64, 65, 66, 67, 67, 67, 68, 68, 68, 69]);
        let fields = [1 + random.below(5) as u64, random.below(5) as u64];
        let count = if id == 65 || id == 66 { 2 } else { 1 };
        let count = if id == 64 { 1 } else { count };
        writers[random.below(2)].push(&image, id, now, &fields[..count], &[]).unwrap();
        if number % 10 == 9 {
            log.drain_image(&image, now + 1).unwrap();
        }
    }
    log.close_image(&image, 1 << 40).unwrap()
}
