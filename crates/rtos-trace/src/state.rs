//! The recording, and the running tasks. Each hook of `rtos-trace` is a function of [`State`].

use tracewell_record::target::Recorder;
use tracewell_wire::target::{DefinitionKind, ids};

use crate::numbers::Numbers;

/// The recorder or stream that stores the events of a [`State`].
pub(crate) trait Recording {
    /// Returns the core of the calling thread. If `executes` is true, the thread executes tasks,
    /// and is a core from now on.
    fn core(&mut self, executes: bool) -> u8;

    /// Records an event without text.
    fn event(&mut self, core: u8, id: u8, arguments: [u32; 2]);

    /// Stores the name of a task or object.
    fn define(&mut self, kind: DefinitionKind, number: u32, value: u32, priority: u8, name: &str);

    /// Marks a definition as deleted.
    fn remove(&mut self, kind: DefinitionKind, number: u32);
}

/// The recorder for small targets. All its events have core 0.
impl Recording for Recorder<'static, fn() -> u32> {
    fn core(&mut self, _executes: bool) -> u8 {
        0
    }

    fn event(&mut self, core: u8, id: u8, arguments: [u32; 2]) {
        Recorder::event(self, core, id, arguments);
    }

    fn define(&mut self, kind: DefinitionKind, number: u32, value: u32, priority: u8, name: &str) {
        Recorder::define(self, kind, number, value, priority, name);
    }

    fn remove(&mut self, kind: DefinitionKind, number: u32) {
        Recorder::remove(self, kind, number);
    }
}

/// The task that is running on a core.
#[derive(Clone, Copy, Debug, Default)]
struct Running {
    /// Number of the task.
    task: Option<u32>,
    /// True if the task became ready while it ran.
    runs_again: bool,
}

/// A recording of at most `CORES` cores, with the state that the hooks need in addition to their
/// arguments.
#[derive(Debug)]
pub(crate) struct State<R, const CORES: usize> {
    pub(crate) recording: R,
    numbers: Numbers,
    running: [Running; CORES],
    /// Returns the number of the interrupt in progress.
    pub(crate) interrupt: fn() -> u32,
}

impl<R: Recording, const CORES: usize> State<R, CORES> {
    pub(crate) fn new(recording: R) -> Self {
        let running = [Running::default(); CORES];
        Self { recording, numbers: Numbers::default(), running, interrupt: || 0 }
    }

    /// Records an event of the calling thread.
    pub(crate) fn event(&mut self, id: u8, arguments: [u32; 2]) {
        let core = self.recording.core(false);
        self.recording.event(core, id, arguments);
    }

    pub(crate) fn create(&mut self, task: u32, priority: u32) {
        let number = self.numbers.of(task);
        self.event(ids::TASK_CREATE, [number, priority]);
    }

    pub(crate) fn describe(&mut self, task: u32, name: &str, priority: u32, stack: usize) {
        let number = self.numbers.of(task);
        // Store 0, for unknown, if a priority or a stack size is too large for the stream.
        let (small, stack) = (u8::try_from(priority), u32::try_from(stack));
        // Some executors end names with null bytes.
        let name = name.trim_end_matches('\0');
        let kind = DefinitionKind::Task;
        self.recording.define(kind, number, stack.unwrap_or(0), small.unwrap_or(0), name);
        if priority > 0 {
            self.event(ids::PRIORITY_SET, [number, priority]);
        }
    }

    pub(crate) fn ready(&mut self, task: u32) {
        let number = self.numbers.of(task);
        match self.running.iter_mut().find(|running| running.task == Some(number)) {
            Some(running) => running.runs_again = true,
            None => self.event(ids::READY, [number, 0]),
        }
    }

    pub(crate) fn run(&mut self, task: u32) {
        let number = self.numbers.of(task);
        let core = self.recording.core(true);
        if let Some(running) = self.running.get_mut(usize::from(core)) {
            *running = Running { task: Some(number), runs_again: false };
        }
        self.recording.event(core, ids::RUNS, [number, 0]);
    }

    /// Handles the end of the running task's execution.
    pub(crate) fn end_run(&mut self) {
        let core = self.recording.core(true);
        let Some(running) = self.running.get_mut(usize::from(core)) else { return };
        if let Some(number) = running.task.take()
            && !running.runs_again
        {
            self.recording.event(core, ids::SUSPEND, [number, 0]);
        }
    }

    /// Handles the end of a round of the executor: no task is running.
    pub(crate) fn idle(&mut self) {
        let core = self.recording.core(true);
        self.recording.event(core, ids::RUNS, [0; 2]);
    }

    pub(crate) fn suspend(&mut self, task: u32) {
        let number = self.numbers.of(task);
        self.event(ids::SUSPEND, [number, 0]);
    }

    pub(crate) fn terminate(&mut self, task: u32) {
        let number = self.numbers.of(task);
        for running in &mut self.running {
            if running.task == Some(number) {
                running.task = None;
            }
        }
        self.event(ids::TASK_DELETE, [number, 0]);
        self.recording.remove(DefinitionKind::Task, number);
    }

    pub(crate) fn enter_interrupt(&mut self) {
        let number = (self.interrupt)();
        self.event(ids::INTERRUPT_ENTER, [number, 0]);
    }
}
