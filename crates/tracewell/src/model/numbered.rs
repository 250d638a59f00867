//! Iterates over a list from a given element on, and numbers each element by its index.

/// Returns the elements of a list from index `first` on, each with its number. Skipping the first
/// ones takes no time.
pub(super) fn numbered_from<T, N>(
    list: &[T],
    first: usize,
    number: fn(u32) -> N,
) -> impl ExactSizeIterator<Item = (N, &T)> {
    let rest = list.get(first..).unwrap_or_default().iter().enumerate();
    rest.map(move |(index, element)| (number((first + index) as u32), element))
}
