//! The targets of small files and texts that users write: names of events and tasks, groups, updates, options, times.

use std::str::FromStr;
use std::sync::Arc;

use tracewell::format::threadx::custom_events;
use tracewell::format::{self, Options};
use tracewell::model::Rate;
use tracewell::model::schema::Schema;
use tracewell::select::{Bound, IdPattern, groups};
use tracewell::source::Source;
use tracewell::template::update::{FIRST_LINE, apply, read};

/// Reads any bytes as TraceX's file of custom events; each line is a definition or an error with its line.
pub fn custom_event_files(data: &[u8]) {
    let (events, errors) = custom_events::parse(data);
    let lines = String::from_utf8_lossy(data).lines().count();
    assert!(events.len() + errors.len() <= lines + 1);
    assert!(errors.iter().all(|error| (1..=lines + 1).contains(&error.line)));
    let mut schema = Schema::clone(&Schema::threadx());
    let given = events.len();
    let known = custom_events::define(&mut schema, events).len();
    assert!(known <= given);
    let _ = Arc::new(schema);
}

/// Reads any text as names of tasks, as an option, as a group file, as ids, as times and as rates.
pub fn typed_texts(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let (found, errors) = groups(&text);
    assert!(found.len() + errors.len() <= text.lines().count());
    round_trip::<IdPattern>(&text);
    let _ = (Bound::from_str(&text), Rate::from_str(&text));
    let mut options = Options::default();
    if options.add(&text).is_ok() {
        for format in format::FORMATS {
            let _ = (format.decoder)(&options);
        }
    }
    options = Options::default();
    options.set("names", text.as_ref());
    let shark = format::by_name("shark").expect("it is in the list");
    let _ = (shark.decoder)(&options);
}

/// What is shown of a value is read as the same value.
fn round_trip<T: FromStr + std::fmt::Display + PartialEq + std::fmt::Debug>(text: &str) {
    let Ok(value) = text.parse::<T>() else { return };
    let again = value.to_string().parse::<T>();
    assert_eq!(again.ok(), Some(value), "{text:?}");
}

/// Any text as an update of a template file: what it changes, its undo brings back.
pub fn template_update(data: &[u8]) {
    const TEMPLATES: &str =
        "0AA0 1.1 L=SVC \"one\" D4\n0AB0 1.2 L=KERN \"two\"\n0100 2.0 \"three\"\n";
    let templates = Source::new("fuzz.fmt", TEMPLATES);
    let text = format!("{FIRST_LINE}\n{}", String::from_utf8_lossy(data));
    let Ok(records) = read(&Source::new("fuzz.update", text)) else { return };
    let applied = apply(&templates, &records, true);
    assert_eq!(applied.changes.len(), records.len());
    let undo = read(&Source::new("undo.update", applied.undo.as_str()));
    let undo = undo.unwrap_or_else(|findings| panic!("{findings:?}\n{}", applied.undo));
    let back = apply(&Source::new("changed.fmt", applied.text.as_str()), &undo, true);
    assert_eq!(sorted(&back.text), sorted(TEMPLATES), "{}", applied.text);
}

/// The lines of a template file in an order of their own: an undo may bring a template back at another place.
fn sorted(text: &str) -> Vec<&str> {
    let mut lines: Vec<_> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    lines.sort_unstable();
    lines
}
