//! The events of each dialect: codes, arguments, and which filters of the target they ask.
//!
//! One module a dialect, made from `schemas/rkh-*.toml`, which the reader goes by: a test of the
//! crate `tracewell` compares, and writes them anew (`TABLES=overwrite cargo test -p tracewell
//! --test rkh_tables`). A program that names one dialect has one table linked into it.
//!
//! Which filters the events of the older dialects ask is not written down anywhere; they are taken
//! to ask those that the event of the same name asks in 3.4.

use super::{Condition, Dialect, Field, FieldType, SymbolKind};

#[rustfmt::skip]
pub mod v2_0;
#[rustfmt::skip]
pub mod v2_0_pre;
#[rustfmt::skip]
pub mod v2_2;
#[rustfmt::skip]
pub mod v2_3;
#[rustfmt::skip]
pub mod v2_4_3;
#[rustfmt::skip]
pub mod v2_4_4;
#[rustfmt::skip]
pub mod v2_4_5;
#[rustfmt::skip]
pub mod v3_4;

/// What may be recorded under one code.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Event {
    /// The one-byte id: see [`super::ids`].
    pub code: u8,
    /// RKH's name without `RKH_TE_` or `RKH_TRCE_`.
    pub name: &'static str,
    /// Which filters are asked: bits of [`asks`].
    pub asks: u8,
    /// The arguments in order.
    pub fields: &'static [Field],
}

/// Bits of [`Event::asks`].
pub mod asks {
    /// The filters of groups and of events.
    pub const EVENT: u8 = 1;
    /// The filter of active objects.
    pub const OBJECT: u8 = 2;
    /// The filter of signals.
    pub const SIGNAL: u8 = 4;
}

/// A group of events, which may be filtered as a whole.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Group {
    /// RKH's name: MP, RQ or QUE, SMA, SM, TIM or TMR, FWK (before 2.3 RKH), USR, UT.
    pub name: &'static str,
    /// Its first code.
    pub first: u8,
    /// How many codes it has.
    pub events: u8,
}

/// The events of a dialect.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Table {
    /// Whose they are.
    pub dialect: Dialect,
    /// All but user events, by code.
    pub events: &'static [Event],
    /// The groups by number; user events are number 6 everywhere.
    pub groups: &'static [Group],
    /// The arguments of user events: [`FieldType::Items`], before 2.3 anything.
    pub user: Field,
    /// Records that name things.
    pub symbols: &'static [(SymbolKind, &'static Event)],
    /// The configuration record, from 2.3 on.
    pub configuration: Option<&'static Event>,
    /// The record of a failed assertion, from 2.3 on.
    pub assertion: Option<&'static Event>,
}

impl Table {
    /// The table of a dialect. Links all of them into a program; one that speaks a single dialect
    /// names its table.
    pub const fn of(dialect: Dialect) -> &'static Self {
        match dialect {
            Dialect::V2_0Pre => &v2_0_pre::TABLE,
            Dialect::V2_0 => &v2_0::TABLE,
            Dialect::V2_2 => &v2_2::TABLE,
            Dialect::V2_3 => &v2_3::TABLE,
            Dialect::V2_4_3 => &v2_4_3::TABLE,
            Dialect::V2_4_4 => &v2_4_4::TABLE,
            Dialect::V2_4_5 => &v2_4_5::TABLE,
            Dialect::V3_4 => &v3_4::TABLE,
        }
    }

    /// The event of a code; none for user events.
    pub fn event(&self, code: u8) -> Option<&'static Event> {
        let place = self.events.binary_search_by_key(&code, |event| event.code).ok()?;
        self.events.get(place)
    }

    /// The record that names things of a kind. Versions that have none for queues, timers and the
    /// like name them as objects, those that have none for pseudostates as states.
    pub fn symbol(&self, kind: SymbolKind) -> Option<&'static Event> {
        let find = |kind| self.symbols.iter().find(|(known, _)| *known == kind);
        let found = find(kind).or_else(|| find(kind.broader()?));
        found.map(|(_, event)| *event)
    }

    /// The number of the group that a code is in, and the code's number within it.
    #[inline]
    pub fn place(&self, code: u8) -> Option<(u8, u8)> {
        let place = |group: &Group| code.checked_sub(group.first).filter(|n| *n < group.events);
        let mut numbered = (0_u8..).zip(self.groups);
        numbered.find_map(|(number, group)| Some((number, place(group)?)))
    }

    /// The code of a user event, from 0 on.
    pub fn user_code(&self, index: u8) -> Option<u8> {
        let group = self.groups.get(usize::from(super::ids::USR_GROUP))?;
        (index < group.events).then(|| group.first + index)
    }
}

const fn event(code: u8, name: &'static str, asks: u8, fields: &'static [Field]) -> Event {
    Event { code, name, asks, fields }
}

const fn group(name: &'static str, first: u8, events: u8) -> Group {
    Group { name, first, events }
}

const fn field(field_type: FieldType, condition: Condition) -> Field {
    Field { field_type, condition }
}

/// The arguments that occur, by the names they have in the schemas.
mod fields {
    use super::{Condition::*, Field, FieldType::*, field};

    pub(super) const U8: Field = field(Fixed(1), Always);
    pub(super) const U16: Field = field(Fixed(2), Always);
    pub(super) const U32: Field = field(Fixed(4), Always);
    pub(super) const HI4: Field = field(HighHalf, Always);
    pub(super) const LO4: Field = field(LowHalf, Always);
    pub(super) const PTR: Field = field(Pointer, Always);
    pub(super) const PTR_SENDER: Field = field(Pointer, Sender);
    pub(super) const FPTR: Field = field(Function, Always);
    pub(super) const SIG: Field = field(Signal, Always);
    pub(super) const ESIZE: Field = field(EventSize, Always);
    pub(super) const NBLK: Field = field(BlockCount, Always);
    pub(super) const NBLK_MPLWM: Field = field(BlockCount, PoolLowWater);
    pub(super) const BSIZE: Field = field(BlockSize, Always);
    pub(super) const NELEM: Field = field(QueueCount, Always);
    pub(super) const NELEM_QLWM: Field = field(QueueCount, QueueLowWater);
    pub(super) const NTICK: Field = field(TimerTicks, Always);
    pub(super) const TEID: Field = field(EventId, Always);
    pub(super) const STRZ: Field = field(Text, Always);
    pub(super) const USR: Field = field(Items, Always);
    pub(super) const REST: Field = field(Rest, Always);
}
