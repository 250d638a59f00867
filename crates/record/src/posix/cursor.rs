//! A thread's private write position in a packet, and the code that stores a record there.
//!
//! The address of the next store depends only on the cursor, not on shared memory. So another
//! process can corrupt the data that a reader sees, but not the addresses that writers store to.

use core::cell::Cell;

use tracewell_wire::native::join;
use tracewell_wire::posix::object::{Geometry, HEAD_WORDS, head};
use tracewell_wire::posix::{RecordHeader, record_words};

use super::pool::Pool;
use crate::stream::sync::{AtomicU64, Ordering};

/// The stored fields of an event, without its data.
#[derive(Clone, Copy, Debug)]
pub struct Event {
    /// Event id, flags and process. The length in this header is ignored: the record contains the
    /// length of the data instead.
    pub head: RecordHeader,
    /// Timestamp in nanoseconds since 1970.
    pub stamp: u64,
    /// Return address of the call that generated the event; 0 for a system event.
    pub address: u64,
    /// Thread (`pthread_t`); 0 for a system event.
    pub thread: u64,
}

/// Smallest decrease of timestamps, in nanoseconds, that shows that the clock was set back. After a
/// smaller decrease, the record is only late.
const SET_BACK: u64 = 1_000_000_000;

/// Returns the later of `stamp` and `floor`. If `stamp` is earlier by `SET_BACK` or more, returns
/// `stamp`.
#[inline]
pub(super) const fn not_before(stamp: u64, floor: u64) -> u64 {
    if floor.wrapping_sub(stamp) < SET_BACK { floor } else { stamp }
}

/// The write position of one thread, at one depth of nested signal handlers, in one stream.
///
/// All positions are word indices in the stream's memory.
///
/// ```
/// use std::sync::atomic::AtomicU64;
/// use tracewell_record::posix::{Cursor, Event, Pool, Reader};
/// use tracewell_wire::posix::object::{Geometry, owner};
/// use tracewell_wire::posix::{FIRST_USER, RecordHeader, StreamPolicy};
///
/// let geometry = Geometry::for_promise(4096, 64).unwrap();
/// let memory: Vec<_> = (0..geometry.total()).map(|_| AtomicU64::new(0)).collect();
/// let pool = Pool::new(&memory, geometry, StreamPolicy::Loop).unwrap();
///
/// let head = RecordHeader { length: 0, id: FIRST_USER as u16, flags: 0, process: 7 };
/// let event = Event { head, stamp: 1_000, address: 0, thread: 7 };
/// let cursor = Cursor::new();
/// cursor.push(&pool, &event, b"ready", owner(7, 7, 1, 0), &|_| true).unwrap();
///
/// let mut reader = Reader::new(&pool);
/// let record = reader.take(&pool).unwrap();
/// assert_eq!((record.stamp, record.head.length), (1_000, 5));
/// assert_eq!(reader.data()[0].to_le_bytes(), *b"ready\0\0\0");
/// ```
#[derive(Debug)]
pub struct Cursor {
    /// Index of the next word to be written.
    next: Cell<usize>,
    /// Index of the first word after the packet; 0 if the cursor is in no packet.
    end: Cell<usize>,
    /// Index of the packet's first word.
    start: Cell<usize>,
    /// Index of the first word of the packet's header.
    head: Cell<usize>,
    packet: Cell<u32>,
    /// Order number that the packet got when it was opened; 0 if the cursor is in no packet.
    opened: Cell<u64>,
    /// Timestamp of the last record in the packet. The next record must not be earlier.
    pub(super) last: Cell<u64>,
    /// The packet that was last used as a shared packet, and the order number that it got when it
    /// was opened. Both are 0 if the last record went into an exclusive packet.
    pub(super) shared: Cell<(u32, u64)>,
    /// Index, plus 1, of the packet that this writer owns or may own; 0 if there is none.
    held: Cell<u32>,
    /// Order number that the exclusive packet got when it was opened; 0 if there is none.
    pub(super) exclusive: Cell<u64>,
}

impl Cursor {
    /// Creates a cursor that is in no packet.
    pub const fn new() -> Self {
        Self {
            next: Cell::new(0),
            end: Cell::new(0),
            start: Cell::new(0),
            head: Cell::new(0),
            packet: Cell::new(0),
            opened: Cell::new(0),
            last: Cell::new(0),
            shared: Cell::new((0, 0)),
            held: Cell::new(0),
            exclusive: Cell::new(0),
        }
    }

    /// Forgets the packet, because the packet now belongs to another thread or process.
    pub fn forget(&self) {
        self.drop_packet();
        self.last.set(0);
        self.shared.set((0, 0));
        self.held.set(0);
    }

    /// Leaves the packet. The next record needs a different packet.
    pub(super) fn drop_packet(&self) {
        self.end.set(0);
        self.next.set(0);
        self.opened.set(0);
    }

