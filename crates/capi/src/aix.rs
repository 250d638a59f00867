//! AIX's trace calls: a trace in storage of the caller, its channels in buffers of the caller.
//!
//! The calls have AIX's names behind `tw_`, and AIX's arguments behind two that AIX does not need: the
//! trace, and who calls, which there the kernel knows. No function here allocates, locks, waits or
//! asks the operating system anything. Starting and draining is in `channel`.
//!
//! The module holds `unsafe` code because exported names and C's arrays are that by nature.
#![allow(unsafe_code)]

pub mod channel;

use core::ffi::{c_char, c_int, c_void};
use core::mem::MaybeUninit;

use tracewell_record::aix::{Context, Machine, Trace};
use tracewell_wire::ByteOrder;
use tracewell_wire::aix::{Env, HookWord, HookWord32, HookWord64, TimeConversion};

use crate::boundary::{Placed, array, guard, some, text};
use crate::clock::{CallerClock, tw_clock};
use crate::code::{Code, TW_INVALID, of_outcome};

/// An AIX trace: up to eight channels. Its words are nobody's business.
///
/// Static memory or zeroed; `tw_aix_init` before anything else.
#[repr(C)]
pub struct tw_aix {
    words: [MaybeUninit<u64>; 640],
}

/// Who calls. A thread or process that is not known is TW_UNKNOWN.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct tw_aix_context {
    /// Thread.
    pub tid: u64,
    /// Its process.
    pub pid: u64,
    /// CPU, from 0.
    pub cpu: u16,
}

/// No thread, no process.
pub const TW_UNKNOWN: u64 = u64::MAX;

/// The traced machine. Its texts end with a NUL and stay as long as the trace; null is an empty one.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct tw_aix_machine {
    /// Nanoseconds = ticks * multiplier / divisor; 0 and 0 for a tick a nanosecond.
    pub multiplier: u64,
    /// See multiplier.
    pub divisor: u64,
    /// Operating system and release.
    pub system: *const c_char,
    /// Node name.
    pub node: *const c_char,
    /// Machine id.
    pub machine: *const c_char,
    /// Internet address.
    pub address: *const c_char,
    /// CPUs in the machine; 0 is 1.
    pub cpus: u32,
    /// CPUs that are traced; 0 is 1.
    pub cpus_traced: u32,
    /// Bits of the words of entries that the trace records by itself: 32, or 64 for anything else.
    pub bits: u32,
}

type Recorder = Trace<'static, CallerClock>;

/// Does something with a trace, for C.
#[inline]
fn with(trace: Option<&mut tw_aix>, work: impl FnOnce(&mut Recorder) -> Result<(), Code>) -> c_int {
    // SAFETY: the storage is zeros or was made by `tw_aix_init` (the header's text on `tw_aix`).
    guard(|| work(unsafe { Placed::<Recorder>::get(some(trace)?)? }))
}

/// The same for a context.
#[inline]
fn with_context(
    trace: Option<&mut tw_aix>,
    context: Option<&tw_aix_context>,
    work: impl FnOnce(&mut Recorder, Context) -> Result<(), Code>,
) -> c_int {
    with(trace, |trace| work(trace, some(context)?.context()))
}

impl tw_aix_context {
    fn context(self) -> Context {
        let known = |id| (id != TW_UNKNOWN).then_some(id);
        Context { cpu: self.cpu, tid: known(self.tid), pid: known(self.pid) }
    }
}

impl tw_aix_machine {
    /// # Safety
    /// * texts are null, or end with a NUL and stay as long as the trace.
    unsafe fn machine(&self) -> Machine<'static> {
        let Self { multiplier, divisor, cpus, cpus_traced, .. } = *self;
        let conversion = match (multiplier, divisor) {
            (0, _) | (_, 0) => TimeConversion::NANOSECONDS,
            _ => TimeConversion { multiplier, divisor },
        };
        let env = if self.bits == 32 { Env::Bits32 } else { Env::Bits64 };
        let [cpus, cpus_traced] = [cpus, cpus_traced].map(|count| count.max(1));
        // SAFETY: the bullet above.
        let [system, node, machine, address] = [self.system, self.node, self.machine, self.address]
            .map(|start| unsafe { text(start) });
        let order = ByteOrder::NATIVE;
        Machine { env, order, conversion, cpus, cpus_traced, system, node, machine, address }
    }
}

