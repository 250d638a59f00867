//! The state changes of a stream (start, stop, filter, clear), its status, and the removal of
//! records.

use std::sync::atomic::Ordering::{AcqRel, Relaxed, Release, SeqCst};

use tracewell_record::posix::{Event, IMMORTAL_OWNER, Record};
use tracewell_wire::posix::object::{State, at};
use tracewell_wire::posix::{self as wire, EventSet, FLAG_SYSTEM, RecordHeader, StreamPolicy};

use super::{ControllerState, Stream};
use crate::lock;
use crate::status::Status;
use crate::sys;

/// An operation on the filter of a stream.
///
/// ```
/// use tracewell_posix::{Attributes, Controller, EventSet, FilterChange, UNNAMED};
///
/// let controller = Controller::create(0, &Attributes::default())?;
/// let stream = controller.stream();
/// let mut unnamed = EventSet::EMPTY;
/// unnamed.add(UNNAMED);
/// stream.set_filter(&unnamed, FilterChange::Add);
/// assert_eq!(stream.filter().contains(UNNAMED), Some(true));
/// stream.set_filter(&unnamed, FilterChange::Remove);
/// assert_eq!(stream.filter().contains(UNNAMED), Some(false));
/// # Ok::<(), tracewell_posix::Error>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FilterChange {
    /// Replaces the filter with the set.
    Set,
    /// Adds the members of the set to the filter.
    Add,
    /// Removes the members of the set from the filter.
    Remove,
}

/// Maximum number of dropped records and restarts during the search for one record. After this
/// number, the stream is treated as empty, so that a malicious process cannot keep a reader busy.
const MAX_RESTARTS: usize = 1 << 20;

/// Minimum time in nanoseconds between a system event and the user events before and after it. A
/// processor can read its counter too early, and a thread's clock is not exact. This time exceeds
/// both of these errors.
const APART: u64 = 3000;

impl Stream {
    fn set_state(&self, state: State) {
        self.word(at::STATE).store(state as u64, SeqCst);
    }

    /// Records a system event, unless the filter suppresses it.
    fn system(&self, inner: &ControllerState, id: u32, stamp: u64, data: &[u8]) {
        if self.filter().contains(id) == Some(true) {
            return;
        }
        let head = RecordHeader { length: 0, id: id as u16, flags: FLAG_SYSTEM, process: 0 };
        let event = Event { head, stamp, address: 0, thread: 0 };
        let pool = self.pool();
        if inner.cursor.push(&pool, &event, data, IMMORTAL_OWNER, &|_| true).is_err() {
            pool.lose();
        }
    }

    /// Records a system event with the current time if the stream is running.
    pub(crate) fn note(&self, inner: &ControllerState, id: u32, data: &[u8]) {
        if self.state() == State::Running {
            // Keep this event apart from the user events before and after it.
            let stamp = apart(sys::realtime());
            self.system(inner, id, stamp, data);
            apart(stamp);
            self.wake_readers();
        }
    }

    /// Starts recording. Does nothing if the stream is already running.
    ///
    /// ```
    /// use tracewell_posix::{Attributes, Controller, UNNAMED, record};
    ///
    /// let controller = Controller::create(0, &Attributes::default())?;
    /// controller.stream().start();
    /// record(UNNAMED, b"recorded", false, 0);
    /// controller.stream().stop();
    /// record(UNNAMED, b"not recorded", false, 0);
    ///
    /// let events = std::iter::from_fn(|| controller.try_next().unwrap());
    /// let mut user = events.filter(|(event, _)| event.id == UNNAMED);
    /// assert_eq!(user.next().unwrap().1, b"recorded");
    /// assert!(user.next().is_none());
    /// # Ok::<(), tracewell_posix::Error>(())
    /// ```
    pub fn start(&self) {
        let mut inner = self.inner();
        match self.state() {
            State::Running => {}
            State::Full => inner.stop_requested = false,
            State::Suspended if inner.flush.log_full && self.log_stops() => {}
            State::Suspended => self.run(&mut inner),
        }
        self.settle(&mut inner);
    }

    /// Returns true if the stream has a log whose policy suspends the stream when the log is full.
    fn log_stops(&self) -> bool {
        self.attributes.log_policy == wire::LogPolicy::UntilFull && self.has_log()
    }

