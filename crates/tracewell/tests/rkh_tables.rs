//! Tests that the table of RKH's events in `tracewell-wire` agrees with the schema. After changing
//! the schema, run `BLESS=1 cargo test -p tracewell --test rkh_tables` to rewrite the table, and
//! check the difference.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use tracewell::format::rkh::schema;
use tracewell::model::schema::{Argument, EventType, Schema};
use tracewell_wire::rkh::events::Table;
use tracewell_wire::rkh::{Dialect, Field, SymbolKind};

/// Each entry contains the last word in the name of a symbol record, and the kind of the symbol.
const SYMBOLS: [(&str, SymbolKind); 11] = [
    ("OBJ", SymbolKind::Object),
    ("AO", SymbolKind::ActiveObject),
    ("QUEUE", SymbolKind::Queue),
    ("TIMER", SymbolKind::Timer),
    ("ACTOR", SymbolKind::Actor),
    ("FUN", SymbolKind::Function),
    ("STATE", SymbolKind::State),
    ("PSTATE", SymbolKind::Pseudostate),
    ("SIG", SymbolKind::Signal),
    ("EPOOL", SymbolKind::EventPool),
    ("TUSR", SymbolKind::UserEvent),
];

/// RKH's name without its prefix.
fn short(event: &EventType) -> &str {
    let name = event.name.strip_prefix("RKH_TE_");
    name.or_else(|| event.name.strip_prefix("RKH_TRCE_")).unwrap()
}

/// Returns the role of an event as Rust code.
fn role(event: &EventType) -> String {
    match event.name.rsplit('_').next() {
        Some("TCFG") => "Configuration".to_owned(),
        Some("ASSERT") => "Assertion".to_owned(),
        // The name of a symbol record ends with the symbol's kind.
        Some(last) if event.args.iter().any(|argument| argument.name == "nm") => {
            let (_, kind) = SYMBOLS.iter().find(|(name, _)| *name == last).unwrap();
            format!("Names({kind:?})")
        }
        _ => "Plain".to_owned(),
    }
}

/// Returns the constant of `events::fields` for an encoding.
fn constant(encoding: &str) -> String {
    encoding.to_uppercase().replace('?', "_")
}

/// Returns an event as a row of the table: its documentation, followed by all columns except the
/// dialects.
fn row(event: &EventType) -> String {
    let describe = |argument: &Argument| format!("`{}` {}", argument.name, argument.encoding);
    let text = match &event.args[..] {
        [] => "no arguments".to_owned(),
        _ if role(event) == "Configuration" => {
            "the target's settings, [`Configuration`](crate::rkh::Configuration)".to_owned()
        }
        args => args.iter().map(describe).collect::<Vec<_>>().join(", "),
    };
    let fields: Vec<_> = event.args.iter().map(|argument| constant(&argument.encoding)).collect();
    let (name, code, asks, fields) = (short(event), event.id, event.filter, fields.join(", "));
    // If the list of arguments is long, omit the code, so that the line fits into 100 columns.
    let with_code = format!("Code {code:#04X}: {text}.");
    let text = if with_code.len() <= 92 { with_code } else { format!("{text}.") };
    format!("    /// {text}\n    {name} {code:#04X} {asks} [{fields}] {},", role(event))
}

/// Returns the groups in the order of their numbers: name, first code, number of codes.
fn groups(schema: &Schema, dialect: Dialect) -> Vec<(String, u32, u32)> {
    let mut groups: Vec<(String, u32, u32)> = Vec::new();
    for code in 0..256 {
        let event = schema.event(code);
        match groups.last_mut() {
            _ if event.family == "unknown" => {}
            Some((name, first, count)) if *name == event.family => *count = code - *first + 1,
            _ => groups.push((event.family.clone(), code, 1)),
        }
    }
    assert_eq!(groups[6].0, "USR", "{dialect}");
    groups
}

