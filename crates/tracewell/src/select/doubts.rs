//! Names in a selection that nothing in a trace has: misspelt, or of another trace.

use super::names::{is_context, is_event, is_object, nearest};
use super::{IdOrName, Selection};
use crate::model::schema::Schema;
use crate::model::{Severity, Trace};

impl Selection {
    /// Adds a warning to a trace that was read for each name in this selection that nothing in it has.
    pub fn remark(&self, trace: &mut Trace) {
        for doubt in self.doubts(trace) {
            trace.diagnostics.add(Severity::Warning, None, doubt);
        }
    }

    /// What is said of the names in this selection that nothing in a trace has, once it was read.
    pub fn doubts(&self, trace: &Trace) -> Vec<String> {
        // Then the rest was not read.
        let early = self.head.is_some() || self.to.is_some();
        let of = if early { "the part of this trace that was read" } else { "this trace" };
        let mut doubts = Vec::new();
        let mut doubt = |what: &str, name: &str, meant: Option<String>| {
            doubts.push(format!("no {what} named '{name}' in {of}{}", did_you_mean(meant)));
        };
        let ids = self.ids.iter().chain(&self.without_ids).filter_map(IdOrName::name);
        for wanted in self.events.iter().map(String::as_str).chain(ids) {
            if !has_event(wanted, &trace.schema) {
                doubt("event", wanted, nearest_event(wanted, &trace.schema));
            }
        }
        let contexts = || trace.contexts.iter().map(|(_, context)| context);
        let names = || contexts().map(|context| context.name.as_str());
        for wanted in self.contexts.iter().chain(&self.threads) {
            if !contexts().any(|context| is_context(wanted, context)) {
                doubt("context", wanted, nearest(wanted, names()).map(str::to_owned));
            }
        }
        for wanted in &self.processes {
            if !contexts().any(|context| super::is_process(wanted, trace, context)) {
                doubt("process", wanted, nearest(wanted, names()).map(str::to_owned));
            }
        }
        for wanted in &self.objects {
            let objects = || trace.objects.iter().map(|(_, object)| object);
            // An address may be no object's that the trace knows, and be an argument all the same.
            if !is_number(wanted) && !objects().any(|object| is_object(wanted, object)) {
                let labels = objects().map(|object| object.label.as_str());
                doubt("object", wanted, nearest(wanted, labels).map(str::to_owned));
            }
        }
        for range in self.cpus.iter().filter(|range| *range.start() >= trace.cpus.max(1)) {
            let (first, last) = (range.start(), trace.cpus.max(1) - 1);
            doubts.push(format!("no processor {first} in this trace, its last is {last}"));
        }
        doubts
    }
}

/// Returns true if the events of a schema have such a name; any number may be an id.
pub(crate) fn has_event(wanted: &str, schema: &Schema) -> bool {
    let mut events = schema.events().iter().chain(schema.ranges());
    // The entry of ids that are not known is named as well, with any number behind.
    is_number(wanted)
        || events.any(|event| is_event(wanted, schema, event.id))
        || is_event(wanted, schema, u32::MAX)
        || is_numbered(wanted, schema)
}

/// Returns true if a name is a label with one of the numbers that it stands for.
fn is_numbered(wanted: &str, schema: &Schema) -> bool {
    let number = wanted.rsplit(|c: char| !c.is_ascii_digit()).next();
    number.and_then(|number| number.parse().ok()).is_some_and(|id| is_event(wanted, schema, id))
}

/// The name of an event that a user may have meant.
pub(crate) fn nearest_event(wanted: &str, schema: &Schema) -> Option<String> {
    let events = schema.events().iter().chain(schema.ranges());
    let names = events.flat_map(|event| [event.label.replace(' ', "_"), event.name.clone()]);
    nearest(wanted, names)
}

/// What a message about an unknown name says behind it: the name that may have been meant, if any.
pub fn did_you_mean(meant: Option<impl AsRef<str>>) -> String {
    meant.map_or_else(String::new, |meant| {
        format!("; did you mean '{}'?", meant.as_ref().escape_debug())
    })
}

fn is_number(wanted: &str) -> bool {
    let digits = wanted.strip_prefix("0x").or_else(|| wanted.strip_prefix("0X"));
    match digits {
        Some(digits) => u64::from_str_radix(digits, 16).is_ok(),
        None => wanted.parse::<u64>().is_ok(),
    }
}
