//! The set of slots with an attached stream, which recorders read for every event.
//!
//! Threads and signal handlers attach and detach streams at the same time, without locks. A thread
//! may be delayed after it has decided that a slot is empty. If it then removed the slot, it would
//! hide a stream that another thread has attached in the meantime, and events would get lost.
//! So each word of the set also counts the insertions. An insertion between the decision and the
//! removal changes the count, and the thread decides again.
//!
//! The set does not contain the pointers to the streams.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};

use tracewell_wire::posix::area::SLOTS;

/// Number of slots in a word; its other bits count insertions.
const SLOTS_IN_WORD: usize = 32;
/// The value that an insertion adds to its word.
const INSERTION: u64 = 1 << SLOTS_IN_WORD;

/// A set of slots. All-zero memory is a valid value: the empty set.
#[derive(Default, Debug)]
pub(crate) struct SlotSet([AtomicU64; 2]);

const _: () = assert!(SLOTS == 2 * SLOTS_IN_WORD);

impl SlotSet {
    /// Returns one bit per slot in the set.
    #[inline(always)]
    pub(crate) fn bits(&self) -> u64 {
        let [low, high] = &self.0;
        (low.load(Relaxed) % INSERTION) | (high.load(Relaxed) << SLOTS_IN_WORD)
    }

    /// Inserts a slot. Call this after attaching a stream in the slot or finding one there, even if
    /// the set already contains the slot: another thread may be about to remove it.
    pub(crate) fn insert(&self, slot: usize) {
        let (word, bit) = self.place(slot);
        let insert = |before: u64| Some(before.wrapping_add(INSERTION) | bit);
        let _ = word.fetch_update(SeqCst, SeqCst, insert);
    }

    /// Removes a slot if `is_empty` returns true.
    pub(crate) fn remove_if(&self, slot: usize, is_empty: impl Fn() -> bool) {
        let (word, bit) = self.place(slot);
        let remove = |before: u64| is_empty().then_some(before & !bit);
        let _ = word.fetch_update(SeqCst, SeqCst, remove);
    }

    /// Removes all slots. No other thread may use the set.
    pub(crate) fn clear(&self) {
        self.0.iter().for_each(|word| word.store(0, Relaxed));
    }

    fn place(&self, slot: usize) -> (&AtomicU64, u64) {
        (&self.0[slot / SLOTS_IN_WORD], 1 << (slot % SLOTS_IN_WORD))
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[test]
    fn all_slots_have_their_bit() {
        let set = SlotSet::default();
        for slot in 0..SLOTS {
            set.insert(slot);
            assert_eq!(set.bits(), 1 << slot);
            set.remove_if(slot, || true);
            assert_eq!(set.bits(), 0);
        }
    }

    #[test]
    fn a_full_count_of_insertions_does_not_touch_the_slots() {
        let set = SlotSet([AtomicU64::new(!0 << SLOTS_IN_WORD), AtomicU64::new(0)]);
        set.insert(31);
        assert_eq!(set.bits(), 1 << 31);
    }

    #[test]
    fn an_insertion_after_the_decision_wins() {
        let set = SlotSet::default();
        set.insert(40);
        // Another thread attaches a stream after this thread has found the slot empty.
        let decisions = Cell::new(0);
        set.remove_if(40, || {
            decisions.set(decisions.get() + 1);
            let is_empty = decisions.get() == 1;
            set.insert(40);
            is_empty
        });
        assert_eq!((decisions.get(), set.bits()), (2, 1 << 40));
    }
}
