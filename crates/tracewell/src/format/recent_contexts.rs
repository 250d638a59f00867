//! The contexts that recorded events recently, by their keys. Lookups here need no hashing, unlike
//! lookups in the larger table of the trace.
//!
//! This module does not notice changes to that table: when the decoder replaces the context of a
//! key, it must set the new context here.

use crate::model::ContextId;

/// The cache has `1 << BITS` entries.
const BITS: u32 = 8;

/// The key of an entry without a context. Lookups of this key never find a context.
const NONE: u64 = u64::MAX;

/// Contexts by their keys. A context replaces the previous context at the same position.
#[derive(Debug)]
pub(super) struct RecentContexts([(u64, ContextId); 1 << BITS]);

impl Default for RecentContexts {
    fn default() -> Self {
        Self([(NONE, ContextId(0)); 1 << BITS])
    }
}

impl RecentContexts {
    /// Returns the position of a key. Distributes addresses evenly, although their low bits are
    /// equal.
    #[inline]
    const fn position(key: u64) -> usize {
        (key.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (64 - BITS)) as usize
    }

    /// Returns the context with this key, if it is still stored here.
    #[inline]
    pub(super) fn get(&self, key: u64) -> Option<ContextId> {
        let (known, id) = self.0[Self::position(key)];
        (known == key && key != NONE).then_some(id)
    }

    /// Stores the context with this key.
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
