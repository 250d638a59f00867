//! RKH's trace facility. The caller provides the storage of the control block and the memory of the
//! buffer.
//!
//! `rkh/filter` contains the functions of the filters, and `rkh/record` the functions that write
//! records. `include/tracewell_rkh.h` wraps the functions of both modules in macros like those of
//! the framework, and `include/tracewell_rkh_events.h` defines the event ids. No function here
//! allocates, locks, waits or makes a system call.
//!
//! Unsafe: exported symbols and C arrays.
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

use crate::boundary::{Placed, array, guard, memory, non_null, put};
use crate::clock::{CallerClock, tw_clock};
use crate::code::{Code, TW_EXCLUDED, TW_INVALID, TW_MISSED, TW_NOTHING, TW_OFF};

/// The control block of an RKH trace; opaque.
///
/// Use static or zeroed memory, and call `tw_rkh_init` first.
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
/// Filters of active objects are compiled in.
pub const TW_RKH_FILTER_OBJECTS: u8 = 2;
/// Filters of signals are compiled in.
pub const TW_RKH_FILTER_SIGNALS: u8 = 4;

/// Records of user events are compiled in.
pub const TW_RKH_USER_TRACE: u32 = 1 << 2;
/// Records of all groups are compiled in.
pub const TW_RKH_ALL_GROUPS: u32 = 1 << 3;
/// Records of memory pools are compiled in.
pub const TW_RKH_MP: u32 = 1 << 4;
/// Records of queues are compiled in.
pub const TW_RKH_QUE: u32 = 1 << 5;
/// Records of active objects are compiled in.
pub const TW_RKH_SMA: u32 = 1 << 6;
/// Records of timers are compiled in.
pub const TW_RKH_TMR: u32 = 1 << 7;
/// Records of state machines are compiled in.
pub const TW_RKH_SM: u32 = 1 << 8;
/// Records of the framework are compiled in.
pub const TW_RKH_FWK: u32 = 1 << 9;
/// Records of failed assertions are compiled in.
pub const TW_RKH_ASSERT: u32 = 1 << 10;

// The C header needs literal numbers.
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

/// The settings of RKH's configuration macros. A size is the number of bytes of a value in a
/// record: 2 or 4 for addresses, otherwise 1, 2 or 4.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct tw_rkh_settings {
    /// The dialect, such as TW_RKH_3_4.
    pub dialect: u8,
    /// Size of event ids (`RKH_CFG_TRC_SIZEOF_TE_ID`).
    pub id: u8,
    /// Nonzero if records have sequence numbers (`RKH_CFG_TRC_NSEQ_EN`).
    pub sequence: u8,
    /// Size of timestamps (`RKH_CFGPORT_TRC_SIZEOF_TSTAMP`); 0 if records have no timestamp
    /// (`RKH_CFG_TRC_TSTAMP_EN`).
    pub stamp: u8,
    /// Nonzero if records have a checksum (`RKH_CFG_TRC_CHK_EN`).
    pub checksum: u8,
    /// Size of data addresses (`RKH_CFGPORT_TRC_SIZEOF_PTR`).
    pub pointer: u8,
    /// Size of function addresses (`RKH_CFGPORT_TRC_SIZEOF_FUN_PTR`).
    pub function: u8,
    /// Size of signals (`RKH_CFG_FWK_SIZEOF_EVT`).
    pub signal: u8,
    /// Size of the field that contains the size of an event (`RKH_CFG_FWK_SIZEOF_EVT_SIZE`).
    pub event_size: u8,
    /// Size of the field that contains a number of memory blocks (`RKH_CFG_MP_SIZEOF_NBLOCK`).
    pub block_count: u8,
    /// Size of the field that contains the size of a memory block (`RKH_CFG_MP_SIZEOF_BSIZE`).
    pub block_size: u8,
    /// Size of the field that contains a number of queue elements (`RKH_CFG_QUE_SIZEOF_NELEM`).
    pub queue_count: u8,
    /// Size of the field that contains a number of timer ticks (`RKH_CFG_TMR_SIZEOF_NTIMER`).
    pub timer_ticks: u8,
    /// Nonzero if senders are recorded (`RKH_CFG_SMA_TRC_SNDR_EN`).
    pub sender: u8,
    /// Nonzero if queues have low-water marks (`RKH_CFG_QUE_GET_LWMARK_EN`).
    pub queue_low_water: u8,
    /// Nonzero if memory pools have low-water marks (`RKH_CFG_MP_GET_LWM_EN`).
    pub pool_low_water: u8,
    /// Maximum number of event pools (`RKH_CFG_FWK_MAX_EVT_POOL`). Numbers above 15 are recorded as
    /// 15.
    pub max_pools: u8,
    /// The compiled-in filters: any combination of TW_RKH_FILTER_EVENTS, TW_RKH_FILTER_OBJECTS and
    /// TW_RKH_FILTER_SIGNALS. With 0, no filter exists and all compiled-in records are recorded.
    pub filters: u8,
    /// 0 for the framework's buffer, which drops its oldest bytes when it is full; 1 for a buffer
    /// that drops each record that does not fit.
    pub whole_records: u8,
    /// RKH's version, such as 0x3400 for 3.4.00. It must belong to the dialect.
    pub version: u16,
    /// The compiled-in records: any combination of TW_RKH_USER_TRACE, TW_RKH_ASSERT,
    /// TW_RKH_ALL_GROUPS and the bits of single groups, such as TW_RKH_SM.
    pub compiled: u32,
    /// Clock rate in ticks per second. The configuration record of the stream contains only the low
    /// 16 bits of this rate.
    pub stamps_per_second: u32,
    /// Ids of single events that are not compiled in. May be null if `left_out_count` is 0.
    pub left_out: *const u8,
    /// Number of ids in `left_out`.
    pub left_out_count: usize,
}

