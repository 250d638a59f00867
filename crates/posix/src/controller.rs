//! Controllers: the Rust interface to active trace streams.

use std::sync::Arc;
use std::sync::Mutex;
use std::thread::JoinHandle;

use tracewell_wire::ProgramEnd;

use crate::attributes::Attributes;
use crate::error::Error;
use crate::flusher;
use crate::lock;
use crate::status::{EventInfo, Status};
use crate::stream::Stream;
use crate::sys;
use crate::watch::Watch;

/// A controller of an active trace stream. Dropping it shuts down the stream.
///
/// ```
/// use tracewell_posix::{Attributes, Controller, define, record};
///
/// let controller = Controller::create(0, &Attributes::default())?;
/// let pressed = define(b"button pressed")?;
/// record(pressed, b"too early", false, 0); // the stream is suspended
///
/// controller.stream().start();
/// record(pressed, &[3], false, 0);
/// controller.shutdown()?;
///
/// assert!(controller.try_next().is_err()); // a shut down stream cannot be read
/// # Ok::<(), tracewell_posix::Error>(())
/// ```
#[derive(Debug)]
pub struct Controller {
    stream: Arc<Stream>,
    flusher: Mutex<Option<JoinHandle<i32>>>,
    watch: Mutex<Option<Watch>>,
    /// The process that created the controller. In a child process created by `fork`, dropping the
    /// controller does nothing.
    process: u32,
}

/// The result of [`Controller::poll`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Polled<R> {
    /// The value that the callback returned for an event.
    Event(R),
    /// There is no event, and no traced process is alive.
    Abandoned,
    /// There is no event yet. The caller can sleep on the stream's wake word while the low half of
    /// the word equals this value.
    Sleep(u32),
}

impl Controller {
    /// Creates a suspended stream that traces the process with the id `pid`; 0 means this process.
    ///
    /// # Errors
    ///
    /// * EAGAIN: the user already has the maximum number of active streams.
    /// * EINVAL: the attributes specify the flush policy, which needs a log.
    /// * ENOMEM: not enough memory.
    /// * EPERM: no permission to trace the process.
    /// * ESRCH: the process does not exist.
    ///
    /// ```
    /// use tracewell_posix::{Attributes, Controller};
    ///
    /// let unused = i32::MAX; // larger than any process id
    /// let error = Controller::create(unused, &Attributes::default()).unwrap_err();
    /// assert_eq!(error.number(), 3); // ESRCH
    /// ```
    pub fn create(pid: i32, attributes: &Attributes) -> Result<Self, Error> {
        Self::make(pid, attributes, None)
    }

    /// Does the same as [`Controller::create`], with a log that is written to a duplicate of an
    /// open descriptor.
    ///
    /// # Errors
    ///
    /// In addition to the errors of `create`:
    ///
    /// * EBADF: the descriptor is not open for writing.
    /// * EINVAL: the descriptor was opened with `O_APPEND`, or is not a regular file although the
    ///   log policy requires one (every policy except append).
    /// * The error from writing the log header.
    ///
    /// ```
    /// use std::os::fd::AsRawFd;
    /// use tracewell_posix::{Attributes, Controller, RecordedLog, UNNAMED, record};
    ///
    /// let file = tempfile::tempfile()?;
    /// let descriptor = file.as_raw_fd();
    /// let controller = Controller::create_with_log(0, &Attributes::default(), descriptor)?;
    /// controller.stream().start();
    /// record(UNNAMED, b"hello", false, 0);
    /// controller.shutdown()?;
    ///
    /// let log = RecordedLog::open(descriptor)?;
    /// let events = std::iter::from_fn(|| log.next(|event, data| (event.id, data.to_vec())));
    /// assert!(events.into_iter().any(|event| event == (UNNAMED, b"hello".to_vec())));
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn create_with_log(
        pid: i32,
        attributes: &Attributes,
        descriptor: i32,
    ) -> Result<Self, Error> {
        Self::make(pid, attributes, Some(descriptor))
    }

    fn make(pid: i32, attributes: &Attributes, descriptor: Option<i32>) -> Result<Self, Error> {
        let stream = Arc::new(Stream::create(pid, attributes, descriptor)?);
        let controller = Self {
            flusher: Mutex::new(None),
            watch: Mutex::new(None),
            process: sys::process(),
            stream,
        };
        if controller.stream.has_log() {
            *lock(&controller.flusher) = Some(flusher::start(&controller.stream)?);
        }
        Ok(controller)
    }

    /// Returns the stream, which any number of threads can share.
    pub const fn stream(&self) -> &Arc<Stream> {
        &self.stream
    }

    /// Removes the oldest event and returns it with its data, or returns `None` if the stream is
    /// empty.
    ///
    /// # Errors
    ///
    /// EINVAL if the stream was shut down or has a log.
    ///
    /// ```
    /// use tracewell_posix::{Attributes, Controller};
    ///
    /// let controller = Controller::create(0, &Attributes::default())?;
    /// assert_eq!(controller.try_next()?, None);
    /// controller.stream().start();
    /// let (event, _) = controller.try_next()?.unwrap();
    /// assert_eq!(event.id, 2); // POSIX_TRACE_START
    /// # Ok::<(), tracewell_posix::Error>(())
    /// ```
    pub fn try_next(&self) -> Result<Option<(EventInfo, Vec<u8>)>, Error> {
        self.stream.try_next(owned)
    }

