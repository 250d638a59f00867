//! Finds event ids by call site and shape, without a lock. The hash table only grows.
//!
//! A slot is written once and never changes, so a lookup needs one acquire load. Colliding keys go
//! to the next slot. The table has more slots than a stream has ids.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use tracewell_wire::native::EVENT_IDS;
use tracing_core::Metadata;

/// Number of slots of the table, a power of two. At most three quarters are used, to keep probes
/// short.
const SLOTS: usize = 2 * EVENT_IDS;
const MAX_USED: usize = SLOTS / 4 * 3;

const _: () = assert!(SLOTS.is_power_of_two());

/// Identifies an event type: the call site, by the address of its metadata, and the shape of its
/// values (see [`Words::shape`](crate::values::Words::shape)).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Key {
    site: usize,
    shape: [u64; 2],
}

impl Key {
    /// Returns the key for records of a call site with this shape.
    pub(crate) fn new(metadata: &'static Metadata<'static>, shape: [u64; 2]) -> Self {
        let site = std::ptr::from_ref(metadata).addr();
        Self { site, shape }
    }

    fn slot(self) -> usize {
        // The multiplication carries the low bits into the high bits, which select the slot.
        const ODD: u64 = 0x9E37_79B9_7F4A_7C15;
        let mixed =
            (self.site as u64 ^ self.shape[0].rotate_left(32) ^ self.shape[1]).wrapping_mul(ODD);
        (mixed >> (64 - SLOTS.ilog2())) as usize
    }
}

/// The hash table from keys to event ids.
#[derive(Debug)]
pub(crate) struct Sites {
    slots: Box<[OnceLock<(Key, u16)>]>,
    used: AtomicUsize,
    /// True if no key can be added, because the stream has no free id or the table has no free
    /// slot.
    full: AtomicBool,
}

impl Sites {
    /// Returns an empty table.
    pub(crate) fn new() -> Self {
        let slots = (0..SLOTS).map(|_| OnceLock::new()).collect();
        Self { slots, used: AtomicUsize::new(0), full: AtomicBool::new(false) }
    }

    /// Returns the id of a key. For a new key, `define` returns the id, or `None` if the stream has
    /// no free id. Returns 0 for a new key if the stream has no free id or the table is full. The
    /// stream counts events with the id 0 as lost.
    #[inline]
    pub(crate) fn find(&self, key: Key, define: impl FnOnce() -> Option<u16>) -> u16 {
        let mut slot = key.slot();
        loop {
            match self.slots[slot].get() {
                Some((known, id)) if *known == key => return *id,
                Some(_) => slot = (slot + 1) % SLOTS,
                None => return self.add(key, slot, define),
            }
        }
    }

    #[cold]
    fn add(&self, key: Key, mut slot: usize, define: impl FnOnce() -> Option<u16>) -> u16 {
        if self.full.load(Ordering::Relaxed) {
            return 0;
        }
        let Some(id) = define() else {
            self.full.store(true, Ordering::Relaxed);
            return 0;
        };
        if self.used.fetch_add(1, Ordering::Relaxed) >= MAX_USED {
            self.full.store(true, Ordering::Relaxed);
            return id;
        }
        // Another thread may have used the slot, even for the same key. If the keys are equal, both
        // threads got the same id from the stream.
        while self.slots[slot].set((key, id)).is_err() {
            if self.slots[slot].get().is_some_and(|(known, _)| *known == key) {
                return id;
            }
            slot = (slot + 1) % SLOTS;
        }
        id
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    fn key(site: usize) -> Key {
        Key { site, shape: [0, 0] }
    }

    #[test]
    fn a_key_is_defined_once_and_found_again() {
        let sites = Sites::new();
        assert_eq!(sites.find(key(64), || Some(7)), 7);
        assert_eq!(sites.find(key(64), || panic!("known")), 7);
        assert_eq!(sites.find(Key { shape: [1, 0], ..key(64) }, || Some(8)), 8);
        assert_eq!(sites.find(Key { shape: [0, 1], ..key(64) }, || Some(9)), 9);
    }

    #[test]
    fn keys_that_collide_keep_their_ids_in_any_order_of_threads() {
        let sites = Sites::new();
        thread::scope(|scope| {
            for first in 0..4 {
                let sites = &sites;
                scope.spawn(move || {
                    for round in 0..2 * 1000 {
                        let number = (first * 250 + round) % 1000;
                        let id = sites.find(key(number), || Some(number as u16 + 1));
                        assert_eq!(usize::from(id), number + 1);
                    }
                });
            }
        });
    }

    #[test]
    fn without_ids_or_slots_nothing_is_defined_again() {
        let sites = Sites::new();
        assert_eq!(sites.find(key(1), || None), 0);
        assert_eq!(sites.find(key(2), || panic!("no id is left")), 0);
        let sites = Sites::new();
        (0..MAX_USED).for_each(|number| assert_eq!(sites.find(key(number), || Some(1)), 1));
        sites.find(key(MAX_USED), || Some(2));
        assert_eq!(sites.find(key(MAX_USED + 1), || panic!("no slot is left")), 0);
        assert_eq!(sites.find(key(5), || panic!("known")), 1);
    }
}
