//! Objects on which events act. An address can name several objects in turn. A binding is an object
//! and the tick from which a key refers to it. Each key has one list of bindings for each kind of
//! object, and one list for all kinds together. A lookup takes logarithmic time in the number of
//! bindings of the key.

use std::collections::HashMap;

use foldhash::fast::RandomState;

use super::numbered::numbered_from;
use super::one_or_many::OneOrMany;

/// Index of an object in [`Objects`]. Indices are contiguous from 0, in the order of the source.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct ObjectId(pub u32);

/// The times at which an object was created and deleted. A time is `None` if the trace does not
/// contain the creation or the deletion.
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
    /// The recorded address or other key.
    pub key: u64,
    /// Type code in the dialect; the schema has an entry for it.
    pub kind: u32,
    /// The recorded name, in an unspecified encoding; possibly empty.
    pub name: Vec<u8>,
    /// The name that the output shows: the recorded name with unprintable bytes escaped, or a name
    /// derived from kind and key.
    pub label: String,
    /// The recorded parameters, in the order of
    /// [`ObjectKind::parameters`](super::schema::ObjectKind::parameters).
    pub parameters: Vec<u64>,
    /// Priority at registration, for threads of kernels that record it.
    pub priority: Option<u16>,
    /// True if the object was alive when the trace was saved; `None` if the dialect does not record
    /// this.
    pub alive: Option<bool>,
    /// Creation and deletion, if the trace contains them.
    pub lifetime: Lifetime,
    /// The source's record of the object; empty for an object that was created for an unregistered
    /// context.
    pub record: Vec<u8>,
}

/// A change of the object to which a key refers, with the tick of this change.
#[derive(Clone, Copy, Debug)]
struct Binding {
    from: u64,
    /// `None` if the key refers to no known object from this tick on.
    object: Option<ObjectId>,
    /// Number of times that the name of the key changed, up to this binding.
    renamed: usize,
}

/// The objects to which a key refers, in event order. The ticks of bindings never decrease, even if
/// the clock was set back.
#[derive(Debug, Default)]
struct Bindings(OneOrMany<Binding>);

impl Bindings {
    /// Returns the number of bindings at or before a tick.
    #[inline]
    fn until(&self, ticks: u64) -> usize {
        match self.0.last() {
            // Nearly all lookups are for ticks after the last binding.
            Some(last) if last.from <= ticks => self.0.len(),
            _ => self.0.partition_point(|binding| {
                #[cfg(test)]
                tests::LOOKS.with(|looks| looks.set(looks.get() + 1));
                binding.from <= ticks
            }),
        }
    }

    /// Returns the last binding at or before a tick.
    fn at(&self, ticks: u64) -> Option<&Binding> {
        self.0.get(self.until(ticks).checked_sub(1)?)
    }

    fn named(&self, ticks: u64) -> NamedAt {
        // `until` is the number of bindings up to the tick, so it is also the index of the next
        // binding.
        let next = self.until(ticks);
        let binding = next.checked_sub(1).and_then(|binding| self.0.get(binding));
        NamedAt {
            object: binding.and_then(|binding| binding.object),
            from: binding.map_or(0, |binding| binding.from),
            until: self.0.get(next).map_or(u64::MAX, |next| next.from - 1),
        }
    }

    /// Returns true if the name of the key changed.
    fn were_renamed(&self) -> bool {
        self.0.last().is_some_and(|last| last.renamed > 0)
    }

    fn last_named(&self) -> Option<ObjectId> {
        self.0.iter().rev().find_map(|binding| binding.object)
    }

    /// Lets the key refer to an object from a tick on.
    fn begin(&mut self, from: u64, object: ObjectId, list: &[Object]) {
        // If an object ends at a tick, the key refers to no object from the next tick on. If
        // another object begins at the same tick, its binding replaces this empty one.
        while self.0.last().is_some_and(|last| last.object.is_none() && last.from > from) {
            self.0.pop();
        }
        let label = |id: ObjectId| list.get(id.0 as usize).map(|object| object.label.as_str());
        // Recorders can register an object repeatedly under the same name. Such a repetition does
        // not count as a new name.
        let renamed = self.last_named().is_some_and(|before| label(before) != label(object));
        self.add(from, Some(object), renamed);
    }

