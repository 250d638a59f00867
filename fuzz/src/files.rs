//! Fuzz targets for files other than traces, and for strings that users write: programs, names,
//! groups, updates, options, times.

use std::str::FromStr;
use std::sync::Arc;

use tracewell::format::threadx::custom_events;
use tracewell::format::{self, NamesFile, Settings};
use tracewell::input::elf::symbols;
use tracewell::model::Rate;
use tracewell::model::schema::{EventType, Extension, Schema};
use tracewell::select::{Bound, IdPattern, NumberList, elements, groups};
use tracewell::source::Source;
use tracewell::template::update::{FIRST_LINE, apply, read};

/// Reads any bytes as TraceX's file of custom events. Checks that each line is a definition or an
/// error with its line number.
pub fn custom_event_files(data: &[u8]) {
    let (events, errors) = custom_events::parse(data);
    let lines = String::from_utf8_lossy(data).lines().count();
    assert!(events.len() + errors.len() <= lines + 1);
    assert!(errors.iter().all(|error| (1..=lines + 1).contains(&error.line)));
    let mut schema = Schema::clone(&tracewell::format::threadx::schema());
    let given = events.len();
    let known = custom_events::define(&mut schema, events).len();
    assert!(known <= given);
    let _ = Arc::new(schema);
}

/// Reads any text as a schema file of each format. Checks that every argument with a role exists,
/// even in an event that a trace defines later.
pub fn schema_files(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    for format in format::FORMATS {
        let text = format!("format = \"{}\"\n{text}", format.name);
        let Ok(file) = Extension::parse(&text, "fuzz.toml") else { continue };
        let file = Arc::new(file);
        assert_eq!(file.format(), format.name);
        let Ok(schema) = format.extended((format.schema)(), std::slice::from_ref(&file)) else {
            continue;
        };
        let mut schema = Schema::clone(&schema);
        let known = schema.event(u32::MAX).clone();
        for (id, name) in file.unseen(&schema, |_| false).into_iter().enumerate() {
            schema.define(EventType { id: id as u32, name, ..known.clone() });
        }
        for event in schema.events() {
            let EventType { means, details, args, .. } = event;
            let means = means.map(|means| [means.subject, means.object, means.next, means.value]);
            let roles = means.into_iter().flatten();
            let more = [details.context, details.state, details.period, details.owner];
            let amounts = [details.capacity, details.least_free, details.used, details.free];
            let mut roles = roles.chain(more).chain(amounts).flatten();
            assert!(roles.all(|index| index < args.len()), "{event:?}");
        }
    }
}

/// Reads any text as names of tasks, as an option, as a group file, as ids, as times and as rates.
pub fn typed_texts(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let (found, errors) = groups(&text);
    assert!(found.len() + errors.len() <= text.lines().count());
    round_trip::<IdPattern>(&text);
    let _ = (Bound::from_str(&text), Rate::from_str(&text));
    let mut settings = Settings::default();
    if settings.options.add(&text).is_ok() {
        for format in format::FORMATS {
            let _ = format.decoder(&settings);
        }
    }
    for format in format::FORMATS {
        let Some(flag) = format.names else { continue };
        let file = NamesFile { flag, path: "fuzz".to_owned(), text: data.to_vec() };
        let _ = format.decoder(&Settings { names: vec![file], ..Settings::default() });
    }
}

/// Reads any text as a list of numbers. Compares the numbers in the list with the numbers in its
/// elements, each parsed alone.
pub fn number_lists(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    round_trip::<NumberList>(&text);
    let alone: Vec<Option<NumberList>> =
        elements(&text).map(|element| element.parse().ok()).collect();
    let Ok(list) = text.parse::<NumberList>() else {
        assert!(alone.is_empty() || alone.iter().any(Option::is_none), "{text:?}");
        return;
    };
    assert_eq!(list.ranges().len(), alone.len());
    for range in list.ranges() {
        for number in [range.start().saturating_sub(1), *range.start(), *range.end()] {
            let expected = alone.iter().flatten().any(|one| one.contains(number));
            assert_eq!(list.contains(number), expected, "{number} in {text:?}");
        }
    }
}

/// Checks that a value is equal to the value read from its displayed form.
fn round_trip<T: FromStr + std::fmt::Display + PartialEq + std::fmt::Debug>(text: &str) {
    let Ok(value) = text.parse::<T>() else { return };
    let again = value.to_string().parse::<T>();
    assert_eq!(again.ok(), Some(value), "{text:?}");
}

/// Reads any bytes as an ELF file with symbols. Looks up addresses next to symbols: the symbol that
/// is found must not begin after the address.
pub fn elf(data: &[u8]) {
    let Ok(table) = symbols("fuzz.elf", data) else { return };
    // A symbol needs at least 16 bytes, unless section headers overlap it.
    assert!(table.len() <= data.len() / 16);
    assert!([32, 64].contains(&table.program().bits));
    for word in data.windows(8).step_by(4) {
        let number = u64::from_le_bytes(*word.first_chunk().expect("a window has 8 bytes"));
        for address in [number, number >> 32, number & 0xFFFF_FFFF, number.swap_bytes()] {
            for near in [address.saturating_sub(1), address, address.saturating_add(1)] {
                let Some(found) = table.find(near) else { continue };
                assert!(found.offset <= near && !found.name.contains(char::is_control));
                let Some(place) = found.place else { continue };
                assert!(place.line > 0 && !place.file.contains(char::is_control));
            }
        }
    }
}

/// Applies any text as an update of a template file. Checks that its undo restores the file.
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

/// Returns the sorted lines of a template file, because an undo may restore a template at a
/// different position.
fn sorted(text: &str) -> Vec<&str> {
    let mut lines: Vec<_> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    lines.sort_unstable();
    lines
}
