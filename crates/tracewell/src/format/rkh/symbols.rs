//! Names of objects and active objects, from when to when they hold.
//!
//! A symbol record holds from where it stands to the next one of the same key, and to the next
//! configuration record: a target that starts again may put other things in the same places.

use std::collections::HashMap;

use foldhash::fast::RandomState;
use tracewell_wire::rkh::{Dialect, Symbol};

use crate::model::schema::{EventType, Schema};
use crate::model::{
    Context, ContextId, ContextKind, Lifetime, Object, ObjectId, PayloadLayout, Trace, values,
};
use crate::text::shown;

/// Type codes of the schema that this file makes objects of.
mod kind {
    pub(super) const OBJECT: u32 = 1;
    pub(super) const ACTIVE_OBJECT: u32 = 2;
    pub(super) const EVENT_POOL: u32 = 10;
}

/// The key of the context in which nobody's step is going on.
const FRAMEWORK: u64 = u64::MAX;

/// What a symbol record names, and in which slots it says so.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct SymbolPlan {
    kind: u32,
    /// What is added to the number to get the key.
    keys: u64,
    owner: Option<usize>,
    key: usize,
    name: usize,
}

impl SymbolPlan {
    /// The plan of an event that names something: its own name ends with the type's symbol.
    pub(super) fn of(schema: &Schema, event: &EventType, dialect: Dialect) -> Option<Self> {
        let position = |name: &str| event.args.iter().position(|argument| argument.name == name);
        let name = position("nm")?;
        let key = name.checked_sub(1)?;
        let symbol = event.name.rsplit('_').next()?;
        let (kind, keys) = match symbol {
            // Counted from 0 here, from 1 in all other records, where 0 is no pool.
            "EPOOL" if dialect == Dialect::V3_4 => (kind::EVENT_POOL, 1),
            "EPOOL" => (kind::OBJECT, 0),
            _ => (schema.object_kind_by_symbol(symbol)?.code, 0),
        };
        Some(Self {
            kind,
            keys: schema.key(Some(kind), keys),
            owner: key.checked_sub(1),
            key,
            name,
        })
    }
}

/// The most objects of one key, and the most contexts of one address: a target that starts again for ever must not
/// fill memory. After that the next one takes the place of the one before.
const MOST_LIVES: usize = 256;

/// The names that hold at the moment.
#[derive(Debug)]
pub(super) struct Symbols {
    holding: HashMap<(u32, u64), ObjectId, RandomState>,
    /// What types and keys named before the last configuration record.
    ended: HashMap<(u32, u64), ObjectId, RandomState>,
    /// The active objects since the last configuration record: behind it an address is another one.
    living: HashMap<u64, ContextId, RandomState>,
    /// How many contexts an address had, and the last of them.
    lives: HashMap<u64, (usize, ContextId), RandomState>,
    /// Active objects that were looked up, by some bits of their addresses; [`NOT_SEEN`] for none.
    seen: [(u64, ContextId); SEEN],
}

/// A power of two; no program has so many active objects.
const SEEN: usize = 64;

/// No address: they have 32 bits.
const NOT_SEEN: u64 = u64::MAX;

impl Default for Symbols {
    fn default() -> Self {
        let (holding, ended, living, lives) = Default::default();
        Self { holding, ended, living, lives, seen: [(NOT_SEEN, ContextId::default()); SEEN] }
    }
}

impl Symbols {
    /// Notes what a symbol record with these values says.
    pub(super) fn add(&mut self, trace: &mut Trace, plan: &SymbolPlan, row: &[u8], ticks: u64) {
        let argument = |index| trace.payload.argument(row, index);
        let (Some(number), Some(name)) = (argument(plan.key), argument(plan.name)) else { return };
        let owner = plan.owner.and_then(argument);
        let recorded = values::bytes(row, name);
        let key = number.wrapping_add(plan.keys);
        let label = label(recorded);
        let before = self.holding.get(&(plan.kind, key)).copied();
        if let Some((id, object)) = before.and_then(|id| Some((id, trace.objects.get(id)?))) {
            if object.label == label {
                return;
            }
            trace.objects.delete(id, ticks);
        }
        let before = before.or_else(|| self.ended.get(&(plan.kind, key)).copied());
        let new = Object {
            key,
            kind: plan.kind,
            name: recorded.to_vec(),
            label: label.clone(),
            parameters: owner.into_iter().collect(),
            priority: None,
            alive: None,
            lifetime: Lifetime { from: before.map(|_| ticks), ..Lifetime::default() },
            record: Vec::new(),
        };
        let lives = trace.objects.with_key(key).len();
        let object = match before.filter(|_| lives >= MOST_LIVES) {
            None => trace.objects.add(new),
            Some(id) => {
                trace.objects.replace(id, new);
                id
            }
        };
        self.holding.insert((plan.kind, key), object);
        if plan.kind == kind::ACTIVE_OBJECT {
            self.active_object(trace, key);
        }
        if let Some(context) = self.living.get(&key) {
            self.name(trace, *context, key);
        }
    }

