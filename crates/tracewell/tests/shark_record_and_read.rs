//! Tests that the decoder reads the output of the chunk recorder: images, files, datagrams,
//! compressed or not, wrapped or not.

mod support;

use std::fs;

use proptest::prelude::*;
use support::{EventLog, settings};
use tracewell::input::{Input, Settings};
use tracewell::model::{LossCause, Severity, Trace as Read};
use tracewell_record::clock::{Clock, Masked};
use tracewell_record::shark::{Areas, DiskWriter, Packets, Trace};
use tracewell_wire::shark::ids::{self, flag};
use tracewell_wire::shark::{ChunkHeader, Frame, PackedBlock, Packer, Record};

/// A logged event: its code, its two parameters, the cycles since the previous event, and true if
/// the recorder takes its fast path for it.
type Event = (u8, u16, u32, u64, bool);

fn event() -> impl Strategy<Value = Event> {
    let code = prop::sample::select(vec![0x09, ids::IPOINT, ids::ID, ids::CONTEXT_SWITCH]);
    (code, any::<u16>(), any::<u32>(), 1..1_000_000_u64, any::<bool>())
}

/// Returns a tracer that has recorded these events into one chunk. Also returns the records of the
/// events in order.
fn recorded(
    events: &[Event],
    areas: Areas,
    mode: u8,
) -> (Trace<'static, impl Clock + use<>, 2>, Vec<Record>) {
    let deltas: Vec<_> = events.iter().map(|event| event.3).collect();
    let mut deltas = deltas.into_iter();
    let mut now = 0xFFFF_0000_u64;
    let clock = Masked {
        clock: move || {
            now += deltas.next().unwrap_or(1);
            now
        },
        mask: u64::MAX,
    };
    let mut trace = Trace::new(clock);
    let memory = vec![0; 1 << 16].leak();
    trace.chunk_create(memory, areas, flag::FREE | mode).unwrap();
    trace.chunk_select(0).unwrap();
    trace.enable().unwrap();
    let mut tsc = 0xFFFF_0000;
    let mut records = Vec::new();
    for &(code, par1, par2, delta, fast) in events {
        tsc += delta;
        let code_word = u16::from(code) | if fast { Record::FAST } else { 0 };
        records.push(Record { code_word, par1, tsc, par2 });
        let _ = if fast { trace.log_fast(code, par1, par2) } else { trace.log(code, par1, par2) };
    }
    trace.disable();
    (trace, records)
}

fn read(bytes: Vec<u8>, options: &[&str]) -> (Read, EventLog) {
    let mut kept = EventLog::default();
    let settings = Settings { format: Some("shark".to_owned()), ..settings(options) };
    let trace = Input::from_bytes("trace", bytes, settings).unwrap().read(&mut kept).unwrap();
    (trace, kept)
}

fn records(kept: &EventLog) -> Vec<Record> {
    kept.rows.iter().map(|row| Record::read(&row.record).unwrap()).collect()
}

fn capture(trace: &mut Trace<'_, impl Clock, 2>) -> Vec<u8> {
    let mut capture = Vec::new();
    let dump = trace.begin_send(0).unwrap();
    let taken = Packets::default().send(&dump, |datagram| {
        capture.extend(Frame::prefix(datagram.len() as u32));
        capture.extend(datagram);
        Ok::<(), ()>(())
    });
    taken.unwrap();
    trace.end_send(dump, None).unwrap();
    capture
}

