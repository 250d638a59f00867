//! The tasks, interrupts, resources and markers of a stream, with their names.

use std::collections::HashMap;

use foldhash::fast::RandomState;

use crate::format::recent_contexts::RecentContexts;
use crate::model::{
    Context, ContextId, ContextKind, Emitter, Flow, Lifetime, Object, ObjectId, Trace,
};
use crate::text::shown;

/// Keys of contexts that are not tasks. Keys of tasks are addresses of 32 bits.
mod key {
    pub(super) const INTERRUPT: u64 = 1 << 32;
    pub(super) const IDLE: u64 = 2 << 32;
    pub(super) const SCHEDULER: u64 = 3 << 32;
    pub(super) const UNKNOWN: u64 = 4 << 32;
}

/// Maximum number of names of each kind: interrupts, markers and series.
const MAX_NAMES: usize = 1 << 16;

/// The life of a task at an address.
#[derive(Debug)]
struct Task {
    context: ContextId,
    object: ObjectId,
    name: Vec<u8>,
    priority: Option<u32>,
    stack: Option<(u32, u32)>,
    ended: bool,
}

/// The names so far.
#[derive(Debug, Default)]
pub(super) struct Names {
    tasks: HashMap<u64, Task, RandomState>,
    resources: HashMap<u64, ObjectId, RandomState>,
    interrupts: HashMap<u64, String, RandomState>,
    markers: HashMap<u64, String, RandomState>,
    series: HashMap<u64, String, RandomState>,
    /// The contexts of tasks, interrupts and idle cores, by the keys of the contexts.
    recent: RecentContexts,
}

/// A table that assigns names to numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Numbers {
    Interrupts,
    Markers,
    Series,
}

impl Names {
    /// Returns true if a task has this address, or if no task is known.
    pub(super) fn may_be_task(&self, address: u64) -> bool {
        self.tasks.is_empty() || self.tasks.contains_key(&address)
    }

    /// Returns the context of the task at this address. Creates it if necessary.
    #[inline]
    pub(super) fn task(&mut self, trace: &mut Trace, address: u64) -> ContextId {
        match self.recent.get(address) {
            Some(context) => context,
            None => self.other_task(trace, address),
        }
    }

    /// Returns the context of a task to which no recent event refers.
    #[cold]
    fn other_task(&mut self, trace: &mut Trace, address: u64) -> ContextId {
        let context = match self.tasks.get(&address) {
            Some(task) => task.context,
            None => self.new_task(trace, address, None),
        };
        self.recent.set(address, context);
        context
    }

    #[cold]
    fn new_task(&mut self, trace: &mut Trace, address: u64, from: Option<u64>) -> ContextId {
        let key_text = format!("0x{address:08X}");
        let label = format!("task {key_text}");
        let object = trace.objects.add(Object {
            key: address,
            kind: super::TASK,
            name: Vec::new(),
            label: label.clone(),
            parameters: Vec::new(),
            priority: None,
            alive: None,
            lifetime: Lifetime { from, until: None },
            record: Vec::new(),
        });
        let kind = ContextKind::Thread;
        let new = Context { key: address, key_text, kind, name: label, object: Some(object) };
        let context = trace.contexts.replace(new);
        self.recent.set(address, context);
        let (name, priority, stack, ended) = (Vec::new(), None, None, false);
        self.tasks.insert(address, Task { context, object, name, priority, stack, ended });
        context
    }

    /// Begins the life of a new task at this address, if an earlier task at this address had a name
    /// or has ended.
    pub(super) fn create(&mut self, address: u64, ticks: u64, out: &mut Emitter<'_>) -> Flow {
        let used = self.tasks.get(&address).is_some_and(|task| !task.name.is_empty() || task.ended);
        if used {
            self.restart(address, ticks, out)?;
        }
        Flow::Continue(())
    }

    /// Replaces a task by another one with the same address.
    fn restart(&mut self, address: u64, ticks: u64, out: &mut Emitter<'_>) -> Flow {
        // Deliver the earlier events first, because they belong to the earlier task.
        out.flush()?;
        if let Some(task) = self.tasks.get(&address)
            && !task.ended
        {
            out.trace.objects.delete(task.object, ticks);
        }
        self.new_task(out.trace, address, Some(ticks));
        Flow::Continue(())
    }

    /// Sets the name and the priority of a task. A different name means a different task.
    pub(super) fn describe(
        &mut self,
        address: u64,
        priority: u32,
        name: &[u8],
        ticks: u64,
        out: &mut Emitter<'_>,
    ) -> Flow {
        let other = |task: &Task| task.ended || (!task.name.is_empty() && task.name != name);
        if self.tasks.get(&address).is_some_and(other) {
            self.restart(address, ticks, out)?;
        }
        self.task(out.trace, address);
        if let Some(task) = self.tasks.get_mut(&address) {
            name.clone_into(&mut task.name);
            task.priority = Some(priority);
            task.apply(out.trace, address);
        }
        Flow::Continue(())
    }

    /// Sets the stack of a task.
    pub(super) fn stack(&mut self, trace: &mut Trace, address: u64, base: u32, size: u32) {
        // When a priority changes, targets report an empty stack.
        if let Some(task) = self.tasks.get_mut(&address)
            && size > 0
        {
            task.stack = Some((base, size));
            task.apply(trace, address);
        }
    }

    /// Ends the life of a task.
    pub(super) fn end(&mut self, trace: &mut Trace, address: u64, ticks: u64) {
        if let Some(task) = self.tasks.get_mut(&address) {
            task.ended = true;
            trace.objects.delete(task.object, ticks);
        }
    }

