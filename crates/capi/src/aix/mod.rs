//! AIX's trace calls. The caller provides the storage of the trace and the buffers of its channels.
//!
//! The calls have AIX's names with the prefix `tw_`. Their first two arguments are the trace and
//! the context of the caller. AIX's own calls lack these arguments, because AIX's kernel knows
//! them. The arguments of AIX's calls follow. No function here allocates, locks, waits or makes a
//! system call. The functions that start and drain channels are in `channel`.
//!
//! Unsafe: exported symbols and C arrays.
#![allow(unsafe_code)]

pub mod channel;

use core::ffi::{c_char, c_int, c_void};
use core::mem::MaybeUninit;

use tracewell_record::aix::{Context, Machine, Trace};
use tracewell_wire::ByteOrder;
use tracewell_wire::aix::{Env, HookWord, HookWord32, HookWord64, TimeConversion};

use crate::boundary::{Placed, array, guard, non_null, text};
use crate::clock::{CallerClock, tw_clock};
use crate::code::{Code, TW_INVALID, of_outcome};

/// An AIX trace with up to eight channels. Its words are private.
///
/// The storage must be static or filled with zeros, and initialised by `tw_aix_init` before use.
#[repr(C)]
pub struct tw_aix {
    words: [MaybeUninit<u64>; 640],
}

/// The context of a call. Use TW_UNKNOWN for an unknown thread or process.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct tw_aix_context {
    /// Id of the thread.
    pub tid: u64,
    /// Process id of the thread.
    pub pid: u64,
    /// CPU number, from 0.
    pub cpu: u16,
}

/// An unknown thread or process.
pub const TW_UNKNOWN: u64 = u64::MAX;

/// The traced machine. Its strings are null-terminated and must outlive the trace; null is an empty
/// string.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct tw_aix_machine {
    /// Nanoseconds = ticks * multiplier / divisor. If multiplier and divisor are 0, a tick is a
    /// nanosecond.
    pub multiplier: u64,
    /// The divisor in the formula of `multiplier`.
    pub divisor: u64,
    /// Name and release of the operating system.
    pub system: *const c_char,
    /// Name of the node.
    pub node: *const c_char,
    /// Id of the machine.
    pub machine: *const c_char,
    /// Internet address of the machine, as a string.
    pub address: *const c_char,
    /// Number of CPUs; 0 means 1.
    pub cpus: u32,
    /// Number of traced CPUs; 0 means 1.
    pub cpus_traced: u32,
    /// Word size of the entries that the trace itself adds: 32 for 32 bits, any other value for 64
    /// bits.
    pub bits: u32,
}

type Recorder = Trace<'static, CallerClock>;

/// Runs `work` on a trace, and returns the result of `work` to C.
#[inline]
fn with(trace: Option<&mut tw_aix>, work: impl FnOnce(&mut Recorder) -> Result<(), Code>) -> c_int {
    // SAFETY: the storage is zeroed or was initialised by `tw_aix_init` (see `tw_aix`).
    guard(|| work(unsafe { Placed::<Recorder>::get(non_null(trace)?)? }))
}

/// Passes the trace and the caller's context to `work`, and returns the result of `work` to C.
#[inline]
fn with_context(
    trace: Option<&mut tw_aix>,
    context: Option<&tw_aix_context>,
    work: impl FnOnce(&mut Recorder, Context) -> Result<(), Code>,
) -> c_int {
    with(trace, |trace| work(trace, non_null(context)?.context()))
}

impl tw_aix_context {
    fn context(self) -> Context {
        let known = |id| (id != TW_UNKNOWN).then_some(id);
        Context { cpu: self.cpu, tid: known(self.tid), pid: known(self.pid) }
    }
}

impl tw_aix_machine {
    /// # Safety
    /// * Each string must be null, or be null-terminated and outlive the trace.
    unsafe fn machine(&self) -> Machine<'static> {
        let Self { multiplier, divisor, cpus, cpus_traced, .. } = *self;
        let conversion = match (multiplier, divisor) {
            (0, _) | (_, 0) => TimeConversion::NANOSECONDS,
            _ => TimeConversion { multiplier, divisor },
        };
        let env = if self.bits == 32 { Env::Bits32 } else { Env::Bits64 };
        let [cpus, cpus_traced] = [cpus, cpus_traced].map(|count| count.max(1));
        // SAFETY: guaranteed by the caller (see `# Safety`).
        let [system, node, machine, address] = [self.system, self.node, self.machine, self.address]
            .map(|start| unsafe { text(start) });
        let order = ByteOrder::NATIVE;
        Machine { env, order, conversion, cpus, cpus_traced, system, node, machine, address }
    }
}

/// Initialises a trace without channels.
///
/// `clock` and `machine` are copied, but the strings of `machine` and the memory of the clock's
/// context are not copied.
///
/// Ownership: the caller keeps `trace`, which need not be freed. Errors: TW_NULL. Safe in a signal
/// handler or interrupt.
///
/// # Safety
/// * Each string of the machine must be null, or be null-terminated and outlive the trace.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tw_aix_init(
    trace: Option<&mut MaybeUninit<tw_aix>>,
    clock: Option<&tw_clock>,
    machine: Option<&tw_aix_machine>,
) -> c_int {
    guard(|| {
        // SAFETY: guaranteed by the caller (see `# Safety`).
        let machine = unsafe { non_null(machine)?.machine() };
        let clock = CallerClock::new(*non_null(clock)?, u64::MAX);
        Placed::put(non_null(trace)?, Recorder::new(clock, machine));
        Ok(())
    })
}

/// Records a 32-bit event on channel 0 (`trchook`). The entry contains 0, 1 or 5 of the words,
/// depending on the type in the hook word.
///
/// Ownership: none. Errors: TW_NULL, TW_NOT_INITIALISED, TW_OFF, TW_EXCLUDED, TW_MISSED; TW_INVALID
/// if the hook word has no valid type. Safe in a signal handler or interrupt if no other call on
/// this trace can be in progress.
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

/// Records a 32-bit event on channel 0 from a program (`utrchook`).
///
/// Number of words, ownership, errors and safety are as for `tw_trchook`.
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

/// Records a 64-bit event on channel 0 (`trchook64`, `utrchook64`). The length in the hook word is
/// the number of words in the entry, 0 to 5.
///
/// Ownership, errors and safety are as for `tw_trchook`.
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

/// Records a generic event: one data word and up to 4096 bytes (`trcgen`). The hook word has 32
/// bits.
///
/// Ownership: the bytes are copied. Errors and safety are as for `tw_trchook`. In addition, the
/// call fails with TW_INVALID if `length` is more than 4096.
///
/// # Safety
/// * `data` must point to `length` bytes.
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
        // SAFETY: guaranteed by the caller (see `# Safety`).
        let data = unsafe { array(data.cast(), length)? };
        let hook = HookWord::Bits32(HookWord32(hook_word));
        of_outcome(trace.trcgen(context, channel, hook, data_word.into(), data))
    })
}

/// Like `tw_trcgen`, with the timestamp flag in the hook word (`trcgent`).
///
/// Ownership, errors and safety are as for `tw_trcgen`.
///
/// # Safety
/// * `data` must point to `length` bytes.
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
        // SAFETY: guaranteed by the caller (see `# Safety`).
        let data = unsafe { array(data.cast(), length)? };
        let hook = HookWord::Bits32(HookWord32(hook_word));
        of_outcome(trace.trcgent(context, channel, hook, data_word.into(), data))
    })
}

/// Returns the error for a number that is not defined in the header.
const fn unknown<T>() -> Result<T, Code> {
    Err(Code(TW_INVALID))
}
