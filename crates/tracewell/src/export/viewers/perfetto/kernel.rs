//! The states of threads, and the thread that is running on each core, in the messages that
//! Perfetto defines for any kernel (`GenericKernelTaskStateEvent`).
//!
//! | state of a context | Perfetto's state | shown as |
//! |---|---|---|
//! | running, interrupted | running | `Running` |
//! | ready, preempted | runnable | `R` |
//! | waits for a mutex | uninterruptible sleep | `D` |
//! | blocked otherwise, sleeping, job done | interruptible sleep | `S` |
//! | unknown; off the processor for an unrecorded reason; deleted, if a later state follows | stopped | `T` |
//! | deleted, if this is the last state | dead | `Z` |
//!
//! Perfetto drops events whose state is unknown, so the state before a gap would seem to continue
//! during the gap. So this module writes an unknown state as `stopped`, and uses `stopped` only for
//! the states in that row of the table.

use std::io;

use super::packets::Packets;
use crate::analysis::tracks::{Occupant, State, Tracks};
use crate::model::{ContextId, Meaning};

/// Fields of `TracePacket` and of `GenericKernelTaskStateEvent`.
mod field {
    pub(super) const STATE_EVENT: u32 = 117;
    pub(super) const CPU: u32 = 1;
    pub(super) const THREAD: u32 = 3;
    pub(super) const STATE: u32 = 4;
    pub(super) const PRIORITY: u32 = 5;
}

/// Values of `TaskStateEnum`.
const RUNNABLE: u8 = 2;
const RUNNING: u8 = 3;
const SLEEP: u8 = 4;
const UNINTERRUPTIBLE: u8 = 5;
const STOPPED: u8 = 6;
const DEAD: u8 = 7;

/// Returns the thread id that Perfetto shows for a context. The number 0 is reserved for idle
/// threads.
pub(super) fn thread(context: ContextId) -> u64 {
    u64::from(context.0) + 1
}

#[derive(Clone, Copy, Default)]
struct Thread {
    /// The last written state; `None` if no state was written.
    state: Option<u8>,
    /// The core on which it is running.
    core: Option<u16>,
    priority: Option<u16>,
}

/// Writes the states of all threads.
#[derive(Default)]
pub(super) struct Kernel {
    threads: Vec<Thread>,
    /// The thread that is running on each core.
    running: Vec<Option<ContextId>>,
}

impl Kernel {
    fn at(&mut self, context: ContextId) -> &mut Thread {
        if context.index() >= self.threads.len() {
            self.threads.resize(context.index() + 1, Thread::default());
        }
        &mut self.threads[context.index()]
    }

    fn on(&mut self, core: u16) -> &mut Option<ContextId> {
        let core = usize::from(core);
        if core >= self.running.len() {
            self.running.resize(core + 1, None);
        }
        &mut self.running[core]
    }

    /// Stores the recorded priority of a context.
    pub(super) fn note_priority(&mut self, context: ContextId, priority: u16) {
        self.at(context).priority = Some(priority);
    }

    /// Writes a change of a context's state. Changes of contexts precede changes of cores at the
    /// same position.
    pub(super) fn context(
        &mut self,
        packets: &mut Packets<'_>,
        ticks: u64,
        context: ContextId,
        state: Option<u8>,
    ) -> io::Result<()> {
        // If the context has the processor, the state of a core changes, too. That change shows
        // which thread is running on which core.
        let Some(state) = state else { return Ok(()) };
        let core = self.at(context).core.take();
        if let Some(core) = core {
            *self.on(core) = None;
        } else if self.at(context).state == Some(state) {
            return Ok(());
        }
        self.write(packets, ticks, context, state, core.unwrap_or(0))
    }

    /// Writes a change of the state of a core.
    pub(super) fn core(
        &mut self,
        packets: &mut Packets<'_>,
        ticks: u64,
        core: u16,
        state: Occupant,
    ) -> io::Result<()> {
        let runs = match state {
            // Perfetto shows an interrupted thread as running.
            Occupant::Interrupt { .. } => return Ok(()),
            Occupant::Task { runs, .. } => Some(runs),
            Occupant::Idle | Occupant::Unknown => None,
        };
        if *self.on(core) == runs {
            return Ok(());
        }
        if let Some(before) = self.on(core).take() {
            self.at(before).core = None;
            self.write(packets, ticks, before, STOPPED, core)?;
        }
        let Some(runs) = runs else { return Ok(()) };
        // Events of different cores can be out of order, so the thread may still seem to run on its
        // old core.
        if let Some(old) = self.at(runs).core.take() {
            *self.on(old) = None;
            self.write(packets, ticks, runs, RUNNABLE, old)?;
        }
        *self.on(core) = Some(runs);
        self.at(runs).core = Some(core);
        self.write(packets, ticks, runs, RUNNING, core)
    }

    fn write(
        &mut self,
        packets: &mut Packets<'_>,
        ticks: u64,
        context: ContextId,
        state: u8,
        core: u16,
    ) -> io::Result<()> {
        let thread_state = self.at(context);
        thread_state.state = Some(state);
        let priority = thread_state.priority;
        packets.write(Some(ticks), |message, _| {
            message.message(field::STATE_EVENT, |event| {
                event.number(field::CPU, core);
                event.number(field::THREAD, thread(context));
                event.number(field::STATE, state);
                priority.into_iter().for_each(|value| event.number(field::PRIORITY, value));
            });
        })
    }
}

/// Returns Perfetto's state for a state of a context; `None` if the context has the processor.
/// `is_last` is true for the last state in the trace.
pub(super) fn code(tracks: &Tracks, state: State, is_last: bool) -> Option<u8> {
    let waits_for_mutex =
        || tracks.reason(state).is_some_and(|reason| reason.request == Some(Meaning::Lock));
    match state {
        State::Running(_) | State::Interrupted => None,
        State::Ready | State::Preempted => Some(RUNNABLE),
        State::Blocked(_) if waits_for_mutex() => Some(UNINTERRUPTIBLE),
        State::Blocked(_) | State::Sleeping | State::Done => Some(SLEEP),
        // After this state, Perfetto accepts no further state, but a deleted context may be created
        // again.
        State::Deleted if is_last => Some(DEAD),
        State::Deleted | State::Unknown | State::Off => Some(STOPPED),
    }
}
