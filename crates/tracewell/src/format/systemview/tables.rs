//! The schema of a stream. It contains the events that every stream has, and the events of the
//! operating system, of modules and of the user's files. It also contains the names that the stream
//! gives to numbers.

use std::collections::HashMap;
use std::sync::Arc;

use foldhash::fast::RandomState;
use tracewell_wire::systemview::{Packet, TextOrder, ids};

use super::FORMAT;
use super::grammar;
use super::kernels::Kernel;
use super::names::{Names, Numbers};
use crate::model::schema::{ArgumentKind, EventType, Extension, Schema, TableId};
use crate::model::{Emitter, Flow, Trace};

/// Maximum number of events of all modules.
const MAX_MODULE_EVENTS: usize = 1 << 12;

/// The id of the first extended event, as users see it.
const FIRST_EXTENDED: u32 = 0x8000;

/// Maximum number of second ids.
const EXTENDED_IDS: u32 = 0x100;

/// The number that is added to ids above 32767, so that they differ from the ids of extended
/// events.
const HIGH_IDS: u32 = 0x1_0000;

/// The form in which an argument is recorded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Field {
    /// A number.
    Number,
    /// The key of an object: an identifier or an address.
    Object {
        /// True if the description says that the key is an identifier.
        shrunk: bool,
    },
    /// The identifier of an object: its shortened address.
    Shrunk,
    /// A number of 32 bits in IEEE 754.
    Float,
    /// A text.
    Text,
    /// All parameters that follow.
    Rest,
}

/// The arguments of an event, according to its description.
pub(super) type Plan = Box<[Field]>;

/// Plans of ids below this number are in a vector. All ids that recorders define are below this
/// number.
const DENSE_IDS: u32 = ids::FIRST_UNDEFINED;

/// The plans of the events that have occurred.
#[derive(Debug, Default)]
struct Plans {
    /// The plans of ids below [`DENSE_IDS`], indexed by id. Empty until the first plan is stored.
    dense: Vec<Option<Plan>>,
    others: HashMap<u32, Plan, RandomState>,
}

impl Plans {
    fn clear(&mut self) {
        self.dense.clear();
        self.others.clear();
    }

    fn remove(&mut self, id: u32) {
        match self.dense.get_mut(id as usize) {
            Some(plan) => *plan = None,
            None => {
                self.others.remove(&id);
            }
        }
    }
}

/// The schema so far.
#[derive(Debug, Default)]
pub(super) struct Tables {
    files: Vec<Arc<Extension>>,
    kernel: Option<Kernel>,
    modules: Vec<EventType>,
    plans: Plans,
}

impl Tables {
    /// Creates the tables of a stream. `files` are the user's schema files, and `kernel` is the
    /// operating system, if it is known.
    pub(super) fn new(files: Vec<Arc<Extension>>, kernel: Option<Kernel>) -> Self {
        Self { files, kernel, ..Self::default() }
    }

    pub(super) fn kernel(&self) -> Option<Kernel> {
        self.kernel
    }

    /// Removes and returns the plan of an event. Creates the plan if there is none. The caller must
    /// return the plan with [`Tables::return_plan`], so that it need not be created again.
    #[inline]
    pub(super) fn take_plan(&mut self, schema: &Schema, id: u32) -> Plan {
        let known = match self.plans.dense.get_mut(id as usize) {
            Some(plan) => plan.take(),
            None => self.plans.others.remove(&id),
        };
        known.unwrap_or_else(|| schema.event(id).args.iter().map(field).collect())
    }

    /// Stores the plan of an event for the next event with this id.
    #[inline]
    pub(super) fn return_plan(&mut self, id: u32, plan: Plan) {
        let plans = &mut self.plans;
        if id >= DENSE_IDS {
            plans.others.insert(id, plan);
            return;
        }
        if plans.dense.is_empty() {
            plans.dense.resize_with(DENSE_IDS as usize, || None);
        }
        if let Some(place) = plans.dense.get_mut(id as usize) {
            *place = Some(plan);
        }
    }

