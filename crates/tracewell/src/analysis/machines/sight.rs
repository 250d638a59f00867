//! The meaning of an event and its participants.

use std::hash::{Hash, Hasher};

use crate::analysis::scheduling::Position;
use crate::model::schema::{ArgumentKind, Details, Means};
use crate::model::{ContextKind, Event, Meaning, Trace};
use crate::text::{TextBuffer, put_name};

/// Something that an event names, such as a state, a signal or a queue. Two values are equal if
/// they have the same key and the key was not renamed in between. A restarted target may run
/// another program, which uses the same key for something else.
#[derive(Clone, Copy, Debug)]
pub struct Named {
    /// The argument as recorded.
    pub argument: u64,
    /// Its key among the objects of the trace.
    pub key: u64,
    /// Type code of the object.
    pub kind: Option<u32>,
    /// Ticks at which an event last named it. The meaning of a key can change over time.
    pub ticks: u64,
    /// Number of times that the key had been renamed up to `ticks`.
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
    /// Handles another event that names this thing. If the thing has a name at that time, stores
    /// the time, so that lookups find the current name.
    pub(super) fn again(&mut self, named: Self, trace: &Trace) {
        if trace.objects.at(named.key, named.ticks, named.kind).is_some() {
            self.ticks = named.ticks;
        }
    }

    /// Returns its name at that time, or its number or address if it had no name.
    pub fn label(&self, trace: &Trace) -> String {
        let Self { argument, key, kind, ticks, .. } = *self;
        if trace.objects.at(key, ticks, kind).is_none()
            && let Some(context) = trace.contexts.find(key).and_then(|id| trace.contexts.get(id))
        // No object has this key, but a context may have it, for example a thread that the source
        // does not register.
        {
            return context.name.clone();
        }
        let mut text = TextBuffer::default();
        put_name(&mut text, trace, ticks, kind, argument);
        text.as_text().into_owned()
    }
}

/// An event with a meaning.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sight<'a> {
    pub(super) event: Event<'a>,
    pub(super) meaning: Meaning,
    means: Means,
    details: Details,
}

impl<'a> Sight<'a> {
    #[inline]
    pub(super) fn of(event: Event<'a>) -> Option<Self> {
        let kind = event.kind();
        let means = kind.means?;
        Some(Self { event, meaning: means.meaning, means, details: kind.details })
    }

    pub(super) fn ticks(&self) -> u64 {
        self.event.ticks()
    }

    pub(super) fn position(&self) -> Position {
        Position { ticks: self.event.ticks(), seq: self.event.seq() }
    }

    pub(super) fn details(&self) -> &Details {
        &self.details
    }

    pub(super) fn number(&self, role: Option<usize>) -> Option<u64> {
        self.event.argument(role?)
    }

    /// Returns the thing that an argument names.
    pub(super) fn named(&self, role: Option<usize>) -> Option<Named> {
        let argument = self.number(role)?;
        let kind = self.event.kind().args.get(role?)?.kind;
        let kind = match kind {
            ArgumentKind::Object(kind) => kind,
            _ => None,
        };
        let key = self.event.trace.schema.key(kind, argument);
        Some(self.name(argument, key, kind))
    }

    fn name(&self, argument: u64, key: u64, kind: Option<u32>) -> Named {
        let ticks = self.event.ticks();
        Named {
            argument,
            key,
            kind,
            ticks,
            renamed: self.event.trace.objects.renamed(key, ticks, kind),
        }
    }

    /// Returns the subject of the event if an argument names it.
    pub(super) fn subject(&self) -> Option<Named> {
        self.named(self.means.subject)
    }

    pub(super) fn object(&self) -> Option<Named> {
        self.named(self.means.object)
    }

    /// Returns true if the event acts on an object and not only on a number.
    pub(super) fn acts_on_object(&self) -> bool {
        let argument = self.means.object.and_then(|role| self.event.kind().args.get(role));
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
        let context = self.event.trace.contexts.get(self.event.row.context)?;
        let known = matches!(context.kind, ContextKind::Thread | ContextKind::Interrupt);
        let object = context.object.and_then(|id| self.event.trace.objects.get(id));
        let kind = object.map(|object| object.kind);
        known.then(|| self.name(context.key, context.key, kind))
    }

    /// Returns the actor: the subject, or the machine whose step is in progress, or `None` if it is
    /// unknown.
    pub(super) fn doer(&self) -> Option<Named> {
        if self.means.subject.is_some()
            && let Some(subject) = self.subject()
        {
            // Kernels record 0 if the actor is not an object, for example in an interrupt.
            return (subject.argument != 0).then_some(subject);
        }
        let context = self.event.trace.contexts.get(self.event.row.context)?;
        let recorded_by = context.kind == ContextKind::Thread;
        let kind = context
            .object
            .and_then(|id| self.event.trace.objects.get(id))
            .map(|object| object.kind);
        recorded_by.then(|| self.name(context.key, context.key, kind))
    }
}
