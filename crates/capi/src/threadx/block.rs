//! The content of a ThreadX control block: a recorder for one of four kinds of targets. When C is
//! notified of a wrap, it gets a temporary control block, which contains a pointer to the recorder.
//!
//! Unsafe: C gets a pointer to a recorder while a call on it is in progress.
#![allow(unsafe_code)]

use core::ffi::c_void;
use core::mem::MaybeUninit;

use tracewell_record::clock::Clock;
use tracewell_record::threadx::{
    Big32, Big64, Context, Entry, Info, Isr, Little32, Little64, Object, Options, Target, Trace,
};
use tracewell_wire::ByteOrder;
use tracewell_wire::threadx::Width;

use super::{tw_threadx, tw_threadx_object};
use crate::boundary::Placed;
use crate::clock::CallerClock;
use crate::code::Code;

/// The clock, the options and the callback of a trace in C.
pub(super) struct Host {
    pub(super) clock: CallerClock,
    pub(super) options: Options,
    pub(super) notify: Option<Notify>,
}

/// The function to call when a ring wraps.
#[derive(Clone, Copy)]
pub(super) struct Notify {
    pub(super) function: extern "C" fn(*mut tw_threadx, *mut c_void),
    pub(super) context: *mut c_void,
}

impl Clock for Host {
    #[inline]
    fn ticks(&mut self) -> u64 {
        self.clock.ticks()
    }

    fn valid_mask(&self) -> u64 {
        self.clock.valid_mask()
    }
}

type Ring<T> = Trace<'static, Host, T>;

/// The content of a `tw_threadx`.
pub(super) enum Block {
    Little32(Ring<Little32>),
    Big32(Ring<Big32>),
    Little64(Ring<Little64>),
    Big64(Ring<Big64>),
    /// The content of the temporary control block: the recorder whose call is in progress.
    Lent(*mut dyn Recorder),
}

impl Block {
    pub(super) fn new(host: Host, order: ByteOrder, width: Width) -> Self {
        match (order, width) {
            (ByteOrder::Little, Width::Bits32) => Self::Little32(Trace::for_target(host)),
            (ByteOrder::Big, Width::Bits32) => Self::Big32(Trace::for_target(host)),
            (ByteOrder::Little, Width::Bits64) => Self::Little64(Trace::for_target(host)),
            (ByteOrder::Big, Width::Bits64) => Self::Big64(Trace::for_target(host)),
        }
    }

    #[inline]
    pub(super) fn recorder(&mut self) -> &mut dyn Recorder {
        match self {
            Self::Little32(ring) => ring,
            Self::Big32(ring) => ring,
            Self::Little64(ring) => ring,
            Self::Big64(ring) => ring,
            // SAFETY: C code can use this block only during the notification of a wrap. During that
            // time `notify_wrap` does not use the recorder.
            Self::Lent(recorder) => unsafe { &mut **recorder },
        }
    }
}

/// The objects passed by C. Each iteration converts them again.
pub(super) type Objects<'o> = core::iter::Map<
    core::slice::Iter<'o, tw_threadx_object>,
    fn(&'o tw_threadx_object) -> Object<'o>,
>;

/// The functions of [`Trace`] for all kinds of targets, with C's error codes.
pub(super) trait Recorder {
    fn enable(
        &mut self,
        memory: &'static mut [u8],
        registry_slots: usize,
        objects: Objects<'_>,
        context: Context,
    ) -> Result<(), Code>;
    fn disable(&mut self) -> Result<(), Code>;
    fn is_on(&self) -> bool;
    fn set_notify(&mut self, notify: Option<Notify>);
    fn event_filter(&mut self, classes: u32);
    fn event_unfilter(&mut self, classes: u32);
    fn register(&mut self, object: &Object<'_>) -> Option<usize>;
    fn unregister(&mut self, pointer: u64) -> Option<usize>;
    fn insert(&mut self, context: Context, id: u32, info: [u64; 4], class: u32) -> Option<Entry>;
    fn patch(&mut self, entry: Entry, info: Info, value: u64) -> bool;
    fn user_event(&mut self, context: Context, id: u32, info: [u64; 4]) -> Result<(), Code>;
    fn isr_enter(&mut self, context: Context, isr: Isr);
    fn isr_exit(&mut self, context: Context, isr: Isr);
}

impl<T: Target + 'static> Recorder for Ring<T> {
    fn enable(
        &mut self,
        memory: &'static mut [u8],
        registry_slots: usize,
        objects: Objects<'_>,
        context: Context,
    ) -> Result<(), Code> {
        let options = self.clock().options;
        let enabled = Trace::enable(self, memory, registry_slots, &options, objects, context);
        enabled.map_err(|refused| refused.reason.into())
    }

    fn disable(&mut self) -> Result<(), Code> {
        Ok(Trace::disable(self).map(|_| ())?)
    }

    fn is_on(&self) -> bool {
        Trace::is_on(self)
    }

    fn set_notify(&mut self, notify: Option<Notify>) {
        self.clock().notify = notify;
        self.buffer_full_notify(notify.map(|_| notify_wrap as fn(&mut Self)));
    }

    fn event_filter(&mut self, classes: u32) {
        Trace::event_filter(self, classes);
    }

    fn event_unfilter(&mut self, classes: u32) {
        Trace::event_unfilter(self, classes);
    }

    fn register(&mut self, object: &Object<'_>) -> Option<usize> {
        Trace::register(self, object)
    }

    fn unregister(&mut self, pointer: u64) -> Option<usize> {
        Trace::unregister(self, pointer)
    }

    fn insert(&mut self, context: Context, id: u32, info: [u64; 4], class: u32) -> Option<Entry> {
        Trace::insert(self, context, id, info, class)
    }

    fn patch(&mut self, entry: Entry, info: Info, value: u64) -> bool {
        Trace::patch(self, entry, info, value)
    }

    fn user_event(&mut self, context: Context, id: u32, info: [u64; 4]) -> Result<(), Code> {
        Ok(Trace::user_event(self, context, id, info)?)
    }

    fn isr_enter(&mut self, context: Context, isr: Isr) {
        Trace::isr_enter(self, context, isr);
    }

    fn isr_exit(&mut self, context: Context, isr: Isr) {
        Trace::isr_exit(self, context, isr);
    }
}

/// Notifies C code of a wrap. The function in C gets a temporary control block, because a recording
/// call is using the real one.
fn notify_wrap<T: Target + 'static>(ring: &mut Ring<T>) {
    let Some(Notify { function, context }) = ring.clock().notify else { return };
    let mut storage = MaybeUninit::<tw_threadx>::uninit();
    Placed::put(&mut storage, Block::Lent(core::ptr::from_mut(ring)));
    function(storage.as_mut_ptr(), context);
}
