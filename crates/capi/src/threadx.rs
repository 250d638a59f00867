//! ThreadX's event trace: one control block in storage of the caller, a ring in memory of the caller.
//!
//! Numbers and addresses are cut to 32 bits, the `ULONG` of nearly every port, in the byte order of
//! the machine. No function here allocates, locks, waits or asks the operating system anything.
//!
//! The module holds `unsafe` code because exported names and C's arrays are that by nature.
#![allow(unsafe_code)]

use std::ffi::{c_char, c_int, c_void};
use std::mem::MaybeUninit;

use tracewell_record::threadx::{Context, Entry, Info, Isr, Native32, Object, Options, Trace};

use crate::boundary::{Placed, array, guard, memory, put, some, text};
use crate::clock::{CallerClock, Notify, truth, tw_clock};
use crate::code::{Code, TW_INVALID, TW_NOTHING};

/// The control block of a ThreadX trace. Its words are nobody's business.
///
/// Static memory or zeroed; `tw_threadx_init` before anything else.
#[repr(C)]
pub struct tw_threadx {
    words: [MaybeUninit<u64>; 40],
}

/// A thread, its service calls included.
pub const TW_THREAD: u8 = 0;
/// An interrupt service routine.
pub const TW_INTERRUPT: u8 = 1;
/// Before the scheduler started.
pub const TW_INITIALIZATION: u8 = 2;

/// Who records an event.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct tw_threadx_context {
    /// Address of the thread's control block, not 0; for an interrupt that of the thread that was
    /// interrupted, 0 for none.
    pub address: u64,
    /// Present priority of a thread, 0 to 1023.
    pub priority: u16,
    /// Its preemption threshold; the priority where it has none.
    pub threshold: u16,
    /// TW_THREAD, TW_INTERRUPT or TW_INITIALIZATION.
    pub kind: u8,
    /// The core that records, from 0.
    pub core: u8,
}

/// A kernel object: what gives an address a name.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct tw_threadx_object {
    /// Address of its control block.
    pub pointer: u64,
    /// Its name with a NUL, any encoding; null for none. Copied.
    pub name: *const c_char,
    /// First parameter, by type: stack start, initial ticks, size, count.
    pub parameter1: u64,
    /// Second parameter, by type: stack size, reschedule ticks, words of a message, block size.
    pub parameter2: u64,
    /// Priority of a thread.
    pub priority: u16,
    /// 1 thread, 2 timer, 3 queue, 4 semaphore, 5 mutex, 6 event flags, 7 block pool, 8 byte pool.
    pub kind: u8,
}

/// An event that was recorded, for `tw_threadx_patch`.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct tw_threadx_entry {
    words: [u64; 2],
}

impl From<Entry> for tw_threadx_entry {
    fn from(entry: Entry) -> Self {
        Self { words: entry.words() }
    }
}

impl From<tw_threadx_entry> for Entry {
    fn from(entry: tw_threadx_entry) -> Self {
        Self::from_words(entry.words)
    }
}

/// Called each time the ring was filled to its end, from inside the call that recorded the last event.
///
/// `trace` stands for the trace during the call only; use it, not the control block, to record, filter
/// or disable in there.
pub type tw_threadx_notify = Option<extern "C" fn(trace: *mut tw_threadx, context: *mut c_void)>;

type Recorder = Trace<'static, CallerClock, Native32>;

fn recorder(trace: Option<&mut tw_threadx>) -> Result<&mut Recorder, Code> {
    // SAFETY: the storage is zeros or was made by `tw_threadx_init` (the header's text on
    // `tw_threadx`), or by `notified` for the time of one call.
    unsafe { Placed::<Recorder>::get(some(trace)?) }
}

impl tw_threadx_context {
    fn context(self) -> Result<Context, Code> {
        let context = match self.kind {
            TW_THREAD => Context::thread(self.address, self.priority, self.threshold),
            TW_INTERRUPT => Context::interrupt(self.address),
            TW_INITIALIZATION => Context::INITIALIZATION,
            _ => return Err(Code(TW_INVALID)),
        };
        Ok(context.on_core(self.core))
    }
}

