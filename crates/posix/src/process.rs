//! Processes: identity, liveness, and permission to trace them.
//!
//! A process id is valid only in one PID namespace. In a container that shares `/dev/shm` with
//! others, the same id refers to a different process, or to none. So an id is stored together with
//! the inode number of its PID namespace, the *space*. A process in a different space is never
//! assumed to have ended.
//!
//! Process ids are those shown in `/proc`. After `unshare`, a child process has another id in its
//! own namespace, but still sees its parent's `/proc`. This module identifies such a child by its
//! parent's namespace and the id in `/proc`.

use std::os::fd::AsFd;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

use tracewell_wire::native::{join, split};
use tracewell_wire::posix::object;

use crate::name::Name;
use crate::sys::{self, Errno};

/// A process, identified by id, space and start time. The start time distinguishes the process from
/// a later process with the same id.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Process {
    pub(crate) id: u32,
    /// The PID namespace of the id; [`UNKNOWN`] if it could not be determined.
    pub(crate) space: u32,
    /// Field 22 of `/proc/PID/stat`: clock ticks since the machine started.
    pub(crate) start: u64,
}

/// The PID namespace recorded for processes that could not determine their own.
pub(crate) const UNKNOWN: u32 = 0;

/// The PID namespace of this process. A child process created by `fork` starts with its parent's
/// value.
static SPACE: AtomicU32 = AtomicU32::new(UNKNOWN);

impl Process {
    /// Returns the calling process. Async-signal-safe.
    pub(crate) fn own() -> Option<Self> {
        let stat = Stat::read(Name::new(format_args!("/proc/self/stat")))?;
        if stat.id == sys::process() {
            SPACE.store(namespace(), Relaxed);
        }
        Some(Self { id: stat.id, space: SPACE.load(Relaxed), start: stat.start })
    }

    /// Returns the process that has the given id, or `None` if there is no such process or all its
    /// threads have ended. Async-signal-safe.
    pub(crate) fn find(id: u32) -> Option<Self> {
        let stat = Stat::read(Name::new(format_args!("/proc/{id}/stat")))?;
        stat.is_alive().then_some(Self { id, space: own_space(), start: stat.start })
    }

    /// Returns the parent process. Async-signal-safe.
    pub(crate) fn parent(self) -> Option<Self> {
        let stat = Stat::read(Name::new(format_args!("/proc/{}/stat", self.id)))?;
        Self::find(stat.parent).filter(|_| stat.start == self.start)
    }

    /// Returns true if the process is alive or is in a different space. Async-signal-safe.
    pub(crate) fn is_alive(self) -> bool {
        !self.is_near() || Self::find(self.id) == Some(self)
    }

    /// Returns true if the process is in the same space as the calling process. Async-signal-safe.
    pub(crate) fn is_near(self) -> bool {
        self.space != UNKNOWN && self.space == own_space()
    }

    /// Returns true if `kill` can find the process by its id. Async-signal-safe.
    pub(crate) fn has_id_here(self) -> bool {
        self.is_near() && Self::own().is_some_and(|own| own.id == sys::process())
    }

    /// Returns the id and the space as one word of shared memory.
    pub(crate) const fn word(self) -> u64 {
        join(self.id, self.space)
    }

    /// Builds a process from two words of shared memory.
    pub(crate) const fn of_words(word: u64, start: u64) -> Self {
        let (id, space) = split(word);
        Self { id, space, start }
    }

    /// Returns the process's user id if the calling process may trace it. That is the case if the
    /// process is dumpable and its real, effective and saved user ids all equal the caller's
    /// effective user id. It is also the case if the caller may trace all processes.
    pub(crate) fn traceable(self) -> Result<u32, Errno> {
        let name = Name::new(format_args!("/proc/{}/status", self.id));
        let file = sys::open(name.as_c_str(), libc::O_RDONLY).map_err(|_| libc::ESRCH)?;
        let mut text = [0; 4096];
        let length = sys::read(file.as_fd(), &mut text);
        let text = text.get(..length).unwrap_or_default();
        // A thread also has an entry in `/proc`, but a single thread cannot be traced.
        let group = line(text, b"Tgid:").and_then(|line| numbers(line).next());
        if group != Some(u64::from(self.id)) {
            return Err(libc::ESRCH);
        }
        let users = line(text, b"Uid:").map(numbers).ok_or(libc::ESRCH)?;
        let mut all = [u64::MAX; 3];
        all.iter_mut().zip(users).for_each(|(to, user)| *to = user);
        let [_, effective, _] = all;
        let same = all == [u64::from(sys::user()); 3] && self.may_be_dumped();
        if same || may_trace_all() {
            return u32::try_from(effective).map_err(|_| libc::EPERM);
        }
        Err(libc::EPERM)
    }

