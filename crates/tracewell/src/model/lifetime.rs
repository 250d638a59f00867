//! The lifetimes of objects, derived from the creations and deletions in a trace. A key can name
//! several objects in turn, because the memory of a control block is reused. Creations and
//! deletions are collected before the events are delivered, so that an event before a creation does
//! not get the name of the later object. Each creation begins a life. If the source contains an
//! object with the same key and kind, the life is assigned to this object. The last life of a key
//! is assigned first, because a source keeps the latest names. If the parameters of a creation
//! contradict the parameters of an object, the life is not assigned to that object. There is one
//! exception: if the last life has not ended, it is assigned to a living object in any case. A life
//! without an object has no name.

use std::collections::HashMap;

use foldhash::fast::RandomState;

use super::schema::{ArgumentKind, EventType, Schema};
use super::{Lifetime, Meaning, Object, ObjectId, Objects, PayloadLayout};

/// A key and a kind of object.
type Named = (u64, u32);

/// The collected creations and deletions, by key and kind.
#[derive(Debug, Default)]
pub struct Lifetimes {
    lives: HashMap<Named, Vec<ObservedLifetime>, RandomState>,
}

/// One life of a key.
#[derive(Clone, Debug, Default)]
struct ObservedLifetime {
    created: Option<Creation>,
    deleted: Option<u64>,
}

#[derive(Clone, Debug)]
struct Creation {
    place: usize,
    ticks: u64,
    /// Id of the event.
    id: u32,
    /// Arguments of the event.
    arguments: Vec<u64>,
}

/// A change of the object to which a key refers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct KeyBinding {
    /// The position that the caller passed to `note`, or `None` if the change applies before the
    /// first event.
    pub place: Option<usize>,
    /// Ticks from the first event to that position.
    pub ticks: u64,
    /// The key of the object, as in [`Object::key`].
    pub key: u64,
    /// The type code of the object.
    pub kind: u32,
    /// The object to which the key refers from this position on, or `None` if this object is
    /// unknown.
    pub object: Option<ObjectId>,
}

/// Returns a list with one entry for each event id, up to the highest id of a creation or deletion.
/// An entry is true if the id can be a creation or a deletion. [`Lifetimes::note`] ignores other
/// events.
pub fn births_and_deaths(schema: &Schema) -> Vec<bool> {
    let mut relevant = Vec::new();
    for id in schema.ids_that_may_mean(&[Meaning::Create, Meaning::Delete]) {
        let id = id as usize;
        relevant.resize(relevant.len().max(id + 1), false);
        relevant[id] = true;
    }
    relevant
}

/// Returns the meaning of a creation or deletion, the index of the argument with the key, and the
/// type code.
fn subject(event: &EventType) -> Option<(Meaning, usize, u32)> {
    let means = event.means?;
    let index = means.object?;
    let ArgumentKind::Object(Some(kind)) = event.args.get(index)?.kind else { return None };
    matches!(means.meaning, Meaning::Create | Meaning::Delete).then_some((
        means.meaning,
        index,
        kind,
    ))
}

impl Lifetimes {
    /// Collects an event. `place` is an opaque position that the caller defines. Call this in time
    /// order.
    pub fn note(
        &mut self,
        (schema, layout): (&Schema, PayloadLayout),
        (id, payload): (u32, &[u8]),
        (place, ticks): (usize, u64),
    ) {
        let Some((meaning, index, kind)) = subject(schema.event(id)) else { return };
        let Some(key) = layout.argument(payload, index) else { return };
        let lives = self.lives.entry((schema.key(Some(kind), key), kind)).or_default();
        if meaning == Meaning::Create {
            let arguments = (0..layout.arguments(payload))
                .map_while(|index| layout.argument(payload, index))
                .collect();
            let created = Some(Creation { place, ticks, id, arguments });
            lives.push(ObservedLifetime { created, deleted: None });
            return;
        }
        // A deletion without a creation ends a life that began before the trace.
        match lives.last_mut() {
            Some(life) => life.deleted = Some(ticks),
            None => lives.push(ObservedLifetime { created: None, deleted: Some(ticks) }),
        }
    }