    /// Removes the oldest event and returns it with its data, waiting for an event if necessary.
    /// Waits until the time `until` at the latest (nanoseconds since 1970-01-01 UTC). Returns
    /// `None` when no traced process is alive.
    ///
    /// # Errors
    ///
    /// * EINVAL if the stream was shut down or has a log.
    /// * ETIMEDOUT if no event arrived in time.
    /// * EINTR if a signal handler interrupted the wait.
    ///
    /// ```
    /// use tracewell_posix::{Attributes, Controller};
    ///
    /// let controller = Controller::create(0, &Attributes::default())?;
    /// let past = 1; // one nanosecond after 1970 began
    /// assert_eq!(controller.next(Some(past)).unwrap_err().number(), 110); // ETIMEDOUT
    /// # Ok::<(), tracewell_posix::Error>(())
    /// ```
    pub fn next(&self, until: Option<u64>) -> Result<Option<(EventInfo, Vec<u8>)>, Error> {
        loop {
            let seen = match self.poll(owned)? {
                Polled::Event(event) => return Ok(Some(event)),
                Polled::Abandoned => return Ok(None),
                Polled::Sleep(seen) => seen,
            };
            let woken = sys::wait(self.stream.wake_word(), seen, until);
            if let Err(error @ (libc::ETIMEDOUT | libc::EINTR)) = woken {
                return Err(Error(error));
            }
        }
    }

    /// Removes the oldest event and passes it to `copy`, or prepares to wait for one.
    ///
    /// # Errors
    ///
    /// EINVAL if the stream was shut down or has a log.
    pub fn poll<R>(&self, copy: impl FnOnce(EventInfo, &[u64]) -> R) -> Result<Polled<R>, Error> {
        let mut copy = Some(copy);
        let mut give = |info, data: &[u64]| copy.take().map(|copy| copy(info, data));
        if let Some(Some(event)) = self.stream.try_next(&mut give)? {
            return Ok(Polled::Event(event));
        }
        // Prepare before looking again: a record that is stored after this line changes the word.
        let seen = self.stream.prepare_to_wait();
        // Check this before looking again. Otherwise the last process could store a record and end
        // between the two steps.
        let abandoned = self.stream.is_abandoned();
        if let Some(Some(event)) = self.stream.try_next(&mut give)? {
            return Ok(Polled::Event(event));
        }
        if abandoned {
            return Ok(Polled::Abandoned);
        }
        // The thread wakes this reader when the last process has ended.
        lock(&self.watch).get_or_insert_with(|| Watch::start(&self.stream));
        Ok(Polled::Sleep(seen))
    }

    /// Returns the status of the stream, and resets its overrun flags and its flush error.
    ///
    /// ```
    /// use tracewell_posix::{Attributes, Controller};
    ///
    /// let controller = Controller::create(0, &Attributes::default())?;
    /// assert!(!controller.take_status().running);
    /// controller.stream().start();
    /// assert!(controller.take_status().running);
    /// # Ok::<(), tracewell_posix::Error>(())
    /// ```
    pub fn take_status(&self) -> Status {
        self.stream.take_status()
    }

    /// Starts writing all records in the stream to the log, and returns before they are written.
    ///
    /// # Errors
    ///
    /// EINVAL if the stream has no log.
    pub fn flush(&self) -> Result<(), Error> {
        if self.stream.has_log() { flusher::ask(&self.stream) } else { Err(Error::INVALID) }
    }

    /// Returns the number of user events that were stored in the log.
    pub fn logged_events(&self) -> u64 {
        self.stream.log.as_ref().map_or(0, |log| lock(log).events)
    }

    /// Stores how the traced program ended. [`Controller::shutdown`] writes this to the log.
    pub fn program_ended(&self, end: ProgramEnd) {
        if let Some(log) = &self.stream.log {
            lock(log).program_end = Some(end);
        }
    }

    /// Shuts down the stream: stops it, flushes and closes its log, and wakes waiting readers.
    ///
    /// # Errors
    ///
    /// EINVAL if the stream was already shut down; otherwise the first error from writing the log.
    /// In both cases the stream is shut down afterwards.
    pub fn shutdown(&self) -> Result<(), Error> {
        if self.process != sys::process() || !self.stream.end() {
            return Err(Error::INVALID);
        }
        // Stop the stream first, so that the last flush writes all records of the stream.
        self.stream.stop();
        let error =
            lock(&self.flusher).take().map_or(0, |thread| flusher::finish(&self.stream, thread));
        self.stream.withdraw();
        lock(&self.watch).take();
        if error == 0 { Ok(()) } else { Err(Error(error)) }
    }
}

impl Drop for Controller {
    fn drop(&mut self) {
        let _ = self.shutdown();
    }
}

fn owned(info: EventInfo, data: &[u64]) -> (EventInfo, Vec<u8>) {
    let mut bytes: Vec<u8> = data.iter().flat_map(|word| word.to_le_bytes()).collect();
    bytes.truncate(info.length);
    (info, bytes)
}
