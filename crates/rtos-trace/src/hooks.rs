//! [`TargetTrace`]: the calls of programs, and the hooks that an executor calls.

use core::cell::RefCell;

use critical_section::Mutex;
use rtos_trace::{RtosTrace, TaskInfo};
use tracewell_record::target::{Error, Options, Recorder};
use tracewell_wire::target::{DefinitionKind, ids};

use crate::state::{CORE, State};

/// The recorder of the program. `rtos-trace` allows one per program.
static STATE: Mutex<RefCell<Option<State>>> = Mutex::new(RefCell::new(None));

/// Calls `use_it` with interrupts disabled, or returns `None` before [`TargetTrace::init`].
fn with<R>(use_it: impl FnOnce(&mut State) -> R) -> Option<R> {
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
    /// the function.
    pub fn set_interrupt(number: fn() -> u32) {
        with(|state| state.interrupt = number);
    }

    /// Stores the name of an interrupt, or of a mark, section or channel of the application.
    pub fn define(kind: DefinitionKind, number: u32, name: &str) {
        with(|state| state.recorder.define(kind, number, 0, 0, name));
    }

    /// Records a value of the application.
    pub fn value(channel: u32, value: i32) {
        with(|state| state.recorder.value(CORE, channel, value));
    }

    /// Records a text of the application, or its first 64 bytes.
    pub fn text(channel: u32, text: &str) {
        with(|state| state.recorder.text(CORE, channel, text));
    }

    /// Records an event without a block, such as the events of mutexes and queues.
    /// [`tracewell_wire::target::ids`] lists the ids.
    pub fn event(id: u8, arguments: [u32; 2]) {
        with(|state| state.event(id, arguments));
    }

    /// Closes the open packet, so that [`TargetTrace::read`] also copies its events.
    pub fn flush() {
        with(|state| state.recorder.flush());
    }

    /// Copies whole packets that were not read yet into `out`, and returns their length in bytes.
    /// Copies nothing before [`TargetTrace::init`], or if `out` is shorter than a slot.
    pub fn read(out: &mut [u8]) -> usize {
        with(|state| state.recorder.read(out)).unwrap_or(0)
    }
}

impl RtosTrace for TargetTrace {
    fn start() {
        with(|state| state.recorder.set_filter(u32::MAX));
    }

    fn stop() {
        with(|state| {
            state.event(ids::STOP, [0; 2]);
            state.recorder.set_filter(0);
        });
    }

    fn task_new(id: u32) {
        with(|state| state.create(id, 0));
    }

    fn task_send_info(id: u32, info: TaskInfo) {
        with(|state| state.describe(id, info.name, info.priority, info.stack_size));
    }

    fn task_new_stackless(id: u32, name: &'static str, priority: u32) {
        with(|state| {
            state.create(id, priority);
            state.describe(id, name, 0, 0);
        });
    }

    fn task_terminate(id: u32) {
        with(|state| state.terminate(id));
    }

    fn task_exec_begin(id: u32) {
        with(|state| state.run(id));
    }

    fn task_exec_end() {
        with(State::end_run);
    }

    fn task_ready_begin(id: u32) {
        with(|state| state.ready(id));
    }

    fn task_ready_end(id: u32) {
        with(|state| state.suspend(id));
    }

    fn system_idle() {
        with(|state| state.event(ids::RUNS, [0; 2]));
    }

    fn isr_enter() {
        with(State::enter_interrupt);
    }

    fn isr_exit() {
        with(|state| state.event(ids::INTERRUPT_EXIT, [0; 2]));
    }

    fn isr_exit_to_scheduler() {
        with(|state| state.event(ids::INTERRUPT_EXIT_TO_SCHEDULER, [0; 2]));
    }

    fn name_marker(id: u32, name: &'static str) {
        Self::define(DefinitionKind::Channel, id, name);
    }

    fn marker(id: u32) {
        with(|state| state.event(ids::MARK, [id, 0]));
    }

    fn marker_begin(id: u32) {
        with(|state| state.event(ids::SECTION_BEGIN, [id, 0]));
    }

    fn marker_end(id: u32) {
        with(|state| state.event(ids::SECTION_END, [id, 0]));
    }
}
