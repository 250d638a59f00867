//! Determines the meaning of an event and its participants.

use crate::model::schema::{ArgumentKind, Means};
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
    /// The task that the event refers to, or the recording thread if the event names no task.
    pub(super) subject: Option<ContextId>,
    /// The context that runs next; see [`Step::names_next`].
    pub(super) next: Option<ContextId>,
    /// True if the event specifies the context that runs next. If `next` is `None`, nothing runs
    /// next.
    pub(super) names_next: bool,
    /// True if the event means that no task is ready to run.
    pub(super) idles: bool,
    pub(super) object: Option<u64>,
    /// The type code of the object that a request is for.
    pub(super) object_kind: Option<u32>,
    pub(super) value: Option<u64>,
    /// The thread that recorded the event.
    pub(super) recorded_by: Option<ContextId>,
    /// True if the system itself runs after this event, without a choice of the scheduler.
    pub(super) of_system: bool,
}

impl Step {
    pub(super) fn of(event: Event<'_>) -> Self {
        let Event { trace, row } = event;
        let recorded_by = trace
            .contexts
            .get(row.context)
            .filter(|context| context.kind == ContextKind::Thread)
            .map(|_| row.context);
        let means = event.means();
        let argument = |role: Option<usize>| event.argument(role?);
        let named = |role| argument(role).and_then(|key| trace.contexts.find(key));
        let role = |role: fn(&Means) -> Option<usize>| means.as_ref().and_then(role);
        let subject = role(|means| means.subject);
        // If the meaning has no argument for its subject, the subject is the recording thread. If
        // the event names an unknown context, the subject is `None`.
        let subject = if subject.is_some() { named(subject) } else { recorded_by };
        let is_system = |id: ContextId| {
            trace.contexts.get(id).is_some_and(|context| context.kind == ContextKind::System)
        };
        Self {
            seq: row.seq,
            ticks: row.ticks,
            cpu: row.cpu,
            meaning: means.map(|means| means.meaning),
            subject,
            next: named(role(|means| means.next)),
            names_next: role(|means| means.next).is_some(),
            idles: argument(role(|means| means.next)) == Some(0)
                || means.is_some_and(|means| means.meaning == Meaning::Idle),
            object: argument(role(|means| means.object)),
            object_kind: means.filter(asks).and_then(|means| {
                match event.kind().args.get(means.object?)?.kind {
                    ArgumentKind::Object(kind) => kind,
                    _ => None,
                }
            }),
            value: means.as_ref().and_then(|means| event.value_of(means)),
            recorded_by,
            of_system: means.is_some_and(|means| means.meaning == Meaning::Runs)
                && subject.is_some_and(is_system),
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
            (Some(Meaning::InterruptEnter), _) => running.enter(),
            (Some(Meaning::InterruptExit), _) => running.exit(self.next),
            (Some(Meaning::Schedule), Some(chosen)) => {
                let runs = self.next.unwrap_or(chosen).into();
                running.choose(OnBehalf { runs, of: chosen.into() });
            }
            (Some(Meaning::Idle | Meaning::Stops | Meaning::SwitchedOut), _) => running.idle(),
            (Some(Meaning::Runs), Some(system)) if self.of_system => running.load_system(system),
            (Some(Meaning::Runs), Some(task)) => running.load(task),
            _ => self.apply_recorded(running),
        }
    }

    /// Does the same for a system whose events only show which context recorded them.
    fn apply_recorded(&self, running: &mut Running<OnBehalf>) {
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

/// Returns true if an event is a request for which its task may have to wait.
fn asks(means: &Means) -> bool {
    matches!(means.meaning, Meaning::Lock | Meaning::Wait)
}

#[cfg(test)]
impl Step {
    /// Returns an event with only a meaning and a task.
    pub(super) fn about(meaning: Meaning, task: ContextId) -> Self {
        Self {
            seq: 0,
            ticks: 0,
            cpu: 0,
            meaning: Some(meaning),
            subject: Some(task),
            next: Some(task),
            names_next: meaning == Meaning::Schedule,
            idles: false,
            object: None,
            object_kind: None,
            value: None,
            recorded_by: None,
            of_system: false,
        }
    }
}