    /// Calls an active object by its own symbol, else by that of an object at its address: before 2.4.3
    /// there was no other.
    fn name(&self, trace: &mut Trace, context: ContextId, key: u64) {
        let named = [kind::ACTIVE_OBJECT, kind::OBJECT].map(|kind| self.holding.get(&(kind, key)));
        let Some(id) = named.into_iter().flatten().next().copied() else { return };
        let Some(label) = trace.objects.get(id).map(|object| object.label.clone()) else { return };
        let known = trace.contexts.get(context).is_some_and(|context| context.name == label);
        if !known {
            trace.contexts.rename(context, &label, Some(id));
        }
    }

    /// Pool 0 stands for events that come from no pool.
    pub(super) fn add_static_pool(trace: &mut Trace) {
        let key = trace.schema.key(Some(kind::EVENT_POOL), 0);
        if key != 0 && trace.objects.with_key(key).is_empty() {
            let name = "static";
            trace.objects.add(Object {
                key,
                kind: kind::EVENT_POOL,
                name: name.into(),
                label: name.to_owned(),
                parameters: Vec::new(),
                priority: None,
                alive: None,
                lifetime: Lifetime::default(),
                record: Vec::new(),
            });
        }
    }

    /// Ends all names: what follows may mean something else.
    pub(super) fn forget(&mut self, trace: &mut Trace, ticks: u64) {
        self.living.clear();
        self.seen = [(NOT_SEEN, ContextId::default()); SEEN];
        for (named, id) in self.holding.drain() {
            self.ended.insert(named, id);
            trace.objects.end(id, ticks);
        }
    }

    /// The context of an active object, by its address.
    #[inline]
    pub(super) fn active_object(&mut self, trace: &mut Trace, key: u64) -> ContextId {
        if let (true, id) = self.seen(key) {
            return id;
        }
        let id = match self.living.get(&key) {
            Some(id) => *id,
            None => {
                let id = self.another(trace, key);
                self.living.insert(key, id);
                self.name(trace, id, key);
                id
            }
        };
        self.seen[place(key)] = (key, id);
        id
    }

    /// A context for an active object that was not seen since the last configuration record.
    #[cold]
    fn another(&mut self, trace: &mut Trace, key: u64) -> ContextId {
        let (lives, last) = self.lives.entry(key).or_default();
        let context = active_object(trace.payload, key);
        if *lives < MOST_LIVES {
            (*lives, *last) = (*lives + 1, trace.contexts.replace(context));
        } else {
            trace.contexts.rename(*last, &context.name, None);
        }
        *last
    }

    /// Whether that was looked up before, and what was found if it was.
    #[inline(always)]
    pub(super) fn seen(&self, key: u64) -> (bool, ContextId) {
        let (known, id) = self.seen[place(key)];
        (known == key, id)
    }
}

/// Where an active object that was looked up is noted.
#[inline(always)]
const fn place(key: u64) -> usize {
    // The golden ratio spreads control blocks that lie at equal distances.
    let slot = (key as u32).wrapping_mul(0x9E37_79B1) >> 26;
    slot as usize % SEEN
}

fn active_object(payload: PayloadLayout, key: u64) -> Context {
    let key_text = key_text(payload, key);
    let name = format!("ao {key_text}");
    Context { key, key_text, kind: ContextKind::Thread, name, object: None }
}

/// The context of events between the steps of active objects.
pub(super) fn framework(trace: &mut Trace) -> ContextId {
    let (key_text, name) = ("-".to_owned(), "framework".to_owned());
    let kind = ContextKind::System;
    trace.contexts.add(Context { key: FRAMEWORK, key_text, kind, name, object: None })
}

fn key_text(payload: PayloadLayout, key: u64) -> String {
    format!("0x{key:0digits$X}", digits = payload.digits())
}

/// A name for people: without one leading `&`, unprintable bytes escaped.
fn label(recorded: &[u8]) -> String {
    let spoken = Symbol { owner: None, key: 0, name: recorded }.spoken();
    shown(spoken).into_owned()
}
