//! Records events. `insert` records any event. Other functions record the events that have special
//! rules.
//!
//! The kernel decides which events its services record, and when. `schemas/threadx.toml` lists the
//! ids and their arguments.

use tracewell_wire::threadx::ids::{self, class};

use super::ring::{Entry, Info, Ring};
use super::{Context, Status, Target, Trace};
use crate::clock::Clock;

/// The information words of the events at the start and the end of an interrupt service routine.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Isr {
    /// Number of the routine, chosen by the application.
    pub number: u64,
    /// Current address on the stack that the routine uses.
    pub stack: u64,
    /// The kernel's system state. On most ports, this is the number of interrupts in progress.
    pub system_state: u64,
    /// The kernel's preemption counter. The kernel preempts threads only while this counter is 0.
    pub preempt_disable: u64,
}

impl<'m, C: Clock, T: Target> Trace<'m, C, T> {
    /// Records an event if tracing is on and the filter lets at least one of the event's classes
    /// through.
    ///
    /// Stores the bitwise OR of `id` and the context's core in bits 24-31. `class` is a bit of
    /// [`tracewell_wire::threadx::ids::class`]. Targets with 32-bit words store the low halves of
    /// `info`. The clock is read only if the event is recorded. Returns the recorded entry for
    /// [`Trace::patch`], or `None` if nothing was recorded.
    ///
    /// The cost is one test if the event is not recorded, and otherwise a clock read and nine
    /// stores. Never blocks. Calls the notification after filling the last slot.
    #[inline]
    pub fn insert(
        &mut self,
        context: Context,
        id: u32,
        info: [u64; 4],
        class: u32,
    ) -> Option<Entry> {
        if self.enabled & class == 0 {
            return None;
        }
        let stamp = self.clock.ticks();
        let id_word = u64::from(id) | context.core;
        let [a, b, c, d] = info;
        let words = [context.word0, context.word1, id_word, stamp, a, b, c, d];
        let (entry, wrapped) = self.ring.store::<T>(self.memory, words)?;
        if wrapped {
            self.notify();
        }
        Some(entry)
    }

    #[cold]
    fn notify(&mut self) {
        if let Some(notify) = self.full_notify {
            notify(self);
        }
    }

    /// Replaces one information word of a recorded event. Returns false if the slot no longer holds
    /// the event: the timestamps differ, or tracing was switched off after the event.
    ///
    /// A service whose result is not known yet records the event and patches it later. For example,
    /// a service that allocates a block or bytes records the address 0 as its second information
    /// word. If the allocation succeeds immediately, the service replaces this 0 by the address.
    pub fn patch(&mut self, entry: Entry, info: Info, value: u64) -> bool {
        Ring::patch::<T>(self.memory, entry, info, value).is_some()
    }

    /// Records that a thread becomes ready.
    ///
    /// `previous_state` is the state that the thread leaves, `stack` is an address on the recording
    /// context's stack, and `next` is the thread that would run next. [`Trace::set_next_thread`]
    /// corrects `next` after the kernel has decided.
    pub fn thread_resume(
        &mut self,
        context: Context,
        thread: u64,
        previous_state: u64,
        stack: u64,
        next: u64,
    ) -> Option<Entry> {
        let info = [thread, previous_state, stack, next];
        self.insert(context, u32::from(ids::THREAD_RESUME), info, class::INTERNAL)
    }

    /// Records that a thread is no longer ready.
    ///
    /// `new_state` is the state that the thread enters. The other arguments are the same as for
    /// [`Trace::thread_resume`]. A `next` of 0 means that the system becomes idle.
    pub fn thread_suspend(
        &mut self,
        context: Context,
        thread: u64,
        new_state: u64,
        stack: u64,
        next: u64,
    ) -> Option<Entry> {
        let info = [thread, new_state, stack, next];
        self.insert(context, u32::from(ids::THREAD_SUSPEND), info, class::INTERNAL)
    }

    /// Stores the thread that runs next, or 0 for none, in a resume or suspend event. Returns false
    /// if the event was not recorded or was overwritten.
    pub fn set_next_thread(&mut self, entry: Option<Entry>, next: u64) -> bool {
        entry.is_some_and(|entry| self.patch(entry, Info::Four, next))
    }

    /// Records the start of an interrupt service routine (`tx_trace_isr_enter_insert`).
    pub fn isr_enter(&mut self, context: Context, isr: Isr) {
        self.insert(context, u32::from(ids::ISR_ENTER), isr.info(), class::INTERNAL);
    }

    /// Records the end of an interrupt service routine (`tx_trace_isr_exit_insert`).
    pub fn isr_exit(&mut self, context: Context, isr: Isr) {
        self.insert(context, u32::from(ids::ISR_EXIT), isr.info(), class::INTERNAL);
    }

    /// Records an event of the application (`tx_trace_user_event_insert`).
    ///
    /// Ids from 4096 to 65535 are reserved for applications. Like the kernel, this function stores
    /// any 32-bit value.
    ///
    /// # Errors
    /// Returns [`Status::NotDone`] if tracing is off. An event that is filtered out is not an
    /// error.
    #[inline]
    pub fn user_event(&mut self, context: Context, id: u32, info: [u64; 4]) -> Result<(), Status> {
        if !self.is_on() {
            return Err(Status::NotDone);
        }
        self.insert(context, id, info, class::USER);
        Ok(())
    }

    /// Records a change of the interrupt posture, then calls `change`, which makes the change
    /// (`tx_trace_interrupt_control`). Returns the result of `change`, which is the previous
    /// posture. Calls `change` even if tracing is off.
    pub fn interrupt_control(
        &mut self,
        context: Context,
        posture: u32,
        stack: u64,
        change: impl FnOnce(u32) -> u32,
    ) -> u32 {
        let info = [u64::from(posture), stack, 0, 0];
        let id = u32::from(ids::INTERRUPT_CONTROL);
        self.insert(context, id, info, class::INTERRUPT_CONTROL);
        change(posture)
    }
}

impl Isr {
    const fn info(self) -> [u64; 4] {
        [self.stack, self.number, self.system_state, self.preempt_disable]
    }
}
