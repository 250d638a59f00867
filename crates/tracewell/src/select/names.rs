//! Matches the names that users type for events, contexts, objects and arguments. Selections and
//! check rules share this code.
//!
//! In a name, `*` matches any text and `?` matches any character. Case is ignored, and a space
//! equals `_`. A number stands for an id or a key. It is decimal, or hexadecimal with `0x`. Ids of
//! AIX events are hook ids, which are always hexadecimal.

use std::collections::HashMap;
use std::sync::Arc;

use foldhash::fast::RandomState;

use super::messages::MessageField;
use super::pattern::{hook_id, is_key, key, like, same};
use crate::model::schema::{Argument, ArgumentKind, EventType, Schema};
use crate::model::{Context, Object, folded};

/// Returns true if a word is the name or the label of the events with this id, or the id itself.
pub(crate) fn is_event(wanted: &str, schema: &Schema, id: u32) -> bool {
    let event = schema.event(id);
    like(wanted, &event.name)
        || like(wanted, &event.label)
        || is_id(wanted, schema, id)
        || (!schema.defines(id) && like(wanted, &schema.label(id)))
}

/// Returns true if a word is this event id.
fn is_id(wanted: &str, schema: &Schema, id: u32) -> bool {
    match hook_id(wanted) {
        Some(hook) if schema.ids_are_hooks() => hook == id,
        _ => is_key(wanted, id.into()),
    }
}

/// An index of the event names that a user wrote. Each of these names has a number in the index. A
/// lookup by event id returns the numbers of the few names that may match.
#[derive(Debug, Default)]
pub(crate) struct EventNames {
    by_name: HashMap<String, Vec<u32>, RandomState>,
    by_id: HashMap<u64, Vec<u32>, RandomState>,
    with_wildcards: Vec<u32>,
}

impl EventNames {
    /// Adds a name. A name with wildcards may match every event.
    pub(crate) fn add(&mut self, name: &str, number: u32) {
        if name.contains(['*', '?']) {
            return self.with_wildcards.push(number);
        }
        self.by_name.entry(folded(name)).or_default().push(number);
        for id in [key(name), hook_id(name).map(u64::from)].into_iter().flatten() {
            self.by_id.entry(id).or_default().push(number);
        }
    }

    /// Returns the numbers of the names that may match an event id. May return a number twice. Use
    /// [`is_event`] to test each name.
    pub(crate) fn of(&self, schema: &Schema, id: u32) -> impl Iterator<Item = u32> {
        let event = schema.event(id);
        let names = [folded(&event.name), folded(&event.label), folded(&schema.label(id))];
        let named = names.into_iter().filter_map(|name| self.by_name.get(&name));
        let numbered = self.by_id.get(&id.into());
        named.chain(numbered).chain([&self.with_wildcards]).flatten().copied()
    }
}

/// Returns true if a word is the name or the key of a context.
pub(crate) fn is_context(wanted: &str, context: &Context) -> bool {
    like(wanted, &context.name) || wanted == context.key_text || is_key(wanted, context.key)
}

/// Returns true if a word is the name or the key of an object.
pub(crate) fn is_object(wanted: &str, object: &Object) -> bool {
    like(wanted, &object.label) || is_key(wanted, object.key)
}

/// Returns the index of an argument. `wanted` is the name of the argument in the schema or in
/// reports.
pub(crate) fn argument(wanted: &str, args: &[Argument]) -> Option<usize> {
    let exact = args.iter().position(|argument| argument.name == wanted);
    exact.or_else(|| args.iter().position(|argument| is_argument(wanted, argument)))
}

/// The place of a value in the arguments of an event.
#[derive(Clone, Debug)]
pub(crate) enum ArgumentPlace {
    /// The argument with this index.
    Argument(usize),
    /// A value in the nested argument with this index, and the names on the path to the value.
    Within(usize, Arc<[String]>),
}

