//! Gives the subjects of figures the same names as in tables, except interrupts without a number,
//! which are named `interrupts`.

use std::borrow::Cow;

use super::{Part, Subject};
use crate::analysis::machines::{Named, Route};
use crate::analysis::scheduling::Subject as Scheduled;
use crate::model::{ContextId, Trace};
use crate::report::scheduling::resource_label;

/// Returns a subject with only a name.
pub(super) fn alone(name: impl Into<String>) -> Subject {
    Subject { name: name.into(), key: None, marks: None, part: None }
}

pub(super) fn of_task(trace: &Trace, task: ContextId) -> Subject {
    let context = trace.contexts.get(task);
    let name = context.map_or(Cow::Borrowed(""), |context| Cow::Borrowed(context.name.as_str()));
    Subject { key: context.map(|context| context.key_text.clone()), ..alone(name) }
}

pub(super) fn of_resource(trace: &Trace, key: u64, kind: Option<u32>) -> Subject {
    Subject { key: Some(format!("{key:#x}")), ..alone(resource_label(trace, key, kind)) }
}

/// Returns the subject of a scheduling time. `pairs` contains the names of all pairs of marks.
pub(super) fn of_scheduling(
    trace: &Trace,
    subject: Scheduled,
    pairs: &[(String, String)],
) -> Subject {
    match subject {
        Scheduled::Task(task) => of_task(trace, task),
        Scheduled::Resource { key, kind, .. } => of_resource(trace, key, kind),
        Scheduled::Use { task, key, kind, .. } => {
            let Subject { name, key: task_key, .. } = of_task(trace, task);
            let part = Some(Part { name, key: task_key });
            Subject { part, ..of_resource(trace, key, kind) }
        }
        Scheduled::Interrupt(Some(number)) => alone(number.to_string()),
        Scheduled::Interrupt(None) => alone("interrupts"),
        Scheduled::Passage { pair, task } => {
            Subject { marks: pairs.get(pair).cloned(), ..of_task(trace, task) }
        }
    }
}

/// Returns the subject for times of messages: the receiver, with the signal as its part.
pub(super) fn of_route(trace: &Trace, route: &Route) -> Subject {
    let Subject { name, key, .. } = named(trace, &route.signal);
    Subject { part: Some(Part { name, key }), ..named(trace, &route.receiver) }
}

/// Returns the subject of a machine, a queue or another object.
pub(super) fn named(trace: &Trace, named: &Named) -> Subject {
    Subject { key: Some(format!("{:#x}", named.key)), ..alone(named.label(trace)) }
}
