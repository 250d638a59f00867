//! Measures the maximum depth of each task's stack, and finds the event that shows this depth.
//!
//! Some kernels report the maximum use ([`Meaning::StackUsed`]) or the minimum free size
//! ([`Meaning::StackFree`]) of a stack. For other kernels, the argument `stack_ptr` of an event is
//! the stack pointer of the recording task. Between two events, the pointer may have been lower
//! than at either event. Pointers outside the stack are counted but otherwise ignored, because a
//! kernel that is simulated on a host does not use the registered stacks.
//!
//! The parameters of the task's object define the stack. `stack_start` or `stack_base` is the
//! lowest address, towards which the stack grows. `stack_size` or `stack_bytes` is the size.

use super::moments::Position;
use super::per::PerContext;
use super::step::Step;
use crate::model::{Context, ContextId, Meaning, Trace};

/// The stack of a task.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Stack {
    /// The task that owns it.
    pub context: ContextId,
    /// The lowest address of the stack, if it is known. The stack grows towards this end.
    pub start: Option<u64>,
    /// Size of the stack in bytes, if it is known.
    pub size: Option<u64>,
    /// The maximum number of used bytes; `None` if no event shows this number.
    pub used: Option<u64>,
    /// The minimum number of free bytes; `None` if no event shows this number.
    pub free: Option<u64>,
    /// The first event that shows `used` and `free`.
    pub at: Option<Position>,
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

/// Stack pointers that show nothing new: they are within the stack, and not below the lowest
/// pointer so far.
#[derive(Clone, Copy, Debug)]
struct Usual {
    lowest: u64,
    highest: u64,
}

impl Usual {
    /// No pointer shows anything new, because the stack is unknown.
    const ALL: Self = Self { lowest: 0, highest: u64::MAX };

    #[inline(always)]
    const fn contains(&self, pointer: u64) -> bool {
        self.lowest <= pointer && pointer <= self.highest
    }
}

impl Default for Usual {
    /// Any pointer may show something new.
    fn default() -> Self {
        Self { lowest: u64::MAX, highest: 0 }
    }
}

/// Follows the stacks of all tasks.
#[derive(Clone, Debug, Default)]
pub(super) struct Stacks {
    tasks: PerContext<Followed>,
    usual: PerContext<Usual>,
}

impl Stacks {
    /// Begins a range: forgets the maximum depths so far.
    pub(super) fn restart(&mut self) {
        self.usual = PerContext::default();
        for task in self.tasks.all() {
            if let Followed::Recorded(stack) = task {
                *stack = Stack { start: stack.start, size: stack.size, ..Stack::of(stack.context) };
            }
        }
    }

    /// Handles an event that a task recorded. `pointer` is the stack pointer in the event, if the
    /// event has this argument.
    #[inline(always)]
    pub(super) fn take(
        &mut self,
        trace: &Trace,
        context: ContextId,
        pointer: Option<u64>,
        at: Position,
    ) {
        let usual = self.usual.get(context).zip(pointer);
        if !usual.is_some_and(|(usual, pointer)| usual.contains(pointer)) {
            self.point(trace, context, pointer, at);
        }
    }

    #[inline(never)]
    fn point(&mut self, trace: &Trace, context: ContextId, pointer: Option<u64>, at: Position) {
        let followed = self.tasks.at(context);
        if matches!(followed, Followed::Open) {
            *followed = stack_of(trace, context).map_or(Followed::Unknown, Followed::Recorded);
        }
        if let (Followed::Recorded(stack), Some(pointer)) = (&mut *followed, pointer) {
            stack.point(pointer, at);
        }
        *self.usual.at(context) = match followed {
            Followed::Recorded(stack) => stack.usual(),
            _ => Usual::ALL,
        };
    }

    /// Handles an event with which the kernel reports the depth of a stack.
    pub(super) fn report(&mut self, trace: &Trace, step: &Step) {
        let (Some(context), Some(bytes)) = (step.subject, step.value) else { return };
        *self.usual.at(context) = Usual::default();
        let followed = self.tasks.at(context);
        if !matches!(followed, Followed::Recorded(_)) {
            let stack = stack_of(trace, context).unwrap_or(Stack::of(context));
            *followed = Followed::Recorded(stack);
        }
        if let Followed::Recorded(stack) = followed {
            stack.report(step.meaning, bytes, Position::of(step));
        }
    }

    /// Returns the stacks, by task.
    pub(super) fn finish(&self, trace: &Trace) -> Vec<Stack> {
        let known = |context: ContextId| match self.tasks.get(context) {
            Some(Followed::Recorded(stack)) => Some(*stack),
            // Also list the stacks of tasks without events.
            _ => stack_of(trace, context),
        };
        trace.contexts.iter().filter_map(|(context, _)| known(context)).collect()
    }
}

impl Stack {
    /// Returns a stack whose address, size and depth are unknown.
    const fn of(context: ContextId) -> Self {
        Self { context, start: None, size: None, used: None, free: None, at: None, outside: 0 }
    }

    /// Handles a stack pointer.
    fn point(&mut self, pointer: u64, at: Position) {
        let (Some(start), Some(size)) = (self.start, self.size) else { return };
        match pointer.checked_sub(start).filter(|free| *free <= size) {
            Some(free) => self.note(Some(size - free), Some(free), at),
            None => self.outside += 1,
        }
    }

