//! The contexts that are running on each core.

use tracewell_wire::systemview::ids;

use super::names::Names;
use crate::format::nested::Nested;
use crate::model::{ContextId, Trace};

/// The activity of a core.
#[derive(Debug, Default)]
pub(super) struct Core {
    /// The task, the idle context or the scheduler; `None` if unknown.
    running: Option<ContextId>,
    interrupts: Nested<ContextId>,
    /// The count in the latest overflow packet.
    pub(super) drops: Option<u32>,
    /// True if the stream began within a recording. In this case, the first count includes earlier
    /// losses.
    pub(super) joined: bool,
}

impl Core {
    #[inline]
    pub(super) fn runs(&mut self, context: ContextId) {
        self.running = Some(context);
    }

    /// Handles an event that ends the execution of the running task.
    pub(super) fn stops(&mut self, scheduler: ContextId) {
        self.running = Some(scheduler);
    }

    #[inline]
    pub(super) fn enter(&mut self, interrupt: ContextId) {
        self.interrupts.enter(interrupt);
    }

    /// Returns the context that recorded an event. If the event is the end of an interrupt, also
    /// ends this interrupt.
    #[inline(always)]
    pub(super) fn context(&mut self, id: u32, trace: &mut Trace) -> ContextId {
        let ends = matches!(id, ids::ISR_EXIT | ids::ISR_TO_SCHEDULER);
        let interrupt = if ends { self.interrupts.exit() } else { self.interrupts.innermost() };
        match interrupt.or(self.running) {
            Some(context) => context,
            None => Names::unknown(trace),
        }
    }

    /// Handles missing events: after the gap, the running context is unknown.
    pub(super) fn forget(&mut self) {
        self.running = None;
        self.interrupts.clear();
    }
}

/// All cores.
#[derive(Debug, Default)]
pub(super) struct Cores(Vec<Core>);

impl Cores {
    /// Returns a core.
    #[inline]
    pub(super) fn at(&mut self, cpu: u16) -> &mut Core {
        let index = usize::from(cpu);
        if index >= self.0.len() {
            self.0.resize_with(index + 1, Core::default);
        }
        &mut self.0[index]
    }

    /// Sets the activity of all cores to unknown.
    pub(super) fn forget(&mut self) {
        self.0.iter_mut().for_each(Core::forget);
    }
}
