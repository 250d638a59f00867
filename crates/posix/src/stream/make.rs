//! Creates streams, attaches them to processes, and detaches them.

use std::collections::VecDeque;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::sync::Mutex;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use tracewell_record::posix::{Cursor, Pool, Reader};
use tracewell_wire::posix::area::{self, NO_DESCRIPTOR};
use tracewell_wire::posix::object::{self, ObjectHeader, at};
use tracewell_wire::posix::{StreamPolicy, text_words};

use super::{ControllerState, FlushState, Stream};
use crate::ancestry;
use crate::attributes::Attributes;
use crate::clock;
use crate::error::Error;
use crate::local;
use crate::log_writer::LogWriter;
use crate::process::Process;
use crate::registry::{self, Reference, Registry};
use crate::sys::{self, Mapping};

impl Stream {
    /// Creates a stream that traces a process.
    pub(crate) fn create(
        pid: i32,
        attributes: &Attributes,
        descriptor: Option<i32>,
    ) -> Result<Self, Error> {
        let attributes = attributes.effective(descriptor.is_some())?;
        let target = target(pid)?;
        let registry = Registry::open(target.user).map_err(|_| Error(libc::EPERM))?;
        let names_nonce = target.names(&registry)?;
        let names = registry.names(names_nonce)?;
        let own = Process::own().ok_or(Error(libc::ENOMEM))?;
        let header = header_of(&attributes, names_nonce, own)?;
        // A process of another user cannot open a descriptor of this process, so it needs a file.
        let in_file = target.user != sys::user();
        let object = make_memory(&registry, &header, in_file)?;
        // The other user may truncate the file, so this process guards its accesses.
        let map = if in_file { Mapping::guarded } else { Mapping::new };
        // If this function fails before it has announced the stream, it must remove the file.
        let discard = || {
            if in_file {
                registry.remove_object(header.nonce);
            }
        };
        let memory = map(object.as_fd(), header.geometry.total()).inspect_err(|_| discard())?;
        // The content must be complete before the announcement: a traced process may attach at
        // once.
        fill(&memory, &header, &attributes);
        let pool = Pool::trusted(memory.words(), header.geometry, header.policy);
        let inner = ControllerState::new(&pool);
        let log = descriptor
            .map(|descriptor| LogWriter::create(descriptor, &attributes, target.process.id))
            .transpose();
        let descriptor = if in_file { NO_DESCRIPTOR } else { object.as_raw_fd() as u64 };
        let reference = Reference { nonce: header.nonce, controller: own, descriptor };
        let begun = log.and_then(|log| Ok((log, announce(&registry, &reference)?)));
        let (log, (number, lock)) = begun.inspect_err(|_| discard())?;
        let stream = Self {
            memory,
            header,
            _object: object,
            number,
            _lock: lock,
            in_file,
            user: target.user,
            names,
            target: target.process,
            attributes,
            inner: Mutex::new(inner),
            log: log.map(Mutex::new),
            ended: AtomicBool::new(false),
        };
        // The stream lists the process before the process can see the stream.
        registry::enroll(stream.memory.words(), stream.target);
        stream.show_to(&registry, stream.target, stream.header.nonce);
        Ok(stream)
    }

    /// Stores a nonce in this stream's slot in the area of a process; a nonce of 0 removes the
    /// stream.
    fn show_to(&self, registry: &Registry, process: Process, nonce: u64) {
        let Ok(area) = registry.area(process) else { return };
        let slot = area::at::SLOTS + self.number as usize;
        let mut present = [0];
        sys::read_words(area.as_fd(), slot, &mut present);
        // The slot can already belong to a newer stream.
        if nonce == 0 && present[0] != self.header.nonce {
            return;
        }
        let _ = sys::write_words(area.as_fd(), slot, &[nonce]);
        // The new generation makes the process look at its slots again.
        let _ = sys::write_words(area.as_fd(), area::at::GENERATION, &[sys::nonce()]);
    }

    /// Returns a traced process that is alive, if there is one.
    pub(crate) fn living_member(&self) -> Option<Process> {
        let target = std::iter::once(self.target);
        let listed = target.chain(self.members()).find(|process| process.is_alive());
        listed.or_else(|| self.unlisted().into_iter().find(|process| process.is_alive()))
    }

