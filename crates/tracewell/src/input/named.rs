//! Reads an input so that all its names are known at the first event.
//!
//! A trace may name a context or an object after the events that refer to it. So a command that
//! searches for a name that a user typed reads a file twice. The sink receives the events of the
//! second pass, together with the trace from the first pass. During the second pass, a reused key
//! refers to the context that has the key at the current event.

use super::{Input, InputError};
use crate::model::{Batch, Flow, Loss, Severity, Sink, SinkError, Trace};

impl Input {
    /// Does the same as [`Input::read`], but all names of the input are known at the first event. A
    /// stream can be read only once. If a stream names a context after the first events of this
    /// context, the trace gets a warning.
    ///
    /// # Errors
    /// Returns the errors of [`Input::read`].
    pub fn read_named(&mut self, sink: &mut dyn Sink) -> Result<Trace, InputError> {
        if self.selection.is_all() {
            self.read_all_named(sink)
        } else {
            self.read_selected(sink, true)
        }
    }

    /// Reads all events into a sink, with all names known.
    pub(super) fn read_all_named(&mut self, sink: &mut dyn Sink) -> Result<Trace, InputError> {
        if !self.format().names_follow {
            return self.read_all(sink);
        }
        // A stream cannot be read twice. If names follow their events, add a warning.
        if self.is_stream() {
            let mut trace = self.read_all(sink)?;
            if trace.contexts.has_late_names() {
                let message = "names arrived after events that they belong to, and were not compared with them; \
                               read a file instead of a stream";
                trace.diagnostics.add(Severity::Warning, None, message);
            }
            return Ok(trace);
        }
        let mut known = self.read_all(&mut Nothing)?;
        // Before the second pass, reset each key to its first context.
        known.contexts.rewind();
        self.read_all(&mut Named { known, sink })
    }
}

/// A sink that ignores all events, because only the names in the trace are needed.
struct Nothing;

impl Sink for Nothing {
    fn events(&mut self, _: &Trace, _: &Batch<'_>) -> Flow {
        Flow::Continue(())
    }
}

/// Passes events to a sink, with the trace that an earlier pass has read.
struct Named<'a> {
    known: Trace,
    sink: &'a mut dyn Sink,
}

impl Sink for Named<'_> {
    fn events(&mut self, live: &Trace, batch: &Batch<'_>) -> Flow {
        self.known.contexts.follow(&live.contexts);
        self.sink.events(&self.known, batch)
    }

    fn loss(&mut self, live: &Trace, loss: &Loss) -> Flow {
        self.known.contexts.follow(&live.contexts);
        self.sink.loss(&self.known, loss)
    }

    fn flush(&mut self) -> Result<(), SinkError> {
        self.sink.flush()
    }

    fn finish(&mut self, trace: &Trace) -> Result<(), SinkError> {
        self.sink.finish(trace)
    }
}
