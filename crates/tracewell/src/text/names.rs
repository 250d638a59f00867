//! A cache for the names of numbers: labels of objects, names in enumerations, sets of flags.
//!
//! If a trace contains many objects, lookups spend most of their time waiting for memory. So a
//! lookup usually touches a single cache line: a slot of 64 bytes contains a number with its name.
//! The number of slots grows with the number of objects.

use std::sync::Arc;

use super::{Reservation, ShortText};
use crate::model::Trace;
use crate::model::schema::{ArgumentKind, Schema, TableId};

/// The kind of name that a number has: the type of an object, or a table of the schema.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct NameKey(u32);

/// Type codes of objects are below this number. In the key of a table, one of the two highest bits
/// is set.
const ENUM: u32 = 1 << 30;
const FLAGS: u32 = 1 << 31;
/// The key of empty slots.
const NOTHING: NameKey = NameKey(u32::MAX);

/// The range of ticks of a string that never changes.
pub(super) const ALWAYS: (u64, u64) = (0, u64::MAX);

impl NameKey {
    /// Returns the key of objects of this type code, or `None` if the code is too large.
    pub(super) fn object(kind: Option<u32>) -> Option<Self> {
        let code = kind.unwrap_or(0);
        (code < ENUM).then_some(Self(code))
    }

    pub(super) fn enumeration(table: TableId) -> Self {
        Self(ENUM | u32::from(table.number()))
    }

    pub(super) fn flags(table: TableId) -> Self {
        Self(FLAGS | u32::from(table.number()))
    }

    #[inline]
    fn is_object(self) -> bool {
        self.0 < ENUM
    }

    /// Returns the key of arguments of this kind, or `None` if they have no names.
    pub(super) fn of(kind: ArgumentKind) -> Option<Self> {
        match kind {
            ArgumentKind::Object(kind) => Self::object(kind),
            ArgumentKind::Enum(table) => Some(Self::enumeration(table)),
            ArgumentKind::Flags(table) => Some(Self::flags(table)),
            _ => None,
        }
    }
}

/// The cache, which finds strings by number and [`NameKey`].
#[derive(Debug)]
pub(super) struct Names {
    /// The slots, in groups of [`GROUP`]. Their number is a power of two. The hash of a number
    /// selects a group, and the string of the number is in a slot of this group.
    slots: Box<[Slot]>,
    /// For each slot, the part of its string that does not fit into the slot. Empty until the first
    /// such string.
    rests: Vec<Box<[u8]>>,
    /// State of the trace's objects when their labels were cached; see
    /// [`crate::model::Objects::changes`].
    objects: u64,
    /// The current epoch. Labels of objects from other epochs are invalid.
    epoch: u16,
    /// Number of strings that replaced another string. This number determines the slot of the next
    /// such string.
    replaced: usize,
    schema: Option<Arc<Schema>>,
}

/// A cached string, in one line of the processor's cache.
#[derive(Clone, Debug)]
#[repr(align(64))]
struct Slot {
    key: u64,
    /// The first and the last tick at which the string is valid for the number.
    ticks: (u64, u64),
    what: NameKey,
    /// The epoch; 0 for strings that do not belong to an object.
    epoch: u16,
    has_rest: bool,
    /// The start of the string.
    text: ShortText,
}

const _: () = assert!(size_of::<Slot>() == 64);

/// Number of slots that may contain a given string.
const GROUP: usize = 4;
const MIN_SLOTS: usize = 1 << 10;
/// With this number of slots, the cache occupies 4 MiB.
const MAX_SLOTS: usize = 1 << 16;

impl Slot {
    const EMPTY: Self = Self {
        key: 0,
        ticks: ALWAYS,
        what: NOTHING,
        epoch: 0,
        has_rest: false,
        text: ShortText::EMPTY,
    };

    /// Returns true if this string is the name of a number at the given time.
    #[inline(always)]
    fn is_of(&self, what: NameKey, epoch: u16, key: u64, ticks: u64) -> bool {
        let holds = self.ticks.0 <= ticks && ticks <= self.ticks.1;
        self.key == key && self.what == what && self.epoch == epoch && holds
    }
}

impl Default for Names {
    fn default() -> Self {
        let slots = vec![Slot::EMPTY; MIN_SLOTS].into();
        Self { slots, rests: Vec::new(), objects: 0, epoch: 0, replaced: 0, schema: None }
    }
}

impl Names {
    /// Returns the cache for a trace. Drops entries that are no longer valid.
    #[inline]
    pub(super) fn of(&mut self, trace: &Trace) -> &mut Self {
        let same = |schema: &Arc<Schema>| Arc::ptr_eq(schema, &trace.schema);
        if trace.objects.changes() != self.objects || !self.schema.as_ref().is_some_and(same) {
            self.renew(trace);
        }
        self
    }

