//! Which task a context number means, and when.
//!
//! A context is the selector of a task's state segment. Selectors and pids are used again after a
//! task's end, so that a number names one task after the other: `id` says which pid has it now,
//! `task_create` gives it to a new task, `task_end` ends the task's life (its last switch still
//! names it). A number that turns up without either is a task without pid until one of them names it.

use std::collections::HashMap;

use foldhash::fast::RandomState;
use tracewell_wire::shark::ids;

use super::marks::MET;
use crate::format::Names;
use crate::model::{
    Context, ContextId, ContextKind, Lifetime, MaybeContext, Object, ObjectId, Trace,
};

/// Type code of tasks in the schema.
const TASK: u32 = 1;

/// The keys of contexts that are no tasks lie beyond every selector.
const INTERRUPT: u64 = 0x1_0000;
const UNKNOWN: u64 = 0x1_0001;

/// Numbers of contexts that a record can hold.
const NUMBERS: usize = 1 << 16;

/// The task that a context number names.
#[derive(Clone, Copy, Debug)]
struct Task {
    context: ContextId,
    pid: Option<u32>,
    /// Whether it did anything, as far as the trace shows.
    used: bool,
}

/// The tasks that the context numbers name now.
#[derive(Debug)]
pub(super) struct Tasks {
    by_number: HashMap<u16, Task, RandomState>,
    /// The same for the hot loop: the task of each number, if it was used.
    used: Box<[MaybeContext; NUMBERS]>,
    /// [`MET`] for each of these.
    met: Box<[u64; NUMBERS]>,
    names: Names,
}

impl Tasks {
    pub(super) fn new(names: Names) -> Self {
        let used = Box::new([MaybeContext::NONE; NUMBERS]);
        // Zeros that the system gives when they are touched: most traces have few numbers.
        let met = vec![0; NUMBERS].into_boxed_slice();
        let met = met.try_into().unwrap_or_else(|_| Box::new([0; NUMBERS]));
        Self { by_number: HashMap::default(), used, met, names }
    }

    /// The task that a number names, if it did something before.
    #[inline]
    pub(super) fn known(&self, number: u16) -> MaybeContext {
        self.used[usize::from(number)]
    }

    /// [`MET`] if there is one.
    #[inline(always)]
    pub(super) fn met_before(&self, number: u16) -> u64 {
        self.met[usize::from(number)]
    }

    /// The task that a number names; one without pid where it names none yet.
    pub(super) fn met(&mut self, trace: &mut Trace, number: u16, used: bool) -> ContextId {
        let context = match self.by_number.get_mut(&number) {
            Some(task) => {
                task.used |= used;
                task.context
            }
            None => self.begin(trace, number, None, None, used),
        };
        // What loads the kernel's context is always looked at: the hot loop goes by choices alone.
        if used && number != ids::context::KERNEL {
            self.used[usize::from(number)] = context.into();
            self.met[usize::from(number)] = MET;
        }
        context
    }

    /// Whether `id` or `task_create` with this pid makes a number name another task than before.
    pub(super) fn replaces(&self, number: u16, pid: u32, created: bool) -> bool {
        self.by_number.get(&number).is_some_and(|task| match task.pid {
            None => created && task.used,
            Some(known) => created || known != pid,
        })
    }

    /// A task exists (`id`), or is created.
    pub(super) fn named(&mut self, trace: &mut Trace, number: u16, pid: u32, ticks: Option<u64>) {
        let created = ticks.is_some();
        match self.by_number.get(&number).copied() {
            Some(_) if self.replaces(number, pid, created) => {
                self.begin(trace, number, Some(pid), ticks, false);
            }
            Some(Task { pid: Some(_), .. }) => {}
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

    /// The task ended.
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
        let context = trace.contexts.replace(Context {
            key: u64::from(number),
            key_text: format!("0x{number:04X}"),
            kind: kind_of(number),
            name,
            object: Some(object),
        });
        self.by_number.insert(number, Task { context, pid, used });
        self.used[usize::from(number)] = MaybeContext::NONE;
        self.met[usize::from(number)] = 0;
        context
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

/// The kernel's own context is no task: nothing chooses or releases it.
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

/// The context of interrupts.
pub(super) fn interrupt(trace: &mut Trace) -> ContextId {
    special(trace, INTERRUPT, ContextKind::Interrupt, "Interrupt")
}

/// The context of records of which nothing says who ran.
pub(super) fn unknown(trace: &mut Trace) -> ContextId {
    special(trace, UNKNOWN, ContextKind::Unknown, "unknown")
}

#[cold]
fn special(trace: &mut Trace, key: u64, kind: ContextKind, name: &str) -> ContextId {
    let name = name.to_owned();
    trace.contexts.add(Context { key, key_text: name.to_lowercase(), kind, name, object: None })
}
