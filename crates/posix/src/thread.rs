//! The recording state of a thread, which is separate for each depth of nested signal handlers.
//!
//! [`Nesting`] assigns a depth to each record. A handler that interrupts a record uses the next
//! depth, which has its own packets. The state is in the thread's memory block ([`ThreadMemory`]),
//! so the first use does not allocate from the heap, even in a handler.
//!
//! A thread uses attached streams only within [`with_depth`] or [`without_depth`], so other threads
//! can detect that it no longer uses a detached stream.
//!
//! Unsafe: this module declares all-zero bytes to be valid values of its types.
#![allow(unsafe_code)]

use std::cell::Cell;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::SeqCst;

use tracewell_record::nesting::Nesting;
use tracewell_record::posix::{Cursor, Pool};
use tracewell_record::thread_memory::{ThreadMemory, User, Zeroed};
use tracewell_wire::posix::area::SLOTS;

use crate::clock::Comparison;
use crate::process;
use crate::sys;

/// Maximum number of records that a thread and its nested signal handlers can store at the same
/// time.
const DEPTHS: usize = 4;

/// The recorder's identity, as stored in its records.
#[derive(Clone, Copy)]
pub(crate) struct Identity {
    pub(crate) process: u64,
    /// The number that marks the recorder's packets: [`process::own_owner`].
    pub(crate) owner: u64,
    /// The thread as `pthread_t`.
    pub(crate) thread: u64,
}

/// The state of a thread at one depth.
pub(crate) struct Depth {
    pub(crate) clock: Comparison,
    pub(crate) identity: Cell<Identity>,
    slots: [Slot; SLOTS],
}

/// The write position in the stream that is attached in one slot.
struct Slot {
    /// Key of the attached stream; 0 if there is none.
    key: Cell<u64>,
    /// The value of [`ThreadState::turn`] at the last record.
    turn: Cell<u64>,
    cursor: Cursor,
}

impl Depth {
    /// Returns the identity of the calling thread, determining it again after a fork.
    #[inline(always)]
    pub(crate) fn identify(&self, process: u64, depth: usize) -> Identity {
        let known = self.identity.get();
        if known.process == process { known } else { self.find_identity(process, depth) }
    }

    #[cold]
    fn find_identity(&self, process: u64, depth: usize) -> Identity {
        let owner = process::own_owner(depth as u32);
        let identity = Identity { process, owner, thread: sys::pthread() };
        self.identity.set(identity);
        identity
    }

    /// Returns the write position for a slot. If the position belongs to an earlier stream of that
    /// slot, discards it first.
    #[inline(always)]
    fn slot(&self, slot: usize, key: u64) -> &Slot {
        let found = &self.slots[slot % SLOTS];
        if found.key.get() != key {
            found.cursor.forget();
            found.turn.set(0);
            found.key.set(key);
        }
        found
    }
}

/// The state of a recording thread.
pub(crate) struct ThreadState {
    nesting: Nesting<DEPTHS>,
    /// The depth of the last record.
    last: Cell<usize>,
    /// A number that changes when a record has a different depth from the previous record.
    turn: Cell<u64>,
    levels: [Depth; DEPTHS],
}

// SAFETY: the type contains only integers, in cells and atomics, and zeros are valid integers.
// `is_in_use` accesses only an atomic, so other threads may call it.
unsafe impl Zeroed for ThreadState {
    fn reset(&self) {
        for level in &self.levels {
            level.identity.set(Identity { process: 0, owner: 0, thread: 0 });
            level.slots.iter().for_each(|slot| slot.key.set(0));
        }
        self.nesting.reset();
    }

    fn is_in_use(&self) -> bool {
        self.nesting.is_in_use()
    }
}

static THREADS: ThreadMemory<ThreadState> = ThreadMemory::new(User::Posix);

