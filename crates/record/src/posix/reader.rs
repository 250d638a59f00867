//! Removes records from a stream, oldest first.
//!
//! The records of each packet are in timestamp order, so the reader merges the packets by
//! timestamp. To get a causal order, it makes two passes over the packets. The *cutoff* is the
//! latest timestamp of the first pass. If the first pass saw a record, the second pass sees all
//! records that were stored before this record. The second pass removes only records up to the
//! cutoff.
//!
//! The order of a single thread's records does not depend on clocks. If packet B was opened after
//! packet A was closed, the records of B follow all records of A. If a packet was opened after the
//! second pass began, the reader leaves the packet for the next pass. In addition, a thread that
//! moves from one open packet to another during the second pass sees the cutoff, and stores only
//! records with later timestamps.
//!
//! A thread may be delayed after it reads the clock and before it stores its record. As soon as the
//! reader finds such a late record, it returns the record with the timestamp of the previously
//! returned record. With the policy loop, the reader discards records that are older than a
//! displaced record, so that the remaining records cover a contiguous time span.

use alloc::collections::binary_heap::{BinaryHeap, PeekMut};
use alloc::vec::Vec;
use core::cmp::Reverse;

use tracewell_wire::native::split;
use tracewell_wire::posix::object::{at, head};
use tracewell_wire::posix::{FLAG_SYSTEM, RECORD_WORDS, RecordHeader, StreamPolicy};

use super::pool::Pool;
use crate::stream::sync::{Ordering, fence};

/// Smallest decrease of timestamps, in nanoseconds, that shows that the clock was set back. After a
/// smaller decrease, the record is only late.
const SET_BACK: u64 = 1_000_000_000;

/// Maximum number of consecutive invalid records that [`Reader::take`] skips. Without this limit, a
/// process that keeps overwriting the memory could keep the reader busy forever.
const MAX_INVALID: usize = 1 << 20;

/// A record that was removed from the stream. Its data is in [`Reader::data`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Record {
    /// Length of the data, event id, flags and process.
    pub head: RecordHeader,
    /// Timestamp in nanoseconds since 1970.
    pub stamp: u64,
    /// Return address of the call that generated the event; 0 for a system event.
    pub address: u64,
    /// Thread (`pthread_t`); 0 for a system event.
    pub thread: u64,
}

/// Maximum number of double passes without a result. Such passes occur only while packets keep
/// changing.
const MAX_PASSES: usize = 8;

/// The state of reading one packet. Positions are in words from the packet's start.
#[derive(Clone, Copy, Default, Debug)]
struct Source {
    /// Order number that the packet got when it was opened.
    opened: u64,
    /// Position of this packet in the order in which packets were closed; 0 while it is open.
    closed: u64,
    /// Position of the next record.
    at: usize,
    /// Position after the last record that was seen.
    end: usize,
    /// Timestamp under which the packet is queued in [`Reader::next`].
    key: Option<u64>,
}

/// The reading side of a stream. There may be only one reader at a time.
///
/// ```
/// use std::sync::atomic::AtomicU64;
/// use tracewell_record::posix::{Cursor, Event, Pool, Reader};
/// use tracewell_wire::posix::object::{Geometry, owner};
/// use tracewell_wire::posix::{FIRST_USER, RecordHeader, StreamPolicy};
///
/// let geometry = Geometry::for_promise(4096, 64).unwrap();
/// let memory: Vec<_> = (0..geometry.total()).map(|_| AtomicU64::new(0)).collect();
/// let pool = Pool::new(&memory, geometry, StreamPolicy::UntilFull).unwrap();
///
/// // Two threads with a packet each; the reader merges them by time.
/// let head = RecordHeader { length: 0, id: FIRST_USER as u16, flags: 0, process: 7 };
/// for (thread, stamp) in [(8, 2_000), (9, 1_000)] {
///     let event = Event { head, stamp, address: 0, thread };
///     Cursor::new().push(&pool, &event, &[], owner(7, thread as u32, 1, 0), &|_| true).unwrap();
/// }
///
/// let mut reader = Reader::new(&pool);
/// let threads: Vec<u64> = std::iter::from_fn(|| reader.take(&pool)).map(|r| r.thread).collect();
/// assert_eq!(threads, [9, 8]);
/// assert!(reader.is_empty(&pool));
/// ```
#[derive(Debug)]
pub struct Reader {
    sources: Vec<Source>,
    /// A queue of the packets that have records, each with the timestamp of its next record. An
    /// entry whose timestamp is not the packet's key is obsolete.
    next: BinaryHeap<Reverse<(u64, u32)>>,
    /// Order number and index of the packet that was closed first, among the closed packets with
    /// records.
    first_closed: Option<(u64, u32)>,
    /// Records with a later timestamp than this remain for the next double pass.
    cutoff: u64,
    /// Timestamp of the record that was returned last.
    last: u64,
    /// Data of that record.
    record: Vec<u64>,
    damaged: u64,
}

