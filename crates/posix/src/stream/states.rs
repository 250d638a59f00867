//! The states of a stream, its filter and its status; what comes out of it.

use std::sync::atomic::Ordering::{AcqRel, Relaxed, Release, SeqCst};

use tracewell_record::posix::{Event, Taken, UNENDING};
use tracewell_wire::posix::object::{State, at};
use tracewell_wire::posix::{self as wire, EventSet, FLAG_SYSTEM, RecordHead, StreamPolicy};

use super::{Core, Inner};
use crate::lock;
use crate::status::Status;
use crate::sys;

/// What is done with the filter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FilterChange {
    /// The set becomes the filter.
    Set,
    /// The members are added.
    Add,
    /// The members are removed.
    Remove,
}

/// Records of a stopped stream and restarts of a full one, one behind the other, after which nothing is
/// said to be there.
const RESTARTS: usize = 1 << 20;

/// Nanoseconds between what the stream says for itself and what threads record before and after it: longer
/// than a processor reads its counter ahead of what it waits for, and than the clock of a thread goes wrong.
const APART: u64 = 3000;

impl Core {
    fn set_state(&self, state: State) {
        self.word(at::STATE).store(state as u64, SeqCst);
    }

    /// Records a system event, unless the filter leaves it out.
    fn system(&self, inner: &Inner, id: u32, stamp: u64, data: &[u8]) {
        if self.filter().contains(id) == Some(true) {
            return;
        }
        let head = RecordHead { length: 0, id: id as u16, flags: FLAG_SYSTEM, process: 0 };
        let event = Event { head, stamp, address: 0, thread: 0 };
        let pool = self.pool();
        if inner.place.push(&pool, &event, data, UNENDING, &|_| true).is_err() {
            pool.lose();
        }
    }

    /// Records a system event now, if the stream runs.
    pub(crate) fn note(&self, inner: &Inner, id: u32, data: &[u8]) {
        if self.state() == State::Running {
            let stamp = apart(sys::realtime());
            self.system(inner, id, stamp, data);
            apart(stamp);
            self.wake_readers();
        }
    }

    /// Starts recording; nothing is to be done where it records.
    pub fn start(&self) {
        let mut inner = self.inner();
        match self.state() {
            State::Running => {}
            State::Full => inner.held = false,
            State::Suspended if inner.flush.log_full && self.log_stops() => {}
            State::Suspended => self.run(&mut inner),
        }
        self.settle(&mut inner);
    }

    /// Whether a full log keeps the stream suspended.
    fn log_stops(&self) -> bool {
        self.attributes.log_policy == wire::LogPolicy::UntilFull && self.has_log()
    }

    /// Records START and runs.
    fn run(&self, inner: &mut Inner) {
        let stamp = sys::realtime();
        self.system(inner, wire::START, stamp, &self.filter().bytes());
        if let Some((_, until @ &mut u64::MAX)) =
            inner.quiet.back_mut().map(|span| (span.0, &mut span.1))
        {
            *until = stamp;
        }
        apart(stamp);
        self.set_state(State::Running);
        self.wake_readers();
    }

    /// Stops recording.
    pub fn stop(&self) {
        let mut inner = self.inner();
        self.stop_with(&mut inner);
    }

    fn stop_with(&self, inner: &mut Inner) {
        let (running, suspended) = (State::Running as u64, State::Suspended as u64);
        let stopped = self.word(at::STATE).compare_exchange(running, suspended, SeqCst, SeqCst);
        match stopped.map_err(State::of_code) {
            Ok(_) => {
                let stamp = apart(sys::realtime());
                self.system(inner, wire::STOP, stamp, &0_i32.to_ne_bytes());
                inner.be_quiet(stamp);
                self.wake_readers();
            }
            Err(State::Full) => inner.held = true,
            Err(_) => {}
        }
    }

    /// The filter: what is not recorded.
    pub fn filter(&self) -> EventSet {
        let word = |index| self.word(at::FILTER + index).load(Relaxed);
        EventSet::of_words(std::array::from_fn(word))
    }

