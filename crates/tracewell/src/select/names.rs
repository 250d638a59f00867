//! What users call events, contexts, objects and arguments: one rule for selections and for rules.
//!
//! In a name `*` stands for any text and `?` for any character; case does not count, and a blank and `_` are the same.
//! Numbers are ids and keys, decimal or hexadecimal with `0x`.

use std::collections::HashMap;

use foldhash::fast::RandomState;

use super::pattern::{folded, is_key, key, like, same};
use crate::model::schema::{Argument, ArgumentKind, Schema};
use crate::model::{Context, Object};

/// Returns true if a user may call the events of an id so: by the dialect's own name, by the label for people, or
/// by the id.
pub(crate) fn is_event(wanted: &str, schema: &Schema, id: u32) -> bool {
    let event = schema.event(id);
    like(wanted, &event.name)
        || like(wanted, &event.label)
        || is_key(wanted, id.into())
        || (!schema.defines(id) && like(wanted, &schema.label(id)))
}

/// Names of events that a user wrote, each with a number, so that an event id meets the few that may be its own.
#[derive(Debug, Default)]
pub(crate) struct EventNames {
    by_name: HashMap<String, Vec<u32>, RandomState>,
    by_id: HashMap<u64, Vec<u32>, RandomState>,
    with_wildcards: Vec<u32>,
}

impl EventNames {
    /// Adds a name; one with wildcards may be every event's.
    pub(crate) fn add(&mut self, name: &str, number: u32) {
        if name.contains(['*', '?']) {
            return self.with_wildcards.push(number);
        }
        self.by_name.entry(folded(name)).or_default().push(number);
        if let Some(id) = key(name) {
            self.by_id.entry(id).or_default().push(number);
        }
    }

    /// The numbers of the names that may be an id's, some of them twice: [`is_event`] decides.
    pub(crate) fn of(&self, schema: &Schema, id: u32) -> impl Iterator<Item = u32> {
        let event = schema.event(id);
        let names = [folded(&event.name), folded(&event.label), folded(&schema.label(id))];
        let named = names.into_iter().filter_map(|name| self.by_name.get(&name));
        let numbered = self.by_id.get(&id.into());
        named.chain(numbered).chain([&self.with_wildcards]).flatten().copied()
    }
}

/// Returns true if a user may call a context so: by its name or its key.
pub(crate) fn is_context(wanted: &str, context: &Context) -> bool {
    like(wanted, &context.name) || wanted == context.key_text || is_key(wanted, context.key)
}

/// Returns true if a user may call an object so: by its name or its key.
pub(crate) fn is_object(wanted: &str, object: &Object) -> bool {
    like(wanted, &object.label) || is_key(wanted, object.key)
}

/// The position of the argument that a user calls so: by its name or as reports name it, in which an object is
/// spoken of by itself, not by its pointer.
pub(crate) fn argument(wanted: &str, args: &[Argument]) -> Option<usize> {
    let exact = args.iter().position(|argument| argument.name == wanted);
    exact.or_else(|| args.iter().position(|argument| is_argument(wanted, argument)))
}

/// Returns true if a user may call an argument so.
pub(crate) fn is_argument(wanted: &str, argument: &Argument) -> bool {
    let name = argument.name.as_str();
    let spoken = match argument.kind {
        ArgumentKind::Object(_) => name.strip_suffix("_ptr").unwrap_or(name),
        _ => name,
    };
    [name, spoken].into_iter().any(|name| equal(wanted, name))
}

/// Returns true if two names are the same but for case, blanks and `_`.
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

/// The name that differs least from a word, if it differs little: what its author may have meant.
pub fn nearest<N: AsRef<str>>(word: &str, names: impl IntoIterator<Item = N>) -> Option<N> {
    let word = folded(word);
    let most = 1 + word.chars().count() / 5;
    let distance = |name: &N| strsim::osa_distance(&word, &folded(name.as_ref()));
    let near = names.into_iter().map(|name| (distance(&name), name));
    let near = near.filter(|(distance, _)| *distance <= most);
    // Of equally near ones the first by name, so that the order of what is known does not show.
    let near = near.min_by(|(a, x), (b, y)| (a, x.as_ref()).cmp(&(b, y.as_ref())));
    near.map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_named_by_name_label_and_id() {
        let schema = Schema::rkh("3.4").unwrap();
        let id = schema.events().iter().find(|event| event.label == "SM TRN").unwrap().id;
        let names = ["SM_TRN", "SM TRN", "sm trn", "RKH_TE_SM_TRN", "RKH TE SM TRN", "SM?T*"];
        let ids = [id.to_string(), format!("0x{id:x}"), format!("0X{id:X}")];
        for name in names.into_iter().chain(ids.iter().map(String::as_str)) {
            assert!(is_event(name, &schema, id), "{name}");
            assert!(!is_event(name, &schema, id + 1), "{name}");
        }
        let threadx = Schema::threadx();
        assert!(is_event("user_event_5000", &threadx, 5000), "{}", threadx.label(5000));
    }

    #[test]
    fn arguments_are_named_as_exports_and_as_reports_do() {
        let schema = Schema::threadx();
        let put = schema.events().iter().find(|event| event.label == "tx_semaphore_put").unwrap();
        for name in ["semaphore_ptr", "semaphore", "Semaphore"] {
            assert_eq!(argument(name, &put.args), Some(0), "{name}");
        }
        for name in ["current_count", "current count"] {
            assert_eq!(argument(name, &put.args), Some(1), "{name}");
        }
        assert_eq!(argument("ptr", &put.args), None);
        assert_eq!(argument("*", &put.args), None);
    }

    #[test]
    fn the_nearest_name_is_one_that_differs_little() {
        let names = ["tx_mutex_get", "tx_mutex_put", "SM TRN"];
        assert_eq!(nearest("tx_mutex_gte", names), Some("tx_mutex_get"));
        assert_eq!(nearest("SM_TNR", names), Some("SM TRN"));
        assert_eq!(nearest("queue", names), None);
        assert_eq!(nearest("aa", ["ab", "ac"]), Some("ab"));
    }
}
