//! Taking records out, oldest first.
//!
//! Each packet is in the order of its stamps. The reader looks at all packets, and merges what it finds
//! by stamps. So that no record comes before one that caused it, it always looks twice: what was stored
//! before a record that the first look saw is there at the second, and of that it takes only what is not
//! later than everything that the first saw, the *cutoff*.
//!
//! The order of one thread does not rest on clocks. Records in a packet that was opened after another one was
//! closed come after all that is in that one; packets that were opened after the second look began are left for
//! the next. And a thread that goes from one open packet to another knows the cutoff while it holds, and
//! stores nothing before it.
//!
//! A record that was stored late, because its thread was held up after reading the clock, is given out
//! when it is found, with the stamp of the one before it. Under the policy loop a record goes, too, if it
//! is older than one that was displaced: what is there is one stretch of time.

use alloc::collections::binary_heap::{BinaryHeap, PeekMut};
use alloc::vec::Vec;
use core::cmp::Reverse;

use tracewell_wire::native::split;
use tracewell_wire::posix::object::{at, head};
use tracewell_wire::posix::{FLAG_SYSTEM, RECORD_WORDS, RecordHead, StreamPolicy};

use super::pool::Pool;
use crate::stream::sync::{Ordering, fence};

/// A clock that was set back by less than this is taken for a record that came late.
const SET_BACK: u64 = 1_000_000_000;

/// Records that turned out to be none, one behind the other, after which nothing is said to be there: who
/// scribbles into the memory all the time does not keep its reader.
const PATIENCE: usize = 1 << 20;

/// What is known of a record that was taken out; its data are in [`Reader::data`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Taken {
    /// Id, flags, length, process.
    pub head: RecordHead,
    /// Nanoseconds since 1970.
    pub stamp: u64,
    /// Where it was generated.
    pub address: u64,
    /// Thread (`pthread_t`).
    pub thread: u64,
}

/// Looks that may find nothing to take, because packets change hands all the time, one after the other.
const LOOKS: usize = 8;

/// How far a packet was read.
#[derive(Clone, Copy, Default, Debug)]
struct Source {
    opened: u64,
    /// Order number of its closing; 0 while it is open.
    closed: u64,
    at: usize,
    end: usize,
    /// The stamp with which it is among those that can be taken from.
    key: Option<u64>,
}

/// The reading side of a stream.
#[derive(Debug)]
pub struct Reader {
    sources: Vec<Source>,
    /// The next stamp of each packet that has records, with the packet. One that is not the packet's key is
    /// left over.
    next: BinaryHeap<Reverse<(u64, u32)>>,
    /// Of the packets that are closed and have records the one that was closed first, with the order number of
    /// that.
    first_closed: Option<(u64, u32)>,
    cutoff: u64,
    last: u64,
    record: Vec<u64>,
    damaged: u64,
}

impl Reader {
    /// A reader at the oldest record.
    pub fn new(pool: &Pool<'_>) -> Self {
        let sources = alloc::vec![Source::default(); pool.geometry().packets as usize];
        let (next, record) = (BinaryHeap::new(), Vec::new());
        Self { sources, next, first_closed: None, cutoff: 0, last: 0, record, damaged: 0 }
    }

    /// Packets whose rest was no record: somebody scribbled over them.
    pub const fn damaged(&self) -> u64 {
        self.damaged
    }

    /// The data of the record that was taken last, filled up to a whole word.
    pub fn data(&self) -> &[u64] {
        &self.record
    }

    /// Whether there is a record to take now.
    pub fn is_empty(&mut self, pool: &Pool<'_>) -> bool {
        self.next.is_empty() && !self.look(pool)
    }

    /// Takes the oldest record out; `None` where there is none now.
    pub fn take(&mut self, pool: &Pool<'_>) -> Option<Taken> {
        for _ in 0..PATIENCE {
            if self.next.is_empty() && !self.look(pool) {
                return None;
            }
            let Some(packet) = self.choose() else { continue };
            let taken = self.take_from(pool, packet);
            self.go_on(pool, packet);
            let Some(mut taken) = taken else { continue };
            if self.last.wrapping_sub(taken.stamp) < SET_BACK {
                taken.stamp = self.last;
            }
            self.last = taken.stamp;
            let full = pool.word(at::LOOP_FULL);
            if full.load(Ordering::Relaxed) != 0 {
                full.store(0, Ordering::Relaxed);
            }
            return Some(taken);
        }
        None
    }

