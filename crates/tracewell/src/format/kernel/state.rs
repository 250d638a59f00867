//! Assigns events to contexts, and derives events from the state of the tasks.
//!
//! A kernel records one event for a switch, `RUNS`. Its meaning depends on the reason why the
//! previous task stopped running: the task was blocked or preempted. If a task waits for a lock,
//! the kernel records the request and, after the wait, the acquisition. This module derives ids
//! above 255 from the state of the tasks, so that each event of the schema has one meaning.

use tracewell_wire::target::{DefinitionKind, ids};

use super::names::Names;
use super::tasks::{Reason, State, Task, Tasks};
use crate::format::nested::Nested;
use crate::model::{Context, ContextId, ContextKind, Priority, Trace};

/// Ids that the decoder derives.
mod derived {
    /// A task begins to run after the previous task stopped.
    pub(super) const SWITCH: u32 = 0x100;
    /// A task runs instead of another task that was ready to continue.
    pub(super) const PREEMPT: u32 = 0x101;
    /// A task got the mutex for which it waited.
    pub(super) const MUTEX_LOCK_AFTER_WAIT: u32 = 0x102;
    /// A task got the semaphore for which it waited.
    pub(super) const SEMAPHORE_TAKE_AFTER_WAIT: u32 = 0x103;
    /// An interrupt ends, but its beginning was not recorded.
    pub(super) const INTERRUPT_EXIT_UNMATCHED: u32 = 0x104;
    /// Number that is added to an object's kind to get the id of the object's creation event.
    pub(super) const CREATE: u32 = 0x200;
    /// Number that is added to an object's kind to get the id of the object's deletion event.
    pub(super) const DELETE: u32 = 0x210;
}

/// Keys of contexts that are neither tasks nor interrupts. The numbers of tasks and the keys of
/// interrupts are smaller. In native streams, the keys of threads are smaller, too.
const START_UP: u64 = 1 << 56;
const IDLE: u64 = START_UP + 1;
const UNKNOWN: u64 = START_UP + 2;

/// The context that runs on a core while no interrupt is being served.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum Runs {
    /// The events so far do not show which context runs.
    #[default]
    Unknown,
    StartUp,
    Idle,
    Task(u32),
}

#[derive(Clone, Debug, Default)]
struct Core {
    runs: Runs,
    interrupts: Nested<u32>,
}

/// The counts that `info` shows.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(in crate::format) struct Counts {
    /// Number of events that made a task ready although it was already ready. The decoder drops
    /// them.
    pub(in crate::format) ready_again: u64,
    /// Number of interrupts whose end was recorded, but not their beginning.
    pub(in crate::format) unmatched_exits: u64,
    /// Number of events with ids that are not in the schema.
    pub(in crate::format) unknown_events: u64,
    /// Number of arguments that the definitions of their events do not describe. They are not
    /// shown.
    pub(in crate::format) undescribed_arguments: u64,
}

/// The place at which an event was recorded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::format) enum Place {
    /// A core that runs tasks. Its state determines the context.
    Core(u8),
    /// A context that is not part of the kernel.
    Outside(ContextId),
}

/// An event as the kernel recorded it.
#[derive(Clone, Copy, Debug)]
pub(in crate::format) struct Recorded {
    pub(in crate::format) id: u8,
    pub(in crate::format) arguments: [u64; 2],
    pub(in crate::format) place: Place,
    /// Ticks since the first event of the trace.
    pub(in crate::format) ticks: u64,
}

/// An event with its context, and the arguments that the schema describes.
#[derive(Clone, Copy, Debug)]
pub(in crate::format) struct Row {
    pub(in crate::format) context: ContextId,
    pub(in crate::format) priority: Priority,
    /// The id in the schema of [`super::schema`].
    pub(in crate::format) id: u32,
    slots: [u64; 3],
    count: usize,
}

impl Row {
    /// Returns the arguments.
    pub(in crate::format) fn arguments(&self) -> &[u64] {
        self.slots.get(..self.count).unwrap_or_default()
    }
}

/// The state of the cores and tasks at the current event.
#[derive(Debug, Default)]
pub(in crate::format) struct Kernel {
    pub(in crate::format) names: Names,
    tasks: Tasks,
    cores: Vec<Core>,
    pub(in crate::format) counts: Counts,
}

/// The id and the arguments of the next row.
struct Next {
    id: u32,
    slots: [u64; 3],
    count: usize,
}

impl Kernel {
    /// Updates the state according to an event. Returns the row of the event, or `None` if the
    /// event changes nothing.
    pub(in crate::format) fn take(&mut self, event: Recorded, trace: &mut Trace) -> Option<Row> {
        // An event that begins an interrupt gets this interrupt as its context. The start event
        // gets the context that stands for the time before the first task. The context of a switch
        // is the task that loses the core, so the context must be found before the switch changes
        // the state.
        let (context, priority) = match event.place {
            Place::Outside(context) => (context, None),
            Place::Core(core) => {
                match event.id {
                    ids::INTERRUPT_ENTER => {
                        self.core(core).interrupts.enter(event.arguments[0] as u32);
                    }
                    ids::START => self.core(core).runs = Runs::StartUp,
                    _ => {}
                }
                self.context(core, trace)
            }
        };
        let Next { id, slots, count } = self.next(event, trace)?;
        let priority = priority.map_or(Priority::NONE, Priority::new);
        Some(Row { context, priority, id, slots, count })
    }

