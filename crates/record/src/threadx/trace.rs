//! The trace control block: on, off, filters and the notification of a full buffer.
//!
//! Not here: recording (`insert.rs`), the choice of registry slots (`registry.rs`).

use core::mem;

use tracewell_wire::threadx::Header;
use tracewell_wire::threadx::ids::{self, class};

use super::object::in_enable_order;
use super::options::{Sections, layout_of};
use super::registry::Registry;
use super::ring::Ring;
use super::{Context, Native32, Object, Options, Refused, Status, Target};
use crate::clock::Clock;

/// Called after each wrap of the ring, from inside the recording call: see
/// [`Trace::buffer_full_notify`].
pub type FullNotify<'m, C, T = Native32> = fn(&mut Trace<'m, C, T>);

/// A ThreadX event trace: on between [`Trace::enable`] and [`Trace::disable`].
///
/// `C` is the clock; the caller may keep other state in it, which a [`FullNotify`] reaches by
/// [`Trace::clock`]. `T` says for which kind of target the image is made.
///
/// No call allocates or blocks. [`Trace::enable`] touches every slot once; [`Trace::register`] and
/// [`Trace::unregister`] look at every registry slot at worst; everything else takes constant time.
pub struct Trace<'m, C, T: Target = Native32> {
    /// Empty while tracing is off.
    pub(super) memory: &'m mut [u8],
    /// The enable word while tracing is on, 0 while it is off: recording asks one question.
    pub(super) enabled: u32,
    pub(super) ring: Ring,
    pub(super) registry: Option<Registry>,
    pub(super) clock: C,
    pub(super) full_notify: Option<FullNotify<'m, C, T>>,
}

impl<'m, C: Clock, T: Target> Trace<'m, C, T> {
    /// A control block for the target `T`, off and without notification.
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
    /// The memory is initialised as a whole; every class is recorded from now on. The `existing`
    /// objects are registered by type (threads, timers, event flags, queues, semaphores, mutexes,
    /// block pools, byte pools), those of one type in the order given, which should be that of
    /// their creation; other types are left out. As in the kernel, some of their parameters are
    /// not those of their creation: a timer's initial ticks become 0, a queue's parameters its
    /// capacity in messages times the size of a word and 0, a semaphore's initial count 0, a block
    /// pool's block size 0.
    ///
    /// With one event slot the second RUNNING replaces the first, and the notification comes
    /// twice. A registry of no slots is allowed here and refused by TraceX.
    ///
    /// # Errors
    /// In this order: [`Status::SizeError`] where `memory` does not hold the header,
    /// `registry_slots` slots and one event; [`Status::NotDone`] where tracing is on already.
    /// Nothing was changed then.
    pub fn enable<'o, I>(
        &mut self,
        memory: &'m mut [u8],
        registry_slots: usize,
        options: &Options,
        existing: I,
        context: Context,
    ) -> Result<(), Refused<'m>>
    where
        I: IntoIterator<Item = Object<'o>, IntoIter: Clone>,
    {
        let layout = layout_of::<T>(options.name_size);
        let sections = match Sections::fit(memory.len(), layout, registry_slots) {
            Ok(sections) => sections,
            Err(status) => return Err(Refused { status, memory }),
        };
        if self.is_on() {
            return Err(Refused { status: Status::NotDone, memory });
        }
        let base = options.base_address.unwrap_or(memory.as_ptr().addr() as u64);
        let mut registry = Registry::initialise(memory, layout, sections.registry, registry_slots);
        self.ring = Ring::initialise::<T>(memory, sections, base);
        let _ = header_of(sections, base, self.clock.valid_mask()).write(layout, memory);
        for object in in_enable_order(existing.into_iter()) {
            let object = object.as_enable_finds_it(T::WIDTH.bytes() as u64);
            registry.register(memory, &object);
        }
        self.registry = Some(registry);
        self.memory = memory;
        self.enabled = class::ALL;
        for _ in 0..2 {
            self.insert(context, u32::from(ids::RUNNING), [0; 4], class::INTERNAL);
        }
        Ok(())
    }

    /// Switches tracing off and gives the memory back, a complete image (`tx_trace_disable`).
    ///
    /// The notification stays set. Tracing may be enabled again, in this memory or another, even
    /// from inside the notification.
    ///
    /// # Errors
    /// [`Status::NotDone`] where tracing is off.
    pub fn disable(&mut self) -> Result<&'m mut [u8], Status> {
        if !self.is_on() {
            return Err(Status::NotDone);
        }
        self.enabled = 0;
        self.ring = Ring::NONE;
        self.registry = None;
        Ok(mem::take(&mut self.memory))
    }

    /// Whether tracing is on.
    #[inline]
    pub fn is_on(&self) -> bool {
        !self.memory.is_empty()
    }

    /// The image while tracing is on, empty while it is off.
    pub fn image(&self) -> &[u8] {
        self.memory
    }

    /// The clock, and what else the caller keeps with it.
    pub fn clock(&mut self) -> &mut C {
        &mut self.clock
    }

    /// Sets or removes what is called after each wrap (`tx_trace_buffer_full_notify`).
    ///
    /// It is called every time an event filled the last slot, not only the first time; after
    /// `buffer_current` was set back to slot 0; from inside the call that recorded the event, so
    /// in its context, which may be an interrupt. It may read the image, record events, which go to
    /// slot 0 and on, and disable or re-enable the trace. Recording goes on unless it does. One
    /// that records as many events as there are slots calls itself without end, as in the kernel.
    ///
    /// Allowed while tracing is on and while it is off.
    pub fn buffer_full_notify(&mut self, notify: Option<FullNotify<'m, C, T>>) {
        self.full_notify = notify;
    }

    /// Stops recording the classes whose bits are set (`tx_trace_event_filter`); see
    /// [`tracewell_wire::threadx::ids::class`].
    ///
    /// Holds until the next [`Trace::enable`], which starts with all classes; so it has no effect
    /// while tracing is off. Filtering [`class::INTERNAL`] takes away what tells which thread ran.
    pub fn event_filter(&mut self, classes: u32) {
        self.enabled &= !classes;
    }

    /// Records the classes whose bits are set again (`tx_trace_event_unfilter`).
    pub fn event_unfilter(&mut self, classes: u32) {
        if self.is_on() {
            self.enabled |= classes;
        }
    }

    /// Gives an object's address a name (`tx_trace_object_register`); which registry slot it got.
    ///
    /// `None` where tracing is off or the registry has no slot to give; the trace goes on with an
    /// address that has no name. Looks at every slot at worst.
    pub fn register(&mut self, object: &Object<'_>) -> Option<usize> {
        self.registry.as_mut()?.register(self.memory, object)
    }

    /// Says that an object was deleted (`tx_trace_object_unregister`): the first slot with its
    /// address may be taken by another, but keeps its name until then. Which slot that was.
    pub fn unregister(&mut self, pointer: u64) -> Option<usize> {
        self.registry.as_mut()?.unregister(self.memory, pointer)
    }
}

impl<C: Clock> Trace<'_, C> {
    /// A control block for 32-bit words in this machine's byte order, off and without
    /// notification.
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
