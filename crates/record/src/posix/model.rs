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
use tracewell_wire::posix::object::{Geometry, HEAD_WORDS, at, head};
use tracewell_wire::posix::{RecordHead, StreamPolicy};

use super::claim::Claim;
use super::pool::{Full, OPEN, Pool, TAG, UNENDING};
use super::reader::Reader;
use super::writer::{Event, Place};
use crate::stream::sync::{AtomicU64, Ordering, check, check_with};

/// A writer that has died.
const DEAD: u64 = 9;

fn memory(packets: usize) -> Arc<Vec<AtomicU64>> {
    let words = 16 + packets * (HEAD_WORDS + 10);
    Arc::new((0..words).map(|_| AtomicU64::new(0)).collect())
}

fn pool(words: &[AtomicU64], packets: u32, closed: u32, policy: StreamPolicy) -> Pool<'_> {
    let geometry = Geometry { packet_words: 10, packets, closed };
    Pool::new(words, geometry, policy).unwrap()
}

fn lives(owner: u64) -> bool {
    owner != DEAD
}

/// The data of an event says its number.
fn push_at(
    place: &Place,
    pool: &Pool<'_>,
    owner: u64,
    number: u64,
    stamp: u64,
) -> Result<(), Full> {
    let head = RecordHead { length: 0, id: 65, flags: 0, process: 1 };
    let event = Event { head, stamp, address: 0, thread: owner };
    place.push(pool, &event, &number.to_le_bytes(), owner, &lives)
}

/// The same with a stamp that says the number as well.
fn push(place: &Place, pool: &Pool<'_>, owner: u64, number: u64) -> Result<(), Full> {
    push_at(place, pool, owner, number, 100 + number)
}

/// The numbers that a reader finds.
fn read(reader: &mut Reader, pool: &Pool<'_>, most: usize) -> Vec<u64> {
    let mut numbers = Vec::new();
    for _ in 0..most {
        let Some(taken) = reader.take(pool) else { break };
        assert_eq!((taken.head.id, taken.head.length), (65, 8));
        numbers.push(reader.data()[0]);
    }
    assert_eq!(reader.damaged(), 0);
    numbers
}

fn sorted(mut numbers: Vec<u64>) -> Vec<u64> {
    numbers.sort_unstable();
    numbers
}

