//! Tests each rule of chunks separately, and compares the bytes of chunk images.

use tracewell_record::clock::Masked;
use tracewell_record::shark::{Areas, ControlError, Drops, Dump, Outcome, Packets, Trace};
use tracewell_wire::shark::ids::{self, flag};
use tracewell_wire::shark::{ChunkHeader, DatagramHeader, Record};

const USER: u8 = 0x09;

fn counting() -> impl tracewell_record::clock::Clock {
    let mut ticks = 0;
    Masked {
        clock: move || {
            ticks += 1;
            ticks
        },
        mask: u64::MAX,
    }
}

fn areas(normal: u32, emergency: u32) -> Areas {
    Areas { normal, emergency, base_address: Some(0x10_0000) }
}

/// Creates and selects a chunk and switches recording on.
fn started<'m, C: tracewell_record::clock::Clock>(
    clock: C,
    memory: &'m mut [u8],
    areas: Areas,
    mode: u8,
) -> Trace<'m, C, 8> {
    let mut trace = Trace::new(clock);
    let chunk = trace.chunk_create(memory, areas, mode | flag::FREE).unwrap();
    trace.chunk_select(chunk).unwrap();
    trace.enable().unwrap();
    trace
}

fn first_parameters<C: tracewell_record::clock::Clock>(
    trace: &mut Trace<'_, C, 8>,
    chunk: u8,
) -> Vec<u16> {
    let dump = trace.begin_send(chunk).unwrap();
    let numbers = dump.records().map(|record| record.par1).collect();
    trace.end_send(dump, None).unwrap();
    numbers
}

#[test]
fn a_chunk_has_exactly_these_bytes() {
    let mut memory = [0xEE; 48 + 32 + 32 + 8];
    let mut stamps = [0x1_0000_0002_u64, 0x1_0000_0003, 0x1_0000_0004].into_iter();
    let clock = Masked { clock: || stamps.next().unwrap(), mask: u64::MAX };
    let mut trace = started(clock, &mut memory, areas(47, 33), flag::STOP);
    assert_eq!(trace.log(USER, 0x1234, 0x89AB_CDEF), Outcome::Recorded);
    assert_eq!(trace.log_fast(USER | 0x10, 5, 6), Outcome::Recorded);
    assert_eq!(trace.log(ids::TASK_END, 0x108, 3), Outcome::InEmergencyArea);
    #[rustfmt::skip]
    let expected = [
        // Descriptor: id, number, STOP and FULL, sizes, address of the head.
        0xBB, 0xFF, 0xAA, 0xFF, 0, 0, 0, 0, 0x0A, 0, 0, 0,
        32, 0, 0, 0, 32, 0, 0, 0, 0x18, 0, 0x10, 0,
        // Head: position at the end, start, sizes, flags, no successor.
        0x50, 0, 0x10, 0, 0x30, 0, 0x10, 0, 32, 0, 0, 0, 32, 0, 0, 0, 0x0A, 0, 0, 0, 0, 0, 0, 0,
        // The high half of a timestamp comes first.
        0x09, 0x00, 0x34, 0x12, 1, 0, 0, 0, 2, 0, 0, 0, 0xEF, 0xCD, 0xAB, 0x89,
        0x19, 0x80, 5, 0, 1, 0, 0, 0, 3, 0, 0, 0, 6, 0, 0, 0,
        0x42, 0x00, 0x08, 0x01, 1, 0, 0, 0, 4, 0, 0, 0, 3, 0, 0, 0,
        0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    ];
    assert_eq!(trace.image(0), Ok(&expected[..]));
    assert_eq!(memory[112..], [0xEE; 8]);
}

#[test]
fn a_chunk_that_stops_counts_what_it_drops() {
    let mut memory = [0; 200];
    let mut trace = started(counting(), &mut memory, areas(48, 0), flag::STOP);
    let outcomes = [1, 2, 3, 4, 5].map(|number| trace.log(USER, number, 0));
    use Outcome::{Full, Recorded};
    assert_eq!(outcomes, [Recorded, Recorded, Recorded, Full, Full]);
    assert_eq!(first_parameters(&mut trace, 0), [1, 2, 3]);
    assert_eq!(trace.drops(), Drops { full: 2, ..Drops::default() });
}

