//! The trace control block: enabling, disabling, filters, and the notification of a full buffer.
//!
//! `insert.rs` records events, and `registry.rs` chooses registry slots.

use core::mem;

use tracewell_wire::threadx::Header;
use tracewell_wire::threadx::ids::{self, class};

use super::object::in_enable_order;
use super::options::{Sections, layout_of};
use super::registry::Registry;
use super::ring::Ring;
use super::{Context, Native32, Object, Options, Status, Target};
use crate::Refused;
use crate::clock::Clock;

/// A function that is called after each wrap of the ring, from within the recording call. See
/// [`Trace::buffer_full_notify`].
pub type FullNotify<'m, C, T = Native32> = fn(&mut Trace<'m, C, T>);

/// A ThreadX event trace, which records between [`Trace::enable`] and [`Trace::disable`].
///
/// `C` is the clock. The caller can keep other state in it: a [`FullNotify`] accesses it with
/// [`Trace::clock`]. `T` is the target, which determines the byte order and word size of the image.
///
/// No call allocates or blocks. [`Trace::enable`] writes to every slot once. [`Trace::register`]
/// and [`Trace::unregister`] examine every registry slot in the worst case. All other calls take
/// constant time.
pub struct Trace<'m, C, T: Target = Native32> {
    /// Empty while tracing is off.
    pub(super) memory: &'m mut [u8],
    /// The classes that are recorded; 0 while tracing is off, so that a recording call needs only
    /// one test.
    pub(super) enabled: u32,
    pub(super) ring: Ring,
    pub(super) registry: Option<Registry>,
    pub(super) clock: C,
    pub(super) full_notify: Option<FullNotify<'m, C, T>>,
}

impl<'m, C: Clock, T: Target> Trace<'m, C, T> {
    /// Creates a control block for the target `T`, with tracing off and without notification.
    ///
    /// ```
    /// use tracewell_record::clock::EventCounter;
    /// use tracewell_record::threadx::{Big32, Trace};
    ///
    /// let trace = Trace::<_, Big32>::for_target(EventCounter::default());
    /// assert!(!trace.is_on());
    /// ```
    pub fn for_target(clock: C) -> Self {
        Self {
            memory: &mut [],
            enabled: 0,
            ring: Ring::NONE,
            registry: None,
            clock,
            full_notify: None,
        }
    }

