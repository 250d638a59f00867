//! Ids by call site and shape, found without a lock: a table that only grows.
//!
//! A place is written once and never changes, so a reader needs one acquire load. What collides goes to
//! the next place. The table is larger than the number of ids that a stream has.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use tracewell_wire::native::EVENT_IDS;
use tracing_core::Metadata;

/// Places: a power of two, of which at most three quarters are taken.
const PLACES: usize = 2 * EVENT_IDS;
const MAX_TAKEN: usize = PLACES / 4 * 3;

const _: () = assert!(PLACES.is_power_of_two());

/// What tells records apart: the call site, by the address of its metadata, and the shape of the values.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Key {
    site: usize,
    shape: [u64; 2],
}

impl Key {
    /// The key of a call site's records of this shape.
    pub(crate) fn new(metadata: &'static Metadata<'static>, shape: [u64; 2]) -> Self {
        let site = std::ptr::from_ref(metadata).addr();
        Self { site, shape }
    }

    fn place(self) -> usize {
        // Multiplying mixes the lower bits into the upper ones, of which the place is made.
        const ODD: u64 = 0x9E37_79B9_7F4A_7C15;
        let mixed =
            (self.site as u64 ^ self.shape[0].rotate_left(32) ^ self.shape[1]).wrapping_mul(ODD);
        (mixed >> (64 - PLACES.ilog2())) as usize
    }
}

/// The table.
#[derive(Debug)]
pub(crate) struct Sites {
    places: Box<[OnceLock<(Key, u16)>]>,
    taken: AtomicUsize,
    /// No more keys are taken: the stream has no id left, or the table no place.
    full: AtomicBool,
}

impl Sites {
    /// An empty table.
    pub(crate) fn new() -> Self {
        let places = (0..PLACES).map(|_| OnceLock::new()).collect();
        Self { places, taken: AtomicUsize::new(0), full: AtomicBool::new(false) }
    }

    /// The id of a key. The first time `define` makes it, or returns `None` if no id is left; then
    /// this returns 0, which the stream counts as lost.
    #[inline]
    pub(crate) fn find(&self, key: Key, define: impl FnOnce() -> Option<u16>) -> u16 {
        let mut place = key.place();
        loop {
            match self.places[place].get() {
                Some((known, id)) if *known == key => return *id,
                Some(_) => place = (place + 1) % PLACES,
                None => return self.add(key, place, define),
            }
        }
    }

    #[cold]
    fn add(&self, key: Key, mut place: usize, define: impl FnOnce() -> Option<u16>) -> u16 {
        if self.full.load(Ordering::Relaxed) {
            return 0;
        }
        let Some(id) = define() else {
            self.full.store(true, Ordering::Relaxed);
            return 0;
        };
        if self.taken.fetch_add(1, Ordering::Relaxed) >= MAX_TAKEN {
            self.full.store(true, Ordering::Relaxed);
            return id;
        }
        // Another thread may have taken the place, also for the same key; the stream gave both one id.
        while self.places[place].set((key, id)).is_err() {
            if self.places[place].get().is_some_and(|(known, _)| *known == key) {
                return id;
            }
            place = (place + 1) % PLACES;
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
    fn without_ids_or_places_nothing_is_defined_again() {
        let sites = Sites::new();
        assert_eq!(sites.find(key(1), || None), 0);
        assert_eq!(sites.find(key(2), || panic!("no id is left")), 0);
        let sites = Sites::new();
        (0..MAX_TAKEN).for_each(|number| assert_eq!(sites.find(key(number), || Some(1)), 1));
        sites.find(key(MAX_TAKEN), || Some(2));
        assert_eq!(sites.find(key(MAX_TAKEN + 1), || panic!("no place is left")), 0);
        assert_eq!(sites.find(key(5), || panic!("known")), 1);
    }
}