    /// Records a START event and sets the state to running.
    fn run(&self, inner: &mut ControllerState) {
        let stamp = sys::realtime();
        self.system(inner, wire::START, stamp, &self.filter().bytes());
        if let Some((_, until @ &mut u64::MAX)) =
            inner.suspensions.back_mut().map(|span| (span.0, &mut span.1))
        {
            *until = stamp;
        }
        // Records of other threads must be later than the start record.
        apart(stamp);
        self.set_state(State::Running);
        self.wake_readers();
    }

    /// Stops recording. Records that are already in the stream can still be read.
    pub fn stop(&self) {
        let mut inner = self.inner();
        self.stop_with(&mut inner);
    }

    fn stop_with(&self, inner: &mut ControllerState) {
        let (running, suspended) = (State::Running as u64, State::Suspended as u64);
        let stopped = self.word(at::STATE).compare_exchange(running, suspended, SeqCst, SeqCst);
        match stopped.map_err(State::of_code) {
            Ok(_) => {
                // The clocks of threads differ slightly. The wait in `apart` makes this record's
                // timestamp later than the timestamps of all earlier events.
                let stamp = apart(sys::realtime());
                self.system(inner, wire::STOP, stamp, &0_i32.to_ne_bytes());
                inner.suspend_from(stamp);
                self.wake_readers();
            }
            // A full stream has stopped already. It must not restart when it becomes empty.
            Err(State::Full) => inner.stop_requested = true,
            Err(_) => {}
        }
    }

    /// Returns the filter: the set of event types that are not recorded.
    pub fn filter(&self) -> EventSet {
        let word = |index| self.word(at::FILTER + index).load(Relaxed);
        EventSet::of_words(std::array::from_fn(word))
    }

    fn store_filter(&self, set: &EventSet) {
        for (index, word) in set.words().into_iter().enumerate() {
            self.word(at::FILTER + index).store(word, Release);
        }
    }

    /// Changes the filter. The new filter applies to each event that a thread begins to record
    /// after this call has returned.
    pub fn set_filter(&self, set: &EventSet, change: FilterChange) {
        let inner = self.inner();
        let old = self.filter();
        let new = match change {
            FilterChange::Set => *set,
            FilterChange::Add => old.union(set),
            FilterChange::Remove => old.difference(set),
        };
        let mut data = [0; 2 * EventSet::BYTES];
        data[..EventSet::BYTES].copy_from_slice(&old.bytes());
        data[EventSet::BYTES..].copy_from_slice(&new.bytes());
        // The old filter decides if this event is recorded, so store the new filter afterwards.
        self.note(&inner, wire::FILTER, &data);
        self.store_filter(&new);
    }

    /// Removes all records, clears the filter, and restarts the log.
    ///
    /// ```
    /// use tracewell_posix::{Attributes, Controller};
    ///
    /// let controller = Controller::create(0, &Attributes::default())?;
    /// controller.stream().start();
    /// controller.stream().clear();
    /// assert_eq!(controller.try_next()?, None);
    /// # Ok::<(), tracewell_posix::Error>(())
    /// ```
    pub fn clear(&self) {
        // Lock the log before the state, in the same order as the flusher.
        let mut log = self.log.as_ref().map(lock);
        let mut inner = self.inner();
        let (full, suspended) = (State::Full as u64, State::Suspended as u64);
        if self.word(at::STATE).compare_exchange(full, suspended, AcqRel, Relaxed).is_ok() {
            let now = sys::realtime();
            inner.suspend_from(now);
        }
        inner.stop_requested = false;
        inner.reader.clear(&self.pool());
        for word in [at::FULL_STAMP, at::FIRST_LOST, at::LOOP_FULL] {
            self.word(word).store(0, Relaxed);
        }
        self.take_overrun(&mut inner);
        self.store_filter(&EventSet::EMPTY);
        if let Some(log) = &mut log {
            log.clear();
            let flush = &mut inner.flush;
            (flush.log_full, flush.log_overrun, flush.error) = (false, false, log.take_error());
        }
    }

