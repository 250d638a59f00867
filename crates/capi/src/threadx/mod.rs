//! ThreadX's event trace. The caller provides the storage of the control block and the memory of
//! the ring.
//!
//! No function here allocates, locks, waits or makes a system call. `block` defines the content of
//! the control block.
//!
//! Unsafe: exported symbols and C arrays.
#![allow(unsafe_code)]

mod block;

use core::ffi::{c_char, c_int, c_void};
use core::mem::MaybeUninit;

use tracewell_record::threadx::{Context, Entry, Info, Isr, Object, Options};
use tracewell_wire::ByteOrder;
use tracewell_wire::threadx::Width;

use crate::boundary::{Placed, array, guard, memory, non_null, put, text};
use crate::clock::{CallerClock, truth, tw_clock};
use crate::code::{Code, TW_INVALID, TW_NOTHING, TW_OK};
use block::{Block, Host, Notify, Objects, Recorder};

/// The control block of a ThreadX trace. Its words are private.
///
/// The storage must be static or filled with zeros, and initialised by `tw_threadx_init` before
/// use.
#[repr(C)]
pub struct tw_threadx {
    words: [MaybeUninit<u64>; 40],
}

/// Context of a thread, including its service calls.
pub const TW_THREAD: u8 = 0;
/// Context of an interrupt service routine.
pub const TW_INTERRUPT: u8 = 1;
/// Context of initialisation, before the scheduler starts.
pub const TW_INITIALIZATION: u8 = 2;

/// The context that records an event.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct tw_threadx_context {
    /// Address of the thread's control block, not 0. In an interrupt: address of the interrupted
    /// thread's control block, or 0 if no thread was interrupted.
    pub address: u64,
    /// Current priority of the thread, 0 to 1023.
    pub priority: u16,
    /// Preemption threshold of the thread; its priority if it has none.
    pub threshold: u16,
    /// TW_THREAD, TW_INTERRUPT or TW_INITIALIZATION.
    pub kind: u8,
    /// Number of the recording core, counted from 0.
    pub core: u8,
}

/// A kernel object: its address, name, kind and parameters.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct tw_threadx_object {
    /// Address of the object's control block.
    pub pointer: u64,
    /// Null-terminated name in any encoding; null for none. It is copied.
    pub name: *const c_char,
    /// First parameter: a thread's stack start, a timer's initial ticks, a semaphore's initial
    /// count, the size of a queue or pool in bytes, or 1 for a mutex with priority inheritance.
    pub parameter1: u64,
    /// Second parameter: a thread's stack size in bytes, a timer's reschedule ticks, a queue's
    /// words per message, or the size of a pool's blocks in bytes.
    pub parameter2: u64,
    /// Priority, for a thread.
    pub priority: u16,
    /// 1 thread, 2 timer, 3 queue, 4 semaphore, 5 mutex, 6 event flags, 7 block pool, 8 byte pool.
    pub kind: u8,
}

/// The position of a recorded event, for `tw_threadx_patch`.
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

/// Called whenever the ring wraps, from within the call that recorded the last event.
///
/// `trace` represents the trace during this call only. Use it instead of the control block to
/// record, filter or disable.
pub type tw_threadx_notify = Option<extern "C" fn(trace: *mut tw_threadx, context: *mut c_void)>;

/// Runs `work` on a trace, and returns the result of `work` to C.
#[inline]
fn with(
    trace: Option<&mut tw_threadx>,
    work: impl FnOnce(&mut dyn Recorder) -> Result<(), Code>,
) -> c_int {
    // SAFETY: the storage is zeroed, was initialised by `tw_threadx_init` (see `tw_threadx`), or is
    // the temporary control block of a notification, which C uses only during the notification.
    guard(|| work(unsafe { Placed::<Block>::get(non_null(trace)?)? }.recorder()))
}

/// Does the same as [`with`], and passes the context of the caller to `work`.
#[inline]
fn with_context(
    trace: Option<&mut tw_threadx>,
    context: Option<&tw_threadx_context>,
    work: impl FnOnce(&mut dyn Recorder, Context) -> Result<(), Code>,
) -> c_int {
    with(trace, |trace| work(trace, non_null(context)?.context()?))
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
    /// * The name must be null or null-terminated.
    unsafe fn object(&self) -> Object<'_> {
        // SAFETY: guaranteed by the caller (see `# Safety`); the name outlives the structure that
        // points to it.
        let name = unsafe { text(self.name) };
        let object = Object::new(self.kind, self.pointer, name, [self.parameter1, self.parameter2]);
        Object { priority: self.priority, ..object }
    }
}

/// Words in this machine's byte order.
pub const TW_NATIVE: u8 = 0;
/// Words in little-endian order.
pub const TW_LITTLE: u8 = 1;
/// Words in big-endian order.
pub const TW_BIG: u8 = 2;

