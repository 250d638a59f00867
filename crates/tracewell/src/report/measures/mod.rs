//! The figures of a trace for rules and comparisons: shares, levels, counts, and the distributions
//! of the times of tasks and objects.
//!
//! The analyses derive the figures. `names` contains the names of their subjects. `values` contains
//! the values for the thresholds of [`crate::check`].

mod names;
mod values;

use std::collections::HashMap;

use crate::analysis::machines::{Figures as MachineFigures, Machines};
use crate::analysis::scheduling::{
    Expected, Figures, LongestInversion, Mark, Moments, Scheduling, WINDOWS, Wanted,
};
use crate::analysis::{Distribution, Measure, Position};
use crate::check::{self, Figure};
use crate::model::{Batch, Clock, Flow, Loss, Meaning, Rate, Sink, Trace};
use crate::select::{CountsInRange, Covered};

/// A sink that derives the figures of a trace for thresholds.
///
/// ```
/// use tracewell::report::measures::Measuring;
///
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/threadx/tiny.trx");
/// let mut measuring = Measuring::new([]);
/// let trace = tracewell::open(path)?.read(&mut measuring)?;
/// assert!(!measuring.measures(&trace).times.is_empty());
/// # Ok::<(), tracewell::input::InputError>(())
/// ```
#[derive(Debug)]
pub struct Measuring<M: Moments = ()> {
    scheduling: Scheduling<M>,
    machines: Machines,
    pairs: Vec<(String, String)>,
    periods: Vec<(String, u64)>,
}

impl Measuring {
    /// Creates a sink. `figures` are the figures of thresholds. They specify the pairs of marks and
    /// the periods of tasks.
    pub fn new<'a>(figures: impl IntoIterator<Item = &'a Figure>) -> Self {
        Self::with_moments(figures, ())
    }

    /// Returns the figures. Call this after the last event of `trace`.
    pub fn measures(self, trace: &Trace) -> Measures {
        self.finish_with(trace).0
    }
}

impl<M: Moments> Measuring<M> {
    /// Creates a sink that also passes each moment to `moments`.
    pub fn with_moments<'a>(figures: impl IntoIterator<Item = &'a Figure>, moments: M) -> Self {
        let mut wanted = Wanted { distributions: true, ..Wanted::default() };
        let (mut pairs, mut periods) = (Vec::new(), Vec::new());
        let mut expected: HashMap<String, Expected, _> = HashMap::default();
        for figure in figures {
            match (figure.measure, &figure.names[..]) {
                (check::Measure::Between, [from, to]) => {
                    wanted.pairs.push((mark(from.as_str()), mark(to.as_str())));
                    pairs.push((from.as_str().to_owned(), to.as_str().to_owned()));
                }
                (check::Measure::Wait | check::Measure::Held, [_, _]) => wanted.uses = true,
                (check::Measure::Jitter, [task]) => {
                    let known = expected.entry(task.as_str().to_owned()).or_default();
                    let period = *known.period.get_or_insert(figure.time.unwrap_or_default());
                    periods.push((task.as_str().to_owned(), period));
                }
                _ => {}
            }
        }
        wanted.expected = expected;
        let machines = Machines::default().with_distributions();
        Self { scheduling: Scheduling::with_moments(wanted, moments), machines, pairs, periods }
    }

    /// Ends the measurement, and returns the figures and the consumer of moments. Call this after
    /// the last event of `trace`.
    pub fn finish_with(self, trace: &Trace) -> (Measures, M) {
        let Self { scheduling, machines, pairs, periods } = self;
        let (figures, moments) = scheduling.finish(trace);
        let measures = Measures::new(trace, &figures, &machines.figures(trace), &pairs);
        (Measures { periods, ..measures }, moments)
    }
}

fn mark(text: &str) -> Mark {
    match text.parse() {
        Ok(number) => Mark::Number(number),
        Err(_) => Mark::Label(text.to_owned()),
    }
}

impl<M: Moments> CountsInRange for Measuring<M> {
    fn begin(&mut self, trace: &Trace, from: u64) {
        self.scheduling.begin(trace, from);
        self.machines.begin(from);
    }

    fn end(&mut self, covered: Covered) {
        self.scheduling.end(covered.until);
        self.machines.end(covered.until);
    }
}

