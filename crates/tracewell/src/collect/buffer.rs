//! Two buffers of a fixed size between one thread that fills and one that empties: one is filled while the
//! other is written, and an exchange swaps them. Nothing is copied under the lock, and memory does not grow however
//! slow the emptying side is: what finds no room is counted where it would have been. From then on all is left out
//! until a whole buffer is free: what is kept is in few long pieces, not in crumbs that are no whole records.
//!
//! Not here: what the bytes are for (`store`, `view`).

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tracewell_wire::arrivals::{Arrival, What};

/// Marks that a buffer holds at most: as many reads as can wait.
const MOST_MARKS: usize = 1 << 14;

/// Bytes and when they came.
#[derive(Debug, Default)]
pub(super) struct Batch {
    /// The bytes of all [`What::Bytes`] among the marks, one after the other.
    pub(super) bytes: Vec<u8>,
    /// What happened, in order.
    pub(super) marks: Vec<Arrival>,
}

impl Batch {
    fn with_capacity(bytes: usize) -> Self {
        Self { bytes: Vec::with_capacity(bytes), marks: Vec::new() }
    }

    /// Each mark with its bytes.
    pub(super) fn pieces(&self) -> impl Iterator<Item = (Arrival, &[u8])> {
        let mut rest = self.bytes.as_slice();
        self.marks.iter().map(move |mark| {
            let length = if mark.what == What::Bytes { mark.bytes as usize } else { 0 };
            let (bytes, behind) = rest.split_at_checked(length).unwrap_or((rest, &[]));
            rest = behind;
            (*mark, bytes)
        })
    }
}

#[derive(Debug)]
struct State {
    filling: Batch,
    /// Bytes that found no room since the last mark, and when the first of them came.
    dropping: Option<Arrival>,
    /// True from the first bytes without room to the next exchange.
    overrun: bool,
    dropped: u64,
    finished: bool,
    abandoned: bool,
}

/// What the emptying side found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Taken {
    /// Something.
    Batch,
    /// Nothing in the time.
    Nothing,
    /// Nothing, and nothing will come.
    End,
}

/// The two buffers, as both sides see them.
#[derive(Debug)]
pub(super) struct Buffer {
    capacity: usize,
    state: Mutex<State>,
    filled: Condvar,
    emptied: Condvar,
}

impl Buffer {
    /// Two buffers of so many bytes.
    pub(super) fn new(capacity: usize) -> Self {
        let filling = Batch::with_capacity(capacity);
        let state = State {
            filling,
            dropping: None,
            overrun: false,
            dropped: 0,
            finished: false,
            abandoned: false,
        };
        Self { capacity, state: Mutex::new(state), filled: Condvar::new(), emptied: Condvar::new() }
    }

    /// An empty batch for [`Buffer::take`]: the other buffer.
    pub(super) fn other(&self) -> Batch {
        Batch::with_capacity(self.capacity)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Nothing that can panic is done while it is held.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds bytes that came at a time; false where there was no room for them, which is counted.
    pub(super) fn push(&self, time_ns: u64, bytes: &[u8]) -> bool {
        let mut state = self.state();
        let room = state.has_room(bytes.len(), self.capacity);
        if room {
            state.settle();
            state.filling.bytes.extend_from_slice(bytes);
            // No read is longer than a buffer, and no buffer than 4 GiB.
            let bytes = bytes.len() as u32;
            state.filling.marks.push(Arrival { time_ns, bytes, what: What::Bytes });
        } else {
            state.leave_out(time_ns, bytes.len());
        }
        drop(state);
        self.filled.notify_one();
        room
    }

    /// As [`Buffer::push`], but waits for room for so long. For sources that keep what is not read; they
    /// ask again.
    pub(super) fn wait_for_room(&self, bytes: usize, timeout: Duration) -> bool {
        let full = |state: &mut State| !state.abandoned && !state.has_room(bytes, self.capacity);
        let waited = self.emptied.wait_timeout_while(self.state(), timeout, full);
        !waited.unwrap_or_else(PoisonError::into_inner).1.timed_out()
    }

    /// Adds a mark of something that happened: without bytes, or with those that were dropped before they came
    /// here.
    pub(super) fn mark(&self, mark: Arrival) {
        let mut state = self.state();
        state.settle();
        // They need no room among the bytes, but a connection that comes and goes for ever must not fill memory.
        if state.filling.marks.len() < 2 * MOST_MARKS {
            state.filling.marks.push(mark);
        }
        drop(state);
        self.filled.notify_one();
    }

    /// Nothing more will come.
    pub(super) fn finish(&self) {
        self.state().finished = true;
        self.filled.notify_all();
    }

    /// Nothing more will be taken: what comes from now on is dropped, and what was left is.
    pub(super) fn abandon(&self) {
        let mut state = self.state();
        state.abandoned = true;
        state.dropped += state.filling.bytes.len() as u64;
        state.filling.bytes.clear();
        state.filling.marks.clear();
        drop(state);
        self.emptied.notify_all();
    }

    /// Bytes that found no room so far.
    pub(super) fn dropped(&self) -> u64 {
        self.state().dropped
    }

    /// Exchanges the buffers: `batch` becomes what was filled. Waits for so long for something to be there.
    pub(super) fn take(&self, batch: &mut Batch, timeout: Duration) -> Taken {
        batch.bytes.clear();
        batch.marks.clear();
        let nothing = |state: &mut State| state.is_empty() && !state.finished;
        let waited = self.filled.wait_timeout_while(self.state(), timeout, nothing);
        let mut state = waited.unwrap_or_else(PoisonError::into_inner).0;
        state.settle();
        if state.is_empty() {
            return if state.finished { Taken::End } else { Taken::Nothing };
        }
        std::mem::swap(&mut state.filling, batch);
        state.overrun = false;
        drop(state);
        self.emptied.notify_one();
        Taken::Batch
    }
}

impl State {
    fn is_empty(&self) -> bool {
        self.filling.marks.is_empty() && self.dropping.is_none()
    }

