//! Selects events by context, event, object, argument, time and number.
//!
//! A [`Selection`] contains the conditions that a user typed. A [`Selector`] applies them. It
//! caches the results, so it compares each context and each event id only once.

mod bound;
pub(crate) mod expression;
mod ids;
mod listing;
pub(crate) mod messages;
mod names;
mod number_list;
mod pattern;
mod ranged;
mod selected;
mod share;
mod unknown_names;
mod unknown_values;

use std::collections::HashSet;

use foldhash::fast::RandomState;

use crate::model::schema::ArgumentKind;
use crate::model::{Context, Event, Flow, NoDates, SeenContexts, Stop, Trace};
pub use crate::model::{did_you_mean, nearest};
pub use bound::{Bound, BoundError, MomentError};
pub use expression::Expression;
use expression::Filter;
pub use ids::{Group, IdError, IdOrName, IdPattern, groups};
pub use listing::Listing;
pub(crate) use names::{
    ArgumentPlace, EventNames, argument_place, has_argument, is_argument, is_context, is_event,
    is_object, spoken,
};
pub use number_list::{NumberList, NumberListError, elements};
use pattern::is_key;
pub(crate) use pattern::like;
pub use ranged::{CountsInRange, Covered, Ranged};
pub use selected::Selected;
pub use share::{Share, ShareError};
pub(crate) use unknown_names::{event_id, has_event, nearest_event, trailing_id};
pub(crate) use unknown_values::unknown_values;

/// The events that a user selects. Empty lists and absent bounds select everything.
///
/// ```
/// use tracewell::report::{Report, ReportOptions};
/// use tracewell::select::Selection;
///
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/threadx/tiny.trx");
/// let events = vec!["tx_mutex_*".to_owned()];
/// let selection = Selection { events, head: Some(2), ..Selection::default() };
/// let mut report = Report::new(Vec::new(), ReportOptions { selection, ..Default::default() });
/// tracewell::open(path)?.read(&mut report)?;
/// let text = String::from_utf8(report.into_inner()?)?;
/// assert_eq!(text.matches("tx_mutex_create").count(), 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Selection {
    /// Names or keys of contexts; in a name, `*` matches any text.
    pub contexts: Vec<String>,
    /// Names, labels or ids of events; a name or label may contain `*`.
    pub events: Vec<String>,
    /// Names or keys of objects to which an argument refers; a name may contain `*`.
    pub objects: Vec<String>,
    /// Ids or names of events. If the list is not empty, only the listed events are selected.
    pub ids: Vec<IdOrName>,
    /// Ids or names of events that are excluded.
    pub without_ids: Vec<IdOrName>,
    /// Numbers of processors. The first processor has number 0. An empty list selects all.
    pub cpus: NumberList,
    /// Names or keys of threads; a name may contain `*`.
    pub threads: Vec<String>,
    /// Ids of processes, or names of their programs; a name may contain `*`.
    pub processes: Vec<String>,
    /// Expressions about the fields of an event. The event must meet all of them.
    pub expressions: Vec<Expression>,
    /// Earliest time of the events to select.
    pub from: Option<Bound>,
    /// Latest time of the events to select.
    pub to: Option<Bound>,
    /// Maximum number of events, counted from the first selected event.
    pub head: Option<u64>,
    /// Maximum number of events, counted back from the last selected event. A [`Selector`] ignores
    /// this limit, because the last events are known only at the end; see
    /// [`Input::select`](crate::input::Input::select).
    pub tail: Option<usize>,
    /// Number of events to skip at the start. Only events that meet all other conditions count.
    pub skip: u64,
}

/// Error for a selection that needs data that the trace does not contain.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum SelectionError {
    /// The selection contains times, but the trace's clock has no known rate.
    #[error(
        "times need a clock of known rate: give ticks, or the rate with -O rate=TICKS_PER_SECOND"
    )]
    NoRate,
    /// The selection contains dates, but the dates of events are not known.
    #[error(transparent)]
    NoDates(#[from] NoDates),
    /// The range of time ends before it begins.
    #[error("the range ends before it begins: it is from {from} to {to}")]
    Reversed {
        /// The beginning, as text.
        from: String,
        /// The end, as text.
        to: String,
    },
    /// The selection for a chart names processors, but the trace does not show what ran on them.
    #[error(
        "processors can be selected only if the trace records what runs on them; this trace does not"
    )]
    NoCores,
}

impl Selection {
    /// Returns true if everything is selected.
    pub fn is_all(&self) -> bool {
        let Self { contexts, events, objects, ids, without_ids, .. } = self;
        let Self { cpus, threads, processes, expressions, from, to, head, tail, skip, .. } = self;
        let lists = [contexts, events, objects, threads, processes];
        lists.iter().all(|list| list.is_empty())
            && ids.is_empty()
            && without_ids.is_empty()
            && cpus.is_empty()
            && expressions.is_empty()
            && from.is_none()
            && to.is_none()
            && head.is_none()
            && tail.is_none()
            && *skip == 0
    }

    /// Returns true if the selection refers to contexts or objects by name. To apply such a
    /// selection, a reader must know all names before the first event; see
    /// [`Input::read_named`](crate::input::Input::read_named).
    pub fn has_names(&self) -> bool {
        let lists = [&self.contexts, &self.objects, &self.threads, &self.processes];
        lists.iter().any(|list| !list.is_empty()) || !self.expressions.is_empty()
    }

