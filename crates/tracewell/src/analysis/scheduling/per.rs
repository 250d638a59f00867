//! Tables with one row per context or per core.

use crate::model::ContextId;

/// A table with a row for each context that was accessed.
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
    /// Returns the row of a context. Creates the row if necessary.
    #[inline]
    pub(super) fn at(&mut self, context: ContextId) -> &mut T {
        let (rows, index) = (&mut self.rows, context.index());
        if index < rows.len() { &mut rows[index] } else { grow(rows, index) }
    }

    /// Returns the row of a context, if it exists.
    #[inline]
    pub(super) fn get(&self, context: ContextId) -> Option<&T> {
        self.rows.get(context.index())
    }

    /// Returns all rows, indexed by context id.
    pub(super) fn rows(&self) -> &[T] {
        &self.rows
    }

    /// Returns all rows as mutable references, in order of context ids.
    pub(super) fn all(&mut self) -> impl Iterator<Item = &mut T> {
        self.rows.iter_mut()
    }
}

/// A table with a row for each core that was accessed.
#[derive(Clone, Debug)]
pub(super) struct PerCore<T>(Vec<T>);

impl<T> Default for PerCore<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T: Default> PerCore<T> {
    /// Returns the row of a core. Creates the row if necessary.
    #[inline]
    pub(super) fn at(&mut self, cpu: u16) -> &mut T {
        let (rows, index) = (&mut self.0, usize::from(cpu));
        if index < rows.len() { &mut rows[index] } else { grow(rows, index) }
    }

    /// Returns the row of a core, if it exists.
    #[inline]
    pub(super) fn get_mut(&mut self, cpu: u16) -> Option<&mut T> {
        self.0.get_mut(usize::from(cpu))
    }

    /// Returns the number of rows: the largest accessed core number, plus one.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns all rows as mutable references, in order of core numbers.
    pub(super) fn all(&mut self) -> impl Iterator<Item = &mut T> {
        self.0.iter_mut()
    }
}

/// Creates the rows up to this index, and returns the last one.
#[cold]
#[inline(never)]
fn grow<T: Default>(rows: &mut Vec<T>, index: usize) -> &mut T {
    rows.resize_with(index + 1, T::default);
    &mut rows[index]
}