/// Takes a packet and does not give it back.
fn hold(pool: &Pool<'_>, packet: usize, owner: u64) -> bool {
    let place = Place::new();
    let (lives, had_one) = (&lives, false);
    pool.take(packet, &Claim { place: &place, owner, words: 5, stamp: 0, lives, had_one })
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
    check_with(2, || {
        let words = memory(1);
        let writing = pool(&words, 1, 0, StreamPolicy::Loop);
        let place = Place::new();
        push(&place, &writing, 1, 0).unwrap();
        push(&place, &writing, 1, 1).unwrap();
        let reading = Arc::clone(&words);
        let thread = thread::spawn(move || {
            let pool = pool(&reading, 1, 0, StreamPolicy::Loop);
            let mut reader = Reader::new(&pool);
            let found = read(&mut reader, &pool, 1);
            assert!(found.iter().all(|number| *number < 3), "{found:?}");
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
        assert_eq!(sorted(read(&mut reader, &pool, 3)), [0, 1]);
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

/// The clock goes back as the thread opens its second packet.
#[test]
fn a_thread_that_opens_a_packet_stays_in_order() {
    check_with(2, || {
        let words = memory(3);
        let writing = pool(&words, 3, 3, StreamPolicy::UntilFull);
        let place = Place::new();
        push_at(&place, &writing, 1, 0, 200).unwrap();
        let reading = Arc::clone(&words);
        let thread = thread::spawn(move || {
            let pool = pool(&reading, 3, 3, StreamPolicy::UntilFull);
            read(&mut Reader::new(&pool), &pool, 3)
        });
        push_at(&place, &writing, 1, 1, 200).unwrap();
        push_at(&place, &writing, 1, 2, 100).unwrap();
        let found = thread.join().unwrap();
        assert!([0, 1, 2].starts_with(&found), "{found:?}");
    });
}

#[test]
fn a_clock_that_is_set_back_leaves_a_thread_in_order() {
    const SECOND: u64 = 1_000_000_000;
    check_with(2, || {
        let words = memory(2);
        let writing = pool(&words, 2, 2, StreamPolicy::UntilFull);
        let place = Place::new();
        push_at(&place, &writing, 1, 0, 9 * SECOND).unwrap();
        let reading = Arc::clone(&words);
        let thread = thread::spawn(move || {
            let pool = pool(&reading, 2, 2, StreamPolicy::UntilFull);
            read(&mut Reader::new(&pool), &pool, 2)
        });
        push_at(&place, &writing, 1, 1, SECOND).unwrap();
        let found = thread.join().unwrap();
        assert!([0, 1].starts_with(&found), "{found:?}");
    });
}

/// Packet 0 is had by a thread, packet 1 is shared by a thread that must go on in packet 2, where a record of
/// another thread has a later stamp.
#[test]
fn a_thread_that_shares_packets_stays_in_order() {
    check_with(2, || {
        let words = memory(3);
        let writing = pool(&words, 3, 3, StreamPolicy::UntilFull);
        push_at(&Place::new(), &writing, 3, 0, 90).unwrap();
        assert!(hold(&writing, 1, 4));
        push_at(&Place::new(), &writing, 2, 1, 200).unwrap();
        writing.head(1, head::OWNER).store(0, Ordering::Release);
        assert_eq!(writing.head(2, head::STATE).load(Ordering::Relaxed) & TAG, OPEN);
        let reading = Arc::clone(&words);
        let thread = thread::spawn(move || {
            let pool = pool(&reading, 3, 3, StreamPolicy::UntilFull);
            read(&mut Reader::new(&pool), &pool, 4)
        });
        let place = Place::new();
        assert!(hold(&writing, 2, 4));
        push_at(&place, &writing, 1, 10, 100).unwrap();
        writing.head(2, head::OWNER).store(0, Ordering::Release);
        assert!(hold(&writing, 1, 4));
        push_at(&place, &writing, 1, 11, 100).unwrap();
        let mut found = thread.join().unwrap();
        found.retain(|number| *number >= 10);
        assert!([10, 11].starts_with(&found), "{found:?}");
    });
}

#[test]
fn writers_that_share_a_packet_lose_nothing() {
    check(|| {
        let words = memory(3);
        let writing = pool(&words, 3, 3, StreamPolicy::UntilFull);
        // Has the first packet; the second one is shared, and full after one more record.
        push(&Place::new(), &writing, 3, 0).unwrap();
        push(&Place::new(), &writing, 4, 1).unwrap();
        let other = Arc::clone(&words);
        let thread = thread::spawn(move || {
            let pool = pool(&other, 3, 3, StreamPolicy::UntilFull);
            push(&Place::new(), &pool, 1, 2).unwrap();
        });
        push(&Place::new(), &writing, 2, 3).unwrap();
        thread.join().unwrap();
        let mut reader = Reader::new(&writing);
        assert_eq!(sorted(read(&mut reader, &writing, 5)), [0, 1, 2, 3]);
    });
}

/// One opens a packet that somebody dead once had, another looks for packets of the dead.
#[test]
fn who_opens_a_packet_is_not_taken_for_who_had_it_before() {
    check(|| {
        let words = memory(2);
        let before = pool(&words, 2, 2, StreamPolicy::UntilFull);
        push(&Place::new(), &before, 3, 1).unwrap();
        let place = Place::new();
        push(&place, &before, DEAD, 0).unwrap();
        before.close(&place);
        let mut reader = Reader::new(&before);
        assert_eq!(sorted(read(&mut reader, &before, 3)), [0, 1]);
        let other = Arc::clone(&words);
        let thread = thread::spawn(move || {
            let pool = pool(&other, 2, 2, StreamPolicy::UntilFull);
            push(&Place::new(), &pool, 1, 2).is_ok()
        });
        let stored = push(&Place::new(), &before, 2, 3).is_ok();
        let stored = [thread.join().unwrap(), stored];
        let expected: Vec<u64> = (2..4).filter(|number| stored[*number as usize - 2]).collect();
        assert_eq!(sorted(read(&mut reader, &before, 4)), expected);
    });
}

/// The dead one stored a record, and began another.
#[test]
fn a_packet_of_the_dead_has_one_heir() {
    check(|| {
        let words = memory(2);
        let before = pool(&words, 2, 2, StreamPolicy::UntilFull);
        push(&Place::new(), &before, 3, 0).unwrap();
        push(&Place::new(), &before, 4, 1).unwrap();
        assert!(hold(&before, 1, DEAD));
        let other = Arc::clone(&words);
        let thread = thread::spawn(move || {
            let pool = pool(&other, 2, 2, StreamPolicy::UntilFull);
            push(&Place::new(), &pool, 1, 2).is_ok()
        });
        let stored = push(&Place::new(), &before, 2, 3).is_ok();
        let stored = [thread.join().unwrap(), stored];
        assert!(stored != [false; 2]);
        let kept = (0..4).filter(|number| *number < 2 || stored[*number as usize - 2]);
        let mut reader = Reader::new(&before);
        assert_eq!(sorted(read(&mut reader, &before, 5)), kept.collect::<Vec<_>>());
    });
}

/// Somebody who displaces the packet meets the reader, who frees it.
#[test]
fn a_packet_is_freed_or_displaced() {
    check_with(2, || {
        let words = memory(1);
        let writing = pool(&words, 1, 0, StreamPolicy::Loop);
        let place = Place::new();
        push(&place, &writing, 1, 0).unwrap();
        push(&place, &writing, 1, 1).unwrap();
        writing.close(&place);
        let reading = Arc::clone(&words);
        let thread = thread::spawn(move || {
            let pool = pool(&reading, 1, 0, StreamPolicy::Loop);
            let mut reader = Reader::new(&pool);
            let found = read(&mut reader, &pool, 3);
            (found, reader)
        });
        push(&place, &writing, 1, 2).unwrap();
        let (mut found, mut reader) = thread.join().unwrap();
        found.extend(read(&mut reader, &writing, 3));
        assert!(found.is_sorted() && found.last() == Some(&2), "{found:?}");
        let displaced = writing.word(at::DISPLACED).load(Ordering::Relaxed);
        assert!(displaced == 1 || found == [0, 1, 2], "{found:?}");
    });
}