    /// Returns the timestamp of the last record, or 0 if there is none.
    pub fn last(&self) -> u64 {
        self.last.get()
    }

    /// Returns the current packet and the order number that it got when it was opened. The number
    /// is 0 if there is no packet.
    pub(super) fn packet(&self) -> (usize, u64) {
        (self.packet.get() as usize, self.opened.get())
    }

    /// Moves the cursor to a packet. The next record follows the first `used` words of the packet.
    /// `last` is the timestamp of the packet's last record.
    pub(super) fn enter(
        &self,
        geometry: &Geometry,
        packet: usize,
        opened: u64,
        used: u32,
        last: u64,
    ) {
        let start = geometry.packet(packet);
        self.packet.set(packet as u32);
        self.opened.set(opened);
        self.last.set(last);
        self.start.set(start);
        self.head.set(geometry.head(packet));
        // `used` comes from shared memory, so limit it to the packet's size.
        self.next.set(start + used.min(geometry.packet_words) as usize);
        self.end.set(start + geometry.packet_words as usize);
    }

    /// Leaves the packet and returns it with the order number that it got when it was opened, or
    /// returns `None` if the cursor was in no packet.
    pub(super) fn leave(&self) -> Option<(usize, u64)> {
        let opened = self.opened.get();
        self.drop_packet();
        (opened != 0).then_some((self.packet.get() as usize, opened))
    }

    /// Returns true if the packet has room for a record of `words` words.
    pub(super) fn has_room(&self, words: usize) -> bool {
        self.next.get() + words <= self.end.get()
    }

    /// Returns the packet that was last used as a shared packet, and the order number that it got
    /// when it was opened.
    pub(super) fn shared(&self) -> Option<(usize, u64)> {
        let (packet, opened) = self.shared.get();
        (opened != 0).then_some((packet as usize, opened))
    }

    /// Stores the fact that this writer owns a packet, or is about to own it.
    pub(super) fn hold(&self, packet: usize) {
        self.held.set(packet as u32 + 1);
    }

    /// Stores the fact that this writer owns no packet.
    pub(super) fn release(&self) {
        self.held.set(0);
    }

    /// Returns the packet that this writer owns or may own, if any.
    pub(super) fn held(&self) -> Option<usize> {
        (self.held.get() as usize).checked_sub(1)
    }

    /// Stores a record after the last record. Stores nothing and returns false if the packet has no
    /// room, or if the timestamp is earlier than the last record's timestamp.
    ///
    /// `memory` must be the pool's memory. This part of [`Cursor::push`] runs for almost every
    /// event. The compiler should inline it into its caller.
    #[inline(always)]
    pub fn append(&self, memory: &[AtomicU64], event: Event, data: &[u8]) -> bool {
        let next = self.next.get();
        let end = next + record_words(data.len());
        if end > self.end.get() || event.stamp < self.last.get() {
            return false;
        }
        let Some([first, stamp, address, thread, rest @ ..]) = Pool::range(memory, next, end)
        else {
            return false;
        };
        // Relaxed: no reader trusts these words before the commit below.
        let head = RecordHeader { length: data.len() as u32, ..event.head };
        first.store(head.pack(), Ordering::Relaxed);
        stamp.store(event.stamp, Ordering::Relaxed);
        address.store(event.address, Ordering::Relaxed);
        thread.store(event.thread, Ordering::Relaxed);
        let (whole, part) = data.as_chunks::<8>();
        for (to, piece) in rest.iter().zip(whole) {
            to.store(u64::from_le_bytes(*piece), Ordering::Relaxed);
        }
        if let (Some(to), false) = (rest.get(whole.len()), part.is_empty()) {
            let mut word = [0; 8];
            word[..part.len()].copy_from_slice(part);
            to.store(u64::from_le_bytes(word), Ordering::Relaxed);
        }
        self.next.set(end);
        self.last.set(event.stamp);
        self.commit(memory, end, event.stamp);
        true
    }

    /// Publishes the words up to `end`.
    #[inline(always)]
    fn commit(&self, memory: &[AtomicU64], end: usize, stamp: u64) {
        let head = self.head.get();
        let Some([_, committed, _, last, ..]) = Pool::range(memory, head, head + HEAD_WORDS) else {
            return;
        };
        last.store(stamp, Ordering::Relaxed);
        // Store the count together with the order number from the packet's opening, so that the
        // next owner recognises an old count.
        let used = join((end - self.start.get()) as u32, self.opened.get() as u32);
        // Release: a reader that loads this value with acquire sees all words stored before the
        // release store.
        committed.store(used, Ordering::Release);
    }
}

// `Cursor::commit` expects these words of the header in this order.
const _: () = assert!(head::COMMITTED == 1 && head::LAST == 3);

impl Default for Cursor {
    fn default() -> Self {
        Self::new()
    }
}