/// The fill level of a buffer, and its losses.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct tw_rkh_status {
    /// Number of bytes to be sent.
    pub waiting: usize,
    /// Number of bytes that newer bytes overwrote, modulo 2^32; always 0 in a buffer that drops
    /// whole records.
    pub overwritten: u32,
    /// Number of dropped records, modulo 2^32; always 0 in the framework's buffer.
    pub dropped: u32,
}

/// Bytes to send, in the memory of the buffer.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct tw_rkh_block {
    /// The first byte of the block.
    pub bytes: *const u8,
    /// Number of bytes in the block.
    pub length: usize,
}

/// The buffer that the settings select.
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
    // SAFETY: the storage is zeroed or was initialised by `tw_rkh_init` (see `tw_rkh`).
    unsafe { Placed::<Recorder>::get(non_null(trace)?) }
}

/// Converts an outcome of the recorder to a result with an error code.
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
            max_pools: options.max_pools,
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
    /// * `left_out` must point to `left_out_count` ids.
    unsafe fn options(&self) -> Result<Options, Code> {
        let dialect = Dialect::ALL.get(usize::from(self.dialect)).ok_or(Code(TW_INVALID))?;
        let table = Table::of(*dialect);
        // SAFETY: guaranteed by the caller (see `# Safety`).
        let left_out = unsafe { array(self.left_out, self.left_out_count)? };
        // Ids that the dialect does not have are ignored, so that one list can be used for several
        // versions.
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
            max_pools: self.max_pools,
        })
    }

    fn sizes(&self) -> Result<Settings, Code> {
        let size = |bytes| matches!(bytes, 1 | 2 | 4).then_some(bytes).ok_or(Code(TW_INVALID));
        // No target has addresses of one byte.
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

/// Fills in default settings: dialect 3.4, the sizes that Trazer assumes, all records and filters
/// compiled in, a clock of 1 kHz and the framework's buffer.
///
/// Ownership: the caller keeps `settings`. Errors: TW_NULL. Safe in a signal handler or interrupt.
#[unsafe(no_mangle)]
pub extern "C" fn tw_rkh_usual(settings: Option<&mut MaybeUninit<tw_rkh_settings>>) -> c_int {
    guard(|| {
        non_null(settings)?.write(tw_rkh_settings::of(&Options::default()));
        Ok(())
    })
}

/// Initialises a control block; `tw_rkh_open` starts its stream.
///
/// All filter bits are clear. From RKH 2.4.4 on, a clear bit suppresses records, so all filters are
/// on at first. `signals` holds one bit per signal; it may be null if signal filters are not
/// compiled in. Ownership: the caller keeps `trace`, which must not move while it is in use and
/// need not be freed. The trace keeps using `memory` and `signals`. `clock` and `settings` are
/// copied. Errors: TW_NULL; TW_INVALID for an unknown size or dialect. Safe in an interrupt.
///
/// # Safety
/// * `memory` must point to `size` bytes and `signals` to `signals_size` bytes, and nothing else
///   may use them while the trace is in use.
/// * `left_out` in the settings must point to `left_out_count` ids.
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
        let (trace, settings) = (non_null(trace)?, non_null(settings)?);
        // SAFETY: guaranteed by the caller (last point of `# Safety`).
        let options = unsafe { settings.options()? };
        // SAFETY: guaranteed by the caller (first point of `# Safety`).
        let memory = unsafe { self::memory(memory.cast(), size)? };
        // SAFETY: as above.
        let signals = unsafe { self::memory(signals.cast(), signals_size)? };
        let buffer = if settings.whole_records == 0 {
            AnyBuffer::Stream(StreamBuffer::new(memory))
        } else {
            AnyBuffer::Frames(FrameBuffer::new(memory))
        };
        let clock = CallerClock::new(*non_null(clock)?, 0xFFFF_FFFF);
        Placed::put(trace, Recorder::new(options, buffer, signals, clock));
        Ok(())
    })
}

