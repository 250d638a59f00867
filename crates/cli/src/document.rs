//! A JSON document on standard output, which the sinks of several traces write together.

use std::io::{self, BufWriter, Stdout};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tracewell::report::document::DocumentWriter;

use crate::outcome::{Failure, Outcome};
use crate::output::stdout_path;

/// The writer of a document on standard output.
pub(crate) type StdoutWriter = DocumentWriter<BufWriter<Stdout>>;

/// A document, shared by the sinks of a command.
pub(crate) struct Document(Mutex<StdoutWriter>);

impl Document {
    /// Creates a document that states `schema` as the version of its format.
    pub(crate) fn new(schema: u32) -> Self {
        let out = BufWriter::with_capacity(1 << 16, io::stdout());
        Self(Mutex::new(DocumentWriter::new(out, schema)))
    }

    /// Returns the writer. While a sink holds the document, the other sinks wait.
    pub(crate) fn writer(&self) -> MutexGuard<'_, StdoutWriter> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends the document. Returns the worse of `outcome` and the outcome of writing the document.
    pub(crate) fn end(self, outcome: Outcome) -> Outcome {
        let writer = self.0.into_inner().unwrap_or_else(PoisonError::into_inner);
        let ended = writer.end().map_err(|error| Failure::io(stdout_path(), &error));
        ended.map_or_else(|failure| outcome.max(failure.report()), |_| outcome)
    }
}
