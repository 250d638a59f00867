//! Distributes spans over rows so that the spans on each row do not overlap.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// For each span, returns the number of its row: the first free row, counted from 0. `spans`
/// contains the first and the last tick of each span, in order of the first ticks. A span may begin
/// at the tick at which the previous span on its row ends.
pub(super) fn lanes(spans: impl Iterator<Item = (u64, u64)>) -> Vec<usize> {
    // Two heaps: one contains the last tick and the row of each open span, the other the free rows.
    let mut open: BinaryHeap<Reverse<(u64, usize)>> = BinaryHeap::new();
    let mut free: BinaryHeap<Reverse<usize>> = BinaryHeap::new();
    let lane = |(from, until): (u64, u64)| {
        while let Some(Reverse((_, lane))) = open.peek().copied().filter(|open| open.0.0 <= from) {
            open.pop();
            free.push(Reverse(lane));
        }
        let next = open.len();
        let lane = free.pop().map_or(next, |Reverse(lane)| lane);
        open.push(Reverse((until, lane)));
        lane
    };
    spans.map(lane).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_of_one_row_do_not_overlap() {
        let spans = [(0, 10), (2, 4), (3, 5), (4, 12), (10, 11)];
        assert_eq!(lanes(spans.into_iter()), [0, 1, 2, 1, 0]);
    }
}
