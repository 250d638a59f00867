//! The writers of a thread. For each stream, the thread has one writer per nesting depth.
//!
//! [`Nesting`] assigns a depth to each record. A signal handler that interrupts a record uses the
//! writer at the next depth, which has its own lane.
//!
//! The writers are in the thread's memory block ([`ThreadMemory`]). A signal handler must not call
//! the allocator or register a destructor, and the block needs neither. After a thread has ended,
//! its lane goes to the next thread that finds no free lane.
//!
//! This module uses unsafe code to assert that all-zero bytes are a valid value of its types.
#![allow(unsafe_code)]

use std::cell::Cell;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use super::writer::Writer;
use crate::nesting::Nesting;
use crate::thread_memory::{ThreadMemory, User, Zeroed};

/// Maximum number of streams into which one process records at the same time.
pub(super) const STREAMS: usize = 16;

/// Maximum number of records in progress in one thread. Each further record belongs to a signal
/// handler that interrupted the previous record.
pub(super) const DEPTHS: usize = 3;

/// The writers of one thread for one stream.
struct Writers {
    nesting: Nesting<DEPTHS>,
    depths: [Depth; DEPTHS],
}

/// Flag in a generation: a record was abandoned, so the writer must resume after the last committed
/// record.
pub(super) const ABANDONED: u64 = 1 << 63;

/// The writer for one nesting depth.
pub(super) struct Depth {
    /// Generation of the stream whose lane `writer` uses; 0 if it uses none.
    pub(super) generation: Cell<u64>,
    /// Generation of the stream that `misses` refers to.
    pub(super) missed: Cell<u64>,
    /// Number of events for which no lane was found. Only some of them trigger another search.
    pub(super) misses: Cell<u32>,
    /// The writer for the thread's lane in that stream.
    pub(super) writer: Writer,
}

/// All writers of a thread, indexed by stream slot.
struct Thread([Writers; STREAMS]);

// SAFETY: the type contains only integers, bools and raw pointers (in cells and atomics), for which
// all-zero bytes are valid.
unsafe impl Zeroed for Thread {
    fn reset(&self) {
        for writers in &self.0 {
            writers.nesting.reset();
            for depth in &writers.depths {
                depth.generation.set(0);
                depth.missed.set(0);
            }
        }
    }
}

static THREADS: ThreadMemory<Thread> = ThreadMemory::new(User::Streams);

/// Calls `record` with the calling thread's writer for the stream in `slot`. Returns `None` if
/// signal handlers are nested too deeply, or if no memory is available for the thread.
#[inline]
pub(super) fn with_writer<R>(slot: usize, record: impl FnOnce(&Depth) -> R) -> Option<R> {
    let writers = &THREADS.get()?.0[slot % STREAMS];
    let abandoned = |depth: usize| {
        let depth = &writers.depths[depth];
        depth.generation.set(depth.generation.get() | ABANDONED);
    };
    writers.nesting.enter(abandoned, |depth| record(&writers.depths[depth]))
}

/// Drops all lanes of the calling thread. Called in the child process of a fork, where the lanes
/// belong to the parent.
pub(super) extern "C" fn forget() {
    let Some(thread) = THREADS.get() else { return };
    for depth in thread.0.iter().flat_map(|writers| &writers.depths) {
        depth.generation.set(0);
    }
}

/// Returns the number for a new stream. Each number is used only once per process.
pub(super) fn next_generation() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// One bit for each slot in use.
static TAKEN: AtomicU32 = AtomicU32::new(0);

/// Reserves a slot for a stream of this process. Returns `None` if all are in use.
pub(super) fn take_slot() -> Option<usize> {
    let free = |taken: u32| {
        // The lowest bit that is 0 belongs to the first free slot.
        let slot = (!taken).trailing_zeros() as usize;
        (slot < STREAMS).then(|| taken | 1 << slot)
    };
    let before = TAKEN.fetch_update(Ordering::AcqRel, Ordering::Acquire, free).ok()?;
    Some((!before).trailing_zeros() as usize)
}

/// Frees a slot, so that another stream can use it.
pub(super) fn free_slot(slot: usize) {
    TAKEN.fetch_and(!(1 << slot), Ordering::AcqRel);
}
