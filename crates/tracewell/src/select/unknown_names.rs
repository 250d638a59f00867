//! Finds names in a selection that do not occur in a trace. Such names are misspelt, or belong to
//! another trace.

use super::names::{is_context, is_event, is_object, spoken};
use super::pattern::{hook_id, key};
use super::{IdOrName, IdPattern, Selection};
use crate::model::schema::Schema;
use crate::model::{Severity, Trace, did_you_mean, nearest};

/// Maximum number of ids in a warning. A group may contain many ids.
const MAX_IDS: usize = 8;

/// Maximum number of contexts in a warning.
const MAX_CONTEXTS: usize = 5;

impl Selection {
    /// Adds a warning to a trace for each name of the selection that does not occur in this trace.
    /// Call this after reading.
    pub fn remark(&self, trace: &mut Trace) {
        for warning in self.unknown_names(trace) {
            trace.diagnostics.add(Severity::Warning, None, warning);
        }
    }

    /// Returns a warning for each name of the selection that does not occur in a trace. Call this
    /// after reading.
    pub fn unknown_names(&self, trace: &Trace) -> Vec<String> {
        // With these conditions, reading stops before the end of the trace.
        let early = self.head.is_some() || self.to.is_some();
        let of = if early { "the part of this trace that was read" } else { "this trace" };
        let mut warnings = Vec::new();
        let mut warning = |what: &str, name: &str, hint: String| {
            warnings.push(format!("no {what} named '{name}' in {of}{hint}"));
        };
        let ids = self.ids.iter().chain(&self.without_ids).filter_map(IdOrName::name);
        for wanted in self.events.iter().map(String::as_str).chain(ids) {
            if !has_event(wanted, &trace.schema) {
                let mut objects = trace.objects.iter();
                let hint = match objects.any(|(_, object)| is_object(wanted, object)) {
                    true => format!("; an object has this name: --object '{wanted}'"),
                    false => did_you_mean(nearest_event(wanted, &trace.schema)),
                };
                warning("event", wanted, hint);
            }
        }
        let never_occurred = self.never_occurred(trace);
        let contexts = || trace.contexts.iter().map(|(_, context)| context);
        let names = || contexts().map(|context| context.name.as_str());
        for wanted in self.contexts.iter().chain(&self.threads) {
            if !contexts().any(|context| is_context(wanted, context)) {
                let hint = match nearest(wanted, names()) {
                    Some(meant) => did_you_mean(Some(meant)),
                    None => known_contexts(names()),
                };
                warning("context", wanted, hint);
            }
        }
        for wanted in &self.processes {
            if !contexts().any(|context| super::is_process(wanted, trace, context)) {
                warning("process", wanted, did_you_mean(nearest(wanted, names())));
            }
        }
        for wanted in &self.objects {
            let objects = || trace.objects.iter().map(|(_, object)| object);
            // An address may be an argument without being the key of a known object.
            if !is_number(wanted) && !objects().any(|object| is_object(wanted, object)) {
                let labels = objects().map(|object| object.label.as_str());
                warning("object", wanted, did_you_mean(nearest(wanted, labels)));
            }
        }
        let named = match self.expressions.is_empty() {
            true => Vec::new(),
            false => trace.schema.entries_of(None, |id| self.names(&trace.schema, id)),
        };
        let names_all =
            self.events.is_empty() && self.ids.is_empty() && self.without_ids.is_empty();
        for (place, wanted) in
            self.expressions.iter().flat_map(|expression| expression.unknown_arguments(&named))
        {
            let args = named.iter().flat_map(|event| &event.args);
            let names = args.flat_map(|argument| [argument.name.as_str(), spoken(argument)]);
            let meant = did_you_mean(nearest(wanted, names));
            let events = if names_all { "" } else { "selected " };
            warnings.push(format!("{place}: no {events}event has an argument '{wanted}'{meant}"));
        }
        for expression in &self.expressions {
            warnings.extend(expression.unknown_values(&named, trace, of));
        }
        let unknown_ids = self.unknown_ids(&trace.schema, of);
        // An unknown id never occurs.
        let has_unknown_ids = unknown_ids.is_some();
        warnings.extend(unknown_ids);
        warnings.extend(never_occurred.filter(|_| !has_unknown_ids));
        // A trace without events has one processor, number 0.
        for range in self.cpus.ranges().iter().filter(|range| *range.start() >= trace.cpus.max(1)) {
            let (first, last) = (range.start(), trace.cpus.max(1) - 1);
            warnings.push(format!("no processor {first} in this trace; the last one is {last}"));
        }
        warnings
    }
}

