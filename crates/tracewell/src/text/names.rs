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
const NOTHING: What = What(u32::MAX);

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
    /// What they rest on: see [`crate::model::Objects::changes`].
    objects: u64,
    schema: Option<Arc<Schema>>,
}

#[derive(Clone, Debug)]
struct Name {
    key: u64,
    what: What,
    text: Literal,
}

const SLOT_BITS: u32 = 10;
const SLOTS: usize = 1 << SLOT_BITS;

impl Default for Names {
    fn default() -> Self {
        let empty = |_| Name { key: 0, what: NOTHING, text: Literal::new("") };
        let slots: Box<[Name]> = (0..SLOTS).map(empty).collect();
        let Ok(slots) = slots.try_into() else { unreachable!("so many were made") };
        Self { slots, objects: 0, schema: None }
    }
}

impl Names {
    /// The names of a trace: what was remembered is forgotten where the trace says otherwise by now.
    #[inline]
    pub(super) fn of(&mut self, trace: &Trace) -> &mut Self {
        let same = |schema: &Arc<Schema>| Arc::ptr_eq(schema, &trace.schema);
        if trace.objects.changes() != self.objects || !self.schema.as_ref().is_some_and(same) {
            self.slots.iter_mut().for_each(|name| name.what = NOTHING);
            self.objects = trace.objects.changes();
            self.schema = Some(Arc::clone(&trace.schema));
        }
        self
    }

    /// The text of a number, if it is remembered.
    #[inline]
    pub(super) fn find(&self, what: What, key: u64) -> Option<&Literal> {
        let slot = slot(what, key);
        let found = |slot: usize| {
            let name = &self.slots[slot];
            (name.key == key && name.what == what).then_some(&name.text)
        };
        found(slot).or_else(|| found(slot ^ 1))
    }

    /// Remembers the text of a number; of those that share its slots, the one that came last.
    pub(super) fn remember(&mut self, what: What, key: u64, text: &[u8]) {
        let slot = slot(what, key);
        self.slots.swap(slot, slot ^ 1);
        self.slots[slot] = Name { key, what, text: Literal::new(text) };
    }
}

/// The golden ratio spreads control blocks that lie at equal distances; what they are is mixed in before, or
/// small numbers of several kinds would meet.
#[inline]
fn slot(what: What, key: u64) -> usize {
    let mixed = (key as u32 ^ what.0.wrapping_mul(0x85EB_CA6B)).wrapping_mul(0x9E37_79B1);
    (mixed >> (u32::BITS - SLOT_BITS)) as usize
}
