//! Tables with a row a context.

use crate::model::ContextId;

/// A row for each context that was asked for.
#[derive(Clone, Debug)]
pub(super) struct PerContext<T> {
    rows: Vec<T>,
}

impl<T> Default for PerContext<T> {
    fn default() -> Self {
        Self { rows: Vec::new() }
    }
}

impl<T: Default> PerContext<T> {
    /// The row of a context.
    #[inline]
    pub(super) fn at(&mut self, context: ContextId) -> &mut T {
        let index = context.index();
        if index >= self.rows.len() {
            self.rows.resize_with(index + 1, T::default);
        }
        &mut self.rows[index]
    }

    /// All rows there are.
    pub(super) fn all(&mut self) -> impl Iterator<Item = &mut T> {
        self.rows.iter_mut()
    }
}