impl tw_threadx_object {
    /// # Safety
    /// * the name is null or ends with a NUL.
    unsafe fn object(&self) -> Object<'_> {
        // SAFETY: the caller's bullet; the name outlives the structure that points at it.
        let name = unsafe { text(self.name) };
        let object = Object::new(self.kind, self.pointer, name, [self.parameter1, self.parameter2]);
        Object { priority: self.priority, ..object }
    }
}

/// Initialises a control block, off.
///
/// Ownership: `trace` stays the caller's and must stay where its users find it; nothing has to be
/// freed. `clock` is copied; what its context points at must stay as long as the trace.
/// Errors: TW_NULL. Not for a trace that is on. Safe in a signal handler or interrupt.
#[unsafe(no_mangle)]
pub extern "C" fn tw_threadx_init(
    trace: Option<&mut MaybeUninit<tw_threadx>>,
    clock: Option<&tw_clock>,
) -> c_int {
    guard(|| {
        let clock = CallerClock::new(*some(clock)?, 0xFFFF_FFFF);
        Placed::put(some(trace)?, Recorder::new(clock));
        Ok(())
    })
}

/// Switches tracing on in memory and records two RUNNING events (`tx_trace_enable`).
///
/// The memory holds a header of 48 bytes, `registry_slots` times 48 bytes, and 32 bytes for each event;
/// at every moment between two calls it is an image that TraceX reads: save it as a `.trx` file.
/// Ownership: the memory is the trace's until `tw_threadx_disable`; `objects` (those that exist now)
/// are copied. Errors: TW_NULL, TW_NOT_INITIALISED, TW_TOO_SMALL, TW_NOT_DONE where it is on,
/// TW_INVALID. Safe in an interrupt if no other call can be under way.
///
/// # Safety
/// * `memory` has `size` bytes that nobody else uses until the trace is disabled.
/// * `objects` has `object_count` objects, whose names are null or end with a NUL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tw_threadx_enable(
    trace: Option<&mut tw_threadx>,
    memory: *mut c_void,
    size: usize,
    registry_slots: usize,
    objects: *const tw_threadx_object,
    object_count: usize,
    context: Option<&tw_threadx_context>,
) -> c_int {
    guard(|| {
        let (trace, context) = (recorder(trace)?, some(context)?.context()?);
        // SAFETY: the first bullet; the recorder keeps the memory until `disable` at most.
        let memory = unsafe { self::memory(memory.cast(), size)? };
        // SAFETY: the second bullet.
        let objects = unsafe { array(objects, object_count)? };
        // SAFETY: as above.
        let objects = objects.iter().map(|object| unsafe { object.object() });
        let enabled = trace.enable(memory, registry_slots, &Options::default(), objects, context);
        enabled.map_err(|refused| refused.status.into())
    })
}

/// Switches tracing off (`tx_trace_disable`).
///
/// Ownership: the memory is the caller's again, and holds the complete image. Errors: TW_NULL,
/// TW_NOT_INITIALISED, TW_NOT_DONE where it is off. Safe in an interrupt if no other call can be
/// under way.
#[unsafe(no_mangle)]
pub extern "C" fn tw_threadx_disable(trace: Option<&mut tw_threadx>) -> c_int {
    guard(|| recorder(trace)?.disable().map(|_| ()).map_err(Code::from))
}

/// Whether tracing is on: 1, 0, or an error.
///
/// Ownership: none. Errors: TW_NULL, TW_NOT_INITIALISED. Safe in an interrupt.
#[unsafe(no_mangle)]
pub extern "C" fn tw_threadx_is_on(trace: Option<&mut tw_threadx>) -> c_int {
    recorder(trace).map_or_else(|Code(code)| code, |trace| truth(trace.is_on()))
}