    /// If the list of members is incomplete, returns the processes whose areas contain this stream.
    fn unlisted(&self) -> Vec<Process> {
        if self.word(at::UNLISTED).load(Acquire) == 0 {
            return Vec::new();
        }
        let registry = Registry::open(self.user);
        registry.map_or_else(|_| Vec::new(), |it| it.traced_by(self.number, self.header.nonce))
    }

    /// Returns the traced processes listed in the stream's memory.
    fn members(&self) -> impl Iterator<Item = Process> {
        let words = self.memory.words().get(at::MEMBERS..at::NAME).unwrap_or_default();
        words.as_chunks::<2>().0.iter().filter_map(|[member, start]| {
            let member = member.load(Acquire);
            let there = member != 0 && member != object::TAKING;
            there.then(|| Process::of_words(member, start.load(Relaxed)))
        })
    }

    /// Detaches the stream from all its processes and removes its files.
    pub(crate) fn withdraw(&self) {
        if let Ok(registry) = Registry::open(self.user) {
            let target = std::iter::once(self.target);
            let all = target.chain(self.members()).chain(self.unlisted());
            all.for_each(|process| self.show_to(&registry, process, 0));
            registry.revoke(self.number);
            if self.in_file {
                registry.remove_object(self.header.nonce);
            }
        }
    }
}

impl ControllerState {
    fn new(pool: &Pool<'_>) -> Self {
        Self {
            reader: Reader::new(pool),
            cursor: Cursor::new(),
            stop_requested: false,
            suspensions: VecDeque::new(),
            lost_reported: 0,
            displaced_reported: 0,
            listed: 0,
            flush: FlushState::default(),
        }
    }
}

fn header_of(attributes: &Attributes, names: u64, own: Process) -> Result<ObjectHeader, Error> {
    Ok(ObjectHeader {
        nonce: sys::nonce(),
        geometry: attributes.geometry()?,
        policy: attributes.stream_policy.unwrap_or(StreamPolicy::Loop),
        inherited: attributes.inherited,
        max_data: attributes.max_data as u32,
        created: attributes.created,
        controller: (own.word(), own.start),
        tick: clock::tick(),
        names,
    })
}

/// The process to be traced.
struct Target {
    process: Process,
    user: u32,
    /// True if the target is the calling process.
    is_own: bool,
}

fn target(pid: i32) -> Result<Target, Error> {
    let id = u32::try_from(pid).map_err(|_| Error(libc::ESRCH))?;
    let is_own = id == 0 || id == sys::process();
    let process = if is_own { Process::own() } else { Process::find(id) };
    let process = process.ok_or(Error(libc::ESRCH))?;
    let user = if is_own { sys::user() } else { process.traceable()? };
    Ok(Target { process, user, is_own })
}

impl Target {
    /// Returns the nonce of the target's name space. Creates the target's area if necessary.
    fn names(&self, registry: &Registry) -> Result<u64, Error> {
        if self.is_own {
            // This call first attaches inherited streams.
            local::prepare();
        }
        let area = match registry.area(self.process) {
            Ok(area) => area,
            Err(_) => {
                let made = ancestry::make_area(registry, self.process);
                made.map_err(|_| Error(libc::ENOMEM))?
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
        sys::sealed_memory(words as u64 * 8).map_err(|_| Error(libc::ENOMEM))?
    };
    // Reserve memory now, so that it is available when events are recorded. Reserve the stream size
    // that the attributes specify, and up to four more packets.
    let promised = geometry.packet((geometry.closed as usize + 4).min(geometry.packets as usize));
    sys::reserve(object.as_fd(), promised as u64 * 8).map_err(|_| Error(libc::ENOMEM))?;
    Ok(object)
}

/// Initialises the memory, storing its magic number last.
fn fill(memory: &Mapping, header: &ObjectHeader, attributes: &Attributes) {
    let words = memory.words();
    let name: [u64; 8] = text_words(&attributes.name);
    for (index, word) in name.into_iter().enumerate() {
        words[at::NAME + index].store(word, Relaxed);
    }
    // This must precede the first record of any process.
    words[at::FENCES].store(u64::from(!sys::order_recorders()), Relaxed);
    for (index, word) in header.words().into_iter().enumerate().rev() {
        words[index].store(word, Release);
    }
}

/// Publishes a stream. If all numbers are in use, removes the files of dead controllers and
/// retries.
fn announce(registry: &Registry, reference: &Reference) -> Result<(u32, OwnedFd), Error> {
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
