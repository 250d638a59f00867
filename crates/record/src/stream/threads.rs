//! Which lane a thread writes, for each stream and each depth of signal handlers.
//!
//! A thread that records says so in `depth`. A signal handler that interrupts it in the middle of a
//! record finds `depth` raised and uses the writer of the next depth, which has a lane of its own;
//! when the handler returns, everything of the interrupted record is as it was. So a writer is never
//! entered twice, and its stores need no locked instructions.
//!
//! The memory is the thread's block ([`ThreadMemory`]): no allocation at first use and nothing to run at the
//! end of the thread, either of which would be forbidden in a signal handler. A lane whose thread has
//! ended is taken over by the next thread that finds no free one.
//!
//! A record that a handler left by a jump never ends. When all depths are in use, those are free again whose
//! records began deeper on the stack than the present one does: they cannot be there any more. Not so on a
//! signal stack, of which nobody knows what it interrupted.
//!
//! The module holds `unsafe` code because it says that zeros are a value of its types.
#![allow(unsafe_code)]

use std::cell::Cell;
use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering, compiler_fence};

use super::sys;
use super::writer::Writer;
use crate::thread_memory::{ThreadMemory, User, Zeroed};

/// Streams that one process may record into at a time.
pub(super) const STREAMS: usize = 16;

/// How deep signal handlers that record may interrupt each other, the thread itself included.
pub(super) const DEPTHS: usize = 3;

/// The writers of one thread for one stream.
struct Writers {
    /// How many records are begun and not complete: the depth that is free.
    depth: AtomicU32,
    /// Where on the stack the record of each depth began.
    frames: [AtomicUsize; DEPTHS],
    levels: [Level; DEPTHS],
}

/// In a generation: a record was left in the middle, so that the writer has to begin again behind what was
/// committed.
pub(super) const LEFT: u64 = 1 << 63;

/// The writer of one depth.
pub(super) struct Level {
    /// The stream that `writer` has a lane of; 0 for none.
    pub(super) generation: Cell<u64>,
    /// The stream that `misses` is about.
    pub(super) missed: Cell<u64>,
    /// How many events found no lane, so that not each of them looks for one.
    pub(super) misses: Cell<u32>,
    pub(super) writer: Writer,
}

/// The writers of a thread, for each stream.
struct Thread([Writers; STREAMS]);

// SAFETY: it consists of numbers, `false` and `None` of no pointer, in cells and atomics.
unsafe impl Zeroed for Thread {
    fn begin_again(&self) {
        for writers in &self.0 {
            writers.depth.store(0, Ordering::Relaxed);
            for level in &writers.levels {
                level.generation.set(0);
                level.missed.set(0);
            }
        }
    }
}

static THREADS: ThreadMemory<Thread> = ThreadMemory::new(User::Streams);

/// Runs `record` with the calling thread's writer for the stream in a slot; `None` where handlers
/// interrupt each other too deeply, or there is no memory for the thread.
#[inline]
pub(super) fn with_writer<R>(slot: usize, record: impl FnOnce(&Level) -> R) -> Option<R> {
    let writers = &THREADS.get()?.0[slot % STREAMS];
    let frame = 0_u8;
    let here = (&raw const frame).addr();
    // Relaxed, with compiler fences: only handlers on this very thread look at it.
    let mut depth = writers.depth.load(Ordering::Relaxed) as usize;
    if depth >= DEPTHS {
        depth = writers.recover(here)?;
    }
    let level = writers.levels.get(depth)?;
    writers.frames[depth].store(here, Ordering::Relaxed);
    writers.depth.store(depth as u32 + 1, Ordering::Relaxed);
    compiler_fence(Ordering::SeqCst);
    let result = record(level);
    compiler_fence(Ordering::SeqCst);
    writers.depth.store(depth as u32, Ordering::Relaxed);
    Some(result)
}

impl Writers {
    /// Ends records that were left by a jump; the depth that is free then, if there were any.
    #[cold]
    #[inline(never)]
    fn recover(&self, here: usize) -> Option<usize> {
        if sys::on_signal_stack() {
            return None;
        }
        let mut depth = DEPTHS;
        while depth > 0 && self.frames[depth - 1].load(Ordering::Relaxed) <= here {
            depth -= 1;
            let level = &self.levels[depth];
            level.generation.set(level.generation.get() | LEFT);
        }
        self.depth.store(depth as u32, Ordering::Relaxed);
        (depth < DEPTHS).then_some(depth)
    }
}

/// In the child of a fork the lanes belong to the parent: the thread forgets them.
pub(super) extern "C" fn forget() {
    let Some(thread) = THREADS.get() else { return };
    for level in thread.0.iter().flat_map(|writers| &writers.levels) {
        level.generation.set(0);
    }
}

/// The next generation of streams; none is ever used twice in a process.
pub(super) fn next_generation() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

static TAKEN: AtomicU32 = AtomicU32::new(0);

/// A slot for a stream of this process; `None` where all are taken.
pub(super) fn take_slot() -> Option<usize> {
    let free = |taken: u32| {
        let slot = (!taken).trailing_zeros() as usize;
        (slot < STREAMS).then(|| taken | 1 << slot)
    };
    let before = TAKEN.fetch_update(Ordering::AcqRel, Ordering::Acquire, free).ok()?;
    Some((!before).trailing_zeros() as usize)
}

/// Gives a slot back.
pub(super) fn free_slot(slot: usize) {
    TAKEN.fetch_and(!(1 << slot), Ordering::AcqRel);
}
