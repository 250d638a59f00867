//! Who runs, where events do not say who recorded them: followed from the scheduler's choices and the
//! brackets of interrupts.
//!
//! | told | effect |
//! |---|---|
//! | start of the trace | who runs then, if nobody is known to |
//! | interrupt begins | nobody runs until the outermost one ends |
//! | scheduler chose | at once; within an interrupt, when the outermost one ends |
//! | interrupt ends | the last choice within it; else whom the end itself names; else as before |
//! | end without a beginning | whom it names, if nobody is known to run |
//! | context was loaded | only where choices are not told: systems log it for some switches only |
//! | the system's own context was loaded | at once: no scheduler chooses it |

use super::ContextId;

/// A context or none in 32 bits, so that hot loops compare and choose with one instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct MaybeContext(u32);

impl MaybeContext {
    /// No context.
    pub const NONE: Self = Self(0);

    /// The context, if it is one.
    #[inline]
    pub fn get(self) -> Option<ContextId> {
        self.0.checked_sub(1).map(ContextId)
    }

    /// The context; the first one of all where this is none.
    #[inline]
    pub fn or_first(self) -> ContextId {
        ContextId(self.0.saturating_sub(1))
    }

    /// This one, or the other where this is none.
    #[inline]
    fn or(self, other: Self) -> Self {
        if self == Self::NONE { other } else { self }
    }
}

impl From<ContextId> for MaybeContext {
    #[inline]
    fn from(context: ContextId) -> Self {
        // There are fewer contexts than events, and those are counted in the tables of contexts.
        Self(context.0.saturating_add(1))
    }
}

impl From<Option<ContextId>> for MaybeContext {
    #[inline]
    fn from(context: Option<ContextId>) -> Self {
        context.map_or(Self::NONE, Self::from)
    }
}

/// What is followed of a choice: who runs, or more.
pub trait Choice: Copy + PartialEq + Default {
    /// A task that runs for itself.
    fn of(task: MaybeContext) -> Self;

    /// Who runs; the default of the type is nobody.
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

/// Who runs, and on whose behalf: itself, or who waits for something that it holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct OnBehalf {
    /// Who runs.
    pub runs: MaybeContext,
    /// On whose behalf.
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

/// Who runs, as far as events tell.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Running<C> {
    /// The choice that holds when no interrupt is being served.
    pub(crate) now: C,
    /// The last choice within the interrupt that is being served.
    pub(crate) chosen: C,
    /// Interrupts that are being served; wide enough for every event to begin one.
    pub(crate) depth: u64,
    /// Whether the scheduler's choices are told.
    pub(crate) choices_told: bool,
}

impl<C: Choice> Running<C> {
    /// The choice that holds when no interrupt is being served.
    #[inline]
    pub fn now(&self) -> C {
        self.now
    }

    /// Who has the processor when no interrupt does; `None` where that is not known.
    #[inline]
    pub fn task(&self) -> Option<ContextId> {
        self.now.runs().get()
    }

    /// Who will run next as far as was chosen: within an interrupt the choice made there.
    pub fn coming(&self) -> Option<ContextId> {
        self.chosen.runs().or(self.now.runs()).get()
    }

    /// Whether an interrupt is being served.
    #[inline]
    pub fn in_interrupt(&self) -> bool {
        self.depth > 0
    }

    /// The trace starts while this one runs.
    pub fn start(&mut self, task: ContextId) {
        if self.task().is_none() {
            self.now = C::of(task.into());
        }
    }

    /// The scheduler chose.
    pub fn choose(&mut self, choice: C) {
        self.choices_told = true;
        if self.in_interrupt() { self.chosen = choice } else { self.now = choice }
    }

    /// An interrupt begins.
    pub fn enter(&mut self) {
        if !self.in_interrupt() {
            self.chosen = C::default();
        }
        self.depth += 1;
    }

    /// An interrupt ends; it may name who continues.
    pub fn exit(&mut self, continues: Option<ContextId>) {
        match (self.depth, continues) {
            (0, Some(task)) => self.start(task),
            (1, _) if self.chosen.runs() != MaybeContext::NONE => self.now = self.chosen,
            (1, Some(task)) if self.task() != Some(task) => self.now = C::of(task.into()),
            _ => {}
        }
        if self.depth == 1 {
            self.chosen = C::default();
        }
        self.depth = self.depth.saturating_sub(1);
    }

    /// This one was loaded.
    #[inline]
    pub fn load(&mut self, task: ContextId) {
        let changes = self.task().is_none() || (!self.choices_told && self.depth == 0);
        if changes && self.task() != Some(task) {
            self.now = C::of(task.into());
        }
    }

    /// The system's own context was loaded, such as the kernel's that shuts down.
    pub fn load_system(&mut self, system: ContextId) {
        if !self.in_interrupt() {
            self.now = C::of(system.into());
        }
    }

    /// This one recorded an event outside interrupts: those that were being served have ended.
    #[inline]
    pub fn record(&mut self, task: ContextId) {
        if self.task() != Some(task) {
            self.now = C::of(task.into());
        }
        (self.depth, self.chosen) = (0, C::default());
    }

    /// Nobody is ready any more.
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
        assert_eq!(running.task(), Some(A), "an end without a beginning changes nothing known");
        running.choose(behalf(A, C));
        running.enter();
        running.exit(Some(A));
        assert_eq!(running.now().of.get(), Some(C));
        running.enter();
        running.exit(Some(B));
        assert_eq!(running.now().of.get(), Some(B));
    }

    #[test]
    fn loads_count_only_where_choices_are_not_told() {
        let mut running = Running::<OnBehalf>::default();
        running.load(A);
        running.load(B);
        assert_eq!(running.task(), Some(B));
        running.choose(behalf(C, C));
        running.load(A);
        assert_eq!(running.task(), Some(C));
    }
}