    /// Returns true if the selection contains names or ids of events.
    pub fn has_events(&self) -> bool {
        !(self.events.is_empty() && self.ids.is_empty() && self.without_ids.is_empty())
    }

    /// Checks that a trace contains the data that the selection needs.
    ///
    /// # Errors
    /// Returns an error if the selection contains times but the clock has no known rate, if it
    /// contains dates but the trace has no wall clock, or if its range ends before it begins.
    pub fn check(&self, trace: &Trace) -> Result<(), SelectionError> {
        let timed = |bound: Option<Bound>| matches!(bound, Some(Bound::Nanoseconds(_)));
        if trace.clock.rate.is_none() && (timed(self.from) || timed(self.to)) {
            return Err(SelectionError::NoRate);
        }
        let dated = |bound: Option<Bound>| matches!(bound, Some(Bound::WallClock(_)));
        if dated(self.from) || dated(self.to) {
            trace.check_dates()?;
        }
        match (self.from, self.to) {
            (Some(from), Some(to)) if to.precedes(trace, from) => {
                Err(SelectionError::Reversed { from: from.spoken(), to: to.spoken() })
            }
            _ => Ok(()),
        }
    }
}

/// Decides for each event of a trace whether it is selected. Caches the results per event id and
/// context.
#[derive(Debug)]
pub struct Selector {
    selection: Selection,
    filter: Filter,
    contexts: Vec<bool>,
    seen_contexts: SeenContexts,
    events: Vec<Option<bool>>,
    objects: HashSet<u64, RandomState>,
    objects_seen: usize,
    taken: u64,
}

impl Selector {
    /// Returns a selector with an empty cache.
    pub fn new(selection: Selection) -> Self {
        let objects = HashSet::default();
        let (contexts, events) = (Vec::new(), Vec::new());
        let seen_contexts = SeenContexts::default();
        let filter = Filter::new(&selection.expressions);
        Self {
            selection,
            filter,
            contexts,
            seen_contexts,
            events,
            objects,
            objects_seen: 0,
            taken: 0,
        }
    }

    /// Returns true if the event is selected. Returns a break if no later event can be selected.
    #[inline]
    pub fn takes(&mut self, event: Event<'_>) -> Flow<bool> {
        let Event { trace, row } = event;
        if self.selection.head.is_some_and(|head| self.taken >= head) {
            return Flow::Break(Stop::Complete);
        }
        self.filter.follow(event);
        // Events are in order of time, so no later event can be selected.
        if self.selection.to.is_some_and(|to| to.is_before(trace, row.ticks)) {
            return Flow::Break(Stop::Complete);
        }
        let takes = !self.selection.from.is_some_and(|from| from.is_after(trace, row.ticks))
            && self.takes_cpu(row.cpu)
            && self.takes_context(event)
            && self.takes_event(trace, row.id)
            && self.takes_object(event)
            && (self.selection.expressions.is_empty() || self.filter.takes(event));
        // `head` counts selected events, not all events.
        self.taken += u64::from(takes);
        Flow::Continue(takes && self.taken > self.selection.skip)
    }

    fn takes_cpu(&self, cpu: u16) -> bool {
        let wanted = &self.selection.cpus;
        wanted.is_empty() || wanted.contains(cpu)
    }

    fn takes_context(&mut self, Event { trace, row }: Event<'_>) -> bool {
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
        // Compare only contexts that are new or have a new name.
        trace.contexts.update(&mut self.contexts, seen, |_, context| takes(context));
        self.contexts.get(row.context.index()).is_some_and(|takes| *takes)
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
        // Ids may have 32 bits, so a table with an entry for every id could fill the memory.
        if index >= MAX_CACHED_IDS {
            return matches();
        }
        if index >= self.events.len() {
            self.events.resize(index + 1, None);
        }
        *self.events[index].get_or_insert_with(matches)
    }

    fn takes_object(&mut self, event: Event<'_>) -> bool {
        let trace = event.trace;
        let wanted = &self.selection.objects;
        if wanted.is_empty() {
            return true;
        }
        // Objects are never removed, so compare only the objects that are new.
        for (_, object) in trace.objects.iter_from(self.objects_seen) {
            if wanted.iter().any(|wanted| is_object(wanted, object)) {
                self.objects.insert(object.key);
            }
        }
        self.objects_seen = trace.objects.len();
        let named = |index: usize, kind: Option<u32>| {
            let Some(value) = event.argument(index) else { return false };
            let key = trace.schema.key(kind, value);
            // An address selects events even if no object is registered there.
            self.objects.contains(&key) || wanted.iter().any(|w| is_key(w, value))
        };
        let args = &event.kind().args;
        args.iter().enumerate().any(|(index, arg)| match arg.kind {
            ArgumentKind::Object(kind) => named(index, kind),
            _ => false,
        })
    }
}

/// Returns true if a word identifies the process of a context. The word can be the process id or
/// the name of the program. In traces without processes, it can be the key of the context.
fn is_process(wanted: &str, trace: &Trace, context: &Context) -> bool {
    let id = trace.process_of(context).unwrap_or(context.key);
    like(wanted, &context.name) || is_key(wanted, id)
}

/// The selector caches the results for ids below this number. For larger ids, it compares each
/// event.
const MAX_CACHED_IDS: usize = 1 << 16;