/// Sets what is called after each wrap, null for nothing (`tx_trace_buffer_full_notify`).
///
/// Ownership: what `notify_context` points at must stay as long as the notification is set.
/// Errors: TW_NULL, TW_NOT_INITIALISED. Safe in an interrupt if no other call can be under way.
#[unsafe(no_mangle)]
pub extern "C" fn tw_threadx_buffer_full_notify(
    trace: Option<&mut tw_threadx>,
    notify: tw_threadx_notify,
    notify_context: *mut c_void,
) -> c_int {
    guard(|| {
        let trace = recorder(trace)?;
        let notify = notify.map(|function| Notify { function, context: notify_context });
        trace.clock().notify = notify;
        trace.buffer_full_notify(notify.map(|_| notified as fn(&mut Recorder)));
        Ok(())
    })
}

/// Tells C. The control block is in the middle of a call, so C gets one that stands for it.
fn notified(trace: &mut Recorder) {
    let Some(Notify { function, context }) = trace.clock().notify else { return };
    let mut storage = MaybeUninit::<LentBlock>::uninit();
    let placed = storage.write(LentBlock { placed: Placed::lent(trace), rest: [0; 40] });
    function(std::ptr::from_mut(placed).cast(), context);
}

/// As large as [`tw_threadx`] at least, so that a pointer to it is one to all of that.
#[repr(C)]
struct LentBlock {
    placed: Placed<Recorder>,
    rest: [u64; 40],
}

/// Stops recording classes of events (`tx_trace_event_filter`): bits of `TX_TRACE_..._EVENTS`.
///
/// Ownership: none. Errors: TW_NULL, TW_NOT_INITIALISED. Safe in an interrupt if no other call can
/// be under way.
#[unsafe(no_mangle)]
pub extern "C" fn tw_threadx_event_filter(trace: Option<&mut tw_threadx>, classes: u32) -> c_int {
    guard(|| {
        recorder(trace)?.event_filter(classes);
        Ok(())
    })
}

/// Records classes of events again (`tx_trace_event_unfilter`).
///
/// Ownership: none. Errors: TW_NULL, TW_NOT_INITIALISED. Safe in an interrupt if no other call can
/// be under way.
#[unsafe(no_mangle)]
pub extern "C" fn tw_threadx_event_unfilter(trace: Option<&mut tw_threadx>, classes: u32) -> c_int {
    guard(|| {
        recorder(trace)?.event_unfilter(classes);
        Ok(())
    })
}

/// Gives an object's address a name (`tx_trace_object_register`).
///
/// Ownership: the object and its name are copied. Errors: TW_NULL, TW_NOT_INITIALISED, TW_NOTHING
/// where tracing is off or the registry is full. Safe in an interrupt if no other call can be under way.
///
/// # Safety
/// * the object's name is null or ends with a NUL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tw_threadx_register(
    trace: Option<&mut tw_threadx>,
    object: Option<&tw_threadx_object>,
) -> c_int {
    guard(|| {
        // SAFETY: the bullet above.
        let object = unsafe { some(object)?.object() };
        recorder(trace)?.register(&object).map(|_| ()).ok_or(Code(TW_NOTHING))
    })
}

/// Says that an object was deleted (`tx_trace_object_unregister`); it keeps its name until its slot is
/// needed.
///
/// Ownership: none. Errors: TW_NULL, TW_NOT_INITIALISED, TW_NOTHING where no object has the address.
/// Safe in an interrupt if no other call can be under way.
#[unsafe(no_mangle)]
pub extern "C" fn tw_threadx_unregister(trace: Option<&mut tw_threadx>, pointer: u64) -> c_int {
    guard(|| recorder(trace)?.unregister(pointer).map(|_| ()).ok_or(Code(TW_NOTHING)))
}

/// Records an event of the kernel: its id, four information words, the bit of its class.
///
/// `entry` may be null; else it gets what `tw_threadx_patch` wants. Ownership: `entry` is the caller's.
/// Errors: TW_NULL, TW_NOT_INITIALISED, TW_INVALID, TW_NOTHING where tracing is off or the class
/// filtered out. Safe in an interrupt if no other call can be under way.
///
/// # Safety
/// * `info` has 4 numbers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tw_threadx_insert(
    trace: Option<&mut tw_threadx>,
    context: Option<&tw_threadx_context>,
    id: u32,
    info: *const u64,
    class_bit: u32,
    entry: Option<&mut MaybeUninit<tw_threadx_entry>>,
) -> c_int {
    guard(|| {
        // SAFETY: the bullet above.
        let info = unsafe { array(info, 4)? };
        let info = *info.first_chunk().ok_or(Code(TW_INVALID))?;
        let (trace, context) = (recorder(trace)?, some(context)?.context()?);
        let found = trace.insert(context, id, info, class_bit).ok_or(Code(TW_NOTHING))?;
        put(entry, found.into());
        Ok(())
    })
}

