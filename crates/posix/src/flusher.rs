//! The thread that writes a stream's log.
//!
//! It flushes on request and when the stream is shut down. With the flush policy, it also flushes
//! when the stream is half full, and every 200 ms if there are records to write. The thread blocks
//! all signals.

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
use crate::stream::{ControllerState, Stream, stop_record};
use crate::sys;

/// Interval between automatic flushes, in nanoseconds.
const FLUSH_INTERVAL_NS: u64 = 200_000_000;
/// Number of records to write before the stream's lock is briefly released.
const BATCH: usize = 256;

/// Starts the flusher thread of a stream with a log.
pub(crate) fn start(stream: &Arc<Stream>) -> Result<JoinHandle<i32>, Error> {
    let stream = Arc::clone(stream);
    let thread = sys::without_signals(|| {
        let name = "tracewell flush".to_owned();
        thread::Builder::new().name(name).spawn(move || work(&stream))
    });
    thread.map_err(|_| Error(libc::ENOMEM))
}

/// Requests a flush of everything recorded so far.
pub(crate) fn ask(stream: &Stream) -> Result<(), Error> {
    let mut inner = stream.inner();
    inner.flush.wanted += 1;
    inner.flush.flushing = true;
    // The flusher needs the lock as soon as it wakes.
    drop(inner);
    sys::wake(stream.word(at::FLUSH_WAKE));
    Ok(())
}

/// Flushes the remaining records and closes the log. Returns the first error that no status call
/// has reported, or 0.
pub(crate) fn finish(stream: &Stream, thread: JoinHandle<i32>) -> i32 {
    stream.inner().flush.ending = true;
    sys::wake(stream.word(at::FLUSH_WAKE));
    thread.join().unwrap_or(libc::EIO)
}

fn work(stream: &Stream) -> i32 {
    let Some(log) = &stream.log else { return 0 };
    loop {
        // Load the word before the checks. A request after this line changes the word, so that
        // `wait` returns at once.
        let seen = stream.word(at::FLUSH_WAKE).load(Acquire) as u32;
        let (due, ending) = is_due(stream);
        if due {
            flush(stream, &mut lock(log), ending);
        }
        // Close the log only after the last flush.
        if ending {
            return close(stream, &mut lock(log));
        }
        if !due {
            let until = sys::realtime() + FLUSH_INTERVAL_NS;
            let timed_out = sys::wait(stream.word(at::FLUSH_WAKE), seen, Some(until));
            if timed_out == Err(libc::ETIMEDOUT) && is_regular_due(stream) {
                flush(stream, &mut lock(log), false);
            }
        }
    }
}

fn is_due(stream: &Stream) -> (bool, bool) {
    let inner = stream.inner();
    let asked = inner.flush.wanted > inner.flush.done;
    let automatic =
        flushes_itself(stream) && (stream.pool().is_half_full() || stream.state() == State::Full);
    (asked || automatic || inner.flush.ending, inner.flush.ending)
}

fn flushes_itself(stream: &Stream) -> bool {
    stream.pool().policy() == StreamPolicy::Flush
}

/// Returns true if the stream has the flush policy and contains new records. The start and stop
/// records of the last flush do not count as new.
fn is_regular_due(stream: &Stream) -> bool {
    let mut inner = stream.inner();
    let pool = stream.pool();
    flushes_itself(stream) && Some(pool.progress()) != inner.flush.seen && !inner.is_empty(&pool)
}

/// Writes all records that are in the stream now.
fn flush(stream: &Stream, log: &mut LogWriter, everything: bool) {
    let wanted = begin(stream);
    drain(stream, log, wanted, everything);
    log.sync(NameFile(stream.names().as_fd()));
    conclude(stream, log, wanted);
}

/// Records the start of a flush in the stream. Returns the number of flushes requested so far.
fn begin(stream: &Stream) -> u64 {
    let mut inner = stream.inner();
    inner.flush.flushing = true;
    stream.note(&inner, wire::FLUSH_START, &[]);
    inner.flush.wanted
}

