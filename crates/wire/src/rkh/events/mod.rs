//! The events of each dialect: codes, arguments, and the target's filters that apply to them.
//!
//! `table` has a row for each event, with the dialects that have the event. A test of the crate
//! `tracewell` generates it from `schemas/rkh.toml`, the schema that the reader uses. After
//! changing the schema, run `BLESS=1 cargo test -p tracewell --test rkh_tables`. Each dialect is a
//! type whose constants are its events and its [`Table`], so a program that names one dialect links
//! one table.
//!
//! RKH documents the filters of each event only for version 3.4. We assume that an event of an
//! older dialect has the same filters as the corresponding event of 3.4.

#[rustfmt::skip]
mod table;

use super::{Condition, Dialect, Field, FieldType, SymbolKind};
pub use table::{V2_0, V2_0Pre, V2_2, V2_3, V2_4_3, V2_4_4, V2_4_5, V3_4};

/// An event that a target can record: its code and its arguments.
///
/// ```
/// use tracewell_wire::rkh::events::V3_4;
///
/// // A transition: active object, source state, target state.
/// assert_eq!((V3_4::SM_TRN.code, V3_4::SM_TRN.fields.len()), (0x62, 3));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Event {
    /// The one-byte id: see [`super::ids`].
    pub code: u8,
    /// RKH's name without `RKH_TE_` or `RKH_TRCE_`.
    pub name: &'static str,
    /// The filters that can suppress the event: bits of [`asks`].
    pub asks: u8,
    /// The record's arguments, in order.
    pub fields: &'static [Field],
    /// The event's role in the protocol, if it has one.
    pub role: Role,
}

/// Bits of [`Event::asks`]: one for each kind of filter.
pub mod asks {
    /// The filters of groups and of events.
    pub const EVENT: u8 = 1;
    /// The filter of active objects.
    pub const OBJECT: u8 = 2;
    /// The filter of signals.
    pub const SIGNAL: u8 = 4;
}

/// The role of an event in the protocol.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    /// Reports an action of the program.
    Plain,
    /// Names a thing of this kind.
    Names(SymbolKind),
    /// Announces the target's settings; from 2.3 on.
    Configuration,
    /// Reports a failed assertion; from 2.3 on.
    Assertion,
}

/// A group of events that can be filtered as a whole.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Group {
    /// RKH's name: MP, RQ or QUE, SMA, SM, TIM or TMR, FWK (RKH before 2.3), USR, UT.
    pub name: &'static str,
    /// The group's lowest code.
    pub first: u8,
    /// Number of codes in the group.
    pub events: u8,
}

/// The events of a dialect.
///
/// ```
/// use tracewell_wire::rkh::Dialect;
/// use tracewell_wire::rkh::events::Table;
///
/// let (old, new) = (Table::of(Dialect::V2_0), Table::of(Dialect::V3_4));
/// assert_eq!(old.event(0x62), None);
/// assert_eq!(new.event(0x62).map(|event| event.name), Some("SM_TRN"));
/// assert_eq!(new.place(0x62), Some((3, 2)));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Table {
    /// The dialect that has these events.
    pub dialect: Dialect,
    /// All events except user events, in ascending order of code.
    pub events: &'static [Event],
    /// The groups by number; user events are number 6 in every dialect.
    pub groups: &'static [Group],
    /// The arguments of user events: [`FieldType::Items`], or [`FieldType::Rest`] before 2.3.
    pub user: Field,
    /// The configuration record, from 2.3 on.
    pub configuration: Option<&'static Event>,
    /// The record of a failed assertion, from 2.3 on.
    pub assertion: Option<&'static Event>,
}

