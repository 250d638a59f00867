//! The interrupts in progress on a core. Recorders write an event at the beginning and at the end
//! of an interrupt. The events between them belong to the innermost interrupt.

/// Maximum depth. Only damaged streams nest deeper.
const MAX_DEPTH: usize = 64;

/// The interrupts in progress, identified by `T`. Interrupts deeper than the maximum are only
/// counted. Their events belong to the deepest stored interrupt.
#[derive(Clone, Debug)]
pub(super) struct Nested<T> {
    /// The stored interrupts, from the outermost to the innermost.
    entered: Vec<T>,
    /// Number of interrupts in progress that are not stored.
    deeper: u64,
}

impl<T> Default for Nested<T> {
    fn default() -> Self {
        Self { entered: Vec::new(), deeper: 0 }
    }
}

impl<T: Copy> Nested<T> {
    /// Handles the beginning of an interrupt.
    #[inline]
    pub(super) fn enter(&mut self, interrupt: T) {
        if self.entered.len() < MAX_DEPTH {
            self.entered.push(interrupt);
        } else {
            self.deeper += 1;
        }
    }

    /// Handles the end of the innermost interrupt, and returns the interrupt. If that interrupt is
    /// deeper than the maximum, returns the deepest stored interrupt. Returns `None` if no
    /// interrupt is in progress.
    #[inline]
    pub(super) fn exit(&mut self) -> Option<T> {
        if self.deeper > 0 {
            self.deeper -= 1;
            return self.innermost();
        }
        self.entered.pop()
    }

    /// Returns the innermost stored interrupt, or `None` if no interrupt is in progress.
    #[inline]
    pub(super) fn innermost(&self) -> Option<T> {
        self.entered.last().copied()
    }

    /// Forgets all interrupts.
    pub(super) fn clear(&mut self) {
        self.entered.clear();
        self.deeper = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_end_matches_a_beginning_however_deep_the_nesting_is() {
        let mut nested = Nested::default();
        let depth = MAX_DEPTH + 3;
        (0..depth).for_each(|interrupt| nested.enter(interrupt));
        let ended: Vec<_> = (0..depth).map(|_| nested.exit()).collect();
        let deepest = MAX_DEPTH - 1;
        let expected = [deepest; 3].into_iter().chain((0..MAX_DEPTH).rev()).map(Some);
        assert!(expected.eq(ended));
        assert_eq!((nested.innermost(), nested.exit()), (None, None));
        (0..depth).for_each(|interrupt| nested.enter(interrupt));
        nested.clear();
        assert_eq!(nested.exit(), None);
    }
}