    /// Returns true if the process is dumpable: root owns the `/proc` entries of processes that are
    /// not dumpable.
    fn may_be_dumped(self) -> bool {
        let name = Name::new(format_args!("/proc/{}/stat", self.id));
        let file = sys::open(name.as_c_str(), libc::O_RDONLY);
        let owner = file.and_then(|file| sys::facts(file.as_fd())).map(|facts| facts.owner);
        owner == Ok(sys::user())
    }
}

/// Returns true if this process has the capability `CAP_SYS_PTRACE`.
fn may_trace_all() -> bool {
    const SYS_PTRACE: u64 = 19;
    let Ok(file) = sys::open(c"/proc/self/status", libc::O_RDONLY) else { return false };
    let mut text = [0; 4096];
    let length = sys::read(file.as_fd(), &mut text);
    let digits = line(text.get(..length).unwrap_or_default(), b"CapEff:").unwrap_or_default();
    let digits = std::str::from_utf8(digits).unwrap_or_default().trim();
    u64::from_str_radix(digits, 16).is_ok_and(|set| set >> SYS_PTRACE & 1 == 1)
}

fn line<'a>(text: &'a [u8], key: &[u8]) -> Option<&'a [u8]> {
    text.split(|byte| *byte == b'\n').find_map(|line| line.strip_prefix(key))
}

fn numbers(text: &[u8]) -> impl Iterator<Item = u64> {
    let words = text.split(|byte| byte.is_ascii_whitespace()).filter(|word| !word.is_empty());
    words.map_while(|word| std::str::from_utf8(word).ok()?.parse().ok())
}

/// Returns the space of the calling process. Async-signal-safe.
pub(crate) fn own_space() -> u32 {
    match SPACE.load(Relaxed) {
        UNKNOWN => Process::own().map_or(UNKNOWN, |own| own.space),
        known => known,
    }
}

/// Id of the last process that called [`namespace`], and the inode number of that process's own
/// namespace. `kill` works in that namespace, even if [`SPACE`] is the parent's namespace.
static NAMESPACE: AtomicU64 = AtomicU64::new(0);

fn namespace() -> u32 {
    let own = sys::process();
    // After a fork, the child can be in another namespace, so the cached value is valid for one
    // process only.
    let (process, known) = split(NAMESPACE.load(Relaxed));
    if process == own {
        return known;
    }
    let file = sys::open(c"/proc/self/ns/pid", libc::O_RDONLY);
    let facts = file.and_then(|file| sys::facts(file.as_fd()));
    let found = facts.map_or(UNKNOWN, |facts| facts.inode as u32);
    NAMESPACE.store(join(own, found), Relaxed);
    found
}

/// Resets state in the child of a fork. The child can have the same id as its parent, in another
/// namespace.
pub(crate) fn after_fork() {
    NAMESPACE.store(0, Relaxed);
}

/// Returns the owner number of the calling thread. Each depth of nested signal handlers has its own
/// number. Async-signal-safe.
pub(crate) fn own_owner(depth: u32) -> u64 {
    object::owner(sys::process(), sys::thread(), namespace(), depth)
}

/// Returns true if the thread that an owner number identifies is alive or is in another namespace.
/// Async-signal-safe.
pub(crate) fn owner_is_alive(owner: u64) -> bool {
    let (process, thread, space) = object::split_owner(owner);
    let (_, _, here) = object::split_owner(object::owner(0, 0, namespace(), 0));
    space != here || sys::is_alive(process, thread)
}

/// The relevant fields of `/proc/PID/stat`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Stat {
    id: u32,
    state: u8,
    parent: u32,
    /// Number of threads.
    threads: u64,
    start: u64,
}