    fn add(&mut self, from: u64, object: Option<ObjectId>, renamed: bool) {
        // If the clock was set back, use the tick of the last binding, so that the list remains
        // sorted.
        let last = self.0.last().map_or((0, 0), |last| (last.from, last.renamed));
        let renamed = last.1 + usize::from(renamed);
        self.0.push(Binding { from: from.max(last.0), object, renamed });
    }

    /// Lets the key refer to no object from a tick on. Does nothing if the key does not refer to
    /// this object.
    fn end(&mut self, from: u64, object: ObjectId) {
        if self.0.last().is_some_and(|last| last.object == Some(object)) {
            self.add(from, None, false);
        }
    }

    /// Lets the key refer, from a tick on, to another object in place of the latest one.
    fn replace(&mut self, from: u64, object: ObjectId) {
        let is_its = |binding: &Binding| binding.object.is_none_or(|named| named == object);
        // Remove bindings from the end as long as they refer to the replaced object or to no
        // object.
        let mut renamed = self.0.last().map_or(0, |last| last.renamed);
        while self.0.last().is_some_and(is_its) {
            self.0.pop();
            renamed = renamed.max(1);
        }
        let last = self.0.last().map_or(0, |last| last.from);
        self.0.push(Binding { from: from.max(last), object: Some(object), renamed: renamed + 1 });
    }
}

/// The object to which a key refers at a tick, and the time span in which it refers to this object.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NamedAt {
    /// The object, or `None` if no known object has the key.
    pub object: Option<ObjectId>,
    /// First tick at which the key refers to the object.
    pub from: u64,
    /// Last tick at which the key refers to the object; `u64::MAX` if there is no end.
    pub until: u64,
}

/// All objects that ever had one key.
#[derive(Debug, Default)]
struct KeyHistory {
    /// The objects, in the order of the source.
    ids: OneOrMany<ObjectId>,
    /// The bindings of the key to objects of all kinds.
    bindings: Bindings,
}

/// The objects of a trace, by number and by key.
///
/// Memory is reused, so an address refers to different objects at different times:
///
/// ```
/// use tracewell::model::{Lifetime, Object, Objects};
///
/// let object = |label: &str, from| Object {
///     key: 0x2000_0100,
///     kind: 3,
///     name: label.as_bytes().to_vec(),
///     label: label.to_owned(),
///     parameters: Vec::new(),
///     priority: None,
///     alive: None,
///     lifetime: Lifetime { from, until: None },
///     record: Vec::new(),
/// };
/// let mut objects = Objects::default();
/// objects.add(object("first", None));
/// objects.add(object("second", Some(500)));
/// let label_at = |ticks| objects.at(0x2000_0100, ticks, None).map(|(_, o)| o.label.as_str());
/// assert_eq!((label_at(499), label_at(500)), (Some("first"), Some("second")));
/// ```
#[derive(Debug, Default)]
pub struct Objects {
    list: Vec<Object>,
    by_key: HashMap<u64, KeyHistory, RandomState>,
    by_kind: HashMap<(u64, u32), Bindings, RandomState>,
    /// True for dialects in which the name of a key applies to objects of every kind.
    kinds_share_names: bool,
    /// True if the name of some key changed.
    has_renamed: bool,
    changes: u64,
}

impl Objects {
    /// Adds an object. From the object's creation on, the object's key refers to it. If this is the
    /// first object with its key and kind, the key also refers to it before the creation, because
    /// earlier events can only refer to this object. An object with an unknown creation time does
    /// not take over the key of another object.
    pub fn add(&mut self, object: Object) -> ObjectId {
        let (key, kind, from) = (object.key, object.kind, object.lifetime.from);
        let id = self.add_unnamed(object);
        let is_first = self.by_kind.get(&(key, kind)).is_none_or(|bindings| bindings.0.is_empty());
        if from.is_some() || is_first {
            self.bind(id, from.filter(|_| !is_first).unwrap_or(0));
        }
        id
    }

