//! Numbers of a program's event types, the same for all streams of the process.
//!
//! An event type has an id in each stream, which depends on who defined what in it before. A stream finds it by the
//! type's number, in a table of its own (`Stream::ids`), so that no order of definitions in one stream says
//! anything about another.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use tracewell_wire::native::EVENT_IDS;

/// The number of an event type: 1 to `EVENT_IDS` - 1, 0 before it was first asked for.
#[derive(Debug)]
pub(super) struct Number(AtomicU32);

/// A bit for each number that is given; 0 is no number.
static TAKEN: [AtomicU32; EVENT_IDS / 32] = {
    let mut taken = [const { AtomicU32::new(0) }; EVENT_IDS / 32];
    taken[0] = AtomicU32::new(1);
    taken
};

impl Number {
    pub(super) const fn new() -> Self {
        Self(AtomicU32::new(0))
    }

    /// The number, or 0 if there is none yet; below `EVENT_IDS`.
    #[inline(always)]
    pub(super) fn get(&self) -> usize {
        // Relaxed, as everywhere here: a number is all there is to it.
        self.0.load(Relaxed) as usize % EVENT_IDS
    }

    /// The number, which it gets now if it has none; `None` if all are given. For signal handlers.
    pub(super) fn settle(&self) -> Option<usize> {
        if self.get() == 0 {
            let number = take()?;
            if self.0.compare_exchange(0, number, Relaxed, Relaxed).is_err() {
                // Another thread was faster. Nobody has seen this number.
                TAKEN[number as usize / 32].fetch_and(!(1 << (number % 32)), Relaxed);
            }
        }
        Some(self.get())
    }
}

fn take() -> Option<u32> {
    let first_free = |bits: u32| (bits != u32::MAX).then_some(bits | bits.wrapping_add(1));
    TAKEN.iter().zip(0..).find_map(|(word, index)| {
        let before = word.fetch_update(Relaxed, Relaxed, first_free).ok()?;
        Some(index * 32 + before.trailing_ones())
    })
}

#[cfg(test)]
mod tests {
    use std::vec::Vec;

    use super::*;

    #[test]
    fn threads_that_ask_at_once_get_one_number_for_each_type_and_lose_none() {
        let types: Vec<_> = (0..100).map(|_| Number::new()).collect();
        let settle = || types.iter().map(|number| number.settle().unwrap()).collect::<Vec<_>>();
        let seen: Vec<_> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(settle)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert!(seen.iter().all(|numbers| *numbers == seen[0]));
        let mut numbers = seen[0].clone();
        numbers.sort_unstable();
        numbers.dedup();
        assert_eq!((numbers.len(), numbers[0] > 0), (100, true));
        let taken: u32 = TAKEN.iter().map(|word| word.load(Relaxed).count_ones()).sum();
        assert_eq!(taken, 101, "no other test of this program has event types");
    }
}