/// Shows that a thread is within [`with_depth`] or [`without_depth`]. Meanwhile, every stream that
/// the thread finds attached stays mapped.
pub(crate) struct Using(());

/// The attached streams.
pub(crate) trait Streams {
    /// Returns the packets of the stream in a slot, if the stream has this key.
    fn pool<'a>(&self, slot: usize, key: u64, using: &'a Using) -> Option<Pool<'a>>;
}

/// Number of calls of [`without_depth`] that have begun and not ended.
static WITHOUT_DEPTH: AtomicUsize = AtomicUsize::new(0);

/// Calls `work` without the state of the thread, after [`with_depth`] has returned `None`.
#[cold]
pub(crate) fn without_depth(work: impl FnOnce(&Using)) {
    WITHOUT_DEPTH.fetch_add(1, SeqCst);
    work(&Using(()));
    WITHOUT_DEPTH.fetch_sub(1, SeqCst);
}

/// Calls `record` with the state of the calling thread and its depth of nested handlers. Returns
/// `None` if handlers are nested too deeply, or if there is no memory for the thread's state.
#[inline(always)]
pub(crate) fn with_depth<R>(
    streams: &impl Streams,
    record: impl FnOnce(&ThreadState, &Using, &Depth, usize) -> R,
) -> Option<R> {
    let thread = THREADS.get()?;
    thread.nesting.enter(
        |abandoned| thread.levels[abandoned].repair(streams, &Using(())),
        |depth| {
            // The turn changes with the depth. `cursor` compares turns to detect a record of
            // another depth.
            if thread.last.get() != depth {
                thread.last.set(depth);
                thread.turn.set(thread.turn.get().wrapping_add(1));
            }
            record(thread, &Using(()), &thread.levels[depth], depth)
        },
    )
}

impl ThreadState {
    /// Checks which threads use attached streams. Before and after this call, execute a memory
    /// barrier in all threads.
    ///
    /// Returns the number of this check or of an earlier one. Since the check with that number
    /// began, each thread has at some moment used no stream. So no thread uses a stream that was
    /// detached before that check. Returns 0 if no such check is known. `number` is the number of
    /// the present check, and increases from check to check. `depth` is the caller's depth: the
    /// caller itself uses no detached stream, but a record that the caller interrupted may use one.
    pub(crate) fn all_idle_since(&self, number: u64, depth: usize) -> u64 {
        let idle = THREADS.all_idle_since(number, (depth == 0).then_some(self));
        if WITHOUT_DEPTH.load(SeqCst) == 0 { idle } else { 0 }
    }

    /// Returns the cursor for a nesting depth in the stream of a slot. If the thread's last record
    /// was stored at a different depth, also returns the timestamp of that record.
    #[inline(always)]
    pub(crate) fn cursor<'a>(
        &self,
        level: &'a Depth,
        slot: usize,
        key: u64,
    ) -> (&'a Cursor, Option<u64>) {
        let found = level.slot(slot, key);
        if found.turn.get() == self.turn.get() {
            return (&found.cursor, None);
        }
        found.turn.set(self.turn.get());
        (&found.cursor, Some(self.last_stamp(slot, key)))
    }

    #[cold]
    fn last_stamp(&self, slot: usize, key: u64) -> u64 {
        let slots = self.levels.iter().filter_map(|level| level.slots.get(slot));
        let slots = slots.filter(|slot| slot.key.get() == key);
        slots.map(|slot| slot.cursor.last()).max().unwrap_or(0)
    }
}

impl Depth {
    /// Repairs the cursors after a record was abandoned.
    fn repair(&self, streams: &impl Streams, using: &Using) {
        let owner = self.identity.get().owner;
        for (slot, found) in self.slots.iter().enumerate().filter(|(_, slot)| slot.key.get() != 0) {
            match streams.pool(slot, found.key.get(), using) {
                Some(pool) => found.cursor.repair(&pool, owner),
                None => found.key.set(0),
            }
        }
    }
}