    /// Assigns the lives to the source's objects. `named` contains these objects in the order of
    /// the source. From the beginning of each life, the key refers to the object that is assigned
    /// to this life. If no object is left for a life of an object of the kind `made_up.0`, the life
    /// gets a new object. `made_up.1` returns the label of this object. `from` is the tick at which
    /// lives without a recorded creation begin.
    pub fn settle(
        mut self,
        schema: &Schema,
        objects: &mut Objects,
        named: &[ObjectId],
        (from, made_up): (u64, (u32, &dyn Fn(u64) -> String)),
    ) -> Vec<KeyBinding> {
        let mut slots: HashMap<Named, Vec<ObjectId>, RandomState> = HashMap::default();
        let mut keys = Vec::new();
        for id in named {
            let Some(object) = objects.get(*id) else { continue };
            let known = slots.entry((object.key, object.kind)).or_insert_with(|| {
                keys.push((object.key, object.kind));
                Vec::new()
            });
            known.push(*id);
        }
        // Keys without an object in the source come last. They are sorted, because the order of a
        // hash map would change the output from run to run.
        let mut others: Vec<_> =
            self.lives.keys().filter(|named| !slots.contains_key(*named)).copied().collect();
        others.sort_unstable();
        let mut bindings: Vec<(KeyBinding, Option<u64>)> = Vec::new();
        for (key, kind) in keys.into_iter().chain(others) {
            let lives = self.lives.remove(&(key, kind)).unwrap_or_default();
            let slots = slots.remove(&(key, kind)).unwrap_or_default();
            let before = objects.at(key, u64::MAX, Some(kind)).map(|(id, _)| id);
            let is_gone = before.is_some_and(|before| !slots.contains(&before));
            let given = Given { schema, objects, slots, before, is_gone }.give(&lives);
            for (life, object) in given {
                let object = object.or_else(|| {
                    (kind == made_up.0)
                        .then(|| objects.add_unnamed(unnamed(key, kind, made_up.1(key))))
                });
                let place = life.created.as_ref().map(|created| created.place);
                let ticks = life.created.as_ref().map_or(from, |created| created.ticks);
                bindings.push((KeyBinding { place, ticks, key, kind, object }, life.deleted));
            }
        }
        // If several objects have the same key at the beginning, the last binding of this key
        // applies. So the binding of a living object comes last. If several objects are alive, the
        // last binding is that of the object that the source lists first.
        let rank = |(binding, _): &(KeyBinding, Option<u64>)| {
            let object = binding.object.filter(|_| binding.place.is_none());
            let alive =
                object.and_then(|id| objects.get(id)).is_some_and(|o| o.alive == Some(true));
            (binding.place.map(|place| place + 1), alive, object.map(std::cmp::Reverse))
        };
        bindings.sort_by_key(rank);
        for (binding, deleted) in &bindings {
            match binding.object {
                Some(object) if binding.place.is_some() => {
                    objects.begin(object, Some(binding.ticks))
                }
                Some(object) => objects.bind(object, binding.ticks),
                None => objects.name_nothing(binding.key, binding.kind, binding.ticks),
            }
            if let Some((object, ticks)) = binding.object.zip(*deleted) {
                objects.delete(object, ticks);
            }
        }
        bindings.into_iter().map(|(binding, _)| binding).collect()
    }
}

/// The objects that share a key and a kind, before each is assigned to one of the key's lives.
struct Given<'a> {
    schema: &'a Schema,
    objects: &'a Objects,
    /// The unassigned objects, in the order of the source.
    slots: Vec<ObjectId>,
    /// The object that the key named before the first of the lives.
    before: Option<ObjectId>,
    /// True if the source no longer names this object.
    is_gone: bool,
}

