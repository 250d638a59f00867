//! Follows a stream: waits for events, and runs a thread that writes them to a log.

use std::io::{self, Write};
use std::sync::{Arc, OnceLock};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use tracewell_wire::ProgramEnd;
use tracewell_wire::native::image::at;

use super::log::{CloseError, Log};
use super::stream::Stream;
use super::sync::Ordering;
use super::sys;

/// Maximum sleep of a waiting reader. A recording thread can load the gate just before a reader
/// begins to wait, and commit just after that reader has checked again. In that case the thread
/// does not wake the reader. To prevent this, every event would need a full memory barrier.
const MAX_SLEEP: Duration = Duration::from_millis(50);

/// Delay before a flusher tries again after its sink failed.
const RETRY_DELAY: Duration = Duration::from_millis(20);

impl<W: Write> Log<W> {
    /// Like [`Log::drain`], but if there are no events, waits up to `time` for an event. Waiting
    /// uses no CPU time. The thread that records the next event makes one system call.
    ///
    /// # Errors
    /// Returns an error in the same cases as [`Log::drain`].
    pub fn drain_or_wait(&mut self, stream: &Stream, time: Duration) -> io::Result<u64> {
        let mut result = Ok(0);
        stream.wait(time, || {
            result = self.drain(stream);
            !matches!(result, Ok(0))
        });
        result
    }
}

impl Stream {
    /// Calls `found` until it returns true or until `time` has passed, and waits for events between
    /// the calls. Returns true if the last call of `found` returned true. Waiting uses no CPU time.
    /// The thread that records the next event makes one system call.
    pub fn wait(&self, time: Duration, mut found: impl FnMut() -> bool) -> bool {
        let image = self.image();
        let deadline = Instant::now() + time;
        loop {
            let seen = image.word(at::WAKE).load(Ordering::SeqCst) as u32;
            let left = deadline.saturating_duration_since(Instant::now());
            if !left.is_zero() {
                // Announce the wait before calling `found`: an event recorded after the
                // announcement wakes this thread.
                image.word(at::WAITERS).store(1, Ordering::SeqCst);
                image.make_gate();
            }
            if found() {
                return true;
            }
            if left.is_zero() {
                return false;
            }
            sys::wait(image.word(at::WAKE), seen, left.min(MAX_SLEEP));
        }
    }
}

/// A background thread that writes a stream to a log until it is stopped.
///
/// ```
/// use std::sync::Arc;
/// use tracewell_record::stream::{EventType, Family, Flusher, Log, Stream, StreamOptions, Take};
///
/// const DISK: Family = Family::new(4, "disk");
/// static READ: EventType<(u64,)> = EventType::new(DISK, "read", &["block"]);
///
/// let stream = Arc::new(Stream::anonymous(&StreamOptions::default()).unwrap());
/// stream.start();
/// let flusher = Flusher::start(Arc::clone(&stream), Log::new(Vec::new(), Take::Out)).unwrap();
/// stream.record(&READ, (17,));
/// let log = flusher.stop().unwrap();
/// assert!(log.starts_with(b"TWB1"));
/// ```
#[derive(Debug)]
pub struct Flusher<W> {
    stream: Arc<Stream>,
    /// Set when the thread must stop, with the end of the recorded program if it is known.
    stop: Arc<OnceLock<Option<ProgramEnd>>>,
    thread: JoinHandle<Result<W, CloseError>>,
}

impl<W: Write + Send + 'static> Flusher<W> {
    /// Starts the background thread. If the sink fails, the stream's status reports the error and
    /// the thread tries again. Meanwhile the stream counts the events that do not fit.
    ///
    /// # Errors
    /// Returns an error if the thread cannot be created.
    pub fn start(stream: Arc<Stream>, log: Log<W>) -> io::Result<Self> {
        let stop = Arc::new(OnceLock::new());
        let (shared, stop_requested) = (Arc::clone(&stream), Arc::clone(&stop));
        let builder = thread::Builder::new().name("tracewell flush".into());
        let thread = builder.spawn(move || flush(&shared, log, &stop_requested))?;
        Ok(Self { stream, stop, thread })
    }

    /// Completes the log, ends the thread, and returns the sink.
    ///
    /// # Errors
    /// Returns an error if the log could not be completed.
    ///
    /// # Panics
    /// Panics if the sink panicked.
    pub fn stop(self) -> Result<W, CloseError> {
        self.stop_after(None)
    }

    /// Does the same as [`Flusher::stop`], and writes to the log how the recorded program ended, if
    /// this is known.
    ///
    /// # Errors
    /// Returns an error if the log could not be completed.
    ///
    /// # Panics
    /// Panics if the sink panicked.
    pub fn stop_after(self, end: Option<ProgramEnd>) -> Result<W, CloseError> {
        let _ = self.stop.set(end);
        sys::wake(self.stream.image().word(at::WAKE));
        match self.thread.join() {
            Ok(result) => result,
            Err(panic) => std::panic::resume_unwind(panic),
        }
    }
}

fn flush<W: Write>(
    stream: &Stream,
    mut log: Log<W>,
    stop: &OnceLock<Option<ProgramEnd>>,
) -> Result<W, CloseError> {
    // The thread that stops this one sets `stop` after its own last record. Because `get`
    // synchronises with that store, all earlier records are flushed.
    while stop.get().is_none() {
        match log.drain_or_wait(stream, MAX_SLEEP) {
            Ok(_) => {
                stream.image().resume_if_empty();
            }
            Err(_) => thread::sleep(RETRY_DELAY),
        }
    }
    if let Some(Some(end)) = stop.get() {
        log.program_ended(*end);
    }
    log.close(stream)
}
