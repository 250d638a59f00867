//! ThreadX's event trace: one control block in storage of the caller, a ring in memory of the caller.
//!
//! No function here allocates, locks, waits or asks the operating system anything. What the control
//! block holds is in `block`.
//!
//! The module holds `unsafe` code because exported names and C's arrays are that by nature.
#![allow(unsafe_code)]

mod block;

use core::ffi::{c_char, c_int, c_void};
use core::mem::MaybeUninit;

use tracewell_record::threadx::{Context, Entry, Info, Isr, Object, Options};
use tracewell_wire::ByteOrder;
use tracewell_wire::threadx::Width;

use crate::boundary::{Placed, array, guard, memory, put, some, text};
use crate::clock::{CallerClock, truth, tw_clock};
use crate::code::{Code, TW_INVALID, TW_NOTHING, TW_OK};
use block::{Block, Host, Notify, Objects, Recorder};

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

/// Does something with a trace, for C.
#[inline]
fn with(
    trace: Option<&mut tw_threadx>,
    work: impl FnOnce(&mut dyn Recorder) -> Result<(), Code>,
) -> c_int {
    // SAFETY: the storage is zeros or was made by `tw_threadx_init` (the header's text on
    // `tw_threadx`), or by a notification for the time of one call.
    guard(|| work(unsafe { Placed::<Block>::get(some(trace)?)? }.recorder()))
}

/// The same for a context.
#[inline]
fn with_context(
    trace: Option<&mut tw_threadx>,
    context: Option<&tw_threadx_context>,
    work: impl FnOnce(&mut dyn Recorder, Context) -> Result<(), Code>,
) -> c_int {
    with(trace, |trace| work(trace, some(context)?.context()?))
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

/// Words of this machine's byte order.
pub const TW_NATIVE: u8 = 0;
/// Little-endian words.
pub const TW_LITTLE: u8 = 1;
/// Big-endian words.
pub const TW_BIG: u8 = 2;

/// For which kind of target an image is made; all 0 is the usual.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct tw_threadx_layout {
    /// What the header says the address of the first byte is; 0 for where the memory lies.
    pub base_address: u64,
    /// Bytes of a registry slot's name; 0 for 32. TraceX refuses 64 and more.
    pub name_size: u16,
    /// Bits of a word, to which addresses and numbers are cut: 32, or 64 which TraceX cannot read; 0
    /// for 32, the `ULONG` of nearly every port.
    pub width: u8,
    /// TW_NATIVE, TW_LITTLE or TW_BIG.
    pub order: u8,
}

impl tw_threadx_layout {
    const USUAL: Self = Self { base_address: 0, name_size: 0, width: 0, order: TW_NATIVE };

    fn options(self) -> Options {
        let usual = Options::default();
        Options {
            name_size: if self.name_size == 0 { usual.name_size } else { self.name_size },
            base_address: (self.base_address != 0).then_some(self.base_address),
        }
    }

    fn target(self) -> Result<(ByteOrder, Width), Code> {
        let order = match self.order {
            TW_NATIVE => ByteOrder::NATIVE,
            TW_LITTLE => ByteOrder::Little,
            TW_BIG => ByteOrder::Big,
            _ => return Err(Code(TW_INVALID)),
        };
        match self.width {
            0 | 32 => Ok((order, Width::Bits32)),
            64 => Ok((order, Width::Bits64)),
            _ => Err(Code(TW_INVALID)),
        }
    }
}

/// Initialises a control block, off, for words of 32 bits in this machine's byte order.
///
/// Ownership: `trace` stays the caller's and must stay where its users find it; nothing has to be
/// freed. `clock` is copied; what its context points at must stay as long as the trace.
/// Errors: TW_NULL. Not for a trace that is on. Safe in a signal handler or interrupt.
#[unsafe(no_mangle)]
pub extern "C" fn tw_threadx_init(
    trace: Option<&mut MaybeUninit<tw_threadx>>,
    clock: Option<&tw_clock>,
) -> c_int {
    tw_threadx_init_for(trace, clock, Some(&tw_threadx_layout::USUAL))
}