    /// Starts an epoch. The cached labels of objects then become invalid. Drops all entries in
    /// three cases: the schema changed, the epoch number wrapped to 0, or the objects need more
    /// slots.
    #[cold]
    fn renew(&mut self, trace: &Trace) {
        let same = |schema: &Arc<Schema>| Arc::ptr_eq(schema, &trace.schema);
        let slots = slots_for(trace.objects.len());
        self.epoch = self.epoch.wrapping_add(1);
        if slots > self.slots.len() {
            self.slots = vec![Slot::EMPTY; slots].into();
            self.rests = Vec::new();
        } else if self.epoch == 0 || !self.schema.as_ref().is_some_and(same) {
            self.slots.fill(Slot::EMPTY);
        }
        self.schema = Some(Arc::clone(&trace.schema));
        self.objects = trace.objects.changes();
    }

    /// Returns the cached string from any slot of the group.
    #[inline(never)]
    fn find_in_group(&self, first: usize, what: NameKey, key: u64, ticks: u64) -> Option<Name<'_>> {
        let epoch = self.epoch_of(what);
        let mut group = (0..GROUP).map(|other| first ^ other);
        let index = group.find(|index| self.slots[*index].is_of(what, epoch, key, ticks))?;
        let slot = &self.slots[index];
        let rest: &[u8] = if slot.has_rest { &self.rests[index] } else { &[] };
        Some(Name { start: &slot.text, rest })
    }

    /// Returns true if the cache contains the string for a number, and the string is valid at every
    /// tick.
    pub(super) fn is_constant(&self, what: NameKey, key: u64, ticks: u64) -> bool {
        let (first, epoch) = (self.slot(what, key), self.epoch_of(what));
        let mut group = (0..GROUP).map(|other| &self.slots[first ^ other]);
        group.any(|slot| slot.is_of(what, epoch, key, ticks) && slot.ticks == ALWAYS)
    }

    #[inline(always)]
    fn epoch_of(&self, what: NameKey) -> u16 {
        if what.is_object() { self.epoch } else { 0 }
    }

    /// Returns the index of the first slot that may contain a given string. The other slots of its
    /// group have the same index except for the lowest bits.
    #[inline(always)]
    fn slot(&self, what: NameKey, key: u64) -> usize {
        hash(what, key) as usize & (self.slots.len() - 1)
    }
}

/// Returns the number of slots for this many objects. Unless the maximum is reached, there are at
/// least two slots per object, so few groups overflow.
fn slots_for(objects: usize) -> usize {
    let slots = objects.saturating_mul(2).min(MAX_SLOTS).next_power_of_two();
    slots.clamp(MIN_SLOTS, MAX_SLOTS)
}

/// A cached string.
#[derive(Clone, Copy, Debug)]
pub(super) struct Name<'a> {
    start: &'a ShortText,
    rest: &'a [u8],
}

impl Name<'_> {
    /// Returns the length in bytes.
    #[inline(always)]
    pub(super) fn len(&self) -> usize {
        self.start.len() + self.rest.len()
    }

    /// Appends the string to reserved space.
    #[inline(always)]
    pub(super) fn put<'b>(&self, room: Reservation<'b>) -> Reservation<'b> {
        let room = room.short(self.start);
        if self.rest.is_empty() { room } else { room.text(self.rest) }
    }
}

/// Caches the names of numbers.
pub(super) trait NameCache {
    /// Returns the cached string that is valid for a number at a given time, if there is one.
    fn find(&self, what: NameKey, key: u64, ticks: u64) -> Option<Name<'_>>;

    /// Caches the string of a number. The string is valid from the first tick in `ticks` to the
    /// second.
    fn remember(&mut self, what: NameKey, key: u64, ticks: (u64, u64), text: &[u8]);
}

impl NameCache for Names {
    #[inline(always)]
    fn find(&self, what: NameKey, key: u64, ticks: u64) -> Option<Name<'_>> {
        let first = self.slot(what, key);
        let slot = &self.slots[first];
        // Nearly all strings are in the first slot of their group, and fit into this slot.
        if slot.is_of(what, self.epoch_of(what), key, ticks) && !slot.has_rest {
            return Some(Name { start: &slot.text, rest: &[] });
        }
        self.find_in_group(first, what, key, ticks)
    }

    /// Stores the string in a slot that is empty or contains an invalid string. If there is no such
    /// slot, replaces one string of the group. Successive replacements use different slots.
    fn remember(&mut self, what: NameKey, key: u64, ticks: (u64, u64), text: &[u8]) {
        let first = self.slot(what, key);
        let epoch = self.epoch_of(what);
        let is_free = |index: &usize| {
            let slot = &self.slots[*index];
            let is_earlier = slot.key == key && slot.what == what;
            is_earlier || slot.what == NOTHING || slot.epoch != self.epoch_of(slot.what)
        };
        let free = (0..GROUP).map(|other| first ^ other).find(is_free);
        let index = free.unwrap_or_else(|| {
            self.replaced = self.replaced.wrapping_add(1);
            first ^ (self.replaced % GROUP)
        });
        let (text, rest) = ShortText::split(text);
        let has_rest = !rest.is_empty();
        if has_rest {
            self.rests.resize_with(self.slots.len(), Box::default);
            self.rests[index] = rest.into();
        }
        self.slots[index] = Slot { key, ticks, what, epoch, has_rest, text };
    }
}