    /// Sets the name of a resource.
    pub(super) fn resource(&mut self, trace: &mut Trace, address: u64, name: &[u8]) {
        let label = match name {
            [] => format!("resource 0x{address:08X}"),
            name => shown(name).into_owned(),
        };
        if let Some(object) = self.resources.get(&address) {
            return trace.objects.describe(*object, &label, Vec::new());
        }
        let object = trace.objects.add(Object {
            key: address,
            kind: super::RESOURCE,
            name: name.to_vec(),
            label,
            parameters: Vec::new(),
            priority: None,
            alive: None,
            lifetime: Lifetime::default(),
            record: Vec::new(),
        });
        self.resources.insert(address, object);
    }

    /// Returns the context of an interrupt.
    #[inline]
    pub(super) fn interrupt(&mut self, trace: &mut Trace, number: u32) -> ContextId {
        let key = key::INTERRUPT | u64::from(number);
        match self.recent.get(key) {
            Some(context) => context,
            None => self.other_interrupt(trace, number, key),
        }
    }

    /// Returns the context of an interrupt that is not among the recent contexts.
    #[cold]
    fn other_interrupt(&mut self, trace: &mut Trace, number: u32, key: u64) -> ContextId {
        let context = trace.contexts.find(key).unwrap_or_else(|| {
            let name = self.interrupts.get(&u64::from(number)).cloned();
            trace.contexts.add(Context {
                key,
                key_text: number.to_string(),
                kind: ContextKind::Interrupt,
                name: name.unwrap_or_else(|| format!("isr {number}")),
                object: None,
            })
        });
        self.recent.set(key, context);
        context
    }

    /// Returns the context of a core that has no ready task.
    #[inline]
    pub(super) fn idle(&mut self, trace: &mut Trace, cpu: u16) -> ContextId {
        let key = key::IDLE | u64::from(cpu);
        match self.recent.get(key) {
            Some(context) => context,
            None => self.other_idle(trace, cpu, key),
        }
    }

    /// Returns the context of an idle core that is not among the recent contexts.
    #[cold]
    fn other_idle(&mut self, trace: &mut Trace, cpu: u16, key: u64) -> ContextId {
        let name = if cpu == 0 { "idle".to_owned() } else { format!("idle {cpu}") };
        let context = system(trace, key, name, ContextKind::System);
        self.recent.set(key, context);
        context
    }

    /// Returns the context of the scheduler, which runs between two tasks.
    pub(super) fn scheduler(trace: &mut Trace) -> ContextId {
        system(trace, key::SCHEDULER, "scheduler".to_owned(), ContextKind::System)
    }

    /// Returns the context of events whose context is unknown.
    pub(super) fn unknown(trace: &mut Trace) -> ContextId {
        system(trace, key::UNKNOWN, "unknown".to_owned(), ContextKind::Unknown)
    }

    /// Sets the name of a number. Returns false if the number already has this name, or if there
    /// are already [`MAX_NAMES`] names.
    pub(super) fn set(
        &mut self,
        trace: &mut Trace,
        numbers: Numbers,
        number: u32,
        name: &[u8],
    ) -> bool {
        let name = shown(name).into_owned();
        // The interrupt may have occurred before its name arrived. Then its context already exists.
        if numbers == Numbers::Interrupts
            && let Some(known) = trace.contexts.find(key::INTERRUPT | u64::from(number))
        {
            trace.contexts.rename(known, &name, None);
        }
        let table = match numbers {
            Numbers::Interrupts => &mut self.interrupts,
            Numbers::Markers => &mut self.markers,
            Numbers::Series => &mut self.series,
        };
        // A full table still accepts new names for known numbers.
        let is_full = table.len() >= MAX_NAMES;
        match table.get(&u64::from(number)) {
            Some(known) if *known == name => return false,
            None if is_full => return false,
            _ => {}
        }
        table.insert(u64::from(number), name);
        true
    }

    /// Returns the names of numbers.
    pub(super) fn numbers(&self, numbers: Numbers) -> impl Iterator<Item = (u64, String)> {
        let table = match numbers {
            Numbers::Interrupts => &self.interrupts,
            Numbers::Markers => &self.markers,
            Numbers::Series => &self.series,
        };
        table.iter().map(|(number, name)| (*number, name.clone()))
    }
}

impl Task {
    fn apply(&self, trace: &mut Trace, address: u64) {
        let label = match self.name.as_slice() {
            [] => format!("task 0x{address:08X}"),
            name => shown(name).into_owned(),
        };
        let (base, size) = self.stack.unwrap_or_default();
        let priority = self.priority.unwrap_or_default();
        let parameters = [priority, base, size].map(u64::from);
        trace.objects.describe(self.object, &label, parameters.to_vec());
        trace.contexts.rename(self.context, &label, Some(self.object));
    }
}

fn system(trace: &mut Trace, key: u64, name: String, kind: ContextKind) -> ContextId {
    if let Some(known) = trace.contexts.find(key) {
        return known;
    }
    let key_text = "-".to_owned();
    trace.contexts.add(Context { key, key_text, kind, name, object: None })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::Settings;

    #[test]
    fn names_beyond_the_limit_are_no_change() {
        let decoder = super::super::FORMAT.decoder(&Settings::default()).unwrap();
        let (mut trace, mut names) = (decoder.trace(), Names::default());
        let mut set = |number, name| names.set(&mut trace, Numbers::Markers, number, name);
        assert!((0..1 << 16).all(|number| set(number, b"old")));
        assert!(!set(1 << 16, b"old") && !set(7, b"old"));
        assert!(set(7, b"new") && !set(7, b"new"));
        assert_eq!(names.numbers(Numbers::Markers).count(), 1 << 16);
    }
}
