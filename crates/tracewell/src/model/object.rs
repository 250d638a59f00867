//! Objects: what events act on. An address may name several, one after the other.
//!
//! What a key names is kept as turns: from which tick on it names which object, for each kind of object and
//! for all kinds together. So a name is found in logarithmic time in the number of lives of its key, however
//! often memory was used again.

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

/// A tick from which on a key names something else than before.
#[derive(Clone, Copy, Debug)]
struct Turn {
    from: u64,
    /// `None`: nothing that is known.
    object: Option<ObjectId>,
    /// How often the key had come to name something of another name by then.
    renamed: usize,
}

/// What a key names, in the order of events. A turn is never earlier than the one before, also if the clock went
/// back.
#[derive(Debug, Default)]
struct Turns(Vec<Turn>);

impl Turns {
    /// Number of turns at or before a tick.
    #[inline]
    fn until(&self, ticks: u64) -> usize {
        match self.0.last() {
            // Most questions are about now.
            Some(last) if last.from <= ticks => self.0.len(),
            _ => self.0.partition_point(|turn| {
                #[cfg(test)]
                tests::LOOKS.with(|looks| looks.set(looks.get() + 1));
                turn.from <= ticks
            }),
        }
    }

    /// The last turn at or before a tick.
    fn at(&self, ticks: u64) -> Option<&Turn> {
        self.0.get(self.until(ticks).checked_sub(1)?)
    }

    fn named(&self, ticks: u64) -> NamedAt {
        let behind = self.until(ticks);
        let turn = behind.checked_sub(1).and_then(|turn| self.0.get(turn));
        NamedAt {
            object: turn.and_then(|turn| turn.object),
            from: turn.map_or(0, |turn| turn.from),
            until: self.0.get(behind).map_or(u64::MAX, |next| next.from - 1),
        }
    }

    fn last_named(&self) -> Option<ObjectId> {
        self.0.iter().rev().find_map(|turn| turn.object)
    }

    /// The key names an object from a tick on.
    fn begin(&mut self, from: u64, object: ObjectId, list: &[Object]) {
        // An end holds from the tick behind it; a successor at the same tick is meant.
        while self.0.last().is_some_and(|last| last.object.is_none() && last.from > from) {
            self.0.pop();
        }
        let label = |id: ObjectId| list.get(id.0 as usize).map(|object| object.label.as_str());
        let renamed = self.last_named().is_some_and(|before| label(before) != label(object));
        self.add(from, Some(object), renamed);
    }

    fn add(&mut self, from: u64, object: Option<ObjectId>, renamed: bool) {
        let last = self.0.last().map_or((0, 0), |last| (last.from, last.renamed));
        let renamed = last.1 + usize::from(renamed);
        self.0.push(Turn { from: from.max(last.0), object, renamed });
    }

    /// The key names nothing from a tick on, if an object is what it names now.
    fn end(&mut self, from: u64, object: ObjectId) {
        if self.0.last().is_some_and(|last| last.object == Some(object)) {
            self.add(from, None, false);
        }
    }

    /// Another object takes the place of the last one, from a tick on.
    fn replace(&mut self, from: u64, object: ObjectId) {
        let is_its = |turn: &Turn| turn.object.is_none_or(|named| named == object);
        let mut renamed = self.0.last().map_or(0, |last| last.renamed);
        while self.0.last().is_some_and(is_its) {
            self.0.pop();
            renamed = renamed.max(1);
        }
        let last = self.0.last().map_or(0, |last| last.from);
        self.0.push(Turn { from: from.max(last), object: Some(object), renamed: renamed + 1 });
    }
}

/// What a key names at a tick, and for how long.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NamedAt {
    /// The object, if there is one that is known.
    pub object: Option<ObjectId>,
    /// First tick at which the key names it.
    pub from: u64,
    /// Last one.
    pub until: u64,
}

