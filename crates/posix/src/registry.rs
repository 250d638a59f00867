//! The directory in which traced processes and controllers of a user meet.
//!
//! `/dev/shm/tracewell-UID`, or what `TRACEWELL_POSIX_DIR` says. It belongs to the user alone and is no
//! symbolic link; anything else is refused. Any user can make a directory of the first name before its owner does,
//! so `tracewell` in the user's runtime directory takes its place then. The files in it are described in
//! [`tracewell_wire::posix::area`].

use std::env;
use std::ffi::{CStr, CString};
use std::fs::DirEntry;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::sync::OnceLock;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};

use tracewell_wire::posix::area::{
    ALL_MAGIC, AREA_MAGIC, AREA_WORDS, NAMES_MAGIC, NAMES_WORDS, NO_DESCRIPTOR, REFERENCE_MAGIC,
    REFERENCE_WORDS, SLOTS, at, names,
};
use tracewell_wire::posix::object::{self, ObjectHeader};

use crate::name::{self, Name};
use crate::process::{self, Process, UNKNOWN};
use crate::sys::{self, Errno};

/// The environment variable that names another directory.
pub const DIRECTORY_VARIABLE: &str = "TRACEWELL_POSIX_DIR";

const READ_WRITE: libc::c_int = libc::O_RDWR;
const NEW: libc::c_int = libc::O_RDWR | libc::O_CREAT | libc::O_EXCL;

/// What the environment said when it was asked first: the directory, and where the runtime directory is.
static CHOSEN: OnceLock<Option<CString>> = OnceLock::new();
static RUNTIME: OnceLock<Option<CString>> = OnceLock::new();

/// Asks the environment, so that no signal handler has to.
pub(crate) fn choose() {
    let trusted = !sys::is_privileged_program();
    let value = |name| env::var_os(name).filter(|value| trusted && !value.is_empty());
    CHOSEN.get_or_init(|| CString::new(value(DIRECTORY_VARIABLE)?.into_vec()).ok());
    RUNTIME.get_or_init(|| {
        let runtime = value("XDG_RUNTIME_DIR").map(PathBuf::from);
        let path = runtime.filter(|path| path.is_absolute())?.join("tracewell");
        CString::new(path.into_os_string().into_vec()).ok()
    });
}

/// Returns why processes of the user of a process (0: this one) cannot meet their controllers, if that is so.
pub fn registry_fault(process: i32) -> Option<String> {
    choose();
    let process = u32::try_from(process).ok().filter(|process| *process != 0);
    let user = process.map_or(Some(sys::user()), |id| Process::find(id)?.traceable().ok())?;
    Registry::open(user).err()?;
    let usual = Name::new(format_args!("/dev/shm/tracewell-{user}"));
    let chosen = CHOSEN.get().and_then(|chosen| chosen.as_deref());
    let path = chosen.unwrap_or(usual.as_c_str()).to_string_lossy();
    let found = match std::fs::symlink_metadata(&*path) {
        Err(error) => error.to_string(),
        Ok(data) if !data.is_dir() => "found no directory".to_owned(),
        Ok(data) => format!("found user {}, mode {:04o}", data.uid(), data.mode() & 0o7777),
    };
    let advice = match chosen {
        Some(_) => "it is what TRACEWELL_POSIX_DIR says",
        None => "TRACEWELL_POSIX_DIR can name another one",
    };
    Some(format!("{path}: expected a directory of user {user} with mode 0700, {found}; {advice}"))
}

/// An open directory.
pub(crate) struct Registry {
    directory: OwnedFd,
    user: u32,
}

impl Registry {
    /// The directory of a user, which is made where it is not there. For signal handlers, after
    /// [`choose`].
    pub(crate) fn open(user: u32) -> Result<Self, Errno> {
        if let Some(chosen) = CHOSEN.get().and_then(|chosen| chosen.as_deref()) {
            return Self::at(chosen, user);
        }
        let usual = Name::new(format_args!("/dev/shm/tracewell-{user}"));
        Self::at(usual.as_c_str(), user).or_else(|error| {
            // Where systems keep the runtime directories of users whose environment is not known here.
            let known = Name::new(format_args!("/run/user/{user}/tracewell"));
            let own = RUNTIME.get().filter(|_| user == sys::user());
            let path = own.and_then(|path| path.as_deref()).unwrap_or(known.as_c_str());
            Self::at(path, user).map_err(|_| error)
        })
    }

