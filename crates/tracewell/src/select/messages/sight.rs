//! The meaning and the participants of an event.

use std::hash::{Hash, Hasher};

use crate::model::schema::{ArgumentKind, Details, EventType, Schema};
use crate::model::{ContextKind, Event, Meaning, PerId, Position, Trace};
use crate::text::{TextBuffer, put_name};

/// Something to which an event refers, such as a state, a signal or a queue. Two values are equal
/// if `key` and `renamed` are equal. Equal keys are not enough: a restarted target may run another
/// program, which uses the same key for something else.
#[derive(Clone, Copy, Debug)]
pub struct Named {
    /// The argument as recorded.
    pub argument: u64,
    /// The key of the named object in the trace's list of objects.
    pub key: u64,
    /// Type code of the object.
    pub kind: Option<u32>,
    /// Ticks of the latest event that refers to the thing. The meaning of a key can change over
    /// time.
    pub ticks: u64,
    /// Number of times that the key had been renamed up to `ticks`.
    pub(crate) renamed: usize,
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

/// Maximum length of a key as text: `0x` and 16 digits, or a decimal number of 20 digits.
const MAX_NUMBER: usize = 20;

impl Named {
    /// Returns the name of this thing at `ticks`. If the thing had no name, returns its number or
    /// address.
    pub fn label(&self, trace: &Trace) -> String {
        let Self { argument, key, kind, ticks, .. } = *self;
        if let Some((_, object)) = trace.objects.at(key, ticks, kind) {
            return object.label.clone();
        }
        // No object has this key, but a context may have it, for example a thread that the source
        // does not register.
        if let Some(context) = trace.contexts.find(key).and_then(|id| trace.contexts.get(id)) {
            return context.name.clone();
        }
        let mut text = TextBuffer::with_room(MAX_NUMBER);
        put_name(&mut text, trace, ticks, kind, argument);
        text.as_text().into_owned()
    }

    /// Returns the name of this thing. If the thing has no name but has an owner, returns the
    /// owner's name and `kind`, such as `motor's queue`.
    pub fn label_by_owner(&self, trace: &Trace, owner: Option<Self>, kind: &str) -> String {
        // An unnamed object has a label, too, but the label is only the address.
        let is_object = trace.objects.at(self.key, self.ticks, self.kind).is_some();
        let has_name = is_object || trace.object_symbol(self.kind, self.argument).is_some();
        match owner {
            Some(owner) if !has_name => format!("{}'s {kind}", owner.label(trace)),
            _ => self.label(trace),
        }
    }
}

/// An argument that names something: a state, a signal, an object or a context.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Role {
    pub(crate) argument: usize,
    /// Type code of the object.
    pub(crate) kind: Option<u32>,
    /// Number that is added to the argument to get the key of the object.
    keys: u64,
}

impl Role {
    pub(crate) fn of(schema: &Schema, event: &EventType, argument: Option<usize>) -> Option<Self> {
        let argument = argument?;
        let kind = match event.args.get(argument)?.kind {
            ArgumentKind::Object(kind) => kind,
            _ => None,
        };
        Some(Self { argument, kind, keys: schema.key(kind, 0) })
    }

    /// Returns the key of the object to which an argument refers. `argument` is the value of the
    /// role's argument.
    #[inline(always)]
    pub(crate) fn key(&self, argument: u64) -> u64 {
        argument.wrapping_add(self.keys)
    }

    /// Returns the thing to which an argument refers at a given time. `argument` is the value of
    /// the role's argument.
    #[inline]
    pub(crate) fn named(&self, trace: &Trace, argument: u64, ticks: u64) -> Named {
        name(trace, argument, self.key(argument), self.kind, ticks)
    }
}

/// Returns the thing to which a key refers at a given time.
#[inline]
fn name(trace: &Trace, argument: u64, key: u64, kind: Option<u32>, ticks: u64) -> Named {
    let renamed = trace.objects.renamed(key, ticks, kind);
    Named { argument, key, kind, ticks, renamed }
}

