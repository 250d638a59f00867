//! Names of objects and active objects, with the times for which these names are valid.
//!
//! A name is valid from its symbol record to the next symbol record with the same key. A
//! configuration record also ends the validity of all names, because a restarted target can reuse
//! addresses for other objects.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use foldhash::fast::RandomState;
use tracewell_wire::rkh::{Dialect, Field, FieldType, Symbol};

use crate::model::schema::{EventType, Schema};
use crate::model::{
    Context, ContextId, ContextKind, Lifetime, Object, ObjectId, PayloadLayout, Trace, values,
};
use crate::text::shown;

/// Type codes, in the schema, of the objects that this module creates.
mod kind {
    pub(super) const OBJECT: u32 = 1;
    pub(super) const ACTIVE_OBJECT: u32 = 2;
    pub(super) const EVENT_POOL: u32 = 10;
}

/// The key of the context for events outside of steps.
const FRAMEWORK: u64 = u64::MAX;

/// The type of the object that a symbol record names, and the slots of the record's arguments.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct SymbolPlan {
    kind: u32,
    /// Number that is added to the recorded number to get the key.
    keys: u64,
    owner: Option<usize>,
    key: usize,
    name: usize,
}

impl SymbolPlan {
    /// Returns the plan of a symbol record, which has a text `nm`. The name of the event ends with
    /// the symbol of the object type, such as `EPOOL`.
    pub(super) fn of(schema: &Schema, event: &EventType, dialect: Dialect) -> Option<Self> {
        let name = event.args.iter().position(|argument| argument.name == "nm")?;
        let field: Field = event.args.get(name)?.encoding.parse().ok()?;
        // In a user's schema file, an argument with this name can be a number. Such a number is not
        // the name of an object.
        if field.field_type != FieldType::Text {
            return None;
        }
        let key = name.checked_sub(1)?;
        let symbol = event.name.rsplit('_').next()?;
        let (kind, keys) = match symbol {
            // This symbol record counts pools from 0. All other records count pools from 1, and use
            // 0 for no pool.
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

/// Returns an object that has no symbol record, and is known from the start of the trace.
fn numbered(kind: u32, key: u64, label: String) -> Object {
    Object {
        key,
        kind,
        name: label.clone().into_bytes(),
        label,
        parameters: Vec::new(),
        priority: None,
        alive: None,
        lifetime: Lifetime::default(),
        record: Vec::new(),
    }
}

/// Maximum number of objects per key and of contexts per address, so that endless restarts of a
/// target do not exhaust memory. Once this number is reached, each new object or context replaces
/// the latest one.
const MAX_LIVES: usize = 256;

/// The names that are valid now, and the names that were valid before the latest configuration
/// record.
#[derive(Debug)]
pub(super) struct Symbols {
    /// The objects that a user's schema file names, by type and key.
    given: HashSet<(u32, u64), RandomState>,
    /// The objects whose names are valid now, by type and key.
    holding: HashMap<(u32, u64), ObjectId, RandomState>,
    /// The objects that had names before the latest configuration record, by type and key.
    ended: HashMap<(u32, u64), ObjectId, RandomState>,
    /// Contexts of the active objects since the latest configuration record, by address.
    living: HashMap<u64, ContextId, RandomState>,
    /// Per address, the number of contexts so far, and the latest context.
    lives: HashMap<u64, (usize, ContextId), RandomState>,
    /// Cache of `living`, by a hash of the address; [`NOT_SEEN`] marks a free entry.
    seen: [(u64, ContextId); SEEN],
}

/// Number of entries in the cache: a power of two, larger than the usual number of active objects.
const SEEN: usize = 64;

/// A value that cannot be an address, because addresses have 32 bits.
const NOT_SEEN: u64 = u64::MAX;

impl Default for Symbols {
    fn default() -> Self {
        let (given, holding, ended, living, lives) = Default::default();
        Self {
            given,
            holding,
            ended,
            living,
            lives,
            seen: [(NOT_SEEN, ContextId::default()); SEEN],
        }
    }
}

impl Symbols {
    /// Stores the name from a symbol record with this row of values.
    pub(super) fn add(&mut self, trace: &mut Trace, plan: &SymbolPlan, row: &[u8], ticks: u64) {
        let argument = |index| trace.payload.argument(row, index);
        let (Some(number), Some(name)) = (argument(plan.key), argument(plan.name)) else { return };
        let owner = plan.owner.and_then(argument);
        let recorded = values::bytes(row, name);
        let key = number.wrapping_add(plan.keys);
        if self.given.contains(&(plan.kind, key)) {
            return;
        }
        let label = label(recorded);
        let before = self.holding.get(&(plan.kind, key)).copied();
        if let Some((id, object)) = before.and_then(|id| Some((id, trace.objects.get(id)?))) {
            // Symbol records may be repeated. Only a different name ends the object's life.
            if object.label == label {
                return;
            }
            trace.objects.delete(id, ticks);
        }
        // If the key had another name before, the new name does not apply to earlier events.
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
        let object = match before.filter(|_| lives >= MAX_LIVES) {
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
        // Events before the symbol record created a context without a name. Name it now.
        if let Some(context) = self.living.get(&key) {
            self.name(trace, *context, key);
        }
    }

    /// Names a context after its active object. If the active object has no name, uses the name of
    /// the object at the same address. Before version 2.4.3, there are no symbol records for active
    /// objects.
    fn name(&self, trace: &mut Trace, context: ContextId, key: u64) {
        let named = [kind::ACTIVE_OBJECT, kind::OBJECT].map(|kind| self.holding.get(&(kind, key)));
        let Some(id) = named.into_iter().flatten().next().copied() else { return };
        let Some(label) = trace.objects.get(id).map(|object| object.label.clone()) else { return };
        let known = trace.contexts.get(context).is_some_and(|context| context.name == label);
        if !known {
            trace.contexts.rename(context, &label, Some(id));
        }
    }

    /// Adds the objects that a user's schema file names. These names take precedence over symbol
    /// records in the trace.
    pub(super) fn add_given(&mut self, trace: &mut Trace) {
        let schema = Arc::clone(&trace.schema);
        for (kind, number, name) in schema.object_names() {
            let key = schema.key(Some(kind), number);
            if self.given.insert((kind, key)) {
                trace.objects.add(numbered(kind, key, name.to_owned()));
            }
        }
    }

    /// Adds pool 0, which represents the events that are not allocated from a pool.
    pub(super) fn add_static_pool(trace: &mut Trace) {
        let key = trace.schema.key(Some(kind::EVENT_POOL), 0);
        if key != 0 && trace.objects.with_key(key).is_empty() {
            trace.objects.add(numbered(kind::EVENT_POOL, key, "static".to_owned()));
        }
    }

    /// Invalidates all names. Call this at a configuration record.
    pub(super) fn forget(&mut self, trace: &mut Trace, ticks: u64) {
        self.living.clear();
        self.seen = [(NOT_SEEN, ContextId::default()); SEEN];
        for (named, id) in self.holding.drain() {
            self.ended.insert(named, id);
            trace.objects.end(id, ticks);
        }
    }

    /// Returns the context of an active object. If the address is new, first creates a context.
    #[inline]
    pub(super) fn active_object(&mut self, trace: &mut Trace, key: u64) -> ContextId {
        // Most records refer to a few objects, so a small cache avoids the search.
        if let (true, id) = self.seen(key) {
            return id;
        }
        let id = match self.living.get(&key) {
            Some(id) => *id,
            None => {
                let id = self.create(trace, key);
                self.living.insert(key, id);
                self.name(trace, id, key);
                id
            }
        };
        self.seen[cache_slot(key)] = (key, id);
        id
    }

    /// Creates a context for an active object that is new since the last configuration record.
    #[cold]
    fn create(&mut self, trace: &mut Trace, key: u64) -> ContextId {
        let (lives, last) = self.lives.entry(key).or_default();
        let context = active_object(trace, key);
        // If an address already has `MAX_LIVES` contexts, rename the latest one, so memory stays
        // bounded.
        if *lives < MAX_LIVES {
            (*lives, *last) = (*lives + 1, trace.contexts.replace(context));
        } else {
            trace.contexts.rename(*last, &context.name, None);
        }
        *last
    }

    /// Looks up an active object in the cache. The context is valid only if the first value is
    /// true. The function returns two values so that the fast path needs no branch.
    #[inline(always)]
    pub(super) fn seen(&self, key: u64) -> (bool, ContextId) {
        let (known, id) = self.seen[cache_slot(key)];
        (known == key, id)
    }
}

/// Returns the cache entry for an active object.
#[inline(always)]
const fn cache_slot(key: u64) -> usize {
    // Multiplying by the golden ratio distributes equally spaced addresses evenly.
    let slot = (key as u32).wrapping_mul(0x9E37_79B1) >> 26;
    slot as usize % SEEN
}

fn active_object(trace: &Trace, key: u64) -> Context {
    let key_text = key_text(trace.payload, key);
    let symbol = trace.symbol(key).map(|symbol| symbol.to_string());
    let name = symbol.unwrap_or_else(|| format!("ao {key_text}"));
    Context { key, key_text, kind: ContextKind::Thread, name, object: None }
}

/// Creates the context for events outside of the steps of active objects.
pub(super) fn framework(trace: &mut Trace) -> ContextId {
    let (key_text, name) = ("-".to_owned(), "framework".to_owned());
    let kind = ContextKind::System;
    trace.contexts.add(Context { key: FRAMEWORK, key_text, kind, name, object: None })
}

fn key_text(payload: PayloadLayout, key: u64) -> String {
    format!("0x{key:0digits$X}", digits = payload.digits())
}

/// Returns the name as users see it: a leading `&` is removed, and unprintable bytes are escaped.
fn label(recorded: &[u8]) -> String {
    let spoken = Symbol { owner: None, key: 0, name: recorded }.spoken();
    shown(spoken).into_owned()
}

#[cfg(test)]
mod tests {
    use tracewell_wire::rkh::Settings;

    use super::*;
    use crate::format::rkh::FORMAT;
    use crate::format::rkh::plan::Plans;
    use crate::model::schema::Extension;

    #[test]
    fn only_a_text_is_a_name() {
        let text = r#"
            format = "rkh"
            [[event]]
            id = 192
            name = "APP_NUMBER_OBJ"
            label = "number"
            family = "app"
            args = ["obj: address as ptr", "nm as u32"]
            [[event]]
            id = 193
            name = "APP_TEXT_OBJ"
            label = "text"
            family = "app"
            args = ["obj: address as ptr", "nm: text as strz"]
        "#;
        let file = Arc::new(Extension::parse(text, "app.toml").unwrap());
        let schema = FORMAT.extended((FORMAT.schema)(), &[file]).unwrap();
        let plans = Plans::new(&schema, 0, Dialect::V3_4, &Settings::default());
        let is_symbol = [192, 193, 0xA6].map(|code| plans.get(code).unwrap().symbol.is_some());
        assert_eq!(is_symbol, [false, true, true]);
    }
}