    /// Adds an object. The object's key refers to the object only after a call of
    /// [`Objects::begin`].
    pub fn add_unnamed(&mut self, object: Object) -> ObjectId {
        let id = ObjectId(u32::try_from(self.list.len()).unwrap_or(u32::MAX));
        self.by_key.entry(object.key).or_default().ids.push(id);
        self.list.push(object);
        id
    }

    /// Returns the object with this number.
    #[inline]
    pub fn get(&self, id: ObjectId) -> Option<&Object> {
        self.list.get(id.0 as usize)
    }

    /// Begins the life of an object. From this time on, the object's key refers to the object.
    /// `ticks` is `None` if the time is unknown.
    pub fn begin(&mut self, id: ObjectId, ticks: Option<u64>) {
        let Some(object) = self.list.get_mut(id.0 as usize) else { return };
        object.lifetime = Lifetime { from: ticks, until: None };
        self.bind(id, ticks.unwrap_or(0));
    }

    /// Lets the key of an object refer to this object from a tick on, but does not change the
    /// object's lifetime.
    pub fn bind(&mut self, id: ObjectId, ticks: u64) {
        let Some(Object { key, kind, .. }) = self.list.get(id.0 as usize) else { return };
        let bindings = self.by_kind.entry((*key, *kind)).or_default();
        // A repeated record of the same object changes nothing.
        if bindings.0.last().is_some_and(|last| last.object == Some(id)) {
            return;
        }
        bindings.begin(ticks, id, &self.list);
        self.has_renamed |= bindings.were_renamed();
        if let Some(lives) = self.by_key.get_mut(key) {
            lives.bindings.begin(ticks, id, &self.list);
            self.has_renamed |= lives.bindings.were_renamed();
        }
        self.changes += 1;
    }

    /// Ends the life of an object. The object's key still refers to this object until another
    /// object gets the key.
    pub fn delete(&mut self, id: ObjectId, ticks: u64) {
        if let Some(object) = self.list.get_mut(id.0 as usize) {
            object.lifetime.until = Some(ticks);
        }
    }

    /// Ends the life of an object. From the next tick on, the key of this object names no object.
    pub fn end(&mut self, id: ObjectId, ticks: u64) {
        self.delete(id, ticks);
        let Some(object) = self.get(id) else { return };
        self.name_nothing(object.key, object.kind, ticks.saturating_add(1));
    }

    /// Makes a key refer to no object of this kind from a tick on.
    pub fn name_nothing(&mut self, key: u64, kind: u32, ticks: u64) {
        let bindings = self.by_kind.entry((key, kind)).or_default();
        match bindings.0.last().map(|last| last.object) {
            Some(None) => {}
            Some(Some(last)) => {
                bindings.add(ticks, None, false);
                if let Some(lives) = self.by_key.get_mut(&key) {
                    lives.bindings.end(ticks, last);
                }
            }
            None => bindings.add(ticks, None, false),
        }
        self.changes += 1;
    }

    /// Replaces the latest object of a key and kind, and discards the replaced object.
    pub fn replace(&mut self, id: ObjectId, object: Object) {
        let from = object.lifetime.from.unwrap_or(0);
        self.has_renamed = true;
        if let Some(bindings) = self.by_kind.get_mut(&(object.key, object.kind)) {
            bindings.replace(from, id);
        }
        if let Some(lives) = self.by_key.get_mut(&object.key) {
            lives.bindings.replace(from, id);
        }
        if let Some(place) = self.list.get_mut(id.0 as usize) {
            *place = object;
        }
        self.changes += 1;
    }

    /// Sets the name and the parameters of an object, if these become known later.
    pub fn describe(&mut self, id: ObjectId, label: &str, parameters: Vec<u64>) {
        if let Some(object) = self.list.get_mut(id.0 as usize) {
            label.clone_into(&mut object.label);
            object.parameters = parameters;
            self.changes += 1;
        }
    }

