//! The systems whose events have meanings. The files in `schemas/ctf` assign the meanings.
//!
//! | system | recognised by the event |
//! |---|---|
//! | the Linux kernel, recorded by LTTng or perf | `sched_switch`, `sched:sched_switch` |
//! | Zephyr | `thread_switched_in` |
//!
//! The files refer to events and arguments by name, because ids and layouts differ from trace to
//! trace. A trace may lack events and arguments that a file names.

use std::sync::{Arc, OnceLock};

use super::RULES;
use crate::model::schema::{EventType, Extension, Schema};

/// The objects and tables of all systems.
pub(super) fn objects() -> Arc<Schema> {
    static SCHEMA: OnceLock<Arc<Schema>> = OnceLock::new();
    let text = include_str!("../../../schemas/ctf.toml");
    SCHEMA.get_or_init(|| Schema::built_in(text, "schemas/ctf.toml")).clone()
}

/// The system that recorded a trace.
#[derive(Clone, Debug, Default)]
pub(super) struct System {
    /// The entries for the events of the system; `None` if the system is not known.
    entries: Option<Arc<Schema>>,
    /// True if the numbers of threads are addresses.
    pub(super) has_addresses: bool,
    /// True if the metadata declares `sched_waking`. In this case, `sched_wakeup` has no meaning,
    /// because it follows a `sched_waking`.
    has_waking: bool,
}

impl PartialEq for System {
    fn eq(&self, other: &Self) -> bool {
        let facts = |system: &Self| (system.is_known(), system.has_addresses, system.has_waking);
        facts(self) == facts(other)
    }
}

impl System {
    /// Finds the system that recorded events with these names.
    pub(super) fn of<'n>(names: impl Iterator<Item = &'n str> + Clone) -> Self {
        let has = |name: &str| names.clone().any(|known| known == name);
        if has("thread_switched_in") {
            return Self { entries: Some(zephyr()), has_addresses: true, has_waking: false };
        }
        if has("sched_switch") || has("sched:sched_switch") {
            let has_waking = has("sched_waking") || has("sched:sched_waking");
            return Self { entries: Some(linux()), has_addresses: false, has_waking };
        }
        Self::default()
    }

    /// Returns true if the system is known.
    pub(super) const fn is_known(&self) -> bool {
        self.entries.is_some()
    }

    /// Returns an event with its meaning, if events of this name have a meaning in this system.
    pub(super) fn describe(&self, event: EventType) -> EventType {
        let wakes_again = ["sched_wakeup", "sched:sched_wakeup"].contains(&event.name.as_str());
        match &self.entries {
            Some(entries) if !(self.has_waking && wakes_again) => entries.described(event),
            _ => event,
        }
    }
}

fn linux() -> Arc<Schema> {
    static SCHEMA: OnceLock<Arc<Schema>> = OnceLock::new();
    let text = include_str!("../../../schemas/ctf/lttng-kernel.toml");
    SCHEMA.get_or_init(|| parse(text, "schemas/ctf/lttng-kernel.toml")).clone()
}

fn zephyr() -> Arc<Schema> {
    static SCHEMA: OnceLock<Arc<Schema>> = OnceLock::new();
    let text = include_str!("../../../schemas/ctf/zephyr.toml");
    SCHEMA.get_or_init(|| parse(text, "schemas/ctf/zephyr.toml")).clone()
}

fn parse(text: &str, file: &str) -> Arc<Schema> {
    let mut schema = Schema::clone(&objects());
    let added =
        Extension::parse(text, file).and_then(|entries| schema.extend(&Arc::new(entries), RULES));
    match added {
        Ok(()) => Arc::new(schema),
        // The file is part of this program, and a test parses it.
        Err(error) => unreachable!("{error}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Meaning;
    use crate::model::schema::{Argument, ArgumentKind};

    fn event(name: &str, args: &[&str]) -> EventType {
        let argument = |name: &&str| Argument {
            name: (*name).to_owned(),
            kind: ArgumentKind::Unsigned,
            encoding: String::new(),
            zero: None,
        };
        let args = args.iter().map(argument).collect();
        EventType { name: name.to_owned(), args, ..Schema::empty().event(0).clone() }
    }

    #[test]
    fn an_event_without_an_argument_keeps_its_meaning() {
        let schema = linux();
        let means = |args| schema.described(event("sched_switch", args)).means.unwrap();
        let all = means(&["prev_state", "next_tid", "prev_tid"]);
        assert_eq!((all.value, all.next, all.subject), (Some(0), Some(1), Some(2)));
        assert_eq!(all.for_value(Some(1)).meaning, Meaning::Blocks);
        assert_eq!(all.for_value(Some(0x400)).meaning, Meaning::SliceExpired);
        assert_eq!(all.for_value(Some(64)).meaning, Meaning::Delete);
        let few = means(&["next_tid"]);
        assert_eq!((few.value, few.next, few.subject), (None, Some(0), None));
        assert_eq!(few.meaning, Meaning::SliceExpired);
    }

    #[test]
    fn a_prefix_describes_events_without_an_entry() {
        let schema = linux();
        let meaning = |name| {
            let event = schema.described(event(name, &[]));
            assert_eq!(event.name, name);
            event.means.map(|means| means.meaning)
        };
        assert_eq!(meaning("syscall_entry_getpid"), Some(Meaning::Call));
        assert_eq!(meaning("syscall_entry_nanosleep"), Some(Meaning::Sleeps));
        assert_eq!(meaning("syscall_exit_nanosleep"), Some(Meaning::Return));
        assert_eq!(meaning("other"), None);
    }

    #[test]
    fn kinds_of_objects_are_those_of_the_system() {
        let lock = zephyr().described(event("mutex_lock_enter", &["timeout", "id"]));
        let mutex = objects().object_kind_by_symbol("MUTEX").unwrap().code;
        assert_eq!(lock.args[1].kind, ArgumentKind::Object(Some(mutex)));
        assert_eq!(lock.means.unwrap().object, Some(1));
    }
}
