//! How long the way of a task from one mark to another takes.
//!
//! A pair begins at the first mark and ends at the next second mark that the same task sets; the first mark
//! once more begins it anew. `raw` is the time between, `net` what the task ran in it: without preemption,
//! blocking and interrupts.

use super::accounts::Accounts;
use super::per::PerContext;
use super::step::Step;
use crate::analysis::Range;
use crate::model::{ContextId, Meaning, Trace};

/// A mark to look for: the number that marks carry, or the label of the event. Of marks that carry no number, such as
/// ThreadX's user events, the number is the event id.
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

/// Times between two marks, of one task.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Passage {
    /// Whose.
    pub context: ContextId,
    /// From mark to mark, in ticks.
    pub raw: Range,
    /// Of these what the task ran, in ticks; `None` where the trace does not tell who runs.
    pub net: Option<Range>,
}

#[derive(Debug, Default)]
struct Task {
    /// Ticks of the first mark, and what the task had run then.
    since: Option<(u64, u64)>,
    raw: Range,
    net: Range,
}

/// Follows a pair of marks.
#[derive(Debug)]
pub(super) struct Pair {
    from: Mark,
    to: Mark,
    tasks: PerContext<Task>,
}

impl Pair {
    pub(super) fn new(from: Mark, to: Mark) -> Self {
        Self { from, to, tasks: PerContext::default() }
    }

    pub(super) fn take(&mut self, trace: &Trace, id: u32, step: &Step, accounts: &Accounts) {
        let Some(by) = step.recorded_by else { return };
        if self.to.is(trace, id, step) {
            let task = self.tasks.at(by);
            if let Some((ticks, ran)) = task.since.take() {
                task.raw.add(step.ticks.saturating_sub(ticks));
                task.net.add(accounts.ran(by) - ran);
            }
        }
        if self.from.is(trace, id, step) {
            self.tasks.at(by).since = Some((step.ticks, accounts.ran(by)));
        }
    }

    /// Events are missing: a second mark may be among them.
    pub(super) fn gap(&mut self) {
        self.tasks.all().for_each(|task| task.since = None);
    }

    /// The pair with its times, by task; net ones where it is known who ran.
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
