//! Determines which context has the processor in a system whose events do not identify their
//! context. Uses the scheduler's choices and the begin and end events of interrupts.
//!
//! | event | effect |
//! |---|---|
//! | start of the trace | the subject of the event runs, unless another task is known to run |
//! | interrupt begins | no task runs until the outermost interrupt ends |
//! | scheduler chose | the choice applies at once, or when the outermost interrupt ends |
//! | interrupt ends | the task chosen during it runs, or else the task that the event names |
//! | end without a beginning | the named task runs, unless another is known to run |
//! | context was loaded | it runs, if the trace records no choices or no task is known to run |
//! | the system's own context was loaded | it runs at once: no scheduler chooses it |

use super::ContextId;

/// An optional context in 32 bits, so that hot loops compare and select with one instruction.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct MaybeContext(u32);

impl MaybeContext {
    /// The value that means no context or an unknown context.
    pub const NONE: Self = Self(0);

    /// Returns the context, or `None` if there is none.
    #[inline]
    pub fn get(self) -> Option<ContextId> {
        self.0.checked_sub(1).map(ContextId)
    }

    /// Returns a number that is different for each value.
    #[inline]
    pub(crate) fn bits(self) -> u32 {
        self.0
    }

    /// Returns this context, or `other` if this value means no context.
    #[inline]
    fn or(self, other: Self) -> Self {
        if self == Self::NONE { other } else { self }
    }
}

impl From<ContextId> for MaybeContext {
    #[inline]
    fn from(context: ContextId) -> Self {
        // The sum fits, because no real trace has 2^32 contexts.
        Self(context.0.saturating_add(1))
    }
}

impl From<Option<ContextId>> for MaybeContext {
    #[inline]
    fn from(context: Option<ContextId>) -> Self {
        context.map_or(Self::NONE, Self::from)
    }
}

/// A choice of the scheduler. It contains the context that runs as a result. Some implementations
/// contain further data.
pub trait Choice: Copy + PartialEq + Default {
    /// Returns the choice of a task that runs on its own behalf.
    fn of(task: MaybeContext) -> Self;

    /// Returns the context that runs as a result. The default value of the type contains no
    /// context.
    fn runs(self) -> MaybeContext;
}

impl Choice for MaybeContext {
    #[inline]
    fn of(task: MaybeContext) -> Self {
        task
    }

    #[inline]
    fn runs(self) -> MaybeContext {
        self
    }
}

/// The running context, and the context on whose behalf it runs. The two are the same context,
/// unless the first one holds a resource for which the second one waits.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct OnBehalf {
    /// The context that is running.
    pub runs: MaybeContext,
    /// The context on whose behalf it runs; the same context if it runs on its own behalf.
    pub of: MaybeContext,
}

impl Choice for OnBehalf {
    #[inline]
    fn of(task: MaybeContext) -> Self {
        Self { runs: task, of: task }
    }

    #[inline]
    fn runs(self) -> MaybeContext {
        self.runs
    }
}

/// The context that is running, derived from events.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Running<C> {
    /// The choice that applies while no interrupt is being served.
    pub(crate) now: C,
    /// The last choice within the interrupt that is being served.
    pub(crate) chosen: C,
    /// Number of interrupts that are being served. Any event can begin another interrupt, so this
    /// number can be as large as the number of events.
    pub(crate) depth: u64,
    /// True if the trace records the scheduler's choices.
    pub(crate) choices_recorded: bool,
}

impl<C: Choice> Running<C> {
    /// Returns the choice that applies while no interrupt is being served.
    #[inline]
    pub fn now(&self) -> C {
        self.now
    }

    /// Returns the task that has the processor while no interrupt is being served, or `None` if it
    /// is unknown.
    #[inline]
    pub fn task(&self) -> Option<ContextId> {
        self.now.runs().get()
    }

    /// Returns the task that will run next: the task that the scheduler chose within the current
    /// interrupt or, if there is no such choice, the running task.
    pub fn coming(&self) -> Option<ContextId> {
        self.chosen.runs().or(self.now.runs()).get()
    }

    /// Returns the number of interrupts that are being served.
    pub fn depth(&self) -> u64 {
        self.depth
    }

    /// Returns true if an interrupt is being served.
    #[inline]
    pub fn in_interrupt(&self) -> bool {
        self.depth > 0
    }

    /// Handles the start of a trace in which `task` is already running.
    pub fn start(&mut self, task: ContextId) {
        if self.task().is_none() {
            self.now = C::of(task.into());
        }
    }

    /// Handles a choice of the scheduler.
    pub fn choose(&mut self, choice: C) {
        self.choices_recorded = true;
        if self.in_interrupt() { self.chosen = choice } else { self.now = choice }
    }

    /// Handles the beginning of an interrupt.
    pub fn enter(&mut self) {
        // If the scheduler made its choice before the interrupt, the choice is already in `now`.
        if !self.in_interrupt() {
            self.chosen = C::default();
        }
        self.depth += 1;
    }