    fn at(path: &CStr, user: u32) -> Result<Self, Errno> {
        let made = sys::make_directory(path).is_ok();
        let directory = sys::open_directory(path)?;
        if made && user != sys::user() {
            sys::give(directory.as_fd(), user)?;
        }
        let facts = sys::facts(directory.as_fd())?;
        if facts.owner != user || !facts.is_private() {
            return Err(libc::EPERM);
        }
        Ok(Self { directory, user })
    }

    fn fd(&self) -> BorrowedFd<'_> {
        self.directory.as_fd()
    }

    /// Opens a file of the registry, which has to be its user's alone.
    fn file(&self, name: &Name) -> Result<OwnedFd, Errno> {
        let file = sys::open_at(self.fd(), name.as_c_str(), READ_WRITE)?;
        let facts = sys::facts(file.as_fd())?;
        let sane = facts.is_regular() && facts.is_private() && facts.owner == self.user;
        if sane { Ok(file) } else { Err(libc::EPERM) }
    }

    fn new_file(&self, name: &Name, words: usize) -> Result<OwnedFd, Errno> {
        let file = sys::open_at(self.fd(), name.as_c_str(), NEW)?;
        sys::resize(file.as_fd(), words as u64 * 8)?;
        if self.user != sys::user() {
            sys::give(file.as_fd(), self.user)?;
        }
        Ok(file)
    }

    /// Makes a file of words that has its name only when they are in it.
    fn publish(&self, name: &Name, words: usize, fill: &[(usize, u64)]) -> Result<OwnedFd, Errno> {
        let draft = name::of_draft(sys::nonce());
        let file = self.new_file(&draft, words)?;
        let filled =
            fill.iter().try_for_each(|(at, word)| sys::write_words(file.as_fd(), *at, &[*word]));
        let linked =
            filled.and_then(|()| sys::link_at(self.fd(), draft.as_c_str(), name.as_c_str()));
        sys::unlink_at(self.fd(), draft.as_c_str());
        linked.map(|()| file)
    }

    /// The area of a process, if it has one. For signal handlers.
    pub(crate) fn area(&self, process: Process) -> Result<OwnedFd, Errno> {
        let file = self.file(&name::of_area(process.id, process.start))?;
        let mut words = [0; 3];
        let read = sys::read_words(file.as_fd(), 0, &mut words);
        let whole = sys::facts(file.as_fd())?.size >= AREA_WORDS as u64 * 8;
        // Its space is known by the process itself or by a controller, perhaps not by both.
        let right = words[0] == AREA_MAGIC
            && Process::of_words(words[1], words[2]).id == process.id
            && words[2] == process.start;
        if read == 3 && whole && right { Ok(file) } else { Err(libc::EINVAL) }
    }

    /// Makes the area of a process, whose slots are those of another one's where `slots` says so; the
    /// one that is there if somebody was faster. For signal handlers.
    pub(crate) fn make_area(
        &self,
        process: Process,
        names: u64,
        slots: &[u64; 64],
    ) -> Result<OwnedFd, Errno> {
        let mut fill = [(0, 0); 4 + 64];
        fill[0] = (at::MAGIC, AREA_MAGIC);
        fill[1] = (at::PROCESS, process.word());
        fill[2] = (at::START, process.start);
        fill[3] = (at::NAMES, names);
        let mut count = 4;
        for (number, nonce) in slots.iter().enumerate().filter(|(_, nonce)| **nonce != 0) {
            fill[count] = (at::SLOTS + number, *nonce);
            count += 1;
        }
        let name = name::of_area(process.id, process.start);
        match self.publish(&name, AREA_WORDS, &fill[..count]) {
            Err(libc::EEXIST) => self.area(process),
            other => other,
        }
    }

    /// Removes the area of a process. For signal handlers.
    pub(crate) fn remove_area(&self, process: Process) {
        sys::unlink_at(self.fd(), name::of_area(process.id, process.start).as_c_str());
    }

    /// The page of all processes that have no area, which is made where it is not there. For signal
    /// handlers.
    pub(crate) fn all(&self) -> Result<OwnedFd, Errno> {
        let name = name::of_all();
        for _ in 0..2 {
            if let Ok(file) = self.file(&name) {
                let mut magic = [0];
                let read = sys::read_words(file.as_fd(), at::MAGIC, &mut magic);
                let whole = sys::facts(file.as_fd())?.size >= AREA_WORDS as u64 * 8;
                return if read == 1 && whole && magic == [ALL_MAGIC] {
                    Ok(file)
                } else {
                    Err(libc::EINVAL)
                };
            }
            match self.publish(&name, AREA_WORDS, &[(at::MAGIC, ALL_MAGIC)]) {
                Err(libc::EEXIST) => {}
                other => return other,
            }
        }
        Err(libc::EPERM)
    }

    /// Has processes without an area look whether they have one now.
    pub(crate) fn call_all(&self) {
        // Where there is no page, no process looks at it; who makes it looks afterwards.
        if let Ok(file) = self.file(&name::of_all()) {
            let _ = sys::write_words(file.as_fd(), at::GENERATION, &[sys::nonce()]);
        }
    }

    /// A name space. For signal handlers.
    pub(crate) fn names(&self, nonce: u64) -> Result<OwnedFd, Errno> {
        let file = self.file(&name::of_names(nonce))?;
        let mut words = [0; 2];
        let read = sys::read_words(file.as_fd(), 0, &mut words);
        let whole = sys::facts(file.as_fd())?.size >= NAMES_WORDS as u64 * 8;
        if read == 2 && whole && words == [NAMES_MAGIC, nonce] {
            Ok(file)
        } else {
            Err(libc::EINVAL)
        }
    }

    /// A new name space without names. For signal handlers.
    pub(crate) fn make_names(&self) -> Result<(u64, OwnedFd), Errno> {
        let nonce = sys::nonce();
        let fill = [(names::MAGIC, NAMES_MAGIC), (names::NONCE, nonce)];
        self.publish(&name::of_names(nonce), NAMES_WORDS, &fill).map(|file| (nonce, file))
    }

    /// Removes a name space. For signal handlers.
    pub(crate) fn remove_names(&self, nonce: u64) {
        sys::unlink_at(self.fd(), name::of_names(nonce).as_c_str());
    }

    /// Says where a stream is, under the first number that is free. The file is locked, and says to processes
    /// of other spaces that the controller lives as long as it is open.
    pub(crate) fn announce(&self, reference: &Reference) -> Result<(u32, OwnedFd), Errno> {
        let words = reference.words();
        let mut fill = [(0, 0); REFERENCE_WORDS];
        fill.iter_mut().zip(words.into_iter().enumerate()).for_each(|(to, word)| *to = word);
        for number in 0..object_limit() {
            match self.publish(&name::of_reference(number), REFERENCE_WORDS, &fill) {
                Err(libc::EEXIST) => {}
                other => {
                    let file = other?;
                    sys::try_lock(file.as_fd());
                    return Ok((number, file));
                }
            }
        }
        Err(libc::EAGAIN)
    }

    /// Where a stream is; what it says may be wrong. For signal handlers.
    pub(crate) fn reference(&self, number: u32) -> Result<Reference, Errno> {
        let file = self.file(&name::of_reference(number))?;
        let mut words = [0; REFERENCE_WORDS];
        let whole = sys::read_words(file.as_fd(), 0, &mut words) == REFERENCE_WORDS;
        whole.then(|| Reference::of_words(words)).flatten().ok_or(libc::EINVAL)
    }

    /// Takes back what was announced.
    pub(crate) fn revoke(&self, number: u32) {
        sys::unlink_at(self.fd(), name::of_reference(number).as_c_str());
    }

    /// Makes the memory of a stream in a file: for a user who may not look into this process.
    pub(crate) fn make_object(&self, nonce: u64, words: usize) -> Result<OwnedFd, Errno> {
        self.new_file(&name::of_object(nonce), words)
    }

    /// Removes that file.
    pub(crate) fn remove_object(&self, nonce: u64) {
        sys::unlink_at(self.fd(), name::of_object(nonce).as_c_str());
    }

    /// The memory of a stream that is where the reference says. For signal handlers.
    pub(crate) fn object(&self, reference: &Reference) -> Result<(OwnedFd, ObjectHeader), Errno> {
        let file = if reference.descriptor == NO_DESCRIPTOR {
            self.file(&name::of_object(reference.nonce))?
        } else {
            let name = name::of_descriptor(reference.controller.id.into(), reference.descriptor);
            let file = sys::open(name.as_c_str(), READ_WRITE)?;
            let facts = sys::facts(file.as_fd())?;
            if !facts.is_regular() || facts.owner != self.user {
                return Err(libc::EPERM);
            }
            file
        };
        let mut words = [0; ObjectHeader::WORDS];
        let read = sys::read_words(file.as_fd(), 0, &mut words);
        let header =
            ObjectHeader::of_words(&words).filter(|header| header.nonce == reference.nonce);
        let header = header.filter(|_| read == words.len()).ok_or(libc::EINVAL)?;
        let whole = sys::facts(file.as_fd())?.size >= header.geometry.total() as u64 * 8;
        if whole { Ok((file, header)) } else { Err(libc::EINVAL) }
    }

    /// Whether the controller of a reference still has the stream.
    fn is_alive(&self, number: u32, reference: &Reference) -> bool {
        let controller = reference.controller;
        if !controller.is_near() {
            let file = self.file(&name::of_reference(number));
            return file.is_ok_and(|file| !sys::try_lock(file.as_fd()));
        }
        if reference.descriptor == NO_DESCRIPTOR {
            return controller.lives();
        }
        match self.object(reference) {
            Ok(_) => true,
            // Somebody whose descriptors are not to be looked at.
            Err(libc::EACCES | libc::EPERM) => controller.lives(),
            Err(_) => false,
        }
    }

    /// Removes what dead processes left behind.
    pub(crate) fn sweep(&self) {
        for number in 0..object_limit() {
            let Ok(reference) = self.reference(number) else { continue };
            if !self.is_alive(number, &reference) {
                self.revoke(number);
                if reference.descriptor == NO_DESCRIPTOR {
                    self.remove_object(reference.nonce);
                }
            }
        }
        self.sweep_processes();
    }

    /// Entries of the directory, as many as one sweep looks at.
    fn entries(&self) -> impl Iterator<Item = DirEntry> {
        let descriptor = self.directory.as_raw_fd();
        let entries = std::fs::read_dir(format!("/proc/self/fd/{descriptor}"));
        entries.into_iter().flatten().flatten().take(SWEPT_ENTRIES)
    }

    /// Removes what ended processes left behind in one of 16 processes, so that the children of a program do not
    /// fill the directory while no controller looks at it.
    pub(crate) fn sweep_sometimes(&self) {
        static SWEPT: AtomicU64 = AtomicU64::new(0);
        let own = u64::from(sys::process());
        if own.is_multiple_of(16) && SWEPT.swap(own, Relaxed) != own {
            self.sweep_processes();
        }
    }

    /// Removes the areas of processes that ended, and name spaces that no area names any more.
    pub(crate) fn sweep_processes(&self) {
        let (mut spaces, mut kept, mut ended) = (Vec::new(), Vec::new(), Vec::new());
        for entry in self.entries() {
            let file_name = entry.file_name();
            let Some(text) = file_name.to_str() else { continue };
            if let Some((id, start)) = text.strip_prefix("p.").and_then(area_of) {
                let file = self.area(Process { id, space: UNKNOWN, start });
                let area = file.ok().and_then(|file| Area::read(&file));
                // A damaged one is of no use to any process that has another one.
                let area = area.unwrap_or_else(|| Area::damaged(id, start));
                if area.process.lives() {
                    kept.push(area.names);
                } else {
                    self.remove_area(area.process);
                    // Its names were nobody else's.
                    if !area.is_traced() {
                        ended.push(area.names);
                    }
                }
            } else if text.starts_with("n.") || text.starts_with("t.") {
                let age = entry.metadata().and_then(|data| data.modified()).ok();
                let age = age.and_then(|time| time.elapsed().ok()).unwrap_or_default();
                spaces.push((text.to_owned(), age > SPARED));
            }
        }
        for (space, old) in spaces {
            let nonce = space.get(2..).and_then(|text| u64::from_str_radix(text, 16).ok());
            let nonce = nonce.filter(|_| space.starts_with("n."));
            let is_in = |list: &[u64]| nonce.is_some_and(|nonce| list.contains(&nonce));
            if !is_in(&kept) && (old || is_in(&ended)) {
                sys::unlink_at(self.fd(), Name::new(format_args!("{space}")).as_c_str());
            }
        }
    }

    /// Processes whose areas have a stream in a slot.
    pub(crate) fn traced_by(&self, number: u32, nonce: u64) -> Vec<Process> {
        let area = |entry: DirEntry| {
            let file_name = entry.file_name();
            let (id, start) = area_of(file_name.to_str()?.strip_prefix("p.")?)?;
            Area::read(&self.area(Process { id, space: UNKNOWN, start }).ok()?)
        };
        let areas = self.entries().filter_map(area);
        areas.filter(|area| area.slots[number as usize] == nonce).map(|area| area.process).collect()
    }
}

