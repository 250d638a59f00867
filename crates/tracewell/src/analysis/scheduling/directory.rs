//! The contexts of a trace: the kind of each by number, and the number of each key that events
//! name.
//!
//! Events name the same few contexts again and again. So slots store the numbers of the keys that
//! were last named, and most lookups need no hash table.

use super::kinds::Kind;
use crate::model::{ContextId, ContextKind, Event, MaybeContext, Trace};

/// Number of slots; a power of two.
const SLOTS: usize = 256;

/// A key and its context.
#[derive(Clone, Copy, Debug)]
struct Slot {
    key: u64,
    context: MaybeContext,
}

/// The key of an empty slot. Its context is always looked up in the trace.
const NO_KEY: u64 = u64::MAX;

/// The contexts of a trace, as of the current batch.
#[derive(Clone, Debug)]
pub(super) struct Directory {
    kinds: Vec<ContextKind>,
    slots: Box<[Slot; SLOTS]>,
    /// The value of `Contexts::bindings` for which the slots are valid.
    bindings: u64,
}

impl Default for Directory {
    fn default() -> Self {
        let slots = Box::new([Slot { key: NO_KEY, context: MaybeContext::NONE }; SLOTS]);
        Self { kinds: Vec::new(), slots, bindings: 0 }
    }
}

impl Directory {
    /// Prepares the lookups of a batch. Contexts do not change within a batch.
    pub(super) fn update(&mut self, trace: &Trace) {
        let contexts = &trace.contexts;
        let new = contexts.iter_from(self.kinds.len());
        self.kinds.extend(new.map(|(_, context)| context.kind));
        if self.bindings != contexts.bindings() {
            self.bindings = contexts.bindings();
            self.slots.fill(Slot { key: NO_KEY, context: MaybeContext::NONE });
        }
    }

    /// Returns the kind of a context; `None` if the trace has no such context.
    #[inline(always)]
    pub(super) fn kind(&self, context: ContextId) -> Option<ContextKind> {
        self.kinds.get(context.index()).copied()
    }

    /// Returns the subject of an event: the context that it names, or the thread that recorded it
    /// if events of this id name no context. Returns `None` if the named context is unknown.
    #[inline(always)]
    pub(super) fn subject(
        &mut self,
        event: Event<'_>,
        kind: &Kind,
        recorded_by: Option<ContextId>,
    ) -> Option<ContextId> {
        match kind.means.as_ref().and_then(|means| means.subject) {
            Some(role) => self.find(event.trace, event.argument(role)?),
            None => recorded_by,
        }
    }

    /// Returns the context with this key.
    #[inline(always)]
    pub(super) fn find(&mut self, trace: &Trace, key: u64) -> Option<ContextId> {
        // The product's highest bits depend on all bits of the key.
        let hash = key.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (u64::BITS - SLOTS.ilog2());
        let slot = &mut self.slots[hash as usize % SLOTS];
        if slot.key != key || key == NO_KEY {
            *slot = Slot { key, context: trace.contexts.find(key).into() };
        }
        slot.context.get()
    }
}
