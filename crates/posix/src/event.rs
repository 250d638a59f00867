//! Recording an event into every stream that traces this process.
//!
//! Nothing here waits, allocates or takes a lock, and errno stays as it was: signal handlers may record,
//! also in the middle of a record of their own thread. With nothing to do it costs a few loads.

use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed};
use std::sync::atomic::{AtomicU64, Ordering, fence};

use tracewell_record::posix::{Event, Place, Pool};
use tracewell_wire::posix::object::{State, at};
use tracewell_wire::posix::{FLAG_TRUNCATED, RecordHead, StreamPolicy};

use crate::local::{Attached, Local};
use crate::process;
use crate::sys;
use crate::thread::{self, Level, Thread};

/// Records an event of this process. `address` is where it was generated; `cut` says that `data` is
/// not all there was. Ids that were never given out, and those of system events, do nothing.
///
/// Async-signal-safe and wait-free.
#[inline]
pub fn record(id: u32, data: &[u8], cut: bool, address: usize) {
    let Some(local) = Local::current() else { return };
    let mut left = local.attached();
    let (mut wanted, mut missed) = (0_u64, 0_u64);
    while left != 0 {
        let slot = left.trailing_zeros();
        left &= left - 1;
        let Some(stream) = local.stream(slot as usize) else { continue };
        match stream.state() {
            State::Suspended => {}
            _ if stream.leaves_out(id) => {}
            State::Running => wanted |= 1 << slot,
            State::Full => missed |= 1 << slot,
        }
    }
    if wanted | missed != 0 && local.knows(id) {
        store(local, wanted, Arguments { id, data, cut, address });
        each(local, missed, |_, stream| stream.lose(0));
    }
}

/// What the caller of [`record`] gave.
struct Arguments<'a> {
    id: u32,
    data: &'a [u8],
    cut: bool,
    address: usize,
}

/// Stores an event into the streams of some slots.
#[inline(never)]
fn store(local: &Local, wanted: u64, given: Arguments<'_>) {
    let stored = thread::with_depth(local, |thread, level, depth| {
        let stamp = level.clock.now();
        let identity = level.identify(local.process(), depth);
        let flags = if given.cut { FLAG_TRUNCATED } else { 0 };
        let process = identity.process as u32;
        let head = RecordHead { length: 0, id: given.id as u16, flags, process };
        let event = Event { head, stamp, address: given.address as u64, thread: identity.thread };
        let writer = Writer { thread, level, owner: identity.owner };
        each(local, wanted, |slot, stream| stream.store(&writer, slot, event, given.data));
    });
    if stored.is_none() {
        each(local, wanted, |_, stream| stream.pool().lose());
    }
}

/// The thread that records, at its depth of signal handlers.
struct Writer<'a> {
    thread: &'a Thread,
    level: &'a Level,
    owner: u64,
}

#[inline(always)]
fn each(local: &Local, mut slots: u64, mut work: impl FnMut(usize, &'static Attached)) {
    while slots != 0 {
        let slot = slots.trailing_zeros() as usize;
        slots &= slots - 1;
        if let Some(stream) = local.stream(slot) {
            work(slot, stream);
        }
    }
}

impl Attached {
    #[inline(always)]
    fn word(&self, index: usize) -> &'static AtomicU64 {
        &self.words()[index]
    }

    #[inline(always)]
    fn store(&self, writer: &Writer<'_>, slot: usize, mut event: Event, mut data: &[u8]) {
        let max = self.header.max_data as usize;
        if data.len() > max {
            data = &data[..max];
            event.head.flags |= FLAG_TRUNCATED;
        }
        let (place, last) = writer.thread.place(writer.level, slot, self.key);
        if let Some(last) = last {
            event.stamp = self.pool().after(event.stamp, last);
        }
        if !place.push_behind(self.words(), event, data) {
            self.store_elsewhere(place, writer.owner, event, data);
        }
        if self.word(at::FENCES).load(Relaxed) != 0 || self.fences {
            // No barrier of the reader's comes between, so this thread has its own.
            fence(Ordering::SeqCst);
        }
        if self.word(at::WAITERS).load(Relaxed) != 0 {
            self.wake();
        }
    }

    #[cold]
    #[inline(never)]
    fn store_elsewhere(&self, place: &Place, owner: u64, event: Event, data: &[u8]) {
        let pool = self.pool();
        let pushed = place.push(&pool, &event, data, owner, &process::owner_lives);
        self.changed(&pool, pushed.is_ok(), event.stamp);
    }

    /// After a packet was full. Nobody is asked whether the controller lives: that would be a system call, and
    /// [`Local`] finds out when it looks at the registry.
    fn changed(&self, pool: &Pool<'_>, stored: bool, stamp: u64) {
        match (self.header.policy, stored) {
            (StreamPolicy::Loop, true) | (StreamPolicy::UntilFull, true) => {}
            (StreamPolicy::Loop, false) => pool.lose(),
            (StreamPolicy::Flush, true) => {
                if pool.is_half_full() {
                    sys::wake(self.word(at::FLUSH_WAKE));
                }
            }
            (_, false) => self.fill(stamp),
        }
    }

    /// Suspends the stream because there is no room.
    fn fill(&self, stamp: u64) {
        let _ = self.word(at::FULL_STAMP).compare_exchange(0, stamp, AcqRel, Relaxed);
        self.lose(stamp);
        let (running, full) = (State::Running as u64, State::Full as u64);
        let _ = self.word(at::STATE).compare_exchange(running, full, AcqRel, Acquire);
        sys::wake(self.word(at::FLUSH_WAKE));
    }

    /// Counts an event that a full stream has no room for; a stamp of 0 is found out where it matters.
    #[cold]
    fn lose(&self, stamp: u64) {
        self.pool().lose();
        let first = self.word(at::FIRST_LOST);
        if first.load(Relaxed) == 0 {
            let stamp = if stamp == 0 { sys::realtime() } else { stamp };
            let _ = first.compare_exchange(0, stamp, AcqRel, Relaxed);
        }
    }

    #[cold]
    fn wake(&self) {
        if self.word(at::WAITERS).swap(0, Ordering::SeqCst) != 0 {
            sys::wake(self.word(at::WAKE));
        }
    }
}