impl<M: Moments> Sink for Measuring<M> {
    fn events(&mut self, trace: &Trace, batch: &Batch<'_>) -> Flow {
        self.scheduling.events(trace, batch)?;
        self.machines.events(trace, batch)
    }

    fn loss(&mut self, trace: &Trace, loss: &Loss) -> Flow {
        self.scheduling.loss(trace, loss)?;
        self.machines.loss(trace, loss)
    }
}

/// The figures of a trace with the names of their subjects.
#[derive(Debug)]
pub struct Measures {
    /// The distributions of times in ticks, one per measure and subject.
    pub times: Vec<Times>,
    /// Shares of time, and used shares of stacks.
    pub shares: Vec<Share>,
    /// The levels of queues and pools.
    pub levels: Vec<Level>,
    /// Per mutex, the number of requests that waited for an owner with a lower priority; `None` if
    /// the trace has no priorities.
    pub inversions: Option<Vec<Occurrences>>,
    /// The number of missed deadlines per task; `None` if the trace does not record them.
    pub missed: Option<Vec<Occurrences>>,
    /// The rate of the clock; `None` if it is unknown, or if it changes.
    pub rate: Option<Rate>,
    /// The clock, for times since the first event.
    clock: Clock,
    /// The tasks of the trace, for messages about names.
    tasks: Vec<Subject>,
    /// For each task name, the period in nanoseconds that thresholds specify.
    periods: Vec<(String, u64)>,
}

/// The subject of a figure: a task, an object, an interrupt or a machine.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Subject {
    /// Its name, as shown in tables.
    pub name: String,
    /// Its key as text. Rules may use the key instead of the name.
    pub key: Option<String>,
    /// The names of the two marks, if the figure is the time between marks.
    pub marks: Option<(String, String)>,
    /// The part of the subject to which the figure is limited: one task that waits for an object or
    /// holds it, or the signal of messages.
    pub part: Option<Part>,
}

/// A part of a subject. Like a [`Subject`], it has a name and a key.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Part {
    /// Its name, as shown in tables.
    pub name: String,
    /// Its key as text.
    pub key: Option<String>,
}

/// The times of a task or an object.
#[derive(Clone, Debug)]
pub struct Times {
    /// The kind of the times.
    pub measure: Measure,
    /// The task or object.
    pub subject: Subject,
    /// The times in ticks.
    pub times: Distribution,
}

/// A share of a whole.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Share {
    /// The kind of share: [`check::Measure::Load`] or [`check::Measure::Stack`].
    pub measure: check::Measure,
    /// The task; interrupts and idle time have the names `interrupts` and `idle`.
    pub subject: Subject,
    /// The length in nanoseconds of the window with the maximum load; `None` for the whole trace.
    pub window: Option<u64>,
    /// The share in millionths.
    pub millionths: u64,
    /// The place of the largest share of several; `None` if there is only one share.
    pub at: Option<Place>,
}

/// The place of a figure in the trace.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Place {
    /// Number of the event that shows the figure, if one event shows it.
    pub seq: Option<u64>,
    /// Ticks since the first event. For a window, the end of the window.
    pub ticks: u64,
}

impl From<Position> for Place {
    fn from(at: Position) -> Self {
        Self { seq: Some(at.seq), ticks: at.ticks }
    }
}

/// The number of occurrences at a mutex or of a task.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Occurrences {
    /// The mutex or task.
    pub subject: Subject,
    /// The number of occurrences.
    pub count: u64,
    /// The longest of them in ticks, and the event with which it ended, if the analysis stores it.
    pub longest: Option<LongestInversion>,
}

/// The highest and the lowest level of a queue or a pool.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Level {
    /// The queue or pool.
    pub subject: Subject,
    /// The highest level that any event contains.
    pub most: Option<u64>,
    /// The lowest level that any event contains.
    pub least: Option<u64>,
    /// The first event that contains the highest level.
    pub most_at: Option<Position>,
    /// The first event that contains the lowest level.
    pub least_at: Option<Position>,
}