#[test]
fn a_cyclic_chunk_saves_essential_records_before_overwriting_them() {
    let mut memory = [0; 300];
    let mut trace = started(counting(), &mut memory, areas(32, 32), flag::CYCLIC);
    for number in 1..=3 {
        trace.log(ids::TASK_CREATE, number, 0);
        trace.log(USER, 100 + number, 0);
    }
    trace.log(USER, 104, 0);
    // In the normal area, record 104 has overwritten the third creation, and record 103 remains.
    // The emergency area contains the first two creations, and had no room for the third.
    assert_eq!(first_parameters(&mut trace, 0), [104, 103, 1, 2]);
    let drops = Drops { overwritten: 3, essential_overwritten: 1, ..Drops::default() };
    assert_eq!(trace.drops(), drops);
    let status = trace.get_chunk_table().next().unwrap();
    assert_eq!((status.laps, status.position, status.kept, status.current), (3, 16, 32, true));
}

#[test]
fn a_jump_loses_no_event_and_removes_the_link() {
    let (mut first, mut second) = ([0; 100], [0; 100]);
    let mut trace = started(counting(), &mut first, areas(32, 0), flag::JUMP_TO_NEXT);
    let next = trace.chunk_create(&mut second, areas(32, 0), flag::FREE | flag::JUMP_TO_NEXT);
    let next = next.unwrap();
    assert_eq!(trace.chunk_link(0, next), Ok(None));
    assert_eq!(trace.chunk_link(0, next), Err(ControlError::NotFree));
    assert_eq!(trace.chunk_delete(next), Err(ControlError::Linked));
    for number in 1..=5 {
        trace.log(USER, number, 0);
    }
    assert_eq!(trace.current(), Some(next));
    assert_eq!(first_parameters(&mut trace, 0), [1, 2]);
    // The second chunk has no successor, so it stops when it is full.
    assert_eq!(first_parameters(&mut trace, next), [3, 4]);
    assert_eq!(trace.drops().full, 1);
    assert_eq!(trace.get_chunk_flags(0), Ok(flag::JUMP_TO_NEXT | flag::FULL));
    assert!(trace.get_chunk_table().all(|chunk| chunk.next.is_none()));
}

#[test]
fn two_chunks_take_turns() {
    let (mut first, mut second) = ([0; 100], [0; 100]);
    let mut trace = started(counting(), &mut first, areas(32, 0), flag::JUMP_TO_NEXT);
    let flags = flag::FREE | flag::JUMP_TO_NEXT;
    trace.chunk_create(&mut second, areas(32, 0), flags).unwrap();
    let mut sent = Vec::new();
    for number in 1..=20 {
        let full = trace.current().unwrap();
        if trace.get_chunk_table().all(|chunk| chunk.next.is_none()) {
            trace.chunk_link(full, 1 - full).unwrap();
        }
        trace.log(USER, number, 0);
        if trace.current() != Some(full) {
            let dump = trace.begin_send(full).unwrap();
            sent.extend(dump.records().map(|record| record.par1));
            trace.end_send(dump, Some(flags)).unwrap();
        }
    }
    assert_eq!(sent, (1..=18).collect::<Vec<_>>());
    assert_eq!(trace.drops(), Drops::default());
}

#[test]
fn the_command_leaves_a_cyclic_chunk_and_stores_nothing() {
    let (mut first, mut second) = ([0; 100], [0; 100]);
    let mut trace = started(counting(), &mut first, areas(32, 0), flag::CYCLIC);
    assert_eq!(trace.log(ids::NEXT_CHUNK, 7, 7), Outcome::NoSuccessor);
    assert_eq!(trace.log(USER, 1, 0), Outcome::Recorded);
    trace.chunk_create(&mut second, areas(32, 0), flag::FREE).unwrap();
    trace.chunk_link(0, 1).unwrap();
    trace.set_filter(USER, 1).unwrap();
    assert_eq!(trace.log(ids::NEXT_CHUNK, 7, 7), Outcome::Jumped);
    assert_eq!(trace.log_fast(ids::NEXT_CHUNK, 7, 7), Outcome::Refused);
    assert_eq!((trace.current(), first_parameters(&mut trace, 1)), (Some(1), vec![]));
    assert_eq!(first_parameters(&mut trace, 0), [1, 1]);
    let drops = Drops { refused: 1, no_successor: 1, ..Drops::default() };
    assert_eq!(trace.drops(), drops);
}

