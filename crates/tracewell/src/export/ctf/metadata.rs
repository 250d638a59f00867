//! The metadata of the streams, in the language of CTF 1.8.

use std::collections::BTreeSet;
use std::fmt::Write;

use super::classes::{Class, Items, OPTIONS, Type, Word};
use super::names::{length_of, put_quoted};
use super::nested::declaration;
use super::stamps::Stamps;
use crate::model::Trace;
use crate::model::schema::{Level, TableId};

/// The types that the metadata of every trace declares.
const TYPES: &str = "\
typealias integer { size = 8; align = 8; signed = false; base = 16; } := x8;
typealias integer { size = 8; align = 8; signed = false; } := u8;
typealias integer { size = 32; align = 8; signed = false; } := u32;
typealias integer { size = 32; align = 8; signed = false; base = 16; } := x32;
typealias integer { size = 32; align = 8; signed = true; } := i32;
typealias integer { size = 64; align = 8; signed = false; } := u64;
typealias integer { size = 64; align = 8; signed = false; base = 16; } := x64;
typealias integer { size = 64; align = 8; signed = true; } := i64;
typealias floating_point { exp_dig = 11; mant_dig = 53; align = 8; } := f64;
typealias enum : u8 { \"false\" = 0, \"true\" = 1 } := truth;
";

/// The properties of a trace that are not part of an event class.
pub(super) struct Origin<'a> {
    pub(super) uuid: &'a str,
    /// Name of the input.
    pub(super) input: &'a str,
    pub(super) stamps: &'a Stamps,
    /// Further entries of the environment.
    pub(super) environment: &'a str,
    pub(super) domain: &'a str,
    /// Event classes for events that are not in the trace.
    pub(super) more_events: &'a str,
}

/// Returns the text of the metadata.
pub(super) fn metadata(trace: &Trace, origin: &Origin<'_>, classes: &[Class]) -> String {
    let mut text = format!("/* CTF 1.8 */\n\n{TYPES}\n");
    put_trace(&mut text, trace, origin);
    put_clock(&mut text, trace, origin);
    put_stream(&mut text, trace);
    put_tables(&mut text, trace, classes);
    for class in classes {
        put_event(&mut text, trace, class);
    }
    text + origin.more_events
}

fn put_trace(text: &mut String, trace: &Trace, origin: &Origin<'_>) {
    let uuid = origin.uuid;
    put(
        text,
        format_args!(
            "trace {{\n\tmajor = 1;\n\tminor = 8;\n\tuuid = \"{uuid}\";\n\tbyte_order = le;\n\
         \tpacket.header := struct {{\n\t\tx32 magic;\n\t\tx8 uuid[16];\n\t\tu32 stream_id;\n\
         \t}};\n}};\n\nenv {{\n\tdomain = \"{}\";\n",
            origin.domain
        ),
    );
    text.push_str(origin.environment);
    let texts = [("input", origin.input), ("input_format", trace.format)];
    for (name, value) in texts {
        put(text, format_args!("\t{name} = "));
        put_quoted(text, value);
        text.push_str(";\n");
    }
    text.push_str("};\n\n");
}

fn put_clock(text: &mut String, trace: &Trace, origin: &Origin<'_>) {
    let (stamps, uuid) = (origin.stamps, origin.uuid);
    let offset = stamps.offset(trace);
    let description = if stamps.is_timed() {
        "time since the first event of the input"
    } else {
        "ticks since the first event of the input; the rate is unknown"
    };
    put(
        text,
        format_args!(
            "clock {{\n\tname = input;\n\tuuid = \"{uuid}\";\n\tdescription = \"{description}\";\n\
         \tfreq = {};\n\toffset_s = {};\n\toffset = {};\n\tabsolute = {};\n}};\n\n",
            stamps.rate(),
            offset.map_or(0, |offset| offset.0),
            offset.map_or(0, |offset| offset.1),
            if offset.is_some() { "TRUE" } else { "FALSE" },
        ),
    );
    // Every stamp has 64 bits, so readers need not extend a counter that wraps.
    text.push_str(
        "typealias integer {\n\tsize = 64; align = 8; signed = false;\n\
         \tmap = clock.input.value;\n} := stamp;\n\n",
    );
}

fn put_stream(text: &mut String, trace: &Trace) {
    let mut keys = (0..).map_while(|id| trace.contexts.get(crate::model::ContextId(id)));
    // The keys of a trace are all addresses or all numbers, so one key decides the base.
    let key = if keys.any(|context| context.key_text.starts_with("0x")) { "x64" } else { "u64" };
    put(
        text,
        format_args!(
            "stream {{\n\tid = 0;\n\tpacket.context := struct {{\n\
         \t\tstamp timestamp_begin;\n\t\tstamp timestamp_end;\n\
         \t\tu64 content_size;\n\t\tu64 packet_size;\n\t\tu64 packet_seq_num;\n\
         \t\tu64 events_discarded;\n\t\tu32 cpu_id;\n\t}};\n\
         \tevent.header := struct {{\n\t\tu32 id;\n\t\tstamp timestamp;\n\t}};\n\
         \tevent.context := struct {{\n\t\t{key} _context_id;\n\t\tstring _context;\n\
         \t\ti32 _priority;\n\t}};\n}};\n\n"
        ),
    );
}