impl Measures {
    fn new(
        trace: &Trace,
        figures: &Figures,
        machines: &MachineFigures,
        pairs: &[(String, String)],
    ) -> Self {
        let scheduled = figures.distributions.iter().map(|measured| Times {
            measure: measured.measure,
            subject: names::of_scheduling(trace, measured.subject, pairs),
            times: measured.times.clone(),
        });
        let machine_times = machines.distributions.iter().map(|measured| Times {
            measure: measured.measure,
            subject: names::of_route(trace, &measured.subject),
            times: measured.times.clone(),
        });
        let levels = machines.levels.iter().map(|level| Level {
            subject: names::named(trace, &level.object),
            most: level.most,
            least: level.least,
            most_at: level.most_at,
            least_at: level.least_at,
        });
        let mutexes = figures.resources.iter().filter(|resource| resource.is_mutex);
        let inversions = mutexes.map(|mutex| Occurrences {
            subject: names::of_resource(trace, mutex.key, mutex.kind),
            count: mutex.figures.inversions,
            longest: mutex.figures.longest_inversion,
        });
        let missed = figures.tasks.iter().filter_map(|task| {
            let (subject, jobs) = (names::of_task(trace, task.context), task.jobs?);
            Some(Occurrences { subject, count: jobs.deadline_misses, longest: None })
        });
        let records_misses = trace.schema.has_meaning(Meaning::DeadlineMissed);
        Self {
            times: scheduled.chain(machine_times).collect(),
            shares: loads(trace, figures).into_iter().chain(stacks(trace, figures)).collect(),
            levels: levels.collect(),
            // If priorities are unknown, a count of 0 would be wrong.
            inversions: figures.priorities_known.then(|| inversions.collect()),
            missed: records_misses.then(|| missed.collect()),
            // After a change, a clock has no single rate.
            rate: trace.clock.rate.filter(|_| trace.clock.changes.len() < 2),
            clock: trace.clock.clone(),
            tasks: figures.tasks.iter().map(|task| names::of_task(trace, task.context)).collect(),
            periods: Vec::new(),
        }
    }
}

/// Returns the fraction `part / whole` in millionths; `None` if `whole` is 0 or the result exceeds
/// 64 bits.
fn millionths(part: u64, whole: u64) -> Option<u64> {
    // Use 128 bits, because the product may exceed 64 bits.
    let share = (u128::from(part) * 1_000_000).checked_div(u128::from(whole))?;
    u64::try_from(share).ok()
}

// Rules refer to the windows of the analysis.
const _: () = {
    let ([a, b, c], [x, y, z]) = (check::LOAD_WINDOWS, WINDOWS);
    assert!(a == x && b == y && c == z);
};

fn loads(trace: &Trace, figures: &Figures) -> Vec<Share> {
    let of_each = figures.span.end.saturating_sub(figures.span.start);
    let load = |subject, part, whole, window| {
        let measure = check::Measure::Load;
        Some(Share { measure, subject, window, millionths: millionths(part, whole)?, at: None })
    };
    let tasks = figures.tasks.iter().filter_map(|task| {
        load(names::of_task(trace, task.context), task.execution?.ticks, of_each, None)
    });
    // Idle time is known only if the times of cores are known. The load of interrupts does not
    // depend on these times.
    let cores = &figures.cores;
    let of_all = of_each.saturating_mul(u64::from(trace.cpus.max(1)));
    let idle = cores.iter().map(|core| core.idle).fold(0, u64::saturating_add);
    let idle = (!cores.is_empty())
        .then(|| load(names::alone("idle"), idle, of_each.saturating_mul(cores.len() as u64), None))
        .flatten();
    let interrupts = &figures.interrupts;
    let whole = load(names::alone("interrupts"), interrupts.ticks, of_all, None);
    let ends = interrupts.most_within_until;
    let windows = WINDOWS.iter().zip(interrupts.most_within).zip(ends).filter_map(|(of, end)| {
        let (window, most) = of;
        let share = load(names::alone("interrupts"), most?, *window, Some(*window))?;
        Some(Share { at: Some(Place { seq: None, ticks: end }), ..share })
    });
    let has_interrupts = interrupts.brackets > 0 || interrupts.ticks > 0;
    let interrupts = whole.into_iter().chain(windows).filter(|_| has_interrupts);
    tasks.chain(idle).chain(interrupts).collect()
}

fn stacks(trace: &Trace, figures: &Figures) -> Vec<Share> {
    let stacks = figures.stacks.iter().filter_map(|stack| {
        Some(Share {
            measure: check::Measure::Stack,
            subject: names::of_task(trace, stack.context),
            window: None,
            millionths: millionths(stack.used?, stack.size?)?,
            at: stack.at.map(Place::from),
        })
    });
    stacks.collect()
}
