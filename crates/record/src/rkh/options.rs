//! Sizes, switches, and the selection of events that are compiled in.
//!
//! In the framework, these are macros in the program's configuration. The documentation of each
//! field names its macro. If a program defines the options as constants, the compiler removes the
//! checks.

use tracewell_wire::rkh::events::{Event, Table, V3_4};
use tracewell_wire::rkh::{Configuration, Settings, ids, switches};

/// The configuration of a target.
///
/// ```
/// use tracewell_record::rkh::Options;
/// use tracewell_wire::rkh::Settings;
///
/// let settings = Settings { signal: 2, sender: true, ..Settings::default() };
/// let options = Options { settings, stamps_per_second: 32_768, ..Options::default() };
/// let announced = options.configuration().expect("3.4 has a configuration record");
/// assert_eq!((announced.version, announced.stamps_per_second), (0x3400, 32_768));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// The event table of the trace's dialect.
    pub table: &'static Table,
    /// The sizes and switches that determine the form of records.
    pub settings: Settings,
    /// RKH's version as `0xMmpp`. It must belong to the dialect, because decoders select the event
    /// table by version.
    pub version: u16,
    /// The records that are compiled in.
    pub compiled: Compiled,
    /// The filters that are compiled in.
    pub filters: FilterKinds,
    /// Clock rate in ticks per second. As in the framework, the configuration record has only 16
    /// bits for the rate. For a faster clock, pass the rate to the decoder.
    pub stamps_per_second: u32,
    /// Maximum number of event pools (`RKH_CFG_FWK_MAX_EVT_POOL`). Numbers above 15 are recorded as
    /// 15.
    pub max_pools: u8,
}

/// The filters that are compiled in. Without `events`, the other filters have no effect.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FilterKinds {
    /// The filters for groups and events (`RKH_CFG_TRC_RTFIL_EN`).
    pub events: bool,
    /// The filter for active objects (`RKH_CFG_TRC_RTFIL_SMA_EN`), available from version 2.2 on.
    pub objects: bool,
    /// The filter for signals (`RKH_CFG_TRC_RTFIL_SIGNAL_EN`), available from version 2.4.4 on.
    pub signals: bool,
}

impl FilterKinds {
    /// All filters are compiled in.
    pub const ALL: Self = Self { events: true, objects: true, signals: true };
    /// No filters are compiled in, so every call that is compiled in stores its record.
    pub const NONE: Self = Self { events: false, objects: false, signals: false };
}

/// The records that are compiled in. Symbols and the configuration record are always compiled in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Compiled {
    /// Bits of [`switches`]: `ALL_GROUPS`, the bits of single groups, `USER_TRACE` and `ASSERT`.
    pub groups: u32,
    /// Events that are excluded, one bit per code.
    left_out: [u32; 8],
}

impl Compiled {
    /// All records are compiled in.
    pub const ALL: Self =
        Self::groups(switches::ALL_GROUPS | switches::USER_TRACE | switches::ASSERT);

    /// Selects the groups whose bits are set.
    pub const fn groups(groups: u32) -> Self {
        Self { groups, left_out: [0; 8] }
    }

    /// Excludes an event, like `RKH_CFG_TRC_SM_TRN_EN` and similar macros.
    pub const fn without(mut self, event: &Event) -> Self {
        self.left_out[(event.code >> 5) as usize] |= 1 << (event.code & 31);
        self
    }

    /// Returns true if records with this code are compiled in.
    pub(super) fn has(&self, code: u8, table: &Table) -> bool {
        // The table has one bit for each of the 256 codes, in words of 32 bits.
        let left_out = self.left_out.get(usize::from(code >> 5)).copied().unwrap_or(0);
        let asked = match table.place(code) {
            _ if left_out >> (code & 31) & 1 != 0 => return false,
            // Assertions have a switch of their own, although they belong to a group.
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
    /// Returns options with dialect 3.4, the settings that Trazer assumes, all records and filters
    /// compiled in, and a clock of 1 kHz.
    fn default() -> Self {
        Self {
            table: V3_4::TABLE,
            settings: Settings::default(),
            version: 0x3400,
            compiled: Compiled::ALL,
            filters: FilterKinds::ALL,
            stamps_per_second: 1000,
            max_pools: 4,
        }
    }
}

impl Options {
    /// Returns the configuration record that describes these options, or `None` in dialects without
    /// such a record.
    pub fn configuration(&self) -> Option<Configuration> {
        let form = self.table.dialect.configuration()?;
        Some(Configuration {
            form,
            version: self.version,
            flags: self.flags(),
            settings: self.settings,
            // The configuration record contains the size of a timestamp even if the stream has no
            // timestamps.
            stamp_size: if self.settings.stamp == 0 { 4 } else { self.settings.stamp },
            max_pools: self.max_pools.min(15),
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
