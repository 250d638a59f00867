//! Objects: what events act on. An address may name several, one after the other.

use std::collections::HashMap;

use foldhash::fast::RandomState;

/// Position of an object in [`Objects`]: dense, from 0, in the order of the source.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct ObjectId(pub u32);

/// From when to when an object lived, in ticks; `None` where the trace does not show it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Lifetime {
    /// Ticks of its creation.
    pub from: Option<u64>,
    /// Ticks of its deletion.
    pub until: Option<u64>,
    /// Whether its key means nothing outside of these times: the system has started anew.
    pub over: bool,
}

impl Lifetime {
    /// Whether the object may have lived at that time. Creation and deletion themselves count.
    #[inline]
    pub fn contains(&self, ticks: u64) -> bool {
        self.from.is_none_or(|from| from <= ticks) && self.until.is_none_or(|until| ticks <= until)
    }
}

/// An object of a trace.
#[derive(Clone, Debug)]
pub struct Object {
    /// Address or other key as recorded.
    pub key: u64,
    /// Type code of the dialect, to be looked up in the schema.
    pub kind: u32,
    /// Name as recorded; bytes of no declared encoding, possibly empty.
    pub name: Vec<u8>,
    /// Name for people: the recorded one with unprintable bytes escaped, or made from kind and key.
    pub label: String,
    /// Parameters as recorded, by kind.
    pub parameters: Vec<u64>,
    /// Priority at registration, for threads of kernels that record it.
    pub priority: Option<u16>,
    /// Whether it was alive when the trace was saved, where the dialect says so.
    pub alive: Option<bool>,
    /// Creation and deletion as far as the trace shows them.
    pub lifetime: Lifetime,
    /// The source's own record of it; empty for an object that was made up for an unregistered
    /// context.
    pub record: Vec<u8>,
}

/// All objects of a trace, by number and by key.
#[derive(Debug, Default)]
pub struct Objects {
    list: Vec<Object>,
    by_key: HashMap<u64, Vec<ObjectId>, RandomState>,
    /// Lives that were ended for good.
    over: u64,
}

impl Objects {
    /// Adds an object.
    pub fn add(&mut self, object: Object) -> ObjectId {
        let id = ObjectId(u32::try_from(self.list.len()).unwrap_or(u32::MAX));
        self.by_key.entry(object.key).or_default().push(id);
        self.list.push(object);
        id
    }

    /// The object of this number.
    #[inline]
    pub fn get(&self, id: ObjectId) -> Option<&Object> {
        self.list.get(id.0 as usize)
    }

    /// The object of this number, to note its lifetime.
    pub fn get_mut(&mut self, id: ObjectId) -> Option<&mut Object> {
        self.list.get_mut(id.0 as usize)
    }

    /// Ends the life of an object for good: from here on its key means nothing, or something else.
    pub fn end(&mut self, id: ObjectId, ticks: u64) {
        if let Some(object) = self.get_mut(id) {
            object.lifetime.until = Some(ticks);
            object.lifetime.over = true;
            self.over += 1;
        }
    }

    /// Grows whenever a key may mean something else than before.
    pub fn changes(&self) -> u64 {
        self.list.len() as u64 + self.over
    }

    /// All objects that ever had this key, in the order of the source.
    #[inline]
    pub fn with_key(&self, key: u64) -> &[ObjectId] {
        self.by_key.get(&key).map_or(&[], Vec::as_slice)
    }

    /// The object that a key named at a time: of the wanted kind if there is one (where a kind is
    /// wanted), alive then if there is one, the one that was made last; the first in the order of the
    /// source otherwise, unless that one is over.
    pub fn at(&self, key: u64, ticks: u64, kind: Option<u32>) -> Option<(ObjectId, &Object)> {
        let candidates = || {
            let known = self.with_key(key).iter().filter_map(|&id| Some((id, self.get(id)?)));
            known.filter(|(_, object)| !object.lifetime.over || object.lifetime.contains(ticks))
        };
        let of_kind = |object: &Object| kind.is_none_or(|kind| kind == object.kind);
        let alive = candidates()
            .filter(|(_, object)| of_kind(object) && object.lifetime.contains(ticks))
            .reduce(
                |best, one| if one.1.lifetime.from > best.1.lifetime.from { one } else { best },
            );
        alive
            .or_else(|| candidates().find(|(_, object)| of_kind(object)))
            .or_else(|| candidates().next())
    }

    /// How often up to a time a key came to name something of another name (of the wanted kind, where it ever names
    /// one): what it named before is something else then.
    pub fn renamed(&self, key: u64, ticks: u64, kind: Option<u32>) -> usize {
        let lives = self.with_key(key);
        if lives.len() < 2 {
            return 0;
        }
        let known = || lives.iter().filter_map(|id| self.get(*id));
        let kind = kind.filter(|kind| known().any(|object| object.kind == *kind));
        let labels = known()
            .filter(|object| kind.is_none_or(|kind| kind == object.kind))
            .filter(|object| object.lifetime.from.is_none_or(|from| from <= ticks))
            .map(|object| object.label.as_str());
        labels.clone().zip(labels.skip(1)).filter(|(before, label)| before != label).count()
    }

    /// All of them, in order of their numbers.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (ObjectId, &Object)> {
        self.list.iter().enumerate().map(|(index, object)| (ObjectId(index as u32), object))
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }
}
