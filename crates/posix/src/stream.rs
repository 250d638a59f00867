//! Active streams: made, controlled and read by the process that made them.
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

use std::collections::VecDeque;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::{Condvar, Mutex};

use tracewell_record::posix::{Event, Place, Pool, Reader, Taken, UNENDING};
use tracewell_wire::posix::area::{self, NO_DESCRIPTOR};
use tracewell_wire::posix::object::{ObjectHeader, State, at};
use tracewell_wire::posix::{
    self as wire, EventSet, FLAG_SYSTEM, RecordHead, StreamPolicy, text_words,
};

use crate::attributes::Attributes;
use crate::clock::{self, Comparison};
use crate::error::Error;
use crate::local;
use crate::lock;
use crate::log_writer::LogWriter;
use crate::names::NameFile;
use crate::process::Process;
use crate::registry::{Reference, Registry};
use crate::status::{EventInfo, Status};
use crate::sys::{self, Mapping};
use crate::types::{self, TypeNames};

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

/// An active stream, in the process that made it.
#[derive(Debug)]
pub struct Core {
    memory: Mapping,
    header: ObjectHeader,
    /// Keeps the memory open for processes that attach later.
    _object: OwnedFd,
    number: u32,
    in_file: bool,
    user: u32,
    names: OwnedFd,
    target: Process,
    attributes: Attributes,
    inner: Mutex<Inner>,
    pub(crate) log: Option<Mutex<LogWriter>>,
    pub(crate) flushed: Condvar,
    ended: AtomicBool,
}

/// What only the controller knows.
#[derive(Debug)]
pub(crate) struct Inner {
    reader: Reader,
    place: Place,
    clock: Comparison,
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
    /// [`Pool::progress`] after the last flush.
    pub(crate) seen: u64,
}

/// Records of a stopped stream and restarts of a full one, one behind the other, after which nothing is
/// said to be there.
const RESTARTS: usize = 1 << 20;
/// Spans that are remembered; the oldest is forgotten first.
const QUIET: usize = 256;
/// How long starting and stopping waits between telling recorders and reading the clock, in
/// nanoseconds: longer than a processor reads its counter ahead of what it waits for.
const APART: u64 = 1000;

impl Core {
    /// Makes a stream that traces a process.
    pub(crate) fn create(
        pid: i32,
        attributes: &Attributes,
        descriptor: Option<i32>,
    ) -> Result<Self, Error> {
        let attributes = attributes.effective(descriptor.is_some())?;
        let target = target(pid)?;
        let geometry = attributes.geometry()?;
        let registry = Registry::open(target.user).map_err(|_| Error(libc::EPERM))?;
        let names_nonce = target.names(&registry)?;
        let names = registry.names(names_nonce)?;
        let own = Process::own().ok_or(Error(libc::ENOMEM))?;
        let header = ObjectHeader {
            nonce: sys::nonce(),
            geometry,
            policy: attributes.stream_policy.unwrap_or(StreamPolicy::Loop),
            inherited: attributes.inherited,
            max_data: attributes.max_data as u32,
            created: attributes.created,
            controller: (own.id.into(), own.start),
            tick: clock::tick(),
            names: names_nonce,
        };
        let in_file = target.user != sys::user();
        let object = make_memory(&registry, &header, in_file)?;
        let memory = Mapping::new(object.as_fd(), geometry.total())?;
        fill(&memory, &header, &attributes);
        let pool = Pool::new(memory.words(), geometry, header.policy).ok_or(Error::INVALID)?;
        let inner = Inner {
            reader: Reader::new(&pool),
            place: Place::new(),
            clock: Comparison::new(),
            held: false,
            quiet: VecDeque::new(),
            lost_reported: 0,
            displaced_reported: 0,
            listed: 0,
            flush: FlushState::default(),
        };
        let log = descriptor
            .map(|descriptor| LogWriter::create(descriptor, &attributes, target.process.id))
            .transpose();
        let log = log.inspect_err(|_| {
            if in_file {
                registry.remove_object(header.nonce);
            }
        })?;
        let descriptor =
            if in_file { NO_DESCRIPTOR } else { std::os::fd::AsRawFd::as_raw_fd(&object) as u64 };
        let reference = Reference { nonce: header.nonce, controller: own, descriptor };
        let number = announce(&registry, &reference)?;
        let core = Self {
            memory,
            header,
            _object: object,
            number,
            in_file,
            user: target.user,
            names,
            target: target.process,
            attributes,
            inner: Mutex::new(inner),
            log: log.map(Mutex::new),
            flushed: Condvar::new(),
            ended: AtomicBool::new(false),
        };
        crate::registry::enroll(core.memory.words(), core.target);
        core.tell(&registry, core.target, core.header.nonce);
        Ok(core)
    }

    /// Puts the stream into the slot of a process, or takes it out with 0.
    fn tell(&self, registry: &Registry, process: Process, nonce: u64) {
        let Ok(area) = registry.area(process) else { return };
        let slot = area::at::SLOTS + self.number as usize;
        let mut present = [0];
        sys::read_words(area.as_fd(), slot, &mut present);
        if nonce == 0 && present[0] != self.header.nonce {
            return;
        }
        let _ = sys::write_words(area.as_fd(), slot, &[nonce]);
        let _ = sys::write_words(area.as_fd(), area::at::GENERATION, &[sys::nonce()]);
    }

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

