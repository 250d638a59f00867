//! Tests threads that are interrupted by signal handlers while they record. The handlers record as
//! well, and readers read at the same time.
//!
//! This file uses unsafe code to install signal handlers.
#![allow(unsafe_code)]

use std::cell::Cell;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use tracewell_record::stream::{
    EventType, Family, FullPolicy, LaneReader, Log, Stream, StreamOptions, Take,
};
use tracewell_wire::native::{PacketHeader, REBASE, RecordHeader, block};

const TEST: Family = Family::new(0, "test");
static STEP: EventType<(u32, u32, u64)> = EventType::new(TEST, "step", &["who", "number", "sum"]);
static STREAM: OnceLock<Stream> = OnceLock::new();
static RECORDED: AtomicU64 = AtomicU64::new(0);
/// Number of events that the copying reader has seen.
static SEEN: AtomicU64 = AtomicU64::new(0);

/// The handlers of threads 0 to 3 record as recorders 4 to 7.
const THREADS: u32 = 4;

thread_local! {
    static WHO: Cell<u32> = const { Cell::new(u32::MAX) };
    static HANDLED: Cell<u32> = const { Cell::new(0) };
}

fn sum(who: u32, number: u32) -> u64 {
    (u64::from(who) << 32 | u64::from(number)).wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

fn step(stream: &Stream, who: u32, number: u32) {
    stream.record(&STEP, (who, number, sum(who, number)));
    RECORDED.fetch_add(1, Ordering::Relaxed);
}

extern "C" fn handler(_: libc::c_int) {
    let who = WHO.with(Cell::get);
    if let Some(stream) = STREAM.get().filter(|_| who < THREADS) {
        let number = HANDLED.with(|handled| handled.replace(handled.get() + 1));
        step(stream, who + THREADS, number);
    }
}

/// Returns the next number that each thread is expected to record, and a count of the events of
/// each handler.
fn check_log(log: &[u8]) -> [u64; 2 * THREADS as usize] {
    let mut next = [0; 2 * THREADS as usize];
    let mut at = 0;
    while let block::Lookup::Block(found) = block::find(&log[at..]) {
        at += block::HEAD + found.body.len();
        if found.kind == Some(block::Kind::Packet) {
            let header = PacketHeader::read(found.body).unwrap();
            assert_eq!(header.used as usize * 8, found.body.len());
            let words: Vec<_> =
                found.body.as_chunks().0.iter().map(|w| u64::from_le_bytes(*w)).collect();
            check_records(&words[PacketHeader::WORDS..], &mut next);
        }
    }
    assert_eq!(at, log.len());
    next
}

fn check_records(words: &[u64], next: &mut [u64]) {
    let mut at = 0;
    while let Some(word) = words.get(at) {
        let head = RecordHeader::unpack(*word);
        if head.id != REBASE {
            let (who, number) = (words[at + 1], words[at + 2]);
            assert_eq!(words[at + 3], sum(who as u32, number as u32));
            // A handler that interrupts another handler records in a separate lane. So its event
            // can precede the event of the interrupted handler in the log.
            if who < u64::from(THREADS) {
                assert!(number >= next[who as usize], "{number} after {}", next[who as usize]);
                next[who as usize] = number + 1;
            } else {
                next[who as usize] += 1;
            }
        }
        at += 1 + usize::from(head.words);
    }
}

#[test]
fn nothing_is_torn_and_everything_is_counted() {
    let options =
        StreamOptions { policy: FullPolicy::Flush, packet_size: 4096, ..StreamOptions::default() };
    let stream = STREAM.get_or_init(|| Stream::anonymous(&options).unwrap());
    // SAFETY: the handler calls only functions that are safe in signal handlers.
    unsafe { libc::signal(libc::SIGUSR1, handler as *const () as libc::sighandler_t) };
    stream.start();
    let done = AtomicBool::new(false);
    let (log, looks) = std::thread::scope(|scope| {
        let workers: Vec<_> =
            (0..THREADS).map(|who| scope.spawn(move || work(stream, who))).collect();
        let reader = scope.spawn(|| {
            let mut log = Log::new(Vec::new(), Take::Out);
            while !done.load(Ordering::Acquire) {
                log.drain(stream).unwrap();
            }
            log.close(stream).unwrap()
        });
        let onlooker = scope.spawn(|| look_on(stream, &done));
        workers.into_iter().for_each(|worker| worker.join().unwrap());
        done.store(true, Ordering::Release);
        (reader.join().unwrap(), onlooker.join().unwrap())
    });
    let next = check_log(&log);
    let status = stream.image().status();
    let lost = status.lost + status.lost_unplaced;
    let handled: u64 = next[THREADS as usize..].iter().sum();
    assert!(handled > 0 && looks > 0, "{handled} events recorded by handlers, {looks} polls");
    let stored: u64 = count_events(&log);
    assert_eq!(stored + lost, RECORDED.load(Ordering::Relaxed), "{status:?}");
}

/// A child of a fork records only into inherited streams, under its own ids.
#[test]
fn a_child_of_a_fork_records_only_into_inherited_streams() {
    static CHILD: EventType<(u32,)> = EventType::new(TEST, "child", &["number"]);
    let make = |inherited| {
        let stream = Stream::anonymous(&StreamOptions { inherited, ..Default::default() }).unwrap();
        stream.start();
        stream.record(&CHILD, (0,));
        stream
    };
    let (inherited, own) = (make(true), make(false));
    // SAFETY: the child only records, which takes no lock that another thread could have held, and
    // exits without running other code.
    let child = unsafe { libc::fork() };
    if child == 0 {
        for number in 1..10 {
            inherited.record(&CHILD, (number,));
            own.record(&CHILD, (number,));
        }
        // SAFETY: ends the process at once.
        unsafe { libc::_exit(0) };
    }
    // SAFETY: no status is requested.
    unsafe { libc::waitpid(child, std::ptr::null_mut(), 0) };
    inherited.record(&CHILD, (10,));
    let processes = |stream: &Stream| -> Vec<_> {
        let image = stream.image();
        let lane =
            |lane| LaneReader::new(&image, lane).next(&image).map(|p| (p.header.process, p.events));
        (0..4).filter_map(lane).collect()
    };
    let parent = std::process::id();
    assert_eq!(processes(&inherited), [(parent, 2), (child as u32, 9)]);
    assert_eq!(processes(&own), [(parent, 1)]);
}

fn count_events(log: &[u8]) -> u64 {
    let index = log.len() - block::HEAD - 8;
    assert!(matches!(block::find(&log[index..]), block::Lookup::Block(_)));
    let (mut at, mut events) = (0, 0);
    while let block::Lookup::Block(found) = block::find(&log[at..]) {
        if found.kind == Some(block::Kind::Packet) {
            let mut word = PacketHeader::WORDS;
            while let Some(head) = tracewell_wire::native::word(found.body, word) {
                let head = RecordHeader::unpack(head);
                events += u64::from(head.id != REBASE);
                word += 1 + usize::from(head.words);
            }
        }
        at += block::HEAD + found.body.len();
    }
    events
}

fn work(stream: &Stream, who: u32) {
    WHO.with(|cell| cell.set(who));
    // SAFETY: the call has no arguments.
    let own = unsafe { libc::pthread_self() };
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(Ordering::Acquire) {
                // SAFETY: the thread exists as long as this scope.
                unsafe { libc::pthread_kill(own, libc::SIGUSR1) };
                // A thread that always has a pending signal never finishes a sleep, because time in
                // handlers does not count as sleep.
                std::thread::sleep(std::time::Duration::from_micros(50));
            }
        });
        for number in 0.. {
            step(stream, who, number);
            if number >= 100_000 {
                if HANDLED.with(Cell::get) >= 100 && SEEN.load(Ordering::Relaxed) > 0 {
                    break;
                }
                // Limits the number of events, even if the other threads are slow.
                std::thread::sleep(std::time::Duration::from_micros(10));
            }
        }
        stop.store(true, Ordering::Release);
    });
    WHO.with(|cell| cell.set(u32::MAX));
}

/// Reads all lanes repeatedly without removing records. Returns the number of events.
fn look_on(stream: &Stream, done: &AtomicBool) -> u64 {
    let image = stream.image();
    let mut readers: Vec<_> = (0..16).map(|lane| LaneReader::new(&image, lane)).collect();
    let mut seen = 0;
    while !done.load(Ordering::Acquire) {
        for reader in &mut readers {
            while let Some(piece) = reader.next(&image) {
                seen += piece.events;
                SEEN.store(seen, Ordering::Relaxed);
                check_records(piece.records, &mut [0; 2 * THREADS as usize]);
            }
            assert_eq!(reader.damaged(), 0);
        }
    }
    seen
}
