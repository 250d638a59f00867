//! The place that a recording takes: at once if nothing is there, otherwise when something was recorded. So
//! a run that records nothing replaces nothing.

use std::fs::File;
use std::io::{self, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tracewell_record::stream::Stream;

use super::Failures;
use crate::draft::Draft;

/// The file of a stream, and its place.
pub(super) struct Recording {
    file: File,
    place: Arc<Mutex<Place>>,
    stream: Arc<Stream>,
    /// Whether the file is known to be in its place.
    is_put: bool,
}

/// The place of a recording, and what went wrong when it was put there.
pub(super) struct Place {
    pub(super) draft: Draft,
    pub(super) failures: Failures,
}

impl Recording {
    /// Begins to write a stream's recording.
    pub(super) fn new(draft: Draft, file: File, stream: &Arc<Stream>) -> Self {
        let mut place = Place { draft, failures: Failures::default() };
        let is_put = !place.draft.replaces();
        if is_put {
            place.put();
        }
        let (place, stream) = (Arc::new(Mutex::new(place)), Arc::clone(stream));
        Self { file, place, stream, is_put }
    }

    /// The place, which both sides share.
    pub(super) fn place(&self) -> Arc<Mutex<Place>> {
        Arc::clone(&self.place)
    }
}

impl Place {
    /// Puts the recording in its place, if it is not there yet.
    pub(super) fn put(&mut self) {
        let put = self.draft.put_or_leave();
        self.failures.note(put);
    }
}

/// A place, also after a thread that had it panicked.
pub(super) fn lock(place: &Mutex<Place>) -> MutexGuard<'_, Place> {
    place.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Write for Recording {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // A lane belongs to a thread that recorded something.
        if !self.is_put && self.stream.image().status().lanes > 0 {
            lock(&self.place).put();
            self.is_put = true;
        }
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}
