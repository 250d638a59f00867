//! RKH's trace facility: one control block in storage of the caller, a buffer in memory of the caller.
//!
//! `rkh/filter` has the verbs of the filters, `rkh/record` the steps of a record. `include/tracewell_rkh.h`
//! puts macros in the shape of the framework's around both; `include/tracewell_rkh_events.h` names the
//! events. No function here allocates, locks, waits or asks the operating system anything.
//!
//! The module holds `unsafe` code because exported names and C's arrays are that by nature.
#![allow(unsafe_code)]

pub mod filter;
pub mod record;

use core::ffi::{c_int, c_void};
use core::mem::MaybeUninit;

use tracewell_record::rkh::{
    Buffer, Compiled, FilterKinds, FrameBuffer, Options, Outcome, StreamBuffer, Trace,
};
use tracewell_wire::rkh::events::Table;
use tracewell_wire::rkh::{Dialect, Settings, switches};

use crate::boundary::{Placed, array, guard, memory, put, some};
use crate::clock::{CallerClock, tw_clock};
use crate::code::{Code, TW_EXCLUDED, TW_INVALID, TW_MISSED, TW_NOTHING, TW_OFF};

/// The control block of an RKH trace. Its words are nobody's business.
///
/// Static memory or zeroed; `tw_rkh_init` before anything else.
#[repr(C)]
pub struct tw_rkh {
    words: [MaybeUninit<u64>; 56],
}

/// Dialect of the snapshots of March and April 2012.
pub const TW_RKH_2_0_PRE: u8 = 0;
/// Dialect of RKH 2.0 and 2.1.
pub const TW_RKH_2_0: u8 = 1;
/// Dialect of RKH 2.2.
pub const TW_RKH_2_2: u8 = 2;
/// Dialect of RKH 2.3 and 2.4.
pub const TW_RKH_2_3: u8 = 3;
/// Dialect of RKH 2.4.3.
pub const TW_RKH_2_4_3: u8 = 4;
/// Dialect of RKH 2.4.4.
pub const TW_RKH_2_4_4: u8 = 5;
/// Dialect of RKH 2.4.5 and 2.4.6.
pub const TW_RKH_2_4_5: u8 = 6;
/// Dialect of RKH 3.0.00 to 3.4.00.
pub const TW_RKH_3_4: u8 = 7;

/// Filters of groups and events are compiled in.
pub const TW_RKH_FILTER_EVENTS: u8 = 1;
/// Filters of active objects are.
pub const TW_RKH_FILTER_OBJECTS: u8 = 2;
/// Filters of signals are.
pub const TW_RKH_FILTER_SIGNALS: u8 = 4;

/// Records of user events are compiled in.
pub const TW_RKH_USER_TRACE: u32 = 1 << 2;
/// Records of all groups are.
pub const TW_RKH_ALL_GROUPS: u32 = 1 << 3;
/// Records of memory pools are.
pub const TW_RKH_MP: u32 = 1 << 4;
/// Records of queues are.
pub const TW_RKH_QUE: u32 = 1 << 5;
/// Records of active objects are.
pub const TW_RKH_SMA: u32 = 1 << 6;
/// Records of timers are.
pub const TW_RKH_TMR: u32 = 1 << 7;
/// Records of state machines are.
pub const TW_RKH_SM: u32 = 1 << 8;
/// Records of the framework are.
pub const TW_RKH_FWK: u32 = 1 << 9;
/// Records of failed assertions are.
pub const TW_RKH_ASSERT: u32 = 1 << 10;

// The header has numbers only.
const _: () = {
    assert!(TW_RKH_USER_TRACE == switches::USER_TRACE && TW_RKH_ALL_GROUPS == switches::ALL_GROUPS);
    assert!(
        TW_RKH_MP == switches::MP && TW_RKH_QUE == switches::QUE && TW_RKH_SMA == switches::SMA
    );
    assert!(
        TW_RKH_TMR == switches::TMR && TW_RKH_SM == switches::SM && TW_RKH_FWK == switches::FWK
    );
    assert!(TW_RKH_ASSERT == switches::ASSERT);
};

