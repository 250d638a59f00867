//! The ThreadX schema against the reference tables: every id, name, argument and object type.

mod support;

use support::{number, shared, table};
use tracewell::model::schema::{ArgumentKind, Schema};

#[test]
fn every_event_of_the_reference_table_is_there() {
    let Some(shared) = shared() else { return };
    let schema = Schema::threadx();
    let rows = table(&shared.join("data/threadx/events.tsv"));
    assert_eq!(rows.len(), 651);
    assert_eq!(schema.events().len(), 651);
    for row in rows {
        let id = number(&row["id"]) as u32;
        assert!(schema.defines(id), "{id}");
        let event = schema.event(id);
        assert_eq!(event.name, row["name"], "{id}");
        let class = row["event_class_bits"].as_str();
        if let Ok(bits) = u32::from_str_radix(class.trim_start_matches("0x"), 16) {
            assert_eq!(event.filter, bits, "{id}");
        }
        for (index, column) in ["info1", "info2", "info3", "info4"].into_iter().enumerate() {
            let argument = event.args.get(index);
            let named = argument.is_some_and(|arg| arg.kind != ArgumentKind::Unnamed);
            assert_eq!(named, row[column] != "-", "{id} {column}");
        }
    }
}

#[test]
fn every_object_type_of_the_reference_table_is_there() {
    let Some(shared) = shared() else { return };
    let schema = Schema::threadx();
    for row in table(&shared.join("data/threadx/objects.tsv")) {
        let code = number(&row["type"]) as u32;
        let kind = schema.object_kind(code);
        match kind {
            Some(kind) => assert_eq!(kind.symbol, row["symbol"], "{code}"),
            None => assert!(code == 0 || row["component"] == "reserved", "{code}"),
        }
    }
}

#[test]
fn names_are_unique_and_labels_are_there() {
    let schema = Schema::threadx();
    let mut names: Vec<_> = schema.events().iter().map(|event| &event.name).collect();
    names.sort();
    assert!(names.windows(2).all(|pair| pair[0] != pair[1]));
    assert!(schema.events().iter().all(|event| !event.label.is_empty()));
}
