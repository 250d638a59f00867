//! The committed names of RKH's events are those of the tables. `HEADER=overwrite cargo test -p
//! tracewell-capi` writes them anew: read the difference.

use std::fmt::Write as _;
use std::path::Path;

use tracewell_wire::rkh::events::{Event, Table};
use tracewell_wire::rkh::{Condition, Dialect, Field, FieldType};

const HEAD: &str = "\
/* The events of RKH for tracewell_rkh.h. Made from crates/wire/src/rkh/events by crates/capi/tests: do not edit.
 *
 * TW_RKH_DIALECT says whose; without it those of RKH 3.0.00 to 3.4.00. The text of each event gives its
 * arguments in order; all are given to every record, also those in brackets, which settings may leave out. */

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
    let halves = event.fields.iter().any(|field| field.field_type == FieldType::HighHalf);
    let arguments: Vec<_> = event.fields.iter().map(argument).collect();
    let text = match event.fields {
        [] => "nothing".to_owned(),
        _ if halves => "tw_rkh_configuration".to_owned(),
        _ => arguments.join(" "),
    };
    format!("#define TW_TE_{} {:#04X} /* {text} */\n", event.name, event.code)
}

fn rendered() -> String {
    let mut out = HEAD.to_owned();
    for dialect in Dialect::ALL {
        let name = dialect.as_str().replace(['.', '-'], "_").to_uppercase();
        writeln!(out, "\n#if TW_RKH_DIALECT == TW_RKH_{name}").unwrap();
        let table = Table::of(dialect);
        table.events.iter().for_each(|event| out.push_str(&event_line(event)));
        for (number, group) in table.groups.iter().enumerate() {
            writeln!(out, "#define TW_TG_{} {number}", group.name).unwrap();
        }
        out.push_str("#endif\n");
    }
    out.push_str("\n#endif\n");
    out
}

#[test]
fn the_committed_names_are_those_of_the_tables() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("include/tracewell_rkh_events.h");
    let made = rendered();
    if std::env::var_os("HEADER").is_some_and(|value| value == "overwrite") {
        std::fs::write(&path, &made).unwrap();
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        made == committed,
        "{} is stale: HEADER=overwrite cargo test -p tracewell-capi",
        path.display()
    );
}
