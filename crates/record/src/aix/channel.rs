//! One channel: its buffers, and the order in which entries and loss marks are stored in them.
//!
//! Other files contain the calls (`control.rs`, `insert.rs`) and the code with which a ring
//! overwrites entries (`ring.rs`).

use core::ops::Range;

use tracewell_wire::ByteOrder;
use tracewell_wire::aix::{Env, Frame, ids};

use super::buffers::{Buffer, MARKS, Pair, TAIL};
use super::chunk::Chunk;
use super::options::LogFull;
use super::record::{OWN_2_LENGTH, OWN_2_SIZE, Record};
use super::ring::Ring;
use super::{Context, Counts, Mode, Options, Outcome};

/// The memory of a channel, organised according to its mode.
pub(super) enum Store {
    Alternate(Pair),
    Single(Buffer),
    Circular(Ring),
}

impl Store {
    pub(super) fn new(mode: Mode, length: usize, order: ByteOrder) -> Self {
        match mode {
            Mode::Alternate => Self::Alternate(Pair::new(length)),
            Mode::Single => Self::Single(Buffer::new(0..length & !7)),
            Mode::Circular => Self::Circular(Ring::new(length, order)),
        }
    }

    /// Returns the length of one buffer in bytes, for memory of `length` bytes.
    pub(super) fn capacity(mode: Mode, length: usize) -> usize {
        match mode {
            Mode::Alternate => (length / 2) & !7,
            Mode::Single => length & !7,
            Mode::Circular => Ring::capacity_of(length),
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum State {
    Off,
    On,
    Stopped,
}

pub(super) struct Channel<'m> {
    pub(super) number: u32,
    pub(super) memory: &'m mut [u8],
    pub(super) store: Store,
    pub(super) state: State,
    pub(super) options: Options<'m>,
    pub(super) env: Env,
    pub(super) order: ByteOrder,
    pub(super) start_tick: u64,
    pub(super) counts: Counts,
    /// Length of the log in bytes, including all buffers before the one being filled.
    pub(super) log_used: u64,
    /// Length of the log's header in bytes.
    pub(super) header_length: u64,
    /// Number of entries missed since the last entry that was stored.
    pub(super) missed_here: u64,
}

/// Time and context of a call, shared by all entries that it records.
#[derive(Clone, Copy)]
pub(super) struct Moment {
    pub(super) context: Context,
    pub(super) tick: u64,
}

impl<'m> Channel<'m> {
    /// Stores an entry, preceded by a loss mark if entries were missed.
    #[inline]
    pub(super) fn put(&mut self, moment: Moment, record: &Record<'_>) -> Outcome {
        let length = match record.length() {
            Ok(length) => length,
            Err(error) => return Outcome::Refused(error),
        };
        let Some(at) = self.reserve(moment, Frame::size(length)) else { return Outcome::Missed };
        self.write(at, moment, record, length);
        Outcome::Recorded
    }

    fn write(&mut self, at: usize, moment: Moment, record: &Record<'_>, length: usize) {
        let head = moment.context.stamped(record.env(), moment.tick);
        let place = self.memory.get_mut(at..).unwrap_or_default();
        // The write cannot fail, because the store reserved memory for exactly this length.
        let _ = record.write(self.order, head, length, place);
        self.counts.recorded += 1;
    }

    /// Reserves `size` bytes and returns their offset, or counts a missed entry.
    #[inline]
    fn reserve(&mut self, moment: Moment, size: usize) -> Option<usize> {
        match &mut self.store {
            Store::Alternate(_) => self.reserve_in_pair(moment, size),
            // In single mode, the channel stops when its buffer is full.
            Store::Single(buffer) => buffer.reserve(size).or_else(|| {
                self.miss();
                self.close(moment);
                None
            }),
            Store::Circular(ring) => {
                let at = ring.reserve(self.memory, size);
                self.counts.missed += u64::from(at.is_none());
                at
            }
        }
    }

    fn reserve_in_pair(&mut self, moment: Moment, size: usize) -> Option<usize> {
        // The mark of missed entries precedes the entry, so there must be room for both.
        let mark = if self.missed_here > 0 { OWN_2_SIZE } else { 0 };
        let Store::Alternate(pair) = &mut self.store else { return None };
        if !pair.filling().has_room(mark + size) {
            // An entry that is longer than an empty buffer would switch buffers again and again.
            let ever_fits = MARKS + size + TAIL <= pair.filling().capacity();
            if !ever_fits || !pair.can_turn() {
                self.miss();
                return None;
            }
            if !self.turn(moment) {
                self.miss();
                self.close(moment);
                return None;
            }
        }
        // After a switch, the mark is the first entry of the new buffer.
        self.mark_missed(moment);
        self.buffer()?.reserve(size)
    }

    /// Counts an entry that did not fit.
    fn miss(&mut self) {
        self.counts.buffer_wraps += u64::from(self.missed_here == 0);
        self.missed_here += 1;
        self.counts.missed += 1;
    }

    /// Switches to the other buffer and leaves the full buffer to be drained. Returns false if the
    /// log is full and the channel must stop.
    fn turn(&mut self, moment: Moment) -> bool {
        let Store::Alternate(pair) = &mut self.store else { return false };
        self.log_used += pair.filling().filled().len() as u64;
        let capacity = pair.filling().capacity() as u64;
        // The next buffer may become full, so the log needs room for a whole buffer.
        let log_is_full = self.options.log_size.is_some_and(|size| self.log_used + capacity > size);
        if log_is_full && self.options.log_full == LogFull::Stop {
            return false;
        }
        pair.turn();
        if log_is_full {
            // In a circular log, this buffer goes to the beginning of the log.
            pair.filling().starts_over = true;
            self.log_used = self.header_length;
            self.counts.log_wraps += 1;
            let wraps = self.counts.log_wraps;
            self.take(moment, &Record::own_1(self.env, ids::LOG_WRAP, wraps));
        }
        true
    }

    /// Stores a hook 006 in place of the entries that were missed.
    fn mark_missed(&mut self, moment: Moment) {
        if self.missed_here > 0 {
            let mark = Record::buffer_wrap(self.env, self.counts.buffer_wraps, self.missed_here);
            self.missed_here = 0;
            self.take(moment, &mark);
        }
    }

    /// Returns the buffer being filled; `None` in circular mode.
    fn buffer(&mut self) -> Option<&mut Buffer> {
        match &mut self.store {
            Store::Alternate(pair) => Some(pair.filling()),
            Store::Single(buffer) => Some(buffer),
            Store::Circular(_) => None,
        }
    }

    /// Stores an entry of the trace itself in the bytes reserved for it.
    fn take(&mut self, moment: Moment, record: &Record<'_>) {
        let Ok(length) = record.length() else { return };
        let size = Frame::size(length);
        let at = match &mut self.store {
            Store::Circular(ring) => ring.reserve(self.memory, size),
            _ => self.buffer().and_then(|buffer| buffer.take(size)),
        };
        if let Some(at) = at {
            self.write(at, moment, record, length);
        }
    }

    /// Stops the channel permanently. Stores the loss mark if entries were missed, and TRACE OFF if
    /// the channel was on and its log does not belong to a single CPU.
    pub(super) fn close(&mut self, moment: Moment) {
        let was_on = self.state == State::On;
        self.state = State::Stopped;
        self.mark_missed(moment);
        if was_on && !self.options.per_cpu {
            let channel = u64::from(self.number);
            self.take(moment, &Record::own_1(self.env, ids::TRACE_OFF, channel));
        }
        self.mark_overwritten();
    }

    /// If the ring overwrote entries, stores the loss mark at the front of the ring, with the
    /// timestamp of the oldest remaining entry.
    fn mark_overwritten(&mut self) {
        let Store::Circular(ring) = &mut self.store else { return };
        ring.missed = self.counts.missed;
        (self.counts.overwritten, self.counts.buffer_wraps) = (ring.overwritten, ring.laps);
        if let (lost @ 1.., Some(oldest)) = (ring.lost(), ring.oldest(self.memory)) {
            let context = Context { cpu: oldest.head.cpu, tid: None, pid: None };
            let mark = Record::buffer_wrap(self.env, ring.laps, lost);
            // The first bytes of the memory are reserved for this mark.
            self.write(0, Moment { context, tick: oldest.head.tick }, &mark, OWN_2_LENGTH);
        }
    }

    /// Returns the current counts.
    pub(super) fn counts(&self) -> Counts {
        match &self.store {
            Store::Circular(ring) => {
                Counts { overwritten: ring.overwritten, buffer_wraps: ring.laps, ..self.counts }
            }
            _ => self.counts,
        }
    }

    /// Returns the bytes that can be drained now.
    pub(super) fn waiting(&self) -> Option<Chunk<'_>> {
        let stopped = self.state == State::Stopped;
        let (range, starts_over): (Range<usize>, bool) = match &self.store {
            Store::Alternate(pair) => {
                pair.waiting(stopped).map(|buffer| (buffer.filled(), buffer.starts_over))?
            }
            // Until the channel stops, it can still extend a single buffer and overwrite entries of
            // a ring.
            Store::Single(buffer) => {
                (stopped && !buffer.filled().is_empty()).then(|| (buffer.filled(), false))?
            }
            Store::Circular(ring) => (ring.waiting().filter(|_| stopped)?, false),
        };
        Some(Chunk { bytes: self.memory.get(range)?, starts_over })
    }

    /// Releases the bytes that [`Channel::waiting`] returned.
    pub(super) fn drained(&mut self) {
        match &mut self.store {
            Store::Alternate(pair) => pair.drained(),
            Store::Single(buffer) => buffer.clear(),
            Store::Circular(ring) => ring.drained(),
        }
    }

    /// Discards all bytes that are not drained yet.
    pub(super) fn discard(&mut self) {
        while let Some(chunk) = self.waiting() {
            self.counts.discarded += count_frames(self.order, chunk.bytes);
            self.drained();
        }
    }
}

fn count_frames(order: ByteOrder, mut bytes: &[u8]) -> u64 {
    let mut count = 0;
    while let Ok((_, size)) = Frame::read(order, bytes) {
        bytes = bytes.get(size..).unwrap_or_default();
        count += 1;
    }
    count
}
