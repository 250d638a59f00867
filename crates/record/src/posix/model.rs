//! Checks the protocol of packets with a model checker. It tries all orders in which threads can
//! run, and all values that loads with weak ordering can return:
//!
//! ```sh
//! RUSTFLAGS="--cfg loom" cargo test --release -p tracewell-record --features std --lib model
//! ```
//!
//! A packet has room for two records with one word of data each.

use std::sync::Arc;
use std::vec::Vec;

use loom::thread;
use tracewell_wire::posix::object::{Geometry, HEAD_WORDS, at, head};
use tracewell_wire::posix::{RecordHeader, StreamPolicy};

use super::claim::Claim;
use super::cursor::{Cursor, Event};
use super::pool::{IMMORTAL_OWNER, OPEN, Pool, TAG};
use super::reader::Reader;
use crate::stream::Full;
use crate::stream::sync::{AtomicU64, Ordering, check, check_with};

/// Owner number of a writer that has died.
const DEAD: u64 = 9;

fn memory(packets: usize) -> Arc<Vec<AtomicU64>> {
    let words = 16 + packets * (HEAD_WORDS + 10);
    Arc::new((0..words).map(|_| AtomicU64::new(0)).collect())
}

fn pool(words: &[AtomicU64], packets: u32, closed: u32, policy: StreamPolicy) -> Pool<'_> {
    let geometry = Geometry { packet_words: 10, packets, closed };
    Pool::new(words, geometry, policy).unwrap()
}

fn is_alive(owner: u64) -> bool {
    owner != DEAD
}

/// Stores an event whose data is `number`.
fn push_at(
    cursor: &Cursor,
    pool: &Pool<'_>,
    owner: u64,
    number: u64,
    stamp: u64,
) -> Result<(), Full> {
    let head = RecordHeader { length: 0, id: 65, flags: 0, process: 1 };
    let event = Event { head, stamp, address: 0, thread: owner };
    cursor.push(pool, &event, &number.to_le_bytes(), owner, &is_alive)
}

/// Like `push_at`, with a timestamp derived from the number.
fn push(cursor: &Cursor, pool: &Pool<'_>, owner: u64, number: u64) -> Result<(), Full> {
    push_at(cursor, pool, owner, number, 100 + number)
}

/// Lets a reader take up to `max` events, and returns their numbers.
fn read(reader: &mut Reader, pool: &Pool<'_>, max: usize) -> Vec<u64> {
    let mut numbers = Vec::new();
    for _ in 0..max {
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
    let cursor = Cursor::new();
    let (is_alive, closed_own) = (&is_alive, false);
    let claim = Claim { cursor: &cursor, owner, words: 5, stamp: 0, is_alive, closed_own };
    pool.take(packet, &claim)
}

#[test]
fn committed_records_are_visible() {
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
        let cursor = Cursor::new();
        push(&cursor, &pool, 1, 0).unwrap();
        push(&cursor, &pool, 1, 1).unwrap();
        thread.join().unwrap();
    });
}

#[test]
fn displaced_records_are_not_trusted() {
    check_with(2, || {
        let words = memory(1);
        let writing = pool(&words, 1, 0, StreamPolicy::Loop);
        let cursor = Cursor::new();
        push(&cursor, &writing, 1, 0).unwrap();
        push(&cursor, &writing, 1, 1).unwrap();
        let reading = Arc::clone(&words);
        let thread = thread::spawn(move || {
            let pool = pool(&reading, 1, 0, StreamPolicy::Loop);
            let mut reader = Reader::new(&pool);
            let found = read(&mut reader, &pool, 1);
            assert!(found.iter().all(|number| *number < 3), "{found:?}");
        });
        // Displaces the packet from which the reader copies.
        push(&cursor, &writing, 1, 2).unwrap();
        thread.join().unwrap();
    });
}

#[test]
fn two_writers_never_own_one_packet() {
    check(|| {
        let words = memory(2);
        let writing = Arc::clone(&words);
        let thread = thread::spawn(move || {
            let pool = pool(&writing, 2, 2, StreamPolicy::UntilFull);
            push(&Cursor::new(), &pool, 1, 1).unwrap();
        });
        let pool = pool(&words, 2, 2, StreamPolicy::UntilFull);
        push(&Cursor::new(), &pool, 2, 0).unwrap();
        thread.join().unwrap();
        let mut reader = Reader::new(&pool);
        assert_eq!(sorted(read(&mut reader, &pool, 3)), [0, 1]);
    });
}