/// The kind of target that an image is built for. If all fields are 0, the defaults apply.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct tw_threadx_layout {
    /// Address of the image in the target; 0 selects the real address. The header contains this
    /// address.
    pub base_address: u64,
    /// Size of a registry name in bytes; 0 selects 32. TraceX rejects 64 and more.
    pub name_size: u16,
    /// Word size in bits: 32, or 64, which TraceX cannot read. 0 selects 32, the size of `ULONG` on
    /// nearly every port. Addresses and numbers are truncated to this size.
    pub width: u8,
    /// Byte order: TW_NATIVE, TW_LITTLE or TW_BIG.
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

/// Initialises a control block, with tracing off, for 32-bit words in this machine's byte order.
/// Must not be called for a trace that is on.
///
/// Ownership: the caller keeps `trace`, which must not move and need not be freed. `clock` is
/// copied, and the memory of its context must outlive the trace. Errors: TW_NULL. Safe in a signal
/// handler or interrupt.
#[unsafe(no_mangle)]
pub extern "C" fn tw_threadx_init(
    trace: Option<&mut MaybeUninit<tw_threadx>>,
    clock: Option<&tw_clock>,
) -> c_int {
    tw_threadx_init_for(trace, clock, Some(&tw_threadx_layout::USUAL))
}

/// Initialises a control block, with tracing off, for another kind of target.
///
/// Ownership and safety are as for `tw_threadx_init`; `layout` is copied. Errors: TW_NULL;
/// TW_INVALID for an invalid word size or byte order.
#[unsafe(no_mangle)]
pub extern "C" fn tw_threadx_init_for(
    trace: Option<&mut MaybeUninit<tw_threadx>>,
    clock: Option<&tw_clock>,
    layout: Option<&tw_threadx_layout>,
) -> c_int {
    guard(|| {
        let layout = non_null(layout)?;
        let (order, width) = layout.target()?;
        let usual_mask = if width == Width::Bits32 { 0xFFFF_FFFF } else { u64::MAX };
        let clock = CallerClock::new(*non_null(clock)?, usual_mask);
        let host = Host { clock, options: layout.options(), notify: None };
        Placed::put(non_null(trace)?, Block::new(host, order, width));
        Ok(())
    })
}

/// Switches tracing on in the given memory and records two RUNNING events (`tx_trace_enable`).
///
/// The memory holds a header of 48 bytes, 48 bytes per registry slot, and 32 bytes per event.
/// Between two calls the memory is always an image that TraceX can read: save it as a `.trx` file.
///
/// Ownership: the trace owns the memory until `tw_threadx_disable`; the existing objects in
/// `objects` are copied. Errors: TW_NULL, TW_NOT_INITIALISED, TW_TOO_SMALL, TW_INVALID; TW_NOT_DONE
/// if tracing is already on. Safe in an interrupt if no other call can be in progress.
///
/// # Safety
/// * `memory` must point to `size` bytes that are not used for anything else until the trace is
///   disabled.
/// * `objects` must point to `object_count` objects, whose names must be null or null-terminated.
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
        // SAFETY: guaranteed by the caller (first point of `# Safety`); the recorder keeps the
        // memory until `disable` at most.
        let memory = unsafe { self::memory(memory.cast(), size)? };
        // SAFETY: guaranteed by the caller (second point of `# Safety`).
        let objects = unsafe { array(objects, object_count)? };
        // SAFETY: as above.
        let objects: Objects<'_> = objects.iter().map(|object| unsafe { object.object() });
        trace.enable(memory, registry_slots, objects, context)
    })
}

/// Switches tracing off (`tx_trace_disable`).
///
/// Ownership: the memory belongs to the caller again and holds the complete image. Errors: TW_NULL,
/// TW_NOT_INITIALISED; TW_NOT_DONE if tracing is already off. Safe in an interrupt if no other call
/// can be in progress.
#[unsafe(no_mangle)]
pub extern "C" fn tw_threadx_disable(trace: Option<&mut tw_threadx>) -> c_int {
    with(trace, |trace| trace.disable())
}

/// Returns 1 if tracing is on, 0 if it is off, or an error.
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

/// Sets the function to call whenever the ring wraps; null for none
/// (`tx_trace_buffer_full_notify`).
///
/// Ownership: the memory of `notify_context` must stay valid while the function is set. Errors:
/// TW_NULL, TW_NOT_INITIALISED. Safe in an interrupt if no other call can be in progress.
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

/// Stops recording some classes of events (`tx_trace_event_filter`). `classes` is any combination
/// of ThreadX's `TX_TRACE_..._EVENTS`.
///
/// Ownership: none. Errors: TW_NULL, TW_NOT_INITIALISED. Safe in an interrupt if no other call can
/// be in progress.
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
/// be in progress.
#[unsafe(no_mangle)]
pub extern "C" fn tw_threadx_event_unfilter(trace: Option<&mut tw_threadx>, classes: u32) -> c_int {
    with(trace, |trace| {
        trace.event_unfilter(classes);
        Ok(())
    })
}