/// Initialises a trace whose channels are all free.
///
/// Ownership: `trace` stays the caller's; nothing has to be freed. `clock` and `machine` are copied,
/// but not the machine's texts and what the clock's context points at. Errors: TW_NULL. Safe in a signal
/// handler or interrupt.
///
/// # Safety
/// * the machine's texts are null, or end with a NUL and stay as long as the trace.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tw_aix_init(
    trace: Option<&mut MaybeUninit<tw_aix>>,
    clock: Option<&tw_clock>,
    machine: Option<&tw_aix_machine>,
) -> c_int {
    guard(|| {
        // SAFETY: the bullet above.
        let machine = unsafe { some(machine)?.machine() };
        let clock = CallerClock::new(*some(clock)?, u64::MAX);
        Placed::put(some(trace)?, Recorder::new(clock, machine));
        Ok(())
    })
}

/// Records a 32-bit event on channel 0 (`trchook`): the type in the hook word says whether 0, 1 or 5 of
/// the words go into the entry.
///
/// Ownership: none. Errors: TW_NULL, TW_NOT_INITIALISED, TW_OFF, TW_EXCLUDED, TW_MISSED, TW_INVALID for a
/// hook word that makes no entry. Safe in a signal handler or interrupt if no other call on this trace
/// can be under way.
#[unsafe(no_mangle)]
pub extern "C" fn tw_trchook(
    trace: Option<&mut tw_aix>,
    context: Option<&tw_aix_context>,
    hook_word: u32,
    d1: u32,
    d2: u32,
    d3: u32,
    d4: u32,
    d5: u32,
) -> c_int {
    with_context(trace, context, |trace, context| {
        of_outcome(trace.trchook(context, HookWord32(hook_word), [d1, d2, d3, d4, d5]))
    })
}

/// Records a 32-bit event on channel 0 from a program (`utrchook`). What is recorded, ownership, errors
/// and safety are those of `tw_trchook`.
#[unsafe(no_mangle)]
pub extern "C" fn tw_utrchook(
    trace: Option<&mut tw_aix>,
    context: Option<&tw_aix_context>,
    hook_word: u32,
    d1: u32,
    d2: u32,
    d3: u32,
    d4: u32,
    d5: u32,
) -> c_int {
    tw_trchook(trace, context, hook_word, d1, d2, d3, d4, d5)
}

/// Records a 64-bit event on channel 0 (`trchook64`, `utrchook64`): the length in the hook word says how
/// many of the words go into the entry, 0 to 5.
///
/// Ownership, errors and safety as `tw_trchook`.
#[unsafe(no_mangle)]
pub extern "C" fn tw_trchook64(
    trace: Option<&mut tw_aix>,
    context: Option<&tw_aix_context>,
    hook_word: u64,
    d1: u64,
    d2: u64,
    d3: u64,
    d4: u64,
    d5: u64,
) -> c_int {
    with_context(trace, context, |trace, context| {
        of_outcome(trace.trchook64(context, HookWord64(hook_word), [d1, d2, d3, d4, d5]))
    })
}

/// Records a generic event: one data word and up to 4096 bytes (`trcgen`). The hook word is a 32-bit one.
///
/// Ownership: the bytes are copied. Errors and safety as `tw_trchook`; TW_INVALID for more bytes.
///
/// # Safety
/// * `data` has `length` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tw_trcgen(
    trace: Option<&mut tw_aix>,
    context: Option<&tw_aix_context>,
    channel: u32,
    hook_word: u32,
    data_word: u32,
    length: usize,
    data: *const c_void,
) -> c_int {
    with_context(trace, context, |trace, context| {
        // SAFETY: the bullet above.
        let data = unsafe { array(data.cast(), length)? };
        let hook = HookWord::Bits32(HookWord32(hook_word));
        of_outcome(trace.trcgen(context, channel, hook, data_word.into(), data))
    })
}

/// As `tw_trcgen`, with the mark of a time stamp in the hook word (`trcgent`).
///
/// Ownership, errors and safety as `tw_trcgen`.
///
/// # Safety
/// * `data` has `length` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tw_trcgent(
    trace: Option<&mut tw_aix>,
    context: Option<&tw_aix_context>,
    channel: u32,
    hook_word: u32,
    data_word: u32,
    length: usize,
    data: *const c_void,
) -> c_int {
    with_context(trace, context, |trace, context| {
        // SAFETY: the bullet above.
        let data = unsafe { array(data.cast(), length)? };
        let hook = HookWord::Bits32(HookWord32(hook_word));
        of_outcome(trace.trcgent(context, channel, hook, data_word.into(), data))
    })
}

/// The error of a number that is no constant of the header's.
const fn unknown<T>() -> Result<T, Code> {
    Err(Code(TW_INVALID))
}
