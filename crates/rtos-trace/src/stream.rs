//! [`StreamTrace`]: records into a native stream.

use std::boxed::Box;
use std::cell::RefCell;
use std::sync::Arc;
use std::thread::{self, ThreadId};
use std::vec::Vec;

use critical_section::Mutex;
use tracewell_record::stream::{DefineError, Kernel, Stream};
use tracewell_wire::target::{DefinitionKind, MAX_CORES};

use crate::hooks::hooks;
use crate::state::{Recording, State};

/// Maximum number of threads that execute tasks.
const CORES: usize = MAX_CORES as usize;

/// A stream, and the threads that execute tasks. The index of a thread in `cores` is its core
/// number.
#[derive(Debug)]
struct Threads {
    kernel: Kernel<Arc<Stream>>,
    cores: Vec<ThreadId>,
}

impl Recording for Threads {
    fn core(&mut self, executes: bool) -> u8 {
        let thread = thread::current().id();
        if let Some(core) = self.cores.iter().position(|core| *core == thread) {
            return core as u8;
        }
        if !executes || self.cores.len() >= CORES {
            return Kernel::<Arc<Stream>>::OUTSIDE;
        }
        self.cores.push(thread);
        (self.cores.len() - 1) as u8
    }

    fn event(&mut self, core: u8, id: u8, arguments: [u32; 2]) {
        self.kernel.event(core, id, arguments.map(u64::from));
    }

    fn define(&mut self, kind: DefinitionKind, number: u32, value: u32, priority: u8, name: &str) {
        // If the stream has no room for a name, reports show the number of the task instead.
        let _ = self.kernel.define(kind, number, value, priority, name);
    }

    // The names in a stream are never replaced.
    fn remove(&mut self, _kind: DefinitionKind, _number: u32) {}
}

type StreamState = State<Threads, CORES>;

/// The stream of the program. `rtos-trace` allows one per program.
static STATE: Mutex<RefCell<Option<Box<StreamState>>>> = Mutex::new(RefCell::new(None));

/// Calls `use_it` while no other thread records, or returns `None` before [`StreamTrace::init`].
fn with<R>(use_it: impl FnOnce(&mut StreamState) -> R) -> Option<R> {
    critical_section::with(|section| {
        STATE.borrow_ref_mut(section).as_mut().map(|state| use_it(state))
    })
}

/// A recorder for Linux. It records into a native stream, in shared memory that survives a crash of
/// the program.
///
/// Each thread that executes tasks is a core of the trace, and the first of them is core 0. Any
/// other thread, such as a thread that wakes a task, is itself the context of its events.
#[derive(Clone, Copy, Debug)]
pub struct StreamTrace;

impl StreamTrace {
    /// Selects the stream for all later events. The caller starts and stops the stream, and can
    /// also record other events into it. `executor` is the name of the executor.
    ///
    /// # Errors
    /// Returns an error if the stream has no room for another event type.
    pub fn init(stream: Arc<Stream>, executor: &str) -> Result<(), DefineError> {
        let kernel = Kernel::new(stream);
        kernel.define_system(executor, false)?;
        kernel.event(Kernel::<Arc<Stream>>::OUTSIDE, tracewell_wire::target::ids::START, [0; 2]);
        let state = State::new(Threads { kernel, cores: Vec::new() });
        critical_section::with(|section| STATE.replace(section, Some(Box::new(state))));
        Ok(())
    }

    /// Sets the function that returns the number of the interrupt in progress. Without such a
    /// function, all interrupts have number 0. Call this after [`StreamTrace::init`], which removes
    /// an earlier function.
    pub fn set_interrupt(number: fn() -> u32) {
        with(|state| state.interrupt = number);
    }

    /// Stores the name of an interrupt, or of the application's mark, section or channel.
    pub fn define(kind: DefinitionKind, number: u32, name: &str) {
        with(|state| state.recording.define(kind, number, 0, 0, name));
    }

    /// Records a value of the application.
    pub fn value(channel: u32, value: i64) {
        with(|state| {
            let core = state.recording.core(false);
            state.recording.kernel.value(core, channel, value);
        });
    }

    /// Records a text of the application.
    pub fn text(channel: u32, text: &str) {
        with(|state| {
            let core = state.recording.core(false);
            state.recording.kernel.text(core, channel, text);
        });
    }

    /// Records an event without text, such as the events of mutexes and queues.
    /// [`tracewell_wire::target::ids`] lists the ids.
    pub fn event(id: u8, arguments: [u32; 2]) {
        with(|state| state.event(id, arguments));
    }
}

hooks!(
    StreamTrace,
    start: |state| state.recording.kernel.stream().start(),
    stop: |state| state.recording.kernel.stream().stop()
);
