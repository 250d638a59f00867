//! Reports the progress of reading an input.

use std::sync::{Mutex, PoisonError};

use crate::model::{Batch, Before, Columns, Flow, Loss, Sink, SinkError, Slices, Trace};

/// The part of an input that was read so far.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Advance {
    /// Total size in bytes of the events that were read. This is slightly less than the number of
    /// input bytes.
    pub bytes: u64,
    /// Number of events that were read.
    pub events: u64,
}

/// A function that is called after each batch.
pub(super) struct Watch(pub(super) Box<dyn FnMut(Advance) + Send>);

impl std::fmt::Debug for Watch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Watch")
    }
}

/// Passes events on to a sink, and reports the progress to the watch.
pub(super) struct Watching<'a> {
    pub(super) sink: &'a mut dyn Sink,
    pub(super) watch: &'a mut Watch,
    pub(super) bytes: u64,
}

/// Returns the total size of a batch's events in bytes.
fn bytes(batch: &Batch<'_>) -> u64 {
    let Some(last) = batch.len().checked_sub(1) else { return 0 };
    let end = batch.records.offset(last) + batch.records.record(last).len() as u64;
    end.saturating_sub(batch.records.offset(0))
}

/// Slices that report the progress when they are decoded.
struct WatchedSlices<'a> {
    slices: &'a dyn Slices,
    watch: Mutex<(&'a mut Watch, Advance)>,
}

impl Slices for WatchedSlices<'_> {
    fn count(&self) -> usize {
        self.slices.count()
    }

    fn threads(&self) -> usize {
        self.slices.threads()
    }

    fn before(&self, trace: &Trace, slice: usize) -> Before {
        self.slices.before(trace, slice)
    }

    fn batch<'a>(&'a self, trace: &Trace, slice: usize, columns: &'a mut Columns) -> Batch<'a> {
        let batch = self.slices.batch(trace, slice, columns);
        let mut watch = self.watch.lock().unwrap_or_else(PoisonError::into_inner);
        let (watch, advance) = &mut *watch;
        advance.bytes += bytes(&batch);
        advance.events += batch.len() as u64;
        (watch.0)(*advance);
        batch
    }
}

impl Sink for Watching<'_> {
    fn events(&mut self, trace: &Trace, batch: &Batch<'_>) -> Flow {
        self.bytes += bytes(batch);
        (self.watch.0)(Advance { bytes: self.bytes, events: trace.events });
        self.sink.events(trace, batch)
    }

    fn takes_slices(&self, trace: &Trace) -> bool {
        self.sink.takes_slices(trace)
    }

    fn slices(&mut self, trace: &Trace, slices: &dyn Slices) -> Flow {
        let advance = Advance { bytes: self.bytes, events: trace.events };
        let watched = WatchedSlices { slices, watch: Mutex::new((&mut *self.watch, advance)) };
        let flow = self.sink.slices(trace, &watched);
        let watched = watched.watch.into_inner().unwrap_or_else(PoisonError::into_inner);
        self.bytes = watched.1.bytes;
        flow
    }

    fn loss(&mut self, trace: &Trace, loss: &Loss) -> Flow {
        self.sink.loss(trace, loss)
    }

    fn flush(&mut self) -> Result<(), SinkError> {
        self.sink.flush()
    }

    fn finish(&mut self, trace: &Trace) -> Result<(), SinkError> {
        self.sink.finish(trace)
    }
}
