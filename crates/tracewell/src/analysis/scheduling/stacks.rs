//! How deep the stacks of tasks got: the lowest stack pointer that a task's events show within its stack.
//!
//! A stack lies where the parameters `stack_start` and `stack_size` of the task's object say and grows downwards; the
//! argument `stack_ptr` of an event is the pointer of the task that recorded it. Between two events it may have been
//! lower. A pointer outside of the stack says nothing of it: a kernel that runs as a program of a host has
//! other stacks than those it registers.

use super::per::PerContext;
use crate::model::{Context, ContextId, EventRef, Trace};

/// The stack of a task.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Stack {
    /// The task.
    pub context: ContextId,
    /// Its lowest address.
    pub start: u64,
    /// Its bytes.
    pub size: u64,
    /// The most bytes that were seen used, and when, in ticks; `None` if no event tells.
    pub used: Option<(u64, u64)>,
    /// Events whose pointer lies outside of it.
    pub outside: u64,
}

/// The stack of a task, while events come.
#[derive(Clone, Copy, Debug, Default)]
enum Followed {
    /// Not looked for yet.
    #[default]
    Open,
    /// The trace does not say where it lies.
    Untold,
    Told(Stack),
}

/// The argument of an event that is the stack pointer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Pointer {
    Open,
    None,
    Argument(u8),
}

/// Ids whose stack pointer is remembered; those beyond have none.
const IDS: usize = 1 << 12;

/// Follows the stacks of all tasks.
#[derive(Debug, Default)]
pub(super) struct Stacks {
    /// By event id.
    pointers: Vec<Pointer>,
    tasks: PerContext<Followed>,
}

impl Stacks {
    /// Takes an event that a task recorded.
    #[inline]
    pub(super) fn take(&mut self, trace: &Trace, event: &EventRef<'_>) {
        let Some(argument) = self.pointer(trace, event.id) else { return };
        let followed = self.tasks.at(event.context);
        if matches!(followed, Followed::Open) {
            *followed = stack_of(trace, event.context).map_or(Followed::Untold, Followed::Told);
        }
        if let Followed::Told(stack) = followed
            && let Some(pointer) = trace.payload.argument(event.payload, argument)
        {
            stack.note(pointer, event.ticks);
        }
    }

    #[inline]
    fn pointer(&mut self, trace: &Trace, id: u32) -> Option<usize> {
        let index = usize::try_from(id).ok().filter(|index| *index < IDS)?;
        match self.pointers.get(index) {
            Some(Pointer::Argument(argument)) => Some(usize::from(*argument)),
            Some(Pointer::None) => None,
            _ => self.look_up(trace, id, index),
        }
    }

    #[cold]
    fn look_up(&mut self, trace: &Trace, id: u32, index: usize) -> Option<usize> {
        let mut arguments = trace.schema.event(id).args.iter();
        let found = arguments.position(|argument| argument.name == "stack_ptr");
        if index >= self.pointers.len() {
            self.pointers.resize(index + 1, Pointer::Open);
        }
        let known = found.and_then(|argument| u8::try_from(argument).ok());
        self.pointers[index] = known.map_or(Pointer::None, Pointer::Argument);
        found
    }

    /// Returns the stacks, by task.
    pub(super) fn finish(&self, trace: &Trace) -> Vec<Stack> {
        let known = |context: ContextId| match self.tasks.get(context) {
            Some(Followed::Told(stack)) => Some(*stack),
            _ => stack_of(trace, context),
        };
        trace.contexts.iter().filter_map(|(context, _)| known(context)).collect()
    }
}

impl Stack {
    fn note(&mut self, pointer: u64, ticks: u64) {
        let free = pointer.checked_sub(self.start).filter(|free| *free <= self.size);
        let Some(free) = free else {
            self.outside += 1;
            return;
        };
        let used = self.size - free;
        if self.used.is_none_or(|(most, _)| used > most) {
            self.used = Some((used, ticks));
        }
    }
}

/// Returns the stack of a context, if its object says where it lies.
fn stack_of(trace: &Trace, context: ContextId) -> Option<Stack> {
    let known = trace.contexts.get(context)?;
    let (start, size) =
        (parameter(trace, known, "stack_start")?, parameter(trace, known, "stack_size")?);
    (size > 0).then_some(Stack { context, start, size, used: None, outside: 0 })
}

fn parameter(trace: &Trace, context: &Context, name: &str) -> Option<u64> {
    let object = trace.objects.get(context.object?)?;
    let names = &trace.schema.object_kind(object.kind)?.parameters;
    object.parameters.get(names.iter().position(|known| known == name)?).copied()
}