    /// Gives a record out that is in no packet, as if it had been taken.
    pub fn insert(&mut self, taken: Taken, data: &[u64]) -> Taken {
        self.record.clear();
        self.record.extend_from_slice(data);
        self.last = self.last.max(taken.stamp);
        Taken { stamp: self.last, ..taken }
    }

    /// Forgets all records that are there.
    pub fn clear(&mut self, pool: &Pool<'_>) {
        self.next.clear();
        self.refresh(pool);
        self.sources.iter_mut().for_each(|source| source.at = source.end);
        // Frees what is closed.
        self.refresh(pool);
        self.first_closed = None;
    }

    /// Looks for records; whether there are some.
    fn look(&mut self, pool: &Pool<'_>) -> bool {
        for _ in 0..LOOKS {
            if self.refresh(pool) == 0 {
                return false;
            }
            self.cutoff = self.latest(pool);
            pool.word(at::CUTOFF).store(self.cutoff, Ordering::Relaxed);
            // Either a thread that changes packets sees the cutoff, or what it stored before is seen here.
            fence(Ordering::SeqCst);
            self.refresh(pool);
            pool.word(at::CUTOFF).store(0, Ordering::Release);
            if self.offer_all(pool) {
                return true;
            }
        }
        // Somebody scribbles: that hides nothing for ever.
        self.cutoff = u64::MAX;
        self.offer_all(pool)
    }

    /// Puts all packets among those that can be taken from that have a record that is old enough; whether there
    /// is one.
    fn offer_all(&mut self, pool: &Pool<'_>) -> bool {
        self.find_first_closed();
        (0..pool.used()).for_each(|packet| self.offer(pool, packet));
        !self.next.is_empty()
    }

    fn find_first_closed(&mut self) {
        let unread = self.sources.iter().zip(0..).filter(|(source, _)| source.at < source.end);
        let closed = unread.filter(|(source, _)| source.closed != 0);
        self.first_closed = closed.map(|(source, packet)| (source.closed, packet)).min();
    }

    /// The packet whose record comes next; `None` if what seemed to be the next one is left over.
    fn choose(&mut self) -> Option<usize> {
        let Reverse((stamp, packet)) = *self.next.peek()?;
        let source = self.sources.get(packet as usize)?;
        if source.key != Some(stamp) {
            self.next.pop();
            return None;
        }
        // What was closed before this was opened comes first.
        match self.first_closed {
            Some((closed, first)) if closed < source.opened => Some(first as usize),
            _ => Some(packet as usize),
        }
    }

    /// The latest stamp in the packets that have records.
    fn latest(&self, pool: &Pool<'_>) -> u64 {
        let unread = self.sources.iter().enumerate().filter(|(_, source)| source.at < source.end);
        let latest = |(packet, source): (usize, &Source)| {
            let last = pool.head(packet, head::LAST).load(Ordering::Relaxed);
            last.max(Self::stamp(pool, packet, source.at))
        };
        unread.map(latest).max().unwrap_or(0)
    }

    /// Looks how far each packet is filled, frees those that were read; how many have records.
    fn refresh(&mut self, pool: &Pool<'_>) -> usize {
        let mut found = 0;
        // Acquire: of a thread whose packet's number is not beyond this, all closed packets are seen closed.
        let order = pool.word(at::ORDER).load(Ordering::Acquire);
        for packet in 0..pool.used() {
            let Some(source) = self.sources.get_mut(packet) else { break };
            let state = pool.head(packet, head::STATE).load(Ordering::Acquire);
            let occupied = Pool::occupied(state).filter(|(opened, _)| *opened <= order);
            let Some((opened, closed)) = occupied else {
                *source = Source::default();
                continue;
            };
            if source.opened != opened {
                *source = Source { opened, ..Source::default() };
            }
            if closed {
                source.closed = pool.head(packet, head::CLOSED).load(Ordering::Relaxed);
            }
            let committed = pool.head(packet, head::COMMITTED).load(Ordering::Acquire);
            let (words, order) = split(committed);
            if order == opened as u32 {
                source.end = words.min(pool.geometry().packet_words) as usize;
            }
            if source.at < source.end {
                found += 1;
            } else if closed {
                pool.free(packet, opened);
            }
        }
        found
    }