impl Given<'_> {
    /// Returns the lives in time order, each with its object. While the source had unused slots for
    /// a key, it filled them in order. If there are at least as many slots as lives, the lives got
    /// the last slots. This function then searches from the last life and the last slot backwards.
    /// If there are fewer slots than lives, some lives shared a slot. This function then searches
    /// from the first life and the first slot forwards.
    fn give(mut self, lives: &[ObservedLifetime]) -> Vec<(ObservedLifetime, Option<ObjectId>)> {
        let first = lives.first().filter(|life| life.created.is_none()).cloned();
        let begun: Vec<_> = lives.iter().filter(|life| life.created.is_some()).cloned().collect();
        // Leave out the object `before`, because it can only belong to the life that began before
        // the trace.
        self.slots.retain(|id| Some(*id) != self.before);
        let mut objects = vec![None; begun.len()];
        // The last life is the one that the source describes best: assign it before the others.
        if let Some((last, object)) = begun.last().zip(objects.last_mut()) {
            *object = self.take_last(last);
        }
        let earlier = begun.len().saturating_sub(1);
        let shared = self.slots.len() < earlier;
        for number in 0..earlier {
            let index = if shared { number } else { earlier - 1 - number };
            objects[index] = self.take(&begun[index], shared);
        }
        let object = self.first(begun.is_empty());
        let mut given = Vec::with_capacity(lives.len() + 1);
        if first.is_some() || object.is_some() {
            given.push((first.unwrap_or_default(), object));
        }
        given.extend(begun.into_iter().zip(objects));
        given
    }

    fn is_alive(&self, id: ObjectId) -> bool {
        self.objects.get(id).is_some_and(|object| object.alive == Some(true))
    }

    /// Removes and returns the object of `life`, the last life of the key. If no deletion ended
    /// this life, prefers an object that is alive.
    fn take_last(&mut self, life: &ObservedLifetime) -> Option<ObjectId> {
        if life.deleted.is_some() {
            return self.take(life, false);
        }
        let alive = |id: &ObjectId| self.is_alive(*id);
        let fits = |id: &ObjectId| self.fits(*id, life);
        let position = self.slots.iter().rposition(|id| alive(id) && fits(id));
        let position = position.or_else(|| self.slots.iter().rposition(alive));
        match position {
            // If an object's parameters change after its creation, the object no longer fits the
            // recorded creation. So if a life has not ended, take a living object, even if that
            // object does not fit.
            Some(position) => Some(self.slots.remove(position)),
            None => self.take(life, false),
        }
    }

    /// Removes and returns an object that fits the lifetime `life`. If `first` is true, this is the
    /// first such object, otherwise the last.
    fn take(&mut self, life: &ObservedLifetime, first: bool) -> Option<ObjectId> {
        let fits = |id: &ObjectId| self.fits(*id, life);
        let mut slots = self.slots.iter();
        let position = if first { slots.position(fits) } else { slots.rposition(fits) };
        position.map(|position| self.slots.remove(position))
    }

    /// Returns the object that was alive at the beginning of the trace. `alone` is true if no life
    /// begins later.
    fn first(&self, alone: bool) -> Option<ObjectId> {
        let alive = || self.slots.iter().copied().find(|id| self.is_alive(*id));
        match self.before {
            // The object `before` no longer exists, so its successor was created while recording
            // was off.
            Some(before) if alone && self.is_gone => {
                alive().or_else(|| self.slots.first().copied()).or(Some(before))
            }
            Some(before) if alone && !self.is_alive(before) => alive().or(Some(before)),
            Some(before) => Some(before),
            None if alone => alive().or_else(|| self.slots.first().copied()),
            None => self.slots.last().copied(),
        }
    }

    /// Returns true if no parameter of an object contradicts the event that created it.
    fn fits(&self, id: ObjectId, life: &ObservedLifetime) -> bool {
        let Some((object, created)) = self.objects.get(id).zip(life.created.as_ref()) else {
            return false;
        };
        let names = self.schema.object_kind(object.kind).map(|kind| kind.parameters.as_slice());
        let args = &self.schema.event(created.id).args;
        let argument = |name: &str| {
            let index = args.iter().position(|argument| argument.name == name)?;
            created.arguments.get(index).copied()
        };
        let parameters = names.unwrap_or_default().iter().zip(&object.parameters);
        let priority = object.priority.map(u64::from);
        parameters
            .map(|(name, value)| (argument(name), Some(*value)))
            .chain([(argument("priority"), priority)])
            // A parameter that exists only in the event or only in the object is not a
            // contradiction.
            .all(|(said, is)| said.is_none() || is.is_none() || said == is)
    }
}

fn unnamed(key: u64, kind: u32, label: String) -> Object {
    Object {
        key,
        kind,
        name: Vec::new(),
        label,
        parameters: Vec::new(),
        priority: None,
        alive: None,
        lifetime: Lifetime::default(),
        record: Vec::new(),
    }
}