/// What RKH's configuration macros say. Sizes are in bytes: 1, 2 or 4, those of addresses 2 or 4.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct tw_rkh_settings {
    /// TW_RKH_3_4 or another dialect.
    pub dialect: u8,
    /// Event id (`RKH_CFG_TRC_SIZEOF_TE_ID`).
    pub id: u8,
    /// Whether records are numbered (`RKH_CFG_TRC_NSEQ_EN`).
    pub sequence: u8,
    /// Time stamp (`RKH_CFGPORT_TRC_SIZEOF_TSTAMP`); 0 for none (`RKH_CFG_TRC_TSTAMP_EN`).
    pub stamp: u8,
    /// Whether records have a checksum (`RKH_CFG_TRC_CHK_EN`).
    pub checksum: u8,
    /// Address (`RKH_CFGPORT_TRC_SIZEOF_PTR`).
    pub pointer: u8,
    /// Address of a function (`RKH_CFGPORT_TRC_SIZEOF_FUN_PTR`).
    pub function: u8,
    /// Signal (`RKH_CFG_FWK_SIZEOF_EVT`).
    pub signal: u8,
    /// Size of an event (`RKH_CFG_FWK_SIZEOF_EVT_SIZE`).
    pub event_size: u8,
    /// Count of memory blocks (`RKH_CFG_MP_SIZEOF_NBLOCK`).
    pub block_count: u8,
    /// Size of a memory block (`RKH_CFG_MP_SIZEOF_BSIZE`).
    pub block_size: u8,
    /// Count of queue elements (`RKH_CFG_QUE_SIZEOF_NELEM`).
    pub queue_count: u8,
    /// Timer ticks (`RKH_CFG_TMR_SIZEOF_NTIMER`).
    pub timer_ticks: u8,
    /// Whether senders are recorded (`RKH_CFG_SMA_TRC_SNDR_EN`).
    pub sender: u8,
    /// Whether queues have low-water marks (`RKH_CFG_QUE_GET_LWMARK_EN`).
    pub queue_low_water: u8,
    /// Whether memory pools have them (`RKH_CFG_MP_GET_LWM_EN`).
    pub pool_low_water: u8,
    /// The most event pools, 15 at most (`RKH_CFG_FWK_MAX_EVT_POOL`).
    pub most_pools: u8,
    /// Bits of TW_RKH_FILTER_EVENTS, _OBJECTS, _SIGNALS: which filters there are; 0 records everything.
    pub filters: u8,
    /// 0 for the framework's buffer, which loses its oldest bytes when it is full; 1 for one that leaves
    /// out whole records.
    pub whole_records: u8,
    /// RKH's version, 0x3400 for 3.4.00; one of the dialect's.
    pub version: u16,
    /// Bits of TW_RKH_ALL_GROUPS, _USER_TRACE, _ASSERT, or of single groups: what is compiled in.
    pub compiled: u32,
    /// Ticks of the clock per second; readers are told 16 bits of it.
    pub stamps_per_second: u32,
    /// Codes of single events that are not compiled in; may be null.
    pub left_out: *const u8,
    /// How many.
    pub left_out_count: usize,
}

/// What a buffer holds and has lost.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct tw_rkh_status {
    /// Bytes that wait for the link.
    pub waiting: usize,
    /// Bytes lost because newer ones came, modulo 2^32; 0 in a buffer of whole records.
    pub overwritten: u32,
    /// Records left out, modulo 2^32; 0 in the framework's buffer.
    pub dropped: u32,
}

/// Bytes that go to the link, in the memory of the buffer.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct tw_rkh_block {
    /// The first one.
    pub bytes: *const u8,
    /// How many.
    pub length: usize,
}

