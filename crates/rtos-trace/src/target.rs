//! [`TargetTrace`]: records with the recorder for small targets.

use core::cell::RefCell;

use critical_section::Mutex;
use tracewell_record::target::{Error, Options, Recorder};
use tracewell_wire::target::DefinitionKind;

use crate::hooks::hooks;
use crate::state::State;

/// Number of the core that records all events.
const CORE: u8 = 0;

type TargetState = State<Recorder<'static, fn() -> u32>, 1>;

/// The recorder of the program. `rtos-trace` allows one per program.
static STATE: Mutex<RefCell<Option<TargetState>>> = Mutex::new(RefCell::new(None));

/// Calls `use_it` with interrupts disabled, or returns `None` before [`TargetTrace::init`].
fn with<R>(use_it: impl FnOnce(&mut TargetState) -> R) -> Option<R> {
    critical_section::with(|section| STATE.borrow_ref_mut(section).as_mut().map(use_it))
}

/// The recorder, as a type without values, because hooks of [`rtos_trace`] have no `self`.
///
/// All calls are safe in interrupts. Each call disables interrupts until the recorder has done its
/// work. [`TargetTrace::read`] therefore disables them while it copies all packets that fit in its
/// buffer, so use a short buffer.
#[derive(Clone, Copy, Debug)]
pub struct TargetTrace;

impl TargetTrace {
    /// Creates the ring in `memory` and begins to record. `clock` returns a counter of 32 bits that
    /// counts up and wraps. Fewer than 2^32 ticks may pass between two recorded events. The clock
    /// must not call other functions of this type.
    ///
    /// A second call replaces the recorder, and begins another trace in other memory.
    ///
    /// # Errors
    /// Returns an error if an option is out of its range or the memory is too small.
    pub fn init(
        memory: &'static mut [u8],
        options: &Options<'_>,
        clock: fn() -> u32,
    ) -> Result<(), Error> {
        let recorder = Recorder::new(memory, options, clock)?;
        critical_section::with(|section| STATE.replace(section, Some(State::new(recorder))));
        Ok(())
    }

    /// Sets the function that returns the number of the interrupt in progress. Without such a
    /// function, all interrupts have number 0. Call this after [`TargetTrace::init`], which removes
    /// an earlier function.
    pub fn set_interrupt(number: fn() -> u32) {
        with(|state| state.interrupt = number);
    }

    /// Stores the name of an interrupt, or of a mark, section or channel of the application.
    pub fn define(kind: DefinitionKind, number: u32, name: &str) {
        with(|state| state.recording.define(kind, number, 0, 0, name));
    }

    /// Records a value of the application.
    pub fn value(channel: u32, value: i32) {
        with(|state| state.recording.value(CORE, channel, value));
    }

    /// Records a text of the application, or its first 64 bytes.
    pub fn text(channel: u32, text: &str) {
        with(|state| state.recording.text(CORE, channel, text));
    }

    /// Records an event without a block, such as the events of mutexes and queues.
    /// [`tracewell_wire::target::ids`] lists the ids.
    pub fn event(id: u8, arguments: [u32; 2]) {
        with(|state| state.event(id, arguments));
    }

    /// Closes the open packet, so that [`TargetTrace::read`] also copies its events.
    pub fn flush() {
        with(|state| state.recording.flush());
    }

    /// Copies whole packets that were not read yet into `out`, and returns their length in bytes.
    /// Copies nothing before [`TargetTrace::init`], or if `out` is shorter than a slot.
    pub fn read(out: &mut [u8]) -> usize {
        with(|state| state.recording.read(out)).unwrap_or(0)
    }
}

hooks!(
    TargetTrace,
    start: |state| state.recording.set_filter(u32::MAX),
    stop: |state| state.recording.set_filter(0)
);