/// Returns the place of a value. `wanted` is the name of an argument, or the path to a value in a
/// nested argument: the names on the path, with dots between them.
pub(crate) fn argument_place(wanted: &str, args: &[Argument]) -> Option<ArgumentPlace> {
    if let Some(index) = argument(wanted, args) {
        return Some(ArgumentPlace::Argument(index));
    }
    wanted.match_indices('.').find_map(|(dot, _)| {
        let (name, path) = (wanted.get(..dot)?, wanted.get(dot + 1..)?);
        let index = argument(name, args)?;
        let is_nested = args.get(index)?.kind == ArgumentKind::Nested;
        let path = || path.split('.').map(str::to_owned).collect();
        is_nested.then(|| ArgumentPlace::Within(index, path()))
    })
}

/// Returns true if events of a type have a field with this name: an argument, a value in a nested
/// argument, or a field of the message that they post or take.
pub(crate) fn has_argument(wanted: &str, event: &EventType) -> bool {
    argument_place(wanted, &event.args).is_some()
        || MessageField::named(wanted).is_some_and(|field| field.is_of(event))
}

/// Returns true if a word is the name of an argument.
pub(crate) fn is_argument(wanted: &str, argument: &Argument) -> bool {
    [argument.name.as_str(), spoken(argument)].into_iter().any(|name| equal(wanted, name))
}

/// Returns the name of an argument as it is shown in reports.
pub(crate) fn spoken(argument: &Argument) -> &str {
    let name = argument.name.as_str();
    match argument.kind {
        ArgumentKind::Object(_) => name.strip_suffix("_ptr").unwrap_or(name),
        _ => name,
    }
}

/// Returns true if two names are equal except for case, spaces and `_`.
fn equal(a: &str, b: &str) -> bool {
    let (mut a, mut b) = (a.chars(), b.chars());
    loop {
        match (a.next(), b.next()) {
            (None, None) => return true,
            (Some(a), Some(b)) if same(a, b) => {}
            _ => return false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hook_ids_are_hexadecimal() {
        let schema = Schema::parse(include_str!("../../schemas/aix.toml"), "aix.toml").unwrap();
        for word in ["010", "0x010", "0100", "0x0100", "hook 010", "HOOK_010"] {
            assert!(is_event(word, &schema, 0x0100), "{word}");
        }
        assert!(is_event("256", &schema, 0x2560) && !is_event("256", &schema, 256));
        let rkh = Schema::parse(include_str!("../../schemas/rkh.toml"), "rkh.toml").unwrap();
        assert!(is_event("139", &rkh, 139) && is_event("0x8B", &rkh, 139));
        let mut names = EventNames::default();
        names.add("010", 7);
        assert_eq!(names.of(&schema, 0x0100).collect::<Vec<_>>(), [7]);
    }

    #[test]
    fn events_are_named_by_name_label_and_id() {
        let schema = Schema::parse(include_str!("../../schemas/rkh.toml"), "rkh.toml").unwrap();
        let id = schema.events().find(|event| event.label == "SM TRN").unwrap().id;
        let names = ["SM_TRN", "SM TRN", "sm trn", "RKH_TE_SM_TRN", "RKH TE SM TRN", "SM?T*"];
        let ids = [id.to_string(), format!("0x{id:x}"), format!("0X{id:X}")];
        for name in names.into_iter().chain(ids.iter().map(String::as_str)) {
            assert!(is_event(name, &schema, id), "{name}");
            assert!(!is_event(name, &schema, id + 1), "{name}");
        }
        let threadx = crate::format::threadx::schema();
        assert!(is_event("user_event_5000", &threadx, 5000), "{}", threadx.label(5000));
    }

    #[test]
    fn arguments_are_named_as_exports_and_as_reports_do() {
        let schema = crate::format::threadx::schema();
        let put = schema.events().find(|event| event.label == "tx_semaphore_put").unwrap();
        for name in ["semaphore_ptr", "semaphore", "Semaphore"] {
            assert_eq!(argument(name, &put.args), Some(0), "{name}");
        }
        for name in ["current_count", "current count"] {
            assert_eq!(argument(name, &put.args), Some(1), "{name}");
        }
        assert_eq!(argument("ptr", &put.args), None);
        assert_eq!(argument("*", &put.args), None);
    }
}
