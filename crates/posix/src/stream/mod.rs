//! Active streams in the controller's process.
//!
//! The state of a stream consists of a word in shared memory, which traced processes read, and of
//! [`ControllerState`], which is private to this process:
//!
//! * The word has three values: running, suspended, and suspended because the stream is full.
//! * `stop_requested` prevents a full stream from restarting when it becomes empty after a call of
//!   `stop`.
//! * For the stop record of a full stream, only the timestamp is stored. A reader gets this record
//!   after all other records.
//!
//! A thread may be recording when the stream is stopped. Its record then has a later timestamp than
//! the stop record. The reader drops the records of user events from the time spans in which the
//! stream was suspended.
//!
//! `make` creates streams and attaches them to processes; `states` starts, stops and reads them.

mod make;
mod states;

use std::collections::VecDeque;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Mutex;
use std::sync::atomic::Ordering::{AcqRel, Acquire, SeqCst};
use std::sync::atomic::{AtomicBool, AtomicU64};

use tracewell_record::posix::{Cursor, Pool, Reader, Record};
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

/// An active stream, shared by its controller's threads.
///
/// ```
/// use tracewell_posix::{Attributes, Controller, TypeNames, UNNAMED};
///
/// let controller = Controller::create(0, &Attributes::default())?;
/// let stream = controller.stream();
/// let id = stream.define(b"water level")?;
/// assert_eq!(stream.name(id).as_deref(), Some(&b"water level"[..]));
/// assert!(std::iter::from_fn(|| stream.next_type()).any(|listed| listed == UNNAMED));
/// # Ok::<(), tracewell_posix::Error>(())
/// ```
#[derive(Debug)]
pub struct Stream {
    memory: Mapping,
    header: ObjectHeader,
    /// Keeps the memory open for processes that attach later.
    _object: OwnedFd,
    number: u32,
    /// The file with the published location; its lock shows that the stream exists.
    _lock: OwnedFd,
    in_file: bool,
    user: u32,
    names: OwnedFd,
    target: Process,
    attributes: Attributes,
    inner: Mutex<ControllerState>,
    pub(crate) log: Option<Mutex<LogWriter>>,
    ended: AtomicBool,
}

/// State that only the controller needs.
#[derive(Debug)]
pub(crate) struct ControllerState {
    reader: Reader,
    cursor: Cursor,
    stop_requested: bool,
    /// The intervals in which the stream was suspended; the last one may still be open.
    suspensions: VecDeque<(u64, u64)>,
    lost_reported: u64,
    displaced_reported: u64,
    listed: usize,
    pub(crate) flush: FlushState,
}

/// The state of flushes in a stream with a log.
#[derive(Debug, Default)]
pub(crate) struct FlushState {
    /// Number of requested flushes.
    pub(crate) wanted: u64,
    /// Number of completed flushes.
    pub(crate) done: u64,
    pub(crate) flushing: bool,
    pub(crate) ending: bool,
    pub(crate) error: i32,
    pub(crate) log_overrun: bool,
    pub(crate) log_full: bool,
    /// The value of [`Pool::progress`] at the end of the last flush; `None` if the flush left
    /// records unwritten.
    pub(crate) seen: Option<[u64; 2]>,
}

/// Maximum number of suspensions that a stream remembers. The oldest is dropped first.
const MAX_SUSPENSIONS: usize = 256;

impl Stream {
    pub(crate) fn word(&self, index: usize) -> &AtomicU64 {
        &self.memory.words()[index]
    }

