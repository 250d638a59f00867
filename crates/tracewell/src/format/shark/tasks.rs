//! Maps context numbers to tasks over time.
//!
//! A context number is the selector of a task's state segment. The kernel reuses selectors and pids
//! after a task has ended. An `id` record assigns a pid to the task with a given context number.
//! `task_create` assigns a number to a new task. `task_end` ends the task, but the later record of
//! the final switch away from the task still refers to it. Until `id` or `task_create` names a
//! context number, the number stands for a task without a pid.

use std::collections::HashMap;

use foldhash::fast::RandomState;
use tracewell_wire::shark::ids;

use crate::format::Names;
use crate::model::{
    Context, ContextId, ContextKind, Lifetime, MaybeContext, Object, ObjectId, Trace,
};

/// Type code of tasks in the schema.
const TASK: u32 = 1;

/// Keys of contexts that are not tasks. They are larger than all selectors.
const INTERRUPT: u64 = 0x1_0000;
const UNKNOWN: u64 = 0x1_0001;

/// Number of possible context numbers.
const NUMBERS: usize = 1 << 16;

/// The task to which a context number refers.
#[derive(Clone, Copy, Debug)]
struct Task {
    context: ContextId,
    pid: Option<u32>,
    /// True if the trace shows any activity of the task.
    used: bool,
}

/// The tasks to which the context numbers refer at the current position.
#[derive(Debug)]
pub(super) struct Tasks {
    by_number: HashMap<u16, Task, RandomState>,
    /// For each context number: the context of its task, if the task was used. The kernel and the
    /// other numbers have no context here.
    used: Box<[MaybeContext; NUMBERS]>,
    names: Names,
}

impl Tasks {
    pub(super) fn new(names: Names) -> Self {
        let used = Box::new([MaybeContext::NONE; NUMBERS]);
        Self { by_number: HashMap::default(), used, names }
    }

    /// Returns the names that the user gave.
    pub(super) fn names(&self) -> &Names {
        &self.names
    }

    /// Returns the context of the task to which a number refers, if the task was used before.
    /// Returns `None` for the kernel, because the kernel's own context is not a task.
    #[inline(always)]
    pub(super) fn used(&self, number: u16) -> MaybeContext {
        self.used[usize::from(number)]
    }

    /// Returns the task to which a number refers. If there is no such task, adds a task without a
    /// pid.
    pub(super) fn met(&mut self, trace: &mut Trace, number: u16, used: bool) -> ContextId {
        match self.by_number.get_mut(&number) {
            Some(task) => {
                task.used |= used;
                let task = *task;
                self.remember(number, task);
                task.context
            }
            None => self.begin(trace, number, None, None, used),
        }
    }

    /// Returns true if an `id` or `task_create` with this pid shows that the number now belongs to
    /// another task.
    pub(super) fn replaces(&self, number: u16, pid: u32, created: bool) -> bool {
        self.by_number.get(&number).is_some_and(|task| match task.pid {
            // The activity before `task_create` belongs to another task, whose pid is unknown.
            None => created && task.used,
            Some(known) => created || known != pid,
        })
    }

    /// Stores the pid of a task that exists (`id`) or was created (`task_create`).
    pub(super) fn named(&mut self, trace: &mut Trace, number: u16, pid: u32, ticks: Option<u64>) {
        let created = ticks.is_some();
        match self.by_number.get(&number).copied() {
            Some(_) if self.replaces(number, pid, created) => {
                self.begin(trace, number, Some(pid), ticks, false);
            }
            Some(Task { pid: Some(_), .. }) => {}
            // The number was used before its pid was known, so give the same task a name.
            Some(Task { context, used, .. }) => {
                self.by_number.insert(number, Task { context, pid: Some(pid), used });
                let name = self.name(number, Some(pid));
                rename(trace, context, &name, pid, ticks);
            }
            None => {
                self.begin(trace, number, Some(pid), ticks, false);
            }
        }
    }

    /// Records the end of a task.
    pub(super) fn ended(&mut self, trace: &mut Trace, number: u16, ticks: u64) {
        let context = self.met(trace, number, false);
        if let Some(object) = object_of(trace, context) {
            trace.objects.delete(object, ticks);
        }
    }

    #[cold]
    fn begin(
        &mut self,
        trace: &mut Trace,
        number: u16,
        pid: Option<u32>,
        created: Option<u64>,
        used: bool,
    ) -> ContextId {
        let name = self.name(number, pid);
        let object = trace.objects.add(Object {
            key: u64::from(number),
            kind: TASK,
            name: Vec::new(),
            label: name.clone(),
            parameters: pid.map(u64::from).into_iter().collect(),
            priority: None,
            alive: None,
            lifetime: Lifetime { from: created, ..Lifetime::default() },
            record: Vec::new(),
        });
        // Earlier events keep the context that the number had before.
        let context = trace.contexts.replace(Context {
            key: u64::from(number),
            key_text: format!("0x{number:04X}"),
            kind: kind_of(number),
            name,
            object: Some(object),
        });
        let task = Task { context, pid, used };
        self.by_number.insert(number, task);
        self.remember(number, task);
        context
    }

    /// Updates the context that [`Tasks::used`] returns for a number.
    fn remember(&mut self, number: u16, task: Task) {
        let used = task.used && number != ids::context::KERNEL;
        self.used[usize::from(number)] = used.then_some(task.context).into();
    }

    fn name(&self, number: u16, pid: Option<u32>) -> String {
        match pid {
            _ if number == ids::context::KERNEL => "kernel".to_owned(),
            None => format!("context 0x{number:04X}"),
            Some(pid) => match self.names.of(u64::from(pid)) {
                Some(name) => name.to_owned(),
                None => format!("pid {pid}"),
            },
        }
    }
}

/// The kernel's own context is not a task: no scheduler chooses or releases it.
fn kind_of(number: u16) -> ContextKind {
    match number {
        ids::context::KERNEL => ContextKind::System,
        _ => ContextKind::Thread,
    }
}

fn rename(trace: &mut Trace, context: ContextId, name: &str, pid: u32, created: Option<u64>) {
    let object = object_of(trace, context);
    if let Some(object) = object {
        trace.objects.describe(object, name, vec![u64::from(pid)]);
        trace.objects.begin(object, created);
    }
    trace.contexts.rename(context, name, object);
}

fn object_of(trace: &Trace, context: ContextId) -> Option<ObjectId> {
    trace.contexts.get(context)?.object
}

/// Returns the context of interrupts.
pub(super) fn interrupt(trace: &mut Trace) -> ContextId {
    special(trace, INTERRUPT, ContextKind::Interrupt, "Interrupt")
}

/// Returns the context of records whose task is unknown.
pub(super) fn unknown(trace: &mut Trace) -> ContextId {
    special(trace, UNKNOWN, ContextKind::Unknown, "unknown")
}

#[cold]
fn special(trace: &mut Trace, key: u64, kind: ContextKind, name: &str) -> ContextId {
    let name = name.to_owned();
    trace.contexts.add(Context { key, key_text: name.to_lowercase(), kind, name, object: None })
}
