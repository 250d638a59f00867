//! The contexts that recorded events recently, by their keys. They are found without hashing in the
//! larger table of the trace.
//!
//! Does not notice changes of that table: the decoder sets the context of a key that it replaces.

use crate::model::ContextId;

/// Number of entries, as a power of two.
const BITS: u32 = 8;

/// The key of an entry without a context. A context with this key is never found.
const NONE: u64 = u64::MAX;

/// Contexts by their keys. A context replaces the context with the same position.
#[derive(Debug)]
pub(super) struct RecentContexts([(u64, ContextId); 1 << BITS]);

impl Default for RecentContexts {
    fn default() -> Self {
        Self([(NONE, ContextId(0)); 1 << BITS])
    }
}

impl RecentContexts {
    /// Returns the position of a key. Spreads addresses, whose low bits are equal.
    #[inline]
    const fn position(key: u64) -> usize {
        (key.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (64 - BITS)) as usize
    }

    /// Returns the context with this key, if it is still known here.
    #[inline]
    pub(super) fn get(&self, key: u64) -> Option<ContextId> {
        let (known, id) = self.0[Self::position(key)];
        (known == key && key != NONE).then_some(id)
    }

    /// Sets the context with this key.
    pub(super) fn set(&mut self, key: u64, id: ContextId) {
        self.0[Self::position(key)] = (key, id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_context_is_found_until_another_takes_its_position() {
        let mut recent = RecentContexts::default();
        let keys = (0..1000_u64).map(|number| 0x2000_0000 + 0x58 * number);
        for key in keys.chain([0, NONE - 1]) {
            assert_eq!(recent.get(key), None);
            recent.set(key, ContextId(key as u32));
            assert_eq!(recent.get(key), Some(ContextId(key as u32)));
            recent.set(key, ContextId(7));
            assert_eq!(recent.get(key), Some(ContextId(7)));
        }
        assert_eq!(recent.get(NONE), None);
    }
}