/// Initialises a control block, off, for another kind of target.
///
/// Ownership and safety as `tw_threadx_init`; `layout` is copied. Errors: TW_NULL, TW_INVALID for a
/// width or byte order that is none.
#[unsafe(no_mangle)]
pub extern "C" fn tw_threadx_init_for(
    trace: Option<&mut MaybeUninit<tw_threadx>>,
    clock: Option<&tw_clock>,
    layout: Option<&tw_threadx_layout>,
) -> c_int {
    guard(|| {
        let layout = some(layout)?;
        let (order, width) = layout.target()?;
        let usual_mask = if width == Width::Bits32 { 0xFFFF_FFFF } else { u64::MAX };
        let clock = CallerClock::new(*some(clock)?, usual_mask);
        let host = Host { clock, options: layout.options(), notify: None };
        Placed::put(some(trace)?, Block::new(host, order, width));
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
    with_context(trace, context, |trace, context| {
        // SAFETY: the first bullet; the recorder keeps the memory until `disable` at most.
        let memory = unsafe { self::memory(memory.cast(), size)? };
        // SAFETY: the second bullet.
        let objects = unsafe { array(objects, object_count)? };
        // SAFETY: as above.
        let objects: Objects<'_> = objects.iter().map(|object| unsafe { object.object() });
        trace.enable(memory, registry_slots, objects, context)
    })
}

/// Switches tracing off (`tx_trace_disable`).
///
/// Ownership: the memory is the caller's again, and holds the complete image. Errors: TW_NULL,
/// TW_NOT_INITIALISED, TW_NOT_DONE where it is off. Safe in an interrupt if no other call can be
/// under way.
#[unsafe(no_mangle)]
pub extern "C" fn tw_threadx_disable(trace: Option<&mut tw_threadx>) -> c_int {
    with(trace, |trace| trace.disable())
}

/// Whether tracing is on: 1, 0, or an error.
///
/// Ownership: none. Errors: TW_NULL, TW_NOT_INITIALISED. Safe in an interrupt.
#[unsafe(no_mangle)]
pub extern "C" fn tw_threadx_is_on(trace: Option<&mut tw_threadx>) -> c_int {
    let mut on = false;
    let asked = with(trace, |trace| {
        on = trace.is_on();
        Ok(())
    });
    if asked == TW_OK { truth(on) } else { asked }
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
    with(trace, |trace| {
        trace.set_notify(notify.map(|function| Notify { function, context: notify_context }));
        Ok(())
    })
}

/// Stops recording classes of events (`tx_trace_event_filter`): bits of `TX_TRACE_..._EVENTS`.
///
/// Ownership: none. Errors: TW_NULL, TW_NOT_INITIALISED. Safe in an interrupt if no other call can
/// be under way.
#[unsafe(no_mangle)]
pub extern "C" fn tw_threadx_event_filter(trace: Option<&mut tw_threadx>, classes: u32) -> c_int {
    with(trace, |trace| {
        trace.event_filter(classes);
        Ok(())
    })
}

/// Records classes of events again (`tx_trace_event_unfilter`).
///
/// Ownership: none. Errors: TW_NULL, TW_NOT_INITIALISED. Safe in an interrupt if no other call can
/// be under way.
#[unsafe(no_mangle)]
pub extern "C" fn tw_threadx_event_unfilter(trace: Option<&mut tw_threadx>, classes: u32) -> c_int {
    with(trace, |trace| {
        trace.event_unfilter(classes);
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
    with(trace, |trace| {
        // SAFETY: the bullet above.
        let object = unsafe { some(object)?.object() };
        trace.register(&object).map(|_| ()).ok_or(Code(TW_NOTHING))
    })
}

/// Says that an object was deleted (`tx_trace_object_unregister`); it keeps its name until its slot is
/// needed.
///
/// Ownership: none. Errors: TW_NULL, TW_NOT_INITIALISED, TW_NOTHING where no object has the address.
/// Safe in an interrupt if no other call can be under way.
#[unsafe(no_mangle)]
pub extern "C" fn tw_threadx_unregister(trace: Option<&mut tw_threadx>, pointer: u64) -> c_int {
    with(trace, |trace| trace.unregister(pointer).map(|_| ()).ok_or(Code(TW_NOTHING)))
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
    with_context(trace, context, |trace, context| {
        // SAFETY: the bullet above.
        let info = unsafe { array(info, 4)? };
        let info = *info.first_chunk().ok_or(Code(TW_INVALID))?;
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
    with(trace, |trace| {
        let info = match number {
            1 => Info::One,
            2 => Info::Two,
            3 => Info::Three,
            4 => Info::Four,
            _ => return Err(Code(TW_INVALID)),
        };
        let patched = trace.patch((*some(entry)?).into(), info, value);
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
    with_context(trace, context, |trace, context| {
        trace.user_event(context, id, [info1, info2, info3, info4])
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
    with_context(trace, context, |trace, context| {
        trace.isr_enter(context, (*some(isr)?).into());
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
    with_context(trace, context, |trace, context| {
        trace.isr_exit(context, (*some(isr)?).into());
        Ok(())
    })
}