/// Replaces information word 1 to 4 of an event, if its slot still holds it.
///
/// Ownership: none. Errors: TW_NULL, TW_NOT_INITIALISED, TW_INVALID for another number, TW_NOTHING
/// where the event is gone. Safe in an interrupt if no other call can be under way.
#[unsafe(no_mangle)]
pub extern "C" fn tw_threadx_patch(
    trace: Option<&mut tw_threadx>,
    entry: Option<&tw_threadx_entry>,
    number: u32,
    value: u64,
) -> c_int {
    guard(|| {
        let info = match number {
            1 => Info::One,
            2 => Info::Two,
            3 => Info::Three,
            4 => Info::Four,
            _ => return Err(Code(TW_INVALID)),
        };
        let patched = recorder(trace)?.patch((*some(entry)?).into(), info, value);
        patched.then_some(()).ok_or(Code(TW_NOTHING))
    })
}

/// Records an event of the application (`tx_trace_user_event_insert`), ids 4096 to 65535.
///
/// Ownership: none. Errors: TW_NULL, TW_NOT_INITIALISED, TW_INVALID, TW_NOT_DONE where tracing is
/// off; an event that is filtered out is none. Safe in an interrupt if no other call can be under way.
#[unsafe(no_mangle)]
pub extern "C" fn tw_threadx_user_event(
    trace: Option<&mut tw_threadx>,
    context: Option<&tw_threadx_context>,
    id: u32,
    info1: u64,
    info2: u64,
    info3: u64,
    info4: u64,
) -> c_int {
    guard(|| {
        let (trace, context) = (recorder(trace)?, some(context)?.context()?);
        trace.user_event(context, id, [info1, info2, info3, info4]).map_err(Code::from)
    })
}

/// What the events around an interrupt service routine say.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct tw_threadx_isr {
    /// The number that the application gave the routine.
    pub number: u64,
    /// Address on the stack that it uses.
    pub stack: u64,
    /// The kernel's system state: the nesting depth on most ports.
    pub system_state: u64,
    /// The kernel's count of reasons not to preempt.
    pub preempt_disable: u64,
}

impl From<tw_threadx_isr> for Isr {
    fn from(isr: tw_threadx_isr) -> Self {
        let tw_threadx_isr { number, stack, system_state, preempt_disable } = isr;
        Self { number, stack, system_state, preempt_disable }
    }
}

/// Records the start of an interrupt service routine (`tx_trace_isr_enter_insert`).
///
/// Ownership: none. Errors: TW_NULL, TW_NOT_INITIALISED, TW_INVALID; that nothing is recorded while
/// tracing is off is none. Safe in an interrupt if no other call can be under way.
#[unsafe(no_mangle)]
pub extern "C" fn tw_threadx_isr_enter(
    trace: Option<&mut tw_threadx>,
    context: Option<&tw_threadx_context>,
    isr: Option<&tw_threadx_isr>,
) -> c_int {
    guard(|| {
        recorder(trace)?.isr_enter(some(context)?.context()?, (*some(isr)?).into());
        Ok(())
    })
}

/// Records the end of an interrupt service routine (`tx_trace_isr_exit_insert`).
///
/// Ownership: none. Errors: as `tw_threadx_isr_enter`. Safe in an interrupt if no other call can be
/// under way.
#[unsafe(no_mangle)]
pub extern "C" fn tw_threadx_isr_exit(
    trace: Option<&mut tw_threadx>,
    context: Option<&tw_threadx_context>,
    isr: Option<&tw_threadx_isr>,
) -> c_int {
    guard(|| {
        recorder(trace)?.isr_exit(some(context)?.context()?, (*some(isr)?).into());
        Ok(())
    })
}
