//! Widths, switches, and what is compiled in.
//!
//! In the framework these are macros of the program's configuration; each field's text names its
//! macro. A program that has them as constants pays for none of the questions.

use tracewell_wire::rkh::events::{Event, Table, v3_4};
use tracewell_wire::rkh::{Configuration, Settings, ids, switches};

/// What a target's configuration says.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// The events of the dialect to speak.
    pub table: &'static Table,
    /// Widths and switches of records.
    pub settings: Settings,
    /// RKH's version as `0xMmpp`, which must be one of the dialect; readers choose the table by it.
    pub version: u16,
    /// Which records there are at all.
    pub compiled: Compiled,
    /// Which filters there are.
    pub filters: FilterKinds,
    /// Ticks of the clock per second. The record holds 16 bits of it, as the framework's does: a
    /// faster clock has to be told to the reader.
    pub stamps_per_second: u32,
    /// The most event pools; at most 15 can be told (`RKH_CFG_FWK_MAX_EVT_POOL`).
    pub most_pools: u8,
}

/// Which filters are compiled in. Without the first the others ask nothing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FilterKinds {
    /// Groups and events (`RKH_CFG_TRC_RTFIL_EN`).
    pub events: bool,
    /// Active objects (`RKH_CFG_TRC_RTFIL_SMA_EN`), from 2.2 on.
    pub objects: bool,
    /// Signals (`RKH_CFG_TRC_RTFIL_SIGNAL_EN`), from 2.4.4 on.
    pub signals: bool,
}

impl FilterKinds {
    /// All of them.
    pub const ALL: Self = Self { events: true, objects: true, signals: true };
    /// No filter: everything that is compiled in is recorded.
    pub const NONE: Self = Self { events: false, objects: false, signals: false };
}

/// Which records are compiled in.
///
/// Symbols and the configuration record always are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Compiled {
    /// Bits of [`switches`]: `ALL_GROUPS`, or those of single groups; `USER_TRACE`; `ASSERT`.
    pub groups: u32,
    /// Single events that are not, one bit a code.
    left_out: [u32; 8],
}

impl Compiled {
    /// Everything.
    pub const ALL: Self =
        Self::groups(switches::ALL_GROUPS | switches::USER_TRACE | switches::ASSERT);

    /// The groups whose bits are set.
    pub const fn groups(groups: u32) -> Self {
        Self { groups, left_out: [0; 8] }
    }

    /// The same without an event: `RKH_CFG_TRC_SM_TRN_EN` and its like.
    pub const fn without(mut self, event: &Event) -> Self {
        self.left_out[(event.code >> 5) as usize] |= 1 << (event.code & 31);
        self
    }

    /// Whether records of this code are.
    pub(super) fn has(&self, code: u8, table: &Table) -> bool {
        let left_out = self.left_out.get(usize::from(code >> 5)).copied().unwrap_or(0);
        let asked = match table.place(code) {
            _ if left_out >> (code & 31) & 1 != 0 => return false,
            _ if table.assertion.is_some_and(|event| event.code == code) => switches::ASSERT,
            Some((ids::USR_GROUP, _)) => switches::USER_TRACE,
            Some((ids::MP_GROUP, _)) => switches::MP | switches::ALL_GROUPS,
            Some((ids::QUE_GROUP, _)) => switches::QUE | switches::ALL_GROUPS,
            Some((ids::SMA_GROUP, _)) => switches::SMA | switches::ALL_GROUPS,
            Some((ids::SM_GROUP, _)) => switches::SM | switches::ALL_GROUPS,
            Some((ids::TMR_GROUP, _)) => switches::TMR | switches::ALL_GROUPS,
            Some((ids::FWK_GROUP, _)) => switches::FWK | switches::ALL_GROUPS,
            Some(_) => return true,
            None => return false,
        };
        self.groups & asked != 0
    }
}

impl Default for Options {
    /// Dialect 3.4 with the settings that Trazer assumes, everything compiled in, a clock of 1 kHz.
    fn default() -> Self {
        Self {
            table: &v3_4::TABLE,
            settings: Settings::default(),
            version: 0x3400,
            compiled: Compiled::ALL,
            filters: FilterKinds::ALL,
            stamps_per_second: 1000,
            most_pools: 4,
        }
    }
}

impl Options {
    /// The configuration record that tells these options; `None` in dialects that have none.
    pub fn configuration(&self) -> Option<Configuration> {
        let form = self.table.dialect.configuration()?;
        Some(Configuration {
            form,
            version: self.version,
            flags: self.flags(),
            settings: self.settings,
            // A size is announced even where there are no stamps.
            stamp_size: if self.settings.stamp == 0 { 4 } else { self.settings.stamp },
            most_pools: self.most_pools.min(15),
            stamps_per_second: self.stamps_per_second as u16,
        })
    }

    fn flags(&self) -> u32 {
        let bit = |on, bit| if on { bit } else { 0 };
        let s = &self.settings;
        self.compiled.groups
            | bit(s.sender, switches::SENDER)
            | bit(s.queue_low_water, switches::QUEUE_LOW_WATER)
            | bit(s.pool_low_water, switches::POOL_LOW_WATER)
            | bit(s.sequence, switches::SEQUENCE)
            | bit(s.stamp > 0, switches::STAMP)
            | bit(s.checksum, switches::CHECKSUM)
            | bit(self.filters.events, switches::RUNTIME_FILTER)
            | bit(self.filters.objects, switches::OBJECT_FILTER)
            | bit(self.filters.signals, switches::SIGNAL_FILTER)
    }
}
