//! Recording an event into every stream that traces this process.
//!
//! Nothing here waits, allocates or takes a lock, and errno stays as it was: signal handlers may record,
//! also in the middle of a record of their own thread. With nothing to do it costs a few loads.

use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed};
use std::sync::atomic::{AtomicU64, Ordering};

use tracewell_record::posix::{Event, Pool};
use tracewell_wire::native::{join, split};
use tracewell_wire::posix::object::{State, at};
use tracewell_wire::posix::{FLAG_TRUNCATED, RecordHead, StreamPolicy};

use crate::local::{Attached, Local};
use crate::sys;
use crate::thread::{self, Level};

/// Records an event of this process. `address` is where it was generated; `cut` says that `data` is
/// not all there was. Ids that were never given out, and those of system events, do nothing.
///
/// Async-signal-safe and wait-free.
#[inline]
pub fn record(id: u32, data: &[u8], cut: bool, address: usize) {
    let Some(local) = Local::current() else { return };
    let mut left = local.attached();
    let mut wanted = 0_u64;
    while left != 0 {
        let slot = left.trailing_zeros() as usize;
        left &= left - 1;
        if local.stream(slot).is_some_and(|stream| stream.wants(id)) {
            wanted |= 1 << slot;
        }
    }
    if wanted != 0 && local.knows(id) {
        store(local, wanted, id, data, cut, address);
    }
}

impl Attached {
    /// Whether an event is to be stored, or counted as lost.
    #[inline(always)]
    fn wants(&self, id: u32) -> bool {
        self.state() != State::Suspended && !self.leaves_out(id)
    }

    fn word(&self, index: usize) -> &'static AtomicU64 {
        &self.words()[index]
    }
}

/// Stores an event into the streams of some slots.
#[inline(never)]
fn store(local: &Local, wanted: u64, id: u32, data: &[u8], cut: bool, address: usize) {
    let stored = thread::with_level(|level| {
        let stamp = level.clock.now();
        let process = sys_process(level);
        let flags = if cut { FLAG_TRUNCATED } else { 0 };
        let head = RecordHead { length: 0, id: id as u16, flags, process };
        let event = Event { head, stamp, address: address as u64, thread: sys::pthread() };
        each(local, wanted, |slot, stream| stream.store(level, slot, event, data));
    });
    if stored.is_none() {
        each(local, wanted, |_, stream| {
            stream.word(at::LOST).fetch_add(1, Relaxed);
        });
    }
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

/// The process, which the thread remembers.
#[inline]
fn sys_process(level: &Level) -> u32 {
    let token = crate::local::process_token();
    let (owner, good_for) = level.owner.get();
    if good_for == token {
        return split(owner).0;
    }
    level.owner.set((join(sys::process(), sys::thread()), token));
    sys::process()
}

impl Attached {
    #[inline]
    fn store(&'static self, level: &Level, slot: usize, event: Event, data: &[u8]) {
        let Some(pool) = self.pool() else { return };
        match self.state() {
            State::Running => {}
            State::Full => return self.lose(&pool, event.stamp),
            State::Suspended => return,
        }
        let max = self.header.max_data as usize;
        let data = match data.get(..max) {
            Some(cut) if data.len() > max => {
                return self.push(level, slot, &pool, truncated(event), cut);
            }
            _ => data,
        };
        self.push(level, slot, &pool, event, data);
    }

    #[inline]
    fn push(&self, level: &Level, slot: usize, pool: &Pool<'_>, event: Event, data: &[u8]) {
        let place = level.place(slot, self.key);
        let before = place.packet();
        let pushed = place.push(pool, &event, data, level.owner.get().0, &lives);
        if place.packet() != before || pushed.is_err() {
            self.changed(pool, pushed.is_ok(), event.stamp);
        }
        if self.word(at::WAITERS).load(Relaxed) != 0 {
            self.wake();
        }
    }

    /// After a packet was full.
    #[cold]
    fn changed(&self, pool: &Pool<'_>, stored: bool, stamp: u64) {
        match (self.header.policy, stored) {
            (StreamPolicy::Loop, true) | (StreamPolicy::UntilFull, true) => {}
            (StreamPolicy::Loop, false) => pool.lose(),
            (StreamPolicy::Flush, true) => {
                if pool.is_half_full() {
                    sys::wake(self.word(at::FLUSH_WAKE));
                }
            }
            (_, false) => self.fill(pool, stamp),
        }
    }

    /// Suspends the stream because there is no room.
    fn fill(&self, pool: &Pool<'_>, stamp: u64) {
        let _ = self.word(at::FULL_STAMP).compare_exchange(0, stamp, AcqRel, Relaxed);
        self.lose(pool, stamp);
        let (running, full) = (State::Running as u64, State::Full as u64);
        let _ = self.word(at::STATE).compare_exchange(running, full, AcqRel, Acquire);
        sys::wake(self.word(at::FLUSH_WAKE));
    }

    /// Counts an event that a full stream has no room for.
    #[cold]
    fn lose(&self, pool: &Pool<'_>, stamp: u64) {
        pool.lose();
        let _ = self.word(at::FIRST_LOST).compare_exchange(0, stamp, AcqRel, Relaxed);
    }

    #[cold]
    fn wake(&self) {
        if self.word(at::WAITERS).swap(0, Ordering::SeqCst) != 0 {
            sys::wake(self.word(at::WAKE));
        }
    }
}

fn truncated(mut event: Event) -> Event {
    event.head.flags |= FLAG_TRUNCATED;
    event
}

fn lives(owner: u64) -> bool {
    let (process, thread) = split(owner);
    sys::lives(process, thread)
}
