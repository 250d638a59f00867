//! The registry: a directory through which the traced processes and the controllers of a user find
//! each other.
//!
//! Its path is `/dev/shm/tracewell-UID` unless `TRACEWELL_POSIX_DIR` specifies a different one. The
//! directory must belong to the user, grant no access to others, and not be a symbolic link.
//! Another user can create the default directory first. In that case, the user's processes use
//! `tracewell` in the user's runtime directory instead. [`tracewell_wire::posix::area`] describes
//! the files.

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

/// Name of the environment variable that specifies a different directory.
pub const DIRECTORY_VARIABLE: &str = "TRACEWELL_POSIX_DIR";

const READ_WRITE: libc::c_int = libc::O_RDWR;
const NEW: libc::c_int = libc::O_RDWR | libc::O_CREAT | libc::O_EXCL;

/// Paths from the environment, read at the first use: the directory that the user chose, and the
/// directory `tracewell` in the user's runtime directory.
static CHOSEN: OnceLock<Option<CString>> = OnceLock::new();
static RUNTIME: OnceLock<Option<CString>> = OnceLock::new();

/// Reads the environment, so that no signal handler has to read it.
pub(crate) fn choose() {
    // A privileged program (set-user-ID) must not trust the environment of its caller.
    let trusted = !sys::is_privileged_program();
    let value = |name| env::var_os(name).filter(|value| trusted && !value.is_empty());
    CHOSEN.get_or_init(|| CString::new(value(DIRECTORY_VARIABLE)?.into_vec()).ok());
    RUNTIME.get_or_init(|| {
        let runtime = value("XDG_RUNTIME_DIR").map(PathBuf::from);
        let path = runtime.filter(|path| path.is_absolute())?.join("tracewell");
        CString::new(path.into_os_string().into_vec()).ok()
    });
}

/// Returns the error that prevents the processes of a user from finding their controllers, or
/// `None` if there is no error. `process` is the id of a process of this user; 0 means this
/// process.
///
/// ```
/// // The directory exists or can be created, so there is no error to report.
/// assert_eq!(tracewell_posix::registry_fault(0), None);
/// ```
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
        Ok(data) if !data.is_dir() => "found a file that is not a directory".to_owned(),
        Ok(data) => format!("found user {}, mode {:04o}", data.uid(), data.mode() & 0o7777),
    };
    let advice = match chosen {
        Some(_) => "the directory is set by TRACEWELL_POSIX_DIR",
        None => "set TRACEWELL_POSIX_DIR to use a different directory",
    };
    Some(format!("{path}: expected a directory of user {user} with mode 0700, {found}; {advice}"))
}

/// An open directory of a user.
pub(crate) struct Registry {
    directory: OwnedFd,
    user: u32,
}

impl Registry {
    /// Opens the directory of a user, creating it first if necessary. Async-signal-safe after a
    /// call of [`choose`].
    pub(crate) fn open(user: u32) -> Result<Self, Errno> {
        if let Some(chosen) = CHOSEN.get().and_then(|chosen| chosen.as_deref()) {
            return Self::at(chosen, user);
        }
        let usual = Name::new(format_args!("/dev/shm/tracewell-{user}"));
        Self::at(usual.as_c_str(), user).or_else(|error| {
            // The usual runtime directory, for users whose environment is not available here.
            let known = Name::new(format_args!("/run/user/{user}/tracewell"));
            let own = RUNTIME.get().filter(|_| user == sys::user());
            let path = own.and_then(|path| path.as_deref()).unwrap_or(known.as_c_str());
            Self::at(path, user).map_err(|_| error)
        })
    }

