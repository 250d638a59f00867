//! The sections into which the text of figures is divided. Determines which of them a trace
//! contains.

use crate::analysis::Range;
use crate::analysis::machines;
use crate::analysis::scheduling::{Expected, Figures};
use crate::analysis::spans::AllSpans;

/// A section of the figures.
///
/// ```
/// use tracewell::report::analyses::Section;
///
/// assert_eq!(Section::named("stacks"), Some(Section::Stacks));
/// assert_eq!(Section::ALL.map(Section::name)[0], "tasks");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Section {
    /// The use of the processor time: tasks, interrupts, idle and unknown time.
    Tasks,
    /// How each core spent its time.
    Cores,
    /// Jobs of tasks, and their timing.
    Jobs,
    /// Mutexes, semaphores and other objects that tasks wait for.
    Locks,
    /// Sources of interrupts, and their highest load.
    Interrupts,
    /// Servers and their budgets.
    Servers,
    /// Stacks of tasks.
    Stacks,
    /// State machines: time in states, transitions, events that they did not take.
    Machines,
    /// Messages between objects.
    Messages,
    /// Fill levels of queues and pools.
    Queues,
    /// Timers.
    Timers,
    /// Spans of instrumented programs.
    Spans,
    /// Distributions of all times.
    Distributions,
}

impl Section {
    /// All sections, in the order of the text.
    pub const ALL: [Self; 13] = [
        Self::Tasks,
        Self::Cores,
        Self::Jobs,
        Self::Locks,
        Self::Interrupts,
        Self::Servers,
        Self::Stacks,
        Self::Machines,
        Self::Messages,
        Self::Queues,
        Self::Timers,
        Self::Spans,
        Self::Distributions,
    ];

    /// Returns the name of the section, as a user types it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Tasks => "tasks",
            Self::Cores => "cores",
            Self::Jobs => "jobs",
            Self::Locks => "locks",
            Self::Interrupts => "interrupts",
            Self::Servers => "servers",
            Self::Stacks => "stacks",
            Self::Machines => "machines",
            Self::Messages => "messages",
            Self::Queues => "queues",
            Self::Timers => "timers",
            Self::Spans => "spans",
            Self::Distributions => "distributions",
        }
    }

    /// Returns the section that has this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|section| section.name() == name)
    }

    /// Returns a noun phrase for the events that a trace must contain so that the section has
    /// figures.
    pub(super) const fn needs(self) -> &'static str {
        match self {
            Self::Tasks => "events of tasks",
            Self::Cores => "events that show which task runs",
            Self::Jobs => "events for the release and the completion of jobs",
            Self::Locks => "requests for mutexes, semaphores or event flags",
            Self::Interrupts => "events at the start and the end of interrupts",
            Self::Servers => "events about the budgets of servers",
            Self::Stacks => "the stack pointers or the stack use of tasks",
            Self::Machines => "events about the steps of state machines",
            Self::Messages => "events that post and take messages",
            Self::Queues => "events that put items into queues or pools, or take them",
            Self::Timers => "events that start or stop timers, or show that they expired",
            Self::Spans => "the spans of a program that uses `tracing`",
            Self::Distributions => "events that begin and end a time",
        }
    }

    /// Returns true if there are figures for the section.
    pub(super) fn has_figures(
        self,
        figures: &Figures,
        machines: &machines::Figures,
        spans: &AllSpans,
    ) -> bool {
        let mut tasks = figures.tasks.iter();
        match self {
            Self::Tasks => !figures.tasks.is_empty(),
            Self::Cores => !figures.cores.is_empty(),
            Self::Jobs => tasks.any(|task| {
                let jobs = task.jobs.as_ref();
                jobs.is_some_and(|jobs| jobs.activations + jobs.completions > 0)
                    || task.timing.expected != Expected::default()
            }),
            Self::Locks => {
                !figures.resources.is_empty()
                    || tasks.any(|task| task.locks.requests > 0 || !task.waits.is_empty())
            }
            Self::Interrupts => !figures.interrupts.sources.is_empty(),
            Self::Servers => !figures.servers.is_empty(),
            Self::Stacks => !figures.stacks.is_empty(),
            Self::Machines => !machines.machines.is_empty(),
            Self::Messages => !machines.flows.is_empty(),
            Self::Queues => !machines.levels.is_empty(),
            Self::Timers => !machines.timers.is_empty(),
            Self::Spans => !spans.names.is_empty() || spans.unknown > 0,
            Self::Distributions => has_times(figures, machines, spans),
        }
    }
}

/// Returns true if the trace shows times, even if they were not collected as distributions.
fn has_times(figures: &Figures, machines: &machines::Figures, spans: &AllSpans) -> bool {
    let of_tasks = figures.tasks.iter().filter_map(|task| task.jobs.as_ref());
    let of_tasks = of_tasks.flat_map(|jobs| {
        [jobs.response, jobs.start_latency, jobs.release_gap, jobs.completion_gap]
    });
    let of_objects = figures.resources.iter().flat_map(|resource| {
        let locks = &resource.figures;
        [locks.wait, locks.hold]
    });
    let of_passages = figures.passages.iter().flat_map(|(_, _, of_tasks)| of_tasks);
    let of_passages = of_passages.map(|passage| passage.raw);
    let of_flows = machines.flows.iter().flat_map(|flow| [flow.waiting, flow.step]);
    let of_spans = spans.names.iter().map(|span| span.duration);
    let mut known = of_tasks.chain(of_objects).chain(of_passages).chain(of_flows).chain(of_spans);
    known.any(|range: Range| range.count > 0)
        || !figures.distributions.is_empty()
        || figures.interrupts.sources.iter().any(|source| source.count > 0)
}
