//! Checks that the committed header of RKH's events matches the table of `tracewell-wire`. After a
//! change of the table, `BLESS=1 cargo test -p tracewell-capi` renews the header; check the
//! difference.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use tracewell_wire::rkh::events::{Event, Role, Table};
use tracewell_wire::rkh::{Condition, Dialect, Field, FieldType};

const HEAD: &str = "\
/* The events of RKH for tracewell_rkh.h, generated from crates/wire/src/rkh/events by crates/capi/tests: do not edit.
 *
 * TW_RKH_DIALECT selects the dialect; the default is TW_RKH_3_4. The comment of each event lists its arguments
 * in order. Pass all of them, including those in brackets, which depend on the settings. */

#ifndef TRACEWELL_RKH_EVENTS_H
#define TRACEWELL_RKH_EVENTS_H

#include \"tracewell.h\"

#ifndef TW_RKH_DIALECT
#define TW_RKH_DIALECT TW_RKH_3_4
#endif
";

fn argument(field: &Field) -> String {
    let name = match field.field_type {
        FieldType::Fixed(bytes) => return format!("U{}", 8 * u32::from(bytes)),
        FieldType::HighHalf | FieldType::LowHalf | FieldType::Number => "",
        FieldType::Pointer => "SYM",
        FieldType::Function => "FUN",
        FieldType::Signal => "SIG",
        FieldType::EventSize => "ES",
        FieldType::BlockCount => "NBLK",
        FieldType::BlockSize => "BSIZE",
        FieldType::QueueCount => "NE",
        FieldType::TimerTicks => "NTICK",
        FieldType::EventId => "ID",
        FieldType::Text => "STR",
        FieldType::Items => "items",
        FieldType::Rest => "bytes",
    };
    match field.condition {
        Condition::Always => name.to_owned(),
        Condition::Sender | Condition::QueueLowWater | Condition::PoolLowWater => {
            format!("[{name}]")
        }
    }
}

fn event_line(event: &Event) -> String {
    let arguments: Vec<_> = event.fields.iter().map(argument).collect();
    let text = match event.role {
        Role::Configuration => "tw_rkh_configuration".to_owned(),
        _ if event.fields.is_empty() => "nothing".to_owned(),
        _ => arguments.join(" "),
    };
    format!("#define TW_TE_{} {:#04X} /* {text} */\n", event.name, event.code)
}

fn macro_of(dialect: Dialect) -> String {
    format!("TW_RKH_{}", dialect.as_str().replace(['.', '-'], "_").to_uppercase())
}

/// Returns the preprocessor condition for the dialects from `first` to `last`, both included.
fn condition(first: Dialect, last: Dialect) -> String {
    let (from, to) = (macro_of(first), macro_of(last));
    match (first, last) {
        _ if first == last => format!("TW_RKH_DIALECT == {from}"),
        (Dialect::V2_0Pre, _) => format!("TW_RKH_DIALECT <= {to}"),
        (_, Dialect::V3_4) => format!("TW_RKH_DIALECT >= {from}"),
        _ => format!("TW_RKH_DIALECT >= {from} && TW_RKH_DIALECT <= {to}"),
    }
}

fn rendered() -> String {
    // The lines with their dialects, sorted by the oldest dialect of each line.
    let mut lines: Vec<(String, Vec<Dialect>)> = Vec::new();
    for dialect in Dialect::ALL {
        let table = Table::of(dialect);
        let groups = table.groups.iter().enumerate();
        let groups = groups.map(|(n, group)| format!("#define TW_TG_{} {n}\n", group.name));
        for line in table.events.iter().map(event_line).chain(groups) {
            match lines.iter_mut().find(|(known, _)| *known == line) {
                Some((_, dialects)) => dialects.push(dialect),
                None => lines.push((line, vec![dialect])),
            }
        }
    }
    let mut sections: BTreeMap<(Dialect, Dialect), String> = BTreeMap::new();
    for (line, dialects) in lines {
        let (first, last) = (dialects[0], *dialects.last().unwrap());
        assert_eq!(dialects.len(), last as usize - first as usize + 1, "a gap: {line}");
        sections.entry((first, last)).or_default().push_str(&line);
    }
    let mut out = HEAD.to_owned();
    for ((first, last), lines) in sections {
        match (first, last) {
            (Dialect::V2_0Pre, Dialect::V3_4) => write!(out, "\n{lines}").unwrap(),
            _ => write!(out, "\n#if {}\n{lines}#endif\n", condition(first, last)).unwrap(),
        }
    }
    out.push_str("\n#endif\n");
    out
}

#[test]
fn the_committed_header_agrees_with_the_table() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("include/tracewell_rkh_events.h");
    let made = rendered();
    if std::env::var_os("BLESS").is_some_and(|value| value == "1") {
        std::fs::write(&path, &made).unwrap();
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(made == committed, "{} is stale: BLESS=1 cargo test -p tracewell-capi", path.display());
}
