//! The names of event types, shared between processes.
//!
//! Names are only added, never changed or removed. A process that adds a name holds the file's
//! lock, and stores the count last. If the process dies, the kernel releases the lock. Lookups take
//! no lock. A controller reads and writes the file with system calls and never maps it, so a traced
//! process cannot crash the controller by truncating the file.

use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::thread::sleep;
use std::time::Duration;

use tracewell_wire::posix::area::{NAME_SLOT, names};
use tracewell_wire::posix::{
    EVENT_NAME_MAX, FIRST_USER, UNNAMED, UNNAMED_NAME, USER_EVENT_MAX, text_of_words, text_words,
};

use crate::name::Name;
use crate::sys::{self, Errno};

/// Maximum time to wait for the lock, in milliseconds. Adding a name takes microseconds, so a
/// process that holds the lock for seconds is stopped or malicious.
const MAX_WAIT_MS: u32 = 10_000;

fn slot_of(text: &[u8]) -> [u64; NAME_SLOT] {
    let words: [u64; NAME_SLOT - 1] = text_words(text);
    let mut slot = [0; NAME_SLOT];
    slot[0] = text.len() as u64;
    slot[1..].copy_from_slice(&words);
    slot
}

/// The names in an open file.
#[derive(Clone, Copy)]
pub(crate) struct NameFile<'a>(pub(crate) BorrowedFd<'a>);

impl NameFile<'_> {
    /// Returns the number of names.
    pub(crate) fn count(self) -> usize {
        let mut count = [0];
        sys::read_words(self.0, names::COUNT, &mut count);
        usize::try_from(count[0]).unwrap_or(usize::MAX).min(USER_EVENT_MAX)
    }

    fn slot(self, index: usize) -> [u64; NAME_SLOT] {
        let mut slot = [0; NAME_SLOT];
        sys::read_words(self.0, names::SLOTS + index * NAME_SLOT, &mut slot);
        slot
    }

    /// Returns the name that belongs to an id, or `None` if the id is not defined.
    pub(crate) fn name(self, id: u32) -> Option<Vec<u8>> {
        let index = id.checked_sub(FIRST_USER)? as usize;
        (index < self.count()).then_some(())?;
        let slot = self.slot(index);
        let mut text = [0; EVENT_NAME_MAX + 1];
        let found = text_of_words(&slot[1..], &mut text);
        let length = usize::try_from(slot[0]).ok()?;
        // Another process can damage the file, so compare the stored length with the length of the
        // text.
        (length <= EVENT_NAME_MAX && length == found).then(|| text[..length].to_vec())
    }

    /// Reads all used slots in one call.
    fn slots(self) -> Vec<u64> {
        let mut words = vec![0; self.count() * NAME_SLOT];
        let read = sys::read_words(self.0, names::SLOTS, &mut words);
        words.truncate(read / NAME_SLOT * NAME_SLOT);
        words
    }

    /// Returns the id of a name, adding the name if it is new. Returns the unnamed id if all ids
    /// are in use.
    pub(crate) fn define(self, text: &[u8]) -> Result<u32, Errno> {
        if text.len() > EVENT_NAME_MAX {
            return Err(libc::ENAMETOOLONG);
        }
        if text == UNNAMED_NAME.as_bytes() {
            return Ok(UNNAMED);
        }
        // Names are only added, so finding an existing name needs no lock.
        if let Some(id) = self.find(text) {
            return Ok(id);
        }
        let lock = self.own_description()?;
        // If the lock is still held after this time, its holder is stopped or malicious. In this
        // case the name is added without the lock.
        (0..MAX_WAIT_MS).find(|_| {
            sys::try_lock(lock.as_fd()) || {
                sleep(Duration::from_millis(1));
                false
            }
        });
        let id = self.add(text);
        // If a fork has copied the descriptor, closing it does not release the lock.
        sys::unlock(lock.as_fd());
        id
    }

    /// Opens the file a second time, so that the lock also excludes the other threads of this
    /// process.
    fn own_description(self) -> Result<OwnedFd, Errno> {
        let path = Name::new(format_args!("/proc/self/fd/{}", self.0.as_raw_fd()));
        sys::open(path.as_c_str(), libc::O_RDWR)
    }

    /// Returns the id of an existing name.
    fn find(self, text: &[u8]) -> Option<u32> {
        let (slots, wanted) = (self.slots(), slot_of(text));
        let index = slots.as_chunks::<NAME_SLOT>().0.iter().position(|slot| *slot == wanted)?;
        Some(FIRST_USER + index as u32)
    }

    fn add(self, text: &[u8]) -> Result<u32, Errno> {
        if let Some(id) = self.find(text) {
            return Ok(id);
        }
        let count = self.count();
        if count == USER_EVENT_MAX {
            return Ok(UNNAMED);
        }
        sys::write_words(self.0, names::SLOTS + count * NAME_SLOT, &slot_of(text))?;
        // Store the count last: other processes read only names below the count.
        sys::write_words(self.0, names::COUNT, &[count as u64 + 1])?;
        Ok(FIRST_USER + count as u32)
    }

    /// Copies all names from another name space to this empty name space. Async-signal-safe.
    pub(crate) fn copy_from(self, other: NameFile<'_>) -> Result<(), Errno> {
        self.fill(0, other.count(), |index| other.slot(index))
    }

    /// Appends names of a mapped name space until this name space has `count` names. Fails if the
    /// existing names differ from the first names of the mapped name space. Async-signal-safe: it
    /// does not wait for the lock.
    pub(crate) fn complete(self, from: &[AtomicU64], count: usize) -> Result<(), Errno> {
        let count = count.min(USER_EVENT_MAX);
        let slot = |index: usize| {
            let at = names::SLOTS + index * NAME_SLOT;
            std::array::from_fn(|word| from.get(at + word).map_or(0, |word| word.load(Relaxed)))
        };
        if self.count() >= count {
            return Ok(());
        }
        let lock = self.own_description()?;
        // The caller may be a signal handler that interrupted the owner of the lock.
        if !sys::try_lock(lock.as_fd()) {
            return Err(libc::EAGAIN);
        }
        // Another process may have added names before this one got the lock.
        let there = self.count();
        let same = (0..there).all(|index| self.slot(index) == slot(index));
        let filled = if same { self.fill(there, count, slot) } else { Err(libc::EEXIST) };
        sys::unlock(lock.as_fd());
        filled
    }

    fn fill(
        self,
        from: usize,
        count: usize,
        slot: impl Fn(usize) -> [u64; NAME_SLOT],
    ) -> Result<(), Errno> {
        for index in from..count {
            sys::write_words(self.0, names::SLOTS + index * NAME_SLOT, &slot(index))?;
        }
        sys::write_words(self.0, names::COUNT, &[count.max(from) as u64])
    }
}
