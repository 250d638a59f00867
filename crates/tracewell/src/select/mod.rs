//! Which events to show: by context, event, object, time and place in the list.
//!
//! A [`Selection`] is what a user typed. A [`Selector`] applies it and remembers its answers, so
//! that a context or an event id costs one comparison of text for the whole trace.

mod bound;
mod doubts;
mod ids;
mod names;
mod pattern;

use std::collections::HashSet;
use std::ops::{ControlFlow, RangeInclusive};

use foldhash::fast::RandomState;

use crate::model::schema::ArgumentKind;
use crate::model::{Context, EventRef, SeenContexts, Trace};
pub use bound::{Bound, BoundError};
pub use doubts::did_you_mean;
pub(crate) use doubts::{has_event, nearest_event};
pub use ids::{Group, IdError, IdOrName, IdPattern, groups};
pub use names::nearest;
pub(crate) use names::{EventNames, argument, is_argument, is_context, is_event, is_object};
use pattern::is_key;
pub(crate) use pattern::like;

/// Which events to show. Empty lists and absent bounds select everything.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    /// Names (with `*` for any text) or keys of contexts.
    pub contexts: Vec<String>,
    /// Names or labels (with `*`) or ids of events.
    pub events: Vec<String>,
    /// Names (with `*`) or keys of objects that an argument refers to.
    pub objects: Vec<String>,
    /// Ids or names of events; if any are given, only these.
    pub ids: Vec<IdOrName>,
    /// Ids or names of events that are left out.
    pub without_ids: Vec<IdOrName>,
    /// Processors, from and to.
    pub cpus: Vec<RangeInclusive<u16>>,
    /// Names (with `*`) or keys of threads.
    pub threads: Vec<String>,
    /// Ids of processes, or names (with `*`) of what runs.
    pub processes: Vec<String>,
    /// Not before this time.
    pub from: Option<Bound>,
    /// Not after this time.
    pub to: Option<Bound>,
    /// At most so many of the selected events, the first ones.
    pub head: Option<u64>,
    /// At most so many of the selected events, the last ones.
    pub tail: Option<usize>,
}

/// A selection cannot be applied to a trace.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum SelectionError {
    /// A time was given and the trace does not know how long a tick is.
    #[error(
        "times need a clock of known rate: give ticks, or the rate with -O rate=TICKS_PER_SECOND"
    )]
    NoRate,
    /// A date was given and the trace does not know when it was recorded.
    #[error("dates need a trace that says when it was recorded, which this one does not")]
    NoWallClock,
}

impl Selection {
    /// Whether contexts or objects are named, so that it matters when a trace tells their names.
    pub fn has_names(&self) -> bool {
        let lists = [&self.contexts, &self.objects, &self.threads, &self.processes];
        lists.iter().any(|list| !list.is_empty())
    }

    /// Whether this selection can be applied to this trace.
    ///
    /// # Errors
    /// Where it names times and the trace's clock has no rate.
    pub fn check(&self, trace: &Trace) -> Result<(), SelectionError> {
        let timed = |bound: Option<Bound>| matches!(bound, Some(Bound::Nanoseconds(_)));
        if trace.clock.rate.is_none() && (timed(self.from) || timed(self.to)) {
            return Err(SelectionError::NoRate);
        }
        let dated = |bound: Option<Bound>| matches!(bound, Some(Bound::WallClock(_)));
        if trace.wall_clock_ns(0).is_none() && (dated(self.from) || dated(self.to)) {
            return Err(SelectionError::NoWallClock);
        }
        Ok(())
    }
}

/// Applies a selection.
#[derive(Debug)]
pub struct Selector {
    selection: Selection,
    contexts: Vec<bool>,
    seen_contexts: SeenContexts,
    events: Vec<Option<bool>>,
    objects: HashSet<u64, RandomState>,
    objects_seen: usize,
    taken: u64,
}

impl Selector {
    /// Makes a selector that has answered nothing yet.
    pub fn new(selection: Selection) -> Self {
        let objects = HashSet::default();
        let (contexts, events) = (Vec::new(), Vec::new());
        let seen_contexts = SeenContexts::default();
        Self { selection, contexts, seen_contexts, events, objects, objects_seen: 0, taken: 0 }
    }

    /// Whether everything is selected, so that nothing needs to be asked.
    pub fn takes_all(&self) -> bool {
        let Selection { contexts, events, objects, ids, without_ids, .. } = &self.selection;
        let Selection { cpus, threads, processes, from, to, head, .. } = &self.selection;
        let lists = [contexts, events, objects, threads, processes];
        lists.iter().all(|list| list.is_empty())
            && ids.is_empty()
            && without_ids.is_empty()
            && cpus.is_empty()
            && from.is_none()
            && to.is_none()
            && head.is_none()
    }

