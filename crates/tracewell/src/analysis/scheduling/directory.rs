//! Finds a context by the key that an event contains, and returns the kind of a context.

use super::kinds::Kind;
use crate::analysis::key_slots::KeySlots;
use crate::model::schema::ArgumentKind;
use crate::model::{ContextId, ContextKind, Event, MaybeContext, Trace};

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

    /// Returns the context that an event names as its object, if the object is a context. Objects
    /// of different types can have the same key, so the type of the object must be that of the
    /// context.
    pub(super) fn object(&mut self, event: Event<'_>, key: u64) -> Option<ContextId> {
        let context = self.find(event.trace, key)?;
        let index = event.means()?.object?;
        let ArgumentKind::Object(Some(code)) = event.kind().args.get(index)?.kind else {
            return Some(context);
        };
        let known = event.trace.contexts.get(context)?.object;
        let known = known.and_then(|id| event.trace.objects.get(id));
        known.is_none_or(|object| object.kind == code).then_some(context)
    }

    /// Returns the context with this key.
    #[inline(always)]
    pub(super) fn find(&mut self, trace: &Trace, key: u64) -> Option<ContextId> {
        self.slots.get(key, key, || trace.contexts.find(key).into()).get()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::schema::Schema;
    use crate::model::{Clock, Context, PayloadLayout};

    #[test]
    fn a_key_refers_to_its_latest_context() {
        let payload = PayloadLayout::Fields(&[]);
        let mut trace = Trace::new("test", Schema::empty(), payload, Clock::of_64_bits(None));
        let mut directory = Directory::default();
        let mut find = |trace: &Trace| {
            directory.update(trace);
            directory.find(trace, 7)
        };
        assert_eq!(find(&trace), None);
        for kind in [ContextKind::Thread, ContextKind::Interrupt] {
            let (key_text, name) = (String::new(), String::new());
            let context = Context { key: 7, key_text, kind, name, object: None };
            let id = trace.contexts.replace(context);
            assert_eq!((find(&trace), find(&trace)), (Some(id), Some(id)));
        }
        assert_eq!(directory.kind(ContextId(1)), Some(ContextKind::Interrupt));
    }
}