    /// Updates an object from a later record of the source.
    pub fn recorded_again(&mut self, id: ObjectId, alive: Option<bool>, record: Vec<u8>) {
        if let Some(object) = self.list.get_mut(id.0 as usize) {
            (object.alive, object.record) = (alive, record);
        }
    }

    /// Declares that the name of a key applies to objects of every kind. If a key then refers to no
    /// object of the requested kind, lookups return the object of another kind that has this key.
    pub fn share_names_among_kinds(&mut self) {
        self.kinds_share_names = true;
    }

    /// Returns a number that increases whenever the object of a key may change. Cached names are
    /// valid as long as this number does not change.
    pub fn changes(&self) -> u64 {
        self.changes
    }

    /// Returns all objects that ever had this key, in the order of the source.
    #[inline]
    pub fn with_key(&self, key: u64) -> &[ObjectId] {
        self.by_key.get(&key).map_or(&[], |lives| &lives.ids)
    }

    /// Returns the object to which a key refers at a given time. If `kind` is given, considers only
    /// objects of this kind. The key of a deleted object still refers to this object until another
    /// object gets the key. After [`Objects::end`], the key refers to no object instead.
    pub fn at(&self, key: u64, ticks: u64, kind: Option<u32>) -> Option<(ObjectId, &Object)> {
        let id = self.named(key, ticks, kind).object?;
        Some((id, self.get(id)?))
    }

    /// Like [`Objects::at`], but also returns the time span for which the result is valid.
    pub fn named(&self, key: u64, ticks: u64, kind: Option<u32>) -> NamedAt {
        let nothing = NamedAt { object: None, from: 0, until: u64::MAX };
        let of_kind = kind.map(|kind| {
            self.by_kind.get(&(key, kind)).map_or(nothing, |bindings| bindings.named(ticks))
        });
        let of_any = || self.by_key.get(&key).map_or(nothing, |lives| lives.bindings.named(ticks));
        match of_kind {
            None => of_any(),
            Some(named) if named.object.is_some() || !self.kinds_share_names => named,
            Some(named) => {
                let any = of_any();
                // The name of an object of another kind is used only while no object of the
                // requested kind has this key.
                let (from, until) = (any.from.max(named.from), any.until.min(named.until));
                NamedAt { from, until, ..any }
            }
        }
    }

    /// Returns the number of times that the name of a key changed, up to the time `ticks`. If the
    /// key has had objects of the kind `kind`, counts only changes from one object of this kind to
    /// another. Two events refer to the same object only if this number is the same for both.
    #[inline]
    pub fn renamed(&self, key: u64, ticks: u64, kind: Option<u32>) -> usize {
        // In most traces, the name of a key never changes.
        if self.has_renamed { self.count_renamed(key, ticks, kind) } else { 0 }
    }

    fn count_renamed(&self, key: u64, ticks: u64, kind: Option<u32>) -> usize {
        let of_kind = kind.and_then(|kind| self.by_kind.get(&(key, kind)));
        let bindings = of_kind.or_else(|| Some(&self.by_key.get(&key)?.bindings));
        bindings.and_then(|bindings| bindings.at(ticks)).map_or(0, |binding| binding.renamed)
    }

    /// Returns true if the name of some key changed. Otherwise [`Objects::renamed`] returns 0 for
    /// all keys.
    #[inline]
    pub(crate) fn have_renamed(&self) -> bool {
        self.has_renamed
    }

    /// Returns all objects, in order of their numbers.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (ObjectId, &Object)> {
        self.iter_from(0)
    }

    /// Returns the objects from an index on. Skipping the first ones takes no time.
    pub(crate) fn iter_from(
        &self,
        first: usize,
    ) -> impl ExactSizeIterator<Item = (ObjectId, &Object)> {
        numbered_from(&self.list, first, ObjectId)
    }

    /// Returns the number of objects.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Returns true if there are no objects.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    thread_local! {
        /// Number of bindings that lookups examined.
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
        // After a restart, a target can assign the key to another object at the tick at which the
        // first object ended.
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
        assert!(looks <= asked * 2 * 17, "{looks} bindings were looked at for {asked} names");
    }
}
