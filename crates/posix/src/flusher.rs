//! The thread that writes the log of a stream.
//!
//! It flushes when somebody asks, at the end, and under the policy flush when half of the stream is used
//! and every 200 ms while there is something. It takes no signals.

use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::Ordering::Acquire;
use std::thread::{self, JoinHandle};

use tracewell_wire::posix::object::{State, at};
use tracewell_wire::posix::{self as wire, StreamPolicy};

use crate::error::Error;
use crate::lock;
use crate::log_writer::LogWriter;
use crate::names::NameFile;
use crate::stream::{Core, Inner, stop_record};
use crate::sys;

/// Nanoseconds between flushes that nobody asked for.
const REGULAR: u64 = 200_000_000;
/// Records that are taken before others may look at the stream.
const AT_ONCE: usize = 256;

/// Begins to flush a stream with a log.
pub(crate) fn start(core: &Arc<Core>) -> Result<JoinHandle<i32>, Error> {
    let core = Arc::clone(core);
    let thread = sys::without_signals(|| {
        let name = "tracewell flush".to_owned();
        thread::Builder::new().name(name).spawn(move || work(&core))
    });
    thread.map_err(|_| Error(libc::ENOMEM))
}

/// Asks for a flush of what is there; what failed before this returned.
pub(crate) fn ask(core: &Core) -> Result<(), Error> {
    let mut inner = core.inner();
    inner.flush.wanted += 1;
    inner.flush.flushing = true;
    drop(inner);
    sys::wake(core.word(at::FLUSH_WAKE));
    Ok(())
}

/// Flushes the rest, closes the log; the first error that nobody asked about.
pub(crate) fn finish(core: &Core, thread: JoinHandle<i32>) -> i32 {
    core.inner().flush.ending = true;
    sys::wake(core.word(at::FLUSH_WAKE));
    thread.join().unwrap_or(libc::EIO)
}

fn work(core: &Core) -> i32 {
    let Some(log) = &core.log else { return 0 };
    loop {
        let seen = core.word(at::FLUSH_WAKE).load(Acquire) as u32;
        let (due, ending) = is_due(core);
        if due {
            flush(core, &mut lock(log), ending);
        }
        if ending {
            return close(core, &mut lock(log));
        }
        if !due {
            let until = sys::realtime() + REGULAR;
            let timed_out = sys::wait(core.word(at::FLUSH_WAKE), seen, Some(until));
            if timed_out == Err(libc::ETIMEDOUT) && is_regular_due(core) {
                flush(core, &mut lock(log), false);
            }
        }
    }
}

fn is_due(core: &Core) -> (bool, bool) {
    let inner = core.inner();
    let asked = inner.flush.wanted > inner.flush.done;
    let automatic =
        flushes_itself(core) && (core.pool().is_half_full() || core.state() == State::Full);
    (asked || automatic || inner.flush.ending, inner.flush.ending)
}

fn flushes_itself(core: &Core) -> bool {
    core.pool().policy() == StreamPolicy::Flush
}

/// Whether there is something besides what the last flush itself left.
fn is_regular_due(core: &Core) -> bool {
    let mut inner = core.inner();
    let pool = core.pool();
    flushes_itself(core) && Some(pool.progress()) != inner.flush.seen && !inner.is_empty(&pool)
}

/// Writes what is there now.
fn flush(core: &Core, log: &mut LogWriter, everything: bool) {
    let wanted = begin(core);
    drain(core, log, wanted, everything);
    log.sync(NameFile(core.names().as_fd()));
    conclude(core, log, wanted);
}

/// Says that a flush begins; how many are asked for now.
fn begin(core: &Core) -> u64 {
    let mut inner = core.inner();
    inner.flush.flushing = true;
    core.note(&inner, wire::FLUSH_START, &[]);
    inner.flush.wanted
}

