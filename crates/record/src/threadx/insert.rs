//! Recording: the general call, and the events that have rules of their own.
//!
//! Not here: when kernel services record what (that is the kernel's business; the ids and their
//! arguments are in the event table of the reader).

use tracewell_wire::threadx::ids::{self, class};

use super::ring::{Entry, Ring};
use super::{Context, Status, Target, Trace};
use crate::clock::Clock;

/// Which information word of an event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Info {
    /// Information 1.
    One = 0,
    /// Information 2.
    Two = 1,
    /// Information 3.
    Three = 2,
    /// Information 4.
    Four = 3,
}

/// What the events around an interrupt service routine say.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Isr {
    /// The number that the application gave the routine.
    pub number: u64,
    /// Address on the stack that the routine uses.
    pub stack: u64,
    /// The kernel's system state: the nesting depth on most ports, 1 in a plain interrupt.
    pub system_state: u64,
    /// The kernel's count of reasons not to preempt.
    pub preempt_disable: u64,
}

impl<'m, C: Clock, T: Target> Trace<'m, C, T> {
    /// Records an event, if tracing is on and one of its classes is not filtered out.
    ///
    /// `id` is stored as it is, with the context's core in bits 24-31; `class` is a bit of
    /// [`tracewell_wire::threadx::ids::class`]. Where words have 32 bits, the upper halves of
    /// `info` are cut off. The clock is read only if the event is recorded. Returns where it was
    /// recorded, for [`Trace::patch`]; `None` where it was not.
    ///
    /// Cost: one test if it is not recorded, else the clock and nine stores. Never blocks; calls
    /// the notification after the last slot.
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

    /// Replaces one information word of a recorded event, if its slot still holds it; whether it
    /// did.
    ///
    /// Services whose result is known only later record first and patch then: a block or byte
    /// allocation records address 0 in information 2 and patches it if it succeeds at once.
    /// The slot "still holds" the event if it has the same stamp and tracing was not switched off
    /// since.
    pub fn patch(&mut self, entry: Entry, info: Info, value: u64) -> bool {
        Ring::patch::<T>(self.memory, entry, info, value).is_some()
    }

    /// Records that a thread becomes ready. `previous_state` is the state it leaves, `stack` an
    /// address on the recording context's stack, `next` the thread that would run next as things
    /// stand: [`Trace::set_next_thread`] corrects it once the kernel has decided.
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

    /// Records that a thread stops being ready. `new_state` is the state it enters, the others are
    /// as for [`Trace::thread_resume`]; a `next` of 0 says that the system becomes idle.
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

    /// Completes a resume or suspend with the thread that runs next, 0 for none; whether the event
    /// was still there. An event that was not recorded is not there.
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
    /// Ids from 4096 to 65535 are meant for it; as in the kernel, any 32-bit value is stored.
    ///
    /// # Errors
    /// [`Status::NotDone`] where tracing is off. An event that is filtered out is a success.
    #[inline]
    pub fn user_event(&mut self, context: Context, id: u32, info: [u64; 4]) -> Result<(), Status> {
        if !self.is_on() {
            return Err(Status::NotDone);
        }
        self.insert(context, id, info, class::USER);
        Ok(())
    }

    /// Records a change of the interrupt posture, then makes it and returns what `change` returns:
    /// the previous posture (`tx_trace_interrupt_control`). The change is made also while tracing
    /// is off.
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
