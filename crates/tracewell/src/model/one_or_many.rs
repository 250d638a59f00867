//! A list that stores a single element without an allocation.
//!
//! Nearly every key refers to one object for a whole trace. The key's entry in a table then
//! contains everything that a lookup needs, and creating the entry costs no allocation.

use std::ops::Deref;

/// A list of any length.
#[derive(Clone, Debug)]
pub(super) enum OneOrMany<T> {
    One(T),
    Many(Vec<T>),
}

impl<T> Default for OneOrMany<T> {
    fn default() -> Self {
        Self::Many(Vec::new())
    }
}

impl<T> Deref for OneOrMany<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        match self {
            Self::One(element) => std::slice::from_ref(element),
            Self::Many(list) => list,
        }
    }
}

impl<T> OneOrMany<T> {
    /// Adds an element at the end.
    pub(super) fn push(&mut self, element: T) {
        *self = match std::mem::take(self) {
            Self::Many(list) if list.is_empty() => Self::One(element),
            Self::One(first) => Self::Many(vec![first, element]),
            Self::Many(mut list) => {
                list.push(element);
                Self::Many(list)
            }
        };
    }

    /// Removes and returns the last element.
    pub(super) fn pop(&mut self) -> Option<T> {
        match std::mem::take(self) {
            Self::One(element) => Some(element),
            Self::Many(mut list) => {
                let last = list.pop();
                *self = Self::Many(list);
                last
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_leave_in_the_opposite_order() {
        let mut list = OneOrMany::default();
        for round in 0..2 {
            assert_eq!((list.len(), list.pop()), (0, None), "round {round}");
            for count in 1..=3 {
                list.push(10 * count);
                assert_eq!((list.len(), list.last()), (count, Some(&(10 * count))));
            }
            assert_eq!(&*list, [10, 20, 30]);
            assert_eq!([list.pop(), list.pop(), list.pop()], [Some(30), Some(20), Some(10)]);
        }
    }
}
