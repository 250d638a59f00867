//! Process-wide numbers for a program's event types, the same in all streams.
//!
//! An event type's id in a stream depends on the types defined in that stream earlier. Each stream
//! has a table that maps the type's number to its id (`Stream::ids`). So the order of definitions
//! in one stream does not affect another stream.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use tracewell_wire::native::EVENT_IDS;

/// The number of an event type: 1 to `EVENT_IDS` - 1, or 0 if none is assigned yet.
#[derive(Debug)]
pub(super) struct Number(AtomicU32);

/// One bit for each number in use. Bit 0 is set, because 0 is not a valid number.
static TAKEN: [AtomicU32; EVENT_IDS / 32] = {
    let mut taken = [const { AtomicU32::new(0) }; EVENT_IDS / 32];
    taken[0] = AtomicU32::new(1);
    taken
};

impl Number {
    pub(super) const fn new() -> Self {
        Self(AtomicU32::new(0))
    }

    /// Returns the number, or 0 if none is assigned yet. The result is always less than
    /// `EVENT_IDS`.
    #[inline(always)]
    pub(super) fn get(&self) -> usize {
        // Relaxed, as everywhere in this file: the number publishes no other data.
        self.0.load(Relaxed) as usize % EVENT_IDS
    }

    /// Returns the number, assigning one first if necessary. Returns `None` if all numbers are in
    /// use. Safe in signal handlers.
    pub(super) fn get_or_assign(&self) -> Option<usize> {
        if self.get() == 0 {
            let number = take()?;
            if self.0.compare_exchange(0, number, Relaxed, Relaxed).is_err() {
                // Another thread was faster. No thread has seen this number, so release it.
                TAKEN[number as usize / 32].fetch_and(!(1 << (number % 32)), Relaxed);
            }
        }
        Some(self.get())
    }
}

/// Reserves the lowest free number.
fn take() -> Option<u32> {
    // Sets the lowest zero bit: adding 1 carries into it.
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
    fn concurrent_threads_agree_on_one_number_per_type_and_leak_none() {
        let types: Vec<_> = (0..100).map(|_| Number::new()).collect();
        let assign =
            || types.iter().map(|number| number.get_or_assign().unwrap()).collect::<Vec<_>>();
        let seen: Vec<_> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(assign)).collect();
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