impl Selection {
    /// Checks the ids that the user gave in AIX's notation. Returns a warning about those that the
    /// schema does not contain. For traces of AIX, returns `None`, because a program can record any
    /// id there.
    fn unknown_ids(&self, schema: &Schema, of: &str) -> Option<String> {
        let ids = self.ids.iter().chain(&self.without_ids).filter_map(IdOrName::id);
        let is_known = |pattern: &IdPattern| {
            (0..=u32::from(u16::MAX)).any(|id| pattern.matches(id) && schema.covers(id))
        };
        let unknown: Vec<_> = ids.filter(|pattern| !is_known(pattern)).collect();
        if unknown.is_empty() || schema.ids_are_hooks() {
            return None;
        }
        let s = if unknown.len() == 1 { "" } else { "s" };
        let shown: Vec<_> = unknown.iter().take(MAX_IDS).map(ToString::to_string).collect();
        let more = unknown.len().saturating_sub(MAX_IDS);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let shown = shown.join(", ");
        Some(format!("no event with the hexadecimal id{s} {shown}{more} in {of}"))
    }

    /// Returns a warning about the selected events that the schema knows but the trace does not
    /// contain. A list of ids can be a group. The warning therefore names the elements of such a
    /// list only if no element occurs. Returns `None` if only a part of the trace was read. Also
    /// returns `None` for traces of AIX, because a program can record any id there.
    fn never_occurred(&self, trace: &Trace) -> Option<String> {
        let (schema, occurred) = (&trace.schema, trace.ids.as_ref()?);
        if schema.ids_are_hooks() || occurred.has_larger() || trace.events == 0 {
            return None;
        }
        let mut absent = Vec::new();
        for wanted in self.events.iter().filter(|wanted| has_event(wanted, schema)) {
            if !occurred.iter().any(|id| is_event(wanted, schema, id)) {
                absent.push(format!("'{wanted}'"));
            }
        }
        for list in [&self.ids, &self.without_ids] {
            if !occurred.iter().any(|id| list.iter().any(|wanted| wanted.matches(schema, id))) {
                let known = list.iter().filter(|of| of.name().is_none_or(|n| has_event(n, schema)));
                absent.extend(known.map(|of| match of {
                    IdOrName::Id(id) => format!("hexadecimal id {id}"),
                    IdOrName::Name(name) => format!("'{name}'"),
                }));
            }
        }
        let more = absent.len().saturating_sub(MAX_IDS);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        absent.truncate(MAX_IDS);
        let absent = (!absent.is_empty()).then(|| absent.join(", "))?;
        Some(format!("these events do not occur in this trace: {absent}{more}"))
    }

    /// Returns true if the lists of names and ids in the selection select the events with this id.
    fn names(&self, schema: &Schema, id: u32) -> bool {
        let listed = |list: &[IdOrName]| list.iter().any(|of| of.matches(schema, id));
        let is = |wanted: &String| is_event(wanted, schema, id);
        (self.events.is_empty() || self.events.iter().any(is))
            && (self.ids.is_empty() || listed(&self.ids))
            && !listed(&self.without_ids)
    }
}

/// Returns the end of a message: the names of the first contexts, and the number of others.
fn known_contexts<'t>(names: impl Iterator<Item = &'t str>) -> String {
    let mut known: Vec<&str> = Vec::new();
    let mut more = 0_u64;
    for name in names.filter(|name| !name.is_empty()) {
        if known.len() == MAX_CONTEXTS {
            more += 1;
        } else if !known.contains(&name) {
            known.push(name);
        }
    }
    if known.is_empty() {
        return String::new();
    }
    let known: Vec<_> = known.iter().map(|name| format!("'{}'", name.escape_debug())).collect();
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("; its contexts are {}{more}", known.join(", "))
}

/// Returns true if an event of the schema has this name. Any number may be an id.
pub(crate) fn has_event(wanted: &str, schema: &Schema) -> bool {
    let mut events = schema.events().chain(schema.ranges());
    // The name of an unknown id consists of a common name and the id, which can be any number.
    is_number(wanted)
        || events.any(|event| is_event(wanted, schema, event.id))
        || is_event(wanted, schema, u32::MAX)
        || trailing_id(wanted, schema).is_some_and(|id| is_event(wanted, schema, id))
}

/// Returns the id at the end of a name. If several ids share a label, the id follows the label.
pub(crate) fn trailing_id(name: &str, schema: &Schema) -> Option<u32> {
    match schema.ids_are_hooks() {
        true => hook_id(name.rsplit([' ', '_']).next()?),
        false => name.rsplit(|c: char| !c.is_ascii_digit()).next()?.parse().ok(),
    }
}

/// Returns the event id of a name that is an id or ends with an id.
pub(crate) fn event_id(name: &str, schema: &Schema) -> Option<u32> {
    // A hook id is hexadecimal even without `0x`.
    let number = key(name).filter(|_| !schema.ids_are_hooks());
    number.and_then(|id| u32::try_from(id).ok()).or_else(|| trailing_id(name, schema))
}

/// Returns the event name that is most similar to a word.
pub(crate) fn nearest_event(wanted: &str, schema: &Schema) -> Option<String> {
    let events = schema.events().chain(schema.ranges());
    let names = events.flat_map(|event| [event.label.replace(' ', "_"), event.name.clone()]);
    nearest(wanted, names)
}

fn is_number(wanted: &str) -> bool {
    let digits = wanted.strip_prefix("0x").or_else(|| wanted.strip_prefix("0X"));
    match digits {
        Some(digits) => u64::from_str_radix(digits, 16).is_ok(),
        None => wanted.parse::<u64>().is_ok(),
    }
}