impl Stat {
    fn read(path: Name) -> Option<Self> {
        let file = sys::open(path.as_c_str(), libc::O_RDONLY).ok()?;
        let mut text = [0; 1024];
        let length = sys::read(file.as_fd(), &mut text);
        Self::of_text(text.get(..length)?)
    }

    /// Parses the fields. The second field is the program's name in parentheses; the name can
    /// contain any bytes.
    fn of_text(text: &[u8]) -> Option<Self> {
        let number = |field: &[u8]| std::str::from_utf8(field).ok()?.parse::<u64>().ok();
        let id = number(text.split(|byte| *byte == b' ').next()?)?;
        // The name itself can contain parentheses, so it ends at the last one.
        let after = text.iter().rposition(|byte| *byte == b')')?;
        let mut fields = text.get(after + 2..)?.split(|byte| *byte == b' ');
        let state = *fields.next()?.first()?;
        let parent = number(fields.next()?)?;
        // The number of threads is field 20, the start time field 22 (proc(5)). The parent was
        // field 4, so skip 15 fields.
        let threads = number(fields.nth(15)?)?;
        let start = number(fields.nth(1)?)?;
        Some(Self {
            id: u32::try_from(id).ok()?,
            state,
            parent: u32::try_from(parent).ok()?,
            threads,
            start,
        })
    }

    /// Returns true if at least one thread of the process has not ended. The state is that of the
    /// first thread. If this thread has ended, it counts as a thread until the others have ended.
    const fn is_alive(&self) -> bool {
        !matches!(self.state, b'Z' | b'X' | b'x') || self.threads > 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_program_may_hold_anything() {
        let text = b"12 (a) R (b) S 1 1 1 0 -1 4 1 0 0 0 1 2 3 4 20 0 1 0 4711 99 1\n";
        let stat = Stat { id: 12, state: b'S', parent: 1, threads: 1, start: 4711 };
        assert_eq!(Stat::of_text(text), Some(stat));
        assert_eq!(Stat::of_text(b"12 (a"), None);
    }

    #[test]
    fn a_process_lives_until_its_last_thread_has_ended() {
        let alive = |state: &str, threads: u32| {
            let middle = "1 1 1 0 -1 4 1 0 0 0 1 2 3 4 20 0";
            let text = format!("12 (a) {state} {middle} {threads} 0 4711 99 1\n");
            Stat::of_text(text.as_bytes()).unwrap().is_alive()
        };
        assert!(alive("S", 1) && alive("R", 2));
        assert!(!alive("Z", 1) && !alive("X", 1));
        // The first thread has called pthread_exit.
        assert!(alive("Z", 2));
    }

    #[test]
    fn this_process_lives_and_may_be_traced() {
        let own = Process::own().unwrap();
        assert!(own.is_alive());
        assert_eq!(own.traceable(), Ok(sys::user()));
        assert!(!Process { start: own.start + 1, ..own }.is_alive());
        assert_eq!(Process::of_words(own.word(), own.start), own);
        let parent = own.parent().unwrap();
        assert!(parent.is_alive() && parent != own);
    }

    #[test]
    fn a_process_of_another_or_an_unknown_space_is_never_said_to_have_ended() {
        let own = Process::own().unwrap();
        let ended = Process { start: own.start + 1, ..own };
        for space in [own.space + 1, UNKNOWN] {
            assert!(Process { space, ..ended }.is_alive());
            assert!(!Process { space, ..own }.has_id_here());
        }
        assert!(own.has_id_here());
    }

    #[test]
    fn an_owner_of_another_namespace_is_never_said_to_have_ended() {
        let own = own_owner(0);
        assert!(owner_is_alive(own));
        let ended = |space| object::owner(0x3F_FFFF, 0x3F_FFFF, space, 0);
        assert!(!owner_is_alive(ended(namespace())));
        assert!(
            owner_is_alive(ended(namespace() + 1)) && owner_is_alive(ended(namespace() ^ 1 << 17))
        );
    }

    #[test]
    fn no_process_has_the_largest_number() {
        assert_eq!(Process::find(u32::MAX), None);
    }
}
