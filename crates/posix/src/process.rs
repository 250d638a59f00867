//! Processes: which one it is, whether it lives, who may trace it.

use std::os::fd::AsFd;

use crate::name::Name;
use crate::sys::{self, Errno};

/// A process, told apart from a later one with the same number by its start.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Process {
    pub(crate) id: u32,
    /// Field 22 of `/proc/PID/stat`: clock ticks since the machine started.
    pub(crate) start: u64,
}

impl Process {
    /// The calling process. For signal handlers.
    pub(crate) fn own() -> Option<Self> {
        Self::find(sys::process())
    }

    /// The process with a number, if there is one that is no zombie. For signal handlers.
    pub(crate) fn find(id: u32) -> Option<Self> {
        let name = Name::new(format_args!("/proc/{id}/stat"));
        let file = sys::open(name.as_c_str(), libc::O_RDONLY).ok()?;
        let mut text = [0; 1024];
        let length = sys::read(file.as_fd(), &mut text);
        let (state, start) = state_and_start(text.get(..length)?)?;
        (!matches!(state, b'Z' | b'X' | b'x')).then_some(Self { id, start })
    }

    /// Whether it still is. For signal handlers.
    pub(crate) fn lives(self) -> bool {
        Self::find(self.id) == Some(self)
    }

    /// Its user, if the calling process may trace it: the same user in every sense, and the process
    /// does not forbid it; or the right to trace everybody.
    pub(crate) fn traceable(self) -> Result<u32, Errno> {
        let name = Name::new(format_args!("/proc/{}/status", self.id));
        let file = sys::open(name.as_c_str(), libc::O_RDONLY).map_err(|_| libc::ESRCH)?;
        let mut text = [0; 4096];
        let length = sys::read(file.as_fd(), &mut text);
        let text = text.get(..length).unwrap_or_default();
        // A thread has an entry, too, and is no process.
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

    /// The kernel gives the entries of a process that forbids dumping to root.
    fn may_be_dumped(self) -> bool {
        let name = Name::new(format_args!("/proc/{}/stat", self.id));
        let file = sys::open(name.as_c_str(), libc::O_RDONLY);
        let owner = file.and_then(|file| sys::facts(file.as_fd())).map(|facts| facts.owner);
        owner == Ok(sys::user())
    }
}

/// Whether this process has the capability `CAP_SYS_PTRACE`.
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

/// State and start in the text of `/proc/PID/stat`, whose second field is the program's name in
/// parentheses and may hold anything.
fn state_and_start(text: &[u8]) -> Option<(u8, u64)> {
    let behind = text.iter().rposition(|byte| *byte == b')')?;
    let mut fields = text.get(behind + 2..)?.split(|byte| *byte == b' ');
    let state = *fields.next()?.first()?;
    let start = std::str::from_utf8(fields.nth(18)?).ok()?.parse().ok()?;
    Some((state, start))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_program_may_hold_anything() {
        let text = b"12 (a) R (b) S 1 1 1 0 -1 4 1 0 0 0 1 2 3 4 20 0 1 0 4711 99 1\n";
        assert_eq!(state_and_start(text), Some((b'S', 4711)));
        assert_eq!(state_and_start(b"12 (a"), None);
    }

    #[test]
    fn this_process_lives_and_may_be_traced() {
        let own = Process::own().unwrap();
        assert!(own.lives());
        assert_eq!(own.traceable(), Ok(sys::user()));
        assert!(!Process { start: own.start + 1, ..own }.lives());
    }

    #[test]
    fn nobody_has_the_largest_number() {
        assert_eq!(Process::find(u32::MAX), None);
    }
}
