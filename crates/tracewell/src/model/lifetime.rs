//! From when to when objects lived, as far as creations and deletions are in the trace.
//!
//! A key may name several objects one after the other: a control block whose memory was used again. Creations and
//! deletions are noted before the events are delivered, so that an event that comes before a creation is not given
//! the name of what was created later. Each creation begins a life. The lives of a key and a kind are given to the
//! objects that the source names, the last life first, for a source keeps the latest names. An object whose parameters
//! are not those of a creation does not have the life that it began. A life that no object is left for has no name.

use std::collections::HashMap;

use foldhash::fast::RandomState;

use super::schema::{ArgumentKind, EventType, Schema};
use super::{Lifetime, Meaning, Object, ObjectId, Objects, PayloadLayout};

/// A key of one kind of objects.
type Named = (u64, u32);

/// Creations and deletions that were noted, by what they are about.
#[derive(Debug, Default)]
pub struct Lifetimes {
    lives: HashMap<Named, Vec<Life>, RandomState>,
}

/// One life of a key.
#[derive(Clone, Debug, Default)]
struct Life {
    created: Option<Creation>,
    deleted: Option<u64>,
}

#[derive(Clone, Debug)]
struct Creation {
    place: usize,
    ticks: u64,
    /// Arguments of the event.
    id: u32,
    arguments: Vec<u64>,
}

/// An object that begins to be named by its key at a place, or nothing that is known does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LifeTurn {
    /// The place that the caller noted; `None` for the state before the first event.
    pub place: Option<usize>,
    /// Ticks of that place.
    pub ticks: u64,
    /// The key.
    pub key: u64,
    /// The kind.
    pub kind: u32,
    /// The object.
    pub object: Option<ObjectId>,
}

/// Returns true for each event id that is a creation or a deletion, up to the last one that is.
pub fn births_and_deaths(schema: &Schema) -> Vec<bool> {
    let mut relevant = Vec::new();
    for event in schema.events().iter().filter(|event| subject(event).is_some()) {
        let id = event.id as usize;
        relevant.resize(relevant.len().max(id + 1), false);
        relevant[id] = true;
    }
    relevant
}

/// What a creation or deletion is about: the position of the argument, and the kind.
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
    /// Notes an event; `place` is the caller's own word for where it is. Places are noted in the order of time.
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
            lives.push(Life { created, deleted: None });
            return;
        }
        match lives.last_mut() {
            Some(life) => life.deleted = Some(ticks),
            None => lives.push(Life { created: None, deleted: Some(ticks) }),
        }
    }

    /// Gives the lives to the objects that the source names, in its order, and lets keys name them from then on.
    /// Objects of the kind `made_up` are made for lives without a name. `from` are the ticks of the first place.
    pub fn settle(
        mut self,
        schema: &Schema,
        objects: &mut Objects,
        named: &[ObjectId],
        (from, made_up): (u64, (u32, &dyn Fn(u64) -> String)),
    ) -> Vec<LifeTurn> {
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
        let mut others: Vec<_> =
            self.lives.keys().filter(|named| !slots.contains_key(*named)).copied().collect();
        others.sort_unstable();
        let mut turns: Vec<(LifeTurn, Option<u64>)> = Vec::new();
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
                turns.push((LifeTurn { place, ticks, key, kind, object }, life.deleted));
            }
        }
        // At the beginning an object that is alive is the last to take its key, and of several the first of the source.
        let rank = |(turn, _): &(LifeTurn, Option<u64>)| {
            let object = turn.object.filter(|_| turn.place.is_none());
            let alive =
                object.and_then(|id| objects.get(id)).is_some_and(|o| o.alive == Some(true));
            (turn.place.map(|place| place + 1), alive, object.map(std::cmp::Reverse))
        };
        turns.sort_by_key(rank);
        for (turn, deleted) in &turns {
            match turn.object {
                Some(object) if turn.place.is_some() => objects.begin(object, Some(turn.ticks)),
                Some(object) => objects.turn(object, turn.ticks),
                None => objects.name_nothing(turn.key, turn.kind, turn.ticks),
            }
            if let Some((object, ticks)) = turn.object.zip(*deleted) {
                objects.delete(object, ticks);
            }
        }
        turns.into_iter().map(|(turn, _)| turn).collect()
    }
}

/// The objects of one key and kind, to be given to its lives.
struct Given<'a> {
    schema: &'a Schema,
    objects: &'a Objects,
    /// In the order of the source.
    slots: Vec<ObjectId>,
    /// The object that the key named up to here.
    before: Option<ObjectId>,
    /// Whether the source no longer names that one.
    is_gone: bool,
}

impl Given<'_> {
    /// The lives in the order of time, each with its object.
    ///
    /// Slots of a key were first filled in their order. If there are as many as lives, or more, the last ones are of
    /// these lives; if there are fewer, some lives shared a slot, and the first ones are given away first.
    fn give(mut self, lives: &[Life]) -> Vec<(Life, Option<ObjectId>)> {
        let first = lives.first().filter(|life| life.created.is_none()).cloned();
        let begun: Vec<_> = lives.iter().filter(|life| life.created.is_some()).cloned().collect();
        self.slots.retain(|id| Some(*id) != self.before);
        let mut objects = vec![None; begun.len()];
        if let Some((last, object)) = begun.last().zip(objects.last_mut()) {
            *object = self.take_last(last);
        }
        let earlier = begun.len().saturating_sub(1);
        let shared = self.slots.len() < earlier;
        for turn in 0..earlier {
            let index = if shared { turn } else { earlier - 1 - turn };
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

    /// The object of the last life. While it goes on, the object is alive.
    fn take_last(&mut self, life: &Life) -> Option<ObjectId> {
        if life.deleted.is_some() {
            return self.take(life, false);
        }
        let alive = |id: &ObjectId| self.is_alive(*id);
        let fits = |id: &ObjectId| self.fits(*id, life);
        let position = self.slots.iter().rposition(|id| alive(id) && fits(id));
        let position = position.or_else(|| self.slots.iter().rposition(alive));
        match position {
            Some(position) => Some(self.slots.remove(position)),
            None => self.take(life, false),
        }
    }

    /// The first or the last object that a life can be of.
    fn take(&mut self, life: &Life, first: bool) -> Option<ObjectId> {
        let fits = |id: &ObjectId| self.fits(*id, life);
        let mut slots = self.slots.iter();
        let position = if first { slots.position(fits) } else { slots.rposition(fits) };
        position.map(|position| self.slots.remove(position))
    }

    /// The object of the life that was going on at the beginning; `alone` if no other follows.
    fn first(&self, alone: bool) -> Option<ObjectId> {
        let alive = || self.slots.iter().copied().find(|id| self.is_alive(*id));
        match self.before {
            // Its successor was created where nothing was recorded.
            Some(before) if alone && self.is_gone => {
                alive().or_else(|| self.slots.first().copied()).or(Some(before))
            }
            Some(before) if alone && !self.is_alive(before) => alive().or(Some(before)),
            Some(before) => Some(before),
            None if alone => alive().or_else(|| self.slots.first().copied()),
            None => self.slots.last().copied(),
        }
    }

    /// Returns true if nothing in the event that created it speaks against an object.
    fn fits(&self, id: ObjectId, life: &Life) -> bool {
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