#[test]
fn a_filter_hides_its_family_on_the_safe_path_and_is_recorded() {
    let mut memory = [0; 300];
    let mut trace = started(counting(), &mut memory, areas(200, 0), flag::STOP);
    assert_eq!(trace.set_filter(0xF9, 0x8001), Ok(Outcome::Recorded));
    assert_eq!(trace.log(USER, 1, 0), Outcome::Filtered);
    assert_eq!(trace.log_fast(USER, 2, 0), Outcome::Recorded);
    assert_eq!(trace.set_filter(ids::family::USER, 0), Ok(Outcome::Recorded));
    assert_eq!(trace.log(USER, 3, 0), Outcome::Recorded);
    trace.disable();
    assert_eq!(trace.set_filter(2, 1), Ok(Outcome::Disabled));
    assert_eq!(trace.filter(), 1 << 2);
    assert_eq!(trace.set_filter(0xFF, 1), Err(ControlError::NoFilter));
    let dump = trace.begin_send(0).unwrap();
    let words: Vec<_> = dump.records().map(|record| (record.code_word, record.par1)).collect();
    assert_eq!(words, [(0xF9, 0x8001), (0x8009, 2), (0xF9, 0), (0x09, 3)]);
}

#[test]
fn a_chunk_that_is_being_sent_does_not_change() {
    let (mut first, mut second, mut other) = ([0; 100], [0; 100], [0; 100]);
    let mut trace = started(counting(), &mut first, areas(32, 0), flag::STOP);
    trace.chunk_create(&mut second, areas(32, 0), flag::FREE).unwrap();
    trace.log(USER, 1, 0);
    let dump = trace.begin_send(0).unwrap();
    assert_eq!(trace.log(USER, 2, 0), Outcome::Busy);
    assert_eq!(trace.begin_send(0).unwrap_err(), ControlError::Busy);
    assert_eq!(trace.set_chunk_flags(0, flag::FREE), Err(ControlError::Busy));
    assert_eq!(trace.chunk_link(0, 1), Err(ControlError::Busy));
    assert_eq!(trace.compressed_size(0), Err(ControlError::Current));
    assert_eq!(trace.get_chunk_flags(0), Ok(flag::STOP | flag::BUSY));
    let mut other_tracer = started(counting(), &mut other, areas(32, 0), flag::STOP);
    let foreign = other_tracer.begin_send(0).unwrap();
    assert_eq!(trace.end_send(foreign, None), Err(ControlError::NotBusy));
    trace.end_send(dump, Some(flag::FREE)).unwrap();
    assert_eq!((trace.current(), trace.get_chunk_flags(0)), (None, Ok(flag::FREE)));
    assert_eq!(first_parameters(&mut trace, 0), []);
    assert_eq!(trace.log(USER, 3, 0), Outcome::NoChunk);
    assert_eq!(trace.drops(), Drops { busy: 1, no_chunk: 1, ..Drops::default() });
}

#[test]
fn arguments_are_checked_and_memory_is_returned() {
    let mut trace: Trace<'_, _, 2> = Trace::new(counting());
    let cases = [
        (areas(31, 0), flag::FREE, ControlError::Sizes),
        (areas(32, 16), flag::FREE, ControlError::Sizes),
        (areas(u32::MAX, u32::MAX), flag::FREE, ControlError::Sizes),
        (areas(32, 0), flag::MODE, ControlError::Flags),
        (areas(32, 0), flag::BUSY, ControlError::Flags),
        (areas(32, 0), 0x80, ControlError::Flags),
        (areas(32, 32), 0, ControlError::MemoryTooSmall { needed: 112 }),
    ];
    for (areas, flags, reason) in cases {
        let refused = trace.chunk_create(vec![0xEE; 111].leak(), areas, flags).unwrap_err();
        assert_eq!((refused.reason, &*refused.memory), (reason, &[0xEE; 111][..]));
    }
    assert_eq!(trace.enable(), Err(ControlError::NoneSelected));
    for chunk in [0, 1, 2, 255] {
        assert_eq!(trace.chunk_select(chunk), Err(ControlError::NoSuchChunk));
        assert_eq!(trace.get_chunk_flags(chunk), Err(ControlError::NoSuchChunk));
        assert_eq!(trace.chunk_delete(chunk), Err(ControlError::NoSuchChunk));
    }
}

