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

/// All contexts of a trace, by number and by key.
#[derive(Debug, Default)]
pub struct Contexts {
    list: Vec<Context>,
    by_key: HashMap<u64, ContextId, RandomState>,
    /// How often something was told of a context that was known already.
    told: u64,
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

    /// The context of this number, to note what is told of it later.
    pub fn get_mut(&mut self, id: ContextId) -> Option<&mut Context> {
        self.told += 1;
        self.list.get_mut(id.index())
    }

    /// Whether something was told of known contexts since this was asked with the same `seen`: what was
    /// made of their names is to be made anew.
    #[inline]
    pub fn told_since(&self, seen: &mut u64) -> bool {
        std::mem::replace(seen, self.told) != self.told
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
