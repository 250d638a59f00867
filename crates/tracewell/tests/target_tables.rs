//! Tests that all lists of kernel events agree with the schema: the generated table of
//! `tracewell-wire`, the ids in Rust, and the macros in C. After changing the schema, run `BLESS=1
//! cargo test -p tracewell --test target_tables` to rewrite the table, and check the difference.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use tracewell::format::target::schema;
use tracewell::model::schema::{Argument, ArgumentKind};
use tracewell_wire::target::{Described, ids};

fn repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}

fn kind(argument: &Argument) -> &'static str {
    match argument.kind {
        ArgumentKind::Signed => "Signed",
        ArgumentKind::Hex | ArgumentKind::Address => "Hex",
        ArgumentKind::Text => "Text",
        _ => "Unsigned",
    }
}

/// The generated module.
fn rendered() -> String {
    let mut events: Vec<_> = schema().events().filter(|event| event.id < 256).cloned().collect();
    events.sort_by_key(|event| event.id);
    let mut out = "\
//! The recorded events, generated from `schemas/target.toml`: do not edit.

use super::Described;
use crate::native::FieldKind::{self, *};

pub(super) const EVENTS: &[Described] = &[
"
    .to_owned();
    for event in events {
        let arguments: Vec<_> = event
            .args
            .iter()
            .map(|argument| format!("(\"{}\", {})", argument.name, kind(argument)))
            .collect();
        let (id, label, arguments) = (event.id, event.label, arguments.join(", "));
        writeln!(out, "    described({id:#04X}, \"{label}\", &[{arguments}]),").unwrap();
    }
    out.push_str(
        "\
];

const fn described(
    id: u8,
    name: &'static str,
    arguments: &'static [(&'static str, FieldKind)],
) -> Described {
    Described { id, name, arguments }
}
",
    );
    out
}

#[test]
fn the_table_is_generated_from_the_schema() {
    let path = repository("crates/wire/src/target/vocabulary/table.rs");
    let expected = rendered();
    if std::env::var_os("BLESS").is_some_and(|value| value == "1") {
        std::fs::write(&path, &expected).unwrap();
    }
    let committed = std::fs::read_to_string(&path).unwrap();
    assert!(
        expected == committed,
        "{} is stale: run BLESS=1 cargo test -p tracewell --test target_tables",
        path.display()
    );
}

/// Returns the ids of all macros `#define TW_NAME TW_CODE(TW_GROUP, 0x..u)`, with their groups.
fn ids_in_c() -> BTreeMap<u8, String> {
    let header = std::fs::read_to_string(repository("firmware/tracewell_target.h")).unwrap();
    let codes = header.lines().filter_map(|line| {
        let (_, code) = line.strip_prefix("#define TW_")?.split_once(" TW_CODE(TW_")?;
        let (group, id) = code.strip_suffix("u)")?.split_once(", 0x")?;
        Some((u8::from_str_radix(id, 16).unwrap(), group.to_owned()))
    });
    let list: Vec<_> = codes.collect();
    let ids: BTreeMap<_, _> = list.iter().cloned().collect();
    assert_eq!(ids.len(), list.len(), "each id has one macro");
    ids
}

/// Returns the ids of all constants `pub const NAME: u8 = 0x..;`.
fn ids_in_rust() -> Vec<u8> {
    let source = std::fs::read_to_string(repository("crates/wire/src/target/ids.rs")).unwrap();
    let ids = source.lines().filter_map(|line| {
        let id = line.strip_prefix("pub const ")?.split_once(": u8 = 0x")?.1;
        Some(u8::from_str_radix(id.strip_suffix(';')?, 16).unwrap())
    });
    ids.collect()
}

#[test]
fn the_ids_in_c_and_in_rust_are_those_of_the_schema() {
    let in_c = ids_in_c();
    let mut expected: Vec<_> = Described::ALL.iter().map(|event| event.id).collect();
    // The application defines the name and the arguments of its events.
    expected.push(ids::USER);
    assert_eq!(in_c.keys().copied().collect::<Vec<_>>(), expected);
    assert_eq!(ids_in_rust(), expected);
    let groups =
        ["TASKS", "INTERRUPTS", "LOCKS", "MESSAGES", "TIMERS", "MEMORY", "TICKS", "APPLICATION"];
    for (id, group) in in_c {
        let expected = ids::group_of(id).map_or("ALWAYS", |group| groups[usize::from(group)]);
        assert_eq!(group, expected, "{id:#04X}");
    }
}

#[test]
fn the_form_of_an_id_gives_the_number_of_its_arguments() {
    for event in Described::ALL.iter().filter(|event| event.id != ids::TEXT) {
        assert_eq!(usize::from(event.id >> 6), event.arguments.len(), "{}", event.name);
        assert_eq!(Described::named(event.name), Described::of(event.id));
    }
}
