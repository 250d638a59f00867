//! The protocols of lanes and of event types under a model checker, which tries the orders in which threads may run and
//! the values that weakly ordered loads may see:
//!
//! ```sh
//! RUSTFLAGS="--cfg loom" cargo test --release -p tracewell-record --features std --lib model
//! ```
//!
//! Everything is as small as it can be: two packets of two events. What happened before the threads
//! start is no choice, so each model begins just before what it is about.

use std::sync::Arc;
use std::vec::Vec;

use loom::thread;
use tracewell_wire::native::image::{Geometry, LANE_WORDS, TYPE_TEXT};
use tracewell_wire::native::{FullPolicy, RecordHead};

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

/// A writer that has recorded events 0 to `events`.
fn writer(image: &Image<'_>, events: u64) -> Writer {
    let writer = Writer::new();
    writer.take(image, 0, Identity::default());
    (0..events).for_each(|number| push(&writer, image, number));
    writer
}

/// Number and stamp of an event belong together.
fn push(writer: &Writer, image: &Image<'_>, number: u64) {
    let _ = writer.push(image, 1, 100 + number, &[number], &[]);
}

/// The numbers of the events that a reader finds; each with its stamp and in its place.
fn read(reader: &mut LaneReader, image: &Image<'_>, looks: usize) -> Vec<u64> {
    let mut numbers = Vec::new();
    for _ in 0..looks {
        let Some(piece) = reader.next(image) else { break };
        let mut expected = piece.header.first_event;
        for record in piece.records.chunks(2) {
            let head = RecordHead::unpack(record[0]);
            assert_eq!((head.id, head.words), (1, 1));
            assert_eq!(piece.header.base + u64::from(head.delta), 100 + record[1]);
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
fn what_is_committed_is_there() {
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
fn what_is_overwritten_is_not_believed() {
    check(|| {
        let words = memory();
        let image = image(&words, FullPolicy::Loop);
        let writer = writer(&image, 1);
        // The reader has the header already, so that it copies two words only.
        let mut reader = LaneReader::new(&image, 0);
        assert_eq!(read(&mut reader, &image, 1), [0]);
        (1..4).for_each(|number| push(&writer, &image, number));
        let reading = Arc::clone(&words);
        let thread = thread::spawn(move || {
            let image = self::image(&reading, FullPolicy::Loop);
            let words = read(&mut reader, &image, 1);
            assert!(words == [1] || words == [2, 3] || words == [4], "{words:?}");
        });
        // The second of these lies where the reader copies.
        push(&writer, &image, 4);
        push(&writer, &image, 5);
        thread.join().unwrap();
    });
}

#[test]
fn what_is_not_consumed_is_not_overwritten() {
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
        // Stored if the reader was faster, else counted.
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

/// Names that begin alike compete for a slot: it gets one of them, every thread is told which, and who gets the answer
/// "this one" finds the whole text. What is left of a definition at any step is what another one meets.
#[test]
fn a_slot_gets_one_text_whole_and_all_who_define_it_agree() {
    check(|| {
        let words: Arc<Vec<_>> = Arc::new((0..3).map(|_| AtomicU64::new(0)).collect());
        let define = |words: &[AtomicU64], text: &[u8; 16]| {
            let slot = Slot(words);
            let given = slot.give(1, text);
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
