//! What numbers stand for, remembered: names of objects, words for numbers, sets of bits.

use std::sync::Arc;

use super::Literal;
use crate::model::Trace;
use crate::model::schema::{ArgumentKind, Schema, TableId};

/// What a number is to be read as, in a word.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct What(u32);

/// Codes of types of objects are below this.
const ENUM: u32 = 1 << 30;
const FLAGS: u32 = 1 << 31;
const NOTHING: u64 = u64::MAX;

/// Ticks of what never stands for something else.
pub(super) const ALWAYS: (u64, u64) = (0, u64::MAX);

impl What {
    /// The key of an object of this type code; `None` where the code is larger than any is.
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

    /// What an argument of this kind is, where it stands for something else than itself.
    pub(super) fn of(kind: ArgumentKind) -> Option<Self> {
        match kind {
            ArgumentKind::Object(kind) => Self::object(kind),
            ArgumentKind::Enum(table) => Some(Self::enumeration(table)),
            ArgumentKind::Flags(table) => Some(Self::flags(table)),
            _ => None,
        }
    }
}

/// Texts by number and what it is to be read as.
#[derive(Debug)]
pub(super) struct Names {
    /// A text is in the slot that its number has, or in the one beside it.
    slots: Box<[Name; SLOTS]>,
    /// What names of objects rest on: see [`crate::model::Objects::changes`].
    objects: u64,
    /// Names of objects that were remembered in another epoch are forgotten.
    epoch: u32,
    schema: Option<Arc<Schema>>,
}

#[derive(Clone, Debug)]
struct Name {
    key: u64,
    /// [`What`], and the epoch where it is an object.
    what: u64,
    /// Ticks at which the number stands for the text, first and last.
    ticks: (u64, u64),
    text: Literal,
}

const SLOT_BITS: u32 = 10;
const SLOTS: usize = 1 << SLOT_BITS;

impl Default for Names {
    fn default() -> Self {
        let empty = |_| Name { key: 0, what: NOTHING, ticks: ALWAYS, text: Literal::new("") };
        let slots: Box<[Name]> = (0..SLOTS).map(empty).collect();
        let Ok(slots) = slots.try_into() else { unreachable!("so many were made") };
        Self { slots, objects: 0, epoch: 0, schema: None }
    }
}

impl Names {
    /// The names of a trace: what was remembered is forgotten where the trace says otherwise by now.
    #[inline]
    pub(super) fn of(&mut self, trace: &Trace) -> &mut Self {
        let same = |schema: &Arc<Schema>| Arc::ptr_eq(schema, &trace.schema);
        if trace.objects.changes() != self.objects || !self.schema.as_ref().is_some_and(same) {
            self.renew(trace);
        }
        self
    }

    /// Forgets names of objects; all, where there is another schema or no epoch left.
    #[cold]
    fn renew(&mut self, trace: &Trace) {
        let same = |schema: &Arc<Schema>| Arc::ptr_eq(schema, &trace.schema);
        self.epoch = self.epoch.wrapping_add(1);
        if self.epoch == 0 || !self.schema.as_ref().is_some_and(same) {
            self.slots.iter_mut().for_each(|name| name.what = NOTHING);
            self.schema = Some(Arc::clone(&trace.schema));
        }
        self.objects = trace.objects.changes();
    }

    #[inline]
    fn tag(&self, what: What) -> u64 {
        let epoch = if what.0 < ENUM { self.epoch } else { 0 };
        u64::from(epoch) << 32 | u64::from(what.0)
    }

    /// The text of a number at a time, if it is remembered.
    #[inline]
    pub(super) fn find(&self, what: What, key: u64, ticks: u64) -> Option<&Literal> {
        let slot = slot(what, key);
        let tag = self.tag(what);
        let found = |slot: usize| {
            let name = &self.slots[slot];
            let holds = name.ticks.0 <= ticks && ticks <= name.ticks.1;
            (name.key == key && name.what == tag && holds).then_some(&name.text)
        };
        found(slot).or_else(|| found(slot ^ 1))
    }

    /// Remembers the text of a number between two ticks; of those that share its slots, the one that came last.
    pub(super) fn remember(&mut self, what: What, key: u64, ticks: (u64, u64), text: &[u8]) {
        let slot = slot(what, key);
        self.slots.swap(slot, slot ^ 1);
        let what = self.tag(what);
        self.slots[slot] = Name { key, what, ticks, text: Literal::new(text) };
    }
}

/// The golden ratio spreads control blocks that lie at equal distances; what they are is mixed in before, or
/// small numbers of several kinds would meet.
#[inline]
fn slot(what: What, key: u64) -> usize {
    let mixed = (key as u32 ^ what.0.wrapping_mul(0x85EB_CA6B)).wrapping_mul(0x9E37_79B1);
    (mixed >> (u32::BITS - SLOT_BITS)) as usize
}
