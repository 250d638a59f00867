//! Records an event into every stream that traces this process.
//!
//! Nothing in this file waits, allocates or takes a lock, and errno is preserved. Signal handlers
//! may record events, even while their thread is recording one. If no stream is running, a call
//! costs only a few loads.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed};

use tracewell_record::posix::{Cursor, Event, Pool};
use tracewell_wire::posix::object::{State, at};
use tracewell_wire::posix::{FLAG_TRUNCATED, RecordHeader, StreamPolicy};

use crate::local::{AttachedStream, TracedProcess};
use crate::process;
use crate::sys;
use crate::thread::{self, Depth, ThreadState, Using};

/// Records a user event into every running stream that traces this process.
///
/// `address` is the address of the instruction that generated the event. `cut` must be true if
/// `data` is only a part of the event's data. A call with an undefined id or the id of a system
/// event has no effect.
///
/// Wait-free and async-signal-safe.
///
/// ```
/// use tracewell_posix::{Attributes, Controller, define, record};
///
/// let controller = Controller::create(0, &Attributes::default())?;
/// let opened = define(b"door opened")?;
/// controller.stream().start();
/// record(opened, b"front", false, 0x1234);
/// record(1000, b"an id that was not defined", false, 0);
///
/// let mut events = std::iter::from_fn(|| controller.try_next().unwrap());
/// let (event, data) = events.find(|(event, _)| event.id == opened).unwrap();
/// assert_eq!((event.address, &data[..]), (0x1234, &b"front"[..]));
/// assert!(events.next().is_none());
/// # Ok::<(), tracewell_posix::Error>(())
/// ```
#[inline]
pub fn record(id: u32, data: &[u8], cut: bool, address: usize) {
    let Some(local) = TracedProcess::current() else { return };
    if local.attached() != 0 {
        store(local, Arguments { id, data, cut, address });
    }
}

/// The arguments of [`record`].
struct Arguments<'a> {
    id: u32,
    data: &'a [u8],
    cut: bool,
    address: usize,
}

/// Stores an event in the attached streams that record it.
#[inline(never)]
fn store(local: &TracedProcess, given: Arguments<'_>) {
    let stored = thread::with_depth(local, |thread, using, level, depth| {
        // Call `choose` before reading the clock: an event that no stream needs then costs only a
        // few loads.
        let (wanted, missed) = choose(local, using, given.id);
        if wanted != 0 {
            let stamp = level.clock.now();
            let identity = level.identify(local.process(), depth);
            let flags = if given.cut { FLAG_TRUNCATED } else { 0 };
            let process = identity.process as u32;
            let head = RecordHeader { length: 0, id: given.id as u16, flags, process };
            let event =
                Event { head, stamp, address: given.address as u64, thread: identity.thread };
            let writer = Writer { thread, level, owner: identity.owner };
            each(local, using, wanted, |slot, stream| {
                stream.store(&writer, slot, event, given.data)
            });
        }
        // A full stream counts the event as lost, but stores nothing.
        each(local, using, missed, |_, stream| stream.lose(0));
    });
    if stored.is_none() {
        // Without a state at this depth, the thread has no cursor, so all streams lose the event.
        thread::without_depth(|using| {
            let (wanted, missed) = choose(local, using, given.id);
            each(local, using, wanted, |_, stream| stream.pool().lose());
            each(local, using, missed, |_, stream| stream.lose(0));
        });
    }
}

/// Returns two sets of slots: the streams that record an event, and the streams that lose it
/// because they are full.
#[inline(always)]
fn choose(local: &TracedProcess, using: &Using, id: u32) -> (u64, u64) {
    let (mut wanted, mut missed) = (0_u64, 0_u64);
    each(local, using, local.attached(), |slot, stream| match stream.state() {
        State::Suspended => {}
        _ if stream.leaves_out(id) => {}
        State::Running => wanted |= 1 << slot,
        State::Full => missed |= 1 << slot,
    });
    // Look up the id only if a stream needs the event.
    if wanted | missed != 0 && local.knows(id) { (wanted, missed) } else { (0, 0) }
}

/// The recording thread at its present depth of nested signal handlers.
struct Writer<'a> {
    thread: &'a ThreadState,
    level: &'a Depth,
    owner: u64,
}

#[inline(always)]
fn each(
    local: &TracedProcess,
    using: &Using,
    mut slots: u64,
    mut work: impl FnMut(usize, &AttachedStream),
) {
    while slots != 0 {
        let slot = slots.trailing_zeros() as usize;
        slots &= slots - 1;
        if let Some(stream) = local.stream(slot, using) {
            work(slot, stream);
        }
    }
}

impl AttachedStream {
    #[inline(always)]
    fn word(&self, index: usize) -> &AtomicU64 {
        &self.words()[index]
    }

    #[inline(always)]
    fn store(&self, writer: &Writer<'_>, slot: usize, mut event: Event, mut data: &[u8]) {
        let max = self.header.max_data as usize;
        if data.len() > max {
            data = &data[..max];
            event.head.flags |= FLAG_TRUNCATED;
        }
        let (cursor, last) = writer.thread.cursor(writer.level, slot, self.key);
        // The thread's last record is in another packet. A later timestamp keeps the two records in
        // order.
        if let Some(last) = last {
            event.stamp = self.pool().after(event.stamp, last);
        }
        // `append` fails if the packet is full, if the thread has no packet, or if the clock was
        // set back.
        if !cursor.append(self.words(), event, data) {
            self.store_elsewhere(cursor, writer.owner, event, data);
        }
        // A wake-up is a system call, so make it only if a reader may be asleep.
        if self.pool().may_have_waiter(self.fences) {
            self.wake();
        }
    }

    #[cold]
    #[inline(never)]
    fn store_elsewhere(&self, cursor: &Cursor, owner: u64, event: Event, data: &[u8]) {
        let pool = self.pool();
        let pushed = cursor.push(&pool, &event, data, owner, &process::owner_is_alive);
        self.changed(&pool, pushed.is_ok(), event.stamp);
    }

    /// Updates the stream's state after a packet has filled up. Does not check if the controller is
    /// alive, because that needs a system call; [`TracedProcess`] checks this when it reads the
    /// registry.
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

    /// Suspends a stream that has no space left.
    fn fill(&self, stamp: u64) {
        let _ = self.word(at::FULL_STAMP).compare_exchange(0, stamp, AcqRel, Relaxed);
        self.lose(stamp);
        let (running, full) = (State::Running as u64, State::Full as u64);
        let _ = self.word(at::STATE).compare_exchange(running, full, AcqRel, Acquire);
        sys::wake(self.word(at::FLUSH_WAKE));
    }

    /// Counts an event for which a full stream has no space. If `stamp` is 0, the current time is
    /// used.
    #[cold]
    fn lose(&self, stamp: u64) {
        self.pool().lose();
        let first = self.word(at::FIRST_LOST);
        // Only the first lost event sets the timestamp. For later events, this load saves the more
        // expensive `compare_exchange`.
        if first.load(Relaxed) == 0 {
            let stamp = if stamp == 0 { sys::realtime() } else { stamp };
            let _ = first.compare_exchange(0, stamp, AcqRel, Relaxed);
        }
    }

    #[cold]
    fn wake(&self) {
        if self.pool().withdraw_readers() {
            sys::wake(self.word(at::WAKE));
        }
    }
}
