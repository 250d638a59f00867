//! The figures of the page: the object that `analyze --json` prints for the trace. They cover the
//! whole trace, even if the page shows only a part.

use std::io;

use crate::analysis::machines;
use crate::analysis::scheduling::{Figures, Wanted};
use crate::analysis::spans::Spans;
use crate::analysis::tracks::{MachineTrackBuilder, MachineTracks};
use crate::model::{Batch, Flow, Loss, Sink, Trace};
use crate::report::analyses::AllFigures;
use crate::report::machines::MachineFigures;
use crate::report::scheduling::SchedulingFigures;
use crate::report::spans::SpansFigures;

/// The name of the column with the figures.
pub(super) const COLUMN: &str = "figures";

/// Maximum total number of changes, steps and messages of machines and queues.
const MAX_ENTRIES: u64 = 1 << 20;

/// Returns the content of the column as JSON in UTF-8. The JSON has no lists of single jobs and
/// waits, because the page has them as tracks.
pub(super) fn json(
    trace: &Trace,
    scheduling: &Figures,
    machines: &machines::Figures,
    spans: Spans,
) -> io::Result<Vec<u8>> {
    let scheduling = SchedulingFigures::new(trace, scheduling, &Wanted::default());
    let machines = MachineFigures::new(trace, machines);
    let spans = Some(SpansFigures::new(&spans.figures()));
    let all =
        AllFigures { scheduling, machines, spans, distributions: None, why: None, range: None };
    Ok(serde_json::to_vec(&all)?)
}

/// A sink that collects the figures of machines, queues and spans, and the tracks of machines and
/// queues, for a page that contains the whole trace.
#[derive(Clone, Debug)]
pub(super) struct OtherFigures {
    machines: MachineTrackBuilder,
    spans: Spans,
}

impl Default for OtherFigures {
    fn default() -> Self {
        Self { machines: MachineTrackBuilder::new(MAX_ENTRIES), spans: Spans::default() }
    }
}

impl OtherFigures {
    /// Returns the content of the column, and the tracks. `figures` are the figures of the
    /// scheduler.
    pub(super) fn finish(
        self,
        trace: &Trace,
        figures: &Figures,
    ) -> io::Result<(Vec<u8>, MachineTracks)> {
        let tracks = self.machines.finish(trace);
        Ok((json(trace, figures, &tracks.figures, self.spans)?, tracks))
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
