//! Checks the protocols of lanes and event types with a model checker. It tries all orders in which
//! threads can run, and all values that loads with weak ordering can return:
//!
//! ```sh
//! RUSTFLAGS="--cfg loom" cargo test --release -p tracewell-record --features std --lib model
//! ```
//!
//! The models are as small as possible: two packets of two events. Before the threads start, each
//! model records events in order, up to the step under test. These steps do not increase the
//! number of orders that the model checker must try.

use std::sync::Arc;
use std::vec::Vec;

use loom::thread;
use tracewell_wire::native::image::{Geometry, LANE_WORDS, TYPE_TEXT};
use tracewell_wire::native::{FullPolicy, RecordHeader};

use super::image::Image;
use super::reader::LaneReader;
use super::slot::Slot;
use super::sync::{AtomicU64, check};
use super::writer::{Identity, Writer};

const GEOMETRY: Geometry = Geometry { lanes: 1, packets: 2, packet_words: 14 };

fn memory() -> Arc<Vec<AtomicU64>> {
    let words = LANE_WORDS + 2 * 14;
    Arc::new((0..words).map(|_| AtomicU64::new(0)).collect())
}

fn image(words: &[AtomicU64], policy: FullPolicy) -> Image<'_> {
    Image::of_lane(words, GEOMETRY, policy)
}

/// Returns a writer that has recorded `events` events, numbered from 0.
fn writer(image: &Image<'_>, events: u64) -> Writer {
    let writer = Writer::new();
    writer.take(image, 0, Identity::default());
    (0..events).for_each(|number| push(&writer, image, number));
    writer
}

/// Records an event, and derives its timestamp from its number.
fn push(writer: &Writer, image: &Image<'_>, number: u64) {
    let _ = writer.push(image, 1, 100 + number, &[number], &[]);
}

/// Returns the numbers of the events that a reader finds, and checks their timestamps and
/// positions.
fn read(reader: &mut LaneReader, image: &Image<'_>, calls: usize) -> Vec<u64> {
    let mut numbers = Vec::new();
    for _ in 0..calls {
        let Some(part) = reader.next(image) else { break };
        let mut expected = part.header.first_event;
        for record in part.records.chunks(2) {
            let head = RecordHeader::unpack(record[0]);
            assert_eq!((head.id, head.words), (1, 1));
            assert_eq!(part.header.base + u64::from(head.delta), 100 + record[1]);
            assert_eq!(record[1], expected);
            numbers.push(record[1]);
            expected += 1;
        }
    }
    assert_eq!(reader.damaged(), 0);
    assert!(numbers.is_sorted(), "{numbers:?}");
    numbers
}

#[test]
fn committed_records_are_visible() {
    check(|| {
        let words = memory();
        let reading = Arc::clone(&words);
        let thread = thread::spawn(move || {
            let image = image(&reading, FullPolicy::Loop);
            let mut reader = LaneReader::new(&image, 0);
            let first = read(&mut reader, &image, 1);
            let second = read(&mut reader, &image, 1);
            assert!(
                [first, second]
                    .concat()
                    .into_iter()
                    .eq(0..reader.position().saturating_sub(10) / 2)
            );
        });
        let image = image(&words, FullPolicy::Loop);
        let writer = writer(&image, 0);
        push(&writer, &image, 0);
        push(&writer, &image, 1);
        thread.join().unwrap();
    });
}

#[test]
fn overwritten_words_are_not_trusted() {
    check(|| {
        let words = memory();
        let image = image(&words, FullPolicy::Loop);
        let writer = writer(&image, 1);
        // The reader already has the header, so it copies only two words.
        let mut reader = LaneReader::new(&image, 0);
        assert_eq!(read(&mut reader, &image, 1), [0]);
        (1..4).for_each(|number| push(&writer, &image, number));
        let reading = Arc::clone(&words);
        let thread = thread::spawn(move || {
            let image = self::image(&reading, FullPolicy::Loop);
            let words = read(&mut reader, &image, 1);
            assert!(words == [1] || words == [2, 3] || words == [4], "{words:?}");
        });
        // The second of these events overwrites the words that the reader copies.
        push(&writer, &image, 4);
        push(&writer, &image, 5);
        thread.join().unwrap();
    });
}

#[test]
fn unconsumed_records_are_not_overwritten() {
    check(|| {
        let words = memory();
        let image = image(&words, FullPolicy::Flush);
        let writer = writer(&image, 4);
        let reading = Arc::clone(&words);
        let thread = thread::spawn(move || {
            let image = self::image(&reading, FullPolicy::Flush);
            let mut reader = LaneReader::new(&image, 0);
            assert_eq!(read(&mut reader, &image, 1), [0, 1]);
            image.consume(0, reader.position());
        });
        // Stored if the reader is fast enough, otherwise counted as lost.
        push(&writer, &image, 4);
        thread.join().unwrap();
        let mut reader = LaneReader::new(&image, 0);
        let rest = read(&mut reader, &image, 3);
        let lost = image.head(0, tracewell_wire::native::image::lane::LOST);
        let lost = lost.load(super::sync::Ordering::Relaxed);
        assert!(
            (rest == [2, 3] && lost == 1) || (rest == [2, 3, 4] && lost == 0),
            "{rest:?} {lost}"
        );
    });
}

/// Two strings with the same beginning compete for a slot. The slot accepts one of them, and all
/// threads agree on which. A thread whose string was accepted reads it completely.
#[test]
fn a_slot_gets_one_text_whole_and_all_who_define_it_agree() {
    check(|| {
        let words: Arc<Vec<_>> = Arc::new((0..3).map(|_| AtomicU64::new(0)).collect());
        let define = |words: &[AtomicU64], text: &[u8; 16]| {
            let slot = Slot(words);
            let given = slot.define(1, text);
            let mut found = [0; TYPE_TEXT];
            let read = slot.read(&mut found);
            if given {
                assert_eq!((read, &found[..16]), (Some((1, 16)), &text[..]));
            }
            given
        };
        let (same, other) = (b"family/one(a:u8)", b"family/one(b:u8)");
        let threads = [same, other].map(|text| {
            let words = Arc::clone(&words);
            thread::spawn(move || define(&words, text))
        });
        let first = define(&words, same);
        let [second, third] = threads.map(|thread| thread.join().unwrap());
        assert_eq!(first, second);
        assert_ne!(first, third);
    });
}