#[test]
fn the_first_chunk_is_found_by_flags_and_by_mode() {
    let mut trace: Trace<'_, _, 8> = Trace::new(counting());
    let flags = [flag::STOP, flag::FREE | flag::JUMP_TO_NEXT, flag::FREE, flag::NO_DELETE];
    for flags in flags {
        trace.chunk_create(vec![0; 80].leak(), areas(32, 0), flags).unwrap();
    }
    trace.chunk_delete(0).unwrap().unwrap();
    assert_eq!(trace.chunk_delete(3), Ok(None));
    let find = |mask| trace.get_first_chunk(mask);
    assert_eq!((find(flag::FREE), find(flag::CYCLIC), find(flag::STOP)), (Some(1), Some(2), None));
    assert_eq!((find(flag::NO_DELETE), find(flag::FULL)), (Some(3), None));
    assert_eq!(find(flag::JUMP_TO_NEXT | flag::NO_DELETE), None);
}

#[test]
fn the_table_holds_256_chunks() {
    let mut trace: Box<Trace<'_, _, 300>> = Box::new(Trace::new(counting()));
    for number in 0..=255 {
        assert_eq!(trace.chunk_create(vec![0; 80].leak(), areas(32, 0), 0).unwrap(), number);
    }
    let refused = trace.chunk_create(vec![0; 80].leak(), areas(32, 0), 0).unwrap_err();
    assert_eq!(refused.reason, ControlError::TableFull);
}

#[test]
fn a_narrow_clock_is_unwrapped() {
    let mut memory = [0; 200];
    let mut stamps = [0xFFFF_FFF0_u64, 0x10, 0x20].into_iter();
    let mut trace = started(|| stamps.next().unwrap(), &mut memory, areas(64, 0), flag::STOP);
    (1..=3).for_each(|number| assert_eq!(trace.log(USER, number, 0), Outcome::Recorded));
    let dump = trace.begin_send(0).unwrap();
    let stamps: Vec<_> = dump.records().map(|record| record.tsc).collect();
    assert_eq!(stamps, [0xFFFF_FFF0, 0x1_0000_0010, 0x1_0000_0020]);
}

fn with_records<'m>(memory: &'m mut [u8], records: u16) -> Dump<'m> {
    let mut trace = started(counting(), memory, areas(16 * 1000, 0), flag::STOP);
    (0..records).for_each(|number| assert_eq!(trace.log(USER, number, 0), Outcome::Recorded));
    trace.begin_send(0).unwrap()
}

#[test]
fn datagrams_hold_sixty_records_and_are_numbered_over_all_chunks() {
    let mut packets = Packets::default();
    let mut sizes = Vec::new();
    for records in [121, 0, 60] {
        let mut memory = vec![0; 20_000];
        let dump = with_records(&mut memory, records);
        let sent = packets.send(&dump, |datagram| {
            let header = DatagramHeader::read(datagram).ok().map(|(header, _)| header.number);
            sizes.push((header, datagram.len()));
            Ok::<(), ()>(())
        });
        assert_eq!(sent, Ok(()));
    }
    let expected = [(Some(1), 984), (Some(2), 984), (Some(3), 40), (None, 0), (Some(4), 984)];
    assert_eq!((sizes.as_slice(), packets.sent()), (&expected[..], 4));
}

#[test]
fn a_datagram_that_was_not_sent_does_not_use_up_its_number() {
    let mut packets = Packets::default();
    let mut memory = vec![0; 20_000];
    let dump = with_records(&mut memory, 130);
    let mut room = 1;
    let sent = packets.send(&dump, |_| {
        room -= 1;
        if room < 0 { Err("network is down") } else { Ok(()) }
    });
    assert_eq!((sent, packets.sent()), (Err("network is down"), 1));
}