    fn store_filter(&self, set: &EventSet) {
        for (index, word) in set.words().into_iter().enumerate() {
            self.word(at::FILTER + index).store(word, Release);
        }
    }

    /// Changes the filter, for events that begin after the return.
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
        self.note(&inner, wire::FILTER, &data);
        self.store_filter(&new);
    }

    /// Forgets all records and the filter. A log begins anew, too.
    pub fn clear(&self) {
        let mut log = self.log.as_ref().map(lock);
        let mut inner = self.inner();
        let (full, suspended) = (State::Full as u64, State::Suspended as u64);
        if self.word(at::STATE).compare_exchange(full, suspended, AcqRel, Relaxed).is_ok() {
            let now = sys::realtime();
            inner.be_quiet(now);
        }
        inner.held = false;
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

    /// Whether events were lost since this was asked last.
    fn take_overrun(&self, inner: &mut Inner) -> bool {
        let lost = self.word(at::LOST).load(Relaxed);
        let displaced = self.word(at::DISPLACED).load(Relaxed);
        let overrun = lost != inner.lost_reported || displaced != inner.displaced_reported;
        (inner.lost_reported, inner.displaced_reported) = (lost, displaced);
        overrun
    }

    /// How it stands; what is said of losses and of the error is said once.
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

    /// Takes the oldest record out, and what the stream says for itself when it was full.
    pub(crate) fn take(&self, inner: &mut Inner) -> Option<Taken> {
        let pool = self.pool();
        for _ in 0..RESTARTS {
            match inner.reader.take(&pool) {
                Some(taken) if inner.was_quiet(&taken) => {}
                Some(taken) => return Some(taken),
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

    /// Ends the suspension of a full stream that is empty, if it is one whose stop nobody will read.
    fn settle(&self, inner: &mut Inner) {
        let hidden = self.filter().contains(wire::STOP) == Some(true);
        if hidden && self.state() == State::Full && inner.reader.is_empty(&self.pool()) {
            self.restart(inner);
        }
    }

    /// What comes when everything was taken out of a full stream: its stop, which is returned to be given
    /// out unless it is filtered, and the next start.
    fn restart(&self, inner: &mut Inner) -> Option<Taken> {
        let now = sys::realtime();
        let at = |index: usize| Some(self.word(index).swap(0, AcqRel)).filter(|stamp| *stamp != 0);
        let stopped = at(at::FULL_STAMP).unwrap_or(now);
        let first_lost = at(at::FIRST_LOST);
        let hidden = self.filter().contains(wire::STOP) == Some(true);
        let stop = (!hidden).then(|| inner.reader.insert(stop_record(stopped), &[1]));
        if std::mem::take(&mut inner.held) {
            self.set_state(State::Suspended);
            inner.be_quiet(now);
            return stop;
        }
        if let Some(first_lost) = first_lost {
            self.system(inner, wire::OVERFLOW, first_lost.max(stopped).min(now), &[]);
            self.system(inner, wire::RESUME, now, &[]);
        }
        self.run(inner);
        stop
    }

    /// Puts a full log's stream to rest.
    pub(crate) fn rest(&self, inner: &mut Inner) {
        self.set_state(State::Suspended);
        let now = sys::realtime();
        inner.be_quiet(now);
    }
}

/// Waits a moment after a time; the time then.
fn apart(from: u64) -> u64 {
    loop {
        let now = sys::realtime();
        // A clock that is set back ends the wait as well.
        if now.wrapping_sub(from) >= APART {
            return now;
        }
        std::hint::spin_loop();
    }
}

/// The record that says that the stream stopped by itself.
pub(crate) fn stop_record(stamp: u64) -> Taken {
    let head = RecordHead { length: 4, id: wire::STOP as u16, flags: FLAG_SYSTEM, process: 0 };
    Taken { head, stamp, address: 0, thread: 0 }
}