/// Returns a dialect as a row: the form of its user events, and its groups.
fn dialect_row(dialect: Dialect) -> String {
    let schema = schema(dialect);
    let groups = groups(&schema, dialect);
    let user = constant(&schema.event(groups[6].1).args.last().unwrap().encoding);
    let mut out = format!("    /// The events of dialect {dialect}.\n    {dialect:?} {user} [\n");
    for groups in groups.chunks(3) {
        let groups: Vec<_> = groups
            .iter()
            .map(|(name, first, count)| format!("group(\"{name}\", {first:#04X}, {count})"))
            .collect();
        writeln!(out, "        {},", groups.join(", ")).unwrap();
    }
    out.truncate(out.len() - 2);
    out + "\n    ];\n"
}

/// The generated module.
fn rendered() -> String {
    let mut rows: BTreeMap<(u32, usize, String), Vec<String>> = BTreeMap::new();
    for (age, dialect) in Dialect::ALL.into_iter().enumerate() {
        for event in schema(dialect).events() {
            let row = row(event);
            // A row's key consists of its code, its oldest dialect and its text.
            let key = rows.keys().find(|(code, _, known)| (*code, known) == (event.id, &row));
            let key = key.cloned().unwrap_or((event.id, age, row));
            rows.entry(key).or_default().push(format!("{dialect:?}"));
        }
    }
    let mut out = "\
//! The rows of all events, generated from `schemas/rkh.toml`: do not edit.
//!
//! Each row has a code, filters, fields, a role and dialects. Its comment names the arguments.

use super::Role::*;
use super::fields::*;
use super::{Dialect, Event, Role, Row, Table};
use super::{count, dialects, event, events, group, select, with_role};
use crate::rkh::SymbolKind::*;

dialects! {
"
    .to_owned();
    Dialect::ALL.into_iter().for_each(|dialect| out.push_str(&dialect_row(dialect)));
    out.push_str("}\n\nevents! {\n");
    for ((_, _, row), dialects) in rows {
        let dialects = dialects.join(" ");
        let length = row.lines().last().map_or(0, str::len) + dialects.len();
        // A row with many fields gets a separate line.
        let row = if length < 99 { row } else { row.replace("] ", "]\n        ") };
        writeln!(out, "{row} {dialects};").unwrap();
    }
    out.push_str("}\n");
    out
}

#[test]
fn the_table_is_generated_from_the_schema() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../wire/src/rkh/events/table.rs");
    let expected = rendered();
    if std::env::var_os("BLESS").is_some_and(|value| value == "1") {
        std::fs::write(&path, &expected).unwrap();
    }
    let committed = std::fs::read_to_string(&path).unwrap();
    assert!(
        expected == committed,
        "{} is stale: run BLESS=1 cargo test -p tracewell --test rkh_tables",
        path.display()
    );
}

#[test]
fn tables_give_events_by_code_as_the_schemas_do() {
    for dialect in Dialect::ALL {
        let (schema, table) = (schema(dialect), Table::of(dialect));
        assert_eq!(table.dialect, dialect);
        for code in 0..=u8::MAX {
            let event = schema.event(u32::from(code));
            let known = event.family != "unknown";
            assert_eq!(table.place(code).is_some(), known, "{dialect} {code}");
            let Some(found) = table.event(code) else {
                assert!(!known || event.family == "USR", "{dialect} {code}");
                continue;
            };
            let fields: Vec<Field> =
                event.args.iter().map(|arg| arg.encoding.parse().unwrap()).collect();
            assert_eq!((found.name, found.fields), (short(event), &fields[..]));
            let (group, number) = table.place(code).unwrap();
            assert_eq!(table.groups[usize::from(group)].name, event.family);
            if dialect.has_groups() {
                assert_eq!(group << 5 | number, code);
            }
            assert_eq!(u32::from(found.asks), event.filter, "{dialect} {}", found.name);
        }
    }
}

#[test]
fn a_dialect_without_a_symbol_record_uses_a_broader_one() {
    let symbol = |dialect, kind| Table::of(dialect).symbol(kind).map(|event| event.name);
    assert_eq!(symbol(Dialect::V2_0, SymbolKind::Timer), Some("OBJ"));
    assert_eq!(symbol(Dialect::V2_0, SymbolKind::State), None);
    assert_eq!(symbol(Dialect::V2_4_3, SymbolKind::Actor), Some("FWK_OBJ"));
    assert_eq!(symbol(Dialect::V3_4, SymbolKind::Actor), Some("FWK_ACTOR"));
}
