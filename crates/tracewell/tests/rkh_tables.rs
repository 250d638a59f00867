//! The tables of RKH's events in `tracewell-wire` are what the schemas say. `TABLES=overwrite cargo test
//! -p tracewell --test rkh_tables` writes them anew: read the difference.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use tracewell::model::schema::{EventType, Schema};
use tracewell_wire::rkh::events::Table;
use tracewell_wire::rkh::{Dialect, Field, SymbolKind};

/// What the last word of a symbol record's name says that it names.
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

/// The filters that an event asks: those of the event of the same name in 3.4, whose groups and
/// some events were renamed.
fn asks(event: &EventType) -> u32 {
    let newest = Schema::rkh("3.4").unwrap();
    let name = match short(event) {
        "SM_CSTATE" => "SM_TS_STATE",
        "SMA_DCH" => "SM_DCH",
        "RKH_DEFER" | "FWK_DEFER" => "SMA_DEFER",
        "RKH_RCALL" | "FWK_RCALL" => "SMA_RCALL",
        other => other,
    };
    let (group, rest) = name.split_once('_').unwrap_or(("FWK", name));
    let group = match group {
        "RQ" => "QUE",
        "TIM" => "TMR",
        "RKH" => "FWK",
        other => other,
    };
    let names = [format!("RKH_TE_{group}_{rest}"), format!("RKH_TE_FWK_{name}")];
    let same = newest.events().iter().find(|event| names.contains(&event.name));
    // Of events that are gone, those of timers were about no active object; the rest were.
    let gone = if group == "TMR" { 1 } else { 3 };
    same.map_or(gone, |event| event.filter)
}

fn is_symbol(event: &EventType) -> bool {
    event.args.iter().any(|argument| argument.name == "nm")
}

/// The constant that stands for a field.
fn constant(encoding: &str) -> String {
    format!("f::{}", encoding.to_uppercase().replace('?', "_"))
}

fn event_line(out: &mut String, event: &EventType) {
    let names = |argument: &tracewell::model::schema::Argument| {
        format!("`{}` {}", argument.name, argument.encoding)
    };
    let arguments: Vec<_> = event.args.iter().map(names).collect();
    let arguments =
        if arguments.is_empty() { "No arguments".to_owned() } else { arguments.join(", ") };
    let fields: Vec<_> = event.args.iter().map(|argument| constant(&argument.encoding)).collect();
    let (name, code, fields) = (short(event), event.id, fields.join(", "));
    writeln!(out, "/// {arguments}.").unwrap();
    let asks = asks(event);
    writeln!(out, "pub const {name}: Event = event({code:#04X}, \"{name}\", {asks}, &[{fields}]);")
        .unwrap();
}

/// The groups in the order of their numbers, with their first codes and how many they have.
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

fn rendered(dialect: Dialect) -> String {
    let schema = Schema::rkh(dialect.as_str()).unwrap();
    let groups = groups(&schema, dialect);
    let events: Vec<_> = schema.events().iter().filter(|event| event.family != "USR").collect();
    let mut out = format!(
        "//! The events of dialect {dialect}, made from `schemas/rkh-{dialect}.toml`: do not edit.\n//!\n\
         //! The text of each event names its arguments and their types, in order.\n\n\
         use super::{{Event, Group, Table, event, fields as f, group}};\n\
         use crate::rkh::{{Dialect, SymbolKind}};\n\n"
    );
    events.iter().for_each(|event| event_line(&mut out, event));
    let named = |suffix: &str| events.iter().copied().find(|event| event.name.ends_with(suffix));
    let optional = |event: Option<&EventType>| {
        event.map_or("None".to_owned(), |event| format!("Some(&{})", short(event)))
    };
    writeln!(
        out,
        "\n/// All of them.\npub static TABLE: Table = Table {{\n    dialect: Dialect::{dialect:?},"
    )
    .unwrap();
    writeln!(out, "    events: &[").unwrap();
    events.iter().for_each(|event| writeln!(out, "        {},", short(event)).unwrap());
    writeln!(out, "    ],\n    groups: &GROUPS,").unwrap();
    let user = schema.event(groups[6].1).args.last().unwrap();
    writeln!(out, "    user: {},\n    symbols: &[", constant(&user.encoding)).unwrap();
    for event in events.iter().filter(|event| is_symbol(event)) {
        let last = event.name.rsplit('_').next().unwrap();
        let (_, kind) = SYMBOLS.iter().find(|(name, _)| *name == last).unwrap();
        writeln!(out, "        (SymbolKind::{kind:?}, &{}),", short(event)).unwrap();
    }
    writeln!(
        out,
        "    ],\n    configuration: {},\n    assertion: {},\n}};",
        optional(named("_TCFG")),
        optional(named("_ASSERT"))
    )
    .unwrap();
    writeln!(out, "\nstatic GROUPS: [Group; {}] = [", groups.len()).unwrap();
    for (name, first, count) in &groups {
        writeln!(out, "    group(\"{name}\", {first:#04X}, {count}),").unwrap();
    }
    out.push_str("];\n");
    out
}

fn path(dialect: Dialect) -> PathBuf {
    let name = format!("v{}.rs", dialect.as_str().replace(['.', '-'], "_"));
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../wire/src/rkh/events").join(name)
}

#[test]
fn the_tables_are_what_the_schemas_say() {
    let overwrite = std::env::var_os("TABLES").is_some_and(|value| value == "overwrite");
    for dialect in Dialect::ALL {
        let (path, made) = (path(dialect), rendered(dialect));
        if overwrite {
            std::fs::write(&path, &made).unwrap();
        }
        let committed = std::fs::read_to_string(&path).unwrap();
        assert!(
            made == committed,
            "{} is stale: TABLES=overwrite cargo test -p tracewell --test rkh_tables",
            path.display()
        );
    }
}

#[test]
fn tables_give_events_by_code_as_the_schemas_do() {
    for dialect in Dialect::ALL {
        let (schema, table) = (Schema::rkh(dialect.as_str()).unwrap(), Table::of(dialect));
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
            if dialect == Dialect::V3_4 {
                assert_eq!(u32::from(found.asks), event.filter, "{}", found.name);
            }
        }
    }
}

#[test]
fn what_a_version_cannot_name_it_names_more_broadly() {
    let symbol = |dialect, kind| Table::of(dialect).symbol(kind).map(|event| event.name);
    assert_eq!(symbol(Dialect::V2_0, SymbolKind::Timer), Some("OBJ"));
    assert_eq!(symbol(Dialect::V2_0, SymbolKind::State), None);
    assert_eq!(symbol(Dialect::V2_4_3, SymbolKind::Actor), Some("FWK_OBJ"));
    assert_eq!(symbol(Dialect::V3_4, SymbolKind::Actor), Some("FWK_ACTOR"));
}