    /// Whether to show this event; breaks when no later one will be shown.
    #[inline]
    pub fn takes(&mut self, trace: &Trace, event: &EventRef<'_>) -> ControlFlow<(), bool> {
        if self.selection.head.is_some_and(|head| self.taken >= head) {
            return ControlFlow::Break(());
        }
        let before = |bound| match bound {
            Bound::Ticks(ticks) => event.ticks < ticks,
            Bound::Nanoseconds(ns) => trace.clock.nanoseconds(event.ticks) < Some(ns),
            Bound::WallClock(ns) => trace.wall_clock_ns(event.ticks) < Some(ns),
        };
        let after = |bound| match bound {
            Bound::Ticks(ticks) => event.ticks > ticks,
            Bound::Nanoseconds(ns) => trace.clock.nanoseconds(event.ticks) > Some(ns),
            Bound::WallClock(ns) => trace.wall_clock_ns(event.ticks) > Some(ns),
        };
        if self.selection.to.is_some_and(after) {
            return ControlFlow::Break(());
        }
        let takes = !self.selection.from.is_some_and(before)
            && self.takes_cpu(event.cpu)
            && self.takes_context(trace, event)
            && self.takes_event(trace, event.id)
            && self.takes_object(trace, event);
        self.taken += u64::from(takes);
        ControlFlow::Continue(takes)
    }

    fn takes_cpu(&self, cpu: u16) -> bool {
        let wanted = &self.selection.cpus;
        wanted.is_empty() || wanted.iter().any(|range| range.contains(&cpu))
    }

    fn takes_context(&mut self, trace: &Trace, event: &EventRef<'_>) -> bool {
        let Selection { contexts, threads, processes, .. } = &self.selection;
        if contexts.is_empty() && threads.is_empty() && processes.is_empty() {
            return true;
        }
        let any = |wanted: &[String], is: &dyn Fn(&str) -> bool| {
            wanted.is_empty() || wanted.iter().any(|wanted| is(wanted))
        };
        let takes = |context: &Context| {
            any(contexts, &|wanted| is_context(wanted, context))
                && any(threads, &|wanted| is_context(wanted, context))
                && any(processes, &|wanted| is_process(wanted, trace, context))
        };
        let seen = &mut self.seen_contexts;
        trace.contexts.update(&mut self.contexts, seen, |_, context| takes(context));
        self.contexts.get(event.context.index()).is_some_and(|takes| *takes)
    }

    fn takes_event(&mut self, trace: &Trace, id: u32) -> bool {
        let Selection { events: wanted, ids, without_ids, .. } = &self.selection;
        if wanted.is_empty() && ids.is_empty() && without_ids.is_empty() {
            return true;
        }
        let matches = || {
            let schema = &trace.schema;
            let listed = |list: &[IdOrName]| list.iter().any(|wanted| wanted.matches(schema, id));
            (wanted.is_empty() || wanted.iter().any(|wanted| is_event(wanted, schema, id)))
                && (ids.is_empty() || listed(ids))
                && !listed(without_ids)
        };
        let index = id as usize;
        if index >= REMEMBERED_IDS {
            return matches();
        }
        if index >= self.events.len() {
            self.events.resize(index + 1, None);
        }
        *self.events[index].get_or_insert_with(matches)
    }

    fn takes_object(&mut self, trace: &Trace, event: &EventRef<'_>) -> bool {
        let wanted = &self.selection.objects;
        if wanted.is_empty() {
            return true;
        }
        for (_, object) in trace.objects.iter().skip(self.objects_seen) {
            if wanted.iter().any(|wanted| is_object(wanted, object)) {
                self.objects.insert(object.key);
            }
        }
        self.objects_seen = trace.objects.len();
        let named = |index: usize, kind: Option<u32>| {
            let Some(value) = trace.payload.argument(event.payload, index) else { return false };
            let key = trace.schema.key(kind, value);
            self.objects.contains(&key) || wanted.iter().any(|w| is_key(w, value))
        };
        let args = &trace.schema.event(event.id).args;
        args.iter().enumerate().any(|(index, arg)| match arg.kind {
            ArgumentKind::Object(kind) => named(index, kind),
            _ => false,
        })
    }
}

/// Returns true if a user may call the process of a context so: by its id, by the name of what runs, and by the
/// key of the context in traces that know no processes.
fn is_process(wanted: &str, trace: &Trace, context: &Context) -> bool {
    let id = trace.process_of(context).unwrap_or(context.key);
    like(wanted, &context.name) || is_key(wanted, id)
}

/// Ids up to here are remembered; larger ones are looked at each time they come.
const REMEMBERED_IDS: usize = 1 << 16;
