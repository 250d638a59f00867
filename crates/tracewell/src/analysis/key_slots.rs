//! Slots for the results of look-ups by key.
//!
//! The same few keys occur in events again and again. So slots keep the results of the latest
//! look-ups, and most look-ups need no hash table.

/// Number of slots; a power of two.
const SLOTS: usize = 256;

/// Recently used keys, with their results. A slot holds one key at a time, and each key belongs to
/// one slot.
#[derive(Clone, Debug)]
pub(super) struct KeySlots<K, V> {
    slots: Box<[Option<(K, V)>; SLOTS]>,
}

impl<K: Copy, V: Copy> Default for KeySlots<K, V> {
    fn default() -> Self {
        Self { slots: Box::new([None; SLOTS]) }
    }
}

impl<K: Copy + PartialEq, V: Copy> KeySlots<K, V> {
    /// Returns the result for a key. `number` determines the slot. The function calls `find` if the
    /// slot holds a different key.
    #[inline(always)]
    pub(super) fn get(&mut self, number: u64, key: K, find: impl FnOnce() -> V) -> V {
        let slot = &mut self.slots[slot(number)];
        match slot {
            Some((known, value)) if *known == key => *value,
            _ => fill(slot, key, find),
        }
    }

    /// Returns the result for a key if a slot holds it. `number` determines the slot.
    #[inline(always)]
    pub(super) fn known(&self, number: u64, key: K) -> Option<V> {
        self.slots[slot(number)].filter(|(known, _)| *known == key).map(|(_, value)| value)
    }

    /// Forgets all results.
    pub(super) fn clear(&mut self) {
        self.slots.fill(None);
    }
}

/// Looks up a key, and stores the result in its slot. This function is not inlined, so that a
/// look-up of a known key stays short.
#[cold]
#[inline(never)]
fn fill<K, V: Copy>(slot: &mut Option<(K, V)>, key: K, find: impl FnOnce() -> V) -> V {
    slot.insert((key, find())).1
}

/// Returns the index of the slot that a number determines.
#[inline(always)]
fn slot(number: u64) -> usize {
    // The product's highest bits depend on all bits of the number.
    let hash = number.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (u64::BITS - SLOTS.ilog2());
    hash as usize % SLOTS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result_is_looked_up_once_until_another_key_needs_its_slot() {
        let (mut slots, mut looks) = (KeySlots::default(), 0);
        let mut get = |number, key: (bool, u64)| {
            slots.get(number, key, || {
                looks += 1;
                looks
            })
        };
        let keys = [(true, 7), (true, 7), (false, 7), (false, 7), (true, 7)];
        assert_eq!(keys.map(|key| get(key.1, key)), [1, 1, 2, 2, 3]);
        assert_eq!([(0, (true, 0)), (0, (true, 0))].map(|(number, key)| get(number, key)), [4, 4]);
        assert_eq!((slots.known(7, (true, 7)), slots.known(7, (false, 7))), (Some(3), None));
        slots.clear();
        assert_eq!(slots.known(7, (true, 7)), None);
        assert_eq!(slots.get(7, (true, 7), || 0), 0);
    }
}