    /// Puts a packet among those that can be taken from, if it has a record that is old enough.
    fn offer(&mut self, pool: &Pool<'_>, packet: usize) {
        let key = self.next_stamp(pool, packet);
        let Some(source) = self.sources.get_mut(packet) else { return };
        source.key = key;
        if let Some(stamp) = key {
            self.next.push(Reverse((stamp, packet as u32)));
        }
    }

    /// The same for the packet that was taken from; mostly it was the first of them and stays that.
    fn go_on(&mut self, pool: &Pool<'_>, packet: usize) {
        let key = self.next_stamp(pool, packet);
        let Some(source) = self.sources.get_mut(packet) else { return };
        source.key = key;
        let read = source.closed != 0 && source.at >= source.end;
        if let Some(mut first) = self.next.peek_mut()
            && first.0.1 as usize == packet
        {
            match key {
                Some(stamp) => first.0.0 = stamp,
                None => _ = PeekMut::pop(first),
            }
        } else if let Some(stamp) = key {
            self.next.push(Reverse((stamp, packet as u32)));
        }
        if read {
            self.find_first_closed();
        }
    }

    /// The stamp of a packet's next record, if it has one that is old enough.
    #[inline]
    fn next_stamp(&self, pool: &Pool<'_>, packet: usize) -> Option<u64> {
        let source = self.sources.get(packet).filter(|source| source.at < source.end)?;
        let stamp = Self::stamp(pool, packet, source.at);
        (stamp <= self.cutoff).then_some(stamp)
    }

    #[inline]
    fn stamp(pool: &Pool<'_>, packet: usize, at: usize) -> u64 {
        let stamp = pool.packet(packet, at + 1, at + 2);
        stamp.first().map_or(0, |word| word.load(Ordering::Relaxed))
    }

    /// Takes a packet's next record; `None` where it is not to be given out.
    fn take_from(&mut self, pool: &Pool<'_>, packet: usize) -> Option<Taken> {
        let Source { opened, at, end, .. } = *self.sources.get(packet)?;
        let taken = self.copy(pool, packet, at, end);
        // Acquire: if a word that was copied is of a later owner, its state is seen here.
        fence(Ordering::Acquire);
        let state = pool.head(packet, head::STATE).load(Ordering::Relaxed);
        let source = self.sources.get_mut(packet)?;
        if Pool::occupied(state).is_none_or(|(now, _)| now != opened) {
            source.end = source.at;
            return None;
        }
        let Some(taken) = taken else {
            source.at = end;
            self.damaged += 1;
            return None;
        };
        source.at = at + taken.head.words();
        if source.at >= end && Pool::occupied(state).is_some_and(|(_, closed)| closed) {
            self.end_of_closed(pool, packet, opened);
        }
        let gone = pool.policy() == StreamPolicy::Loop
            && opened < pool.word(at::GONE_ORDER).load(Ordering::Relaxed)
            && taken.stamp <= pool.word(at::GONE_STAMP).load(Ordering::Relaxed);
        (!gone).then_some(taken)
    }

    /// Frees a closed packet, unless more came into it between the last look and its closing.
    fn end_of_closed(&mut self, pool: &Pool<'_>, packet: usize, opened: u64) {
        // Acquire: pairs with the closing, whose writer stored its last records before.
        fence(Ordering::Acquire);
        let committed = pool.head(packet, head::COMMITTED).load(Ordering::Acquire);
        let (words, order) = split(committed);
        let Some(source) = self.sources.get(packet) else { return };
        if order != opened as u32 || words as usize <= source.at {
            pool.free(packet, opened);
        }
    }

    /// Copies a record with its data; `None` where there is none.
    fn copy(&mut self, pool: &Pool<'_>, packet: usize, at: usize, end: usize) -> Option<Taken> {
        let load = |word: &crate::stream::sync::AtomicU64| word.load(Ordering::Relaxed);
        let words = pool.packet(packet, at, end);
        let [first, stamp, address, thread, ..] = words else { return None };
        let mut head = RecordHead::unpack(load(first));
        let data = words.get(RECORD_WORDS..head.words())?;
        self.record.clear();
        self.record.extend(data.iter().map(load));
        if head.flags & FLAG_SYSTEM != 0 {
            head.process = 0;
        }
        let (stamp, address, thread) = (load(stamp), load(address), load(thread));
        Some(Taken { head, stamp, address, thread })
    }
}
