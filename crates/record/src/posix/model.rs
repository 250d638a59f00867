//! The protocol of packets under a model checker, which tries the orders in which threads may run and
//! the values that weakly ordered loads may see:
//!
//! ```sh
//! RUSTFLAGS="--cfg loom" cargo test --release -p tracewell-record --features std --lib model
//! ```
//!
//! A packet holds two records of one word of data.

use std::sync::Arc;
use std::vec::Vec;

use loom::thread;
use tracewell_wire::posix::object::{Geometry, HEAD_WORDS, at};
use tracewell_wire::posix::{RecordHead, StreamPolicy};

use super::pool::{Full, Pool, UNENDING};
use super::reader::Reader;
use super::writer::{Event, Place};
use crate::stream::sync::{AtomicU64, Ordering, check};

fn memory(packets: usize) -> Arc<Vec<AtomicU64>> {
    let words = 8 + packets * (HEAD_WORDS + 10);
    Arc::new((0..words).map(|_| AtomicU64::new(0)).collect())
}

fn pool(words: &[AtomicU64], packets: u32, closed: u32, policy: StreamPolicy) -> Pool<'_> {
    let geometry = Geometry { packet_words: 10, packets, closed };
    Pool::new(words, geometry, policy).unwrap()
}

/// Stamp and data of an event say its number.
fn push(place: &Place, pool: &Pool<'_>, owner: u64, number: u64) -> Result<(), Full> {
    let head = RecordHead { length: 0, id: 65, flags: 0, process: 1 };
    let event = Event { head, stamp: 100 + number, address: 0, thread: owner };
    place.push(pool, &event, &number.to_le_bytes(), owner, &|_| true)
}

/// The numbers that a reader finds; each with its stamp.
fn read(reader: &mut Reader, pool: &Pool<'_>, most: usize) -> Vec<u64> {
    let mut numbers = Vec::new();
    for _ in 0..most {
        let Some(taken) = reader.take(pool) else { break };
        assert_eq!((taken.head.id, taken.head.length), (65, 8));
        assert_eq!(taken.stamp, 100 + reader.data()[0]);
        numbers.push(reader.data()[0]);
    }
    assert_eq!(reader.damaged(), 0);
    numbers
}

#[test]
fn what_is_committed_is_there() {
    check(|| {
        let words = memory(1);
        let reading = Arc::clone(&words);
        let thread = thread::spawn(move || {
            let pool = pool(&reading, 1, 1, StreamPolicy::UntilFull);
            let mut reader = Reader::new(&pool);
            let found = read(&mut reader, &pool, 2);
            assert!([&[][..], &[0], &[0, 1]].contains(&&found[..]), "{found:?}");
        });
        let pool = pool(&words, 1, 1, StreamPolicy::UntilFull);
        let place = Place::new();
        push(&place, &pool, 1, 0).unwrap();
        push(&place, &pool, 1, 1).unwrap();
        thread.join().unwrap();
    });
}

#[test]
fn what_is_displaced_is_not_believed() {
    check(|| {
        let words = memory(1);
        let writing = pool(&words, 1, 0, StreamPolicy::Loop);
        let place = Place::new();
        push(&place, &writing, 1, 0).unwrap();
        push(&place, &writing, 1, 1).unwrap();
        let reading = Arc::clone(&words);
        let thread = thread::spawn(move || {
            let pool = pool(&reading, 1, 0, StreamPolicy::Loop);
            let mut reader = Reader::new(&pool);
            let found = read(&mut reader, &pool, 2);
            assert!(found.is_sorted() && found.iter().all(|number| *number < 3), "{found:?}");
        });
        // Takes the packet over that the reader copies from.
        push(&place, &writing, 1, 2).unwrap();
        thread.join().unwrap();
    });
}

#[test]
fn two_writers_never_have_one_packet() {
    check(|| {
        let words = memory(2);
        let writing = Arc::clone(&words);
        let thread = thread::spawn(move || {
            let pool = pool(&writing, 2, 2, StreamPolicy::UntilFull);
            push(&Place::new(), &pool, 1, 1).unwrap();
        });
        let pool = pool(&words, 2, 2, StreamPolicy::UntilFull);
        push(&Place::new(), &pool, 2, 0).unwrap();
        thread.join().unwrap();
        let mut reader = Reader::new(&pool);
        assert_eq!(read(&mut reader, &pool, 3), [0, 1]);
    });
}

#[test]
fn a_packet_is_free_only_when_everything_was_read() {
    check(|| {
        let words = memory(1);
        let writing = pool(&words, 1, 1, StreamPolicy::UntilFull);
        let place = Place::new();
        push(&place, &writing, UNENDING, 0).unwrap();
        let reading = Arc::clone(&words);
        let thread = thread::spawn(move || {
            let pool = pool(&reading, 1, 1, StreamPolicy::UntilFull);
            let mut reader = Reader::new(&pool);
            let first = read(&mut reader, &pool, 2);
            [first, read(&mut reader, &pool, 3)].concat()
        });
        push(&place, &writing, UNENDING, 1).unwrap();
        let stored = push(&place, &writing, UNENDING, 2).is_ok();
        let found = thread.join().unwrap();
        let expected: &[u64] = if stored { &[0, 1, 2] } else { &[0, 1] };
        assert!(expected.starts_with(&found), "{found:?} {stored}");
        let displaced = writing.word(at::DISPLACED).load(Ordering::Relaxed);
        assert_eq!(displaced, 0);
    });
}