/// What an area says.
struct Area {
    process: Process,
    names: u64,
    slots: [u64; SLOTS],
}

impl Area {
    fn read(file: &OwnedFd) -> Option<Self> {
        let mut words = [0; at::SLOTS + SLOTS];
        let whole = sys::read_words(file.as_fd(), 0, &mut words) == words.len();
        let process = Process::of_words(words[at::PROCESS], words[at::START]);
        let slots = words.last_chunk::<SLOTS>().filter(|_| whole)?;
        Some(Self { process, names: words[at::NAMES], slots: *slots })
    }

    fn damaged(id: u32, start: u64) -> Self {
        let process = Process { id, space: process::own_space(), start };
        Self { process, names: 0, slots: [0; SLOTS] }
    }

    fn is_traced(&self) -> bool {
        self.slots.iter().any(|nonce| *nonce != 0)
    }
}

/// Entries that one sweep looks at, so that nobody can keep a controller busy with files.
const SWEPT_ENTRIES: usize = 4096;
/// Files without a user are spared this long: somebody may be about to name them.
const SPARED: std::time::Duration = std::time::Duration::from_secs(10);

const fn object_limit() -> u32 {
    tracewell_wire::posix::SYS_MAX as u32
}

/// Process and start in the name of an area.
fn area_of(text: &str) -> Option<(u32, u64)> {
    let (id, start) = text.split_once('.')?;
    Some((id.parse().ok()?, start.parse().ok()?))
}

