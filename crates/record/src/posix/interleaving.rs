//! Tests the order of events that writers store while a reader examines the packets.
//!
//! If the reader and the writers run on different processors, a critical order occurs only once in
//! millions of passes. So the tests interrupt the pass themselves: before the reader examines a
//! packet, writers run on the same thread, in an order that can be repeated. `model` checks the
//! orders of single loads and stores.

use std::boxed::Box;
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::vec::Vec;

use tracewell_wire::posix::object::{EXTRA_PACKETS, Geometry, head, owner};
use tracewell_wire::posix::{RecordHeader, StreamPolicy};

use super::cursor::{Cursor, Event};
use super::interruption;
use super::pool::{OPEN, Pool, TAG};
use super::reader::Reader;
use crate::stream::sync::{AtomicU64, Ordering};

/// A packet has room for two records.
const PACKET_WORDS: u32 = 10;
/// Owner number of delayed threads.
const DELAYED: u64 = owner(2, 1, 1, 0);

/// The clocks of the writers.
#[derive(Clone, Copy, Debug)]
enum Clocks {
    /// All events have the same timestamp, because the clock has coarse ticks.
    Coarse,
    /// Each event is later than the event before.
    Fine,
    /// The clocks of some writers are late, as on different processors.
    Different,
}

impl Clocks {
    fn stamp(self, writer: usize, number: u64) -> u64 {
        match self {
            Self::Coarse => 1_000_000,
            Self::Fine => 1_000_000 + 10 * number,
            Self::Different => 1_000_000 + 10 * number - 1000 * (writer as u64 % 5),
        }
    }
}

/// A stream, and writers that number their events.
struct Writers {
    memory: Vec<AtomicU64>,
    geometry: Geometry,
    cursors: Vec<Cursor>,
    /// Number of events that all writers together have stored.
    stored: Cell<u64>,
    clocks: Clocks,
    /// The packets that delayed threads own.
    delayed: RefCell<Vec<usize>>,
}

impl Writers {
    fn new(count: usize, clocks: Clocks) -> Rc<Self> {
        let packets = 2 * EXTRA_PACKETS;
        let geometry = Geometry { packet_words: PACKET_WORDS, packets, closed: packets };
        Rc::new(Self {
            memory: (0..geometry.total()).map(|_| AtomicU64::new(0)).collect(),
            geometry,
            cursors: (0..count).map(|_| Cursor::new()).collect(),
            stored: Cell::new(0),
            clocks,
            delayed: RefCell::default(),
        })
    }

    fn pool(&self) -> Pool<'_> {
        Pool::new(&self.memory, self.geometry, StreamPolicy::UntilFull).unwrap()
    }

    /// Stores the next event, whose data is its number. Stores nothing if the stream is full.
    fn record(&self, writer: usize) {
        let number = self.stored.get();
        let head = RecordHeader { length: 0, id: 65, flags: 0, process: 1 };
        let stamp = self.clocks.stamp(writer, number);
        let event = Event { head, stamp, address: 0, thread: writer as u64 };
        let owner = owner(1, writer as u32 + 1, 1, 0);
        let data = number.to_le_bytes();
        let stored = self.cursors[writer].push(&self.pool(), &event, &data, owner, &|_| true);
        self.stored.set(number + u64::from(stored.is_ok()));
    }

    /// Gives an open packet without an owner to a thread of another process; the search begins at
    /// packet `from`. The thread keeps the packet until `resume_delayed`, as if it were delayed
    /// while it stores a record.
    fn delay_another_in(&self, from: usize) {
        let pool = self.pool();
        let is_open = |packet: &usize| {
            let word = |word| pool.head(*packet, word).load(Ordering::Relaxed);
            word(head::OWNER) == 0 && word(head::STATE) & TAG == OPEN
        };
        if let Some(packet) = (from..pool.used()).chain(0..from).find(is_open) {
            pool.head(packet, head::OWNER).store(DELAYED, Ordering::Relaxed);
            self.delayed.borrow_mut().push(packet);
        }
    }

    /// Lets all delayed threads continue.
    fn resume_delayed(&self) {
        for packet in self.delayed.take() {
            self.pool().head(packet, head::OWNER).store(0, Ordering::Release);
        }
    }
}

