//! Storing records: where a writer stands is private to it.

use core::cell::Cell;

use tracewell_wire::native::join;
use tracewell_wire::posix::object::{at, head};
use tracewell_wire::posix::{RecordHead, record_words};

use super::pool::{Full, Pool};
use crate::stream::sync::Ordering;

/// What is stored of an event besides its data.
#[derive(Clone, Copy, Debug)]
pub struct Event {
    /// Id, flags, process; the length is that of the data.
    pub head: RecordHead,
    /// Nanoseconds since 1970.
    pub stamp: u64,
    /// Where it was generated.
    pub address: u64,
    /// Thread (`pthread_t`).
    pub thread: u64,
}

/// Where a writer stores next, in which packet.
#[derive(Debug)]
pub struct Place {
    packet: Cell<u32>,
    next: Cell<u32>,
    end: Cell<u32>,
    /// Order number of the packet's opening; 0 for no packet.
    opened: Cell<u64>,
}

impl Place {
    /// A place in no packet.
    pub const fn new() -> Self {
        Self { packet: Cell::new(0), next: Cell::new(0), end: Cell::new(0), opened: Cell::new(0) }
    }

    /// Forgets the packet, which belongs to somebody else.
    pub fn forget(&self) {
        self.end.set(0);
        self.next.set(0);
        self.opened.set(0);
    }

    /// The order number of the opening of its packet; 0 for no packet.
    #[inline]
    pub fn packet(&self) -> u64 {
        self.opened.get()
    }

    pub(super) fn enter(&self, packet: usize, opened: u64, next: usize, end: usize) {
        self.packet.set(packet as u32);
        self.opened.set(opened);
        self.next.set(next as u32);
        self.end.set(end as u32);
    }

    pub(super) fn leave(&self) -> Option<(usize, u64)> {
        let opened = self.opened.get();
        self.forget();
        (opened != 0).then_some((self.packet.get() as usize, opened))
    }

    /// Stores a record, and opens a packet for it where there is no room. `owner` is process (low half)
    /// and thread (high half), or [`UNENDING`](super::UNENDING); `lives` says whether an owner's thread
    /// still is, and is asked only where packets become scarce.
    ///
    /// # Errors
    /// Where there is no room; nobody has counted that yet.
    #[inline]
    pub fn push(
        &self,
        pool: &Pool<'_>,
        event: &Event,
        data: &[u8],
        owner: u64,
        lives: &dyn Fn(u64) -> bool,
    ) -> Result<(), Full> {
        let words = record_words(data.len()) as u32;
        if self.next.get() + words > self.end.get() {
            self.claim(pool, words, owner, lives)?;
        }
        self.store(pool, words, event, data);
        Ok(())
    }

    #[cold]
    #[inline(never)]
    fn claim(
        &self,
        pool: &Pool<'_>,
        words: u32,
        owner: u64,
        lives: &dyn Fn(u64) -> bool,
    ) -> Result<(), Full> {
        if words > pool.geometry().packet_words {
            return Err(Full);
        }
        pool.claim(self, owner, words as usize, lives)
    }

    #[inline]
    fn store(&self, pool: &Pool<'_>, words: u32, event: &Event, data: &[u8]) {
        let (packet, next) = (self.packet.get() as usize, self.next.get());
        let end = next + words;
        let room = pool.packet(packet, next as usize, end as usize);
        let [first, stamp, address, thread, rest @ ..] = room else { return };
        let head = RecordHead { length: data.len() as u32, ..event.head };
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
        pool.head(packet, head::LAST).store(event.stamp, Ordering::Relaxed);
        let committed = join(end, self.opened.get() as u32);
        // Release: a reader that acquires this sees the words stored before.
        pool.head(packet, head::COMMITTED).store(committed, Ordering::Release);
    }
}

impl Default for Place {
    fn default() -> Self {
        Self::new()
    }
}

impl Pool<'_> {
    /// Counts an event as lost.
    pub fn lose(&self) {
        self.word(at::LOST).fetch_add(1, Ordering::Relaxed);
    }
}
