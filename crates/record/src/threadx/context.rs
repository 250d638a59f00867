//! Who records an event: the first two words of it, and the core.
//!
//! The words are computed when the context is made, not when an event is recorded, so that a
//! kernel may keep its running thread's context and pay nothing per event.
//!
//! Source: the insert macro of `tx_trace.h`, public Eclipse ThreadX repository.

use tracewell_wire::threadx::{PriorityWord, context};

/// The context of an event, ready to be stored.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Context {
    pub(super) word0: u64,
    pub(super) word1: u64,
    pub(super) core: u64,
}

impl Context {
    /// Before the scheduler started (system state 0xF0F0F0F0 and above).
    pub const INITIALIZATION: Self = Self { word0: context::INITIALIZATION, word1: 0, core: 0 };

    /// A thread's own code or a service it called.
    ///
    /// `address` is that of its control block: not 0, which marks an unused slot. `priority` is the
    /// current, possibly inherited one; both it and the preemption `threshold` range over
    /// `0..=1023`. A thread without threshold passes its priority twice.
    pub const fn thread(address: u64, priority: u16, threshold: u16) -> Self {
        Self { word0: address, word1: PriorityWord::of_thread(priority, threshold), core: 0 }
    }

    /// An interrupt service routine that interrupted the thread at this address; 0 where the
    /// system, or on several cores this core, was idle.
    pub const fn interrupt(interrupted: u64) -> Self {
        Self { word0: context::INTERRUPT, word1: interrupted, core: 0 }
    }

    /// The same context on a core other than 0; goes to bits 24-31 of the event's id word.
    ///
    /// ```
    /// use tracewell_record::threadx::Context;
    ///
    /// let idle_core_3 = Context::interrupt(0).on_core(3);
    /// assert_ne!(idle_core_3, Context::interrupt(0));
    /// ```
    #[must_use]
    pub const fn on_core(self, core: u8) -> Self {
        Self { core: (core as u64) << 24, ..self }
    }
}
