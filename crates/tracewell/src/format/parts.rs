//! Divides an input into the files of a run.

use std::ops::Range;

/// Returns the ranges of the files in an input of `length` bytes. `starts` are the offsets of the
/// second and all later files ([`Settings::parts`](super::Settings::parts)). Files without bytes
/// are omitted, except the first one; [`Input::open_run`](crate::input::Input::open_run) reports
/// them.
pub(super) fn ranges(starts: &[usize], length: usize) -> Vec<Range<usize>> {
    let mut starts: Vec<_> = starts.iter().copied().filter(|start| *start < length).collect();
    starts.push(0);
    starts.sort_unstable();
    starts.dedup();
    let ends = starts.iter().skip(1).copied().chain([length]);
    starts.iter().copied().zip(ends).map(|(start, end)| start..end).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_without_bytes_are_omitted() {
        let found = |starts: &[usize], length| -> Vec<_> {
            ranges(starts, length).into_iter().map(|range| (range.start, range.end)).collect()
        };
        assert_eq!(found(&[], 0), [(0, 0)]);
        assert_eq!(found(&[0], 0), [(0, 0)]);
        assert_eq!(found(&[], 8), [(0, 8)]);
        assert_eq!(found(&[0, 3, 3, 7], 8), [(0, 3), (3, 7), (7, 8)]);
        assert_eq!(found(&[3, 8, 9], 8), [(0, 3), (3, 8)]);
    }
}
