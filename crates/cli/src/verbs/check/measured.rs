//! Derives the figures of a trace for rules with thresholds, in the pass that also checks its
//! events.

use std::io::Write;

use tracewell::check::Rules;
use tracewell::model::{Batch, Flow, Loss, Sink, SinkError, Stop, Trace};
use tracewell::report::measures::Measuring;
use tracewell::select::{Ranged, Selected, Selection};

use super::printer::FailurePrinter;

/// A sink that passes the selected events to the rules, and derives the figures of the selection as
/// `analyze` does.
pub(super) struct Measured<'r, W> {
    checked: Selected<FailurePrinter<'r, W>>,
    /// The analyses; `None` after the end of the trace.
    measuring: Option<Ranged<Measuring>>,
    /// The first element is true if the rules need no further events, and the second if the
    /// analyses need none.
    is_complete: [bool; 2],
}

impl<'r, W: Write> Measured<'r, W> {
    pub(super) fn new(
        printer: FailurePrinter<'r, W>,
        rules: &Rules,
        selection: &Selection,
    ) -> Self {
        let measuring = Ranged::new(Measuring::new(rules.figures()), selection.clone());
        let checked = Selected::new(printer, selection.clone());
        Self { checked, measuring: Some(measuring), is_complete: [false; 2] }
    }
}

/// Passes events to a sink until it is complete. Fails if the sink fails.
fn pass(sink: &mut dyn Sink, is_complete: &mut bool, trace: &Trace, batch: &Batch<'_>) -> Flow {
    if *is_complete {
        return Flow::Continue(());
    }
    match sink.events(trace, batch) {
        Flow::Break(Stop::Complete) => {
            *is_complete = true;
            Flow::Continue(())
        }
        other => other,
    }
}

impl<W: Write> Sink for Measured<'_, W> {
    fn events(&mut self, trace: &Trace, batch: &Batch<'_>) -> Flow {
        let [of_rules, of_figures] = &mut self.is_complete;
        pass(&mut self.checked, of_rules, trace, batch)?;
        if let Some(measuring) = &mut self.measuring {
            pass(measuring, of_figures, trace, batch)?;
        }
        match self.is_complete {
            [true, true] => Flow::Break(Stop::Complete),
            _ => Flow::Continue(()),
        }
    }

    fn loss(&mut self, trace: &Trace, loss: &Loss) -> Flow {
        let [of_rules, of_figures] = self.is_complete;
        if !of_rules {
            self.checked.loss(trace, loss)?;
        }
        match self.measuring.as_mut().filter(|_| !of_figures) {
            Some(measuring) => measuring.loss(trace, loss),
            None => Flow::Continue(()),
        }
    }

    fn flush(&mut self) -> Result<(), SinkError> {
        self.checked.flush()
    }

    fn finish(&mut self, trace: &Trace) -> Result<(), SinkError> {
        if let Some(mut measuring) = self.measuring.take() {
            measuring.finish(trace)?;
            let measures = measuring.into_inner().measures(trace);
            self.checked.sink_mut().set_measures(measures);
        }
        self.checked.finish(trace)
    }
}
