//! Contexts: the threads, interrupts and other parties that record events.

use std::collections::HashMap;

use foldhash::fast::RandomState;

use super::ObjectId;
use super::numbered::numbered_from;

/// Kind of a context.
///
/// ```
/// assert_eq!(tracewell::model::ContextKind::Interrupt.as_str(), "interrupt");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ContextKind {
    /// A thread or task.
    Thread,
    /// An interrupt service routine.
    Interrupt,
    /// The system before its scheduler started.
    Initialization,
    /// The trace does not identify the context, or the scheduler of the traced system does not know
    /// it.
    Unknown,
    /// The system itself: the idle loop, the scheduler, and interrupts that have no context of
    /// their own.
    System,
}

impl ContextKind {
    /// Returns the word that the output shows.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Thread => "thread",
            Self::Interrupt => "interrupt",
            Self::Initialization => "initialization",
            Self::Unknown => "unknown",
            Self::System => "system",
        }
    }
}

/// Index of a context in [`Contexts`]. Indices are contiguous from 0, in order of first mention.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default)]
pub struct ContextId(pub u32);

impl ContextId {
    /// Returns the index into a table with one entry per context.
    #[inline]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// A context of a trace.
#[derive(Clone, Debug)]
pub struct Context {
    /// The recorded key: an address, or the dialect's value for an interrupt.
    pub key: u64,
    /// The key as the output shows it: `0x` and upper-case hexadecimal digits if it is an address.
    pub key_text: String,
    /// Kind of the context.
    pub kind: ContextKind,
    /// The name that the output shows; never empty.
    pub name: String,
    /// The object that describes the context, if the trace contains such an object.
    pub object: Option<ObjectId>,
}

/// Remembers which names in [`Contexts`] a reader has already processed.
#[derive(Clone, Copy, Debug, Default)]
pub struct SeenContexts {
    renamed: usize,
}

/// The contexts of a trace, by number and by key.
///
/// ```
/// use tracewell::model::{Context, ContextId, ContextKind, Contexts};
///
/// let mut contexts = Contexts::default();
/// let context = |name: &str| Context {
///     key: 0x2000_0100,
///     key_text: "0x20000100".to_owned(),
///     kind: ContextKind::Thread,
///     name: name.to_owned(),
///     object: None,
/// };
/// assert_eq!(contexts.add(context("worker")), ContextId(0));
/// // A key that is known keeps its context.
/// assert_eq!(contexts.add(context("other")), ContextId(0));
/// let id = contexts.find(0x2000_0100).unwrap();
/// assert_eq!(contexts.get(id).unwrap().name, "worker");
/// ```
#[derive(Debug, Default)]
pub struct Contexts {
    list: Vec<Context>,
    by_key: HashMap<u64, ContextId, RandomState>,
    /// The contexts that were renamed after they became known, with one entry per change.
    renamed: Vec<ContextId>,
    /// Number of changes of `by_key`.
    bindings: u64,
    /// The keys of the latest changes of `by_key`. The list has at most one more key than there are
    /// contexts.
    rebound: Vec<u64>,
}

impl Contexts {
    /// Returns the context with this number.
    #[inline]
    pub fn get(&self, id: ContextId) -> Option<&Context> {
        self.list.get(id.index())
    }

    /// Returns the context with this key; if the key was reused, the latest one.
    #[inline]
    pub fn find(&self, key: u64) -> Option<ContextId> {
        self.by_key.get(&key).copied()
    }

    /// Returns a number that increases whenever the context of a key changes. Results of
    /// [`Contexts::find`] are valid as long as this number does not change.
    pub(crate) const fn bindings(&self) -> u64 {
        self.bindings
    }

    /// Returns two numbers. The first increases whenever the context of a key changes. The second
    /// increases whenever the name of a context changes.
    pub(crate) fn changes(&self) -> (u64, usize) {
        (self.bindings, self.renamed.len())
    }

    /// Adds a context and returns its id. If the key is known, returns the id of the existing
    /// context and does not change the context.
    pub fn add(&mut self, context: Context) -> ContextId {
        // 32 bits suffice for the number of a context: even if each event had its own context, a
        // trace with 2^32 contexts would occupy at least 128 GiB.
        let next = ContextId(u32::try_from(self.list.len()).unwrap_or(u32::MAX));
        let key = context.key;
        let id = *self.by_key.entry(key).or_insert_with(|| {
            self.list.push(context);
            next
        });
        if id == next {
            self.note_binding(key);
        }
        id
    }

    /// Adds a context. If another context has the same key, that context ends. Call this only
    /// between batches, so that [`Contexts::find`] is valid for all events of a batch.
    pub fn replace(&mut self, context: Context) -> ContextId {
        self.by_key.remove(&context.key);
        self.add(context)
    }

    /// Lets a key refer to this context from the next batch on. If `context` is `None`, the key
    /// then refers to no known context. Contexts of earlier batches do not change.
    pub fn bind(&mut self, key: u64, context: Option<ContextId>) {
        match context {
            Some(id) => self.by_key.insert(key, id),
            None => self.by_key.remove(&key),
        };
        self.note_binding(key);
    }

    /// Notes that a key now refers to a different context.
    fn note_binding(&mut self, key: u64) {
        self.bindings += 1;
        if self.rebound.len() > self.list.len() {
            self.rebound.clear();
        }
        self.rebound.push(key);
    }

