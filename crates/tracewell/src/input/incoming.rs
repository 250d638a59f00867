//! The bytes of a stream, to its end or until a flag says that its reading is to end.

use std::fs::File;
use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
#[cfg(unix)]
use std::time::Duration;

#[cfg(unix)]
use super::poll::is_readable;

/// Time between two looks at the flag while nothing comes.
#[cfg(unix)]
const TICK: Duration = Duration::from_millis(100);

/// Bytes that are still read after the flag is set, if they are there: as many as a pipe can hold. What a writer had
/// written before the signal is read then, and a fast writer cannot keep the reader.
const MAX_AFTER_END: usize = 1 << 20;

#[cfg(unix)]
type Source = File;
#[cfg(not(unix))]
type Source = Box<dyn Read + Send>;

/// The bytes of a stream.
pub(super) struct Incoming {
    from: Source,
    /// Ends the reading when it is set.
    ended: Option<Arc<AtomicBool>>,
    /// Bytes that may still be read after that.
    left: usize,
}

impl Incoming {
    /// The bytes of a file that is no regular one.
    pub(super) fn of_file(file: File) -> Self {
        #[cfg(not(unix))]
        let file = Box::new(file);
        Self { from: file, ended: None, left: MAX_AFTER_END }
    }

    /// The bytes of standard input.
    #[cfg(unix)]
    pub(super) fn of_stdin() -> io::Result<Self> {
        use std::os::fd::AsFd;
        Ok(Self::of_file(File::from(io::stdin().as_fd().try_clone_to_owned()?)))
    }

    /// The bytes of standard input.
    #[cfg(not(unix))]
    pub(super) fn of_stdin() -> io::Result<Self> {
        Ok(Self { from: Box::new(io::stdin()), ended: None, left: MAX_AFTER_END })
    }

    /// Lets the stream end when the flag is set.
    pub(super) fn end_with(&mut self, flag: Arc<AtomicBool>) {
        self.ended = Some(flag);
    }

    /// Returns true if there is something to read before the stream is to end.
    #[cfg(unix)]
    fn waits(&self, ended: &AtomicBool) -> io::Result<bool> {
        loop {
            let is_ended = ended.load(Ordering::Relaxed);
            let limit = if is_ended { Duration::ZERO } else { TICK };
            match is_readable(&self.from, limit) {
                Ok(true) => return Ok(true),
                Ok(false) if is_ended => return Ok(false),
                Ok(false) => {}
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Without waiting with a time limit, the flag is seen with the next bytes.
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