    /// Switches the schema to the events of an operating system.
    pub(super) fn use_kernel(
        &mut self,
        kernel: Kernel,
        names: &Names,
        out: &mut Emitter<'_>,
    ) -> Flow {
        self.kernel = Some(kernel);
        let schema = FORMAT.extended_if_possible(kernel.schema(), &self.files);
        if !schema.faults().is_empty() {
            // The events so far have the arguments that the files define, so deliver them before
            // the schema loses a file that does not fit.
            out.flush()?;
        }
        let mut schema = Arc::unwrap_or_clone(schema);
        // The new schema lacks the events that modules have described so far.
        for event in &self.modules {
            schema.define(event.clone());
        }
        out.trace.schema = Arc::new(schema);
        // The plans are for the arguments of the old schema.
        self.plans.clear();
        name_calls(out.trace);
        for numbers in [Numbers::Interrupts, Numbers::Markers, Numbers::Series] {
            self.name_numbers(out.trace, numbers, names.numbers(numbers));
        }
        Flow::Continue(())
    }

    /// Sets names of numbers.
    pub(super) fn name_numbers(
        &self,
        trace: &mut Trace,
        numbers: Numbers,
        names: impl Iterator<Item = (u64, String)>,
    ) {
        let event = match numbers {
            Numbers::Interrupts => ids::ISR_ENTER,
            Numbers::Markers => super::MARK_START,
            Numbers::Series => ids::DATA_SAMPLE,
        };
        if let Some(table) = table(&trace.schema, event) {
            Arc::make_mut(&mut trace.schema).name_values(table, names);
        }
    }

    /// Returns the events that a module describes, except events that are already known.
    pub(super) fn new_events(&self, first: u32, text: &str) -> Vec<EventType> {
        let (name, events) = grammar::module(text);
        let family = if name.is_empty() { "module" } else { &name };
        let mut added: Vec<EventType> = Vec::new();
        for (number, event) in events {
            let Some(id) = first.checked_add(number) else { continue };
            let count = self.modules.len() + added.len();
            let is_known = self.modules.iter().chain(&added).any(|known| known.id == id);
            if !is_known && id >= ids::FIRST_MODULE && count < MAX_MODULE_EVENTS {
                added.push(event.event_type(id, family));
            }
        }
        added
    }

    /// Adds events of a module. They can have other arguments than before, so the caller must first
    /// deliver the earlier events.
    pub(super) fn add_events(&mut self, trace: &mut Trace, events: Vec<EventType>) {
        let added: Vec<_> = events.iter().map(|event| event.id).collect();
        for event in events {
            if Arc::make_mut(&mut trace.schema).define(event.clone()) {
                self.plans.remove(event.id);
            }
            self.modules.push(event);
        }
        name_calls_of(trace, &added);
    }
}

/// Gives names to the numbers of calls: each number gets the label of the event for this call.
pub(super) fn name_calls(trace: &mut Trace) {
    let events: Vec<_> = trace.schema.events().map(|event| event.id).collect();
    name_calls_of(trace, &events);
}

/// Like [`name_calls`], but only for these events.
fn name_calls_of(trace: &mut Trace, events: &[u32]) {
    let calls = events.iter().filter(|id| (ids::FIRST_SYSTEM..=0x7FFF).contains(*id));
    let names = calls.map(|id| (u64::from(*id), trace.schema.event(*id).label.clone()));
    let names: Vec<_> = names.collect();
    if !names.is_empty()
        && let Some(table) = table(&trace.schema, ids::END_CALL)
    {
        Arc::make_mut(&mut trace.schema).name_values(table, names.into_iter());
    }
}

/// Returns the first table of names among the arguments of an event.
fn table(schema: &Schema, event: u32) -> Option<TableId> {
    schema.event(event).args.iter().find_map(|argument| match argument.kind {
        ArgumentKind::Enum(table) => Some(table),
        _ => None,
    })
}

fn field(argument: &crate::model::schema::Argument) -> Field {
    let shrunk = argument.encoding == super::SHRUNK;
    match argument.kind {
        ArgumentKind::Text => Field::Text,
        ArgumentKind::List | ArgumentKind::Bytes => Field::Rest,
        ArgumentKind::Float => Field::Float,
        ArgumentKind::Object(_) => Field::Object { shrunk },
        _ if shrunk => Field::Shrunk,
        _ => Field::Number,
    }
}

/// Returns the id of an event as users see it.
#[inline]
pub(super) fn shown_id(packet: &Packet<'_>, order: TextOrder) -> u32 {
    match packet.id {
        ids::EXTENDED => match packet.parameters(order).number() {
            Some(id) if id < EXTENDED_IDS => FIRST_EXTENDED + id,
            _ => ids::EXTENDED,
        },
        id if id < FIRST_EXTENDED => id,
        id => id.saturating_add(HIGH_IDS),
    }
}