/// Where a stream is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Reference {
    pub(crate) nonce: u64,
    pub(crate) controller: Process,
    /// The descriptor in the controller, or [`NO_DESCRIPTOR`].
    pub(crate) descriptor: u64,
}

impl Reference {
    fn words(&self) -> [u64; REFERENCE_WORDS] {
        [
            REFERENCE_MAGIC,
            self.nonce,
            self.controller.word(),
            self.controller.start,
            self.descriptor,
        ]
    }

    fn of_words(words: [u64; REFERENCE_WORDS]) -> Option<Self> {
        let [magic, nonce, process, start, descriptor] = words;
        let controller = Process::of_words(process, start);
        (magic == REFERENCE_MAGIC).then_some(Self { nonce, controller, descriptor })
    }
}

/// Puts a process among the members of a stream; one that is there stays. If all places are taken, the stream
/// says so. For signal handlers.
pub(crate) fn enroll(words: &[AtomicU64], process: Process) {
    let members = words.get(object::at::MEMBERS..).unwrap_or_default();
    let members = members.as_chunks::<2>().0.iter().take(object::MEMBERS);
    let own = process.word();
    if members
        .clone()
        .any(|[member, start]| member.load(Acquire) == own && start.load(Relaxed) == process.start)
    {
        return;
    }
    for [member, start] in members {
        let before = member.load(Acquire);
        let other = Process::of_words(before, start.load(Relaxed));
        // While it is taken, `start` is the taker's.
        if before == object::TAKING || before != 0 && other.lives() {
            continue;
        }
        if member.compare_exchange(before, object::TAKING, AcqRel, Relaxed).is_ok() {
            start.store(process.start, Relaxed);
            member.store(own, Release);
            return;
        }
    }
    if let Some(unlisted) = words.get(object::at::UNLISTED) {
        unlisted.store(1, Release);
    }
}
