//! Reports how far an input has been read.

use crate::model::{Batch, Flow, Loss, Sink, SinkError, Trace};

/// The part of an input that was read so far.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Advance {
    /// Number of bytes of the events that were read. This is a little less than the number of bytes
    /// of the input.
    pub bytes: u64,
    /// Number of events.
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

impl Sink for Watching<'_> {
    fn events(&mut self, trace: &Trace, batch: &Batch<'_>) -> Flow {
        let first = batch.records.offset(0);
        self.bytes += batch.records.offset(batch.len()).saturating_sub(first);
        (self.watch.0)(Advance { bytes: self.bytes, events: trace.events });
        self.sink.events(trace, batch)
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