impl Table {
    /// Returns the table of a dialect. Calling this function links all tables into the program. A
    /// program that uses a single dialect should use a constant such as [`V3_4::TABLE`] instead.
    pub const fn of(dialect: Dialect) -> &'static Self {
        match dialect {
            Dialect::V2_0Pre => V2_0Pre::TABLE,
            Dialect::V2_0 => V2_0::TABLE,
            Dialect::V2_2 => V2_2::TABLE,
            Dialect::V2_3 => V2_3::TABLE,
            Dialect::V2_4_3 => V2_4_3::TABLE,
            Dialect::V2_4_4 => V2_4_4::TABLE,
            Dialect::V2_4_5 => V2_4_5::TABLE,
            Dialect::V3_4 => V3_4::TABLE,
        }
    }

    /// Returns the event with this code, or `None` for user events and unused codes.
    pub fn event(&self, code: u8) -> Option<&'static Event> {
        let index = self.events.binary_search_by_key(&code, |event| event.code).ok()?;
        self.events.get(index)
    }

    /// Returns the event that names things of this kind.
    ///
    /// Some dialects have no event that names queues, timers, actors or active objects. These
    /// dialects use the event for objects instead. Dialects without an event for pseudostates use
    /// the event for states.
    pub fn symbol(&self, kind: SymbolKind) -> Option<&'static Event> {
        let find = |kind| self.events.iter().find(|event| event.role == Role::Names(kind));
        // Prefer the event for exactly this kind, because it is more specific.
        find(kind).or_else(|| find(kind.broader()?))
    }

    /// Returns the number of the group that contains a code, and the code's number within the
    /// group.
    #[inline]
    pub fn place(&self, code: u8) -> Option<(u8, u8)> {
        // The distance from the group's first code, if the code is in the group.
        let place = |group: &Group| code.checked_sub(group.first).filter(|n| *n < group.events);
        let mut numbered = (0_u8..).zip(self.groups);
        numbered.find_map(|(number, group)| Some((number, place(group)?)))
    }

    /// Returns the code of a user event. User event numbers start at 0.
    pub fn user_code(&self, index: u8) -> Option<u8> {
        let group = self.groups.get(usize::from(super::ids::USR_GROUP))?;
        (index < group.events).then(|| group.first + index)
    }
}

/// An event, with the dialects in which it has this code and these arguments.
struct Row {
    dialects: u8,
    event: Event,
}

/// Defines the rows, and defines each row's event as a constant of its dialects.
macro_rules! events {
    ($(
        #[$text:meta]
        $name:ident $code:literal $asks:literal $fields:tt $role:expr, $($dialect:ident)+;
    )*) => {
        /// All rows, in ascending order of code.
        const ROWS: &[Row] = &[$(Row {
            dialects: $(1 << Dialect::$dialect as u8)|+,
            event: event($code, stringify!($name), $asks, &$fields, $role),
        }),*];
        $($(impl $dialect {
            #[$text]
            pub const $name: Event = event($code, stringify!($name), $asks, &$fields, $role);
        })+)*
    };
}
use events;

/// Defines the type and the table of each dialect.
macro_rules! dialects {
    ($(#[$text:meta] $dialect:ident $user:ident [$($groups:expr),*];)*) => {$(
        #[$text]
        #[derive(Debug)]
        pub enum $dialect {}

        impl $dialect {
            /// All events of the dialect.
            pub const TABLE: &'static Table = {
                const EVENTS: usize = count(ROWS, Dialect::$dialect);
                static EVENTS_BY_CODE: [Event; EVENTS] = select(ROWS, Dialect::$dialect);
                static TABLE: Table = Table {
                    dialect: Dialect::$dialect,
                    events: &EVENTS_BY_CODE,
                    groups: &[$($groups),*],
                    user: $user,
                    configuration: with_role(&EVENTS_BY_CODE, Role::Configuration),
                    assertion: with_role(&EVENTS_BY_CODE, Role::Assertion),
                };
                &TABLE
            };
        }
    )*};
}
use dialects;

const fn event(
    code: u8,
    name: &'static str,
    asks: u8,
    fields: &'static [Field],
    role: Role,
) -> Event {
    Event { code, name, asks, fields, role }
}

const fn group(name: &'static str, first: u8, events: u8) -> Group {
    Group { name, first, events }
}

const fn field(field_type: FieldType, condition: Condition) -> Field {
    Field { field_type, condition }
}

/// Returns the number of rows of a dialect.
const fn count(rows: &[Row], dialect: Dialect) -> usize {
    let (mut index, mut count) = (0, 0);
    // `for` loops and iterators are not available in a const function.
    while index < rows.len() {
        count += (rows[index].dialects >> dialect as u8 & 1) as usize;
        index += 1;
    }
    count
}

/// Returns a dialect's `N` events in row order.
///
/// Only the compiler evaluates this function, so a program contains only the tables of the dialects
/// it names.
const fn select<const N: usize>(rows: &[Row], dialect: Dialect) -> [Event; N] {
    // Any row can be the placeholder, because the loop below overwrites all `N` elements.
    let mut events = [rows[0].event; N];
    let (mut index, mut count) = (0, 0);
    while index < rows.len() {
        if rows[index].dialects >> dialect as u8 & 1 != 0 {
            events[count] = rows[index].event;
            count += 1;
        }
        index += 1;
    }
    events
}

/// Returns the event with the role `Configuration` or `Assertion`. A const function cannot call
/// `==`.
const fn with_role(events: &'static [Event], role: Role) -> Option<&'static Event> {
    let mut index = 0;
    while index < events.len() {
        match (events[index].role, role) {
            (Role::Configuration, Role::Configuration) | (Role::Assertion, Role::Assertion) => {
                return Some(&events[index]);
            }
            _ => index += 1,
        }
    }
    None
}

/// The field types in use. Each constant is named after its encoding in the schema.
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
