//! Contexts: who was running when an event was recorded.

use std::collections::HashMap;

use foldhash::fast::RandomState;

use super::ObjectId;

/// What kind of thing was running.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ContextKind {
    /// A thread or task.
    Thread,
    /// An interrupt service routine.
    Interrupt,
    /// The system before its scheduler started.
    Initialization,
    /// The trace does not tell who it was.
    Unknown,
    /// The system itself, where nobody else is named: idle loop, scheduler, interrupts.
    System,
}

impl ContextKind {
    /// The word for it in output.
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

/// Position of a context in [`Contexts`]: dense, from 0, in order of first mention.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default)]
pub struct ContextId(pub u32);

impl ContextId {
    /// As an index of a table with one entry a context.
    #[inline]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// A context of a trace.
#[derive(Clone, Debug)]
pub struct Context {
    /// The key as recorded: an address, or the dialect's value for an interrupt.
    pub key: u64,
    /// The key as output shows it, `0x` and upper-case hexadecimal digits where it is an address.
    pub key_text: String,
    /// What kind of thing it is.
    pub kind: ContextKind,
    /// Name for people; never empty.
    pub name: String,
    /// The object that describes it, where the trace has one.
    pub object: Option<ObjectId>,
}

/// How far a reader of [`Contexts`] has followed what became known of them.
#[derive(Clone, Copy, Debug, Default)]
pub struct SeenContexts {
    renamed: usize,
}

/// All contexts of a trace, by number and by key.
#[derive(Debug, Default)]
pub struct Contexts {
    list: Vec<Context>,
    by_key: HashMap<u64, ContextId, RandomState>,
    /// Contexts that were known already when they were renamed, each time.
    renamed: Vec<ContextId>,
}

impl Contexts {
    /// The context of this number.
    #[inline]
    pub fn get(&self, id: ContextId) -> Option<&Context> {
        self.list.get(id.index())
    }

    /// The context with this key, if one was seen; the latest where keys are used again.
    #[inline]
    pub fn find(&self, key: u64) -> Option<ContextId> {
        self.by_key.get(&key).copied()
    }

    /// Adds a context; where its key is known already, that one stays and is returned.
    pub fn add(&mut self, context: Context) -> ContextId {
        // 2^32 contexts would need a trace of 128 GiB in which no two events share one.
        let next = ContextId(u32::try_from(self.list.len()).unwrap_or(u32::MAX));
        *self.by_key.entry(context.key).or_insert_with(|| {
            self.list.push(context);
            next
        })
    }

    /// Adds a context whose key may have named another one before, which ends there. A batch never
    /// has events of both sides: [`Contexts::find`] answers for all of its events.
    pub fn replace(&mut self, context: Context) -> ContextId {
        self.by_key.remove(&context.key);
        self.add(context)
    }

    /// From the next batch on a key names this context, or none that is known. Which contexts an earlier batch names
    /// does not change.
    pub fn turn(&mut self, key: u64, context: Option<ContextId>) {
        match context {
            Some(id) => self.by_key.insert(key, id),
            None => self.by_key.remove(&key),
        };
    }

    /// A context turns out to have this name and to be described by this object.
    pub fn rename(&mut self, id: ContextId, name: &str, object: Option<ObjectId>) {
        let Some(context) = self.list.get_mut(id.index()) else { return };
        if context.name != name || context.object != object {
            name.clone_into(&mut context.name);
            context.object = object;
            self.renamed.push(id);
        }
    }

    /// Returns true if a context was renamed after events had named it.
    pub fn has_late_names(&self) -> bool {
        !self.renamed.is_empty()
    }

    /// Brings a table with a row for each context up to date: rows of contexts that were added or renamed since the
    /// last call with this `Seen` are made by `row`.
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
        for id in self.renamed.get(seen.renamed..).unwrap_or_default() {
            if let (Some(place), Some(context)) = (table.get_mut(id.index()), self.get(*id)) {
                *place = row(*id, context);
            }
        }
        seen.renamed = self.renamed.len();
        let new = self.iter().skip(table.len());
        table.extend(new.map(|(id, context)| row(id, context)));
    }

    /// All of them, in order of their numbers.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (ContextId, &Context)> {
        self.list.iter().enumerate().map(|(index, context)| (ContextId(index as u32), context))
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Whether none was seen yet.
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
    fn a_key_names_the_context_of_its_last_turn() {
        let mut contexts = Contexts::default();
        let first = contexts.add(context(7, "first"));
        let second = contexts.replace(context(7, "second"));
        assert_eq!(contexts.find(7), Some(second));
        contexts.turn(7, Some(first));
        assert_eq!(contexts.find(7), Some(first));
        contexts.turn(7, None);
        assert_eq!(contexts.find(7), None);
    }
}