    fn has_room(&self, bytes: usize, capacity: usize) -> bool {
        !self.abandoned
            && !self.overrun
            && self.filling.marks.len() < MOST_MARKS
            && self.filling.bytes.len() + bytes <= capacity
    }

    fn leave_out(&mut self, time_ns: u64, bytes: usize) {
        self.dropped += bytes as u64;
        if self.abandoned {
            return;
        }
        self.overrun = true;
        let bytes = bytes as u32;
        let first = Arrival { time_ns, bytes: 0, what: What::Dropped };
        let dropping = self.dropping.get_or_insert(first);
        match dropping.bytes.checked_add(bytes) {
            Some(sum) => dropping.bytes = sum,
            None => {
                // More than a mark can say: another one follows.
                let full = std::mem::replace(dropping, Arrival { bytes, ..first });
                self.filling.marks.push(full);
            }
        }
    }

    /// Puts the mark of what was dropped before whatever follows.
    fn settle(&mut self) {
        self.filling.marks.extend(self.dropping.take());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOON: Duration = Duration::from_millis(1);

    #[test]
    fn what_finds_no_room_is_counted_in_its_place() {
        let buffer = Buffer::new(4);
        assert!(buffer.push(1, b"abc"));
        assert!(!buffer.push(2, b"de"));
        assert!(!buffer.push(3, b"fg"));
        let mut batch = buffer.other();
        assert_eq!(buffer.take(&mut batch, SOON), Taken::Batch);
        assert!(buffer.push(5, b"ijkl"));
        let told: Vec<_> = batch.pieces().map(|(m, b)| (m.time_ns, m.bytes, b.to_vec())).collect();
        let expected = [(1, 3, b"abc".to_vec()), (2, 4, Vec::new())];
        assert_eq!((told.as_slice(), buffer.dropped()), (expected.as_slice(), 4));
        assert!(!buffer.push(6, b"m"));
        buffer.finish();
        // The end waits for what was dropped last.
        assert_eq!(buffer.take(&mut batch, SOON), Taken::Batch);
        assert_eq!((batch.bytes.as_slice(), batch.marks[1].what), (&b"ijkl"[..], What::Dropped));
        assert_eq!(buffer.take(&mut batch, SOON), Taken::End);
    }

    #[test]
    fn after_an_overflow_nothing_is_kept_until_a_whole_buffer_is_free() {
        let buffer = Buffer::new(8);
        assert!(buffer.push(1, b"abcde"));
        assert!(!buffer.push(2, b"fghi"));
        // There is room for these, but what came before them is missing.
        assert!(!buffer.push(3, b"jk") && !buffer.wait_for_room(1, SOON));
        // A connection is marked all the same, in its place.
        buffer.mark(Arrival { time_ns: 4, bytes: 0, what: What::Opened });
        assert!(!buffer.push(5, b"l"));
        let mut batch = buffer.other();
        assert_eq!(buffer.take(&mut batch, SOON), Taken::Batch);
        assert!(buffer.push(6, b"mnopqrst"));
        let told: Vec<_> = batch.marks.iter().map(|mark| (mark.time_ns, mark.bytes)).collect();
        assert_eq!((told, buffer.dropped()), (vec![(1, 5), (2, 6), (4, 0), (5, 1)], 7));
    }

    #[test]
    fn reads_of_no_length_that_matters_do_not_grow_without_end() {
        let buffer = Buffer::new(1 << 20);
        (0..2 * MOST_MARKS).for_each(|_| _ = buffer.push(0, b"x"));
        assert_eq!(buffer.dropped(), MOST_MARKS as u64);
    }

    #[test]
    fn who_waits_is_woken_by_an_exchange_or_by_the_end_of_taking() {
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
