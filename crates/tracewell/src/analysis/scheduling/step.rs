//! Determines the meaning and the participants of an event.

use super::directory::Directory;
use super::kinds::Kind;
use super::moments::Position;
use crate::model::{Choice, ContextId, ContextKind, Event, Meaning, OnBehalf, Running};

/// An event with its meaning and participants.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Step {
    /// Number of the event in the trace, from 0.
    pub(super) seq: u64,
    /// Ticks since the first event.
    pub(super) ticks: u64,
    /// The core that recorded it.
    pub(super) cpu: u16,
    pub(super) meaning: Option<Meaning>,
    /// The task to which the event refers, or the recording thread if the event names no task.
    pub(super) subject: Option<ContextId>,
    /// The context that runs next; see [`Step::names_next`].
    pub(super) next: Option<ContextId>,
    /// True if events of this type specify the context that runs next. If this is true and `next`
    /// is `None`, no context runs next, or its key is unknown.
    pub(super) names_next: bool,
    /// True if the event reports that no task is ready to run.
    pub(super) idles: bool,
    pub(super) object: Option<u64>,
    /// The type code of the requested object, if the event is a request.
    pub(super) object_kind: Option<u32>,
    pub(super) value: Option<u64>,
    /// How often the mutex was held before the event, if the event says so.
    pub(super) holds: Option<u64>,
    /// The thread that recorded the event.
    pub(super) recorded_by: Option<ContextId>,
    /// True if the system itself runs after this event although the scheduler has not chosen it.
    pub(super) of_system: bool,
}

impl Step {
    #[inline]
    pub(super) fn of(event: Event<'_>, kind: &Kind, directory: &mut Directory) -> Self {
        let Event { trace, row } = event;
        let by = directory.kind(row.context);
        let recorded_by = (by == Some(ContextKind::Thread)).then_some(row.context);
        let means = kind.means.as_ref();
        let argument = |role: Option<usize>| event.argument(role?);
        let value = means.and_then(|means| event.value_of(means));
        let meaning = means.map(|means| match means.cases[0] {
            None => means.meaning,
            Some(_) => means.for_value(value).meaning,
        });
        let next = argument(kind.next);
        let subject = directory.subject(trace, kind, recorded_by, argument(kind.subject));
        Self {
            seq: row.seq,
            ticks: row.ticks,
            cpu: row.cpu,
            meaning,
            subject,
            next: next.and_then(|key| directory.find(trace, key)),
            names_next: kind.next.is_some(),
            idles: next == Some(0) || meaning == Some(Meaning::Idle),
            object: argument(kind.object),
            object_kind: kind.object_kind.filter(|_| asks(meaning)),
            value,
            holds: argument(kind.holds),
            recorded_by,
            of_system: meaning == Some(Meaning::Runs)
                && subject.and_then(|id| directory.kind(id)) == Some(ContextKind::System),
        }
    }

    /// Returns an event of core 0 that has only a meaning, a subject and a recording thread.
    #[inline(always)]
    pub(super) fn at(
        at: Position,
        meaning: Option<Meaning>,
        subject: Option<ContextId>,
        recorded_by: Option<ContextId>,
    ) -> Self {
        Self {
            seq: at.seq,
            ticks: at.ticks,
            cpu: 0,
            meaning,
            subject,
            next: None,
            names_next: false,
            idles: false,
            object: None,
            object_kind: None,
            value: None,
            holds: None,
            recorded_by,
            of_system: false,
        }
    }

    /// Returns true if the event gives the processor to the named context, now or after an
    /// interrupt.
    pub(super) fn chooses(&self) -> bool {
        self.names_next && self.meaning != Some(Meaning::InterruptExit)
    }

    /// Returns the task that the scheduler chose. This is the running task, or the task on whose
    /// behalf another task runs.
    pub(super) fn chosen(&self) -> Option<ContextId> {
        if self.meaning == Some(Meaning::Schedule) { self.subject } else { self.next }
    }

    /// Updates the running context according to the event.
    pub(super) fn apply(&self, running: &mut Running<OnBehalf>) {
        match (self.meaning, self.subject) {
            (Some(Meaning::TraceStart), Some(task)) => running.start(task),
            (Some(Meaning::InterruptEnter | Meaning::InterruptExit), _) => {
                self.apply_interrupt(running);
            }
            (Some(Meaning::Idle | Meaning::Stops | Meaning::SwitchedOut), _) => running.idle(),
            (Some(Meaning::Runs), _) => self.apply_load(running),
            _ => self.apply_choice(running),
        }
    }

    /// Updates the running context if the event is the beginning or the end of an interrupt.
    #[inline(always)]
    pub(super) fn apply_interrupt(&self, running: &mut Running<OnBehalf>) {
        if self.meaning == Some(Meaning::InterruptEnter) {
            running.enter();
        } else {
            running.exit(self.next);
        }
    }

    /// Updates the running context if the event records that a context is loaded.
    #[inline(always)]
    pub(super) fn apply_load(&self, running: &mut Running<OnBehalf>) {
        match self.subject {
            Some(system) if self.of_system => running.load_system(system),
            Some(task) => running.load(task),
            None => self.apply_choice(running),
        }
    }

    /// Updates the running context if the event records a choice of the scheduler. If the events of
    /// a system show only which context recorded them, this context is the running context.
    #[inline(always)]
    pub(super) fn apply_choice(&self, running: &mut Running<OnBehalf>) {
        if let (Some(Meaning::Schedule), Some(chosen)) = (self.meaning, self.subject) {
            let runs = self.next.unwrap_or(chosen).into();
            return running.choose(OnBehalf { runs, of: chosen.into() });
        }
        if let Some(task) = self.recorded_by {
            running.record(task);
        }
        match self.next {
            Some(next) if self.chooses() => running.choose(OnBehalf::of(next.into())),
            None if self.chooses() => running.idle(),
            _ => {}
        }
    }
}

/// Returns true if an event is a request that may make its task wait.
fn asks(meaning: Option<Meaning>) -> bool {
    matches!(meaning, Some(Meaning::Lock | Meaning::Wait))
}

#[cfg(test)]
impl Step {
    /// Returns an event that has only a meaning and a task.
    pub(super) fn about(meaning: Meaning, task: ContextId) -> Self {
        Self {
            next: Some(task),
            names_next: meaning == Meaning::Schedule,
            ..Self::at(Position::default(), Some(meaning), Some(task), None)
        }
    }
}