    /// Handles the end of an interrupt; this event can name the task that continues.
    pub fn exit(&mut self, continues: Option<ContextId>) {
        match (self.depth, continues) {
            // The interrupt began before the trace. Its end shows the running context, unless the
            // context is already known.
            (0, Some(task)) => self.start(task),
            // The scheduler chose a task during an interrupt. The chosen task runs from the end of
            // the outermost interrupt.
            (1, _) if self.chosen.runs() != MaybeContext::NONE => self.now = self.chosen,
            // If the same task continues, it keeps the context on whose behalf it runs.
            (1, Some(task)) if self.task() != Some(task) => self.now = C::of(task.into()),
            _ => {}
        }
        if self.depth == 1 {
            self.chosen = C::default();
        }
        self.depth = self.depth.saturating_sub(1);
    }

    /// Handles the loading of a task's context.
    #[inline]
    pub fn load(&mut self, task: ContextId) {
        // Trust the scheduler's choices more than loads of contexts, because some systems record
        // loads only for some switches.
        let changes = self.task().is_none() || (!self.choices_recorded && self.depth == 0);
        if changes && self.task() != Some(task) {
            self.now = C::of(task.into());
        }
    }

    /// Handles the load of the system's own context, for example when a kernel shuts down.
    pub fn load_system(&mut self, system: ContextId) {
        if !self.in_interrupt() {
            self.now = C::of(system.into());
        }
    }

    /// Handles an event that this task recorded outside of interrupts. All interrupts that were
    /// being served have ended.
    #[inline]
    pub fn record(&mut self, task: ContextId) {
        if self.task() != Some(task) {
            self.now = C::of(task.into());
        }
        (self.depth, self.chosen) = (0, C::default());
    }

    /// Returns true if this task has the processor outside of interrupts, and no other task was
    /// chosen. [`Running::record`] then changes nothing.
    #[inline(always)]
    pub(crate) fn runs_plainly(&self, task: ContextId) -> bool {
        self.now.runs() == MaybeContext::from(task)
            && self.depth == 0
            && self.chosen == C::default()
    }

    /// Handles evidence that the running task has another core: the task of this core is unknown.
    pub(crate) fn lose(&mut self) {
        if self.chosen.runs() == self.now.runs() {
            self.chosen = C::default();
        }
        self.now = C::default();
    }

    /// Handles a report that no task is ready.
    pub fn idle(&mut self) {
        if self.depth == 0 {
            self.now = C::default();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: ContextId = ContextId(0);
    const B: ContextId = ContextId(1);
    const C: ContextId = ContextId(2);
    const D: ContextId = ContextId(3);

    fn behalf(runs: ContextId, of: ContextId) -> OnBehalf {
        OnBehalf { runs: runs.into(), of: of.into() }
    }

    #[test]
    fn a_choice_within_an_interrupt_holds_from_its_end_on() {
        let mut running = Running::<OnBehalf>::default();
        running.start(A);
        running.start(B);
        running.enter();
        running.enter();
        running.choose(behalf(B, C));
        running.exit(None);
        assert_eq!((running.task(), running.coming()), (Some(A), Some(B)));
        assert!(running.in_interrupt());
        running.exit(Some(D));
        assert_eq!((running.task(), running.now().of.get()), (Some(B), Some(C)));
        assert!(!running.in_interrupt());
    }

    #[test]
    fn an_end_names_who_continues_where_nothing_was_chosen() {
        let mut running = Running::<OnBehalf>::default();
        running.exit(Some(A));
        assert_eq!(running.task(), Some(A));
        running.exit(Some(B));
        assert_eq!(running.task(), Some(A), "an end without a beginning changes no known context");
        running.choose(behalf(A, C));
        running.enter();
        running.exit(Some(A));
        assert_eq!(running.now().of.get(), Some(C));
        running.enter();
        running.exit(Some(B));
        assert_eq!(running.now().of.get(), Some(B));
    }

    #[test]
    fn a_task_runs_plainly_outside_of_interrupts_until_another_is_chosen() {
        let mut running = Running::<OnBehalf>::default();
        running.start(A);
        assert!(running.runs_plainly(A) && !running.runs_plainly(B));
        running.enter();
        assert!(!running.runs_plainly(A) && !running.runs_plainly(B));
        running.choose(behalf(B, B));
        assert!(!running.runs_plainly(A) && !running.runs_plainly(B));
        running.exit(None);
        assert!(!running.runs_plainly(A) && running.runs_plainly(B));
    }

    #[test]
    fn a_task_that_has_another_core_leaves_an_unknown_task_and_its_interrupts() {
        let mut running = Running::<OnBehalf>::default();
        running.start(A);
        running.enter();
        running.choose(behalf(A, A));
        let mut chosen = running;
        running.lose();
        assert_eq!((running.task(), running.coming(), running.depth()), (None, None, 1));
        chosen.choose(behalf(B, B));
        chosen.lose();
        assert_eq!((chosen.task(), chosen.coming()), (None, Some(B)));
    }

    #[test]
    fn loads_count_only_if_choices_are_not_recorded() {
        let mut running = Running::<OnBehalf>::default();
        running.load(A);
        running.load(B);
        assert_eq!(running.task(), Some(B));
        running.choose(behalf(C, C));
        running.load(A);
        assert_eq!(running.task(), Some(C));
    }
}