#[test]
fn a_packet_is_freed_only_after_all_its_records_were_read() {
    check(|| {
        let words = memory(1);
        let writing = pool(&words, 1, 1, StreamPolicy::UntilFull);
        let cursor = Cursor::new();
        push(&cursor, &writing, IMMORTAL_OWNER, 0).unwrap();
        let reading = Arc::clone(&words);
        let thread = thread::spawn(move || {
            let pool = pool(&reading, 1, 1, StreamPolicy::UntilFull);
            let mut reader = Reader::new(&pool);
            let first = read(&mut reader, &pool, 2);
            [first, read(&mut reader, &pool, 3)].concat()
        });
        push(&cursor, &writing, IMMORTAL_OWNER, 1).unwrap();
        let stored = push(&cursor, &writing, IMMORTAL_OWNER, 2).is_ok();
        let found = thread.join().unwrap();
        let expected: &[u64] = if stored { &[0, 1, 2] } else { &[0, 1] };
        assert!(expected.starts_with(&found), "{found:?} {stored}");
        let displaced = writing.word(at::DISPLACED).load(Ordering::Relaxed);
        assert_eq!(displaced, 0);
    });
}

/// The clock is set back when the thread opens its second packet.
#[test]
fn a_thread_that_opens_a_packet_stays_in_order() {
    check_with(2, || {
        let words = memory(3);
        let writing = pool(&words, 3, 3, StreamPolicy::UntilFull);
        let cursor = Cursor::new();
        push_at(&cursor, &writing, 1, 0, 200).unwrap();
        let reading = Arc::clone(&words);
        let thread = thread::spawn(move || {
            let pool = pool(&reading, 3, 3, StreamPolicy::UntilFull);
            read(&mut Reader::new(&pool), &pool, 3)
        });
        push_at(&cursor, &writing, 1, 1, 200).unwrap();
        push_at(&cursor, &writing, 1, 2, 100).unwrap();
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
        let cursor = Cursor::new();
        push_at(&cursor, &writing, 1, 0, 9 * SECOND).unwrap();
        let reading = Arc::clone(&words);
        let thread = thread::spawn(move || {
            let pool = pool(&reading, 2, 2, StreamPolicy::UntilFull);
            read(&mut Reader::new(&pool), &pool, 2)
        });
        push_at(&cursor, &writing, 1, 1, SECOND).unwrap();
        let found = thread.join().unwrap();
        assert!([0, 1].starts_with(&found), "{found:?}");
    });
}

/// Packet 0 has an exclusive owner. A thread shares packet 1, and then must continue in packet 2,
/// which contains a later record of another thread.
#[test]
fn a_thread_that_shares_packets_stays_in_order() {
    check_with(2, || {
        let words = memory(3);
        let writing = pool(&words, 3, 3, StreamPolicy::UntilFull);
        push_at(&Cursor::new(), &writing, 3, 0, 90).unwrap();
        assert!(hold(&writing, 1, 4));
        push_at(&Cursor::new(), &writing, 2, 1, 200).unwrap();
        writing.head(1, head::OWNER).store(0, Ordering::Release);
        assert_eq!(writing.head(2, head::STATE).load(Ordering::Relaxed) & TAG, OPEN);
        let reading = Arc::clone(&words);
        let thread = thread::spawn(move || {
            let pool = pool(&reading, 3, 3, StreamPolicy::UntilFull);
            read(&mut Reader::new(&pool), &pool, 4)
        });
        let cursor = Cursor::new();
        assert!(hold(&writing, 2, 4));
        push_at(&cursor, &writing, 1, 10, 100).unwrap();
        writing.head(2, head::OWNER).store(0, Ordering::Release);
        assert!(hold(&writing, 1, 4));
        push_at(&cursor, &writing, 1, 11, 100).unwrap();
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
        // Writer 3 owns the first packet. Writer 4 shares the second packet, which is full after
        // one more record.
        push(&Cursor::new(), &writing, 3, 0).unwrap();
        push(&Cursor::new(), &writing, 4, 1).unwrap();
        let other = Arc::clone(&words);
        let thread = thread::spawn(move || {
            let pool = pool(&other, 3, 3, StreamPolicy::UntilFull);
            push(&Cursor::new(), &pool, 1, 2).unwrap();
        });
        push(&Cursor::new(), &writing, 2, 3).unwrap();
        thread.join().unwrap();
        let mut reader = Reader::new(&writing);
        assert_eq!(sorted(read(&mut reader, &writing, 5)), [0, 1, 2, 3]);
    });
}

