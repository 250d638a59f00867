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

/// Who runs, and on whose behalf. `T` names a context.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Running<T> {
    task: Option<Choice<T>>,
    chosen: Option<Choice<T>>,
    depth: u32,
    choices_told: bool,
}

/// What a scheduler chose.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Choice<T> {
    runs: T,
    on_behalf_of: T,
}

impl<T> Choice<T> {
    fn plain(task: T) -> Self
    where
        T: Copy,
    {
        Self { runs: task, on_behalf_of: task }
    }
}

impl<T> Default for Running<T> {
    fn default() -> Self {
        Self { task: None, chosen: None, depth: 0, choices_told: false }
    }
}

impl<T: Copy + PartialEq> Running<T> {
    /// Who has the processor when no interrupt does; `None` where that is not known.
    #[inline]
    pub fn task(&self) -> Option<T> {
        self.task.map(|choice| choice.runs)
    }

    /// On whose behalf: itself, or who waits for something that it holds.
    #[inline]
    pub fn on_behalf_of(&self) -> Option<T> {
        self.task.map(|choice| choice.on_behalf_of)
    }

    /// Who will run next as far as was chosen: within an interrupt the choice made there.
    pub fn coming(&self) -> Option<T> {
        self.chosen.or(self.task).map(|choice| choice.runs)
    }

    /// Whether an interrupt is being served.
    #[inline]
    pub fn in_interrupt(&self) -> bool {
        self.depth > 0
    }

    /// The trace starts while this one runs.
    pub fn start(&mut self, task: T) {
        self.task.get_or_insert(Choice::plain(task));
    }

    /// The scheduler chose `on_behalf_of`, and `runs` gets the processor for it.
    #[inline]
    pub fn choose(&mut self, runs: T, on_behalf_of: T) {
        let choice = Some(Choice { runs, on_behalf_of });
        self.choices_told = true;
        *(if self.depth > 0 { &mut self.chosen } else { &mut self.task }) = choice;
    }

    /// An interrupt begins.
    #[inline]
    pub fn enter(&mut self) {
        if self.depth == 0 {
            self.chosen = None;
        }
        self.depth = self.depth.saturating_add(1);
    }

    /// An interrupt ends; it may name who continues.
    #[inline]
    pub fn exit(&mut self, continues: Option<T>) {
        let named = continues.map(Choice::plain);
        match self.depth {
            0 => self.task = self.task.or(named),
            1 => {
                let other = named.filter(|named| self.task() != Some(named.runs));
                self.task = self.chosen.take().or(other).or(self.task);
                self.depth = 0;
            }
            _ => self.depth -= 1,
        }
    }

    /// This one was loaded.
    #[inline]
    pub fn load(&mut self, task: T) {
        let changes = self.task.is_none() || (!self.choices_told && self.depth == 0);
        if changes && self.task() != Some(task) {
            self.task = Some(Choice::plain(task));
        }
    }

    /// This one recorded an event outside interrupts: those that were being served have ended.
    #[inline]
    pub fn record(&mut self, task: T) {
        if self.task() != Some(task) {
            self.task = Some(Choice::plain(task));
        }
        (self.depth, self.chosen) = (0, None);
    }

    /// Nobody is ready any more.
    pub fn idle(&mut self) {
        if self.depth == 0 {
            self.task = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_choice_within_an_interrupt_holds_from_its_end_on() {
        let mut running = Running::default();
        running.start('a');
        running.start('b');
        running.enter();
        running.enter();
        running.choose('b', 'c');
        running.exit(None);
        assert_eq!((running.task(), running.coming()), (Some('a'), Some('b')));
        assert!(running.in_interrupt());
        running.exit(Some('d'));
        assert_eq!((running.task(), running.on_behalf_of()), (Some('b'), Some('c')));
        assert!(!running.in_interrupt());
    }

    #[test]
    fn an_end_names_who_continues_where_nothing_was_chosen() {
        let mut running = Running::default();
        running.exit(Some('a'));
        assert_eq!(running.task(), Some('a'));
        running.exit(Some('b'));
        assert_eq!(running.task(), Some('a'), "an end without a beginning changes nothing known");
        running.choose('a', 'x');
        running.enter();
        running.exit(Some('a'));
        assert_eq!(running.on_behalf_of(), Some('x'));
        running.enter();
        running.exit(Some('b'));
        assert_eq!(running.on_behalf_of(), Some('b'));
    }

    #[test]
    fn loads_count_only_where_choices_are_not_told() {
        let mut running = Running::default();
        running.load('a');
        running.load('b');
        assert_eq!(running.task(), Some('b'));
        running.choose('c', 'c');
        running.load('a');
        assert_eq!(running.task(), Some('c'));
    }
}