/// Clears the buffer and starts a stream with a flag byte and the configuration record, which has
/// the sequence number 0 (`rkh_trc_init`, `RKH_TRC_SEND_CFG`). The filters do not change. After
/// this call, send the bytes in the buffer.
///
/// Ownership: none. Errors: TW_NULL, TW_NOT_INITIALISED; TW_MISSED if the buffer is too small. Safe
/// in an interrupt if no other call can be in progress.
#[unsafe(no_mangle)]
pub extern "C" fn tw_rkh_open(trace: Option<&mut tw_rkh>) -> c_int {
    guard(|| recorded(recorder(trace)?.open()))
}

/// Records the configuration again. A decoder that reads this record discards all names.
///
/// Ownership: none. Errors: TW_NULL, TW_NOT_INITIALISED, TW_MISSED; TW_INVALID in dialects without
/// such a record. Safe in an interrupt if no other call can be in progress.
#[unsafe(no_mangle)]
pub extern "C" fn tw_rkh_configuration(trace: Option<&mut tw_rkh>) -> c_int {
    guard(|| recorded(recorder(trace)?.configuration()))
}

/// Removes the oldest bytes, at most `most` of them, and stores their location
/// (`rkh_trc_get_block`).
///
/// A block is contiguous in memory, so it can be shorter than `most` although more bytes are
/// waiting. Call again until the result is TW_NOTHING. Ownership: the bytes do not change until the
/// next record. Errors: TW_NULL, TW_NOT_INITIALISED; TW_NOTHING if the buffer is empty. Safe in an
/// interrupt if no other call can be in progress.
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

/// Moves up to `size` bytes to `out`, and stores their number in `count`
/// (`rkh_trc_getWholeBlock`).
///
/// Ownership: the caller keeps `out`. Errors: TW_NULL, TW_NOT_INITIALISED; TW_NOTHING if the buffer
/// is empty. Safe in an interrupt if no other call can be in progress.
///
/// # Safety
/// * `out` must have space for `size` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tw_rkh_read(
    trace: Option<&mut tw_rkh>,
    out: *mut c_void,
    size: usize,
    count: Option<&mut MaybeUninit<usize>>,
) -> c_int {
    guard(|| {
        // SAFETY: guaranteed by the caller (see `# Safety`).
        let out = unsafe { memory(out.cast(), size)? };
        let found = recorder(trace)?.buffer().read(out);
        put(count, found);
        if found == 0 { Err(Code(TW_NOTHING)) } else { Ok(()) }
    })
}

/// Stores the fill level of the buffer, and its losses.
///
/// Ownership: the caller keeps `status`. Errors: TW_NULL, TW_NOT_INITIALISED. Safe in an interrupt
/// if no other call can be in progress.
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
        non_null(status)?.write(tw_rkh_status { waiting: buffer.len(), overwritten, dropped });
        Ok(())
    })
}