/// The buffer that the settings ask for.
enum AnyBuffer {
    Stream(StreamBuffer<'static>),
    Frames(FrameBuffer<'static>),
}

macro_rules! both {
    ($buffer:expr, $inner:ident => $call:expr) => {
        match $buffer {
            AnyBuffer::Stream($inner) => $call,
            AnyBuffer::Frames($inner) => $call,
        }
    };
}

impl Buffer for AnyBuffer {
    fn clear(&mut self) {
        both!(self, inner => inner.clear());
    }

    fn begin(&mut self) {
        both!(self, inner => inner.begin());
    }

    fn put(&mut self, byte: u8) {
        both!(self, inner => inner.put(byte));
    }

    fn end(&mut self) -> bool {
        both!(self, inner => inner.end())
    }

    fn abort(&mut self) {
        both!(self, inner => inner.abort());
    }

    fn len(&self) -> usize {
        both!(self, inner => inner.len())
    }

    fn block(&mut self, most: usize) -> &[u8] {
        both!(self, inner => inner.block(most))
    }
}

type Recorder = Trace<'static, CallerClock, AnyBuffer>;

fn recorder(trace: Option<&mut tw_rkh>) -> Result<&mut Recorder, Code> {
    // SAFETY: the storage is zeros or was made by `tw_rkh_init` (the header's text on `tw_rkh`).
    unsafe { Placed::<Recorder>::get(some(trace)?) }
}

/// What became of a record.
fn recorded(outcome: Outcome) -> Result<(), Code> {
    match outcome {
        Outcome::Recorded => Ok(()),
        Outcome::Filtered => Err(Code(TW_EXCLUDED)),
        Outcome::NotCompiled => Err(Code(TW_OFF)),
        Outcome::Dropped => Err(Code(TW_MISSED)),
        Outcome::Refused(_) => Err(Code(TW_INVALID)),
    }
}

impl tw_rkh_settings {
    fn of(options: &Options) -> Self {
        let s = options.settings;
        Self {
            dialect: TW_RKH_3_4,
            id: s.id,
            sequence: u8::from(s.sequence),
            stamp: s.stamp,
            checksum: u8::from(s.checksum),
            pointer: s.pointer,
            function: s.function,
            signal: s.signal,
            event_size: s.event_size,
            block_count: s.block_count,
            block_size: s.block_size,
            queue_count: s.queue_count,
            timer_ticks: s.timer_ticks,
            sender: u8::from(s.sender),
            queue_low_water: u8::from(s.queue_low_water),
            pool_low_water: u8::from(s.pool_low_water),
            most_pools: options.most_pools,
            filters: TW_RKH_FILTER_EVENTS | TW_RKH_FILTER_OBJECTS | TW_RKH_FILTER_SIGNALS,
            whole_records: 0,
            version: options.version,
            compiled: options.compiled.groups,
            stamps_per_second: options.stamps_per_second,
            left_out: core::ptr::null(),
            left_out_count: 0,
        }
    }

    /// # Safety
    /// * `left_out` has `left_out_count` codes.
    unsafe fn options(&self) -> Result<Options, Code> {
        let dialect = Dialect::ALL.get(usize::from(self.dialect)).ok_or(Code(TW_INVALID))?;
        let table = Table::of(*dialect);
        // SAFETY: the caller's bullet.
        let left_out = unsafe { array(self.left_out, self.left_out_count)? };
        let left_out = left_out.iter().filter_map(|code| table.event(*code));
        let compiled = left_out.fold(Compiled::groups(self.compiled), Compiled::without);
        Ok(Options {
            table,
            settings: self.sizes()?,
            version: self.version,
            compiled,
            filters: FilterKinds {
                events: self.filters & TW_RKH_FILTER_EVENTS != 0,
                objects: self.filters & TW_RKH_FILTER_OBJECTS != 0,
                signals: self.filters & TW_RKH_FILTER_SIGNALS != 0,
            },
            stamps_per_second: self.stamps_per_second,
            most_pools: self.most_pools,
        })
    }

    fn sizes(&self) -> Result<Settings, Code> {
        let size = |bytes| matches!(bytes, 1 | 2 | 4).then_some(bytes).ok_or(Code(TW_INVALID));
        let address = |bytes| matches!(bytes, 2 | 4).then_some(bytes).ok_or(Code(TW_INVALID));
        Ok(Settings {
            id: size(self.id)?,
            sequence: self.sequence != 0,
            stamp: if self.stamp == 0 { 0 } else { size(self.stamp)? },
            checksum: self.checksum != 0,
            pointer: address(self.pointer)?,
            function: address(self.function)?,
            signal: size(self.signal)?,
            event_size: size(self.event_size)?,
            block_count: size(self.block_count)?,
            block_size: size(self.block_size)?,
            queue_count: size(self.queue_count)?,
            timer_ticks: size(self.timer_ticks)?,
            sender: self.sender != 0,
            queue_low_water: self.queue_low_water != 0,
            pool_low_water: self.pool_low_water != 0,
        })
    }
}

/// Fills in settings: dialect 3.4, the sizes that Trazer assumes, everything compiled in, a clock of
/// 1 kHz, the framework's buffer.
///
/// Ownership: `settings` is the caller's. Errors: TW_NULL. Safe in a signal handler or interrupt.
#[unsafe(no_mangle)]
pub extern "C" fn tw_rkh_usual(settings: Option<&mut MaybeUninit<tw_rkh_settings>>) -> c_int {
    guard(|| {
        some(settings)?.write(tw_rkh_settings::of(&Options::default()));
        Ok(())
    })
}

/// Initialises a control block; `tw_rkh_open` starts its stream.
///
/// All bits of the filters are clear: from 2.4.4 on nothing that can be filtered is recorded until they
/// are switched off. `signals` has a bit for each signal to be filtered; without that filter it may be
/// null.
/// Ownership: `trace` stays the caller's and must stay where its users find it; nothing has to be freed.
/// The memory and `signals` are the trace's for as long as it is used. `clock` and `settings` are copied.
/// Errors: TW_NULL, TW_INVALID for a size or dialect that there is not. Safe in an interrupt.
///
/// # Safety
/// * `memory` has `size` bytes and `signals` has `signals_size` bytes that nobody else uses as long as
///   the trace is used.
/// * `left_out` of the settings has `left_out_count` codes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tw_rkh_init(
    trace: Option<&mut MaybeUninit<tw_rkh>>,
    settings: Option<&tw_rkh_settings>,
    clock: Option<&tw_clock>,
    memory: *mut c_void,
    size: usize,
    signals: *mut c_void,
    signals_size: usize,
) -> c_int {
    guard(|| {
        let (trace, settings) = (some(trace)?, some(settings)?);
        // SAFETY: the last bullet.
        let options = unsafe { settings.options()? };
        // SAFETY: the first bullet.
        let memory = unsafe { self::memory(memory.cast(), size)? };
        // SAFETY: as above.
        let signals = unsafe { self::memory(signals.cast(), signals_size)? };
        let buffer = if settings.whole_records == 0 {
            AnyBuffer::Stream(StreamBuffer::new(memory))
        } else {
            AnyBuffer::Frames(FrameBuffer::new(memory))
        };
        let clock = CallerClock::new(*some(clock)?, 0xFFFF_FFFF);
        Placed::put(trace, Recorder::new(options, buffer, signals, clock));
        Ok(())
    })
}

/// Empties the buffer and begins a stream: the flag, number 0, the configuration record
/// (`rkh_trc_init`, `RKH_TRC_SEND_CFG`). The filters stay. Send the bytes.
///
/// Ownership: none. Errors: TW_NULL, TW_NOT_INITIALISED, TW_MISSED where the buffer is too small. Safe
/// in an interrupt if no other call can be under way.
#[unsafe(no_mangle)]
pub extern "C" fn tw_rkh_open(trace: Option<&mut tw_rkh>) -> c_int {
    guard(|| recorded(recorder(trace)?.open()))
}

/// Records the configuration once more. Readers forget all symbols there.
///
/// Ownership: none. Errors: TW_NULL, TW_NOT_INITIALISED, TW_INVALID in dialects without such a record,
/// TW_MISSED. Safe in an interrupt if no other call can be under way.
#[unsafe(no_mangle)]
pub extern "C" fn tw_rkh_configuration(trace: Option<&mut tw_rkh>) -> c_int {
    guard(|| recorded(recorder(trace)?.configuration()))
}

/// Takes out the oldest bytes, `most` at most, that lie together (`rkh_trc_get_block`).
///
/// There may be more behind them: call until TW_NOTHING. Ownership: the bytes stay as they are until the
/// next record. Errors: TW_NULL, TW_NOT_INITIALISED, TW_NOTHING where there are none. Safe in an interrupt
/// if no other call can be under way.
#[unsafe(no_mangle)]
pub extern "C" fn tw_rkh_get_block(
    trace: Option<&mut tw_rkh>,
    most: usize,
    block: Option<&mut MaybeUninit<tw_rkh_block>>,
) -> c_int {
    guard(|| {
        let bytes = recorder(trace)?.buffer().block(most);
        let found = tw_rkh_block { bytes: bytes.as_ptr(), length: bytes.len() };
        put(block, found);
        if bytes.is_empty() { Err(Code(TW_NOTHING)) } else { Ok(()) }
    })
}

/// Copies out as many bytes as there are and fit; `count` gets how many (`rkh_trc_getWholeBlock`).
///
/// Ownership: `out` is the caller's. Errors: TW_NULL, TW_NOT_INITIALISED, TW_NOTHING where there are
/// none. Safe in an interrupt if no other call can be under way.
///
/// # Safety
/// * `out` has `size` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tw_rkh_read(
    trace: Option<&mut tw_rkh>,
    out: *mut c_void,
    size: usize,
    count: Option<&mut MaybeUninit<usize>>,
) -> c_int {
    guard(|| {
        // SAFETY: the bullet above.
        let out = unsafe { memory(out.cast(), size)? };
        let found = recorder(trace)?.buffer().read(out);
        put(count, found);
        if found == 0 { Err(Code(TW_NOTHING)) } else { Ok(()) }
    })
}

/// What the buffer holds and has lost.
///
/// Ownership: `status` is the caller's. Errors: TW_NULL, TW_NOT_INITIALISED. Safe in an interrupt if no
/// other call can be under way.
#[unsafe(no_mangle)]
pub extern "C" fn tw_rkh_get_status(
    trace: Option<&mut tw_rkh>,
    status: Option<&mut MaybeUninit<tw_rkh_status>>,
) -> c_int {
    guard(|| {
        let buffer = recorder(trace)?.buffer();
        let (overwritten, dropped) = match buffer {
            AnyBuffer::Stream(stream) => (stream.overwritten(), 0),
            AnyBuffer::Frames(frames) => (0, frames.dropped()),
        };
        some(status)?.write(tw_rkh_status { waiting: buffer.len(), overwritten, dropped });
        Ok(())
    })
}
