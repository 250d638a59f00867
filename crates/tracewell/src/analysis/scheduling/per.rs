//! Tables with a row a context, and with a row a core.

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

    /// The row of a context, if it or a later one was asked for before.
    #[inline]
    pub(super) fn get(&self, context: ContextId) -> Option<&T> {
        self.rows.get(context.index())
    }

    /// All rows there are, by the numbers of their contexts.
    pub(super) fn rows(&self) -> &[T] {
        &self.rows
    }

    /// All rows there are.
    pub(super) fn all(&mut self) -> impl Iterator<Item = &mut T> {
        self.rows.iter_mut()
    }
}

/// A row for each core that was asked for.
#[derive(Clone, Debug)]
pub(super) struct PerCore<T>(Vec<T>);

impl<T> Default for PerCore<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T: Default> PerCore<T> {
    /// The row of a core.
    #[inline]
    pub(super) fn at(&mut self, cpu: u16) -> &mut T {
        let index = usize::from(cpu);
        if index >= self.0.len() {
            self.0.resize_with(index + 1, T::default);
        }
        &mut self.0[index]
    }

    /// All rows there are.
    pub(super) fn all(&mut self) -> impl Iterator<Item = &mut T> {
        self.0.iter_mut()
    }
}
