//! Tests a single lane in plain memory, with timestamps that the test chooses.

use std::sync::atomic::AtomicU64;

use tracewell_record::stream::{FullPolicy, Identity, Image, LaneReader, Writer};
use tracewell_wire::native::image::{Geometry, ImageHeader};
use tracewell_wire::native::{ClockFacts, ClockKind, REBASE, RecordHeader};

const GEOMETRY: Geometry = Geometry { lanes: 2, packets: 4, packet_words: 64 };

fn header(policy: FullPolicy) -> ImageHeader {
    let clock = ClockFacts {
        kind: ClockKind::Custom,
        ticks_per_second: 0,
        origin: 0,
        origin_realtime: 0,
        origin_monotonic: 0,
    };
    ImageHeader { geometry: GEOMETRY, policy, clock, process: 1 }
}

fn memory() -> Vec<AtomicU64> {
    (0..GEOMETRY.total()).map(|_| AtomicU64::new(0)).collect()
}

fn identity(thread: u32) -> Identity {
    Identity { process: 1, thread, name: [0; 16] }
}

/// Returns the timestamp and first field of each event that a reader finds.
fn events(image: &Image<'_>, reader: &mut LaneReader) -> Vec<(u64, u64)> {
    let mut found = Vec::new();
    while let Some(piece) = reader.next(image) {
        let (mut base, mut at) = (piece.header.base, 0);
        while let Some(word) = piece.records.get(at) {
            let head = RecordHeader::unpack(*word);
            match head.id {
                REBASE => base = piece.records[at + 1],
                _ => found.push((base + u64::from(head.delta), piece.records[at + 1])),
            }
            at += 1 + usize::from(head.words);
        }
    }
    found
}

#[test]
fn timestamps_may_be_far_apart_and_go_back() {
    let words = memory();
    let image = Image::create(&words, &header(FullPolicy::Loop)).unwrap();
    let writer = Writer::new();
    writer.take(&image, 0, identity(1));
    let far = 1 << 32;
    let stamps = [0, 1, far, far + 1, 3 * far, 3 * far + far - 1, 4 * far, 5, u64::MAX - 1];
    for (number, stamp) in stamps.into_iter().enumerate() {
        writer.push(&image, 7, stamp, &[number as u64], &[]).unwrap();
    }
    let mut reader = LaneReader::new(&image, 0);
    let expected: Vec<_> = stamps.into_iter().zip(0..).collect();
    assert_eq!(events(&image, &mut reader), expected);
}

#[test]
fn a_reader_continues_where_it_was_even_within_a_packet() {
    let words = memory();
    let image = Image::create(&words, &header(FullPolicy::Loop)).unwrap();
    let writer = Writer::new();
    writer.take(&image, 1, identity(1));
    let mut reader = LaneReader::new(&image, 1);
    let mut expected = 0;
    for number in 0..2000_u64 {
        // Every tenth event needs a new base.
        writer.push(&image, 7, number + ((number / 10) << 33), &[number], &[]).unwrap();
        if number % 7 == 0 {
            for (stamp, field) in events(&image, &mut reader) {
                assert_eq!((stamp, field), (expected + ((expected / 10) << 33), expected));
                expected += 1;
            }
        }
    }
    assert_eq!(expected, 1996);
}

#[test]
fn a_new_owner_completes_the_packet_of_the_old_one() {
    for before in 0..=54 {
        let words = memory();
        let image = Image::create(&words, &header(FullPolicy::Loop)).unwrap();
        let first = Writer::new();
        first.take(&image, 0, identity(1));
        (0..before).for_each(|n| first.push(&image, 7, n, &[n, 0], &[]).unwrap());
        let second = Writer::new();
        second.take(&image, 0, identity(2));
        (before..before + 5).for_each(|n| second.push(&image, 7, n, &[n, 0], &[]).unwrap());
        let mut reader = LaneReader::new(&image, 0);
        let mut threads = Vec::new();
        let (mut count, mut next) = (0, 0);
        while let Some(piece) = reader.next(&image) {
            assert_eq!(piece.header.first_event, next, "{before} events before");
            next += piece.events;
            count += piece.events;
            threads.push(piece.header.thread);
        }
        assert_eq!(count, before + 5);
        assert_eq!(threads.last(), Some(&2));
    }
}

#[test]
fn a_record_that_is_longer_than_a_packet_is_lost_and_counted() {
    let words = memory();
    let image = Image::create(&words, &header(FullPolicy::Loop)).unwrap();
    let writer = Writer::new();
    writer.take(&image, 0, identity(1));
    writer.push(&image, 7, 1, &[1], &[]).unwrap();
    let longest = (GEOMETRY.max_record_words() - 1) * 8;
    writer.push(&image, 7, 2, &[2], &vec![1; longest - 8]).unwrap();
    assert!(writer.push(&image, 7, 3, &[3], &vec![1; longest - 7]).is_err());
    assert!(writer.push(&image, 7, 3, &[3], &vec![1; 1 << 20]).is_err());
    writer.push(&image, 7, 4, &[4], &[]).unwrap();
    assert_eq!(image.status().lost, 2);
    let mut reader = LaneReader::new(&image, 0);
    assert_eq!(events(&image, &mut reader), [(1, 1), (2, 2), (4, 4)]);
}

#[test]
fn a_reader_of_hostile_memory_neither_panics_nor_hangs() {
    // The test stores a fixed sequence of pseudo-random words in the memory that a reader examines.
    let mut seed = 0x9E37_79B9_7F4A_7C15_u64;
    let mut random = move || {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        seed
    };
    for round in 0..300 {
        let words = memory();
        let image = Image::create(&words, &header(FullPolicy::Loop)).unwrap();
        let writer = Writer::new();
        writer.take(&image, 0, identity(1));
        let mut reader = LaneReader::new(&image, 0);
        for number in 0..100 {
            writer.push(&image, 7, number, &[number, 1], &[]).unwrap();
            if number % 30 == 29 {
                let _ = events(&image, &mut reader);
            }
            if number > 50 {
                // Change a word of the lane headers or of the packets, which follow the event
                // types.
                let first = GEOMETRY.heads();
                let at = first + random() as usize % (words.len() - first);
                let small = random() % 300;
                let word = if round % 2 == 0 { random() } else { small };
                words[at].store(word, std::sync::atomic::Ordering::Relaxed);
                let next = LaneReader::new(&image, 0).next(&image).map(|piece| piece.events);
                assert!(next.is_none_or(|events| events <= 64));
            }
        }
        let taken = Writer::new();
        taken.take(&image, 0, identity(2));
        let _ = taken.push(&image, 7, 1, &[1], &[]);
    }
}

#[test]
fn recorded_events_are_counted_across_packets_owners_and_wraps() {
    let words = memory();
    let image = Image::create(&words, &header(FullPolicy::Loop)).unwrap();
    assert_eq!(image.recorded(), 0);
    for owner in 0..3 {
        let writer = Writer::new();
        writer.take(&image, 0, identity(owner));
        // A packet has room for about 25 events, and the lane has four packets.
        for number in 0..200 {
            writer.push(&image, 7, number, &[number], &[]).unwrap();
            assert_eq!(image.recorded(), u64::from(owner) * 200 + number + 1);
        }
    }
    let other = Writer::new();
    other.take(&image, 1, identity(9));
    other.push(&image, 7, 1, &[1], &[]).unwrap();
    assert_eq!(image.recorded(), 601);
}