    /// Returns true if events were lost since the last call.
    fn take_overrun(&self, inner: &mut ControllerState) -> bool {
        let lost = self.word(at::LOST).load(Relaxed);
        let displaced = self.word(at::DISPLACED).load(Relaxed);
        let overrun = lost != inner.lost_reported || displaced != inner.displaced_reported;
        (inner.lost_reported, inner.displaced_reported) = (lost, displaced);
        overrun
    }

    /// Returns the status, and resets its overrun flags and its flush error.
    pub fn take_status(&self) -> Status {
        let mut inner = self.inner();
        self.settle(&mut inner);
        let state = self.state();
        let looped = self.word(at::LOOP_FULL).load(Relaxed) != 0;
        Status {
            running: state == State::Running,
            full: state == State::Full || looped && self.header.policy == StreamPolicy::Loop,
            overrun: self.take_overrun(&mut inner),
            flushing: inner.flush.flushing,
            flush_error: std::mem::take(&mut inner.flush.error),
            log_overrun: std::mem::take(&mut inner.flush.log_overrun),
            log_full: inner.flush.log_full,
        }
    }

    /// Removes the oldest record. When a full stream becomes empty, delivers its stop record and
    /// restarts the stream.
    pub(crate) fn take(&self, inner: &mut ControllerState) -> Option<Record> {
        let pool = self.pool();
        // Limit the restarts, because a malicious process can keep the stream full.
        for _ in 0..MAX_RESTARTS {
            match inner.reader.take(&pool) {
                // A thread was recording this event while the stream stopped. Drop the event.
                Some(record) if inner.was_suspended(&record) => {}
                Some(record) => return Some(record),
                None if self.state() != State::Full => return None,
                None => {
                    if let Some(stop) = self.restart(inner) {
                        return Some(stop);
                    }
                    if self.state() != State::Running {
                        return None;
                    }
                }
            }
        }
        None
    }

    /// Restarts a stream that became full and is now empty, if the filter suppresses its stop
    /// record. There is no stop record to read, so the restart does not wait for a reader.
    fn settle(&self, inner: &mut ControllerState) {
        let hidden = self.filter().contains(wire::STOP) == Some(true);
        if hidden && self.state() == State::Full && inner.reader.is_empty(&self.pool()) {
            self.restart(inner);
        }
    }

    /// Ends the suspension of a full stream that has become empty. Returns the stop record unless
    /// the filter suppresses it, and restarts the stream unless a stop was requested.
    fn restart(&self, inner: &mut ControllerState) -> Option<Record> {
        let now = sys::realtime();
        // The exchange with 0 ensures that each timestamp is used once.
        let at = |index: usize| Some(self.word(index).swap(0, AcqRel)).filter(|stamp| *stamp != 0);
        let stopped = at(at::FULL_STAMP).unwrap_or(now);
        let first_lost = at(at::FIRST_LOST);
        let hidden = self.filter().contains(wire::STOP) == Some(true);
        let stop = (!hidden).then(|| inner.reader.insert(stop_record(stopped), &[1]));
        if std::mem::take(&mut inner.stop_requested) {
            self.set_state(State::Suspended);
            inner.suspend_from(now);
            return stop;
        }
        if let Some(first_lost) = first_lost {
            // Threads read the clock at different times. Keep the order stop, overflow, resume.
            self.system(inner, wire::OVERFLOW, first_lost.max(stopped).min(now), &[]);
            self.system(inner, wire::RESUME, now, &[]);
        }
        self.run(inner);
        stop
    }

    /// Suspends a stream whose log is full.
    pub(crate) fn suspend(&self, inner: &mut ControllerState) {
        self.set_state(State::Suspended);
        let now = sys::realtime();
        inner.suspend_from(now);
    }
}

/// Waits until [`APART`] nanoseconds after the time `from`, and returns the time after the wait.
fn apart(from: u64) -> u64 {
    loop {
        let now = sys::realtime();
        // If the clock is set back, the wait ends as well.
        if now.wrapping_sub(from) >= APART {
            return now;
        }
        std::hint::spin_loop();
    }
}

/// Returns the stop record of a stream that stopped because it was full.
pub(crate) fn stop_record(stamp: u64) -> Record {
    let head = RecordHeader { length: 4, id: wire::STOP as u16, flags: FLAG_SYSTEM, process: 0 };
    Record { head, stamp, address: 0, thread: 0 }
}