    fn at(path: &CStr, user: u32) -> Result<Self, Errno> {
        let made = sys::make_directory(path).is_ok();
        let directory = sys::open_directory(path)?;
        // A privileged controller creates the directory for the user whose process it traces.
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

    /// Opens a file in the directory. The file must belong to the user and be accessible only to
    /// the user.
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

    /// Creates a file under a temporary name, stores its words, and renames it.
    fn publish(&self, name: &Name, words: usize, fill: &[(usize, u64)]) -> Result<OwnedFd, Errno> {
        let draft = name::of_draft(sys::nonce());
        let file = self.new_file(&draft, words)?;
        let filled =
            fill.iter().try_for_each(|(at, word)| sys::write_words(file.as_fd(), *at, &[*word]));
        let linked =
            // The link cannot be created if the name exists. No process sees an incomplete file
            // under this name.
            filled.and_then(|()| sys::link_at(self.fd(), draft.as_c_str(), name.as_c_str()));
        sys::unlink_at(self.fd(), draft.as_c_str());
        linked.map(|()| file)
    }

    /// Opens the area of a process. Async-signal-safe.
    pub(crate) fn area(&self, process: Process) -> Result<OwnedFd, Errno> {
        let file = self.file(&name::of_area(process.id, process.start))?;
        let mut words = [0; 3];
        let read = sys::read_words(file.as_fd(), 0, &mut words);
        let whole = sys::facts(file.as_fd())?.size >= AREA_WORDS as u64 * 8;
        // Do not compare the space: the process or controller that created the area may not have
        // known it.
        let right = words[0] == AREA_MAGIC
            && Process::of_words(words[1], words[2]).id == process.id
            && words[2] == process.start;
        if read == 3 && whole && right { Ok(file) } else { Err(libc::EINVAL) }
    }

    /// Creates the area of a process, and stores the given name space and slots in it. Returns the
    /// existing area if another process created it first. Async-signal-safe.
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

    /// Removes the area of a process. Async-signal-safe.
    pub(crate) fn remove_area(&self, process: Process) {
        sys::unlink_at(self.fd(), name::of_area(process.id, process.start).as_c_str());
    }

    /// Opens the page that all processes without an area share. Creates the page first if
    /// necessary. Async-signal-safe.
    pub(crate) fn all(&self) -> Result<OwnedFd, Errno> {
        let name = name::of_all();
        // Another process can create the page between the two steps, so try twice.
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

    /// Causes all processes that have no area to search for one.
    pub(crate) fn call_all(&self) {
        // If the page does not exist, no process is watching it.
        if let Ok(file) = self.file(&name::of_all()) {
            let _ = sys::write_words(file.as_fd(), at::GENERATION, &[sys::nonce()]);
        }
    }

    /// Opens a name space. Async-signal-safe.
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

    /// Creates an empty name space. Async-signal-safe.
    pub(crate) fn make_names(&self) -> Result<(u64, OwnedFd), Errno> {
        let nonce = sys::nonce();
        let fill = [(names::MAGIC, NAMES_MAGIC), (names::NONCE, nonce)];
        self.publish(&name::of_names(nonce), NAMES_WORDS, &fill).map(|file| (nonce, file))
    }

    /// Removes a name space. Async-signal-safe.
    pub(crate) fn remove_names(&self, nonce: u64) {
        sys::unlink_at(self.fd(), name::of_names(nonce).as_c_str());
    }

    /// Publishes the location of a stream under the first free number. The file remains locked
    /// while the controller has it open. Processes in other spaces check this lock to detect if the
    /// controller is alive.
    pub(crate) fn announce(&self, reference: &Reference) -> Result<(u32, OwnedFd), Errno> {
        let words = reference.words();
        let mut fill = [(0, 0); REFERENCE_WORDS];
        fill.iter_mut().zip(words.into_iter().enumerate()).for_each(|(to, word)| *to = word);
        for number in 0..object_limit() {
            // Each name can be published only once, so two streams never get the same number.
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

    /// Reads the location of a stream. The contents are untrusted. Async-signal-safe.
    pub(crate) fn reference(&self, number: u32) -> Result<Reference, Errno> {
        let file = self.file(&name::of_reference(number))?;
        let mut words = [0; REFERENCE_WORDS];
        let whole = sys::read_words(file.as_fd(), 0, &mut words) == REFERENCE_WORDS;
        whole.then(|| Reference::of_words(words)).flatten().ok_or(libc::EINVAL)
    }

    /// Removes a published location.
    pub(crate) fn revoke(&self, number: u32) {
        sys::unlink_at(self.fd(), name::of_reference(number).as_c_str());
    }

    /// Creates a file for a stream's memory. Processes of another user open this file, because they
    /// may not open descriptors of this process.
    pub(crate) fn make_object(&self, nonce: u64, words: usize) -> Result<OwnedFd, Errno> {
        self.new_file(&name::of_object(nonce), words)
    }

    /// Removes the file of a stream's memory.
    pub(crate) fn remove_object(&self, nonce: u64) {
        sys::unlink_at(self.fd(), name::of_object(nonce).as_c_str());
    }

    /// Opens a stream's memory at its published location. Async-signal-safe.
    pub(crate) fn object(&self, reference: &Reference) -> Result<(OwnedFd, ObjectHeader), Errno> {
        let file = if reference.descriptor == NO_DESCRIPTOR {
            self.file(&name::of_object(reference.nonce))?
        } else {
            let name = name::of_descriptor(reference.controller.id.into(), reference.descriptor);
            let file = sys::open(name.as_c_str(), READ_WRITE)?;
            // After the controller's end, the descriptor can refer to another file.
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
        // An access beyond the end of the file would end this process with SIGBUS.
        let whole = sys::facts(file.as_fd())?.size >= header.geometry.total() as u64 * 8;
        if whole { Ok((file, header)) } else { Err(libc::EINVAL) }
    }

    /// Returns true if the controller that published a location still has the stream.
    fn is_alive(&self, number: u32, reference: &Reference) -> bool {
        let controller = reference.controller;
        if !controller.is_near() {
            let file = self.file(&name::of_reference(number));
            return file.is_ok_and(|file| !sys::try_lock(file.as_fd()));
        }
        if reference.descriptor == NO_DESCRIPTOR {
            return controller.is_alive();
        }
        match self.object(reference) {
            Ok(_) => true,
            // This process is not allowed to open the controller's descriptors.
            Err(libc::EACCES | libc::EPERM) => controller.is_alive(),
            Err(_) => false,
        }
    }

    /// Removes files that belong to dead processes.
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

    /// Returns the directory entries, at most as many as one sweep may examine.
    fn entries(&self) -> impl Iterator<Item = DirEntry> {
        let descriptor = self.directory.as_raw_fd();
        let entries = std::fs::read_dir(format!("/proc/self/fd/{descriptor}"));
        entries.into_iter().flatten().flatten().take(MAX_ENTRIES)
    }

    /// Removes the files of dead processes, at most once per process and only if the process id is
    /// a multiple of 16. Without this, the child processes of a program would fill the directory
    /// while no controller is running.
    pub(crate) fn sweep_sometimes(&self) {
        static SWEPT: AtomicU64 = AtomicU64::new(0);
        let own = u64::from(sys::process());
        if own.is_multiple_of(16) && SWEPT.swap(own, Relaxed) != own {
            self.sweep_processes();
        }
    }

    /// Removes the areas of dead processes, and the name spaces that no area refers to.
    pub(crate) fn sweep_processes(&self) {
        let (mut spaces, mut kept, mut ended) = (Vec::new(), Vec::new(), Vec::new());
        for entry in self.entries() {
            let file_name = entry.file_name();
            let Some(text) = file_name.to_str() else { continue };
            if let Some((id, start)) = text.strip_prefix("p.").and_then(area_of) {
                let file = self.area(Process { id, space: UNKNOWN, start });
                let area = file.ok().and_then(|file| Area::read(&file));
                // Treat a damaged area as empty, because no process can use it.
                let area = area.unwrap_or_else(|| Area::damaged(id, start));
                if area.process.is_alive() {
                    kept.push(area.names);
                } else {
                    self.remove_area(area.process);
                    // Without a stream, no other process uses the name space.
                    if !area.is_traced() {
                        ended.push(area.names);
                    }
                }
            } else if text.starts_with("n.") || text.starts_with("t.") {
                let age = entry.metadata().and_then(|data| data.modified()).ok();
                let age = age.and_then(|time| time.elapsed().ok()).unwrap_or_default();
                spaces.push((text.to_owned(), age > MIN_AGE));
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

    /// Returns the processes whose areas contain the stream `nonce` in the slot `number`.
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

/// The contents of an area.
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

/// Maximum number of entries per sweep, so that a full directory cannot keep a controller busy for
/// long.
const MAX_ENTRIES: usize = 4096;
/// Minimum age of an unused file that a sweep removes. A younger file may be one that a process has
/// just created but does not refer to yet.
const MIN_AGE: std::time::Duration = std::time::Duration::from_secs(10);

const fn object_limit() -> u32 {
    tracewell_wire::posix::SYS_MAX as u32
}

/// Parses the process id and the start time from the name of an area.
fn area_of(text: &str) -> Option<(u32, u64)> {
    let (id, start) = text.split_once('.')?;
    Some((id.parse().ok()?, start.parse().ok()?))
}

/// The location of a stream.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Reference {
    pub(crate) nonce: u64,
    pub(crate) controller: Process,
    /// The descriptor in the controller, or [`NO_DESCRIPTOR`] for a file in the directory.
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

/// Adds a process to the list of members of a stream, unless the list contains it. If the list is
/// full, sets a flag in the stream. Async-signal-safe.
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
        // Skip an entry that another process is claiming, because that process is about to change
        // `start`.
        if before == object::TAKING || before != 0 && other.is_alive() {
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
