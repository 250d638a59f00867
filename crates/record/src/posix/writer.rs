//! Storing records: where a writer stands is private to it.
//!
//! Stamps never decrease in a packet. A thread's next record lies behind its last one in the same packet; or in
//! a packet that was opened after the last one's was closed; or it has a later stamp, and a look of the reader
//! that does not see the last one leaves it for the next look ([`Pool::after`]). So a reader can give out the
//! records of each thread in their order, whatever clocks do.

use core::cell::Cell;

use tracewell_wire::native::{join, split};
use tracewell_wire::posix::object::{Geometry, HEAD_WORDS, at, head};
use tracewell_wire::posix::{RecordHead, record_words};

use super::claim::Claim;
use super::pool::{Full, Pool};
use crate::stream::sync::{AtomicU64, Ordering, fence};

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

/// A clock that was set back by less than this is taken for one that is a little late.
const SET_BACK: u64 = 1_000_000_000;

/// The stamp, or the floor if that is later; not if it is so much later that the clock was set back.
#[inline]
pub(super) const fn not_before(stamp: u64, floor: u64) -> u64 {
    if floor.wrapping_sub(stamp) < SET_BACK { floor } else { stamp }
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
    /// The stamp that the next record may not be before: that of the last record in the packet.
    last: Cell<u64>,
    /// The packet that was shared last, and its opening; 0 if the last record went into a packet of one's own.
    shared: Cell<(u32, u64)>,
    /// The packet whose owner is this writer, or may be; plus 1, 0 for none.
    held: Cell<u32>,
    /// Order number of the opening of the packet that is had from event to event.
    alone: Cell<u64>,
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
            last: Cell::new(0),
            shared: Cell::new((0, 0)),
            held: Cell::new(0),
            alone: Cell::new(0),
        }
    }

    /// Forgets the packet, which belongs to somebody else.
    pub fn forget(&self) {
        self.drop_packet();
        self.last.set(0);
        self.shared.set((0, 0));
        self.held.set(0);
    }

    fn drop_packet(&self) {
        self.end.set(0);
        self.next.set(0);
        self.opened.set(0);
    }

    /// The stamp of the last record; 0 for none.
    pub fn last(&self) -> u64 {
        self.last.get()
    }

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
        self.next.set(start + used.min(geometry.packet_words) as usize);
        self.end.set(start + geometry.packet_words as usize);
    }

    pub(super) fn leave(&self) -> Option<(usize, u64)> {
        let opened = self.opened.get();
        self.drop_packet();
        (opened != 0).then_some((self.packet.get() as usize, opened))
    }

    pub(super) fn has_room(&self, words: usize) -> bool {
        self.next.get() + words <= self.end.get()
    }

    /// The packet that was shared last, and its opening.
    pub(super) fn shared(&self) -> Option<(usize, u64)> {
        let (packet, opened) = self.shared.get();
        (opened != 0).then_some((packet as usize, opened))
    }

    pub(super) fn hold(&self, packet: usize) {
        self.held.set(packet as u32 + 1);
    }

    pub(super) fn let_go(&self) {
        self.held.set(0);
    }

    /// The packet that is held, or may be.
    pub(super) fn held(&self) -> Option<usize> {
        (self.held.get() as usize).checked_sub(1)
    }

    /// Brings the place in order again after a record of its thread was left in the middle by a jump.
    pub fn mend(&self, pool: &Pool<'_>, owner: u64) {
        let Some(packet) = self.held() else { return self.drop_packet() };
        // The thread may have left before it had the packet, or before it noted that.
        let has = pool.head(packet, head::OWNER).load(Ordering::Relaxed) == owner;
        let opened = self.leave().filter(|(known, _)| has && *known == packet);
        match opened {
            Some((_, opened)) if self.alone.get() == opened => {
                // Behind what was committed: where the place stood is not sure.
                let committed = pool.head(packet, head::COMMITTED).load(Ordering::Relaxed);
                let (words, order) = split(committed);
                let words = if order == opened as u32 { words } else { 0 };
                self.enter(&pool.geometry(), packet, opened, words, self.last.get());
            }
            _ if has => pool.give_back(self),
            _ => self.let_go(),
        }
    }

    /// Stores a record, and takes a packet for it where there is no room. `owner` is the writer's
    /// ([`tracewell_wire::posix::object::owner`], another one at each depth of signal handlers), or [`UNENDING`](super::UNENDING); `lives` says whether the
    /// thread of an owner may still be there, and is asked only where packets become scarce.
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
        let (had_one, last) = (self.opened.get() != 0, self.last.get());
        if had_one {
            let event = Event { stamp: not_before(event.stamp, last), ..*event };
            if self.push_behind(pool.memory(), event, data) {
                return Ok(());
            }
            pool.close(self);
        }
        let before = self.shared();
        let claim = Claim { place: self, owner, words, stamp: event.stamp, lives, had_one };
        let Ok(claimed) = pool.claim(&claim) else {
            self.last.set(last);
            return Err(Full);
        };
        let mut stamp = event.stamp;
        let packet = (self.packet.get() as usize, self.opened.get());
        // The thread's last record lies in a packet that may still be open.
        let loose = before.is_some() || !claimed.fresh;
        if loose && before != Some(packet) {
            stamp = pool.after(stamp, last);
        }
        if claimed.fresh {
            stamp = not_before(stamp, pool.word(at::CLOSED_STAMP).load(Ordering::Relaxed));
        }
        let stamp = not_before(stamp, self.last.get());
        self.shared.set(if claimed.shared { (packet.0 as u32, packet.1) } else { (0, 0) });
        self.alone.set(if claimed.shared { 0 } else { packet.1 });
        let stored = self.push_behind(pool.memory(), Event { stamp, ..*event }, data);
        if claimed.shared {
            self.drop_packet();
            pool.give_back(self);
        }
        if stored { Ok(()) } else { Err(Full) }
    }

    /// Stores a record behind the last one if the packet has room for it and the clock did not go back; whether
    /// it did. The memory is the pool's: this is the part of [`Place::push`] that happens for nearly every event, to be compiled
    /// into its caller.
    #[inline(always)]
    pub fn push_behind(&self, memory: &[AtomicU64], event: Event, data: &[u8]) -> bool {
        let next = self.next.get();
        let end = next + record_words(data.len());
        if end > self.end.get() || event.stamp < self.last.get() {
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
        self.last.set(event.stamp);
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
    /// A stamp for a record whose thread stored its last one, of stamp `last`, into another packet: not before
    /// either, and beyond what a reader takes that looks now and did not see the last one.
    pub fn after(&self, stamp: u64, last: u64) -> u64 {
        // Either the reader sees what this thread stored, or this thread sees its cutoff.
        fence(Ordering::SeqCst);
        let cutoff = self.word(at::CUTOFF).load(Ordering::Relaxed);
        let floor = if cutoff == 0 { 0 } else { cutoff.saturating_add(1) };
        not_before(not_before(stamp, last.saturating_add(1)), floor)
    }

    /// Counts an event as lost.
    pub fn lose(&self) {
        self.word(at::LOST).fetch_add(1, Ordering::Relaxed);
    }
}
