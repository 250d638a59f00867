//! The figures of the page: the object that `analyze --json` prints for the trace. They cover the
//! whole trace, even if the page shows a part of it.

use std::io;

use crate::analysis::machines::Machines;
use crate::analysis::scheduling::{Figures, Wanted};
use crate::analysis::spans::Spans;
use crate::model::{Batch, Flow, Loss, Sink, Trace};
use crate::report::analyses::AllFigures;
use crate::report::machines::MachineFigures;
use crate::report::scheduling::SchedulingFigures;
use crate::report::spans::SpansFigures;

/// The name of the column with the figures.
pub(super) const COLUMN: &str = "figures";

/// A sink for the figures that the tracks do not need.
#[derive(Debug, Default)]
pub(super) struct OtherFigures {
    machines: Machines,
    spans: Spans,
}

impl OtherFigures {
    /// Returns the content of the column: JSON in UTF-8. `figures` are those of the tracks. Lists
    /// of single jobs and waits are left out, because the page has them as tracks.
    pub(super) fn json(self, trace: &Trace, figures: &Figures) -> io::Result<Vec<u8>> {
        let scheduling = SchedulingFigures::new(trace, figures, &Wanted::default());
        let machines = MachineFigures::new(trace, &self.machines.figures(trace));
        let spans = SpansFigures::new(&self.spans.figures());
        Ok(serde_json::to_vec(&AllFigures {
            scheduling,
            machines,
            spans,
            distributions: None,
            why: None,
            range: None,
        })?)
    }
}

impl Sink for OtherFigures {
    fn events(&mut self, trace: &Trace, batch: &Batch<'_>) -> Flow {
        self.machines.events(trace, batch)?;
        self.spans.events(trace, batch)
    }

    fn loss(&mut self, trace: &Trace, loss: &Loss) -> Flow {
        self.machines.loss(trace, loss)?;
        self.spans.loss(trace, loss)
    }
}