    /// Returns the pointers that show nothing new.
    fn usual(&self) -> Usual {
        let range = |start: u64, size: u64| {
            let lowest = start.checked_add(size.checked_sub(self.used?)?)?;
            Some(Usual { lowest, highest: start.checked_add(size)? })
        };
        match self.start.zip(self.size) {
            Some((start, size)) => range(start, size).unwrap_or_default(),
            None => Usual::ALL,
        }
    }

    /// Handles a number of bytes that the kernel reports.
    fn report(&mut self, meaning: Option<Meaning>, bytes: u64, at: Position) {
        let rest = self.size.and_then(|size| size.checked_sub(bytes));
        match meaning {
            Some(Meaning::StackUsed) if bytes > 0 => self.note(Some(bytes), rest, at),
            Some(Meaning::StackFree) => self.note(rest, Some(bytes), at),
            _ => {}
        }
    }

    /// Stores a depth if it is the maximum so far.
    fn note(&mut self, used: Option<u64>, free: Option<u64>, at: Position) {
        let is_deeper = match (used, self.used, free, self.free) {
            (Some(used), Some(most), ..) => used > most,
            (_, _, Some(free), Some(least)) => free < least,
            _ => true,
        };
        if is_deeper {
            (self.used, self.free, self.at) = (used, free, Some(at));
        }
    }
}

/// Returns the stack of a context, or `None` if the parameters of its object do not contain the
/// size of the stack.
fn stack_of(trace: &Trace, context: ContextId) -> Option<Stack> {
    let known = trace.contexts.get(context)?;
    let parameter = |names: [&str; 2]| names.iter().find_map(|name| parameter(trace, known, name));
    let size = parameter(["stack_size", "stack_bytes"]).filter(|size| *size > 0)?;
    let start = parameter(["stack_start", "stack_base"]);
    Some(Stack { start, size: Some(size), ..Stack::of(context) })
}

fn parameter(trace: &Trace, context: &Context, name: &str) -> Option<u64> {
    let object = trace.objects.get(context.object?)?;
    let names = &trace.schema.object_kind(object.kind)?.parameters;
    object.parameters.get(names.iter().position(|known| known == name)?).copied()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::model::schema::Schema;
    use crate::model::{Clock, ContextKind, PayloadLayout};

    proptest! {
        #[test]
        fn usual_pointers_show_nothing_new(
            pointers in prop::collection::vec(90..220_u64, 0..50), is_known in any::<bool>(),
        ) {
            let start = is_known.then_some(100);
            let mut stack = Stack { start, size: Some(100), ..Stack::of(ContextId(0)) };
            for (seq, pointer) in (0..).zip(pointers) {
                let (before, usual) = (stack, stack.usual());
                stack.point(pointer, Position { ticks: 10 * seq, seq });
                if usual.contains(pointer) {
                    prop_assert_eq!(stack, before);
                }
                let is_inside = (100..=200).contains(&pointer);
                prop_assert_eq!(stack.usual().contains(pointer), is_inside || !is_known);
            }
        }
    }

    #[test]
    fn the_deepest_report_is_kept_with_its_event() {
        let mut stack = Stack { size: Some(100), ..Stack::of(ContextId(0)) };
        let at = |seq| Position { ticks: 10 * seq, seq };
        let reports = [(0, Meaning::StackUsed), (30, Meaning::StackUsed), (60, Meaning::StackFree)];
        let used = [None, Some(30), Some(40)];
        for ((seq, (bytes, meaning)), used) in (0..).zip(reports).zip(used) {
            stack.report(Some(meaning), bytes, at(seq));
            assert_eq!(stack.used, used, "after report {seq}");
        }
        stack.report(Some(Meaning::StackUsed), 40, at(3));
        assert_eq!((stack.used, stack.free, stack.at), (Some(40), Some(60), Some(at(2))));
        // If the size of the stack is unknown, only the reported figure is known.
        let mut unsized_stack = Stack::of(ContextId(0));
        for (seq, free) in [(0, 50), (1, 20), (2, 20), (3, 35)] {
            unsized_stack.report(Some(Meaning::StackFree), free, at(seq));
        }
        let Stack { used, free, at: found, .. } = unsized_stack;
        assert_eq!((used, free, found), (None, Some(20), Some(at(1))));
    }
    /// The trace does not contain the size of the stack.
    #[test]
    fn reports_about_a_stack_that_is_not_registered_are_kept() {
        let payload = PayloadLayout::Fields(&[]);
        let mut trace = Trace::new("test", Schema::empty(), payload, Clock::of_64_bits(None));
        let (key_text, name, kind) = (String::new(), String::new(), ContextKind::Thread);
        let task = trace.contexts.add(Context { key: 1, key_text, kind, name, object: None });
        let mut stacks = Stacks::default();
        for used in [30, 50, 20] {
            let step = Step { value: Some(used), ..Step::about(Meaning::StackUsed, task) };
            stacks.report(&trace, &step);
        }
        let found: Vec<_> = stacks.finish(&trace).iter().map(|stack| stack.used).collect();
        assert_eq!(found, [Some(50)]);
    }
}