    /// Binds each key to the first context that had it. The keys had these contexts at the
    /// beginning of the trace. Call [`Contexts::follow`] afterwards.
    pub(crate) fn rewind(&mut self) {
        self.by_key.clear();
        for (index, context) in self.list.iter().enumerate() {
            self.by_key.entry(context.key).or_insert(ContextId(index as u32));
        }
        self.bindings = 0;
    }

    /// Lets each key refer to the same context as in `live`. `live` contains the first contexts of
    /// this list, possibly all of them. A key keeps its context if no context of `live` has had
    /// this key.
    pub(crate) fn follow(&mut self, live: &Self) {
        let behind = usize::try_from(live.bindings - self.bindings).unwrap_or(usize::MAX);
        let missed = live.rebound.len().checked_sub(behind);
        match missed.and_then(|from| live.rebound.get(from..)) {
            Some(keys) => keys.iter().for_each(|key| self.follow_key(live, *key)),
            // There were more changes than contexts, so visiting all contexts costs no more than
            // visiting all changes.
            None => live.list.iter().for_each(|context| self.follow_key(live, context.key)),
        }
        self.bindings = live.bindings;
    }

    fn follow_key(&mut self, live: &Self, key: u64) {
        match live.find(key) {
            Some(id) => self.by_key.insert(key, id),
            None => self.by_key.remove(&key),
        };
    }

    /// Sets the name of a context and the object that describes it, if these become known later.
    pub fn rename(&mut self, id: ContextId, name: &str, object: Option<ObjectId>) {
        let Some(context) = self.list.get_mut(id.index()) else { return };
        if context.name != name || context.object != object {
            name.clone_into(&mut context.name);
            context.object = object;
            self.renamed.push(id);
        }
    }

    /// Returns true if a context was renamed after events referred to it.
    pub fn has_late_names(&self) -> bool {
        !self.renamed.is_empty()
    }

    /// Updates a table with one row per context. Calls `row` for each context that was added or
    /// renamed since the last call with the same `seen`.
    #[inline]
    pub fn update<T>(
        &self,
        table: &mut Vec<T>,
        seen: &mut SeenContexts,
        mut row: impl FnMut(ContextId, &Context) -> T,
    ) {
        if seen.renamed == self.renamed.len() && table.len() == self.list.len() {
            return;
        }
        // A context can be renamed several times, so its row may be replaced several times.
        for id in self.renamed.get(seen.renamed..).unwrap_or_default() {
            if let (Some(place), Some(context)) = (table.get_mut(id.index()), self.get(*id)) {
                *place = row(*id, context);
            }
        }
        seen.renamed = self.renamed.len();
        let new = self.iter_from(table.len());
        table.extend(new.map(|(id, context)| row(id, context)));
    }

    /// Returns all contexts, in order of their numbers.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (ContextId, &Context)> {
        self.iter_from(0)
    }

    /// Returns the contexts from an index on. Skipping the first ones takes no time.
    pub(crate) fn iter_from(
        &self,
        first: usize,
    ) -> impl ExactSizeIterator<Item = (ContextId, &Context)> {
        numbered_from(&self.list, first, ContextId)
    }

    /// Returns the number of contexts.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Returns true if no context is known yet.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn context(key: u64, name: &str) -> Context {
        let kind = ContextKind::Thread;
        Context { key, key_text: String::new(), kind, name: name.to_owned(), object: None }
    }

    #[test]
    fn a_table_is_brought_up_to_date_by_the_rows_that_changed() {
        let mut contexts = Contexts::default();
        let (mut table, mut seen, mut made) = (Vec::new(), SeenContexts::default(), 0);
        let mut update = |contexts: &Contexts| {
            contexts.update(&mut table, &mut seen, |_, context| {
                made += 1;
                context.name.clone()
            });
            (made, table.clone())
        };
        let runs = 1000;
        for run in 0..runs {
            let id = contexts.replace(context(7, "unnamed"));
            update(&contexts);
            contexts.rename(id, "named", None);
            contexts.rename(id, "named", None);
            assert_eq!(update(&contexts).0, 2 * (run + 1), "one row each time");
        }
        assert!(update(&contexts).1.iter().all(|name| name == "named"));
    }

    #[test]
    fn known_contexts_follow_the_keys_of_a_live_trace() {
        let mut known = Contexts::default();
        let first = known.add(context(7, "first"));
        let other = known.add(context(8, "other"));
        let second = known.replace(context(7, "second"));
        known.rewind();
        assert_eq!((known.find(7), known.find(8)), (Some(first), Some(other)));

        let mut live = Contexts::default();
        live.add(context(7, "unnamed"));
        known.follow(&live);
        assert_eq!((known.find(7), known.find(8)), (Some(first), Some(other)));
        live.add(context(8, "unnamed"));
        live.replace(context(7, "unnamed"));
        known.follow(&live);
        assert_eq!((known.find(7), known.find(8)), (Some(second), Some(other)));
        // There are more changes than `live` remembers.
        for _ in 0..100 {
            live.bind(7, Some(first));
        }
        known.follow(&live);
        assert_eq!((known.find(7), known.find(8)), (Some(first), Some(other)));
        assert_eq!(known.bindings(), live.bindings());
    }

    #[test]
    fn a_key_names_the_context_of_its_last_binding() {
        let mut contexts = Contexts::default();
        let first = contexts.add(context(7, "first"));
        let second = contexts.replace(context(7, "second"));
        assert_eq!(contexts.find(7), Some(second));
        contexts.bind(7, Some(first));
        assert_eq!(contexts.find(7), Some(first));
        contexts.bind(7, None);
        assert_eq!(contexts.find(7), None);
    }
}