/// A cache that stores nothing, for strings that are needed only once.
pub(super) struct NoNames;

impl NameCache for NoNames {
    fn find(&self, _: NameKey, _: u64, _: u64) -> Option<Name<'_>> {
        None
    }

    fn remember(&mut self, _: NameKey, _: u64, _: (u64, u64), _: &[u8]) {}
}

/// Returns a hash whose low bits are evenly distributed, even if the numbers are addresses at equal
/// distances, such as those of control blocks. Adding both halves of a product mixes the high bits
/// of a number into the low bits. The hash includes the [`NameKey`], because otherwise small
/// numbers of several kinds would share slots.
#[inline(always)]
fn hash(what: NameKey, key: u64) -> u64 {
    /// 2^64 divided by the golden ratio.
    const FACTOR: u64 = 0x9E37_79B9_7F4A_7C15;
    let mixed = key ^ u64::from(what.0).wrapping_mul(FACTOR);
    let product = u128::from(mixed) * u128::from(FACTOR);
    product as u64 ^ (product >> 64) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Clock, Counter, Direction, Lifetime, Object, PayloadLayout};

    fn trace(objects: u64) -> Trace {
        let payload = PayloadLayout::Words { order: tracewell_wire::ByteOrder::Little, bytes: 4 };
        let clock = Clock::new(None, Counter::of_mask(u64::MAX, Direction::Up));
        let mut trace = Trace::new("threadx", Schema::empty(), payload, clock);
        for key in 0..objects {
            trace.objects.add(Object {
                key,
                kind: 1,
                name: Vec::new(),
                label: String::new(),
                parameters: Vec::new(),
                priority: None,
                alive: None,
                lifetime: Lifetime::default(),
                record: Vec::new(),
            });
        }
        trace
    }

    fn text(name: Option<Name<'_>>) -> Option<String> {
        let mut out = crate::text::TextBuffer::default();
        let name = name?;
        name.put(out.room(name.len())).done();
        Some(out.as_text().into_owned())
    }

    #[test]
    fn names_of_evenly_spaced_objects_stay_in_the_cache() {
        let what = NameKey::object(Some(1)).unwrap();
        for (objects, distance) in [(512, 1), (512, 256), (10_000, 64), (30_000, 4096)] {
            let (mut names, trace) = (Names::default(), trace(objects));
            let keys = || (0..objects).map(|number| 0x8000_0000 + distance * number);
            keys().for_each(|key| {
                names.of(&trace).remember(what, key, ALWAYS, key.to_string().as_bytes());
            });
            let names = names.of(&trace);
            let found = keys().filter(|key| match text(names.find(what, *key, 5)) {
                Some(found) => found == key.to_string(),
                None => false,
            });
            let found = found.count() as u64;
            assert!(20 * found >= 19 * objects, "{found} of {objects} at {distance}");
        }
    }

    #[test]
    fn a_cached_name_has_any_length_and_belongs_to_its_key_and_time() {
        let (mut names, trace) = (Names::default(), trace(1));
        let names = names.of(&trace);
        let (one, two) = (NameKey::object(Some(1)).unwrap(), NameKey::object(Some(2)).unwrap());
        let long = "a name of more than the thirty-two bytes of a slot";
        for name in ["", "short", long, "short again"] {
            names.remember(one, 7, (10, 20), name.as_bytes());
            assert_eq!(text(names.find(one, 7, 10)).as_deref(), Some(name));
            assert_eq!(text(names.find(one, 7, 20)).as_deref(), Some(name));
        }
        for (what, key, ticks) in [(one, 7, 9), (one, 7, 21), (one, 8, 10), (two, 7, 10)] {
            assert!(names.find(what, key, ticks).is_none(), "{what:?} {key} {ticks}");
        }
    }

    #[test]
    fn labels_end_when_objects_change_and_words_of_the_schema_do_not() {
        let (mut names, mut trace) = (Names::default(), trace(1));
        let (object, flags) = (NameKey::object(Some(1)).unwrap(), NameKey(FLAGS));
        names.of(&trace).remember(object, 7, ALWAYS, b"label");
        names.of(&trace).remember(flags, 7, ALWAYS, b"flag");
        let id = trace.objects.iter().next().unwrap().0;
        trace.objects.describe(id, "other", Vec::new());
        assert!(names.of(&trace).find(object, 7, 0).is_none());
        assert_eq!(text(names.of(&trace).find(flags, 7, 0)).as_deref(), Some("flag"));
        trace.schema = Schema::empty();
        assert!(names.of(&trace).find(flags, 7, 0).is_none());
    }
}