    pub(crate) fn pool(&self) -> Pool<'_> {
        Pool::trusted(self.memory.words(), self.header.geometry, self.header.policy)
    }

    pub(crate) fn inner(&self) -> std::sync::MutexGuard<'_, ControllerState> {
        lock(&self.inner)
    }

    pub(crate) fn state(&self) -> State {
        State::of_code(self.word(at::STATE).load(Acquire))
    }

    /// Returns true if the stream was shut down.
    pub fn is_ended(&self) -> bool {
        self.ended.load(Acquire)
    }

    /// Returns true if the stream has a log.
    pub const fn has_log(&self) -> bool {
        self.log.is_some()
    }

    /// Returns the attributes, including defaults.
    pub const fn attributes(&self) -> &Attributes {
        &self.attributes
    }

    pub(crate) const fn names(&self) -> &OwnedFd {
        &self.names
    }

    pub(crate) fn wake_readers(&self) {
        if self.pool().withdraw_readers() {
            sys::wake(self.word(at::WAKE));
        }
    }

    /// Removes the oldest event and passes the event and its data to `copy`. Returns `None` if the
    /// stream is empty.
    ///
    /// # Errors
    ///
    /// EINVAL if the stream was shut down or has a log; EIO if it is empty and its memory [was
    /// truncated](Stream::is_cut).
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
        let Some(record) = self.take(&mut inner) else {
            return if self.is_cut() { Err(Error(libc::EIO)) } else { Ok(None) };
        };
        let info = EventInfo::new(record.head, record.stamp, record.address, record.thread);
        Ok(Some(copy(info, inner.reader.data())))
    }

    /// Marks the stream as having a waiting reader. After this call, the reader must poll the
    /// stream again. If it finds no event, it can sleep on [`Stream::wake_word`] while the word's
    /// low half equals the returned value.
    pub fn prepare_to_wait(&self) -> u32 {
        let seen = self.word(at::WAKE).load(SeqCst) as u32;
        self.pool().announce_reader(sys::order_recorders, sys::outwait_stores);
        seen
    }

    /// Returns the word on which waiting readers sleep. The low half of the word is incremented to
    /// wake them.
    pub fn wake_word(&self) -> &AtomicU64 {
        self.word(at::WAKE)
    }

    /// Returns true if no traced process is alive, or if none can record because the stream's
    /// memory [was truncated](Stream::is_cut).
    pub fn is_abandoned(&self) -> bool {
        self.is_cut() || self.living_member().is_none()
    }

    /// Returns true if another process truncated the stream's memory, so that events were lost.
    /// This is possible only if the traced process belongs to another user: the memory is then a
    /// file of that user.
    ///
    /// ```
    /// use tracewell_posix::{Attributes, Controller};
    ///
    /// let controller = Controller::create(0, &Attributes::default())?;
    /// assert!(!controller.stream().is_cut());
    /// # Ok::<(), tracewell_posix::Error>(())
    /// ```
    pub fn is_cut(&self) -> bool {
        self.memory.was_cut()
    }

    /// Returns the next event type in the list, or `None` at the end.
    pub fn next_type(&self) -> Option<u32> {
        types::next(self, &mut self.inner().listed)
    }

    /// Restarts the list of event types.
    pub fn rewind_types(&self) {
        self.inner().listed = 0;
    }

    /// Returns the id of an event type in the traced processes, defining the type first if its name
    /// is new.
    ///
    /// # Errors
    ///
    /// ENAMETOOLONG if the name has more than 63 bytes; otherwise the error from the file of names.
    pub fn define(&self, name: &[u8]) -> Result<u32, Error> {
        Ok(NameFile(self.names.as_fd()).define(name)?)
    }

    /// Marks the stream as shut down. Returns false if it was shut down before.
    pub(crate) fn end(&self) -> bool {
        let first = !self.ended.swap(true, AcqRel);
        sys::wake(self.word(at::WAKE));
        first
    }
}

impl TypeNames for Stream {
    fn count(&self) -> usize {
        NameFile(self.names.as_fd()).count()
    }

    fn user_name(&self, id: u32) -> Option<Vec<u8>> {
        NameFile(self.names.as_fd()).name(id)
    }
}

impl ControllerState {
    pub(crate) fn data(&self) -> &[u64] {
        self.reader.data()
    }

    pub(crate) fn is_empty(&mut self, pool: &Pool<'_>) -> bool {
        self.reader.is_empty(pool)
    }

    fn suspend_from(&mut self, from: u64) {
        if self.suspensions.len() == MAX_SUSPENSIONS {
            self.suspensions.pop_front();
        }
        self.suspensions.push_back((from, u64::MAX));
    }

    /// Returns true if a record of a user event was stored after the stream had been stopped.
    fn was_suspended(&mut self, record: &Record) -> bool {
        while self.suspensions.front().is_some_and(|span| span.1 <= record.stamp) {
            self.suspensions.pop_front();
        }
        let suspensions = self.suspensions.front().is_some_and(|span| span.0 < record.stamp);
        suspensions && record.head.flags & FLAG_SYSTEM == 0
    }
}
