//! Checks that no received byte was lost without being counted.

use tracewell::input::{Input, Settings};
use tracewell_wire::arrivals::{ArrivalKind, Arrivals};

use super::{Counts, MAX_READS};
use crate::buffer::Batch;
use crate::gauge::Progress;
use crate::{Shown, intake, store};

/// Everything that a source received.
#[derive(Default)]
pub(super) struct Model {
    pub(super) received: Vec<u8>,
    pub(super) opened: u64,
    /// The bytes that were shown so far.
    pub(super) shown: Walk,
}

/// The files of a source, and the result of storing.
pub(super) struct Stored {
    pub(super) file: Vec<u8>,
    pub(super) arrivals: Vec<u8>,
    pub(super) result: store::Stored,
}

/// A position among the received bytes.
#[derive(Default)]
pub(super) struct Walk {
    position: usize,
    skipped: u64,
}

impl Walk {
    /// Consumes bytes, which must equal the received bytes at this position.
    pub(super) fn take(&mut self, bytes: &[u8], received: &[u8]) {
        let end = self.position + bytes.len();
        assert_eq!(received.get(self.position..end), Some(bytes), "bytes at {}", self.position);
        self.position = end;
    }

    /// Skips dropped bytes.
    pub(super) fn skip(&mut self, bytes: u32) {
        self.position += bytes as usize;
        self.skipped += u64::from(bytes);
    }
}

/// Checks that the size of a batch is bounded.
pub(super) fn batch(batch: &Batch, capacity: usize) {
    assert!(batch.bytes.len() <= capacity, "{} bytes", batch.bytes.len());
    // A batch contains at most `MAX_READS` read marks, at most as many connection marks, and the
    // marks for the most recently dropped bytes.
    assert!(batch.marks.len() <= 2 * MAX_READS + 2, "{} marks", batch.marks.len());
}

impl Model {
    /// Checks the counts of the receiving end.
    pub(super) fn check_received(&self, counts: intake::Counts, progress: Progress, dropped: u64) {
        let received = self.received.len() as u64;
        assert_eq!((counts.received, counts.connections), (received, self.opened));
        assert_eq!(progress.received, received);
        assert!(progress.dropped <= dropped && dropped <= received);
    }

    /// Checks that every received byte is in the file or was counted as dropped. The file of
    /// arrivals must state the positions of the stored and of the dropped bytes. After a write
    /// error, the file of arrivals describes only the bytes before the error.
    pub(super) fn check_stored(&self, stored: &Stored, dropped: u64) {
        let Stored { file, arrivals, result } = stored;
        assert_eq!(result.written, file.len() as u64);
        assert_eq!(result.written + result.failed + dropped, self.received.len() as u64);
        let (mut walk, mut time) = (Walk::default(), 0);
        let entries = Arrivals::new(arrivals).expect("the file has a header");
        for (at, entry) in entries {
            assert!(time <= entry.time_ns, "time goes back");
            time = entry.time_ns;
            match entry.kind {
                ArrivalKind::Bytes => {
                    // The position of the entry must be correct, because the bytes of the file are
                    // read there.
                    let bytes = &file[at as usize..][..entry.bytes as usize];
                    walk.take(bytes, &self.received);
                }
                ArrivalKind::Dropped => walk.skip(entry.bytes),
                _ => assert_eq!(entry.bytes, 0),
            }
        }
        assert_eq!(walk.position as u64, result.written + walk.skipped);
        if result.error.is_none() {
            assert_eq!((walk.position, walk.skipped), (self.received.len(), dropped));
        }
    }

    /// Checks that every received byte was shown or reported as a gap.
    pub(super) fn check_shown(&self, dropped: u64) {
        assert_eq!((self.shown.position, self.shown.skipped), (self.received.len(), dropped));
    }

    /// Checks that the view of a stream without gaps has the same events as the stream decoded as a
    /// whole, and that the view of a stream with gaps has losses.
    pub(super) fn check_decoded(&self, settings: &Settings, shown: &Shown, counts: (u64, u64)) {
        // If there is no trace, either no format was recognised, or all bytes were dropped.
        let Some(trace) = shown.trace.as_ref().filter(|_| !shown.refused) else { return };
        if self.shown.skipped > 0 {
            assert!(counts.1 > 0 && trace.diagnostics.worst().is_some(), "no loss");
            return;
        }
        if settings.format.is_none() {
            return;
        }
        let mut whole = Counts::default();
        let input = Input::from_bytes("all", self.received.clone(), settings.clone());
        input.and_then(|mut input| input.read(&mut whole)).expect("the view has decoded it");
        assert_eq!(counts, whole.get(), "events and losses");
    }
}
