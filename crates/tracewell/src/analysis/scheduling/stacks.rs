//! Measures the maximum depth of task stacks from the lowest stack pointer in each task's events.
//!
//! The parameters `stack_start` and `stack_size` of the task's object define the stack, which grows
//! downwards. An event's argument `stack_ptr` is the stack pointer of the recording task. Between
//! two events, the pointer may have been lower. Pointers outside the stack are only counted,
//! because a kernel that is simulated on a host does not use the registered stacks.

use super::per::PerContext;
use crate::model::{Context, ContextId, Event, Trace};

/// The stack of a task.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Stack {
    /// The task that owns it.
    pub context: ContextId,
    /// The lowest address of the stack. The stack grows towards this end.
    pub start: u64,
    /// Size of the stack in bytes.
    pub size: u64,
    /// The maximum number of used bytes, and the ticks of the event that shows it; `None` if no
    /// event has a stack pointer.
    pub used: Option<(u64, u64)>,
    /// Number of events whose pointer is outside the stack.
    pub outside: u64,
}

/// The state of a task's stack.
#[derive(Clone, Copy, Debug, Default)]
enum Followed {
    /// The stack has not been looked up yet.
    #[default]
    Open,
    /// The trace does not contain the address of the stack.
    Unknown,
    Recorded(Stack),
}

/// The position of the stack pointer among the arguments of an event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Pointer {
    Open,
    None,
    Argument(u8),
}

/// Event ids below this number are checked for a stack pointer.
const IDS: usize = 1 << 12;

/// Follows the stacks of all tasks.
#[derive(Debug, Default)]
pub(super) struct Stacks {
    /// The position of the stack pointer per event id. It is looked up at the first event with that
    /// id.
    pointers: Vec<Pointer>,
    tasks: PerContext<Followed>,
}

impl Stacks {
    /// Begins a range: forgets the maximum depths so far.
    pub(super) fn restart(&mut self) {
        for task in self.tasks.all() {
            if let Followed::Recorded(stack) = task {
                (stack.used, stack.outside) = (None, 0);
            }
        }
    }

    /// Handles an event that a task recorded.
    #[inline]
    pub(super) fn take(&mut self, event: Event<'_>) {
        let Event { trace, row } = event;
        let Some(argument) = self.pointer(trace, row.id) else { return };
        let followed = self.tasks.at(row.context);
        if matches!(followed, Followed::Open) {
            *followed = stack_of(trace, row.context).map_or(Followed::Unknown, Followed::Recorded);
        }
        if let Followed::Recorded(stack) = followed
            && let Some(pointer) = event.argument(argument)
        {
            stack.note(pointer, row.ticks);
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
            Some(Followed::Recorded(stack)) => Some(*stack),
            // List the stack of a task without events too.
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

/// Returns the stack of a context if its object has the stack's address.
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