/// One thread opens a packet whose earlier owner died, while another searches for packets of dead
/// owners.
#[test]
fn a_new_owner_is_not_taken_for_the_dead_one_before() {
    check(|| {
        let words = memory(2);
        let before = pool(&words, 2, 2, StreamPolicy::UntilFull);
        push(&Cursor::new(), &before, 3, 1).unwrap();
        let cursor = Cursor::new();
        push(&cursor, &before, DEAD, 0).unwrap();
        before.close(&cursor);
        let mut reader = Reader::new(&before);
        assert_eq!(sorted(read(&mut reader, &before, 3)), [0, 1]);
        let other = Arc::clone(&words);
        let thread = thread::spawn(move || {
            let pool = pool(&other, 2, 2, StreamPolicy::UntilFull);
            push(&Cursor::new(), &pool, 1, 2).is_ok()
        });
        let stored = push(&Cursor::new(), &before, 2, 3).is_ok();
        let stored = [thread.join().unwrap(), stored];
        let expected: Vec<u64> = (2..4).filter(|number| stored[*number as usize - 2]).collect();
        assert_eq!(sorted(read(&mut reader, &before, 4)), expected);
    });
}

/// The dead owner stored one record and began another record.
#[test]
fn a_packet_of_a_dead_owner_is_inherited_once() {
    check(|| {
        let words = memory(2);
        let before = pool(&words, 2, 2, StreamPolicy::UntilFull);
        push(&Cursor::new(), &before, 3, 0).unwrap();
        push(&Cursor::new(), &before, 4, 1).unwrap();
        assert!(hold(&before, 1, DEAD));
        let other = Arc::clone(&words);
        let thread = thread::spawn(move || {
            let pool = pool(&other, 2, 2, StreamPolicy::UntilFull);
            push(&Cursor::new(), &pool, 1, 2).is_ok()
        });
        let stored = push(&Cursor::new(), &before, 2, 3).is_ok();
        let stored = [thread.join().unwrap(), stored];
        assert!(stored != [false; 2]);
        let kept = (0..4).filter(|number| *number < 2 || stored[*number as usize - 2]);
        let mut reader = Reader::new(&before);
        assert_eq!(sorted(read(&mut reader, &before, 5)), kept.collect::<Vec<_>>());
    });
}

/// A writer displaces the packet while the reader frees it.
#[test]
fn a_packet_is_freed_or_displaced() {
    check_with(2, || {
        let words = memory(1);
        let writing = pool(&words, 1, 0, StreamPolicy::Loop);
        let cursor = Cursor::new();
        push(&cursor, &writing, 1, 0).unwrap();
        push(&cursor, &writing, 1, 1).unwrap();
        writing.close(&cursor);
        let reading = Arc::clone(&words);
        let thread = thread::spawn(move || {
            let pool = pool(&reading, 1, 0, StreamPolicy::Loop);
            let mut reader = Reader::new(&pool);
            let found = read(&mut reader, &pool, 3);
            (found, reader)
        });
        push(&cursor, &writing, 1, 2).unwrap();
        let (mut found, mut reader) = thread.join().unwrap();
        found.extend(read(&mut reader, &writing, 3));
        assert!(found.is_sorted() && found.last() == Some(&2), "{found:?}");
        let displaced = writing.word(at::DISPLACED).load(Ordering::Relaxed);
        assert!(displaced == 1 || found == [0, 1, 2], "{found:?}");
    });
}

/// The kernel has rejected memory barriers, so writers execute fences instead.
#[test]
fn a_reader_that_waits_is_woken_or_finds_the_record() {
    check(|| {
        let words = memory(1);
        let writing = pool(&words, 1, 1, StreamPolicy::UntilFull);
        let cursor = Cursor::new();
        push(&cursor, &writing, 1, 0).unwrap();
        let mut reader = Reader::new(&writing);
        assert_eq!(read(&mut reader, &writing, 2), [0]);
        writing.word(at::FENCES).store(1, Ordering::Relaxed);
        let reading = Arc::clone(&words);
        let thread = thread::spawn(move || {
            let pool = pool(&reading, 1, 1, StreamPolicy::UntilFull);
            pool.announce_reader(|| false, || panic!("the flag was set before"));
            !reader.is_empty(&pool)
        });
        push(&cursor, &writing, 1, 1).unwrap();
        let woken = writing.may_have_waiter(false) && writing.withdraw_readers();
        let found = thread.join().unwrap();
        assert!(found || woken);
    });
}