    /// Switches tracing on in `memory` and records two RUNNING events (`tx_trace_enable`).
    ///
    /// Initialises the whole memory. Recording starts with all classes. Registers the `existing`
    /// objects by type: threads, timers, event flags, queues, semaphores, mutexes, block pools,
    /// byte pools. Omits other types. Within a type the objects keep their order, which should be
    /// the order of their creation. As in the kernel, some parameters differ from the parameters at
    /// creation. A timer's initial ticks, a semaphore's initial count and a block pool's block size
    /// become 0. A queue's size becomes its capacity in messages times the size of a word, and its
    /// message size becomes 0.
    ///
    /// With a single event slot, the second RUNNING event replaces the first, and the notification
    /// is called twice. A registry without slots is allowed here, but TraceX rejects it.
    ///
    /// # Errors
    /// Fails with [`Status::SizeError`] if `memory` is too small for the header, `registry_slots`
    /// slots and one event. Otherwise, fails with [`Status::NotDone`] if tracing is already on.
    /// After an error, the trace is unchanged.
    pub fn enable<'o, I>(
        &mut self,
        memory: &'m mut [u8],
        registry_slots: usize,
        options: &Options,
        existing: I,
        context: Context,
    ) -> Result<(), Refused<'m, Status>>
    where
        I: IntoIterator<Item = Object<'o>, IntoIter: Clone>,
    {
        let layout = layout_of::<T>(options.name_size);
        let sections = match Sections::fit(memory.len(), layout, registry_slots) {
            Ok(sections) => sections,
            Err(reason) => return Err(Refused { reason, memory }),
        };
        if self.is_on() {
            return Err(Refused { reason: Status::NotDone, memory });
        }
        // Without a given address, the pointers in the dump are addresses of this process.
        let base = options.base_address.unwrap_or(memory.as_ptr().addr() as u64);
        let mut registry = Registry::initialise(memory, layout, sections.registry, registry_slots);
        self.ring = Ring::initialise::<T>(memory, sections, base);
        // `Sections::fit` has checked the size, so the header fits.
        let _ = header_of(sections, base, self.clock.valid_mask()).write(layout, memory);
        for object in in_enable_order(existing.into_iter()) {
            let object = object.as_enable_stores_it(T::WIDTH.bytes() as u64);
            registry.register(memory, &object);
        }
        self.registry = Some(registry);
        self.memory = memory;
        // `insert` drops events of disabled classes, so enable all classes first.
        self.enabled = class::ALL;
        for _ in 0..2 {
            self.insert(context, u32::from(ids::RUNNING), [0; 4], class::INTERNAL);
        }
        Ok(())
    }

    /// Switches tracing off and returns the memory, which holds a complete image
    /// (`tx_trace_disable`).
    ///
    /// The notification remains set. The caller can enable tracing again, in this memory or
    /// another, even from within the notification.
    ///
    /// # Errors
    /// Returns [`Status::NotDone`] if tracing is off.
    pub fn disable(&mut self) -> Result<&'m mut [u8], Status> {
        if !self.is_on() {
            return Err(Status::NotDone);
        }
        self.enabled = 0;
        self.ring = Ring::NONE;
        self.registry = None;
        Ok(mem::take(&mut self.memory))
    }

    /// Returns true if tracing is on.
    #[inline]
    pub fn is_on(&self) -> bool {
        !self.memory.is_empty()
    }

    /// Returns the image, which is empty while tracing is off.
    pub fn image(&self) -> &[u8] {
        self.memory
    }

    /// Returns the clock, and any other state that the caller keeps in it.
    pub fn clock(&mut self) -> &mut C {
        &mut self.clock
    }

    /// Sets or removes the function that is called after each wrap
    /// (`tx_trace_buffer_full_notify`).
    ///
    /// The trace calls `notify` whenever an event has filled the last slot, after resetting
    /// `buffer_current` to slot 0. `notify` runs within the call that recorded the event, possibly
    /// in an interrupt. `notify` can read the image, record events (into slot 0 and the following
    /// slots), and disable or re-enable the trace. Recording continues unless `notify` disables the
    /// trace. If `notify` records as many events as there are slots, it recurses endlessly, as in
    /// the kernel.
    ///
    /// The notification can also be set or removed while tracing is off.
    pub fn buffer_full_notify(&mut self, notify: Option<FullNotify<'m, C, T>>) {
        self.full_notify = notify;
    }

    /// Stops recording the classes whose bits are set (`tx_trace_event_filter`); see
    /// [`tracewell_wire::threadx::ids::class`].
    ///
    /// The filter remains in effect until the next [`Trace::enable`], which starts with all
    /// classes. It has no effect while tracing is off. Without [`class::INTERNAL`], the trace does
    /// not show which thread ran.
    pub fn event_filter(&mut self, classes: u32) {
        self.enabled &= !classes;
    }

    /// Resumes recording the classes whose bits are set (`tx_trace_event_unfilter`).
    pub fn event_unfilter(&mut self, classes: u32) {
        if self.is_on() {
            self.enabled |= classes;
        }
    }

    /// Stores an object's address and name in the registry (`tx_trace_object_register`). Returns
    /// the index of its slot.
    ///
    /// Returns `None` if tracing is off or no slot is available; the address then has no name.
    /// Examines every slot in the worst case.
    pub fn register(&mut self, object: &Object<'_>) -> Option<usize> {
        self.registry.as_mut()?.register(self.memory, object)
    }

    /// Marks an object as deleted (`tx_trace_object_unregister`). The first slot with its address
    /// becomes available, but keeps its name until another object gets the slot. Returns the index
    /// of that slot.
    pub fn unregister(&mut self, pointer: u64) -> Option<usize> {
        self.registry.as_mut()?.unregister(self.memory, pointer)
    }
}

impl<C: Clock> Trace<'_, C> {
    /// Creates a control block for 32-bit words in this machine's byte order, with tracing off and
    /// without notification.
    pub fn new(clock: C) -> Self {
        Self::for_target(clock)
    }
}

fn header_of(sections: Sections, base: u64, timer_valid_mask: u64) -> Header {
    let address = |offset: usize| base.wrapping_add(offset as u64);
    Header {
        timer_valid_mask,
        trace_base_address: base,
        registry_start: address(sections.registry),
        registry_end: address(sections.events),
        buffer_start: address(sections.events),
        buffer_end: address(sections.events_end),
        buffer_current: address(sections.events),
        reserved1: 0,
        reserved: Header::RESERVED,
    }
}