/// All objects that ever had one key.
#[derive(Debug, Default)]
struct Lives {
    /// In the order of the source.
    ids: Vec<ObjectId>,
    /// Whatever their kinds.
    turns: Turns,
}

/// All objects of a trace, by number and by key.
#[derive(Debug, Default)]
pub struct Objects {
    list: Vec<Object>,
    by_key: HashMap<u64, Lives, RandomState>,
    by_kind: HashMap<(u64, u32), Turns, RandomState>,
    /// Set by dialects whose symbols name something by its key, whatever the kind of the symbol.
    kinds_share_names: bool,
    changes: u64,
}

impl Objects {
    /// Adds an object. Its key names it from its creation on; the first object of a key and a kind also before, for
    /// what mentions it then means it. One whose creation is not known takes its key from no other.
    pub fn add(&mut self, object: Object) -> ObjectId {
        let (key, kind, from) = (object.key, object.kind, object.lifetime.from);
        let id = self.add_unnamed(object);
        let is_first = self.by_kind.get(&(key, kind)).is_none_or(|turns| turns.0.is_empty());
        if from.is_some() || is_first {
            self.turn(id, from.filter(|_| !is_first).unwrap_or(0));
        }
        id
    }

    /// Adds an object that its key does not name until [`Objects::begin`] says so.
    pub fn add_unnamed(&mut self, object: Object) -> ObjectId {
        let id = ObjectId(u32::try_from(self.list.len()).unwrap_or(u32::MAX));
        self.by_key.entry(object.key).or_default().ids.push(id);
        self.list.push(object);
        id
    }

    /// The object of this number.
    #[inline]
    pub fn get(&self, id: ObjectId) -> Option<&Object> {
        self.list.get(id.0 as usize)
    }

    /// The life of an object begins; `None` if nothing tells when. From then on its key names it.
    pub fn begin(&mut self, id: ObjectId, ticks: Option<u64>) {
        let Some(object) = self.list.get_mut(id.0 as usize) else { return };
        object.lifetime = Lifetime { from: ticks, until: None };
        self.turn(id, ticks.unwrap_or(0));
    }

    /// From a tick on its key names an object; nothing tells when its life began.
    pub fn turn(&mut self, id: ObjectId, ticks: u64) {
        let Some(Object { key, kind, .. }) = self.list.get(id.0 as usize) else { return };
        let turns = self.by_kind.entry((*key, *kind)).or_default();
        if turns.0.last().is_some_and(|last| last.object == Some(id)) {
            return;
        }
        turns.begin(ticks, id, &self.list);
        if let Some(lives) = self.by_key.get_mut(key) {
            lives.turns.begin(ticks, id, &self.list);
        }
        self.changes += 1;
    }

    /// The life of an object ends. Its key goes on naming it until it names another one.
    pub fn delete(&mut self, id: ObjectId, ticks: u64) {
        if let Some(object) = self.list.get_mut(id.0 as usize) {
            object.lifetime.until = Some(ticks);
        }
    }

    /// Ends the life of an object for good: from here on its key means nothing, or something else.
    pub fn end(&mut self, id: ObjectId, ticks: u64) {
        self.delete(id, ticks);
        let Some(object) = self.get(id) else { return };
        self.name_nothing(object.key, object.kind, ticks.saturating_add(1));
    }

    /// From a tick on a key names no object of this kind that is known.
    pub fn name_nothing(&mut self, key: u64, kind: u32, ticks: u64) {
        let turns = self.by_kind.entry((key, kind)).or_default();
        match turns.0.last().map(|last| last.object) {
            Some(None) => {}
            Some(Some(last)) => {
                turns.add(ticks, None, false);
                if let Some(lives) = self.by_key.get_mut(&key) {
                    lives.turns.end(ticks, last);
                }
            }
            None => turns.add(ticks, None, false),
        }
        self.changes += 1;
    }

