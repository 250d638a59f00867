//! Streams as a Rust program holds them.

use std::sync::Arc;
use std::sync::Mutex;
use std::thread::JoinHandle;

use crate::attributes::Attributes;
use crate::error::Error;
use crate::flusher;
use crate::lock;
use crate::status::{EventInfo, Status};
use crate::stream::Core;
use crate::sys;
use crate::watch::Watch;

/// An active stream. Dropping it shuts it down.
#[derive(Debug)]
pub struct Stream {
    core: Arc<Core>,
    flusher: Mutex<Option<JoinHandle<i32>>>,
    watch: Mutex<Option<Watch>>,
    /// The process that made it; in the child of a fork nothing is done at the end.
    process: u32,
}

/// What a wait for an event came to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Waited<R> {
    /// An event.
    Event(R),
    /// There is none, and no process that is traced lives any more.
    Abandoned,
    /// There is none now: sleep at the stream's word while its low half is this.
    Sleep(u32),
}

impl Stream {
    /// Makes a stream that traces the process `pid`, 0 for this one. It is suspended.
    ///
    /// # Errors
    /// EAGAIN: as many active streams as there may be. EINVAL: the policy flush without a log. ENOMEM.
    /// EPERM: this process may not trace that one. ESRCH: there is no such process.
    pub fn create(pid: i32, attributes: &Attributes) -> Result<Self, Error> {
        Self::make(pid, attributes, None)
    }

    /// As [`Stream::create`], with a log that is written to a copy of an open descriptor.
    ///
    /// # Errors
    /// As well: EBADF: not open for writing. EINVAL: opened for appending, or not a regular file with
    /// another policy than append. What writing the header failed with.
    pub fn create_with_log(
        pid: i32,
        attributes: &Attributes,
        descriptor: i32,
    ) -> Result<Self, Error> {
        Self::make(pid, attributes, Some(descriptor))
    }

    fn make(pid: i32, attributes: &Attributes, descriptor: Option<i32>) -> Result<Self, Error> {
        let core = Arc::new(Core::create(pid, attributes, descriptor)?);
        let stream = Self {
            flusher: Mutex::new(None),
            watch: Mutex::new(None),
            process: sys::process(),
            core,
        };
        if stream.core.has_log() {
            *lock(&stream.flusher) = Some(flusher::start(&stream.core)?);
        }
        Ok(stream)
    }

    /// The stream.
    pub const fn core(&self) -> &Arc<Core> {
        &self.core
    }

    /// Takes the oldest event out; `None` where there is none now.
    ///
    /// # Errors
    /// EINVAL after the end of the stream, and where it has a log.
    pub fn try_next(&self) -> Result<Option<(EventInfo, Vec<u8>)>, Error> {
        self.core.try_next(owned)
    }

    /// Takes the oldest event out, and waits for one if there is none, until a time (nanoseconds since
    /// 1970) where one is given. `None` when no process that is traced lives any more.
    ///
    /// # Errors
    /// EINVAL after the end of the stream, and where it has a log; ETIMEDOUT; EINTR when a signal handler
    /// ran.
    pub fn next(&self, until: Option<u64>) -> Result<Option<(EventInfo, Vec<u8>)>, Error> {
        loop {
            let seen = match self.poll(owned)? {
                Waited::Event(event) => return Ok(Some(event)),
                Waited::Abandoned => return Ok(None),
                Waited::Sleep(seen) => seen,
            };
            let woken = sys::wait(self.core.wake_word(), seen, until);
            if let Err(error @ (libc::ETIMEDOUT | libc::EINTR)) = woken {
                return Err(Error(error));
            }
        }
    }

    /// Takes the oldest event out, or prepares for waiting.
    ///
    /// # Errors
    /// EINVAL after the end of the stream, and where it has a log.
    pub fn poll<R>(&self, copy: impl FnOnce(EventInfo, &[u64]) -> R) -> Result<Waited<R>, Error> {
        let mut copy = Some(copy);
        let mut give = |info, data: &[u64]| copy.take().map(|copy| copy(info, data));
        if let Some(Some(event)) = self.core.try_next(&mut give)? {
            return Ok(Waited::Event(event));
        }
        let seen = self.core.prepare_to_wait();
        let abandoned = self.core.is_abandoned();
        if let Some(Some(event)) = self.core.try_next(&mut give)? {
            return Ok(Waited::Event(event));
        }
        if abandoned {
            return Ok(Waited::Abandoned);
        }
        lock(&self.watch).get_or_insert_with(|| Watch::start(&self.core));
        Ok(Waited::Sleep(seen))
    }

    /// How it stands; what is said of losses and of the error is said once.
    pub fn take_status(&self) -> Status {
        self.core.take_status()
    }

    /// Begins to write all present records to the log.
    ///
    /// # Errors
    /// EINVAL without a log.
    pub fn flush(&self) -> Result<(), Error> {
        if self.core.has_log() { flusher::ask(&self.core) } else { Err(Error::INVALID) }
    }

    /// Ends the stream: stops it, flushes and closes its log, wakes who waits.
    ///
    /// # Errors
    /// What writing the log failed with; EINVAL when it was shut down before. The stream has ended all the
    /// same.
    pub fn shutdown(&self) -> Result<(), Error> {
        if self.process != sys::process() || !self.core.end() {
            return Err(Error::INVALID);
        }
        self.core.stop();
        let error =
            lock(&self.flusher).take().map_or(0, |thread| flusher::finish(&self.core, thread));
        self.core.withdraw();
        lock(&self.watch).take();
        if error == 0 { Ok(()) } else { Err(Error(error)) }
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        let _ = self.shutdown();
    }
}

fn owned(info: EventInfo, data: &[u64]) -> (EventInfo, Vec<u8>) {
    let mut bytes: Vec<u8> = data.iter().flat_map(|word| word.to_le_bytes()).collect();
    bytes.truncate(info.length);
    (info, bytes)
}
