//! Active streams, in the process that made them.
//!
//! What the standard says of states is kept in one word of the stream's memory, which traced processes
//! look at, and in [`Inner`], which is this process's alone:
//!
//! * suspended, running, suspended because it is full: the word;
//! * *held*: the full stream shall not start again when it is empty, for somebody called stop;
//! * the record of the stop of a full stream is kept as its time; it is given out when all others were.
//!
//! A thread may be in the middle of a record while the stream is stopped. Its record is younger than
//! the stop, so the reader, who knows from when to when the stream was suspended, leaves it out: the
//! event came after the stop.
//!
//! `make` makes streams and tells processes of them, `states` starts, stops and empties them.

mod make;
mod states;

use std::collections::VecDeque;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Mutex;
use std::sync::atomic::Ordering::{AcqRel, Acquire, SeqCst};
use std::sync::atomic::{AtomicBool, AtomicU64, fence};

use tracewell_record::posix::{Place, Pool, Reader, Taken};
use tracewell_wire::posix::FLAG_SYSTEM;
use tracewell_wire::posix::object::{ObjectHeader, State, at};

use crate::attributes::Attributes;
use crate::error::Error;
use crate::lock;
use crate::log_writer::LogWriter;
use crate::names::NameFile;
use crate::process::Process;
use crate::status::EventInfo;
use crate::sys::{self, Mapping};
use crate::types::{self, TypeNames};

pub use states::FilterChange;
pub(crate) use states::stop_record;

/// An active stream, in the process that made it.
#[derive(Debug)]
pub struct Core {
    memory: Mapping,
    header: ObjectHeader,
    /// Keeps the memory open for processes that attach later.
    _object: OwnedFd,
    number: u32,
    /// The file of its reference, whose lock says that the stream is there.
    _lock: OwnedFd,
    in_file: bool,
    user: u32,
    names: OwnedFd,
    target: Process,
    attributes: Attributes,
    inner: Mutex<Inner>,
    pub(crate) log: Option<Mutex<LogWriter>>,
    ended: AtomicBool,
}

/// What only the controller knows.
#[derive(Debug)]
pub(crate) struct Inner {
    reader: Reader,
    place: Place,
    held: bool,
    /// Spans in which the stream was suspended, the last one perhaps without end.
    quiet: VecDeque<(u64, u64)>,
    lost_reported: u64,
    displaced_reported: u64,
    listed: usize,
    pub(crate) flush: FlushState,
}

/// How the flushes of a stream with a log stand.
#[derive(Debug, Default)]
pub(crate) struct FlushState {
    /// Flushes that were asked for, and how many of them are done.
    pub(crate) wanted: u64,
    pub(crate) done: u64,
    pub(crate) flushing: bool,
    pub(crate) ending: bool,
    pub(crate) error: i32,
    pub(crate) log_overrun: bool,
    pub(crate) log_full: bool,
    /// [`Pool::progress`] of what the last flush has written; `None` if it left something.
    pub(crate) seen: Option<[u64; 2]>,
}

/// Spans that are remembered; the oldest is forgotten first.
const QUIET: usize = 256;

impl Core {
    pub(crate) fn word(&self, index: usize) -> &AtomicU64 {
        &self.memory.words()[index]
    }