    /// Returns true if an event can reassign a number to another task or object. The decoder must
    /// deliver all earlier events before it handles such an event.
    pub(in crate::format) fn renames(id: u8) -> bool {
        matches!(id, ids::TASK_CREATE | ids::OBJECT_CREATE | ids::START)
    }

    /// Handles missing events of a core.
    pub(in crate::format) fn gap(&mut self, core: u8) {
        self.tasks.gap();
        *self.core(core) = Core::default();
    }

    /// Handles missing events if the core to which they belong is unknown.
    pub(in crate::format) fn gap_on_all_cores(&mut self) {
        self.tasks.gap();
        self.cores.fill_with(Core::default);
    }

    /// Handles a restart of the target.
    pub(in crate::format) fn restart(&mut self) {
        self.tasks.restart();
        self.cores.clear();
    }

    fn core(&mut self, core: u8) -> &mut Core {
        let index = usize::from(core);
        if index >= self.cores.len() {
            self.cores.resize_with(index + 1, Core::default);
        }
        &mut self.cores[index]
    }

    /// Returns the context in which the next event of a core is recorded, and the priority of this
    /// context.
    fn context(&mut self, core: u8, trace: &mut Trace) -> (ContextId, Option<u16>) {
        let Core { runs, ref interrupts } = *self.core(core);
        // The innermost interrupt runs instead of the task.
        if let Some(number) = interrupts.innermost() {
            return (self.names.interrupt(number, trace), None);
        }
        match runs {
            Runs::Task(number) => {
                let task = self.tasks.at(number, &self.names, trace);
                (task.context, task.priority)
            }
            Runs::Unknown => (special(trace, UNKNOWN, ContextKind::Unknown, "unknown"), None),
            Runs::StartUp => {
                (special(trace, START_UP, ContextKind::Initialization, "start-up"), None)
            }
            Runs::Idle => (special(trace, IDLE, ContextKind::System, "idle"), None),
        }
    }

    /// Updates the state according to an event.
    fn next(&mut self, event: Recorded, trace: &mut Trace) -> Option<Next> {
        let Recorded { id, arguments, place, ticks } = event;
        let [first, second] = arguments;
        let task = first as u32;
        let next = Next::of(id, arguments);
        match id {
            ids::READY => {
                let task = self.task(task, trace);
                // Some kernels report a task as ready although it was already ready. This changes
                // nothing.
                let again = task.state == State::Ready;
                task.state = State::Ready;
                if again {
                    self.counts.ready_again += 1;
                    return None;
                }
            }
            ids::SUSPEND => self.task(task, trace).state = State::Stopped(Reason::Suspended),
            ids::TASK_DELETE => {
                self.task(task, trace).state = State::Deleted;
                self.names.delete(DefinitionKind::Task, task, ticks, trace);
            }
            ids::TASK_CREATE => {
                let priority = u16::try_from(second).unwrap_or(u16::MAX);
                self.tasks.create(task, priority, ticks, &self.names, trace);
            }
            ids::PRIORITY_SET => {
                self.task(task, trace).priority = u16::try_from(second).ok();
            }
            // These events change no state, but add the task that they name if it is new.
            ids::INHERIT | ids::DISINHERIT | ids::NOTIFY | ids::RESUME | ids::STACK => {
                self.task(task, trace);
            }
            ids::OBJECT_CREATE | ids::OBJECT_DELETE => {
                return Some(self.object(id, arguments, ticks, next, trace));
            }
            // The effect of all other events depends on the core that recorded them. If the place
            // of such an event is not a core, the event changes nothing.
            _ => {
                let Place::Core(core) = place else { return Some(next) };
                return Some(self.next_of_core(id, core, task, next, trace));
            }
        }
        Some(next)
    }

    /// Handles events whose effect depends on the core.
    fn next_of_core(
        &mut self,
        id: u8,
        core: u8,
        first: u32,
        next: Next,
        trace: &mut Trace,
    ) -> Next {
        match id {
            ids::START => {
                // The target starts again, so no interrupt is in progress.
                self.core(core).interrupts.clear();
                next
            }
            ids::RUNS => self.runs(core, first, next, trace),
            ids::INTERRUPT_EXIT | ids::INTERRUPT_EXIT_TO_SCHEDULER => {
                // An exit without an entry must not end an outer interrupt, so it has an id of its
                // own.
                if self.core(core).interrupts.exit().is_some() {
                    return next;
                }
                self.counts.unmatched_exits += 1;
                next.derived(derived::INTERRUPT_EXIT_UNMATCHED)
            }
            id => self.request(id, core, first, next, trace),
        }
    }

