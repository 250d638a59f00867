//! Which lane a thread writes, for each stream and each depth of signal handlers.
//!
//! A thread that records says so in `depth`. A signal handler that interrupts it in the middle of a
//! record finds `depth` raised and uses the writer of the next depth, which has a lane of its own;
//! when the handler returns, everything of the interrupted record is as it was. So a writer is never
//! entered twice, its stores need no locked instructions, and a handler that leaves by a jump only
//! makes its thread use the deeper lanes from then on.
//!
//! The memory is the thread's static one: no allocation at first use and nothing to run at the end
//! of the thread, either of which would be forbidden in a signal handler. A lane whose thread has
//! ended is taken over by the next thread that finds no free one.

use std::cell::Cell;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering, compiler_fence};

use super::writer::Writer;

/// Streams that one process may record into at a time.
pub(super) const STREAMS: usize = 16;

/// How deep signal handlers that record may interrupt each other, the thread itself included.
pub(super) const DEPTHS: usize = 3;

/// The writers of one thread for one stream.
pub(super) struct Writers {
    /// How many records are begun and not complete: the depth that is free.
    depth: AtomicU32,
    levels: [Level; DEPTHS],
}

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

impl Level {
    const fn new() -> Self {
        Self {
            generation: Cell::new(0),
            missed: Cell::new(0),
            misses: Cell::new(0),
            writer: Writer::new(),
        }
    }
}

impl Writers {
    const fn new() -> Self {
        Self { depth: AtomicU32::new(0), levels: [const { Level::new() }; DEPTHS] }
    }
}

std::thread_local! {
    static THREAD: [Writers; STREAMS] = const { [const { Writers::new() }; STREAMS] };
}

/// Runs `record` with the calling thread's writer for the stream in a slot; `None` where handlers
/// interrupt each other too deeply, or the thread is about to end.
#[inline]
pub(super) fn with_writer<R>(slot: usize, record: impl FnOnce(&Level) -> R) -> Option<R> {
    THREAD
        .try_with(|thread| {
            let writers = &thread[slot % STREAMS];
            // Relaxed, with compiler fences: only handlers on this very thread look at it.
            let depth = writers.depth.load(Ordering::Relaxed);
            let level = writers.levels.get(depth as usize)?;
            writers.depth.store(depth + 1, Ordering::Relaxed);
            compiler_fence(Ordering::SeqCst);
            let result = record(level);
            compiler_fence(Ordering::SeqCst);
            writers.depth.store(depth, Ordering::Relaxed);
            Some(result)
        })
        .ok()
        .flatten()
}

/// In the child of a fork the lanes belong to the parent: the thread forgets them.
pub(super) extern "C" fn forget() {
    let _ = THREAD.try_with(|thread| {
        for level in thread.iter().flat_map(|writers| &writers.levels) {
            level.generation.set(0);
        }
    });
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
