//! The figures of one run, for a comparison.

use std::collections::{BTreeMap, BTreeSet};

use super::slices::{Executed, Slices};
use crate::analysis::{Bucket, Measure};
use crate::model::{Batch, ContextKind, Flow, Loss, Rate, Sink, Trace};
use crate::report::measures::Measuring;
use crate::select::{CountsInRange, Covered};

/// The measure and the subject of times.
pub(super) type TimesOf = (Measure, String);

/// A sink that collects the figures of a run.
///
/// ```
/// use tracewell::report::compare::Profiling;
///
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/threadx/tiny.trx");
/// let mut profiling = Profiling::default();
/// let trace = tracewell::open(path)?.read(&mut profiling)?;
/// assert_eq!(profiling.profile(&trace).events, 197);
/// # Ok::<(), tracewell::input::InputError>(())
/// ```
#[derive(Debug)]
pub struct Profiling {
    measuring: Measuring<Executed>,
    events: Slices<u32>,
    count: u64,
    covered: Option<Covered>,
}

impl Default for Profiling {
    fn default() -> Self {
        let measuring = Measuring::with_moments([], Executed::default());
        Self { measuring, events: Slices::default(), count: 0, covered: None }
    }
}

/// The figures of a run.
#[derive(Debug)]
pub struct Profile {
    /// The name of the format.
    pub format: String,
    /// Number of events in the part of the trace that the figures cover.
    pub events: u64,
    /// The duration of this part in ticks.
    pub ticks: u64,
    /// Number of positions with missing events.
    pub gaps: u64,
    /// The rate of the clock; `None` if it is unknown or changes.
    pub(super) rate: Option<Rate>,
    /// Times in ticks.
    pub(super) times: BTreeMap<TimesOf, Vec<Bucket>>,
    /// Execution of each context, in ticks per slice.
    pub(super) executed: Slices<String>,
    /// Number of events of each type per slice.
    pub(super) rates: Slices<String>,
    /// The beginning and the end, in ticks, of the part that the figures cover.
    pub(super) range: (u64, u64),
    /// The names of threads, interrupts and objects. Objects without a name are left out, because
    /// their addresses may differ in each build.
    pub(super) contexts: BTreeSet<String>,
    pub(super) objects: BTreeSet<String>,
}

impl Profiling {
    /// Returns the figures. Call this after the last event of `trace`.
    pub fn profile(self, trace: &Trace) -> Profile {
        let covered = self.covered.unwrap_or_default();
        let range = (covered.from, covered.until.unwrap_or(trace.span));
        let (measures, mut executed) = self.measuring.finish_with(trace);
        executed.finish(range.1);
        let mut times: BTreeMap<TimesOf, Vec<Bucket>> = BTreeMap::new();
        for row in &measures.times {
            // Runs can only be compared by name, so join the times of subjects that have the same
            // name.
            let buckets = times.entry((row.measure, row.subject.name.clone())).or_default();
            buckets.extend(row.times.buckets());
        }
        let name = |context: &crate::model::ContextId| {
            trace.contexts.get(*context).map(|context| context.name.clone())
        };
        let is_shown = |kind| matches!(kind, ContextKind::Thread | ContextKind::Interrupt);
        let contexts = trace.contexts.iter().map(|(_, context)| context);
        let contexts = contexts.filter(|context| is_shown(context.kind));
        let objects = trace.objects.iter().map(|(_, object)| object);
        Profile {
            format: trace.format.to_owned(),
            events: self.count,
            ticks: range.1.saturating_sub(range.0),
            gaps: trace.losses.iter().map(|(_, count)| count.gaps).sum(),
            rate: measures.rate,
            times,
            executed: executed.slices.renamed(|context| name(context).unwrap_or_default()),
            rates: self.events.renamed(|id| trace.schema.label(*id).to_string()),
            range,
            contexts: contexts.map(|context| context.name.clone()).collect(),
            objects: objects
                .filter(|object| !object.name.is_empty())
                .map(|object| match trace.schema.object_kind(object.kind) {
                    Some(kind) => format!("{} {}", kind.label, object.label),
                    None => object.label.clone(),
                })
                .collect(),
        }
    }
}

impl CountsInRange for Profiling {
    fn begin(&mut self, trace: &Trace, from: u64) {
        self.measuring.begin(trace, from);
        self.count = 0;
    }

    fn end(&mut self, covered: Covered) {
        self.measuring.end(covered);
        self.covered = Some(covered);
    }
}

impl Sink for Profiling {
    fn events(&mut self, trace: &Trace, batch: &Batch<'_>) -> Flow {
        self.count += batch.len() as u64;
        for (id, ticks) in batch.columns.id.iter().zip(&batch.columns.ticks) {
            self.events.add(*id, *ticks, 1);
        }
        self.measuring.events(trace, batch)
    }

    fn loss(&mut self, trace: &Trace, loss: &Loss) -> Flow {
        self.measuring.loss(trace, loss)
    }
}
