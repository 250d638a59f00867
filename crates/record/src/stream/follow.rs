//! Following a stream: waiting for events, and a thread that flushes them.

use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use tracewell_wire::native::image::at;

use super::log::{CloseError, Log};
use super::stream::Stream;
use super::sync::Ordering;
use super::sys;

/// Longest sleep before a waiting reader looks by itself. A thread that reads the gate just before
/// somebody begins to wait, and commits just after that one looked again, wakes nobody; recording
/// threads would have to pay a full memory barrier for each event to rule that out.
const LOOK: Duration = Duration::from_millis(50);

/// How long a flusher leaves a sink alone that failed.
const PAUSE: Duration = Duration::from_millis(20);

impl<W: Write> Log<W> {
    /// As [`Log::drain`], but waits for events if there are none, at most so long. Waiting takes no
    /// processor time, and costs the thread that records the next event one system call.
    ///
    /// # Errors
    /// As [`Log::drain`].
    pub fn drain_or_wait(&mut self, stream: &Stream, time: Duration) -> io::Result<u64> {
        let mut result = Ok(0);
        stream.wait(time, || {
            result = self.drain(&stream.image(), stream.stamp());
            !matches!(result, Ok(0))
        });
        result
    }
}

impl Stream {
    /// Calls `found` until it says that it found something, and waits for events in between, at most
    /// so long. Waiting takes no processor time, and costs the thread that records the next event
    /// one system call. Returns whether something was found.
    pub fn wait(&self, time: Duration, mut found: impl FnMut() -> bool) -> bool {
        let image = self.image();
        let deadline = Instant::now() + time;
        loop {
            let seen = image.word(at::WAKE).load(Ordering::SeqCst) as u32;
            let left = deadline.saturating_duration_since(Instant::now());
            if !left.is_zero() {
                image.word(at::WAITERS).store(1, Ordering::SeqCst);
                image.make_gate();
            }
            if found() {
                return true;
            }
            if left.is_zero() {
                return false;
            }
            sys::wait(image.word(at::WAKE), seen, left.min(LOOK));
        }
    }
}

/// A thread that writes a stream to a log until it is told to stop.
#[derive(Debug)]
pub struct Flusher<W> {
    stream: Arc<Stream>,
    stop: Arc<AtomicBool>,
    thread: JoinHandle<Result<W, CloseError>>,
}

impl<W: Write + Send + 'static> Flusher<W> {
    /// Starts the thread. Errors of the sink show in the stream's status; the thread tries again,
    /// and the stream counts what finds no room meanwhile.
    ///
    /// # Errors
    /// Where there can be no more threads.
    pub fn start(stream: Arc<Stream>, log: Log<W>) -> io::Result<Self> {
        let stop = Arc::new(AtomicBool::new(false));
        let (shared, told) = (Arc::clone(&stream), Arc::clone(&stop));
        let builder = thread::Builder::new().name("tracewell flush".into());
        let thread = builder.spawn(move || flush(&shared, log, &told))?;
        Ok(Self { stream, stop, thread })
    }

    /// Ends the log and the thread.
    ///
    /// # Errors
    /// Where the log could not be ended.
    ///
    /// # Panics
    /// When the sink panicked.
    pub fn stop(self) -> Result<W, CloseError> {
        self.stop.store(true, Ordering::Release);
        sys::wake(self.stream.image().word(at::WAKE));
        match self.thread.join() {
            Ok(result) => result,
            Err(panic) => std::panic::resume_unwind(panic),
        }
    }
}

fn flush<W: Write>(stream: &Stream, mut log: Log<W>, stop: &AtomicBool) -> Result<W, CloseError> {
    // Acquire: pairs with the release store in `stop`; what was recorded before it is flushed.
    while !stop.load(Ordering::Acquire) {
        match log.drain_or_wait(stream, LOOK) {
            Ok(_) => {
                stream.image().resume_if_empty();
            }
            Err(_) => thread::sleep(PAUSE),
        }
    }
    log.close(&stream.image(), stream.stamp())
}