impl Reader {
    /// Creates a reader that starts at the oldest record.
    pub fn new(pool: &Pool<'_>) -> Self {
        let sources = alloc::vec![Source::default(); pool.geometry().packets as usize];
        let (next, record) = (BinaryHeap::new(), Vec::new());
        Self { sources, next, first_closed: None, cutoff: 0, last: 0, record, damaged: 0 }
    }

    /// Returns the number of packets whose remaining records were invalid because another process
    /// overwrote them.
    pub const fn damaged(&self) -> u64 {
        self.damaged
    }

    /// Returns the data of the last record that was taken, padded to a whole word.
    pub fn data(&self) -> &[u64] {
        &self.record
    }

    /// Returns true if no record can be taken now.
    pub fn is_empty(&mut self, pool: &Pool<'_>) -> bool {
        self.next.is_empty() && !self.find_records(pool)
    }

    /// Removes and returns the oldest record, or returns `None` if there is none now.
    pub fn take(&mut self, pool: &Pool<'_>) -> Option<Record> {
        for _ in 0..MAX_INVALID {
            if self.next.is_empty() && !self.find_records(pool) {
                return None;
            }
            let Some(packet) = self.choose() else { continue };
            let record = self.take_from(pool, packet);
            self.requeue(pool, packet);
            let Some(mut record) = record else { continue };
            // A late record gets the timestamp of the previous record.
            if self.last.wrapping_sub(record.stamp) < SET_BACK {
                record.stamp = self.last;
            }
            self.last = record.stamp;
            // The stream has room again. Load first, because a store would take the cache line away
            // from the writers.
            let full = pool.word(at::LOOP_FULL);
            if full.load(Ordering::Relaxed) != 0 {
                full.store(0, Ordering::Relaxed);
            }
            return Some(record);
        }
        None
    }

    /// Returns a record that the caller supplies, as if it came from the stream. Its data are then
    /// in [`Reader::data`]. If this record has an earlier timestamp than the previous record, it
    /// gets the timestamp of the previous record.
    pub fn insert(&mut self, record: Record, data: &[u64]) -> Record {
        self.record.clear();
        self.record.extend_from_slice(data);
        self.last = self.last.max(record.stamp);
        Record { stamp: self.last, ..record }
    }

    /// Discards all records that are in the stream.
    pub fn clear(&mut self, pool: &Pool<'_>) {
        self.next.clear();
        self.refresh(pool);
        self.sources.iter_mut().for_each(|source| source.at = source.end);
        // The second call frees the closed packets.
        self.refresh(pool);
        self.first_closed = None;
    }

    /// Repeats the double pass until there are records to return. Returns false if there are none.
    fn find_records(&mut self, pool: &Pool<'_>) -> bool {
        for _ in 0..MAX_PASSES {
            if self.refresh(pool) == 0 {
                return false;
            }
            self.cutoff = self.latest(pool);
            pool.word(at::CUTOFF).store(self.cutoff, Ordering::Relaxed);
            // Either a thread that moves to another packet sees the cutoff, or the second pass sees
            // the thread's earlier records.
            fence(Ordering::SeqCst);
            self.refresh(pool);
            pool.word(at::CUTOFF).store(0, Ordering::Release);
            if self.offer_all(pool) {
                return true;
            }
        }
        // Another process is continually changing the packets. Do not let it hide records forever.
        self.cutoff = u64::MAX;
        self.offer_all(pool)
    }

    /// Queues all packets whose next record is not later than the cutoff. Returns false if there is
    /// no such packet.
    fn offer_all(&mut self, pool: &Pool<'_>) -> bool {
        self.find_first_closed();
        (0..pool.used()).for_each(|packet| self.offer(pool, packet));
        !self.next.is_empty()
    }

    /// Finds the packet that was closed first, among packets with unread records.
    fn find_first_closed(&mut self) {
        let unread = self.sources.iter().zip(0..).filter(|(source, _)| source.at < source.end);
        let closed = unread.filter(|(source, _)| source.closed != 0);
        self.first_closed = closed.map(|(source, packet)| (source.closed, packet)).min();
    }

    /// Returns the packet of the next record, or `None` if the first entry of the queue was
    /// obsolete.
    fn choose(&mut self) -> Option<usize> {
        let Reverse((stamp, packet)) = *self.next.peek()?;
        let source = self.sources.get(packet as usize)?;
        if source.key != Some(stamp) {
            self.next.pop();
            return None;
        }
        // All records of packets that were closed before this packet was opened must come first.
        match self.first_closed {
            Some((closed, first)) if closed < source.opened => Some(first as usize),
            _ => Some(packet as usize),
        }
    }

    /// Returns the latest timestamp in the packets with records.
    fn latest(&self, pool: &Pool<'_>) -> u64 {
        let unread = self.sources.iter().enumerate().filter(|(_, source)| source.at < source.end);
        let latest = |(packet, source): (usize, &Source)| {
            let last = pool.head(packet, head::LAST).load(Ordering::Relaxed);
            last.max(Self::stamp(pool, packet, source.at))
        };
        unread.map(latest).max().unwrap_or(0)
    }

