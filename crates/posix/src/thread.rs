//! Where a thread stores, for each stream and each depth of signal handlers.
//!
//! A handler that interrupts a record finds `depth` raised and uses the next depth, which has packets of
//! its own; when it returns everything of the interrupted record is as it was. The memory is static in
//! the thread: nothing is allocated at first use, which a handler might not do.

use std::cell::Cell;
use std::sync::atomic::{AtomicU32, Ordering, compiler_fence};

use tracewell_record::posix::Place;
use tracewell_wire::posix::area::SLOTS;

use crate::clock::Comparison;
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
    places: [(Cell<u64>, Place); SLOTS],
}

impl Level {
    const fn new() -> Self {
        let places = [const { (Cell::new(0), Place::new()) }; SLOTS];
        let nobody = Identity { process: 0, owner: 0, thread: 0 };
        Self { clock: Comparison::new(), identity: Cell::new(nobody), places }
    }

    /// Who the calling thread is; after a fork it is somebody else.
    #[inline(always)]
    pub(crate) fn identify(&self, process: u64) -> Identity {
        let known = self.identity.get();
        if known.process == process { known } else { self.find_identity(process) }
    }

    #[cold]
    fn find_identity(&self, process: u64) -> Identity {
        let identity = Identity { process, owner: process::own_owner(), thread: sys::pthread() };
        self.identity.set(identity);
        identity
    }

    /// The place in the stream of a slot; one of another stream is forgotten.
    #[inline(always)]
    pub(crate) fn place(&self, slot: usize, key: u64) -> &Place {
        let (known, place) = &self.places[slot % SLOTS];
        if known.get() != key {
            place.forget();
            known.set(key);
        }
        place
    }
}

struct Thread {
    depth: AtomicU32,
    levels: [Level; DEPTHS],
}

std::thread_local! {
    static THREAD: Thread =
        const { Thread { depth: AtomicU32::new(0), levels: [const { Level::new() }; DEPTHS] } };
}

/// Runs `record` with what the calling thread has at its depth; `None` where handlers interrupt each
/// other too deeply.
#[inline(always)]
pub(crate) fn with_level<R>(record: impl FnOnce(&Level) -> R) -> Option<R> {
    THREAD
        .try_with(|thread| {
            // Relaxed, with compiler fences: only handlers on this very thread look at it.
            let depth = thread.depth.load(Ordering::Relaxed);
            let level = thread.levels.get(depth as usize)?;
            thread.depth.store(depth + 1, Ordering::Relaxed);
            compiler_fence(Ordering::SeqCst);
            let result = record(level);
            compiler_fence(Ordering::SeqCst);
            thread.depth.store(depth, Ordering::Relaxed);
            Some(result)
        })
        .ok()
        .flatten()
}