    /// Puts an object in the place of the latest of its key and kind, which is forgotten.
    pub fn replace(&mut self, id: ObjectId, object: Object) {
        let from = object.lifetime.from.unwrap_or(0);
        if let Some(turns) = self.by_kind.get_mut(&(object.key, object.kind)) {
            turns.replace(from, id);
        }
        if let Some(lives) = self.by_key.get_mut(&object.key) {
            lives.turns.replace(from, id);
        }
        if let Some(place) = self.list.get_mut(id.0 as usize) {
            *place = object;
        }
        self.changes += 1;
    }

    /// The object turns out to have this name and these parameters.
    pub fn describe(&mut self, id: ObjectId, label: &str, parameters: Vec<u64>) {
        if let Some(object) = self.list.get_mut(id.0 as usize) {
            label.clone_into(&mut object.label);
            object.parameters = parameters;
            self.changes += 1;
        }
    }

    /// A later record of an object's source says this of it.
    pub fn recorded_again(&mut self, id: ObjectId, alive: Option<bool>, record: Vec<u8>) {
        if let Some(object) = self.list.get_mut(id.0 as usize) {
            (object.alive, object.record) = (alive, record);
        }
    }

    /// Lets a key name something of one kind for arguments of all kinds that it names nothing of.
    pub fn share_names_among_kinds(&mut self) {
        self.kinds_share_names = true;
    }

    /// Grows whenever a key may mean something else than before.
    pub fn changes(&self) -> u64 {
        self.changes
    }

    /// All objects that ever had this key, in the order of the source.
    #[inline]
    pub fn with_key(&self, key: u64) -> &[ObjectId] {
        self.by_key.get(&key).map_or(&[], |lives| lives.ids.as_slice())
    }

    /// The object that a key named at a time: the one of the wanted kind (if a kind is wanted) that came to have the key
    /// last. An object that was deleted keeps its key until another one has it, unless it was ended for good.
    pub fn at(&self, key: u64, ticks: u64, kind: Option<u32>) -> Option<(ObjectId, &Object)> {
        let id = self.named(key, ticks, kind).object?;
        Some((id, self.get(id)?))
    }

    /// The object that a key names at a time, as [`Objects::at`], and for how long it does.
    pub fn named(&self, key: u64, ticks: u64, kind: Option<u32>) -> NamedAt {
        let nothing = NamedAt { object: None, from: 0, until: u64::MAX };
        let of_kind = kind
            .map(|kind| self.by_kind.get(&(key, kind)).map_or(nothing, |turns| turns.named(ticks)));
        let of_any = || self.by_key.get(&key).map_or(nothing, |lives| lives.turns.named(ticks));
        match of_kind {
            None => of_any(),
            Some(named) if named.object.is_some() || !self.kinds_share_names => named,
            Some(named) => {
                let any = of_any();
                let (from, until) = (any.from.max(named.from), any.until.min(named.until));
                NamedAt { from, until, ..any }
            }
        }
    }