    pub(crate) fn pool(&self) -> Pool<'_> {
        Pool::known(self.memory.words(), self.header.geometry, self.header.policy)
    }

    pub(crate) fn inner(&self) -> std::sync::MutexGuard<'_, Inner> {
        lock(&self.inner)
    }

    pub(crate) fn state(&self) -> State {
        State::of_code(self.word(at::STATE).load(Acquire))
    }

    /// Whether it was shut down.
    pub fn is_ended(&self) -> bool {
        self.ended.load(Acquire)
    }

    /// Whether it has a log.
    pub const fn has_log(&self) -> bool {
        self.log.is_some()
    }

    /// The attributes it has.
    pub const fn attributes(&self) -> &Attributes {
        &self.attributes
    }

    pub(crate) const fn names(&self) -> &OwnedFd {
        &self.names
    }

    pub(crate) fn wake_readers(&self) {
        if self.word(at::WAITERS).swap(0, SeqCst) != 0 {
            sys::wake(self.word(at::WAKE));
        }
    }

    /// Takes the oldest event out and gives it with its data to `copy`; `None` where there is none now.
    ///
    /// # Errors
    /// EINVAL after the end of the stream, and where it has a log: its records are the log's.
    pub fn try_next<R>(
        &self,
        copy: impl FnOnce(EventInfo, &[u64]) -> R,
    ) -> Result<Option<R>, Error> {
        if self.has_log() {
            return Err(Error::INVALID);
        }
        let mut inner = self.inner();
        if self.is_ended() {
            return Err(Error::INVALID);
        }
        let Some(taken) = self.take(&mut inner) else { return Ok(None) };
        let info = EventInfo::new(taken.head, taken.stamp, taken.address, taken.thread);
        Ok(Some(copy(info, inner.reader.data())))
    }

    /// Says that somebody is about to wait. Who looks once more after this and finds nothing may sleep at
    /// [`Core::wake_word`] while it is what is returned.
    pub fn prepare_to_wait(&self) -> u32 {
        let seen = self.word(at::WAKE).load(SeqCst) as u32;
        self.word(at::WAITERS).store(1, SeqCst);
        if !sys::order_recorders() && self.word(at::FENCES).swap(1, SeqCst) == 0 {
            // From now on recorders fence; what they stored before they knew is seen after a moment.
            sys::outwait_stores();
        }
        fence(SeqCst);
        seen
    }

    /// Where readers sleep; its low half counts up when they are to look.
    pub fn wake_word(&self) -> &AtomicU64 {
        self.word(at::WAKE)
    }

    /// Whether no process that is traced lives any more.
    pub fn is_abandoned(&self) -> bool {
        self.living_member().is_none()
    }

    /// The next event type of the list; `None` at its end.
    pub fn next_type(&self) -> Option<u32> {
        types::next(self, &mut self.inner().listed)
    }

    /// Begins the list of event types again.
    pub fn rewind_types(&self) {
        self.inner().listed = 0;
    }

    /// The id of an event type in the traced processes.
    ///
    /// # Errors
    /// ENAMETOOLONG; EAGAIN where a traced process keeps the lock of the names.
    pub fn define(&self, name: &[u8]) -> Result<u32, Error> {
        Ok(NameFile(self.names.as_fd()).define(name)?)
    }

    /// Marks it as ended; whether it was not before.
    pub(crate) fn end(&self) -> bool {
        let first = !self.ended.swap(true, AcqRel);
        sys::wake(self.word(at::WAKE));
        first
    }
}

impl TypeNames for Core {
    fn count(&self) -> usize {
        NameFile(self.names.as_fd()).count()
    }

    fn user_name(&self, id: u32) -> Option<Vec<u8>> {
        NameFile(self.names.as_fd()).name(id)
    }
}

impl Inner {
    pub(crate) fn data(&self) -> &[u64] {
        self.reader.data()
    }

    pub(crate) fn is_empty(&mut self, pool: &Pool<'_>) -> bool {
        self.reader.is_empty(pool)
    }

    fn be_quiet(&mut self, from: u64) {
        if self.quiet.len() == QUIET {
            self.quiet.pop_front();
        }
        self.quiet.push_back((from, u64::MAX));
    }

    /// Whether a record of a user event was stored after the stream had been stopped.
    fn was_quiet(&mut self, taken: &Taken) -> bool {
        while self.quiet.front().is_some_and(|span| span.1 <= taken.stamp) {
            self.quiet.pop_front();
        }
        let quiet = self.quiet.front().is_some_and(|span| span.0 < taken.stamp);
        quiet && taken.head.flags & FLAG_SYSTEM == 0
    }
}
