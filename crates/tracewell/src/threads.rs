//! Divides work, such as the slots of a dump or the rows of a view, among several threads. For
//! texts that must be written in order, see [`crate::text::write_in_order`].

use std::iter;
use std::ops::Range;
use std::panic::resume_unwind;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{self, Builder};

use crate::text::thread_count;

/// The number of threads that may share some work. Asking the system for the number of processors
/// takes as long as decoding a small dump, so this is done only once, and only if there is
/// work for several threads.
#[derive(Clone, Debug)]
pub(crate) struct Threads {
    chosen: usize,
    count: OnceLock<usize>,
}

impl Threads {
    /// `chosen` is the number that the user chose; 0 means one per processor.
    pub(crate) const fn new(chosen: usize) -> Self {
        Self { chosen, count: OnceLock::new() }
    }

    pub(crate) fn count(&self) -> usize {
        *self.count.get_or_init(|| thread_count(self.chosen))
    }
}

/// Cuts a range into one part per thread and calls `work` for each part. The lengths of the parts
/// are multiples of `unit`, except the length of the last part. Returns the results in order.
///
/// If the system cannot create a thread, the caller's thread does the work of that thread.
pub(crate) fn on_threads<T: Send>(
    range: Range<usize>,
    unit: usize,
    threads: &Threads,
    work: impl Fn(Range<usize>) -> T + Sync,
) -> Vec<T> {
    let units = range.len().div_ceil(unit);
    let threads = if units > 1 { threads.count() } else { 1 };
    let each = units.div_ceil(threads).max(1) * unit;
    let part = |start: usize| start..range.end.min(start + each);
    let mut parts = range.clone().step_by(each).map(part);
    let Some(own) = parts.next() else { return Vec::new() };
    thread::scope(|scope| {
        let work = &work;
        let spawn = |part: Range<usize>| {
            let other = part.clone();
            Builder::new().spawn_scoped(scope, move || work(other)).map_err(|_| part)
        };
        let others: Vec<_> = parts.map(spawn).collect();
        let own = work(own);
        let others = others.into_iter().map(|other| match other {
            Ok(thread) => thread.join().unwrap_or_else(|panic| resume_unwind(panic)),
            Err(part) => work(part),
        });
        iter::once(own).chain(others).collect()
    })
}

/// Calls `work` for each number below `count`, and returns the results in order. A thread takes the
/// next number as soon as it has finished the one before, so the calls need not take equally long.
pub(crate) fn each_on_threads<T: Send>(
    count: usize,
    threads: &Threads,
    work: impl Fn(usize) -> T + Sync,
) -> Vec<T> {
    let next = AtomicUsize::new(0);
    let workers = if count > 1 { threads.count().min(count) } else { 1 };
    let done = on_threads(0..workers, 1, threads, |_| {
        let take = || Some(next.fetch_add(1, Ordering::Relaxed)).filter(|number| *number < count);
        iter::from_fn(take).map(|number| (number, work(number))).collect::<Vec<_>>()
    });
    let mut results: Vec<_> = done.into_iter().flatten().collect();
    results.sort_unstable_by_key(|(number, _)| *number);
    results.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_are_the_whole_range_in_order() {
        for threads in [1, 2, 3, 7] {
            for length in [0, 1, 15, 16, 17, 100] {
                let parts = on_threads(5..5 + length, 16, &Threads::new(threads), |part| part);
                assert!(parts.len() <= threads, "{threads} threads, length {length}");
                assert!(parts.iter().rev().skip(1).all(|part| part.len() % 16 == 0));
                let all: Vec<_> = parts.into_iter().flatten().collect();
                assert_eq!(all, (5..5 + length).collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn results_are_in_order() {
        for threads in [1, 2, 7] {
            for count in [0, 1, 2, 50] {
                let squares = each_on_threads(count, &Threads::new(threads), |n| n * n);
                assert_eq!(squares, (0..count).map(|n| n * n).collect::<Vec<_>>(), "{threads}");
            }
        }
    }
}