    /// How often up to a time a key came to name something of another name (of the wanted kind, if it ever names
    /// one): what it named before is something else then.
    pub fn renamed(&self, key: u64, ticks: u64, kind: Option<u32>) -> usize {
        let of_kind = kind.and_then(|kind| self.by_kind.get(&(key, kind)));
        let turns = of_kind.or_else(|| Some(&self.by_key.get(&key)?.turns));
        turns.and_then(|turns| turns.at(ticks)).map_or(0, |turn| turn.renamed)
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

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    thread_local! {
        /// How many turns were looked at.
        pub(super) static LOOKS: Cell<u64> = const { Cell::new(0) };
    }

    fn object(key: u64, kind: u32, label: &str, from: Option<u64>) -> Object {
        Object {
            key,
            kind,
            name: Vec::new(),
            label: label.to_owned(),
            parameters: Vec::new(),
            priority: None,
            alive: None,
            lifetime: Lifetime { from, until: None },
            record: Vec::new(),
        }
    }

    fn label(objects: &Objects, ticks: u64, kind: Option<u32>) -> Option<&str> {
        objects.at(7, ticks, kind).map(|(_, object)| object.label.as_str())
    }

    #[test]
    fn a_key_names_what_began_last_until_the_next_begins() {
        let mut objects = Objects::default();
        let first = objects.add(object(7, 1, "first", None));
        objects.delete(first, 10);
        objects.add(object(7, 1, "second", Some(20)));
        assert_eq!(label(&objects, 5, Some(1)), Some("first"));
        assert_eq!(label(&objects, 15, Some(1)), Some("first"));
        assert_eq!(label(&objects, 20, Some(1)), Some("second"));
        assert_eq!(label(&objects, u64::MAX, None), Some("second"));
        assert_eq!(
            objects.named(7, 19, Some(1)),
            NamedAt { object: Some(first), from: 0, until: 19 }
        );
        assert_eq!((objects.renamed(7, 19, None), objects.renamed(7, 20, None)), (0, 1));
    }

    #[test]
    fn a_key_that_was_ended_names_nothing_until_another_begins() {
        let mut objects = Objects::default();
        let first = objects.add(object(7, 1, "first", None));
        objects.end(first, 10);
        assert_eq!(label(&objects, 10, Some(1)), Some("first"));
        assert_eq!(label(&objects, 11, Some(1)), None);
        // A target that starts anew names it at the very tick of the end.
        objects.add(object(7, 1, "second", Some(10)));
        assert_eq!(label(&objects, 10, Some(1)), Some("second"));
        assert_eq!(label(&objects, 9, Some(1)), Some("first"));
    }

    #[test]
    fn kinds_share_names_only_where_the_dialect_says_so() {
        let mut objects = Objects::default();
        objects.add(object(7, 2, "timer", None));
        assert_eq!(label(&objects, 0, Some(4)), None);
        assert_eq!(label(&objects, 0, None), Some("timer"));
        objects.share_names_among_kinds();
        assert_eq!(label(&objects, 0, Some(4)), Some("timer"));
    }

    #[test]
    fn a_clock_that_goes_back_changes_no_order() {
        let mut objects = Objects::default();
        objects.add(object(7, 1, "first", Some(10)));
        objects.add(object(7, 1, "second", Some(100)));
        objects.add(object(7, 1, "third", Some(50)));
        assert_eq!(label(&objects, 99, Some(1)), Some("first"));
        assert_eq!(label(&objects, 100, Some(1)), Some("third"));
    }

    #[test]
    fn what_is_replaced_is_forgotten() {
        let mut objects = Objects::default();
        objects.add(object(7, 1, "first", Some(1)));
        let second = objects.add(object(7, 1, "second", Some(2)));
        let before = objects.renamed(7, 9, Some(1));
        objects.replace(second, object(7, 1, "third", Some(3)));
        assert_eq!(
            (label(&objects, 2, Some(1)), label(&objects, 3, Some(1))),
            (Some("first"), Some("third"))
        );
        assert!(objects.renamed(7, 9, Some(1)) > before);
        assert_eq!(objects.len(), 2);
    }

    #[test]
    fn a_name_costs_a_logarithm_of_the_lives_of_its_key() {
        let lives = 1 << 14;
        let mut objects = Objects::default();
        for life in 0..lives {
            let id = objects.add(object(7, 1, "life", Some(10 * life)));
            objects.end(id, 10 * life + 5);
        }
        let asked = 1000;
        LOOKS.set(0);
        for n in 0..asked {
            let ticks = 10 * (n * 7919 % lives);
            assert!(objects.at(7, ticks, Some(1)).is_some());
            objects.renamed(7, ticks, Some(1));
        }
        let looks = LOOKS.get();
        assert!(looks <= asked * 2 * 17, "{looks} turns were looked at for {asked} names");
    }
}