#[test]
fn a_compressed_chunk_is_smaller_and_sends_the_same_records() {
    let mut trace = Trace::<_, 4>::new(counting());
    trace.chunk_create(vec![0; 9000].leak(), areas(8000, 0), flag::FREE | flag::CYCLIC).unwrap();
    trace.chunk_select(0).unwrap();
    trace.enable().unwrap();
    for number in 0..800 {
        trace.log(USER, number, u32::from(number) << 10);
    }
    let dump = trace.begin_send(0).unwrap();
    let before: Vec<_> = dump.records().collect();
    trace.end_send(dump, None).unwrap();
    trace.chunk_create(vec![0; 80].leak(), areas(32, 0), flag::FREE).unwrap();
    assert_eq!(trace.compressed_size(0), Err(ControlError::Current));
    trace.chunk_select(1).unwrap();

    let needed = trace.compressed_size(0).unwrap();
    assert!(needed < 8048 / 2, "{needed} bytes");
    let short = trace.compress_chunk(0, 0, vec![0xEE; needed - 1].leak()).unwrap_err();
    assert_eq!(short.reason, ControlError::MemoryTooSmall { needed });
    let old = trace.compress_chunk(0, flag::FREE | flag::NO_DELETE, vec![0xEE; needed].leak());
    assert_eq!(old.unwrap().len(), 8048);
    assert_eq!(trace.get_chunk_flags(0), Ok(flag::COMPRESSED | flag::NO_DELETE));
    assert_eq!(trace.chunk_select(0), Err(ControlError::Compressed));
    let again = trace.compress_chunk(0, 0, &mut []).unwrap_err().reason;
    assert_eq!(again, ControlError::Compressed);

    let dump = trace.begin_send(0).unwrap();
    assert!(dump.records().eq(before));
    trace.end_send(dump, Some(flag::FREE | flag::STOP)).unwrap();
    let image = trace.image(0).unwrap();
    assert_eq!(ChunkHeader::read(image).unwrap().flags, flag::FREE | flag::STOP);
    assert!(image[48..].chunks(16).all(|slot| Record::read(slot).unwrap().is_empty()));
    trace.chunk_select(0).unwrap();
    assert_eq!(trace.log(USER, 1, 1), Outcome::Recorded);
}

#[test]
fn flags_keep_a_compressed_chunk_compressed_until_it_is_freed() {
    let mut trace = Trace::<_, 4>::new(counting());
    for size in [64, 32] {
        trace.chunk_create(vec![0; 200].leak(), areas(size, 0), flag::FREE).unwrap();
    }
    trace.chunk_select(0).unwrap();
    trace.enable().unwrap();
    (1..=3).for_each(|number| _ = trace.log(USER, number, 0));
    trace.chunk_select(1).unwrap();
    trace.compress_chunk(0, 0, vec![0; 200].leak()).unwrap();
    trace.set_chunk_flags(0, flag::NO_DELETE).unwrap();
    assert_eq!(trace.get_chunk_flags(0), Ok(flag::NO_DELETE | flag::COMPRESSED));
    let dump = trace.begin_send(0).unwrap();
    assert_eq!(dump.records().map(|record| record.par1).collect::<Vec<_>>(), [1, 2, 3]);
    trace.end_send(dump, None).unwrap();
    trace.set_chunk_flags(0, flag::FREE | flag::COMPRESSED).unwrap();
    assert_eq!(trace.get_chunk_flags(0), Ok(flag::FREE));
}

#[test]
fn a_successor_that_was_marked_full_stores_nothing() {
    let (mut first, mut second) = ([0; 100], [0; 100]);
    let mut trace = started(counting(), &mut first, areas(32, 0), flag::JUMP_TO_NEXT);
    trace.chunk_create(&mut second, areas(32, 0), flag::FREE).unwrap();
    trace.chunk_link(0, 1).unwrap();
    trace.set_chunk_flags(1, flag::FULL).unwrap();
    let outcomes = [1, 2, 3, 4].map(|number| trace.log(USER, number, 0));
    use Outcome::{Full, Recorded};
    assert_eq!(outcomes, [Recorded, Recorded, Full, Full]);
    assert_eq!((trace.current(), first_parameters(&mut trace, 1)), (Some(1), vec![]));
}

#[test]
fn a_bare_closure_has_32_valid_bits_and_a_masked_clock_as_many_as_it_says() {
    fn stamps<C: tracewell_record::clock::Clock>(clock: C) -> Vec<u64> {
        let mut memory = [0; 256];
        let mut trace = started(clock, &mut memory, areas(128, 0), flag::STOP);
        assert_eq!([1, 2].map(|number| trace.log(USER, number, 0)), [Outcome::Recorded; 2]);
        let dump = trace.begin_send(0).unwrap();
        let stamps = dump.records().map(|record| record.tsc).collect();
        trace.end_send(dump, None).unwrap();
        stamps
    }
    let counter = || {
        let mut ticks = [0x5_0000_0010, 0x7_0000_0020].into_iter();
        move || ticks.next().unwrap()
    };
    assert_eq!(stamps(counter()), [0x10, 0x20]);
    let whole = Masked { clock: counter(), mask: u64::MAX };
    assert_eq!(stamps(whole), [0x5_0000_0010, 0x7_0000_0020]);
}
