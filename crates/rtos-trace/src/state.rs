//! The recorder, and the running task. Each hook of `rtos-trace` is a function of [`State`].

use tracewell_record::target::Recorder;
use tracewell_wire::target::{DefinitionKind, ids};

use crate::numbers::Numbers;

/// All events have this core.
pub(crate) const CORE: u8 = 0;

/// The recorder, with the state that the arguments of hooks do not contain.
#[derive(Debug)]
pub(crate) struct State {
    pub(crate) recorder: Recorder<'static, fn() -> u32>,
    numbers: Numbers,
    /// The number of the running task.
    running: Option<u32>,
    /// True if the running task became ready while it ran.
    runs_again: bool,
    /// Returns the number of the interrupt in progress.
    pub(crate) interrupt: fn() -> u32,
}

impl State {
    pub(crate) fn new(recorder: Recorder<'static, fn() -> u32>) -> Self {
        Self {
            recorder,
            numbers: Numbers::default(),
            running: None,
            runs_again: false,
            interrupt: || 0,
        }
    }

    pub(crate) fn event(&mut self, id: u8, arguments: [u32; 2]) {
        self.recorder.event(CORE, id, arguments);
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
        self.recorder.define(kind, number, stack.unwrap_or(0), small.unwrap_or(0), name);
        if priority > 0 {
            self.event(ids::PRIORITY_SET, [number, priority]);
        }
    }

    pub(crate) fn ready(&mut self, task: u32) {
        let number = self.numbers.of(task);
        if self.running == Some(number) {
            self.runs_again = true;
        } else {
            self.event(ids::READY, [number, 0]);
        }
    }

    pub(crate) fn run(&mut self, task: u32) {
        let number = self.numbers.of(task);
        (self.running, self.runs_again) = (Some(number), false);
        self.event(ids::RUNS, [number, 0]);
    }

    /// Handles the end of the running task's execution.
    pub(crate) fn end_run(&mut self) {
        if let Some(number) = self.running.take()
            && !self.runs_again
        {
            self.event(ids::SUSPEND, [number, 0]);
        }
    }

    pub(crate) fn suspend(&mut self, task: u32) {
        let number = self.numbers.of(task);
        self.event(ids::SUSPEND, [number, 0]);
    }

    pub(crate) fn terminate(&mut self, task: u32) {
        let number = self.numbers.of(task);
        if self.running == Some(number) {
            self.running = None;
        }
        self.event(ids::TASK_DELETE, [number, 0]);
        self.recorder.remove(DefinitionKind::Task, number);
    }

    pub(crate) fn enter_interrupt(&mut self) {
        let number = (self.interrupt)();
        self.event(ids::INTERRUPT_ENTER, [number, 0]);
    }
}