/// Reads all events and returns their writers and numbers. After the reader has taken the first
/// events, `unread` stores more. While the reader takes these, `during` runs each time before the
/// reader examines a packet.
fn read(
    writers: &Rc<Writers>,
    unread: impl FnOnce(&Writers),
    mut during: impl FnMut(&Writers) + 'static,
) -> Vec<(u64, u64)> {
    let pool = writers.pool();
    let mut reader = Reader::new(&pool);
    let mut take_all = |found: &mut Vec<_>| {
        while let Some(record) = reader.take(&pool) {
            found.push((record.thread, reader.data()[0]));
        }
    };
    let mut found = Vec::new();
    take_all(&mut found);
    unread(writers);
    let interrupting = Rc::clone(writers);
    interruption::set(Some(Box::new(move || during(&interrupting))));
    take_all(&mut found);
    interruption::set(None);
    take_all(&mut found);
    assert_eq!(found.len() as u64, writers.stored.get(), "all events were read");
    found
}

/// If the clock is coarse, only the packets show the order.
#[test]
fn the_events_of_a_thread_stay_in_order_at_whatever_packet_it_interrupts_the_reader() {
    for (clocks, before, at, burst) in [Clocks::Coarse, Clocks::Fine]
        .into_iter()
        .flat_map(|clocks| (0..8).map(move |before| (clocks, before)))
        .flat_map(|(clocks, before)| (0..16).map(move |at| (clocks, before, at)))
        .flat_map(|(clocks, before, at)| (1..6).map(move |burst| (clocks, before, at, burst)))
    {
        let writers = Writers::new(1, clocks);
        // The reader has freed some packets, so it examines them although they are empty.
        (0..7).for_each(|_| writers.record(0));
        let mut packet = 0;
        let unread = |writers: &Writers| (0..before).for_each(|_| writers.record(0));
        let found = read(&writers, unread, move |writers| {
            if packet == at {
                (0..burst).for_each(|_| writers.record(0));
            }
            packet += 1;
        });
        let expected: Vec<_> = (0..writers.stored.get()).map(|number| (0, number)).collect();
        assert_eq!(found, expected, "{clocks:?}: {before} events, then {burst} at packet {at}");
    }
}

/// The crowd has more writers than there are exclusive packets, so some writers share packets. If
/// another thread is delayed while it stores a record in a packet, these writers move to another
/// open packet.
#[test]
fn the_events_of_a_crowd_stay_in_order_while_it_interrupts_the_reader() {
    const CROWD: u64 = EXTRA_PACKETS as u64 / 4 + 8;
    let clocks = [Clocks::Coarse, Clocks::Fine, Clocks::Different];
    for (seed, clocks) in (1..60_u64).zip(clocks.into_iter().cycle()) {
        let writers = Writers::new(CROWD as usize, clocks);
        (0..CROWD as usize).for_each(|writer| writers.record(writer));
        // A linear congruential generator; `choose` uses its upper bits.
        let mut random = seed;
        let mut choose = move |below: u64| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695);
            (random >> 33) % below
        };
        let mut packets = 0;
        let found = read(
            &writers,
            |_| {},
            move |writers| {
                packets += 1;
                match choose(8) {
                    // After 2000 packets, the writers record no more events, so that the reader
                    // finishes.
                    _ if packets > 2000 => writers.resume_delayed(),
                    0 => writers.delay_another_in(choose(CROWD) as usize),
                    1 => writers.resume_delayed(),
                    2 | 3 => (0..choose(6)).for_each(|_| writers.record(choose(CROWD) as usize)),
                    _ => {}
                }
            },
        );
        for writer in 0..CROWD {
            let own = found.iter().filter(|(of, _)| *of == writer);
            assert!(
                own.is_sorted_by_key(|(_, number)| number),
                "{clocks:?}, seed {seed}: writer {writer}"
            );
        }
    }
}
