//! Handles the definitions in a trace. They contain the names of tasks, objects, interrupts and
//! events, the name of the kernel, and the rate of the clock. A definition can follow the events
//! that refer to it.

use std::collections::HashMap;
use std::sync::Arc;

use foldhash::fast::RandomState;
use tracewell_wire::target::definition::{IDLE, LARGER_IS_URGENT, NAME};
use tracewell_wire::target::{Definition, DefinitionKind};

use crate::model::schema::{Argument, ArgumentKind, EventType};
use crate::model::{
    Context, ContextId, ContextKind, Lifetime, Object, ObjectId, Rate, Trace, unique,
};
use crate::text::shown;

/// The id of the application's event 0.
pub(in crate::format) const FIRST_USER: u32 = 0x1000;

/// Maximum number of parts of a name.
const MAX_PARTS: u8 = 8;

/// A definition, and the name that its parts form.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Known {
    first: Definition,
    name: Vec<u8>,
}

/// The definitions so far.
#[derive(Debug, Default)]
pub(in crate::format) struct Names {
    known: HashMap<(DefinitionKind, u32), Known, RandomState>,
    /// The rate from the user's options, which overrides the recorded rate.
    pub(in crate::format) rate: Option<Rate>,
}

/// Returns the context key of a task or an interrupt. The key of a task is its number, because
/// analyses look up tasks by the number in an event's argument. Keys of interrupts are above the
/// keys of threads in native streams. The upper 32 bits of a thread's key contain a process id,
/// which is at most 2^22.
const fn key(kind: DefinitionKind, number: u32) -> u64 {
    match kind {
        DefinitionKind::Interrupt => 1 << 55 | number as u64,
        _ => number as u64,
    }
}

/// Returns the latest object that has this kind and this number.
fn last(kind: DefinitionKind, number: u32, trace: &Trace) -> Option<ObjectId> {
    let found = trace.objects.at(u64::from(number), u64::MAX, Some(kind as u32));
    found.map(|(id, _)| id)
}

impl Names {
    /// Returns true if a definition is already known.
    pub(in crate::format) fn has(&self, entry: &Definition) -> bool {
        self.known.get(&(entry.kind, entry.number)).is_some_and(|known| {
            let part = known.part(entry.part);
            let same = |text: &[u8]| text == part.get(..NAME).unwrap_or(part);
            let Definition { flags, priority, value, .. } = known.first;
            same(entry.text())
                && (entry.part > 0
                    || (flags, priority, value) == (entry.flags, entry.priority, entry.value))
        })
    }

    /// Stores a definition and applies it to the trace.
    pub(in crate::format) fn define(&mut self, entry: &Definition, trace: &mut Trace) {
        if entry.part >= MAX_PARTS {
            return;
        }
        let known = self
            .known
            .entry((entry.kind, entry.number))
            .or_insert_with(|| Known { first: *entry, name: Vec::new() });
        // Parts usually arrive in order. The first part of a different name replaces the stored
        // name.
        let at = usize::from(entry.part) * NAME;
        if known.part(entry.part) != entry.text() {
            known.name.truncate(at);
            if known.name.len() == at {
                known.name.extend_from_slice(entry.text());
            }
        }
        if entry.part == 0 {
            known.first = *entry;
        }
        let (first, name) = (known.first, known.name.clone());
        match entry.kind {
            DefinitionKind::System => {
                trace.clock.rate = self.rate.or(Rate::new(u64::from(first.value), 1));
                trace.larger_is_urgent = first.flags & LARGER_IS_URGENT != 0;
                trace.texts.retain(|(text, _)| *text != "kernel");
                trace.texts.push(("kernel", shown(&name).into_owned()));
            }
            DefinitionKind::Event => define_event(&name, first.number, trace),
            DefinitionKind::Interrupt => {
                if let Some(context) = trace.contexts.find(key(entry.kind, first.number)) {
                    trace.contexts.rename(context, &shown(&name), None);
                }
            }
            kind => self.describe(kind, first.number, trace),
        }
    }

    /// Sets the name and the parameters of a task or object. Adds the object if it is new.
    fn describe(&self, kind: DefinitionKind, number: u32, trace: &mut Trace) {
        let label = self.label(kind, number);
        let Some(id) = last(kind, number, trace) else {
            self.add(kind, number, None, trace);
            return;
        };
        trace.objects.describe(id, &label, self.parameters(kind, number));
        if kind == DefinitionKind::Task
            && let Some(context) = trace.contexts.find(key(kind, number))
        {
            trace.contexts.rename(context, &label, Some(id));
        }
    }

    /// Begins the life of an object. The definition may have added the object already.
    pub(in crate::format) fn create(
        &self,
        kind: DefinitionKind,
        number: u32,
        ticks: u64,
        trace: &mut Trace,
    ) {
        let known = last(kind, number, trace);
        // A definition adds an object without a lifetime. If there is such an object, this event is
        // its creation.
        let is_new = |id: &ObjectId| {
            trace.objects.get(*id).is_some_and(|object| object.lifetime == Lifetime::default())
        };
        match known.filter(is_new) {
            Some(id) => trace.objects.begin(id, Some(ticks)),
            None => self.add(kind, number, Some(ticks), trace),
        }
    }

    /// Ends the life of an object.
    pub(in crate::format) fn delete(
        &self,
        kind: DefinitionKind,
        number: u32,
        ticks: u64,
        trace: &mut Trace,
    ) {
        if let Some(id) = last(kind, number, trace) {
            trace.objects.delete(id, ticks);
        }
    }