    fn task(&mut self, number: u32, trace: &mut Trace) -> &mut Task {
        self.tasks.at(number, &self.names, trace)
    }

    /// Handles a change of the running task. In the returned row, every idle task has the number 0.
    fn runs(&mut self, core: u8, task: u32, next: Next, trace: &mut Trace) -> Next {
        let (task, runs) = match task {
            task if task == 0 || self.names.is_idle(task) => (0, Runs::Idle),
            task => (task, Runs::Task(task)),
        };
        let before = std::mem::replace(&mut self.core(core).runs, runs);
        let stopped = match before {
            Runs::Task(before) if before != task => Some((before, self.task(before, trace).state)),
            _ => None,
        };
        if task == 0 {
            Names::name_idle(trace);
        } else {
            // A running task counts as ready. If the task is still ready when another task runs,
            // the other task has preempted it.
            self.task(task, trace).state = State::Ready;
        }
        match stopped {
            Some((before, State::Stopped(reason))) => {
                next.with(derived::SWITCH, &[u64::from(task), u64::from(before), reason as u64])
            }
            Some((before, State::Ready)) => {
                next.with(derived::PREEMPT, &[u64::from(task), u64::from(before)])
            }
            // Without a known reason, the event says only which task runs.
            Some((_, State::Unknown | State::Deleted)) | None => {
                next.with(u32::from(ids::RUNS), &[u64::from(task)])
            }
        }
    }

    fn object(
        &mut self,
        id: u8,
        [kind, object]: [u64; 2],
        ticks: u64,
        next: Next,
        trace: &mut Trace,
    ) -> Next {
        let Some(kind) = DefinitionKind::of_code(kind) else { return next };
        let number = object as u32;
        let base = if id == ids::OBJECT_CREATE {
            self.names.create(kind, number, ticks, trace);
            derived::CREATE
        } else {
            self.names.delete(kind, number, ticks, trace);
            derived::DELETE
        };
        next.with(base + kind as u32, &[object])
    }

    /// Handles requests of the running task, and events that have no effect on the state.
    fn request(&mut self, id: u8, core: u8, object: u32, next: Next, trace: &mut Trace) -> Next {
        // Only a running task can wait, and only if no interrupt is in progress on its core.
        let (Runs::Task(number), true) =
            (self.core(core).runs, self.core(core).interrupts.innermost().is_none())
        else {
            return next;
        };
        let waits = match id {
            ids::MUTEX_WAIT => (Reason::Mutex, Some((DefinitionKind::Mutex, object))),
            ids::SEMAPHORE_WAIT => (Reason::Semaphore, Some((DefinitionKind::Semaphore, object))),
            ids::QUEUE_WAIT_RECEIVE => (Reason::EmptyQueue, None),
            ids::QUEUE_WAIT_SEND => (Reason::FullQueue, None),
            ids::STREAM_WAIT_RECEIVE | ids::STREAM_WAIT_SEND => (Reason::Stream, None),
            ids::GROUP_WAIT => (Reason::Group, None),
            ids::NOTIFY_WAIT => (Reason::Notification, None),
            ids::DELAY | ids::DELAY_UNTIL => (Reason::Delay, None),
            id => return self.granted(id, number, object, next, trace),
        };
        let task = self.task(number, trace);
        (task.state, task.asked) = (State::Stopped(waits.0), waits.1);
        next
    }

    fn granted(&mut self, id: u8, number: u32, object: u32, next: Next, trace: &mut Trace) -> Next {
        let (kind, derived) = match id {
            ids::MUTEX_LOCK => (DefinitionKind::Mutex, derived::MUTEX_LOCK_AFTER_WAIT),
            ids::SEMAPHORE_TAKE => (DefinitionKind::Semaphore, derived::SEMAPHORE_TAKE_AFTER_WAIT),
            _ => return next,
        };
        let asked = self.task(number, trace).asked.take();
        if asked == Some((kind, object)) { next.derived(derived) } else { next }
    }
}

impl Next {
    /// Returns a row with the recorded id and arguments.
    fn of(id: u8, [first, second]: [u64; 2]) -> Self {
        Self { id: u32::from(id), slots: [first, second, 0], count: usize::from(id >> 6).min(2) }
    }

    fn derived(self, id: u32) -> Self {
        Self { id, ..self }
    }

    fn with(self, id: u32, arguments: &[u64]) -> Self {
        let mut slots = [0; 3];
        slots.iter_mut().zip(arguments).for_each(|(slot, argument)| *slot = *argument);
        Self { id, slots, count: arguments.len().min(3) }
    }
}

fn special(trace: &mut Trace, key: u64, kind: ContextKind, name: &str) -> ContextId {
    match trace.contexts.find(key) {
        Some(known) => known,
        None => {
            let name = name.to_owned();
            trace.contexts.add(Context { key, key_text: name.clone(), kind, name, object: None })
        }
    }
}
