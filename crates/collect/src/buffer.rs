//! Two buffers of fixed size between a producer and a consumer thread. The producer fills one
//! buffer while the consumer reads the other, and then they swap the buffers. Only new bytes are
//! copied under the lock. Memory does not grow, even if the consumer is slow.
//!
//! If bytes do not fit, they are dropped, and counted at their position. After that, all bytes are
//! dropped until a whole buffer is free, so the stored data consists of a few long runs instead of
//! fragments that are shorter than a record.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tracewell_wire::arrivals::{Arrival, ArrivalKind};

/// Maximum number of marks in a buffer. Each stored read has a mark, so this also limits the number
/// of pending reads.
const MAX_MARKS: usize = 1 << 14;

/// Received bytes and their arrival times.
#[derive(Debug, Default)]
pub(crate) struct Batch {
    /// The bytes of all marks of kind [`ArrivalKind::Bytes`], concatenated.
    pub(crate) bytes: Vec<u8>,
    /// Marks of bytes, losses and connections, in time order.
    pub(crate) marks: Vec<Arrival>,
}

impl Batch {
    fn with_capacity(bytes: usize) -> Self {
        Self { bytes: Vec::with_capacity(bytes), marks: Vec::new() }
    }

    /// Returns each mark with its bytes.
    pub(crate) fn pieces(&self) -> impl Iterator<Item = (Arrival, &[u8])> {
        let mut rest = self.bytes.as_slice();
        self.marks.iter().map(move |mark| {
            let length = if mark.kind == ArrivalKind::Bytes { mark.bytes as usize } else { 0 };
            let (bytes, after) = rest.split_at_checked(length).unwrap_or((rest, &[]));
            rest = after;
            (*mark, bytes)
        })
    }
}

#[derive(Debug)]
struct State {
    filling: Batch,
    /// Bytes dropped since the last mark, with the arrival time of the first dropped byte.
    dropping: Option<Arrival>,
    /// True from the first dropped byte until the next swap.
    overrun: bool,
    dropped: u64,
    finished: bool,
    abandoned: bool,
}

/// The result of [`Buffer::take`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Taken {
    /// The batch was filled.
    Batch,
    /// Nothing arrived in time.
    Nothing,
    /// The buffer is empty, and no more bytes will arrive.
    End,
}

/// The two buffers, shared by both threads.
#[derive(Debug)]
pub(crate) struct Buffer {
    capacity: usize,
    max_marks: usize,
    state: Mutex<State>,
    filled: Condvar,
    emptied: Condvar,
}

impl Buffer {
    /// Creates two buffers of `capacity` bytes each.
    pub(crate) fn new(capacity: usize) -> Self {
        Self::limited(capacity, MAX_MARKS)
    }

    /// Creates two buffers of `capacity` bytes each, with room for `max_marks` reads each.
    pub(crate) fn limited(capacity: usize, max_marks: usize) -> Self {
        let filling = Batch::with_capacity(capacity);
        let state = State {
            filling,
            dropping: None,
            overrun: false,
            dropped: 0,
            finished: false,
            abandoned: false,
        };
        let (filled, emptied) = (Condvar::new(), Condvar::new());
        Self { capacity, max_marks, state: Mutex::new(state), filled, emptied }
    }

    /// Returns the second buffer, as an empty batch for [`Buffer::take`].
    pub(crate) fn other(&self) -> Batch {
        Batch::with_capacity(self.capacity)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // No code that can panic runs while the lock is held.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn has_room(&self, state: &State, bytes: usize) -> bool {
        !state.abandoned
            && !state.overrun
            && state.filling.marks.len() < self.max_marks
            && state.filling.bytes.len() + bytes <= self.capacity
    }

    /// Adds bytes that arrived at `time_ns`. If there is no room, counts the bytes as dropped and
    /// returns false.
    pub(crate) fn push(&self, time_ns: u64, bytes: &[u8]) -> bool {
        let mut state = self.state();
        let room = self.has_room(&state, bytes.len());
        if room {
            // First add a mark for the bytes that were dropped before these bytes, so that the gap
            // is at the correct position.
            state.settle();
            state.filling.bytes.extend_from_slice(bytes);
            // No read is longer than a buffer, and no buffer is longer than 4 GiB.
            let bytes = bytes.len() as u32;
            state.filling.marks.push(Arrival { time_ns, bytes, kind: ArrivalKind::Bytes });
        } else {
            state.leave_out(time_ns, bytes.len());
        }
        drop(state);
        self.filled.notify_one();
        room
    }

