//! Reads a stream to its end or until a flag is set.

use std::fs::File;
use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
#[cfg(unix)]
use std::time::Duration;

#[cfg(unix)]
use super::poll::is_readable;

/// Interval at which the flag is checked while no bytes arrive.
#[cfg(unix)]
const TICK: Duration = Duration::from_millis(100);

/// Maximum number of available bytes that the reader still reads after the flag is set. A pipe
/// holds at most this number of bytes, so the reader gets all bytes that were written before the
/// signal, and a fast writer cannot keep the reader busy.
const MAX_AFTER_END: usize = 1 << 20;

#[cfg(unix)]
type Source = File;
#[cfg(not(unix))]
type Source = Box<dyn Read + Send>;

/// The bytes of a stream.
pub(super) struct Incoming {
    from: Source,
    /// The flag that ends the stream when it is set.
    ended: Option<Arc<AtomicBool>>,
    /// Number of bytes that may still be read after the flag is set.
    left: usize,
}

impl Incoming {
    /// Returns the bytes of a pipe, a device or another file that cannot be mapped.
    pub(super) fn of_file(file: File) -> Self {
        #[cfg(not(unix))]
        let file = Box::new(file);
        Self { from: file, ended: None, left: MAX_AFTER_END }
    }

    /// Returns the bytes of standard input.
    #[cfg(unix)]
    pub(super) fn of_stdin() -> io::Result<Self> {
        use std::os::fd::AsFd;
        Ok(Self::of_file(File::from(io::stdin().as_fd().try_clone_to_owned()?)))
    }

    /// Returns the bytes of standard input.
    #[cfg(not(unix))]
    pub(super) fn of_stdin() -> io::Result<Self> {
        Ok(Self { from: Box::new(io::stdin()), ended: None, left: MAX_AFTER_END })
    }

    /// Ends the stream when the flag is set.
    pub(super) fn end_with(&mut self, flag: Arc<AtomicBool>) {
        self.ended = Some(flag);
    }

    /// Waits for bytes. Returns true if there are bytes to read. Returns false if the flag is set
    /// and no bytes are available.
    #[cfg(unix)]
    fn waits(&self, ended: &AtomicBool) -> io::Result<bool> {
        loop {
            let is_ended = ended.load(Ordering::Relaxed);
            let limit = if is_ended { Duration::ZERO } else { TICK };
            match is_readable(&self.from, limit) {
                Ok(true) => return Ok(true),
                Ok(false) if is_ended => return Ok(false),
                Ok(false) => {}
                // The signal that sets the flag also interrupts the wait.
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// This version waits without a time limit, so it notices the flag only after the next bytes.
    #[cfg(not(unix))]
    fn waits(&self, ended: &AtomicBool) -> io::Result<bool> {
        Ok(!ended.load(Ordering::Relaxed))
    }
}

impl Read for Incoming {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let Some(ended) = &self.ended else { return self.from.read(buffer) };
        if self.left == 0 || !self.waits(ended)? {
            return Ok(0);
        }
        let is_ended = ended.load(Ordering::Relaxed);
        let read = self.from.read(buffer)?;
        if is_ended {
            self.left = self.left.saturating_sub(read);
        }
        Ok(read)
    }
}
