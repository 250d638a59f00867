//! What an event asserts, and about whom: meaning and participants, looked up.

use crate::model::schema::{ArgumentKind, Means};
use crate::model::{Choice, ContextId, ContextKind, EventRef, Meaning, OnBehalf, Running, Trace};

/// An event as the analyses see it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Step {
    /// Number of the event.
    pub(super) seq: u64,
    /// Ticks since the first event.
    pub(super) ticks: u64,
    /// The core that recorded it.
    pub(super) cpu: u16,
    pub(super) meaning: Option<Meaning>,
    /// Whom it is about; who recorded it, if a thread did, where the event does not say.
    pub(super) subject: Option<ContextId>,
    /// Who runs next; see [`Step::tells_next`].
    pub(super) next: Option<ContextId>,
    /// Whether the event says who runs next: with no `next`, nobody does.
    pub(super) tells_next: bool,
    /// True if the event says that no task is ready to run.
    pub(super) idles: bool,
    pub(super) object: Option<u64>,
    /// The type code of the object that a request is for.
    pub(super) object_kind: Option<u32>,
    pub(super) value: Option<u64>,
    /// The thread that recorded it.
    pub(super) recorded_by: Option<ContextId>,
    /// True if the system itself runs from here on, which no scheduler chooses.
    pub(super) of_system: bool,
}

impl Step {
    pub(super) fn of(trace: &Trace, event: &EventRef<'_>) -> Self {
        let recorded_by = trace
            .contexts
            .get(event.context)
            .filter(|context| context.kind == ContextKind::Thread)
            .map(|_| event.context);
        let means = trace.schema.event(event.id).means;
        let argument = |role: Option<usize>| trace.payload.argument(event.payload, role?);
        let named = |role| argument(role).and_then(|key| trace.contexts.find(key));
        let role = |role: fn(&Means) -> Option<usize>| means.as_ref().and_then(role);
        let subject = role(|means| means.subject);
        let subject = if subject.is_some() { named(subject) } else { recorded_by };
        let is_system = |id: ContextId| {
            trace.contexts.get(id).is_some_and(|context| context.kind == ContextKind::System)
        };
        Self {
            seq: event.seq,
            ticks: event.ticks,
            cpu: event.cpu,
            meaning: means.map(|means| means.meaning),
            subject,
            next: named(role(|means| means.next)),
            tells_next: role(|means| means.next).is_some(),
            idles: argument(role(|means| means.next)) == Some(0),
            object: argument(role(|means| means.object)),
            object_kind: means.filter(asks).and_then(|means| {
                match trace.schema.event(event.id).args.get(means.object?)?.kind {
                    ArgumentKind::Object(kind) => kind,
                    _ => None,
                }
            }),
            value: argument(role(|means| means.value)),
            recorded_by,
            of_system: means.is_some_and(|means| means.meaning == Meaning::Runs)
                && subject.is_some_and(is_system),
        }
    }

    /// Whether the event makes the processor go, now or after an interrupt, to whom it names.
    pub(super) fn chooses(&self) -> bool {
        self.tells_next && self.meaning != Some(Meaning::InterruptExit)
    }

    /// Whom the scheduler chose: the one that runs, or on whose behalf another does.
    pub(super) fn chosen(&self) -> Option<ContextId> {
        if self.meaning == Some(Meaning::Schedule) { self.subject } else { self.next }
    }

    /// Makes what the event says of who runs true.
    pub(super) fn apply(&self, running: &mut Running<OnBehalf>) {
        match (self.meaning, self.subject) {
            (Some(Meaning::TraceStart), Some(task)) => running.start(task),
            (Some(Meaning::InterruptEnter), _) => running.enter(),
            (Some(Meaning::InterruptExit), _) => running.exit(self.next),
            (Some(Meaning::Schedule), Some(chosen)) => {
                let runs = self.next.unwrap_or(chosen).into();
                running.choose(OnBehalf { runs, of: chosen.into() });
            }
            (Some(Meaning::Runs), Some(system)) if self.of_system => running.load_system(system),
            (Some(Meaning::Runs), Some(task)) => running.load(task),
            _ => self.apply_recorded(running),
        }
    }

    /// The same for a system whose events say who recorded them.
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

/// Returns true if an event asks for something that its task may have to wait for.
fn asks(means: &Means) -> bool {
    matches!(means.meaning, Meaning::Lock | Meaning::Wait)
}

#[cfg(test)]
impl Step {
    /// An event that asserts something about a task and nothing else.
    pub(super) fn about(meaning: Meaning, task: ContextId) -> Self {
        Self {
            seq: 0,
            ticks: 0,
            cpu: 0,
            meaning: Some(meaning),
            subject: Some(task),
            next: Some(task),
            tells_next: meaning == Meaning::Schedule,
            idles: false,
            object: None,
            object_kind: None,
            value: None,
            recorded_by: None,
            of_system: false,
        }
    }
}
