//! The contexts of a trace. Finds the kind of a context by its number, and its number by the key in
//! an event.

use super::kinds::Kind;
use crate::analysis::key_slots::KeySlots;
use crate::model::{ContextId, ContextKind, MaybeContext, Trace};

/// The contexts of a trace, as of the current batch.
#[derive(Clone, Debug, Default)]
pub(super) struct Directory {
    kinds: Vec<ContextKind>,
    slots: KeySlots<u64, MaybeContext>,
    /// The value of `Contexts::bindings` for which the slots are valid.
    bindings: u64,
}

impl Directory {
    /// Prepares the lookups of a batch. Contexts do not change within a batch.
    pub(super) fn update(&mut self, trace: &Trace) {
        let contexts = &trace.contexts;
        let new = contexts.iter_from(self.kinds.len());
        self.kinds.extend(new.map(|(_, context)| context.kind));
        if self.bindings != contexts.bindings() {
            self.bindings = contexts.bindings();
            self.slots.clear();
        }
    }

    /// Returns the kind of a context; `None` if the trace has no such context.
    #[inline(always)]
    pub(super) fn kind(&self, context: ContextId) -> Option<ContextKind> {
        self.kinds.get(context.index()).copied()
    }

    /// Returns the subject of an event: the context to which the event refers. If events of this id
    /// refer to no context, the subject is the thread that recorded the event. Returns `None` if
    /// the named context is unknown. `argument` is the value of the argument that names the
    /// subject.
    #[inline(always)]
    pub(super) fn subject(
        &mut self,
        trace: &Trace,
        kind: &Kind,
        recorded_by: Option<ContextId>,
        argument: Option<u64>,
    ) -> Option<ContextId> {
        match kind.subject {
            Some(_) => self.find(trace, argument?),
            None => recorded_by,
        }
    }

    /// Returns the context with this key.
    #[inline(always)]
    pub(super) fn find(&mut self, trace: &Trace, key: u64) -> Option<ContextId> {
        self.slots.get(key, key, || trace.contexts.find(key).into()).get()
    }
}
