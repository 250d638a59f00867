//! Storing records: where a writer stands is private to it.

use core::cell::Cell;

use tracewell_wire::native::join;
use tracewell_wire::posix::object::{Geometry, HEAD_WORDS, at, head};
use tracewell_wire::posix::{RecordHead, record_words};

use super::pool::{Full, Pool};
use crate::stream::sync::{AtomicU64, Ordering};

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

/// Where a writer stores next, in which packet. Places are indices of words of the memory.
#[derive(Debug)]
pub struct Place {
    next: Cell<usize>,
    end: Cell<usize>,
    start: Cell<usize>,
    head: Cell<usize>,
    packet: Cell<u32>,
    /// Order number of the packet's opening; 0 for no packet.
    opened: Cell<u64>,
}

impl Place {
    /// A place in no packet.
    pub const fn new() -> Self {
        Self {
            next: Cell::new(0),
            end: Cell::new(0),
            start: Cell::new(0),
            head: Cell::new(0),
            packet: Cell::new(0),
            opened: Cell::new(0),
        }
    }

    /// Forgets the packet, which belongs to somebody else.
    pub fn forget(&self) {
        self.end.set(0);
        self.next.set(0);
        self.opened.set(0);
    }

    pub(super) fn enter(&self, geometry: &Geometry, packet: usize, opened: u64, used: usize) {
        let start = geometry.packet(packet);
        self.packet.set(packet as u32);
        self.opened.set(opened);
        self.start.set(start);
        self.head.set(geometry.head(packet));
        self.next.set(start + used);
        self.end.set(start + geometry.packet_words as usize);
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
    pub fn push(
        &self,
        pool: &Pool<'_>,
        event: &Event,
        data: &[u8],
        owner: u64,
        lives: &dyn Fn(u64) -> bool,
    ) -> Result<(), Full> {
        if self.push_behind(pool.memory(), *event, data) {
            return Ok(());
        }
        let words = record_words(data.len());
        if words > pool.geometry().packet_words as usize {
            return Err(Full);
        }
        pool.claim(self, owner, words, lives)?;
        self.push_behind(pool.memory(), *event, data);
        Ok(())
    }

    /// Stores a record behind the last one if the packet has room for it; whether it had. The memory is the
    /// pool's: this is the part of [`Place::push`] that happens for nearly every event, to be compiled
    /// into its caller.
    #[inline(always)]
    pub fn push_behind(&self, memory: &[AtomicU64], event: Event, data: &[u8]) -> bool {
        let next = self.next.get();
        let end = next + record_words(data.len());
        if end > self.end.get() {
            return false;
        }
        let Some([first, stamp, address, thread, rest @ ..]) = Pool::range(memory, next, end)
        else {
            return false;
        };
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
        self.commit(memory, end, event.stamp);
        true
    }

    #[inline(always)]
    fn commit(&self, memory: &[AtomicU64], end: usize, stamp: u64) {
        let head = self.head.get();
        let Some([_, committed, _, last, ..]) = Pool::range(memory, head, head + HEAD_WORDS) else {
            return;
        };
        last.store(stamp, Ordering::Relaxed);
        let used = join((end - self.start.get()) as u32, self.opened.get() as u32);
        // Release: a reader that acquires this sees the words stored before.
        committed.store(used, Ordering::Release);
    }
}

// The order of the words in `Place::commit`.
const _: () = assert!(head::COMMITTED == 1 && head::LAST == 3);

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
