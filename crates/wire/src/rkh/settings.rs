//! The compile-time settings of a target that determine the layout of its records.

/// The sizes (in bytes) and switches of a target. The doc comment of each field names the macro
/// that sets it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Settings {
    /// Size of an event id: 1, 2 or 4 (`RKH_CFG_TRC_SIZEOF_TE_ID`).
    pub id: u8,
    /// True if records have a sequence number (`RKH_CFG_TRC_NSEQ_EN`).
    pub sequence: bool,
    /// Size of a timestamp: 1, 2 or 4 (`RKH_CFGPORT_TRC_SIZEOF_TSTAMP`); 0 if records have no
    /// timestamp (`RKH_CFG_TRC_TSTAMP_EN`).
    pub stamp: u8,
    /// True if records have a checksum (`RKH_CFG_TRC_CHK_EN`).
    pub checksum: bool,
    /// Size of an address: 2 or 4 (`RKH_CFGPORT_TRC_SIZEOF_PTR`: 16 bits are 2 bytes, and any other
    /// value means 4).
    pub pointer: u8,
    /// Size of a function's address: 2 or 4 (`RKH_CFGPORT_TRC_SIZEOF_FUN_PTR`). Configuration
    /// records do not contain it.
    pub function: u8,
    /// Size of a signal: 1, 2 or 4 (`RKH_CFG_FWK_SIZEOF_EVT`).
    pub signal: u8,
    /// Size of the field for the size of an event: 1, 2 or 4 (`RKH_CFG_FWK_SIZEOF_EVT_SIZE`).
    pub event_size: u8,
    /// Size of the field for a number of memory blocks: 1, 2 or 4 (`RKH_CFG_MP_SIZEOF_NBLOCK`).
    pub block_count: u8,
    /// Size of the field for the size of a memory block: 1, 2 or 4 (`RKH_CFG_MP_SIZEOF_BSIZE`).
    pub block_size: u8,
    /// Size of the field for a number of queue elements: 1, 2 or 4 (`RKH_CFG_QUE_SIZEOF_NELEM`).
    pub queue_count: u8,
    /// Size of the field for a number of timer ticks: 1, 2 or 4 (`RKH_CFG_TMR_SIZEOF_NTIMER`).
    pub timer_ticks: u8,
    /// True if records name the sender of an event (`RKH_CFG_SMA_TRC_SNDR_EN`).
    pub sender: bool,
    /// True if queue records have a low-water mark (`RKH_CFG_QUE_GET_LWMARK_EN`).
    pub queue_low_water: bool,
    /// True if pool records have a low-water mark (`RKH_CFG_MP_GET_LWM_EN`).
    pub pool_low_water: bool,
}

impl Settings {
    /// Returns the number of bytes before the arguments of a record. A configuration record without
    /// header is an exception.
    #[inline]
    pub const fn header(&self) -> usize {
        self.id as usize + self.sequence as usize + self.stamp as usize
    }
}

impl Default for Settings {
    /// The settings that RKH's tool Trazer assumes, with the low-water marks off.
    fn default() -> Self {
        Self {
            id: 1,
            sequence: true,
            stamp: 4,
            checksum: true,
            pointer: 4,
            function: 4,
            signal: 1,
            event_size: 2,
            block_count: 1,
            block_size: 1,
            queue_count: 1,
            timer_ticks: 2,
            sender: false,
            queue_low_water: false,
            pool_low_water: false,
        }
    }
}