proptest! {
    #[test]
    fn every_carrier_gives_the_events_that_are_left(
        events in prop::collection::vec(event(), 1..200),
        slots in 2..150_u32,
        cyclic: bool,
    ) {
        let mode = if cyclic { flag::CYCLIC } else { flag::STOP };
        let areas = Areas { normal: 16 * slots, ..Areas::default() };
        let (mut trace, all) = recorded(&events, areas, mode);
        let slots = slots as usize;
        let left = if cyclic {
            &all[all.len().saturating_sub(slots)..]
        } else {
            &all[..all.len().min(slots)]
        };

        let image = trace.image(0).unwrap().to_vec();
        prop_assert_eq!(records(&read(image, &[]).1), left);
        prop_assert_eq!(records(&read(capture(&mut trace), &[]).1), left);
        let folder = tempfile::tempdir().unwrap();
        let mut disk = DiskWriter::new(folder.path().join("trace.dat")).unwrap();
        trace.send_chunk(0, mode, &mut disk).unwrap();
        let file = fs::read(folder.path().join("0trace.dat")).unwrap();
        prop_assert_eq!(records(&read(file.clone(), &["kind=records"]).1), left);

        // Make another chunk the current chunk, so that the recorder can compress this one.
        trace.chunk_create(vec![0; 80].leak(), Areas { normal: 32, ..areas }, flag::FREE).unwrap();
        trace.chunk_select(1).unwrap();
        trace.compress_chunk(0, mode, vec![0; 1 << 16].leak()).unwrap();
        let packed = trace.image(0).unwrap().to_vec();
        let (read_back, kept) = read(packed, &[]);
        prop_assert_eq!(records(&kept), left);
        let worst = read_back.diagnostics.worst();
        prop_assert_eq!(worst.filter(|worst| *worst > Severity::Note), None);
        let mut disk = DiskWriter::new(folder.path().join("packed.dat")).unwrap();
        trace.send_chunk(0, mode, &mut disk).unwrap();
        prop_assert_eq!(fs::read(folder.path().join("0packed.dat")).unwrap(), file);
    }
}

#[test]
fn an_emergency_area_names_and_times_the_records_of_a_ring() {
    let mut events =
        vec![(ids::TRACE_START, 0x100, 1000, 1, false), (ids::TASK_CREATE, 0x100, 7, 1, false)];
    events.extend((0..50).map(|number| (0x09, number, 0, 1000, false)));
    let areas = Areas { normal: 160, emergency: 64, base_address: None };
    let (trace, all) = recorded(&events, areas, flag::CYCLIC);
    let (read, kept) = read(trace.image(0).unwrap().to_vec(), &["names=7=motor"]);
    let left = [&all[..2], &all[42..]].concat();
    assert_eq!(records(&kept), left);
    assert_eq!(read.clock.nanoseconds(1_000_000), Some(1_000_000_000));
    assert!(read.contexts.iter().any(|(_, context)| context.name == "motor"));
    assert_eq!(overwritten(&kept), [2]);
}

/// Returns the sequence number of each event that follows overwritten records. Asserts that no
/// other records are missing.
fn overwritten(kept: &EventLog) -> Vec<u64> {
    let unknown = (None, LossCause::Overwritten);
    assert!(kept.losses.iter().all(|loss| (loss.events, loss.cause) == unknown));
    kept.losses.iter().map(|loss| loss.before).collect()
}

#[test]
fn a_wrapped_ring_is_reported_once_for_every_position() {
    let areas = Areas { normal: 160, emergency: 64, base_address: None };
    let start = (ids::TRACE_START, 0x100, 1000, 1, false);
    let others = (0..60).map(|number| (0x09, number, 0, 1000, false));
    let events: Vec<_> = std::iter::once(start).chain(others).collect();
    // There are ten slots. When the ring wraps, the record in the first slot moves to the emergency
    // area. After this, the reader always reports a loss, because a dump does not show if the ring
    // has overwritten records.
    for count in 1..events.len() {
        let (trace, _) = recorded(&events[..count], areas, flag::CYCLIC);
        let (_, kept) = read(trace.image(0).unwrap().to_vec(), &[]);
        let told = if count > 10 { &[1][..] } else { &[] };
        assert_eq!(overwritten(&kept), told, "{count} events");
    }
}

