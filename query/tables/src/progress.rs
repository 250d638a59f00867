//! The progress of a reading.

use std::fmt;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use tracewell::input::{Advance, Input};
use tracewell::model::{Batch, Flow, Loss, Sink, SinkError, Slices, Stop, Trace};

/// The progress of a reading.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Progress {
    /// Number of bytes that were read. It never decreases.
    pub bytes: u64,
    /// Total number of bytes of the reading; `None` in the first reading of a compressed trace. A
    /// trace whose names follow its events is read twice, so its bytes count twice.
    pub total: Option<u64>,
}

/// A function that receives the progress after each batch of events. `Break` ends the reading.
#[derive(Clone)]
pub(crate) struct Watch(Arc<dyn Fn(Progress) -> ControlFlow<()> + Send + Sync>);

impl Watch {
    pub(crate) fn new(watch: impl Fn(Progress) -> ControlFlow<()> + Send + Sync + 'static) -> Self {
        Self(Arc::new(watch))
    }

    /// Reports the progress of the next reading of an input. `total` is the number of bytes of the
    /// reading, if it is known. Returns the state of this reading, which also records whether the
    /// reading must end.
    pub(crate) fn watch(&self, input: &mut Input, total: Option<u64>) -> Arc<Watched> {
        let watched = Arc::new(Watched::default());
        let (watch, state) = (self.clone(), Arc::clone(&watched));
        input.watch(move |advance| {
            let bytes = state.add(advance);
            // A file can grow while it is read.
            let total = total.map(|total| total.max(bytes));
            state.is_complete.store(total == Some(bytes), Ordering::Relaxed);
            if (watch.0)(Progress { bytes, total }).is_break() {
                state.is_ended.store(true, Ordering::Relaxed);
            }
        });
        watched
    }

    /// Reports the end of a reading, unless the last report was already complete.
    pub(crate) fn end(&self, watched: &Watched) -> ControlFlow<()> {
        if watched.is_complete.load(Ordering::Relaxed) {
            return ControlFlow::Continue(());
        }
        let bytes = watched.bytes();
        (self.0)(Progress { bytes, total: Some(bytes) })
    }
}

impl fmt::Debug for Watch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Watch")
    }
}

/// The state of a watched reading.
#[derive(Debug, Default)]
pub(crate) struct Watched {
    parts: Mutex<Parts>,
    /// True if the reading shall end.
    is_ended: AtomicBool,
    /// True if the last report counted all bytes.
    is_complete: AtomicBool,
}

impl Watched {
    /// Adds the progress of a pass. Returns the number of bytes in all passes.
    fn add(&self, advance: Advance) -> u64 {
        let mut parts = self.parts.lock().unwrap_or_else(PoisonError::into_inner);
        if advance.events <= parts.pass.events {
            parts.before += parts.pass.bytes;
        }
        parts.pass = advance;
        parts.bytes()
    }

    /// Returns the number of bytes in all passes.
    pub(crate) fn bytes(&self) -> u64 {
        self.parts.lock().unwrap_or_else(PoisonError::into_inner).bytes()
    }

    /// Returns true if the reading was stopped early.
    pub(crate) fn is_ended(&self) -> bool {
        self.is_ended.load(Ordering::Relaxed)
    }
}

/// The bytes read in all passes over an input.
#[derive(Debug, Default)]
struct Parts {
    /// Number of bytes in earlier passes.
    before: u64,
    /// The current pass, whose counts begin at 0.
    pass: Advance,
}

impl Parts {
    const fn bytes(&self) -> u64 {
        self.before + self.pass.bytes
    }
}

/// Passes events on to a sink until the function that receives the progress ends the reading.
pub(crate) struct Until<'a> {
    pub(crate) sink: &'a mut dyn Sink,
    pub(crate) watched: &'a Watched,
}

impl Until<'_> {
    fn flow(&self) -> Flow {
        match self.watched.is_ended() {
            true => Flow::Break(Stop::Complete),
            false => Flow::Continue(()),
        }
    }
}

impl Sink for Until<'_> {
    fn events(&mut self, trace: &Trace, batch: &Batch<'_>) -> Flow {
        self.flow()?;
        self.sink.events(trace, batch)
    }

    fn loss(&mut self, trace: &Trace, loss: &Loss) -> Flow {
        self.sink.loss(trace, loss)
    }

    fn takes_slices(&self, trace: &Trace) -> bool {
        self.sink.takes_slices(trace)
    }

    fn slices(&mut self, trace: &Trace, slices: &dyn Slices) -> Flow {
        self.flow()?;
        self.sink.slices(trace, slices)
    }

    fn flush(&mut self) -> Result<(), SinkError> {
        self.sink.flush()
    }

    fn finish(&mut self, trace: &Trace) -> Result<(), SinkError> {
        self.sink.finish(trace)
    }
}