    /// Waits up to `timeout` until there is room for `bytes` bytes. Returns false if there is still
    /// too little room. Only files and pipes use this, because they do not lose data during the
    /// wait.
    pub(crate) fn wait_for_room(&self, bytes: usize, timeout: Duration) -> bool {
        let full = |state: &mut State| !state.abandoned && !self.has_room(state, bytes);
        let waited = self.emptied.wait_timeout_while(self.state(), timeout, full);
        !waited.unwrap_or_else(PoisonError::into_inner).1.timed_out()
    }

    /// Adds a mark that has no bytes in this buffer.
    pub(crate) fn mark(&self, mark: Arrival) {
        let mut state = self.state();
        // Accept marks even if the buffer is full, but limit their number: a flapping connection
        // must not fill the memory.
        if state.filling.marks.len() < 2 * self.max_marks {
            state.settle();
            state.filling.marks.push(mark);
        } else if mark.kind == ArrivalKind::Dropped {
            state.note_dropped(mark.time_ns, mark.bytes);
        }
        drop(state);
        self.filled.notify_one();
    }

    /// Ends the buffer. The consumer gets the remaining bytes, followed by [`Taken::End`].
    pub(crate) fn finish(&self) {
        self.state().finished = true;
        self.filled.notify_all();
    }

    /// Ends consumption. From now on, all pending and later bytes count as dropped.
    pub(crate) fn abandon(&self) {
        let mut state = self.state();
        state.abandoned = true;
        state.dropped += state.filling.bytes.len() as u64;
        state.filling.bytes.clear();
        // The marks describe these bytes, so remove them too.
        state.filling.marks.clear();
        drop(state);
        self.emptied.notify_all();
    }

    /// Returns the number of bytes dropped so far.
    pub(crate) fn dropped(&self) -> u64 {
        self.state().dropped
    }

    /// Swaps the buffers: `batch` then holds the filled buffer. Waits up to `timeout` for data.
    pub(crate) fn take(&self, batch: &mut Batch, timeout: Duration) -> Taken {
        batch.bytes.clear();
        batch.marks.clear();
        let nothing = |state: &mut State| state.is_empty() && !state.finished;
        let waited = self.filled.wait_timeout_while(self.state(), timeout, nothing);
        let mut state = waited.unwrap_or_else(PoisonError::into_inner).0;
        // The mark of dropped bytes belongs to this batch, even if no byte follows it.
        state.settle();
        if state.is_empty() {
            return if state.finished { Taken::End } else { Taken::Nothing };
        }
        std::mem::swap(&mut state.filling, batch);
        state.overrun = false;
        drop(state);
        // The producer may be waiting for a free buffer.
        self.emptied.notify_one();
        Taken::Batch
    }
}

impl State {
    fn is_empty(&self) -> bool {
        self.filling.marks.is_empty() && self.dropping.is_none()
    }

    fn leave_out(&mut self, time_ns: u64, bytes: usize) {
        self.dropped += bytes as u64;
        if self.abandoned {
            return;
        }
        self.overrun = true;
        // No read is longer than 4 GiB.
        self.note_dropped(time_ns, bytes as u32);
    }

    /// Adds dropped bytes to the current mark of dropped bytes. Begins a mark if there is none.
    fn note_dropped(&mut self, time_ns: u64, bytes: u32) {
        let first = Arrival { time_ns, bytes: 0, kind: ArrivalKind::Dropped };
        let dropping = self.dropping.get_or_insert(first);
        match dropping.bytes.checked_add(bytes) {
            Some(sum) => dropping.bytes = sum,
            None => {
                // The count of the mark has reached its limit, so add another mark.
                let full = std::mem::replace(dropping, Arrival { bytes, ..first });
                self.filling.marks.push(full);
            }
        }
    }

