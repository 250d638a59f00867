//! The context of an event: its first two words, and the core.
//!
//! The words are computed when the context is created, not when an event is recorded. A kernel can
//! therefore keep the context of its running thread, and pass it to every event at no cost.
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
    /// Initialization, before the scheduler starts (system state 0xF0F0F0F0 and above).
    pub const INITIALIZATION: Self = Self { word0: context::INITIALIZATION, word1: 0, core: 0 };

    /// A thread, running its own code or a service that it called.
    ///
    /// `address` is the address of its control block. It must not be 0, which marks an unused slot.
    /// `priority` is the current priority, which may be inherited. `threshold` is the preemption
    /// threshold. Both are in `0..=1023`. For a thread without threshold, pass the priority twice.
    pub const fn thread(address: u64, priority: u16, threshold: u16) -> Self {
        Self { word0: address, word1: PriorityWord::of_thread(priority, threshold), core: 0 }
    }

    /// An interrupt service routine. `interrupted` is the address of the interrupted thread, or 0
    /// if the core was idle.
    pub const fn interrupt(interrupted: u64) -> Self {
        Self { word0: context::INTERRUPT, word1: interrupted, core: 0 }
    }

    /// Returns the same context on the given core; the default is core 0. Events store the core in
    /// bits 24-31 of their id word.
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