/// The meaning of an event id, and its participants.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Roles {
    meaning: Option<Meaning>,
    subject: Option<Role>,
    object: Option<Role>,
    value: Option<Role>,
    state: Option<Role>,
}

impl Roles {
    fn of(schema: &Schema, id: u32) -> Self {
        let event = schema.event(id);
        let means = event.means.as_ref();
        let role = |argument| Role::of(schema, event, argument);
        Self {
            meaning: means.map(|means| means.meaning),
            subject: role(means.and_then(|means| means.subject)),
            object: role(means.and_then(|means| means.object)),
            value: role(means.and_then(|means| means.value)),
            state: role(event.details.state),
        }
    }
}

/// The meanings of all event ids.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sights(PerId<Roles>);

impl Sights {
    /// Returns an event with its meaning, or `None` if the event has no meaning.
    #[inline]
    pub(crate) fn of<'a>(&mut self, event: Event<'a>) -> Option<Sight<'a>> {
        let mut table = self.0.of_schema(&event.trace.schema);
        let roles = table.get(event.id(), Roles::of);
        Some(Sight { event, meaning: roles.meaning?, roles: *roles })
    }
}

/// An event with a meaning.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sight<'a> {
    pub(crate) event: Event<'a>,
    pub(crate) meaning: Meaning,
    roles: Roles,
}

impl<'a> Sight<'a> {
    pub(crate) fn ticks(&self) -> u64 {
        self.event.ticks()
    }

    pub(crate) fn position(&self) -> Position {
        Position { ticks: self.event.ticks(), seq: self.event.seq() }
    }

    pub(crate) fn details(&self) -> &'a Details {
        &self.event.kind().details
    }

    pub(crate) fn number(&self, role: Option<usize>) -> Option<u64> {
        self.event.argument(role?)
    }

    /// Returns the owner of the event's object.
    pub(crate) fn owner(&self) -> Option<Named> {
        let role = Role::of(&self.event.trace.schema, self.event.kind(), self.details().owner);
        self.named(role)
    }

    /// Returns the thing to which an argument refers.
    fn named(&self, role: Option<Role>) -> Option<Named> {
        let role = role?;
        let argument = self.event.argument(role.argument)?;
        Some(role.named(self.event.trace, argument, self.event.ticks()))
    }

    /// Returns the subject of the event if an argument names it.
    pub(crate) fn subject(&self) -> Option<Named> {
        self.named(self.roles.subject)
    }

    pub(crate) fn object(&self) -> Option<Named> {
        self.named(self.roles.object)
    }

    pub(crate) fn value(&self) -> Option<Named> {
        self.named(self.roles.value)
    }

    pub(crate) fn state(&self) -> Option<Named> {
        self.named(self.roles.state)
    }

    /// Returns the thread or interrupt that recorded the event.
    pub(crate) fn recorder(&self) -> Option<Named> {
        self.context(|kind| matches!(kind, ContextKind::Thread | ContextKind::Interrupt))
    }

    /// Returns the actor: the subject of the event, or if there is none, the machine whose step is
    /// in progress. Returns `None` if the actor is unknown.
    pub(crate) fn doer(&self) -> Option<Named> {
        match self.subject() {
            // Kernels record 0 if the actor is not an object, for example in an interrupt.
            Some(subject) => (subject.argument != 0).then_some(subject),
            None => self.context(|kind| kind == ContextKind::Thread),
        }
    }

    /// Returns the context that recorded the event, if it is of a suitable kind.
    fn context(&self, is_suitable: impl Fn(ContextKind) -> bool) -> Option<Named> {
        let trace = self.event.trace;
        let context = trace.contexts.get(self.event.row.context)?;
        let object = context.object.and_then(|id| trace.objects.get(id));
        let kind = object.map(|object| object.kind);
        is_suitable(context.kind).then(|| name(trace, context.key, context.key, kind, self.ticks()))
    }
}