/// Registers an object, so that readers can show its name instead of its address
/// (`tx_trace_object_register`).
///
/// Ownership: the object and its name are copied. Errors: TW_NULL, TW_NOT_INITIALISED; TW_NOTHING
/// if tracing is off or the registry is full. Safe in an interrupt if no other call can be in
/// progress.
///
/// # Safety
/// * The object's name must be null or null-terminated.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tw_threadx_register(
    trace: Option<&mut tw_threadx>,
    object: Option<&tw_threadx_object>,
) -> c_int {
    with(trace, |trace| {
        // SAFETY: guaranteed by the caller (see `# Safety`).
        let object = unsafe { non_null(object)?.object() };
        trace.register(&object).map(|_| ()).ok_or(Code(TW_NOTHING))
    })
}

/// Marks an object as deleted (`tx_trace_object_unregister`). The object's name is kept until its
/// slot is reused.
///
/// Ownership: none. Errors: TW_NULL, TW_NOT_INITIALISED; TW_NOTHING if no object has the address.
/// Safe in an interrupt if no other call can be in progress.
#[unsafe(no_mangle)]
pub extern "C" fn tw_threadx_unregister(trace: Option<&mut tw_threadx>, pointer: u64) -> c_int {
    with(trace, |trace| trace.unregister(pointer).map(|_| ()).ok_or(Code(TW_NOTHING)))
}

/// Records an event of the kernel: its id, four information words, and the bit of its class.
///
/// `entry` receives the position for `tw_threadx_patch`, and may be null.
///
/// Ownership: the caller keeps `entry`. Errors: TW_NULL, TW_NOT_INITIALISED, TW_INVALID; TW_NOTHING
/// if tracing is off or the class is filtered out. Safe in an interrupt if no other call can be in
/// progress.
///
/// # Safety
/// * `info` must point to 4 numbers.
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
        // SAFETY: guaranteed by the caller (see `# Safety`).
        let info = unsafe { array(info, 4)? };
        let info = *info.first_chunk().ok_or(Code(TW_INVALID))?;
        let found = trace.insert(context, id, info, class_bit).ok_or(Code(TW_NOTHING))?;
        put(entry, found.into());
        Ok(())
    })
}

/// Replaces one of the information words 1 to 4 of an event, if its slot still holds the event.
///
/// Ownership: none. Errors: TW_NULL, TW_NOT_INITIALISED; TW_INVALID for any other number;
/// TW_NOTHING if the event was overwritten. Safe in an interrupt if no other call can be in
/// progress.
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
        let patched = trace.patch((*non_null(entry)?).into(), info, value);
        patched.then_some(()).ok_or(Code(TW_NOTHING))
    })
}

/// Records an event of the application (`tx_trace_user_event_insert`) with an id from 4096 to
/// 65535. It is not an error if the event is filtered out.
///
/// Ownership: none. Errors: TW_NULL, TW_NOT_INITIALISED, TW_INVALID; TW_NOT_DONE if tracing is off.
/// Safe in an interrupt if no other call can be in progress.
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

/// The arguments of the events at the start and end of an interrupt service routine.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct tw_threadx_isr {
    /// The number of the routine, chosen by the application.
    pub number: u64,
    /// An address on the stack that the routine uses.
    pub stack: u64,
    /// The kernel's system state: the nesting depth on most ports.
    pub system_state: u64,
    /// The kernel's preemption-disable count.
    pub preempt_disable: u64,
}

impl From<tw_threadx_isr> for Isr {
    fn from(isr: tw_threadx_isr) -> Self {
        let tw_threadx_isr { number, stack, system_state, preempt_disable } = isr;
        Self { number, stack, system_state, preempt_disable }
    }
}

/// Records the start of an interrupt service routine (`tx_trace_isr_enter_insert`). If tracing is
/// off, does nothing and returns TW_OK.
///
/// Ownership: none. Errors: TW_NULL, TW_NOT_INITIALISED, TW_INVALID. Safe in an interrupt if no
/// other call can be in progress.
#[unsafe(no_mangle)]
pub extern "C" fn tw_threadx_isr_enter(
    trace: Option<&mut tw_threadx>,
    context: Option<&tw_threadx_context>,
    isr: Option<&tw_threadx_isr>,
) -> c_int {
    with_context(trace, context, |trace, context| {
        trace.isr_enter(context, (*non_null(isr)?).into());
        Ok(())
    })
}

/// Records the end of an interrupt service routine (`tx_trace_isr_exit_insert`).
///
/// Ownership: none. Errors: as `tw_threadx_isr_enter`. Safe in an interrupt if no other call can be
/// in progress.
#[unsafe(no_mangle)]
pub extern "C" fn tw_threadx_isr_exit(
    trace: Option<&mut tw_threadx>,
    context: Option<&tw_threadx_context>,
    isr: Option<&tw_threadx_isr>,
) -> c_int {
    with_context(trace, context, |trace, context| {
        trace.isr_exit(context, (*non_null(isr)?).into());
        Ok(())
    })
}
