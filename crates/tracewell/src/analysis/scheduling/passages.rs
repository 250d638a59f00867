//! Measures the time of a task from one mark to another.
//!
//! A passage begins when a task passes the first mark, and ends when the same task next passes the
//! second mark. If the task passes the first mark again, the passage restarts. `raw` is the time
//! between the marks. `net` is the execution of the task in this time, excluding preemption,
//! blocking and interrupts.

use super::accounts::Accounts;
use super::moments::Position;
use super::per::PerContext;
use super::step::Step;
use super::subject::Subject;
use crate::analysis::Range;
use crate::analysis::measured::{Distributions, Measure};
use crate::model::{ContextId, Meaning, Trace};

/// A mark, identified by its number or by the label of its event. For events without a number, such
/// as ThreadX's user events, the number is the event id.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Mark {
    /// A mark with this number.
    Number(u64),
    /// Events with this label.
    Label(String),
}

impl Mark {
    fn is(&self, trace: &Trace, id: u32, step: &Step) -> bool {
        match self {
            Self::Number(number) => {
                let mark = step.meaning == Some(Meaning::Mark);
                mark && step.value.unwrap_or(u64::from(id)) == *number
            }
            Self::Label(label) => trace.schema.is_called(id, label),
        }
    }
}

/// Times of one task between two marks.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Passage {
    /// The task that passed both marks.
    pub context: ContextId,
    /// Time between the marks, in ticks.
    pub raw: Range,
    /// Execution of the task in this time, in ticks; `None` if the trace does not show which task
    /// is running.
    pub net: Option<Range>,
}

#[derive(Clone, Debug, Default)]
struct Task {
    /// Ticks of the first mark, and the task's total execution before this mark.
    since: Option<(u64, u64)>,
    raw: Range,
    net: Range,
}

/// Follows a pair of marks.
#[derive(Clone, Debug)]
pub(super) struct Pair {
    from: Mark,
    to: Mark,
    tasks: PerContext<Task>,
    /// Index of the pair in [`Wanted::pairs`](super::Wanted::pairs).
    index: usize,
    distributions: Distributions<Subject>,
}

impl Pair {
    /// Creates the pair with this index in [`Wanted::pairs`](super::Wanted::pairs).
    pub(super) fn new(index: usize, (from, to): (Mark, Mark)) -> Self {
        let (tasks, distributions) = Default::default();
        Self { from, to, tasks, index, distributions }
    }

    pub(super) fn take(&mut self, trace: &Trace, id: u32, step: &Step, accounts: &Accounts) {
        let Some(by) = step.recorded_by else { return };
        // Test the second mark first. If both marks are the same, each event ends a passage and
        // begins another.
        if self.to.is(trace, id, step) {
            let task = self.tasks.at(by);
            if let Some((ticks, ran)) = task.since.take() {
                let raw = step.ticks.saturating_sub(ticks);
                let net = accounts.ran(by) - ran;
                task.raw.add(raw);
                task.net.add(net);
                let (subject, at) =
                    (Subject::Passage { pair: self.index, task: by }, Position::of(step));
                self.distributions.add(Measure::Passage, subject, raw, at);
                self.distributions.add(Measure::PassageExecution, subject, net, at);
            }
        }
        if self.from.is(trace, id, step) {
            self.tasks.at(by).since = Some((step.ticks, accounts.ran(by)));
        }
    }

    pub(super) fn distributions(&mut self) -> &mut Distributions<Subject> {
        &mut self.distributions
    }

    /// Begins a range: forgets the figures and keeps the first marks.
    pub(super) fn restart(&mut self) {
        self.tasks.all().for_each(|task| (task.raw, task.net) = Default::default());
    }

    /// Handles missing events, which may include the second mark.
    pub(super) fn gap(&mut self) {
        self.tasks.all().for_each(|task| task.since = None);
    }

    /// Handles the deletion of a task, which will not pass the second mark.
    pub(super) fn deleted(&mut self, task: ContextId) {
        self.tasks.at(task).since = None;
    }

    /// Returns the two marks, and the times of each task between them. `net` is true if the trace
    /// shows when tasks execute.
    pub(super) fn finish(self, net: bool) -> (Mark, Mark, Vec<Passage>) {
        let rows = self.tasks.rows().iter().enumerate().filter(|(_, task)| task.raw.count > 0);
        let passage = |(index, task): (usize, &Task)| Passage {
            context: ContextId(index as u32),
            raw: task.raw,
            net: net.then_some(task.net),
        };
        let passages = rows.map(passage).collect();
        (self.from, self.to, passages)
    }
}