    /// Updates the fill level of each packet, and frees closed packets that have been read
    /// completely. Returns the number of packets with records.
    fn refresh(&mut self, pool: &Pool<'_>) -> usize {
        let mut found = 0;
        // Acquire: if a packet's order number is not larger than this number, the reader also sees
        // that the thread that opened the packet has closed its earlier packets. This pass ignores
        // packets with larger numbers.
        let order = pool.word(at::ORDER).load(Ordering::Acquire);
        for packet in 0..pool.used() {
            #[cfg(all(test, not(loom), feature = "std"))]
            super::interruption::before_packet();
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
            // Ignore the count if it was stored before the packet was last opened.
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

    /// Queues a packet if its next record is not later than the cutoff.
    fn offer(&mut self, pool: &Pool<'_>, packet: usize) {
        let key = self.next_stamp(pool, packet);
        let Some(source) = self.sources.get_mut(packet) else { return };
        source.key = key;
        if let Some(stamp) = key {
            self.next.push(Reverse((stamp, packet as u32)));
        }
    }

    /// Queues a packet again after a record was taken from it. Usually the packet was first in the
    /// queue and remains first, which costs one comparison.
    fn requeue(&mut self, pool: &Pool<'_>, packet: usize) {
        let key = self.next_stamp(pool, packet);
        let Some(source) = self.sources.get_mut(packet) else { return };
        source.key = key;
        // A closed packet gets no further records, so it is completely read.
        let read = source.closed != 0 && source.at >= source.end;
        if let Some(mut first) = self.next.peek_mut()
            && first.0.1 as usize == packet
        {
            match key {
                // `PeekMut` restores the order of the queue when it is dropped.
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

    /// Returns the timestamp of a packet's next record, unless there is no record or the timestamp
    /// is later than the cutoff.
    #[inline]
    fn next_stamp(&self, pool: &Pool<'_>, packet: usize) -> Option<u64> {
        let source = self.sources.get(packet).filter(|source| source.at < source.end)?;
        let stamp = Self::stamp(pool, packet, source.at);
        (stamp <= self.cutoff).then_some(stamp)
    }

    /// Returns the timestamp of the record at a position of a packet.
    #[inline]
    fn stamp(pool: &Pool<'_>, packet: usize, at: usize) -> u64 {
        let stamp = pool.packet(packet, at + 1, at + 2);
        stamp.first().map_or(0, |word| word.load(Ordering::Relaxed))
    }

    /// Takes a packet's next record. Returns `None` if the record is invalid or must be discarded.
    fn take_from(&mut self, pool: &Pool<'_>, packet: usize) -> Option<Record> {
        let Source { opened, at, end, .. } = *self.sources.get(packet)?;
        let record = self.copy(pool, packet, at, end);
        // Acquire: if a later owner overwrote a word before it was copied, this load sees
        // the changed state.
        fence(Ordering::Acquire);
        let state = pool.head(packet, head::STATE).load(Ordering::Relaxed);
        let source = self.sources.get_mut(packet)?;
        // The packet was displaced, so the copy cannot be trusted.
        if Pool::occupied(state).is_none_or(|(now, _)| now != opened) {
            source.end = source.at;
            return None;
        }
        let Some(record) = record else {
            source.at = end;
            self.damaged += 1;
            return None;
        };
        source.at = at + record.head.words();
        if source.at >= end && Pool::occupied(state).is_some_and(|(_, closed)| closed) {
            self.end_of_closed(pool, packet, opened);
        }
        let gone = pool.policy() == StreamPolicy::Loop
            && opened < pool.word(at::GONE_ORDER).load(Ordering::Relaxed)
            && record.stamp <= pool.word(at::GONE_STAMP).load(Ordering::Relaxed);
        (!gone).then_some(record)
    }

    /// Frees a closed packet that was read completely, unless a writer added records after the last
    /// pass and then closed the packet.
    fn end_of_closed(&mut self, pool: &Pool<'_>, packet: usize, opened: u64) {
        // Acquire: pairs with the release store that closed the packet. The writer stored the last
        // records before it closed the packet.
        fence(Ordering::Acquire);
        let committed = pool.head(packet, head::COMMITTED).load(Ordering::Acquire);
        let (words, order) = split(committed);
        let Some(source) = self.sources.get(packet) else { return };
        if order != opened as u32 || words as usize <= source.at {
            pool.free(packet, opened);
        }
    }

    /// Copies a record with its data. Returns `None` if there is no complete record.
    fn copy(&mut self, pool: &Pool<'_>, packet: usize, at: usize, end: usize) -> Option<Record> {
        let load = |word: &crate::stream::sync::AtomicU64| word.load(Ordering::Relaxed);
        let words = pool.packet(packet, at, end);
        let [first, stamp, address, thread, ..] = words else { return None };
        let mut head = RecordHeader::unpack(load(first));
        // The length is from shared memory and can be wrong, so `get` checks it.
        let data = words.get(RECORD_WORDS..head.words())?;
        self.record.clear();
        self.record.extend(data.iter().map(load));
        // System records belong to the stream, not to a process.
        if head.flags & FLAG_SYSTEM != 0 {
            head.process = 0;
        }
        let (stamp, address, thread) = (load(stamp), load(address), load(thread));
        Some(Record { head, stamp, address, thread })
    }
}