/// Declares the enumerations of all tables that classes use.
fn put_tables(text: &mut String, trace: &Trace, classes: &[Class]) {
    let mut done = BTreeSet::new();
    for (_, kind) in classes.iter().flat_map(|class| &class.fields) {
        let Type::Enum { table, word } = *kind else { continue };
        let labels = labels(trace, table, word);
        if labels.is_empty() || !done.insert((table.number(), word)) {
            continue;
        }
        put(text, format_args!("typealias enum : {} {{\n", word_name(word)));
        for (number, name) in labels {
            text.push('\t');
            put_quoted(text, name);
            match word {
                Word::Signed => put(text, format_args!(" = {},\n", number.cast_signed())),
                Word::Wide | Word::Narrow => put(text, format_args!(" = {number},\n")),
            }
        }
        put(text, format_args!("}} := {};\n\n", table_name(table, word)));
    }
}

/// Returns the numbers in a table, each with its label. Several numbers can have the same label.
fn labels(trace: &Trace, table: TableId, word: Word) -> Vec<(u64, &str)> {
    let fits = |number: u64| word != Word::Narrow || u32::try_from(number).is_ok();
    trace.schema.flags(table).filter(|(number, _)| fits(*number)).collect()
}

fn table_name(table: TableId, word: Word) -> String {
    format!("table_{}_{}", table.number(), word_name(word))
}

const fn word_name(word: Word) -> &'static str {
    match word {
        Word::Narrow => unsigned(false),
        Word::Wide => unsigned(true),
        Word::Signed => "i64",
    }
}

const fn unsigned(wide: bool) -> &'static str {
    if wide { "u64" } else { "u32" }
}

fn put_event(text: &mut String, trace: &Trace, class: &Class) {
    text.push_str("event {\n\tname = ");
    put_quoted(text, &class.name);
    put(text, format_args!(";\n\tid = {};\n\tstream_id = 0;\n", class.id));
    if let Some(level) = class.level {
        put(text, format_args!("\tloglevel = {};\n", log_level(level)));
    }
    text.push_str("\tfields := struct {\n");
    for (name, kind) in &class.fields {
        text.push_str("\t\t");
        put_field(text, trace, name, kind);
        text.push('\n');
    }
    text.push_str("\t};\n};\n\n");
}

fn put_field(text: &mut String, trace: &Trace, name: &str, kind: &Type) {
    let (simple, items) = match *kind {
        Type::Nested(ref shape) => return text.push_str(&declaration(shape, name)),
        Type::Unsigned { wide } => (unsigned(wide).to_owned(), None),
        Type::Hex { wide } => (if wide { "x64" } else { "x32" }.to_owned(), None),
        Type::Signed => ("i64".to_owned(), None),
        // CTF does not allow an enumeration without labels.
        Type::Enum { table, word } if labels(trace, table, word).is_empty() => {
            (word_name(word).to_owned(), None)
        }
        Type::Enum { table, word } => (table_name(table, word), None),
        Type::Bool => ("truth".to_owned(), None),
        Type::Float => ("f64".to_owned(), None),
        Type::Text => ("string".to_owned(), None),
        Type::Bytes => ("x8".to_owned(), Some(())),
        Type::List(items) => (item_type(items), Some(())),
    };
    match items {
        None => put(text, format_args!("{simple} {name};")),
        // The field before a sequence must contain the length of the sequence.
        Some(()) => put(text, format_args!("u32 {0}; {simple} {name}[{0}];", length_of(name))),
    }
}

fn item_type(items: Items) -> String {
    match items {
        Items::Unsigned => "u64".to_owned(),
        Items::Signed => "i64".to_owned(),
        Items::Hex => "x64".to_owned(),
        Items::Text => "string".to_owned(),
        Items::Mixed => {
            let labels = OPTIONS.map(|(name, _)| format!("\"{name}\"")).join(", ");
            let options = OPTIONS.map(|(_, field)| field).join(" ");
            format!(
                "struct {{ enum : u8 {{ {labels} }} _kind; variant <_kind> {{ {options} }} _value; }}"
            )
        }
    }
}

/// Returns LTTng-UST's number for a level.
const fn log_level(level: Level) -> u8 {
    match level {
        Level::Error => 3,
        Level::Warn => 4,
        Level::Info => 6,
        // LTTng has several levels for debugging. This function uses the first and the last of
        // them.
        Level::Debug => 7,
        Level::Trace => 14,
    }
}

fn put(text: &mut String, arguments: std::fmt::Arguments<'_>) {
    // Writing to a string does not fail.
    let _ = text.write_fmt(arguments);
}