#[test]
fn every_truncation_and_change_of_a_compressed_chunk_is_reported_or_harmless() {
    let events: Vec<_> = (0..40).map(|number| (0x09, number, number.into(), 500, false)).collect();
    let areas = Areas { normal: 16 * 40, ..Areas::default() };
    let (mut trace, all) = recorded(&events, areas, flag::STOP);
    trace.chunk_create(vec![0; 80].leak(), Areas { normal: 32, ..areas }, flag::FREE).unwrap();
    trace.chunk_select(1).unwrap();
    trace.compress_chunk(0, 0, vec![0; 4096].leak()).unwrap();
    let image = trace.image(0).unwrap().to_vec();
    for cut in ChunkHeader::SIZE..image.len() {
        let (read, kept) = read(image[..cut].to_vec(), &[]);
        let whole = records(&kept);
        assert!(all.starts_with(&whole));
        assert_eq!(read.diagnostics.worst(), Some(Severity::Damage), "cut at {cut}");
    }
    for at in ChunkHeader::SIZE..image.len() {
        for value in [0, 0x7F, 0x80, 0xFF] {
            let mut changed = image.clone();
            changed[at] = value;
            let (_, kept) = read(changed, &[]);
            // All records before the change are unaffected. A record has at least four bytes.
            assert!(kept.rows.len() <= image.len() / 4);
        }
    }
}

/// Consecutive records with increasing ticks, in a block.
fn expanding_block(first: u64) -> Vec<u8> {
    let mut packer = Packer::default();
    let record = |number| Record { code_word: 9, par1: 0, tsc: first + number, par2: 0 };
    let packed: Vec<_> =
        (0..1000).flat_map(|number| packer.pack(&record(number)).bytes().to_vec()).collect();
    let mut stored = vec![0; lz4_flex::block::get_maximum_output_size(packed.len())];
    let length = lz4_flex::block::compress_into(&packed, &mut stored).unwrap();
    let block = PackedBlock::new(packed.len(), &stored[..length]).unwrap();
    [&block.head()[..], block.stored()].concat()
}

/// The image of a compressed chunk: a header, and blocks that each expand from a few bytes to 1000
/// records.
fn expanding(blocks: u64) -> Vec<u8> {
    let area: Vec<_> = (0..blocks).flat_map(|block| expanding_block(1 + 1000 * block)).collect();
    let header = ChunkHeader {
        number: 0,
        flags: flag::COMPRESSED,
        size: area.len() as u32,
        emergency_size: 0,
        head: 24,
        position: 0,
        start: 48,
        recording_flags: u32::from(flag::COMPRESSED),
        next: 0,
    };
    let mut image = vec![0; ChunkHeader::SIZE];
    header.write(&mut image).unwrap();
    image.extend(area);
    image
}

#[test]
fn a_chunk_made_to_fill_the_memory_does_not() {
    let (small, kept) = read(expanding(3), &[]);
    assert_eq!((kept.rows.len(), small.diagnostics.worst()), (3000, None));
    let image = expanding(4000);
    let (large, kept) = read(image.clone(), &[]);
    // 4000 blocks would be 64 MB of records.
    assert!(image.len() < 250_000, "{}", image.len());
    assert_eq!(kept.rows.len() * Record::SIZE, 16 << 20);
    assert_eq!(large.diagnostics.worst(), Some(Severity::Damage));
    assert!(kept.losses.iter().any(|loss| loss.cause == LossCause::Damaged));
}

#[test]
fn of_a_damaged_block_the_others_are_read() {
    let mut image = expanding(3);
    let third = (image.len() - ChunkHeader::SIZE) / 3;
    image[ChunkHeader::SIZE + third + 20] ^= 1;
    let (_, kept) = read(image, &[]);
    assert_eq!(kept.rows.len(), 2000);
    let losses: Vec<_> = kept.losses.iter().map(|loss| (loss.before, loss.cause)).collect();
    assert_eq!(losses, [(1000, LossCause::Damaged)]);
}