    fn set_state(&self, state: State) {
        self.word(at::STATE).store(state as u64, SeqCst);
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
            self.system(inner, id, inner.clock.now(), data);
            self.wake_readers();
        }
    }

    pub(crate) fn wake_readers(&self) {
        if self.word(at::WAITERS).swap(0, SeqCst) != 0 {
            sys::wake(self.word(at::WAKE));
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
        let stamp = inner.clock.now();
        self.system(inner, wire::START, stamp, &self.filter().bytes());
        if let Some((_, until @ &mut u64::MAX)) =
            inner.quiet.back_mut().map(|span| (span.0, &mut span.1))
        {
            *until = stamp;
        }
        apart(inner, stamp);
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
                let told = inner.clock.now();
                let stamp = apart(inner, told);
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
            let now = inner.clock.now();
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
        let now = inner.clock.now();
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
        sys::order_recorders();
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

    /// A traced process that lives.
    pub(crate) fn living_member(&self) -> Option<Process> {
        let own = std::iter::once(self.target);
        own.chain(self.members()).find(|process| process.id == sys::process() || process.lives())
    }

    /// Traced processes, as the stream's memory says.
    fn members(&self) -> impl Iterator<Item = Process> {
        let words = self.memory.words().get(at::MEMBERS..at::NAME).unwrap_or_default();
        words.as_chunks::<2>().0.iter().filter_map(|[member, start]| {
            let id = u32::try_from(member.load(Acquire)).ok().filter(|id| *id != 0)?;
            Some(Process { id, start: start.load(Relaxed) })
        })
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

    /// Ends recording for good: no process is traced any more, and who waits is woken.
    pub(crate) fn withdraw(&self) {
        if let Ok(registry) = Registry::open(self.user) {
            let target = std::iter::once(self.target);
            target.chain(self.members()).for_each(|process| self.tell(&registry, process, 0));
            registry.revoke(self.number);
            if self.in_file {
                registry.remove_object(self.header.nonce);
            }
        }
    }

    /// Marks it as ended; whether it was not before.
    pub(crate) fn end(&self) -> bool {
        let first = !self.ended.swap(true, AcqRel);
        sys::wake(self.word(at::WAKE));
        first
    }

    /// Puts a full log's stream to rest.
    pub(crate) fn rest(&self, inner: &mut Inner) {
        self.set_state(State::Suspended);
        let now = inner.clock.now();
        inner.be_quiet(now);
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
    pub(crate) fn now(&self) -> u64 {
        self.clock.now()
    }

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

/// Waits a moment after a time; the time then.
fn apart(inner: &Inner, from: u64) -> u64 {
    loop {
        let now = inner.clock.now();
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

/// Who is to be traced.
struct Target {
    process: Process,
    user: u32,
}

fn target(pid: i32) -> Result<Target, Error> {
    let own = sys::process();
    let id = match u32::try_from(pid) {
        Ok(0) => own,
        Ok(id) => id,
        Err(_) => return Err(Error(libc::ESRCH)),
    };
    let process = Process::find(id).ok_or(Error(libc::ESRCH))?;
    let user = if id == own { sys::user() } else { process.traceable()? };
    Ok(Target { process, user })
}

impl Target {
    /// The nonce of its name space; its area is made where it is not there.
    fn names(&self, registry: &Registry) -> Result<u64, Error> {
        if self.process.id == sys::process() {
            // So that it has what it inherits.
            local::prepare();
        }
        let area = match registry.area(self.process) {
            Ok(area) => area,
            Err(_) => {
                let (nonce, _) = registry.make_names()?;
                registry.make_area(self.process, nonce, &[0; area::SLOTS])?
            }
        };
        let mut nonce = [0];
        sys::read_words(area.as_fd(), area::at::NAMES, &mut nonce);
        Ok(nonce[0])
    }
}

fn make_memory(
    registry: &Registry,
    header: &ObjectHeader,
    in_file: bool,
) -> Result<OwnedFd, Error> {
    let geometry = header.geometry;
    let words = geometry.total();
    let object = if in_file {
        registry.make_object(header.nonce, words)?
    } else {
        sys::sealed_memory(words as u64 * 8)?
    };
    // What was promised, and some packets for threads, cannot run out of memory later.
    let promised = geometry.packet((geometry.closed as usize + 4).min(geometry.packets as usize));
    sys::reserve(object.as_fd(), promised as u64 * 8).map_err(|_| Error(libc::ENOMEM))?;
    Ok(object)
}

/// Stores what the memory begins with, the magic last.
fn fill(memory: &Mapping, header: &ObjectHeader, attributes: &Attributes) {
    let words = memory.words();
    let name: [u64; 8] = text_words(&attributes.name);
    for (index, word) in name.into_iter().enumerate() {
        words[at::NAME + index].store(word, Relaxed);
    }
    for (index, word) in header.words().into_iter().enumerate().rev() {
        words[index].store(word, Release);
    }
}

/// Announces a stream; where all numbers are taken, what dead controllers left is removed first.
fn announce(registry: &Registry, reference: &Reference) -> Result<u32, Error> {
    static SWEPT: AtomicBool = AtomicBool::new(false);
    if !SWEPT.swap(true, Relaxed) {
        registry.sweep();
    }
    match registry.announce(reference) {
        Err(libc::EAGAIN) => {
            registry.sweep();
            Ok(registry.announce(reference)?)
        }
        other => Ok(other?),
    }
}
