//! Reading with the names of the whole input: for who compares names with what a user typed.
//!
//! A trace may name a context or an object after events that are about it. A file is read twice then: the sink gets the events of
//! the second reading with the trace of the first. A stream can be read once only.

use super::{Input, InputError};
use crate::model::{Batch, Flow, Loss, Severity, Sink, Trace};

impl Input {
    /// Does [`Input::read`] with the names that the whole input has, from its first event on. A stream is read once: if
    /// a context was named after its first events, the trace that is returned says so.
    ///
    /// # Errors
    /// As [`Input::read`].
    pub fn read_named(&mut self, sink: &mut dyn Sink) -> Result<Trace, InputError> {
        if !self.format().names_follow {
            return self.read(sink);
        }
        if self.size().is_none() {
            let mut trace = self.read(sink)?;
            if trace.contexts.has_late_names() {
                let message = "names came after events that they belong to, which were compared without \
                               them: a file, unlike a stream, is read twice";
                trace.diagnostics.add(Severity::Warning, None, message);
            }
            return Ok(trace);
        }
        let known = self.read(&mut Nothing)?;
        self.read(&mut Named { known: &known, sink })
    }
}

/// Wants all events, and nothing of them.
struct Nothing;

impl Sink for Nothing {
    fn events(&mut self, _: &Trace, _: &Batch<'_>) -> Flow {
        Flow::Continue(())
    }
}

/// Passes events on with the trace of an earlier reading.
struct Named<'a> {
    known: &'a Trace,
    sink: &'a mut dyn Sink,
}

impl Sink for Named<'_> {
    fn events(&mut self, _: &Trace, batch: &Batch<'_>) -> Flow {
        self.sink.events(self.known, batch)
    }

    fn loss(&mut self, _: &Trace, loss: &Loss) -> Flow {
        self.sink.loss(self.known, loss)
    }
}