/// Moves what is there into the log.
fn drain(core: &Core, log: &mut LogWriter, wanted: u64, everything: bool) {
    let mut until = sys::realtime();
    // A process that stores without end, with stamps of the past, does not keep a flush from its end.
    let mut rounds = core.pool().geometry().total() / AT_ONCE;
    while rounds > 0 && move_some(core, log, until) {
        rounds -= 1;
        let inner = core.inner();
        if inner.flush.wanted > wanted || everything {
            until = sys::realtime();
        }
    }
}

/// Says how a flush ended, and remembers whether something came that it did not write.
fn conclude(core: &Core, log: &mut LogWriter, wanted: u64) {
    let mut inner = core.inner();
    let pool = core.pool();
    // In this order: what is recorded after the first line differs from it, what was before is found.
    let [recorded, _] = pool.progress();
    let written = inner.is_empty(&pool);
    report(core, &mut inner, log);
    core.note(&inner, wire::FLUSH_STOP, &[]);
    // The controller's own records are made under the lock that is held here.
    let [_, own] = pool.progress();
    let flush = &mut inner.flush;
    flush.done = flush.done.max(wanted);
    flush.flushing = flush.wanted > flush.done;
    flush.seen = written.then_some([recorded, own]);
}

/// Puts some records into the log; whether there may be more up to a time.
fn move_some(core: &Core, log: &mut LogWriter, until: u64) -> bool {
    let mut inner = core.inner();
    for _ in 0..AT_ONCE {
        let Some(taken) = core.take(&mut inner) else { return false };
        log.introduce(taken.head.id.into(), NameFile(core.names().as_fd()));
        let words = [taken.stamp, taken.address, taken.thread];
        if log.has_ended() || log.push(taken.head, words, inner.data()).is_err() {
            end_of_room(core, &mut inner, log);
        }
        if taken.stamp > until {
            return false;
        }
    }
    true
}

/// The log is full for good: its last record is a stop, and the stream rests.
fn end_of_room(core: &Core, inner: &mut Inner, log: &mut LogWriter) {
    if !log.has_ended() {
        let stop = stop_record(sys::realtime());
        log.store(stop.head, [stop.stamp, 0, 0], &[1]);
        log.end_here();
        core.rest(inner);
    }
    inner.flush.log_full = true;
    inner.flush.log_overrun = true;
}

/// Tells the stream's status what became of the log.
fn report(core: &Core, inner: &mut Inner, log: &mut LogWriter) {
    let error = log.take_error();
    if error != 0 {
        if inner.flush.error == 0 {
            inner.flush.error = error;
        }
        core.note(inner, wire::ERROR, &error.to_ne_bytes());
    }
    inner.flush.log_full |= log.full;
    inner.flush.log_overrun |= std::mem::take(&mut log.overrun);
}

fn close(core: &Core, log: &mut LogWriter) -> i32 {
    let status = core.take_status();
    log.close(status.for_log(), NameFile(core.names().as_fd()));
    match status.flush_error {
        0 => log.take_error(),
        error => error,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attributes::Attributes;
    use tracewell_wire::posix::UNNAMED;

    #[test]
    fn an_event_between_the_drain_and_the_end_of_a_flush_makes_the_next_flush_due() {
        let attributes = Attributes::default();
        let file = tempfile::tempfile().unwrap();
        let descriptor = std::os::fd::AsRawFd::as_raw_fd(&file);
        // Without its thread, in whose place the test is.
        let core = Core::create(0, &attributes, Some(descriptor)).unwrap();
        core.start();
        let mut log = lock(core.log.as_ref().unwrap());
        crate::record(UNNAMED, b"before", false, 0);
        let wanted = begin(&core);
        drain(&core, &mut log, wanted, false);
        crate::record(UNNAMED, b"between", false, 0);
        conclude(&core, &mut log, wanted);
        assert!(is_regular_due(&core));
        flush(&core, &mut log, false);
        assert!(!is_regular_due(&core), "a flush leaves only what it says itself");
        drop(log);
        core.withdraw();
    }
}
