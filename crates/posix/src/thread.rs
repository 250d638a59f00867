//! Where a thread stores, for each stream and each depth of signal handlers.
//!
//! A handler that interrupts a record finds `depth` raised and uses the next depth, which has packets of
//! its own; when it returns everything of the interrupted record is as it was. The memory is the thread's
//! block ([`ThreadMemory`]): nothing is allocated at first use, which a handler might not do.
//!
//! A handler may also leave by a jump (`siglongjmp`), and the record that it interrupted never ends. When
//! all depths are in use, those are free again whose records began deeper on the stack than the present one
//! does: they cannot be there any more. Not so on a signal stack, of which nobody knows what it interrupted.
//!
//! The module holds `unsafe` code because it says that zeros are a value of its types.
#![allow(unsafe_code)]

use std::cell::Cell;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering, compiler_fence};

use tracewell_record::posix::Place;
use tracewell_record::thread_memory::{ThreadMemory, User, Zeroed};
use tracewell_wire::posix::area::SLOTS;

use crate::clock::Comparison;
use crate::local::{Attached, Local};
use crate::process;
use crate::sys;

/// How deep handlers that record may interrupt each other, the thread itself included.
const DEPTHS: usize = 4;

/// Who records.
#[derive(Clone, Copy)]
pub(crate) struct Identity {
    pub(crate) process: u64,
    /// As [`process::own_owner`].
    pub(crate) owner: u64,
    /// `pthread_t`.
    pub(crate) thread: u64,
}

/// What a thread has at one depth.
pub(crate) struct Level {
    pub(crate) clock: Comparison,
    pub(crate) identity: Cell<Identity>,
    places: [Slot; SLOTS],
}

/// Where a thread stores into the stream of a slot.
struct Slot {
    /// The stream; 0 for none.
    key: Cell<u64>,
    /// [`Thread::turn`] at the last record.
    turn: Cell<u64>,
    place: Place,
}

impl Level {
    /// Who the calling thread is; after a fork it is somebody else.
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

    /// The slot of a stream; the place in another stream is forgotten.
    #[inline(always)]
    fn slot(&self, slot: usize, key: u64) -> &Slot {
        let found = &self.places[slot % SLOTS];
        if found.key.get() != key {
            found.place.forget();
            found.turn.set(0);
            found.key.set(key);
        }
        found
    }
}

/// What a thread has.
pub(crate) struct Thread {
    depth: AtomicU32,
    /// Where on the stack the record of each depth began.
    frames: [AtomicUsize; DEPTHS],
    /// The depth of the last record.
    last: Cell<usize>,
    /// Changes when two records follow each other at different depths.
    turn: Cell<u64>,
    levels: [Level; DEPTHS],
}

// SAFETY: it consists of integers in cells and atomics.
unsafe impl Zeroed for Thread {
    fn begin_again(&self) {
        for level in &self.levels {
            level.identity.set(Identity { process: 0, owner: 0, thread: 0 });
            level.places.iter().for_each(|slot| slot.key.set(0));
        }
        self.depth.store(0, Ordering::Relaxed);
    }
}

static THREADS: ThreadMemory<Thread> = ThreadMemory::new(User::Posix);

/// Runs `record` with what the calling thread has, and its depth; `None` where handlers interrupt each
/// other too deeply.
#[inline(always)]
pub(crate) fn with_depth<R>(
    local: &Local,
    record: impl FnOnce(&Thread, &Level, usize) -> R,
) -> Option<R> {
    let thread = THREADS.get()?;
    let frame = 0_u8;
    let here = (&raw const frame).addr();
    // Relaxed, with compiler fences: only handlers on this very thread look at it.
    let mut depth = thread.depth.load(Ordering::Relaxed) as usize;
    if depth >= DEPTHS {
        depth = thread.recover(local, here)?;
    }
    let level = thread.levels.get(depth)?;
    thread.frames[depth].store(here, Ordering::Relaxed);
    thread.depth.store(depth as u32 + 1, Ordering::Relaxed);
    compiler_fence(Ordering::SeqCst);
    if thread.last.get() != depth {
        thread.last.set(depth);
        thread.turn.set(thread.turn.get().wrapping_add(1));
    }
    let result = record(thread, level, depth);
    compiler_fence(Ordering::SeqCst);
    thread.depth.store(depth as u32, Ordering::Relaxed);
    Some(result)
}

impl Thread {
    /// The place of a level in the stream of a slot, and the stamp of the thread's last record if that was
    /// stored at another depth.
    #[inline(always)]
    pub(crate) fn place<'a>(
        &self,
        level: &'a Level,
        slot: usize,
        key: u64,
    ) -> (&'a Place, Option<u64>) {
        let found = level.slot(slot, key);
        if found.turn.get() == self.turn.get() {
            return (&found.place, None);
        }
        found.turn.set(self.turn.get());
        (&found.place, Some(self.last_stamp(slot, key)))
    }

    #[cold]
    fn last_stamp(&self, slot: usize, key: u64) -> u64 {
        let slots = self.levels.iter().filter_map(|level| level.places.get(slot));
        let slots = slots.filter(|slot| slot.key.get() == key);
        slots.map(|slot| slot.place.last()).max().unwrap_or(0)
    }

    /// Ends records that were left by a jump; the depth that is free then, if there were any.
    #[cold]
    #[inline(never)]
    fn recover(&self, local: &Local, here: usize) -> Option<usize> {
        if sys::keeping_errno(sys::on_signal_stack) {
            return None;
        }
        let mut depth = DEPTHS;
        while depth > 0 && self.frames[depth - 1].load(Ordering::Relaxed) <= here {
            depth -= 1;
            self.levels[depth].mend(local);
        }
        self.depth.store(depth as u32, Ordering::Relaxed);
        (depth < DEPTHS).then_some(depth)
    }
}

impl Level {
    /// Brings its places in order again after a record was left in the middle.
    fn mend(&self, local: &Local) {
        let owner = self.identity.get().owner;
        for (slot, found) in self.places.iter().enumerate().filter(|(_, slot)| slot.key.get() != 0)
        {
            let stream = local.stream(slot).filter(|stream| stream.key == found.key.get());
            match stream.map(Attached::pool) {
                Some(pool) => found.place.mend(&pool, owner),
                None => found.key.set(0),
            }
        }
    }
}
