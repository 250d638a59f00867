//! What an event asserts, and about what: meaning and participants, looked up.

use std::hash::{Hash, Hasher};

use crate::model::schema::{ArgumentKind, Details, Means};
use crate::model::{ContextKind, EventRef, Meaning, Trace};
use crate::text::{TextBuffer, put_name};

/// Something that an event names: a state, a signal, a queue. Two are the same if their keys are, unless the key
/// came to name something else in between: a target that starts again may run another program.
#[derive(Clone, Copy, Debug)]
pub struct Named {
    /// As recorded.
    pub argument: u64,
    /// The key among the objects of the trace.
    pub key: u64,
    /// The type code of the object.
    pub kind: Option<u32>,
    /// Ticks at which it was last named: what its key means may change.
    pub ticks: u64,
    /// How often the key had come to name something else by then.
    pub(super) renamed: usize,
}

impl PartialEq for Named {
    fn eq(&self, other: &Self) -> bool {
        (self.key, self.renamed) == (other.key, other.renamed)
    }
}

impl Eq for Named {}

impl Hash for Named {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.key, self.renamed).hash(state);
    }
}

impl Named {
    /// It is named again: by the name that it has then, if it has one.
    pub(super) fn again(&mut self, named: Self, trace: &Trace) {
        if trace.objects.at(named.key, named.ticks, named.kind).is_some() {
            self.ticks = named.ticks;
        }
    }

    /// Its name at that time; its number or address where it has none.
    pub fn label(&self, trace: &Trace) -> String {
        let Self { argument, key, kind, ticks, .. } = *self;
        if trace.objects.at(key, ticks, kind).is_none()
            && let Some(context) = trace.contexts.find(key).and_then(|id| trace.contexts.get(id))
        {
            return context.name.clone();
        }
        let mut text = TextBuffer::default();
        put_name(&mut text, trace, ticks, kind, argument);
        String::from_utf8_lossy(text.as_bytes()).into_owned()
    }
}

/// An event with a meaning.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sight<'a> {
    pub(super) trace: &'a Trace,
    pub(super) event: &'a EventRef<'a>,
    pub(super) meaning: Meaning,
    means: Means,
    details: Details,
}

impl<'a> Sight<'a> {
    #[inline]
    pub(super) fn of(trace: &'a Trace, event: &'a EventRef<'a>) -> Option<Self> {
        let kind = trace.schema.event(event.id);
        let means = kind.means?;
        Some(Self { trace, event, meaning: means.meaning, means, details: kind.details })
    }

    pub(super) fn ticks(&self) -> u64 {
        self.event.ticks
    }

    pub(super) fn details(&self) -> &Details {
        &self.details
    }

    pub(super) fn number(&self, role: Option<usize>) -> Option<u64> {
        self.trace.payload.argument(self.event.payload, role?)
    }

    /// What an argument names.
    pub(super) fn named(&self, role: Option<usize>) -> Option<Named> {
        let argument = self.number(role)?;
        let kind = self.trace.schema.event(self.event.id).args.get(role?)?.kind;
        let kind = match kind {
            ArgumentKind::Object(kind) => kind,
            _ => None,
        };
        let key = self.trace.schema.key(kind, argument);
        Some(self.name(argument, key, kind))
    }

    fn name(&self, argument: u64, key: u64, kind: Option<u32>) -> Named {
        let ticks = self.event.ticks;
        Named { argument, key, kind, ticks, renamed: self.trace.objects.renamed(key, ticks, kind) }
    }

    /// Whom it is about, where an argument says so.
    pub(super) fn subject(&self) -> Option<Named> {
        self.named(self.means.subject)
    }

    pub(super) fn object(&self) -> Option<Named> {
        self.named(self.means.object)
    }

    /// Whether what it acts on is an object, not a mere number.
    pub(super) fn acts_on_object(&self) -> bool {
        let argument = self
            .means
            .object
            .and_then(|role| self.trace.schema.event(self.event.id).args.get(role));
        argument.is_some_and(|argument| matches!(argument.kind, ArgumentKind::Object(_)))
    }

    pub(super) fn value(&self) -> Option<Named> {
        self.named(self.means.value)
    }

    pub(super) fn state(&self) -> Option<Named> {
        self.named(self.details.state)
    }

    /// Returns the thread or interrupt that recorded the event.
    pub(super) fn recorder(&self) -> Option<Named> {
        let context = self.trace.contexts.get(self.event.context)?;
        let told = matches!(context.kind, ContextKind::Thread | ContextKind::Interrupt);
        let object = context.object.and_then(|id| self.trace.objects.get(id));
        let kind = object.map(|object| object.kind);
        told.then(|| self.name(context.key, context.key, kind))
    }

    /// Who does what the event tells: the subject, or whose step was going on, or nobody who is known.
    pub(super) fn doer(&self) -> Option<Named> {
        if self.means.subject.is_some()
            && let Some(subject) = self.subject()
        {
            return (subject.argument != 0).then_some(subject);
        }
        let context = self.trace.contexts.get(self.event.context)?;
        let recorded_by = context.kind == ContextKind::Thread;
        let kind =
            context.object.and_then(|id| self.trace.objects.get(id)).map(|object| object.kind);
        recorded_by.then(|| self.name(context.key, context.key, kind))
    }
}