    /// Adds the mark of the dropped bytes. It must come before any later mark.
    fn settle(&mut self) {
        self.filling.marks.extend(self.dropping.take());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOON: Duration = Duration::from_millis(1);

    #[test]
    fn dropped_bytes_are_counted_at_their_position() {
        let buffer = Buffer::new(4);
        assert!(buffer.push(1, b"abc"));
        assert!(!buffer.push(2, b"de"));
        assert!(!buffer.push(3, b"fg"));
        let mut batch = buffer.other();
        assert_eq!(buffer.take(&mut batch, SOON), Taken::Batch);
        assert!(buffer.push(5, b"ijkl"));
        let marks: Vec<_> = batch.pieces().map(|(m, b)| (m.time_ns, m.bytes, b.to_vec())).collect();
        let expected = [(1, 3, b"abc".to_vec()), (2, 4, Vec::new())];
        assert_eq!((marks.as_slice(), buffer.dropped()), (expected.as_slice(), 4));
        assert!(!buffer.push(6, b"m"));
        buffer.finish();
        // Before the end, the consumer gets the mark of the last dropped bytes.
        assert_eq!(buffer.take(&mut batch, SOON), Taken::Batch);
        assert_eq!(
            (batch.bytes.as_slice(), batch.marks[1].kind),
            (&b"ijkl"[..], ArrivalKind::Dropped)
        );
        assert_eq!(buffer.take(&mut batch, SOON), Taken::End);
    }

    #[test]
    fn after_an_overflow_everything_is_dropped_until_a_whole_buffer_is_free() {
        let buffer = Buffer::new(8);
        assert!(buffer.push(1, b"abcde"));
        assert!(!buffer.push(2, b"fghi"));
        // There is room for these bytes, but earlier bytes are missing.
        assert!(!buffer.push(3, b"jk") && !buffer.wait_for_room(1, SOON));
        // The mark of a connection is kept at its position, even if bytes are dropped there.
        buffer.mark(Arrival { time_ns: 4, bytes: 0, kind: ArrivalKind::Opened });
        assert!(!buffer.push(5, b"l"));
        let mut batch = buffer.other();
        assert_eq!(buffer.take(&mut batch, SOON), Taken::Batch);
        assert!(buffer.push(6, b"mnopqrst"));
        let marks: Vec<_> = batch.marks.iter().map(|mark| (mark.time_ns, mark.bytes)).collect();
        assert_eq!((marks, buffer.dropped()), (vec![(1, 5), (2, 6), (4, 0), (5, 1)], 7));
    }

    #[test]
    fn many_tiny_reads_do_not_grow_the_buffer_without_limit() {
        let buffer = Buffer::new(1 << 20);
        (0..2 * MAX_MARKS).for_each(|_| _ = buffer.push(0, b"x"));
        assert_eq!(buffer.dropped(), MAX_MARKS as u64);
    }

    #[test]
    fn a_flapping_connection_does_not_grow_the_buffer_without_limit() {
        let buffer = Buffer::limited(4, 8);
        assert!(buffer.push(0, b"abcd"));
        let mark = |kind, bytes| Arrival { time_ns: 0, bytes, kind };
        for _ in 0..100 {
            buffer.mark(mark(ArrivalKind::Opened, 0));
            assert!(!buffer.push(0, b"e"));
            buffer.mark(mark(ArrivalKind::Closed, 0));
            // These bytes were dropped before they reached this buffer.
            buffer.mark(mark(ArrivalKind::Dropped, 2));
        }
        let mut batch = buffer.other();
        assert_eq!(buffer.take(&mut batch, SOON), Taken::Batch);
        let dropped = batch.marks.iter().filter(|mark| mark.kind == ArrivalKind::Dropped);
        assert_eq!(dropped.map(|mark| mark.bytes).sum::<u32>(), 300);
        assert_eq!(buffer.dropped(), 100);
        assert!(batch.marks.len() <= 2 * 8 + 2, "{} marks", batch.marks.len());
    }

    #[test]
    fn a_waiting_producer_is_woken_by_a_swap_and_by_abandoning() {
        let buffer = Buffer::new(2);
        assert!(buffer.push(0, b"ab"));
        assert!(!buffer.wait_for_room(1, SOON));
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| buffer.wait_for_room(1, Duration::from_secs(20)));
            assert_eq!(buffer.take(&mut buffer.other(), SOON), Taken::Batch);
            assert!(waiting.join().unwrap());
        });
        buffer.push(0, b"cd");
        buffer.abandon();
        assert!(buffer.wait_for_room(9, SOON) && !buffer.push(0, b"efg"));
        assert_eq!(buffer.dropped(), 5);
    }
}