    /// Adds an object that was created at tick `from`, or before the trace if `from` is `None`.
    fn add(&self, kind: DefinitionKind, number: u32, from: Option<u64>, trace: &mut Trace) {
        let known = self.known.get(&(kind, number));
        trace.objects.add(Object {
            key: u64::from(number),
            kind: kind as u32,
            name: known.map_or_else(Vec::new, |known| known.name.clone()),
            label: self.label(kind, number),
            parameters: self.parameters(kind, number),
            priority: self.priority(kind, number),
            alive: None,
            lifetime: Lifetime { from, ..Lifetime::default() },
            record: Vec::new(),
        });
    }

    /// Adds a task that was created at tick `from`, or before the trace if `from` is `None`.
    pub(in crate::format) fn add_task(
        &self,
        number: u32,
        from: Option<u64>,
        trace: &mut Trace,
    ) -> ContextId {
        let kind = DefinitionKind::Task;
        match from {
            Some(ticks) => self.create(kind, number, ticks, trace),
            None if last(kind, number, trace).is_none() => {
                self.add(kind, number, None, trace);
            }
            None => {}
        }
        trace.contexts.replace(Context {
            key: key(kind, number),
            key_text: number.to_string(),
            kind: if self.is_idle(number) { ContextKind::System } else { ContextKind::Thread },
            name: self.label(kind, number),
            object: last(kind, number, trace),
        })
    }

    /// Gives task 0 the name `idle` in arguments. Task 0 means that no task is running.
    pub(in crate::format) fn name_idle(trace: &mut Trace) {
        let kind = DefinitionKind::Task;
        if last(kind, 0, trace).is_none() {
            trace.objects.add(Object {
                key: 0,
                kind: kind as u32,
                name: b"idle".to_vec(),
                label: "idle".to_owned(),
                parameters: Vec::new(),
                priority: None,
                alive: None,
                lifetime: Lifetime::default(),
                record: Vec::new(),
            });
        }
    }

    /// Returns the context of an interrupt.
    pub(in crate::format) fn interrupt(&self, number: u32, trace: &mut Trace) -> ContextId {
        let kind = DefinitionKind::Interrupt;
        if let Some(known) = trace.contexts.find(key(kind, number)) {
            return known;
        }
        trace.contexts.add(Context {
            key: key(kind, number),
            key_text: number.to_string(),
            kind: ContextKind::Interrupt,
            name: self.label(kind, number),
            object: None,
        })
    }

    /// Returns the priority that a task has according to the trace.
    pub(in crate::format) fn priority(&self, kind: DefinitionKind, number: u32) -> Option<u16> {
        let known = self.known.get(&(kind, number));
        known.filter(|_| kind == DefinitionKind::Task).map(|known| known.first.priority.into())
    }

    /// Returns true if a task is defined as an idle task.
    pub(in crate::format) fn is_idle(&self, number: u32) -> bool {
        let known = self.known.get(&(DefinitionKind::Task, number));
        known.is_some_and(|known| known.first.flags & IDLE != 0)
    }

    fn parameters(&self, kind: DefinitionKind, number: u32) -> Vec<u64> {
        let known = self.known.get(&(kind, number));
        known.map(|known| u64::from(known.first.value)).into_iter().collect()
    }

    /// Returns the name of a task or object, or its kind and number if it has no name.
    fn label(&self, kind: DefinitionKind, number: u32) -> String {
        let known = self.known.get(&(kind, number)).filter(|known| !known.name.is_empty());
        known.map_or_else(|| unnamed(kind, number), |known| shown(&known.name).into_owned())
    }
}

impl Known {
    /// Returns part number `part` of the name, at most `NAME` bytes.
    fn part(&self, part: u8) -> &[u8] {
        let rest = self.name.get(usize::from(part) * NAME..).unwrap_or_default();
        rest.get(..NAME).unwrap_or(rest)
    }
}

fn unnamed(kind: DefinitionKind, number: u32) -> String {
    let schema = super::schema();
    let label = schema.object_kind(kind as u32).map_or("object", |kind| kind.label.as_str());
    format!("{label} {number}")
}

/// Defines an event of the application from `name(argument,argument)`. Ignores an incomplete name,
/// because a further part follows.
fn define_event(text: &[u8], number: u32, trace: &mut Trace) {
    let text = shown(text);
    let Some((name, rest)) = text.split_once('(') else { return };
    let Some((arguments, "")) = rest.rsplit_once(')') else { return };
    let id = FIRST_USER.saturating_add(number);
    if trace.schema.defines(id) {
        return;
    }
    let mut args: Vec<Argument> = Vec::new();
    for argument in arguments.split(',').filter(|argument| !argument.is_empty()) {
        let (name, kind) = match argument.split_once(':') {
            Some((name, "u")) => (name, ArgumentKind::Unsigned),
            Some((name, "x")) => (name, ArgumentKind::Hex),
            _ => (argument, ArgumentKind::Signed),
        };
        // Programs may give two arguments the same name, but consumers need unique names.
        let name = unique(name, |name| args.iter().any(|other| other.name == name));
        args.push(Argument { name, kind, encoding: String::new(), zero: None });
    }
    let unnamed = trace.schema.event(FIRST_USER).clone();
    let (name, label) = (name.to_owned(), name.to_owned());
    Arc::make_mut(&mut trace.schema).define(EventType { id, name, label, args, ..unnamed });
}