/// Moves the records that are in the stream now to the log.
fn drain(stream: &Stream, log: &mut LogWriter, wanted: u64, everything: bool) {
    let mut until = sys::realtime();
    // A process that continually stores records with old timestamps must not prevent the end of a
    // flush.
    let mut rounds = stream.pool().geometry().total() / BATCH;
    while rounds > 0 && move_some(stream, log, until) {
        rounds -= 1;
        let inner = stream.inner();
        if inner.flush.wanted > wanted || everything {
            until = sys::realtime();
        }
    }
}

/// Records the end of a flush, and the stream's progress if the flush wrote all records.
fn conclude(stream: &Stream, log: &mut LogWriter, wanted: u64) {
    let mut inner = stream.inner();
    let pool = stream.pool();
    // The order of these two lines matters. If a record is stored before the first line runs, the
    // second line finds the record. If it is stored later, the progress values differ at the next
    // comparison.
    let [recorded, _] = pool.progress();
    let written = inner.is_empty(&pool);
    report(stream, &mut inner, log);
    stream.note(&inner, wire::FLUSH_STOP, &[]);
    // The controller stores its own records under the lock that is held here.
    let [_, own] = pool.progress();
    let flush = &mut inner.flush;
    flush.done = flush.done.max(wanted);
    flush.flushing = flush.wanted > flush.done;
    flush.seen = written.then_some([recorded, own]);
}

/// Moves some records to the log. Returns true if there may be more records with timestamps up to
/// `until`.
fn move_some(stream: &Stream, log: &mut LogWriter, until: u64) -> bool {
    let mut inner = stream.inner();
    for _ in 0..BATCH {
        let Some(taken) = stream.take(&mut inner) else { return false };
        // A log contains the name of an event type before the first record with its id.
        log.introduce(taken.head.id.into(), NameFile(stream.names().as_fd()));
        let words = [taken.stamp, taken.address, taken.thread];
        if log.has_ended() || log.push(taken.head, words, inner.data()).is_err() {
            end_of_room(stream, &mut inner, log);
        }
        // The reader delivers records in order of time, so all remaining records are later than
        // `until`.
        if taken.stamp > until {
            return false;
        }
    }
    true
}

/// Ends a log that is permanently full: stores a stop record, and suspends the stream.
fn end_of_room(stream: &Stream, inner: &mut ControllerState, log: &mut LogWriter) {
    if !log.has_ended() {
        let stop = stop_record(sys::realtime());
        // `push` has kept space for this record.
        log.store(stop.head, [stop.stamp, 0, 0], &[1]);
        log.end_here();
        stream.suspend(inner);
    }
    inner.flush.log_full = true;
    inner.flush.log_overrun = true;
}

/// Copies the log's errors and flags to the stream's status.
fn report(stream: &Stream, inner: &mut ControllerState, log: &mut LogWriter) {
    let error = log.take_error();
    if error != 0 {
        // Keep the first error, because it is the cause of later ones.
        if inner.flush.error == 0 {
            inner.flush.error = error;
        }
        stream.note(inner, wire::ERROR, &error.to_ne_bytes());
    }
    if stream.is_cut() {
        inner.flush.error = libc::EIO;
    }
    inner.flush.log_full |= log.full;
    inner.flush.log_overrun |= std::mem::take(&mut log.overrun);
}

fn close(stream: &Stream, log: &mut LogWriter) -> i32 {
    let status = stream.take_status();
    log.close(status.for_log(), NameFile(stream.names().as_fd()));
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
        // The stream has no flusher thread: the test does the flusher's work.
        let stream = Stream::create(0, &attributes, Some(descriptor)).unwrap();
        stream.start();
        let mut log = lock(stream.log.as_ref().unwrap());
        crate::record(UNNAMED, b"before", false, 0);
        let wanted = begin(&stream);
        drain(&stream, &mut log, wanted, false);
        crate::record(UNNAMED, b"between", false, 0);
        conclude(&stream, &mut log, wanted);
        assert!(is_regular_due(&stream));
        flush(&stream, &mut log, false);
        assert!(
            !is_regular_due(&stream),
            "a flush leaves only the records that it generates itself"
        );
        drop(log);
        stream.withdraw();
    }
}
