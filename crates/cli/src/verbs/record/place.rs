//! Renames a recording to its output path. This happens immediately if no recording exists there,
//! otherwise at the first event. So a run without events does not replace a recording.

use std::fs::File;
use std::io::{self, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tracewell_record::stream::Stream;

use super::Failures;
use crate::draft::Draft;

/// The file of a recording, and its output path.
pub(super) struct Recording {
    file: File,
    place: Arc<Mutex<Place>>,
    stream: Arc<Stream>,
    /// True if the file has its final name.
    is_committed: bool,
}

/// The output path of a recording, and the failures that occurred while it was renamed.
pub(super) struct Place {
    pub(super) draft: Draft,
    pub(super) failures: Failures,
}

impl Recording {
    /// Creates the log of a stream. The log drains the stream into `file`.
    pub(super) fn new(draft: Draft, file: File, stream: &Arc<Stream>) -> Self {
        let mut place = Place { draft, failures: Failures::default() };
        // If there is no earlier recording, rename the file immediately.
        let is_committed = !place.draft.replaces();
        if is_committed {
            place.commit();
        }
        let (place, stream) = (Arc::new(Mutex::new(place)), Arc::clone(stream));
        Self { file, place, stream, is_committed }
    }

    /// Returns the output path, which is shared with the recording thread.
    pub(super) fn place(&self) -> Arc<Mutex<Place>> {
        Arc::clone(&self.place)
    }
}

impl Place {
    /// Renames the recording to its output path unless this has been done.
    pub(super) fn commit(&mut self) {
        let committed = self.draft.commit_or_keep();
        self.failures.note(committed);
    }
}

/// Locks the output path, even if a thread that held the lock panicked.
pub(super) fn lock(place: &Mutex<Place>) -> MutexGuard<'_, Place> {
    place.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Write for Recording {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // A lane exists once a thread has recorded an event.
        if !self.is_committed && self.stream.image().status().lanes > 0 {
            lock(&self.place).commit();
            self.is_committed = true;
        }
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}
