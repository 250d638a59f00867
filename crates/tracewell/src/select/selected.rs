//! Passes the selected events of a trace to another sink.
//!
//! The other sink receives batches of consecutive selected events, so sinks need no code for
//! selections. The other sink also receives all losses, because selected events may be among the
//! lost events.

use std::ops::Range;

use super::{Selection, Selector};
use crate::model::{Batch, Columns, Event, Flow, Loss, Sink, SinkError, Stop, Trace};

/// A sink that passes the selected events to another sink.
///
/// [`Selection::tail`] has no effect here, because the last events are known only after reading.
/// [`Input::select`](crate::input::Input::select) therefore reads twice.
///
/// ```
/// use tracewell::report::info::Census;
/// use tracewell::select::{Selected, Selection};
///
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/threadx/tiny.trx");
/// let selection = Selection { head: Some(5), ..Selection::default() };
/// let mut census = Census::default();
/// let trace = tracewell::open(path)?.read(&mut Selected::new(&mut census, selection))?;
/// assert_eq!(census.summary(&trace).events, 5);
/// # Ok::<(), tracewell::input::InputError>(())
/// ```
#[derive(Debug)]
pub struct Selected<S> {
    selection: Selection,
    selector: Selector,
    receiver: Receiver<S>,
}

impl<S: Sink> Selected<S> {
    /// Creates a sink that passes the selected events to `sink`.
    pub fn new(sink: S, selection: Selection) -> Self {
        let selector = Selector::new(selection.clone());
        Self { selection, selector, receiver: Receiver::new(sink) }
    }

    /// Returns the sink that receives the selected events.
    pub fn sink_mut(&mut self) -> &mut S {
        &mut self.receiver.sink
    }
}

impl<S: Sink> Sink for Selected<S> {
    fn events(&mut self, trace: &Trace, batch: &Batch<'_>) -> Flow {
        Stop::on_error(self.selection.check(trace).map_err(SinkError::not_possible))?;
        // The first selected row that has not been passed on.
        let mut start = 0;
        for (row, event) in batch.events().enumerate() {
            match self.selector.takes(Event::new(trace, &event)) {
                Flow::Continue(true) => {}
                Flow::Continue(false) => {
                    self.receiver.pass(trace, batch, start..row)?;
                    start = row + 1;
                }
                Flow::Break(stop) => {
                    self.receiver.pass(trace, batch, start..row)?;
                    return Flow::Break(stop);
                }
            }
        }
        self.receiver.pass(trace, batch, start..batch.len())
    }

    fn loss(&mut self, trace: &Trace, loss: &Loss) -> Flow {
        self.receiver.sink.loss(trace, loss)
    }

    fn flush(&mut self) -> Result<(), SinkError> {
        self.receiver.sink.flush()
    }

    fn finish(&mut self, trace: &Trace) -> Result<(), SinkError> {
        // A trace without events has not been checked yet.
        self.selection.check(trace).map_err(SinkError::not_possible)?;
        self.receiver.sink.finish(trace)
    }
}

/// A sink that receives parts of batches.
#[derive(Debug)]
pub(super) struct Receiver<S> {
    pub(super) sink: S,
    columns: Columns,
}

impl<S: Sink> Receiver<S> {
    pub(super) fn new(sink: S) -> Self {
        Self { sink, columns: Columns::default() }
    }

    /// Passes the events of these rows to the other sink.
    pub(super) fn pass(&mut self, trace: &Trace, batch: &Batch<'_>, rows: Range<usize>) -> Flow {
        match rows.len() {
            0 => Flow::Continue(()),
            all if all == batch.len() => self.sink.events(trace, batch),
            _ => self.sink.events(trace, &batch.part(rows, &mut self.columns)),
        }
    }
}
